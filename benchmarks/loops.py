"""What the benchmarks of whole loops share: one thread, the public loop, and a table.

NumPy is not imported here, because the number of threads must be set before it is loaded.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time

# The fastest of so many runs of another library counts.
TWICE = 2


def options(description: str) -> argparse.Namespace:
    """The command line; it limits BLAS to `--threads`, which must happen before NumPy is loaded."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--peers", nargs="*", help="by default those that are installed")
    parser.add_argument("--threads", type=int, default=1, help="BLAS threads")
    parser.add_argument("--repeats", type=int, default=7, help="the fastest of these counts")
    parser.add_argument("--wall", action="store_true", help="wall clock, for an idle machine")
    parser.add_argument("--own", help="only this case of ours, as JSON")
    chosen = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(chosen.threads)
    return chosen


def play(env, agent, rounds, clock):
    """The public loop; returns (seconds, the average regret)."""
    env.reset(seed=0)
    start = clock()
    for _ in range(rounds):
        actions = agent.ask()
        observation, _, _, _, info = env.step(actions)
        agent.tell(actions, observation["rewards"])
    return clock() - start, info["cumulative_regret"] / rounds


def fastest(run, repeats):
    """The (seconds, regret) of the fastest of some runs."""
    return min(run() for _ in range(repeats))


def clock_of(chosen):
    """Processor time counts all threads, and not the time of other programs on a busy machine."""
    return time.perf_counter if chosen.wall else time.process_time


def elsewhere(chosen, case, threads):
    """The output of `--own case` in a process of its own."""
    command = [sys.executable, sys.argv[0], "--own", case, "--threads", str(threads)]
    command += ["--repeats", str(chosen.repeats), *(["--wall"] if chosen.wall else [])]
    return json.loads(subprocess.check_output(command))


def table(title, chosen, rows):
    """Print (ratio, target, what) rows; target is a text such as ">= 250"."""
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    clock = "wall clock" if chosen.wall else "processor time"
    print(title)
    print(f"{os.cpu_count()} processors, {platform.platform()}, Python {platform.python_version()}")
    print(f"{chosen.threads} BLAS thread(s), {clock}, load average {load}")
    print(f"{'ratio':>9}  {'target':<9} what")
    for ratio, target, what in rows:
        print(f"{ratio:9.2f}  {target:<9} {what}")
