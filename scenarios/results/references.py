"""Reference results: our mean and standard error of every agent, kept with the code.

There is one JSON file per scenario, with the literal setting and every CHOICE. It is made by
`python -m tools.reference SCENARIO` and checked by `gpbandits reference SCENARIO --check`. Besides
its scenario, a result depends on the versions, the processor and the BLAS, which are kept with it.
"""

import json
import math
import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from threadpoolctl import threadpool_info

import gpbandits_env
from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.results.report import CellReport, Report

PACKAGES = ("numpy", "scipy", "gymnasium", "joblib")
# On another processor or BLAS build, rounding differs in the last bit, so that ties may be broken
# differently, and trials take other courses: means may differ as those of other trials do. Agents
# that choose the same in all trials have a standard error of 0, and a mean that may change in the
# last digits.
TOLERANCE, ROUNDING = 4.0, 1e-9
# In JSON, a string, or a comma after the end of a list or an object.
STRING_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=[\]}]),')


def versions() -> dict[str, str]:
    """The versions of this library, of Python and of the packages that results depend on."""
    found = {"gpbandits-env": gpbandits_env.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # vendored without metadata
            found[name] = "unknown"
    return found


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
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def load(id: str, package: Traversable | None = None) -> Plain | None:
    """The reference results of a scenario, from another folder if given; None if there are none."""
    file = (package or files("gpbandits_env.scenarios")).joinpath(f"reference/{id}.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def compact(kept: Plain, digits: int = 17) -> str:
    """JSON with so many significant digits; what follows the end of a list or object has a line."""
    plain = json.loads(json.dumps(kept), parse_float=lambda n: float(f"{float(n):.{digits}g}"))
    text = json.dumps(plain, separators=(",", ":"))
    return STRING_OR_COMMA.sub(lambda found: found[1] or ",\n", text) + "\n"


def to_reference(report: Report) -> Plain:
    """The part of a report that is kept as a reference."""
    s = report.scenario
    return {
        "scenario": s["id"],
        "horizon": s["horizon"],
        "trials": s["trials"],
        "seed": s["seed"],
        "optimum_moves": report.optimum_moves,
        "versions": versions(),
        "machine": {k: v for k, v in machine().items() if k != "system"},
        "digest": report.digest,
        "cells": [_cell(cell) for cell in report.cells],
    }


def _cell(cell: CellReport) -> Plain:
    agents = {a.label: {name: [a.mean[name], a.se[name]] for name in a.mean} for a in cell.agents}
    return {"params": cell.params, "agents": agents}


def conditions(kept: Plain, now: Plain) -> list[str]:
    """What results depend on besides the code, where it is not that of the reference."""

    def of(result: Plain) -> Plain:
        blas = ", ".join(result["machine"]["blas"])
        return {"trials": result["trials"], **result["versions"], "BLAS": blas}

    old, new = of(kept), of(now)
    return [
        f"the reference has {name} {old[name]}, and this run {new[name]}"
        for name in old
        if name in new and old[name] != new[name]
    ]


def compare(kept: Plain, now: Plain) -> list[str]:
    """Where results differ from the reference by more than `TOLERANCE` standard errors.

    They are those of the difference of two independent means. The spread of few trials may be
    small by chance, and that of one is unknown: then it is the reference's that counts.
    Differences of relative size `ROUNDING` do not count.
    """
    found, wider = [], math.sqrt(1.0 + kept["trials"] / now["trials"])
    for old, new in zip(kept["cells"], now["cells"], strict=True):
        for label, metrics in old["agents"].items():
            for name, (mean, se) in metrics.items():
                value, own = new["agents"].get(label, {}).get(name, (math.nan, math.nan))
                se = max(se * wider, math.hypot(se, own))  # also if own is NaN
                if not abs(value - mean) <= max(TOLERANCE * se, ROUNDING * abs(mean)):
                    where = f"{label}, {name}" + (f", {old['params']}" if old["params"] else "")
                    found.append(f"{where}: {value:.6g}, reference {mean:.6g} (SE {se:.2g})")
    return found
