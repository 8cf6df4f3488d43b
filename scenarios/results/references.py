"""What reference results depend on, and where results differ from them.

The reference results of a scenario are its `evidence`, of the literal setting and every CHOICE.
`gpbandits reference SCENARIO` compares with them. Besides its scenario, a result depends on
the versions, the processor and the BLAS, which are kept with it.
"""

import math
import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from itertools import product
from pathlib import Path

from threadpoolctl import threadpool_info

import gpbandits_env
from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.results.evidence import BITS, Evidence

PACKAGES = ("numpy", "scipy", "gymnasium", "joblib")
# On another processor or BLAS build, rounding differs in the last bit, so that ties may be broken
# differently, and trials take other courses: means may differ as those of other trials do. Agents
# that choose the same in all trials have a standard error of 0, and a mean that may change in the
# last digits that are kept.
TOLERANCE, ROUNDING = 4.0, 2.0 ** (1 - BITS)


def versions() -> dict[str, str]:
    """The versions of this library, of Python and of the packages that results depend on."""
    own = {"gpbandits-env": gpbandits_env.__version__, "python": platform.python_version()}
    return own | {name: import_module(name).__version__ for name in PACKAGES}


def machine() -> Plain:
    """Processor and BLAS builds. Results are bit-identical only if these are the same.

    Instructions that NumPy is told not to use are a part of the processor's name.
    """
    processor = _processor()
    if off := os.environ.get("NPY_DISABLE_CPU_FEATURES"):
        processor += f" without {off}"
    blas = sorted(
        f"{lib['internal_api']} {lib['version']} {lib.get('architecture', '')}".strip()
        for lib in threadpool_info()
        if lib["user_api"] == "blas"
    )
    return {"system": platform.platform(), "processor": processor, "blas": blas}


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def conditions(kept: Evidence, now: Evidence) -> list[str]:
    """What results depend on besides the code, where it is not that of the reference."""

    def of(result: Evidence) -> Plain:
        here = result.study["machine"]
        machine = {"BLAS": ", ".join(here["blas"]), "processor": here["processor"]}
        return {"trials": result.trials, **result.study["versions"], **machine}

    old, new = of(kept), of(now)
    return [
        f"the reference has {name} {old[name]}, and this run {new[name]}"
        for name in old
        if name in new and old[name] != new[name]
    ]


def compare(kept: Evidence, now: Evidence, metrics: Sequence[str]) -> list[str]:
    """Where results differ from the reference by more than `TOLERANCE` standard errors.

    They are those of the difference of two independent means. The spread of few trials may be
    small by chance, and that of one is unknown: then it is the reference's that counts.
    Differences of relative size `ROUNDING` do not count.
    """
    found, wider = [], math.sqrt(1.0 + kept.trials / now.trials)
    for cell, params in enumerate(kept.points):
        present = now.labels(cell)
        for label, name in product(kept.labels(cell), metrics):
            mean, se = kept.summary(cell, label, name)
            value, own = now.summary(cell, label, name) if label in present else (math.nan,) * 2
            se = max(se * wider, math.hypot(se, own))  # also if own is NaN
            if not abs(value - mean) <= max(TOLERANCE * se, ROUNDING * abs(mean)):
                where = f"{label}, {name}" + (f", {params}" if params else "")
                found.append(f"{where}: {value:.6g}, reference {mean:.6g} (SE {se:.2g})")
    return found
