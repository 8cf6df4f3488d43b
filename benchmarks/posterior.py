"""The speed of the posterior on arms: compared with its peers, with t, and with threads.

    python benchmarks/posterior.py [--rounds 1000] [--peers sklearn botorch] [--threads 1] [--cpu]

Every posterior gets the same arms and rewards, one per round, and must then provide the mean and
the variance at all arms. Peers have fixed hyper-parameters and are refitted in each round. Ratios
within one run matter; times depend on the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

ARMS, LENGTHSCALE, NOISE_VAR = 1000, 0.2, 0.025


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000, help="rounds against the peers")
    parser.add_argument("--peers", nargs="*", default=["sklearn", "botorch"])
    parser.add_argument("--threads", type=int, default=1, help="BLAS threads")
    parser.add_argument("--repeats", type=int, default=5, help="the fastest of these counts")
    parser.add_argument("--cpu", action="store_true", help="processor time: for a busy machine")
    parser.add_argument("--own", action="store_true", help="only our own times, as JSON")
    return parser.parse_args()


CHOSEN = options()
# BLAS libraries read these once, when they are first loaded.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(CHOSEN.threads)

import numpy as np
from threadpoolctl import threadpool_limits

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Kernel, Matern32, SphericalLinear, SquaredExponential
from gpbandits_env.gp.posterior import posterior_for

Data = tuple[np.ndarray, np.ndarray]
clock = time.process_time if CHOSEN.cpu else time.perf_counter
SE, MATERN = SquaredExponential(lengthscale=LENGTHSCALE), Matern32(lengthscale=LENGTHSCALE)


def data(n: int, rounds: int) -> Data:
    """The arms (rounds, 1) and the rewards (rounds, 1)."""
    rng = np.random.default_rng(0)
    return rng.integers(n, size=(rounds, 1)), rng.standard_normal((rounds, 1))


def seconds(run: Callable[[], object], repeats: int) -> float:
    """The time of the fastest of some runs."""
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def ours(arms: Arms, kernel: Kernel, given: Data, drift: float = 0.0) -> tuple[float, float]:
    posterior = posterior_for(arms, kernel, NOISE_VAR, horizon=len(given[0]))
    for arm, reward in zip(*given, strict=True):
        posterior.condition(arm, reward)
        if drift:
            posterior.advance(drift)
        mean, var = posterior.mean, posterior.var
    return mean[0], var[0]


def bare_cholesky(gram: np.ndarray, given: Data) -> tuple[float, float]:
    """The shortest loop possible: one row of L^-1 K per round, without checks, with given K."""
    rows = np.empty((len(given[0]), len(gram)))
    mean, var = np.zeros(len(gram)), gram.diagonal().copy()
    for t, (arm, reward) in enumerate(zip(given[0][:, 0], given[1][:, 0], strict=True)):
        s = np.sqrt(var[arm] + NOISE_VAR)
        v = rows[t]
        v[:] = (gram[arm] - rows[:t, arm] @ rows[:t]) / s
        mean += v * ((reward - mean[arm]) / s)
        var -= v**2
    return mean[0], var[0]


def sklearn(arms: Arms, given: Data) -> tuple[float, float]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    model = GaussianProcessRegressor(RBF(LENGTHSCALE), alpha=NOISE_VAR, optimizer=None)
    points = arms.coordinates
    for t in range(1, len(given[0]) + 1):
        model.fit(points[given[0][:t, 0]], given[1][:t, 0])
        mean, sd = model.predict(points, return_std=True)
    return mean[0], sd[0] ** 2


def botorch(arms: Arms, given: Data) -> tuple[float, float]:
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import RBFKernel
    from gpytorch.means import ZeroMean

    torch.set_num_threads(CHOSEN.threads)
    points = torch.tensor(arms.coordinates.copy())
    rewards = torch.tensor(given[1])
    kernel = RBFKernel()
    kernel.lengthscale = LENGTHSCALE
    with torch.no_grad():
        for t in range(1, len(rewards) + 1):
            model = SingleTaskGP(
                points[torch.tensor(given[0][:t, 0])],
                rewards[:t],
                torch.full((t, 1), NOISE_VAR, dtype=torch.float64),
                covar_module=kernel,
                mean_module=ZeroMean(),
                outcome_transform=None,
            )
            belief = model.posterior(points[:, None])  # each arm apart: no joint covariance
            mean, var = belief.mean, belief.variance
    return mean[0].item(), var[0].item()


def own_times(repeats: int) -> dict[str, float]:
    """Microseconds per round of our own cases."""
    line, square = Arms.grid(ARMS), Arms.grid((50, 50))
    cube = Arms(np.random.default_rng(1).random((10_000, 100)))
    cases = {
        "SE, 1000 arms, T = 1000": (line, SE, 1000, 0.0),
        "SE, 1000 arms, T = 10000": (line, SE, 10_000, 0.0),
        "SE, 1000 arms, T = 1000, drifting": (line, SE, 1000, 0.01),
        "SE, 50 x 50 arms, T = 1000": (square, SE, 1000, 0.0),
        "Matern 3/2, 1000 arms, T = 1000": (line, MATERN, 1000, 0.0),
        "Matern 3/2, 50 x 50 arms, T = 500": (square, MATERN, 500, 0.0),
        "spherical linear, 10000 arms in 100-D, T = 1000": (cube, SphericalLinear(), 1000, 0.0),
    }
    return {
        name: 1e6
        / rounds
        * seconds(lambda: ours(arms, kernel, data(arms.size, rounds), drift), repeats)  # noqa: B023
        for name, (arms, kernel, rounds, drift) in cases.items()
    }


def times_with(threads: int, repeats: int) -> dict[str, float]:
    """`own_times` in a process of its own."""
    command = [sys.executable, __file__, "--own", "--threads", str(threads)]
    command += ["--repeats", str(repeats), *(["--cpu"] if CHOSEN.cpu else [])]
    found: dict[str, float] = json.loads(subprocess.check_output(command))
    return found


def peers(rounds: int, names: list[str], repeats: int) -> Iterator[tuple[str, float, str]]:
    """(what, ratio, note) of each peer that is installed."""
    arms, given = Arms.grid(ARMS), data(ARMS, rounds)
    mine = ours(arms, SE, given)
    took = seconds(lambda: ours(arms, SE, given), repeats)
    for name, target in (("sklearn", 600), ("botorch", 1200)):
        if name not in names:
            continue
        with suppress(ImportError):
            peer = {"sklearn": sklearn, "botorch": botorch}[name]
            start = clock()
            theirs = peer(arms, given)
            theirs_took = clock() - start
            assert np.allclose(mine, theirs, atol=1e-4), (mine, theirs)
            note = f"{theirs_took:.2f} s against {took * 1e3:.2f} ms; target: at least {target}"
            yield f"{name} / ours, T = {rounds}", theirs_took / took, note


def main() -> None:
    repeats = CHOSEN.repeats
    with threadpool_limits(CHOSEN.threads):
        if CHOSEN.own:
            print(json.dumps(own_times(repeats)))
            return
        rows = list(peers(CHOSEN.rounds, CHOSEN.peers, repeats))
        line, given = Arms.grid(ARMS), data(ARMS, 1000)
        gram = MATERN(line.coordinates)
        pairs = [
            (
                seconds(lambda: ours(line, MATERN, given), 1),
                seconds(lambda: bare_cholesky(gram, given), 1),
            )
            for _ in range(4 * repeats)
        ]
    matern, bare = (min(pair[i] for pair in pairs) for i in (0, 1))
    note = f"{matern * 1e3:.1f} ms against {bare * 1e3:.1f} ms; target: at most 1.3"
    rows.append(("ours / bare Cholesky loop, Matern 3/2", matern / bare, note))
    # Alternating, here and above, so that a busy machine slows both.
    runs = [(times_with(1, repeats), times_with(2, repeats)) for _ in range(4)]
    one, two = ({k: min(run[i][k] for run in runs) for k in runs[0][i]} for i in (0, 1))
    growth = 10 * one["SE, 1000 arms, T = 10000"] / one["SE, 1000 arms, T = 1000"]
    rows.append(("T = 10000 / T = 1000, SE", growth, "target: at most 11"))
    for name in one:
        note = f"{two[name]:.1f} against {one[name]:.1f} us a round; target: at most 1.1"
        rows.append((f"two threads / one: {name}", two[name] / one[name], note))
    print(f"{'ratio':>8}  what")
    for what, ratio, note in rows:
        print(f"{ratio:8.2f}  {what} ({note})")


if __name__ == "__main__":
    main()
