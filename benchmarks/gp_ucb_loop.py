"""Speed of GP-UCB through the public loop (ask, step, tell), against its peers and with threads.

    python benchmarks/gp_ucb_loop.py [--rounds 1000] [--peers sklearn botorch] [--cpu]

1000 arms of [0, 1], squared exponential of lengthscale 0.2, noise variance 0.025, Theorem 1's beta
over 5. The peers' surrogates have the same fixed hyper-parameters, are refitted each round and
asked for mean and deviation at all arms; the environment and the rule are the same. What a peer
ends with is held against our posterior given the peer's own data. Ratios within one run count;
times depend on the machine. A peer that is not installed is left out.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable

ID, ARMS, LENGTHSCALE, NOISE_VAR, DELTA = "gpbandits/StaticGP-v0", 1000, 0.2, 0.025, 0.1
TARGETS = {"sklearn": 250, "botorch": 500}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--peers", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--repeats", type=int, default=10, help="the fastest of these counts")
    parser.add_argument("--threads", type=int, default=1, help="BLAS threads")
    parser.add_argument("--cpu", action="store_true", help="processor time: for a busy machine")
    parser.add_argument("--own", action="store_true", help="only our own times, as JSON")
    return parser.parse_args()


CHOSEN = options()
# BLAS libraries read these once, when they are first loaded.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(CHOSEN.threads)

import gymnasium as gym  # noqa: E402
import numpy as np  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

import gpbandits_env  # noqa: E402, F401 (registers the environments)
from gpbandits_env import agents  # noqa: E402
from gpbandits_env.kernels import SquaredExponential  # noqa: E402
from gpbandits_env.posterior import posterior_on  # noqa: E402

clock = time.process_time if CHOSEN.cpu else time.perf_counter
Belief = tuple[np.ndarray, np.ndarray]
# Takes the arms (t,) and rewards (t,) so far; gives mean and deviation at all arms.
Surrogate = Callable[[np.ndarray, np.ndarray], Belief]


def environment(grid: tuple[int, ...] = (ARMS,), kernel: str = "se") -> gym.Env:
    declared = {"type": kernel, "lengthscale": LENGTHSCALE}
    return gym.make(ID, grid=grid, kernel=declared, noise_var=NOISE_VAR, max_episode_steps=10**6)


def ours(env: gym.Env, name: str, rounds: int) -> float:
    """The loop of the README; returns the cumulative regret."""
    agent = agents.make(name, env, seed=0, horizon=rounds)
    env.reset(seed=1)
    for _ in range(rounds):
        actions = agent.ask()
        observation, _, _, _, info = env.step(actions)
        agent.tell(actions, observation["rewards"])
    return info["cumulative_regret"]


def theirs(env: gym.Env, surrogate: Surrogate, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """The same loop over another surrogate; returns the arms and the rewards."""
    n, played, rewards = env.unwrapped.problem.domain.size, [], []
    env.reset(seed=1)
    for t in range(1, rounds + 1):
        beta = 2.0 * math.log(n * t**2 * math.pi**2 / (6.0 * DELTA)) / 5.0
        mean, sd = surrogate(np.array(played, dtype=np.int64), np.array(rewards))
        played.append(int((mean + math.sqrt(beta) * sd).argmax()))
        rewards.append(env.step(np.array(played[-1:]))[0]["rewards"].item())
    return np.array(played), np.array(rewards)


def sklearn_surrogate(points: np.ndarray) -> Surrogate:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    model = GaussianProcessRegressor(RBF(LENGTHSCALE), alpha=NOISE_VAR, optimizer=None)

    def believe(arms: np.ndarray, rewards: np.ndarray) -> Belief:
        if len(arms):
            model.fit(points[arms], rewards)
        return model.predict(points, return_std=True)

    return believe


def botorch_surrogate(points: np.ndarray) -> Surrogate:
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import RBFKernel
    from gpytorch.means import ZeroMean

    torch.set_num_threads(CHOSEN.threads)
    everywhere, kernel = torch.tensor(points.copy()), RBFKernel().double()
    kernel.lengthscale = LENGTHSCALE

    def believe(arms: np.ndarray, rewards: np.ndarray) -> Belief:
        if not len(arms):
            return np.zeros(len(points)), np.ones(len(points))
        with torch.no_grad():
            model = SingleTaskGP(
                everywhere[torch.tensor(arms)],
                torch.tensor(rewards)[:, None],
                torch.full((len(arms), 1), NOISE_VAR, dtype=torch.float64),
                covar_module=kernel,
                mean_module=ZeroMean(),
                outcome_transform=None,
            )
            belief = model.posterior(everywhere)
            return belief.mean[:, 0].numpy(), belief.variance[:, 0].sqrt().numpy()

    return believe


SURROGATES = {"sklearn": sklearn_surrogate, "botorch": botorch_surrogate}


def seconds(run: Callable[[], object], repeats: int = 1) -> float:
    """The fastest of some runs."""
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def check(env: gym.Env, surrogate: Surrogate, arms: np.ndarray, rewards: np.ndarray) -> None:
    """Both learners believe the same of the same data."""
    posterior = posterior_on(env.unwrapped.problem.domain, SquaredExponential(0.2), NOISE_VAR)
    posterior.update(arms, rewards)
    mean, sd = surrogate(arms, rewards)
    assert np.allclose(mean, posterior.mean, atol=1e-3), "the peer's mean is another"
    assert np.allclose(sd, posterior.sd, atol=1e-3), "the peer's deviation is another"


def against(name: str, rounds: int, repeats: int) -> str:
    """A line on one peer: its time over ours, ours taken before and after."""
    env = environment()
    surrogate = SURROGATES[name](env.unwrapped.problem.domain.coordinates)
    before = seconds(lambda: ours(env, "gp-ucb", rounds), repeats)
    start = clock()
    played = theirs(env, surrogate, rounds)
    took = clock() - start
    mine = min(before, seconds(lambda: ours(env, "gp-ucb", rounds), repeats))
    check(env, surrogate, *played)
    return (
        f"{took / mine:8.0f}  {name} / ours ({took:.2f} s against {mine * 1e3:.1f} ms, "
        f"{mine / rounds * 1e6:.1f} us a round; target: at least {TARGETS[name]})"
    )


def own_times(rounds: int, repeats: int) -> dict[str, float]:
    """Microseconds a round of our own loops."""
    line, matern, square = environment(), environment(kernel="matern32"), environment((50, 50))
    cases = {f"{name}, SE, 1000 arms": (line, name, rounds) for name in agents_that_need_nothing()}
    cases["gp-ucb, SE, 1000 arms, 10 times the rounds"] = (line, "gp-ucb", 10 * rounds)
    cases["gp-ucb, Matern 3/2, 1000 arms"] = (matern, "gp-ucb", rounds)
    cases["gp-ucb, SE, 50 x 50 arms"] = (square, "gp-ucb", rounds)
    return {
        what: 1e6 / case[2] * seconds(lambda: ours(*case), repeats)  # noqa: B023
        for what, case in cases.items()
    }


def agents_that_need_nothing() -> list[str]:
    return ["gp-ucb", "ei", "mpi", "max-mean", "max-variance", "random"]


def times_with(threads: int) -> dict[str, float]:
    """`own_times` in a process of its own."""
    command = [sys.executable, __file__, "--own", "--threads", str(threads)]
    command += ["--rounds", str(CHOSEN.rounds), "--repeats", "3", *(["--cpu"] * CHOSEN.cpu)]
    found: dict[str, float] = json.loads(subprocess.check_output(command))
    return found


def main() -> None:
    with threadpool_limits(CHOSEN.threads):
        if CHOSEN.own:
            print(json.dumps(own_times(CHOSEN.rounds, CHOSEN.repeats)))
            return
        print(f"{platform.machine()}, {os.cpu_count()} processors, NumPy {np.__version__}")
        print(f"{'ratio':>8}  what")
        for name in CHOSEN.peers:
            try:
                print(against(name, CHOSEN.rounds, CHOSEN.repeats), flush=True)
            except ImportError as error:
                print(f"{'-':>8}  {name} left out: {error}")
    # Alternating, so that a busy machine slows both.
    runs = [(times_with(1), times_with(2)) for _ in range(3)]
    one, two = ({k: min(run[i][k] for run in runs) for k in runs[0][i]} for i in (0, 1))
    growth = 10 * one["gp-ucb, SE, 1000 arms, 10 times the rounds"] / one["gp-ucb, SE, 1000 arms"]
    print(f"{growth:8.2f}  10 times the rounds / once (gp-ucb, SE; target: at most 11)")
    for what in one:
        note = f"{two[what]:.1f} against {one[what]:.1f} us a round; target: at most 1.1"
        print(f"{two[what] / one[what]:8.2f}  two threads / one: {what} ({note})")


if __name__ == "__main__":
    main()
