"""What all tests share: where real data are, one thread for linear algebra, who runs which test."""

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

# A folder of data beside the checkout is found without being named; else tests of real data skip.
if "GPBANDITS_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["GPBANDITS_DATA"] = str(BESIDE)

# Workers of a parallel run, and their own worker processes, would fight over the cores. NumPy reads
# this when it is first imported, which is after this file.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")


# How long an example of Hypothesis takes depends on the machine and its load, and is not judged.
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")

# Garbage is collected less often: tests and libraries stay, and are much to look through. It took a
# tenth of the time, and a fifth of that of collection. (To freeze what stays would hide it from
# `gc.get_referrers`, by which Hypothesis checks its generator.)
gc.set_threshold(10_000, 10, 100)
# At the end of a process the interpreter looks through all of it again, which took three seconds.
atexit.register(gc.freeze)


@pytest.fixture
def little_search(monkeypatch) -> None:
    """Boxes are searched little: whether a script runs does not depend on what a search finds."""
    from gpbandits_env.agents.search.box import Gradient

    monkeypatch.setattr(Gradient.__init__, "__defaults__", (2, 32, 40, 1, True))


@pytest.fixture
def short_turns() -> Iterator[None]:
    """Threads take turns in the middle of everything."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config, log):
    """A worker runs tests that stand side by side, and one that is done takes half of what is left.

    The default hands out the last tests early, so that one worker waits while the other plays the
    long tests of studies; and it gives tests of one file to both, so that both prepare for them.
    """
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)
