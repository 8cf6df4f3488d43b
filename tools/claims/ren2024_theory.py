"""The computations that decide the claims of ren2024 on its theory.

TS-RSR runs in the setting of the theorems: finitely many arms and a known kernel.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import sem

from gpbandits_env import Arms, SquaredExponential, agents
from gpbandits_env.agents.acquisitions import RegretToSigma
from gpbandits_env.agents.acquisitions.rules import Round
from gpbandits_env.agents.batch.rule import rolled_back
from gpbandits_env.agents.batch.sampled import RegretToSigmaRatio
from gpbandits_env.arrays import Array, IntArray, Plain, Points, leading
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Kernel, kernel_from_dict
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.theory.information import GREEDY
from gpbandits_env.scenarios.papers.ren2024 import REDRAWS
from gpbandits_env.scenarios.study.runner import lent, run_rounds
from gpbandits_env.seeding import seed_for
from tools.claims import Arrays

SIDE, NOISE, M, ROUNDS, DELTA = 40, 0.01, 5, 60, 0.1
ARMS = Arms.grid((SIDE, SIDE))
FUNCTIONS, MANY = 30, 100
# A first phase has at most this many points.
MOST_INITIAL = 1000
KERNELS: dict[str, Plain] = {
    "linear": {"type": "linear"},
    "se": {"type": "se", "lengthscale": 0.15},
    "matern32": {"type": "matern32", "lengthscale": 0.15},
}


@dataclass(frozen=True)
class Literal(RegretToSigmaRatio):
    """Algorithm 1 as written, without redraws; it keeps what it chose.

    For each action it keeps the ratio of eq. (4); and for a sampled maximum below the largest mean
    of the candidates, whether the minimizer among the candidates is the one of the largest mean.
    """

    redraws: int = 0
    replaced: bool = False
    candidates: bool = False
    ratios: list[float] = field(default_factory=list)
    highest: list[bool] = field(default_factory=list)

    def choose(self, now: Round) -> Points:
        maxima, posterior, actions = self.maxima(now), now.posterior, []
        with rolled_back(posterior):
            for maximum in maxima.tolist():
                if self.candidates:
                    self._record(maximum, *now.search.candidates_of(posterior)[1:])
                x = now.search.best(RegretToSigma(maximum), posterior)
                gap = maximum - posterior.mean_at(x)[0]
                self.ratios.append(gap / np.sqrt(posterior.var_at(x)[0]))
                actions.append(x)
                posterior.hallucinate(x)
        return np.concatenate(actions)

    def _record(self, maximum: float, mean: Array, var: Array) -> None:
        if maximum < mean.max():
            first = np.argmin((maximum - mean) / np.sqrt(np.maximum(var, 1e-300)))
            self.highest.append(first == np.argmax(mean))


def gain_bound(kernel: Kernel, noise_var: float, horizon: int) -> tuple[IntArray, Array, Array]:
    """A greedy design (T,), its information gain (T,), and an upper bound on gamma (T,).

    The bound is the lower one of the greedy bound and the spectral bound of srinivas2010.
    """
    design, gain = theory.greedy_design(ARMS, kernel, noise_var, horizon)
    spectral = theory.spectral_bound(np.linalg.eigvalsh(kernel(ARMS.span)), noise_var, horizon)
    return design, gain, np.minimum(gain / GREEDY, spectral)


def least_initial(bound: Array, m: int) -> int:
    """The smallest T_init with T_init >= m gamma; 0 if the bound's horizon is too short."""
    enough = np.flatnonzero(np.arange(1, len(bound) + 1) >= m * bound)
    return int(enough[0]) + 1 if len(enough) else 0


def play(
    kernel: Plain, batch: Any, m: int, rounds: int, seed: int, initial: IntArray | None = None
) -> Array:
    """The regret of every action of an agent on a draw of a kernel, in order.

    Args:
        kernel: the kernel, as a dict.
        batch: the agent's batch rule, or the name of an agent without one of its own here.
        m: the number of actions in a round.
        rounds: rounds.
        seed: of the function, its noise and the agent.
        initial: arms to observe before, whose regret comes first.
    """
    made = {"grid": [SIDE, SIDE], "kernel": kernel, "noise_var": NOISE, "batch_size": m}
    name, settings = (batch, {}) if isinstance(batch, str) else ("ts-rsr", {"batch": batch})
    with lent("gpbandits/StaticGP-v0", made, rounds) as env:
        env.reset(seed=seed_for("ren2024 theory", seed))
        agent = agents.make(name, env, seed=seed_for("ren2024 theory", seed, "agent"), **settings)
        instance: Any = env.unwrapped
        before = np.zeros(0)
        if initial is not None:
            rewards, _ = instance.prior_data(initial, np.random.default_rng(seed))
            agent.prior_data(initial, rewards)
            before = instance.function.optimum - instance.function.values[initial]
        return np.concatenate([before, run_rounds(env, agent, rounds)[0]["regret"].ravel()])


def theorem_1() -> Arrays:
    """The mean regret of TS-RSR over the bound of Theorem 1, in every round, and that of random.

    An excess is (mean - 2 standard errors) / bound, for the cumulative and for the simple regret.
    "random over bound" has a value for each function: above 1 the bound says something. The last
    two arrays are the first T at which the bound is below the regret of random actions, for the two
    noise variances; 0 if none is up to 2 * 10^5 observations per arm, with the largest possible
    gain. Claim: theorem-1-bound.
    """
    kernel = kernel_from_dict(KERNELS["se"])
    gain = gain_bound(kernel, NOISE, M * ROUNDS)[2]
    rho = np.sqrt(1.0 + M / NOISE)
    bound = theory.regret_bound_ts_rsr(gain, M, SIDE**2, NOISE, rho)
    found: Arrays = {}
    for name, rule in (("no redraws", Literal), ("redraws", RegretToSigmaRatio)):
        made = [play(KERNELS["se"], rule(), M, ROUNDS, s) for s in range(FUNCTIONS)]
        runs = np.reshape(made, (FUNCTIONS, ROUNDS, M))
        total = runs.sum(axis=2).cumsum(axis=1)
        simple = np.minimum.accumulate(runs.min(axis=2), axis=1)
        per_action = bound / (M * np.arange(1, ROUNDS + 1))
        found[f"cumulative {name}"] = _excess(total) / bound
        found[f"simple {name}"] = _excess(simple) / per_action
    random = [play(KERNELS["se"], "random", M, ROUNDS, s).sum() for s in range(FUNCTIONS)]
    found["random over bound"] = np.array(random) / bound[-1]
    mean = float(np.mean(random)) / (M * ROUNDS)
    for noise in (NOISE, 1.0):
        found[f"first round, noise variance {noise:g}"] = _first_round(kernel, noise, mean)
    return found


def _excess(curves: Array) -> Array:
    """The mean curve minus two standard errors."""
    return curves.mean(axis=0) - 2.0 * sem(curves)


def _first_round(kernel: Kernel, noise_var: float, per_action: float) -> float:
    """The first T at which the bound is below ``per_action`` T m, by the spectral bound; or 0.

    See `theory.regret_bound_ts_rsr`. The gain of T m observations is at most that of T m
    observations of every eigenfunction.
    """
    spectrum = np.maximum(np.linalg.eigvalsh(kernel(ARMS.span)), 0.0)
    rounds, rho = np.unique(np.round(np.geomspace(1, 1e9, 400))), np.sqrt(1.0 + M / noise_var)
    readings = M * rounds
    gain = 0.5 * np.log1p(np.outer(readings / noise_var, spectrum)).sum(axis=1)
    width = 2.0 * np.sqrt(2.0 * (np.log(4.0 * SIDE**2) + 3.0 * np.log(readings)))
    spread_ = np.sqrt(readings * theory.regret_constant(noise_var) / 4.0 * gain)
    bound = width * rho * spread_ + np.sqrt(24.0 * np.log(SIDE**2) * readings)
    below = bound < per_action * readings
    return rounds[below.argmax()] if below.any() else 0.0


def regret_to_sigma() -> Arrays:
    """The largest ratio of eq. (4) of each run, over the bound of Lemma 4, with delta = 0.1.

    "largest" has the ratio over the bound with rho_m = sqrt(1 + m / s^2), "with rho = 1" over that
    without rho_m; "exceeded" whether a run's is above. Claim: regret-to-sigma-bound.
    """
    largest = []
    for seed in range(MANY):
        rule = Literal()
        play(KERNELS["se"], rule, M, ROUNDS, seed)
        largest.append(max(rule.ratios))
    plain = np.array(largest) / np.sqrt(2.0 * np.log(2.0 * SIDE**2 * M * ROUNDS / DELTA))
    over = plain / np.sqrt(1.0 + M / NOISE)
    return {"exceeded": over > 1.0, "largest": over.max(), "with rho = 1": plain}


def initial_points_bound_rho() -> Arrays:
    """rho_m found from below after T_init points of largest variance, over Lemma 10's bound.

    For each x, sets A of m points are grown by the largest fall of the variance at x. "over bound"
    has rho_m / exp(m gamma / T_init) for T_init = m, 2m, 4m, ... and the least T_init >= m gamma;
    "at start" rho_m without first points; "after" rho_m after the least T_init; "least T_init"
    that number, for m = 5, 10, 20 and 40; and "growth" the growth of T_init / m from m = 5 to 40.
    Claim: initialization-bounds-rho.
    """
    kernel, sizes, horizon = SquaredExponential(0.15), (5, 10, 20, 40), 40_000
    found: Arrays = {}
    for noise in (0.01, 1.0):
        design, _, bound = gain_bound(kernel, noise, horizon)
        least = [least_initial(bound, m) for m in sizes]
        rho = {0: found_rho(kernel, design[:0], noise, max(sizes))}
        over = []
        for m, enough in zip(sizes, least, strict=True):
            limits = theory.rho_bound(bound, m)
            counts = [m * 2**k for k in range(20) if m * 2**k < enough]
            for count in (*counts, enough):
                if count not in rho:
                    rho[count] = found_rho(kernel, design[:count], noise, max(sizes))
                over.append(rho[count][m - 1] / limits[count - 1])
        end = f", noise variance {noise:g}"
        found[f"over bound{end}"] = over
        found[f"at start{end}"] = [rho[0][m - 1] for m in sizes]
        found[f"after{end}"] = [rho[n][m - 1] for m, n in zip(sizes, least, strict=True)]
        found[f"least T_init{end}"] = least
        found[f"growth{end}"] = (least[-1] / sizes[-1]) / (least[0] / sizes[0])
    return found


def found_rho(kernel: Kernel, observed: IntArray, noise_var: float, most: int) -> Array:
    """A lower bound on rho_m for m = 1, ..., ``most`` after these observations, (most,)."""
    posterior = posterior_for(ARMS, kernel, noise_var)
    posterior.condition(observed, np.zeros(len(observed)))
    everywhere = np.arange(ARMS.size)
    cov = posterior.covariance(everywhere)
    parts = np.split(everywhere, range(80, len(everywhere), 80))
    return np.max([_grown(cov, part, noise_var, most) for part in parts], axis=0, initial=1.0)


def _grown(cov: Array, at: IntArray, noise_var: float, most: int) -> Array:
    """The largest sd(x) / sd(x | A) over some x, for greedy sets A of 1, ..., ``most`` points."""
    row, var = cov[at].copy(), np.tile(np.diag(cov), (len(at), 1))
    start, here = np.diag(cov)[at].copy(), np.arange(len(at))
    fallen, made = start.copy(), np.empty((most, len(at), cov.shape[1]))
    found = np.empty(most)
    for i in range(most):
        chosen = leading(row**2 / (var + noise_var))
        scale = np.sqrt(var[here, chosen] + noise_var)
        earlier = made[:i, here, chosen]
        change = (cov[chosen] - np.einsum("kx,kxn->xn", earlier, made[:i])) / scale[:, None]
        made[i] = change
        fall = row[here, chosen] / scale
        row -= fall[:, None] * change
        var = np.maximum(var - change**2, 0.0)
        fallen -= fall**2
        found[i] = np.sqrt((start / np.maximum(fallen, 1e-12 * start)).max())
    return found


def sublinear() -> Arrays:
    """The cumulative regret of both phases, and over sqrt(T m gamma_Tm), by function.

    For each kernel: T_init points of largest variance, at least m gamma but at most 1000, then 120
    rounds of m = 5. The rounds are the last half of all of them; "second phase" has the regret of
    the 120 rounds alone, over their last half. Claim: sublinear-with-initialization.
    """
    found: Arrays = {}
    for name, kernel in KERNELS.items():
        design, gain, bound = gain_bound(kernel_from_dict(kernel), NOISE, 2000)
        count = min(least_initial(bound, M) or MOST_INITIAL, MOST_INITIAL)
        count = -(-count // M) * M
        total, rule = count // M + 2 * ROUNDS, RegretToSigmaRatio(REDRAWS)
        rounds = np.arange(-(-total // 2), total + 1, 5)
        made = [play(kernel, rule, M, 2 * ROUNDS, s, design[:count]) for s in range(FUNCTIONS)]
        curves = np.cumsum(made, axis=1)[:, M * rounds - 1]
        found[f"regret {name}"] = curves
        found[f"over order {name}"] = curves / np.sqrt(M * rounds * gain[M * rounds - 1])
        found |= {f"T {name}": rounds, f"T_init {name}": count}
        later = np.arange(ROUNDS, 2 * ROUNDS + 1, 5)
        found[f"second phase {name}"] = np.cumsum(np.array(made)[:, count:], 1)[:, M * later - 1]
    return found | {"T second phase": later}


def sequential() -> Arrays:
    """The cumulative regret of 150 and 300 evaluations after the same first phase, by function.

    TS-RSR in batches of 5 and one at a time; beside, GP-UCB and TS one at a time. The first phase
    has 1000 points of largest variance, fewer than Lemma 11 asks for. Its regret does not count.
    Claim: nearly-as-good-as-sequential.
    """
    kernel, evaluations = KERNELS["se"], M * ROUNDS
    design = theory.greedy_design(ARMS, kernel_from_dict(kernel), NOISE, MOST_INITIAL)[0]
    rule = RegretToSigmaRatio(REDRAWS)
    ways: dict[str, tuple[Any, int]] = {
        "batch": (rule, M), "one by one": (rule, 1), "gp-ucb": ("gp-ucb", 1), "ts": ("ts", 1)
    }  # fmt: skip
    found: Arrays = {}
    for name, (batch, m) in ways.items():
        runs = [play(kernel, batch, m, evaluations // m, s, design) for s in range(FUNCTIONS)]
        regret = np.cumsum(np.array(runs)[:, len(design) :], axis=1)
        for count in (evaluations // 2, evaluations):
            found[f"{name}, {count}"] = regret[:, count - 1]
    return found
