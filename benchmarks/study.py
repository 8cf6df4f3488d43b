"""The time of a whole study, from the command line to the plot: `python benchmarks/study.py`.

The target is that `gpbandits run srinivas2010/se-1d` with its 300 trials (T = 1000, 1000
arms, 5 agents: 1,500,000 rounds) takes about a minute on two cores.
"""

import os
import subprocess
import sys
import tempfile
import time

from gpbandits_env.scenarios import Scenario, get
from gpbandits_env.scenarios.results.references import machine, versions

TARGET_SECONDS = 60.0


def main(ids: list[str]) -> None:
    print(f"{machine()['processor']}, {os.cpu_count()} processors; {versions()}")
    for id in ids:
        scenario = get(id)
        assert isinstance(scenario, Scenario)
        rounds = scenario.trials * scenario.horizon * len(scenario.agents)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "gpbandits_env.scenarios.cli", "run", id]
            command += ["--out", os.path.join(folder, "a.sqlite")]
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds = time.perf_counter() - start
        verdict = "within" if seconds <= TARGET_SECONDS else "above"
        print(
            f"{id}: {seconds:.1f} s for {rounds} rounds, {1e6 * seconds / rounds:.0f} us a round, "
            f"all told ({verdict} {TARGET_SECONDS:.0f} s)"
        )


if __name__ == "__main__":
    main(sys.argv[1:] or ["srinivas2010/se-1d"])
