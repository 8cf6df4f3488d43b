"""Plots of the papers' bounds and orders that no experiment's plot shows."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gpbandits_env import theory
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.kernels import Matern52, SquaredExponential
from gpbandits_env.posterior import posterior_on
from gpbandits_env.samplers import sampler_for
from gpbandits_env.scenarios.reporting.style import INK, legend_below, line_style
from gpbandits_env.seeding import stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DELTA = 0.1
# srinivas2010: rounds, noise variance, and runs of GP-UCB; B of Theorem 3.
ROUNDS, NOISE_VAR, RUNS, NORM_BOUND = 1000, 0.025, 10, 1.0
# bogunovic2016: the drifts, and pairs of successive functions for each.
EPSILONS = np.geomspace(1e-3, 1.0, 10)
PAIRS = 400


def regret_bounds(figure: "Figure", seed: int) -> None:
    """Fig. 1 of srinivas2010 as curves, and the bounds of Theorems 1 to 3 above runs of GP-UCB."""
    left, right = figure.subplots(1, 2)
    _orders(left)
    arms, kernel, rounds = Arms.grid(1000), SquaredExponential(0.2), np.arange(1, ROUNDS + 1)
    gain = theory.information_gain_bound(arms, kernel, NOISE_VAR, ROUNDS)
    bounds = {
        "Theorem 1": theory.regret_bound_theorem1(gain, arms.size, DELTA, NOISE_VAR),
        "Theorem 2, $a = b = 1$": theory.regret_bound_theorem2(gain, 1, DELTA, NOISE_VAR),
        "Theorem 3, $B = 1$": theory.regret_bound_theorem3(gain, NORM_BOUND, DELTA, NOISE_VAR),
    }
    for i, (name, bound) in enumerate(bounds.items()):
        right.plot(rounds, bound / rounds, label=name, **line_style(i))
    regret = np.mean([_gp_ucb(arms, kernel, seed, run) for run in range(RUNS)], axis=0)
    right.plot(rounds, np.cumsum(regret) / rounds, color=INK, label="GP-UCB, beta of Theorem 1")
    right.set(title="regret bounds and a run", xlabel="$T$", ylabel="$R_T / T$")
    right.set(xscale="log", yscale="log")
    right.legend(fontsize=8)
    legend_below(figure, left, 5)


def _orders(axes: "Axes") -> None:
    rounds = np.geomspace(10, 1e6, 100)
    orders = {
        "linear, $d = 4$": theory.gain_order_linear(rounds, 4),
        "squared exponential, $d = 1$": theory.gain_order_se(rounds, 1),
        "squared exponential, $d = 2$": theory.gain_order_se(rounds, 2),
        r"Matern, $\nu = 2.5$, $d = 1$": theory.gain_order_matern(rounds, 1, 2.5),
        r"Matern, $\nu = 2.5$, $d = 2$": theory.gain_order_matern(rounds, 2, 2.5),
    }
    for i, (name, order) in enumerate(orders.items()):
        axes.plot(rounds, np.sqrt(order / rounds), label=name, **line_style(i))
    axes.set(title=r"orders $\sqrt{T \gamma_T} / T$, no constants", xlabel="$T$")
    axes.set(xscale="log", yscale="log")


def _gp_ucb(arms: Arms, kernel: SquaredExponential, seed: int, run: int) -> Array:
    """The regret of each round of GP-UCB on a function drawn from its prior, (T,)."""
    rng = stream("srinivas2010/fig-1", seed, str(run))
    truth = sampler_for(arms, kernel).draw(rng)
    posterior = posterior_on(arms, kernel, NOISE_VAR, horizon=ROUNDS)
    betas = theory.beta_finite(np.arange(1, ROUNDS + 1), arms.size, DELTA)
    regret = np.empty(ROUNDS)
    for t, beta in enumerate(betas):
        choice = int(np.argmax(posterior.mean + np.sqrt(beta * posterior.var)))
        reward = truth[choice] + np.sqrt(NOISE_VAR) * rng.standard_normal()
        posterior.condition(np.array([choice]), np.array([reward]))
        regret[t] = truth.max() - truth[choice]
    return regret


def lower_bound(figure: "Figure", seed: int) -> None:
    """The regret per round of an agent that knows the last function, against the drift."""
    axes: Any = figure.subplots()
    arms = Arms.grid((50, 50))
    kernels = {
        "squared exponential, $l = 0.2$": SquaredExponential(0.2),
        r"Matern, $\nu = 2.5$, $l = 0.2$": Matern52(0.2),
    }
    for i, (name, kernel) in enumerate(kernels.items()):
        sampler = sampler_for(arms, kernel)
        rng = stream("bogunovic2016/lower-bound", seed, name)
        before, fresh = sampler.draw(rng, PAIRS), sampler.draw(rng, PAIRS)
        known = before.argmax(axis=1)
        regret = []
        for epsilon in EPSILONS:
            now = np.sqrt(1.0 - epsilon) * before + np.sqrt(epsilon) * fresh
            regret.append(np.mean(now.max(axis=1) - now[np.arange(PAIRS), known]))
        axes.plot(EPSILONS, regret, marker="o", label=f"50 x 50 arms, {name}", **line_style(i))
    for i, rho in enumerate((0.0, 0.9), start=len(kernels)):
        name = rf"two arms, correlation {rho:g}: $\sqrt{{(1-\rho)/\pi}}\,(1-\sqrt{{1-\epsilon}})$"
        axes.plot(EPSILONS, theory.least_regret(EPSILONS, rho), label=name, **line_style(i))
    axes.set(xlabel=r"$\epsilon$", ylabel="least expected regret per round")
    axes.set(xscale="log", yscale="log")
    legend_below(figure, axes, 2)


def subspaces(figure: "Figure", seed: int) -> None:
    """Lemma 4's covering term and the regret orders of Theorem 1 of tranthe2020."""
    left, right = figure.subplots(1, 2)
    rounds, d = np.arange(1, 1001), 5
    arms = {"$N_0 = 1$, $\\alpha = 0$": (1, 0.0), "$N_0 = 1$, $\\alpha = 2$": (1, 2.0)}
    gain = theory.gain_order_matern(rounds, d, 2.5)
    styles = 0
    for dim in (10, 20, 100):
        for name, (n0, alpha) in arms.items():
            label, style = f"$D = {dim}$, {name}", line_style(styles)
            covering = theory.covering_term(theory.subspaces_by(len(rounds), n0, alpha), dim, d)
            order = theory.regret_order_subspaces(rounds, gain, dim, d, alpha)
            left.plot(rounds, covering, label=label, **style)
            right.plot(rounds, order / rounds, label=label, **style)
            styles += 1
    left.set(title="covering term, $a = b = 1$, $\\delta = 0.1$", xlabel="$t$", ylabel="regret")
    right.set(title="order of $R_T / T$, no constants", xlabel="$T$")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log")
    legend_below(figure, left, 3)
