"""The computations that decide the claims of bogunovic2016 about its theory."""

import itertools
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env import Arms, Matern, Matern32, Matern52, Problem, SquaredExponential, agents
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME, Schedule
from gpbandits_env.agents.algorithms.r_gp_ucb import paper_block_length
from gpbandits_env.arrays import Array, Plain
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.theory import time_varying as tv
from gpbandits_env.gp.theory.information import GREEDY
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.papers.bogunovic2016 import EPSILONS, TAILS
from gpbandits_env.scenarios.study.runner import lent, make_env, run_rounds
from gpbandits_env.seeding import seed_for, stream
from tools.claims import Arrays, peaks
from tools.claims.bogunovic2016_real import log_ratio

LENGTHSCALE, NOISE, DELTA, HORIZON = 0.2, 0.01, 0.1, 500
KERNELS: dict[str, Kernel] = {
    "se": SquaredExponential(LENGTHSCALE),
    "matern52": Matern52(LENGTHSCALE),
}
GRID = Arms.grid((50, 50))

# -- Theorems 4.2 and 4.3 --------------------------------------------------------------------------

TRIALS, CLOSE_TRIALS = 50, 5


@dataclass(frozen=True)
class TheoremBeta(Schedule):
    """The beta_t of Theorem 4.2 (with resets) or 4.3, in two dimensions."""

    resets: bool
    a: float
    b: float

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        beta = tv.beta_resetting if self.resets else tv.beta_time_varying
        return beta(t, 2, DELTA, self.a, self.b)


@one_blas_thread()
def theorems(name: str) -> Arrays:
    """Theorems 4.2 and 4.3 on 50 draws for each epsilon, T = 500; arrays end with epsilon.

    "log less theorem": the mean regret of an agent with 0.8 log(4 t) minus that with the theorem's
    beta. "eq. N": the largest ratio of R_t to the bound over all rounds, per trial. "band": whether
    |f_t - mu| <= sqrt(beta_t) sigma fails at some arm and round (eqs. 28-29). "Lemma D.1": the
    largest ratios of the differences between the two posteriors to their bounds. "over random": the
    bound on R_T/T over the regret of random selection at T = 500; "for ever": its limit if the
    information keeps growing at its last rate and beta no longer. "points per axis": those of the
    discretisation of the proof at t = 1.
    """
    tails = TAILS[name]
    tau = 2.0 * tails["b"] * np.sqrt(np.log(6.0 * tails["a"] * np.pi**2 / 6.0 / DELTA))
    found = {"zero": np.zeros(TRIALS), "points per axis": tau}
    static = theory.greedy_design(GRID, KERNELS[name], NOISE, HORIZON)[1]
    for epsilon in EPSILONS:
        runs = [_trial(name, epsilon, trial) for trial in range(TRIALS)]
        regret = {k: np.array([run[k] for run in runs]) for k in ("tv", "tv log", "r", "r log")}
        mean = {k: values[:, -1] / HORIZON for k, values in regret.items()}
        random = float(np.mean([run["random"] for run in runs]))
        gain = np.maximum(
            tv.greedy_time_varying_gain(GRID, KERNELS[name], NOISE, epsilon, HORIZON),
            np.array([run["gain"] for run in runs]),
        )
        bounds = _bounds(name, epsilon, gain, static)
        for label in ("tv", "r"):
            found[f"{label} log less theorem {epsilon}"] = mean[f"{label} log"] - mean[label]
        for equation, bound in bounds.items():
            of = regret["r" if equation == "eq. 17" else "tv"]
            found[f"{equation} {epsilon}"] = (of / bound).max(axis=1)
            last = float(np.mean(np.atleast_2d(bound)[:, -1])) / HORIZON
            found[f"{equation} over random {epsilon}"] = last / random
        rate = np.diff(gain[:, -101:], axis=1).mean()
        beta = TheoremBeta(False, tails["a"], tails["b"])(HORIZON)
        ever = np.sqrt(theory.regret_constant(NOISE) * beta * rate)
        found[f"for ever over random {epsilon}"] = ever / random
        found[f"band {epsilon}"] = [run["band"] for run in runs]
        found[f"Lemma D.1 {epsilon}"] = [run["lemma"] for run in runs[:CLOSE_TRIALS]]
    return found


def _bounds(name: str, epsilon: float, gain: Array, static: Array) -> Arrays:
    """Eqs. (17), (20) and (21) as printed, at T = 1, ..., 500; (20) for the gain of each trial."""
    rounds, tails = np.arange(1, HORIZON + 1), TAILS[name]
    problem = Problem(GRID, KERNELS[name], NOISE, epsilon=epsilon, horizon=HORIZON)
    block = paper_block_length(problem)
    betas = {r: TheoremBeta(r, tails["a"], tails["b"])(rounds) for r in (False, True)}
    printed = np.min([
        tv.time_varying_gain_bound(rounds, n, float(static[n - 1]), NOISE, epsilon, as_printed=True)
        for n in range(1, HORIZON + 1)
    ], axis=0)  # fmt: skip
    of_block = (block, float(static[block - 1]), NOISE, epsilon, DELTA, tails["a0"], tails["b0"])
    return {
        "eq. 17": tv.regret_bound_resetting(rounds, betas[True], *of_block, as_printed=True),
        "eq. 20": tv.regret_bound_time_varying(rounds, betas[False], gain, NOISE),
        "eq. 21": tv.regret_bound_time_varying(rounds, betas[False], printed, NOISE),
    }


def _trial(name: str, epsilon: float, trial: int) -> dict[str, Any]:
    """Cumulative regret of four agents on the same draw, and how the theorems' events fared."""
    given = {**registry.get(f"bogunovic2016/{name}").env_kwargs, "epsilon": epsilon}
    env: Any = make_env("gpbandits/MarkovGP-v0", given, HORIZON)
    tails, found = TAILS[name], {}
    theorems = {r: TheoremBeta(r, tails["a"], tails["b"]) for r in (False, True)}
    for label in ("tv log", "r log", "tv", "r"):
        resets = label.startswith("r")
        beta = LOG_TIME if label.endswith("log") else theorems[resets]
        agent: Any = agents.make("r-gp-ucb" if resets else "tv-gp-ucb", env, seed=0, beta=beta)
        env.reset(seed=seed_for("bogunovic2016/theorems", name, str(epsilon), trial))
        arms, rewards = np.empty((HORIZON, 1), int), np.empty((HORIZON, 1))
        regret = np.empty(HORIZON)
        mean, var, values = np.empty((3, HORIZON, GRID.size))
        for t in range(HORIZON):
            arms[t] = agent.ask()
            mean[t], var[t] = agent.posterior.mean, agent.posterior.var
            observation, *_, info = env.step(arms[t])
            rewards[t], values[t] = observation["rewards"], env.unwrapped.function.values
            agent.tell(arms[t], rewards[t])
            regret[t] = info["regret"][0]
        found[label] = np.cumsum(regret)
        sd = np.sqrt(np.maximum(var, 0.0))
        if label == "tv":
            # The confidence bounds of eqs. (28)-(29), and the run's information, eq. (26).
            width = np.sqrt(theorems[False](np.arange(1, HORIZON + 1)))[:, None] * sd
            found["band"] = float((np.abs(values - mean) > width).any())
            played = np.take_along_axis(var, arms, 1)[:, 0]
            found["gain"] = theory.running_information_gain(played, NOISE)
            found["random"] = float((values.max(axis=1) - values.mean(axis=1)).mean())
        if label == "r" and trial < CLOSE_TRIALS:
            bound = agent.keep.every, epsilon, tails
            found["lemma"] = _mismatch((mean, sd, arms, rewards), env.unwrapped.problem, *bound)
    return found


def _mismatch(
    run: tuple[Array, ...], problem: Problem, block: int, epsilon: float, tails: Plain
) -> Array:
    """The largest ratios of the differences of Lemma D.1 to their bounds, in mean and in sd.

    The other posterior has the same data of a block, and knows that the function moves.
    """
    largest, moved = np.zeros((HORIZON, 2)), block**3 * epsilon
    mean, sd, arms, rewards = run
    for t in range(HORIZON):
        if t % block == 0:
            other: Any = agents.make("tv-gp-ucb", problem, seed=0)
        tail = 2.0 * (1.0 + tails["a0"]) * np.pi**2 * (t + 1) ** 2 / (3.0 * DELTA)
        most = (1 / NOISE + NOISE**-2) * moved * (2.0 + tails["b0"]) * np.sqrt(np.log(tail))
        true = np.sqrt(np.maximum(other.posterior.var, 0.0))
        largest[t, 0] = np.abs(mean[t] - other.posterior.mean).max() / most
        largest[t, 1] = np.abs(sd[t] - true).max() / np.sqrt((3 / NOISE + NOISE**-2) * moved)
        other.tell(arms[t], rewards[t])
    return largest.max(axis=0)


# -- Eq. (46): information gain by blocks ----------------------------------------------------------

SETS, MOST = 20, 8
DRIFTS, NOISES = (0.001, 0.01, 0.03, 0.1, 0.3), (1e-4, 0.01, 1.0)


@one_blas_thread()
def information() -> Arrays:
    """The largest ratio of gamma~_T to its bound by blocks, eq. (46), over T and all N~ <= T.

    "exact": 20 sets of five random arms, T <= 8, by enumeration of all sequences of arms.
    "corrected" has the factor of the noise restored.
    "grid": greedy gains on the 50 x 50 grid, noise 0.01, T = 200 and 500, with e/(e - 1) times the
    greedy gain without drift. "one arm": noise 0.0001, (epsilon, T) = (0.1, 8) and (0.01, 50).
    """
    found: Arrays = {}
    for name, kernel in KERNELS.items():
        covariances = [
            kernel(stream("bogunovic2016/information", i).uniform(size=(5, 2))) for i in range(SETS)
        ]
        for noise in NOISES:
            static = [exact_gains(k, noise, 0.0) for k in covariances]
            for epsilon in DRIFTS:
                drifting = [exact_gains(k, noise, epsilon) for k in covariances]
                for form in ("printed", "corrected"):
                    found[f"exact {form} {name} noise {noise:g} epsilon {epsilon}"] = [
                        worst(a, b, noise, epsilon, form == "printed", range(1, MOST + 1))
                        for a, b in zip(drifting, static, strict=True)
                    ]
        still = theory.information_gain_bound(GRID, kernel, NOISE, HORIZON)
        for epsilon in EPSILONS:
            greedy = tv.greedy_time_varying_gain(GRID, kernel, NOISE, epsilon, HORIZON)
            for form in ("printed", "corrected"):
                ratio = worst(greedy, still, NOISE, epsilon, form == "printed", (200, HORIZON))
                found[f"grid {form} {name} epsilon {epsilon}"] = ratio
    one = np.ones((1, 1))
    found["one arm"] = [
        worst(exact_gains(one, 1e-4, e, t), exact_gains(one, 1e-4, 0.0, t), 1e-4, e, True, (t,))
        for e, t in ((0.1, 8), (0.01, 50))
    ]
    return found


def worst(
    drifting: Array, static: Array, noise: float, epsilon: float, printed: bool, horizons: Any
) -> float:
    """The largest ratio of a gain to the bound, over horizons T and block lengths N <= T."""
    bound = partial(tv.time_varying_gain_bound, noise_var=noise, epsilon=epsilon)
    return max(
        float(drifting[t - 1] / bound(t, n, gain, as_printed=printed))
        for t in horizons
        for n, gain in enumerate(static[:t].tolist(), start=1)
    )


def exact_gains(covariance: Array, noise: float, epsilon: float, rounds: int = MOST) -> Array:
    """The largest information gain of 1, 2, ... rounds over all sequences of arms, (rounds,)."""
    arms = len(covariance)
    beliefs, gains, found = covariance[None], np.zeros(1), np.empty(rounds)
    for t in range(rounds):
        variances = np.diagonal(beliefs, axis1=1, axis2=2)
        after = gains[:, None] + 0.5 * np.log1p(variances / noise)
        found[t] = after.max()
        if t == rounds - 1:
            break
        columns = beliefs.transpose(0, 2, 1)  # (sequences, arm, arms)
        scale = 1.0 / (variances + noise)
        outer = columns[..., :, None] * columns[..., None, :] * scale[..., None, None]
        beliefs = (beliefs[:, None] - outer).reshape(-1, arms, arms)
        beliefs = (1.0 - epsilon) * beliefs + epsilon * covariance
        gains = after.ravel()
    return found


def information_with_drift() -> Arrays:
    """The greedy gain under drift over that without, at T = 200 and 500 on the 50 x 50 grid.

    "surely": over e/(e - 1) times the latter, which is at least gamma_T.
    """
    found: Arrays = {}
    for name, kernel in KERNELS.items():
        still = theory.greedy_design(GRID, kernel, NOISE, HORIZON)[1]
        for epsilon in EPSILONS:
            ratio = tv.greedy_time_varying_gain(GRID, kernel, NOISE, epsilon, HORIZON) / still
            for t in (200, HORIZON):
                cell = f"{name} epsilon {epsilon} T {t}"
                found |= {cell: ratio[t - 1], f"surely {cell}": GREEDY * ratio[t - 1]}
    return found


# -- The course of time: Section 2, Corollary 4.1 --------------------------------------------------


def distant_maxima() -> Arrays:
    """How f_500 differs from f_1 if epsilon = 500^(-c), for 1000 draws.

    "correlation": that of f_1(x) and f_500(x). "moved": whether the maxima are more than a
    lengthscale apart.
    """
    line, found = Arms.grid((200,)), {}
    fields = {
        "se 1-d": (line, KERNELS["se"]),
        "matern32 1-d": (line, Matern32(LENGTHSCALE)),
        **{f"{name} 2-d": (GRID, kernel) for name, kernel in KERNELS.items()},
    }
    for name, (arms, kernel) in fields.items():
        factor = np.linalg.cholesky(kernel(arms.coordinates) + 1e-9 * np.eye(arms.size))
        noise = stream("bogunovic2016/distant-maxima", name).standard_normal((arms.size, 2000))
        first, fresh = np.split(factor @ noise, 2, axis=1)
        for c in (0.25, 0.5, 0.75):
            rho = (1.0 - HORIZON**-c) ** ((HORIZON - 1) / 2)
            last = rho * first + np.sqrt(1.0 - rho**2) * fresh
            apart = np.subtract(*(arms.coordinates[f.argmax(axis=0)] for f in (first, last)))
            found[f"moved {name} c {c}"] = np.linalg.norm(apart, axis=1) > LENGTHSCALE
            found[f"correlation c {c}"] = rho
    return found


def block_lengths() -> Arrays:
    """Ratios that are at least 1 if the N of Corollary 4.1 increases as Section 4.2 says.

    N is epsilon^(-1/(4 - c)) in two dimensions. "less drift" is over N at the next larger epsilon,
    "smoother" over that of the rougher kernel.
    """
    powers = {"matern52": 6.0 / 11.0, "matern92": 6.0 / 15.0, "se": 0.0}
    lengths = {name: np.power(EPSILONS, -1.0 / (4.0 - c)) for name, c in powers.items()}
    found = {f"less drift {name}": n[:-1] / n[1:] for name, n in lengths.items()}
    for (rougher, a), (smoother, b) in itertools.pairwise(lengths.items()):
        found[f"smoother {smoother} than {rougher}"] = b / a
    return found


def without_drift() -> Arrays:
    """The regret of GP-UCB with 0.8 log(4 t) at epsilon = 0: (50, k) at the rounds "T"."""
    rounds = np.round(np.geomspace(200, 2000, 13)).astype(np.int64)
    found: Arrays = {"T": rounds}
    for name in KERNELS:
        given = {**registry.get(f"bogunovic2016/{name}").env_kwargs, "epsilon": 0.0}
        curves = []
        for trial in range(TRIALS):
            with lent("gpbandits/MarkovGP-v0", given, 2000) as env:
                env.reset(seed=seed_for("bogunovic2016/without-drift", name, trial))
                agent = agents.make("gp-ucb", env, seed=0, beta=LOG_TIME)
                curves.append(run_rounds(env, agent, 2000)[0]["regret"].ravel().cumsum())
        found[name] = np.array(curves)[:, rounds - 1]
    return found


# -- Theorem 4.1 and Appendix F --------------------------------------------------------------------

SMOOTH: dict[str, Kernel] = {
    "se": SquaredExponential(LENGTHSCALE),
    "matern92": Matern(lengthscale=LENGTHSCALE, nu=4.5),
}
RATES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
PAIRS, FINE, NODES = 50, 4000, 200


@one_blas_thread()
def lower_bound() -> Arrays:
    """The regret of the genie, which knows the last function: Theorem 4.1 and eq. (100).

    "step": per trial of 50 pairs of functions on the 50 x 50 grid, the logarithm of the ratio of
    E[r_t]/epsilon at one of `RATES` to that at the next (see `log_ratio`). "eq. 100": on 4000
    points of [0, 1], the smallest ratio of the regret to its lower bound in batches of 1000 draws,
    where the event of eqs. (90)-(93) holds with L and eta from the draw.
    """
    found: Arrays = {}
    for name, kernel in SMOOTH.items():
        covariance = kernel(GRID.coordinates)
        factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(covariance)))
        rng = stream("bogunovic2016/lower-bound", name)
        regret = np.empty((TRIALS * 4, len(RATES)))
        for trial in range(len(regret)):
            last, fresh = np.split(factor @ rng.standard_normal((len(factor), 2 * PAIRS)), 2, 1)
            regret[trial] = [_genie(last, fresh, epsilon).mean() / epsilon for epsilon in RATES]
        for i in range(len(RATES) - 1):
            step = log_ratio(regret[:, i], regret[:, i + 1])
            found[f"{name} step {RATES[i]} to {RATES[i + 1]}"] = step
        for epsilon in (0.1, 0.01):
            ratios = [_eq_100(kernel, epsilon, rng)[0] for _ in range(10)]
            found[f"{name} eq. 100 epsilon {epsilon}"] = ratios
    return found


def _genie(last: Array, fresh: Array, epsilon: float) -> Array:
    now = np.sqrt(1.0 - epsilon) * last + np.sqrt(epsilon) * fresh
    return now.max(axis=0) - now[last.argmax(axis=0), np.arange(now.shape[1])]


def _eq_100(kernel: Kernel, epsilon: float, rng: np.random.Generator) -> tuple[float, float]:
    """The smallest ratio of the regret to eq. (100) in 1000 draws, and the share with the event.

    Draws are smooth functions of their values on 200 points. The maximizer on the grid is not that
    of the function: its slope, at most L h/2, takes sqrt(epsilon) |g'| h/4 from the bound.
    """
    x, h = np.linspace(0.0, 1.0, FINE), 1.0 / (FINE - 1)
    nodes = np.linspace(0.0, 1.0, NODES)[:, None]
    root = np.linalg.cholesky(kernel(nodes) + 1e-9 * np.eye(NODES))
    basis = np.linalg.solve(root, kernel(nodes, x[:, None])).T
    last, fresh = np.split(basis @ rng.standard_normal((NODES, 2000)), 2, axis=1)
    at, draws = last.argmax(axis=0), np.arange(1000)
    inner = np.clip(at, 1, FINE - 2)
    slope = (fresh[inner + 1, draws] - fresh[inner - 1, draws]) / (2.0 * h)
    bend = np.maximum(*(np.abs(np.diff(f, 2, axis=0)).max(axis=0) / h**2 for f in (last, fresh)))
    reach = np.sqrt(epsilon) * np.abs(slope) / (2.0 * bend)
    event = (at == inner) & (reach <= np.minimum(x[at], 1.0 - x[at]))
    tolerance = np.sqrt(epsilon) * np.abs(slope) * h / 4.0
    now = np.sqrt(1.0 - epsilon) * last + np.sqrt(epsilon) * fresh
    regret = peaks(now) - now[at, draws]
    ratio = (regret + tolerance) / (epsilon * slope**2 / (4.0 * bend))
    return float(ratio[event].min()), float(event.mean())
