"""The illustrations of the papers, drawn with this library's own kernels, theory and data."""

import itertools
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gpbandits_env.arrays import Array, Plain
from gpbandits_env.domains import Arms
from gpbandits_env.errors import MissingData
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Kernel, Linear, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.samplers import sampler_for
from gpbandits_env.rewards import datasets, drift
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.reporting import style
from gpbandits_env.scenarios.results import evidence
from gpbandits_env.seeding import stream

# srinivas2010, Fig. 2: the rounds before the first one shown. After them GP-UCB, at seed 0, goes
# where the band is wide, and then where the mean is high.
BEFORE = 3
NOISE_VAR = 0.025
# bogunovic2016: Fig. 1; and Fig. 3(b), in minutes and days.
EPSILON = 0.01
TIMES = (1, 151, 301, 451)
EVERY, DAY, TRAINING_DAYS = 10, 24 * 60, 3
# The probability with which a bound fails.
DELTA = 0.1
LOG: Plain = {"xscale": "log", "yscale": "log"}
# bogunovic2016: the drifts, and pairs of successive functions for each.
EPSILONS = np.geomspace(1e-3, 1.0, 10)
PAIRS = 400
KERNELS: dict[str, Kernel] = {
    "squared exponential, $l = 0.2$": SquaredExponential(0.2),
    r"Matern, $\nu = 2.5$, $l = 0.2$": Matern52(0.2),
}


# -- srinivas2010 ---------------------------------------------------------------------------------


def srinivas2010_fig_1(figure: Figure) -> None:
    """srinivas2010, Fig. 1 and Theorem 1: regret orders, and a bound above GP-UCB's regret."""
    left, right = figure.subplots(1, 2)
    _orders(left)
    kept = evidence.load("srinivas2010/se-1d")
    rounds, arms = np.arange(1, kept.horizon + 1), Arms.grid(1000)
    gain = theory.information_gain_bound(arms, SquaredExponential(0.2), NOISE_VAR, kept.horizon)
    bound = theory.regret_bound_theorem1(gain, arms.size, DELTA, NOISE_VAR)
    right.plot(rounds, bound / rounds, label="bound of Theorem 1", **style.line_style(0))
    regret = kept.curve(0, "gp-ucb/unscaled", "average_regret").mean(axis=0)
    name = f"GP-UCB, mean of {kept.trials} functions"
    right.plot(kept.rounds, regret, color=style.INK, label=name)
    right.set(title="average regret and its bound", xlabel="$T$", ylabel="$R_T / T$", **LOG)
    right.legend(fontsize=8, loc="lower left")
    style.share_legend(figure, 5, [left])


def _orders(axes: Axes) -> None:
    rounds = np.geomspace(10, 1e6, 100)
    orders = {
        "linear, $d = 4$": theory.gain_order_linear(rounds, 4),
        "squared exponential, $d = 1$": theory.gain_order_se(rounds, 1),
        "squared exponential, $d = 2$": theory.gain_order_se(rounds, 2),
        r"Matern, $\nu = 2.5$, $d = 1$": theory.gain_order_matern(rounds, 1, 2.5),
        r"Matern, $\nu = 2.5$, $d = 2$": theory.gain_order_matern(rounds, 2, 2.5),
    }
    for i, (name, order) in enumerate(orders.items()):
        axes.plot(rounds, np.sqrt(order / rounds), label=name, **style.line_style(i))
    axes.set(title=r"orders $\sqrt{T \gamma_T} / T$, no constants", xlabel="$T$", **LOG)


def srinivas2010_fig_2a(figure: Figure) -> None:
    """srinivas2010, Fig. 2(a): temperatures of 46 sensors, and their correlations."""
    readings = datasets.load("intel-berkeley", {"every": EVERY})
    places, noon = readings.locations, DAY // EVERY // 2
    assert places is not None
    left, right = figure.subplots(1, 2)
    marks = left.scatter(*places.T, c=readings.values[noon], s=60, cmap="coolwarm")
    figure.colorbar(marks, ax=left, label=f"temperature in {readings.unit}")
    left.set(title="first day, noon", xlabel="meters", ylabel="meters", aspect="equal")
    pairs = np.triu_indices(len(places), 1)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)[pairs]
    correlations = np.corrcoef(readings.values, rowvar=False)[pairs]
    right.plot(distances, correlations, ".", color=style.COLOURS[0], markersize=4)
    right.set(title="pairs of sensors, five days", xlabel="distance in meters", ylim=(None, 1))
    right.set_ylabel("correlation")


def srinivas2010_fig_2(figure: Figure) -> None:
    """srinivas2010, Fig. 2(b, c): two iterations of GP-UCB: the band and the choice."""
    arms, kernel = Arms.grid(400), SquaredExponential(0.2)
    rng = stream("srinivas2010/fig-2", 0)
    truth = sampler_for(arms, kernel).draw(rng)
    posterior = posterior_for(arms, kernel, NOISE_VAR)
    x = arms.coordinates[:, 0]
    actions: list[int] = []
    rewards: list[float] = []
    panels: Any = figure.subplots(1, 2, sharey=True)
    for t in range(1, BEFORE + 3):
        mean = posterior.mean
        width = np.sqrt(theory.beta_finite(t, arms.size, DELTA) / 5.0 * posterior.var)
        choice = int(np.argmax(mean + width))  # eq. (6)
        if t > BEFORE:
            axes = panels[t - BEFORE - 1]
            name = r"$\mu_{t-1} \pm \sqrt{\beta_t}\,\sigma_{t-1}$"
            style.band(axes, x, mean - width, mean + width, style.COLOURS[0], label=name)
            axes.plot(x, mean, color=style.COLOURS[0], label=r"$\mu_{t-1}$")
            axes.plot(x, truth, color="#8C8C8C", linestyle=(0, (4, 2)), linewidth=1.4, label="$f$")
            axes.plot(x[actions], rewards, "o", color=style.INK, clip_on=False, label="rewards")
            looks: Plain = {"markersize": 14, "clip_on": False, "color": style.COLOURS[1]}
            axes.plot(x[choice], mean[choice] + width[choice], "*", label="choice", **looks)
            axes.set(title=f"round {t}", xlabel="$x$", xlim=(0, 1))
        reward = truth[choice] + np.sqrt(NOISE_VAR) * rng.standard_normal()
        actions.append(choice)
        rewards.append(float(reward))
        posterior.condition(np.array([choice]), np.array([reward]))
    panels[0].set_ylabel("reward")
    style.share_legend(figure, 5, [panels[0]])


def srinivas2010_fig_3(figure: Figure) -> None:
    """srinivas2010, Fig. 3: spectra and information gain bounds of four kernels of equal trace."""
    arms = Arms.grid((30, 30), -1.0, 1.0)
    spectra = {
        "independent": np.ones(arms.size),
        "linear": _spectrum(arms, Linear()),
        "squared exponential": _spectrum(arms, SquaredExponential(0.5)),
        r"Matern, $\nu = 2.5$": _spectrum(arms, Matern52(0.5)),
    }
    rounds = np.arange(1, 301)
    left, right = figure.subplots(1, 2)
    for i, (name, values) in enumerate(spectra.items()):
        left.plot(np.arange(1, 101), values[:100], label=name, **style.line_style(i))
        bound = theory.spectral_bound(values, NOISE_VAR, len(rounds))
        right.plot(rounds, bound, label=name, **style.line_style(i))
    left.set(title="spectrum", xlabel="rank", ylabel="eigenvalue", yscale="log", ylim=(1e-4, 1e3))
    right.set(title=r"bound on $\gamma_T$", xlabel="$T$", ylabel="nats", ylim=(0, None))
    style.share_legend(figure, 4, [left])


def _spectrum(arms: Arms, kernel: Kernel) -> Array:
    """Eigenvalues from the largest down, scaled to the trace of n independent arms."""
    values = theory.information.spectrum(np.linalg.eigvalsh(kernel(arms.coordinates)))
    return values * (arms.size / values.sum())


def srinivas2010_fig_4(figure: Figure) -> None:
    """srinivas2010, Fig. 4: draws from linear, squared exponential and Matern kernels."""
    arms = Arms.grid(400, -1.0, 1.0)
    panels: Any = figure.subplots(1, 3, sharey=True)
    for axes, (name, kernel) in zip(panels, [("linear", Linear()), *KERNELS.items()], strict=True):
        sampler = sampler_for(arms, kernel)
        for i, path in enumerate(sampler.draw(stream("srinivas2010/fig-4", 0, name), 5)):
            axes.plot(arms.coordinates[:, 0], path, color=style.line_style(i)["color"])
        axes.set_title(name, fontsize=9)
        axes.set(xlabel="$x$", xlim=(-1, 1))
    panels[0].set_ylabel("$f(x)$")


# -- bogunovic2016 --------------------------------------------------------------------------------


def bogunovic2016_lower_bound(figure: Figure) -> None:
    """bogunovic2016, Theorem 4.1 and Appendix F: the regret where the last function is known."""
    axes: Any = figure.subplots()
    arms = Arms.grid((50, 50))
    for i, (name, kernel) in enumerate(KERNELS.items()):
        sampler = sampler_for(arms, kernel)
        rng = stream("bogunovic2016/lower-bound", 0, name)
        before, fresh = sampler.draw(rng, PAIRS), sampler.draw(rng, PAIRS)
        known = before.argmax(axis=1)
        regret = []
        for epsilon in EPSILONS:
            now = np.sqrt(1.0 - epsilon) * before + np.sqrt(epsilon) * fresh
            regret.append(np.mean(now.max(axis=1) - now[np.arange(PAIRS), known]))
        label = f"50 x 50 arms, {name}"
        axes.plot(EPSILONS, regret, marker="o", label=label, **style.line_style(i))
    for i, rho in enumerate((0.0, 0.9), start=len(KERNELS)):
        name = rf"two arms, correlation {rho:g}: $\sqrt{{(1-\rho)/\pi}}\,(1-\sqrt{{1-\epsilon}})$"
        axes.plot(EPSILONS, theory.least_regret(EPSILONS, rho), label=name, **style.line_style(i))
    axes.set(xlabel=r"$\epsilon$", ylabel="least regret per round", **LOG)
    style.share_legend(figure, 2, [axes])


def bogunovic2016_fig_1(figure: Figure) -> None:
    """bogunovic2016, Fig. 1: draws at distant times, epsilon = 0.01."""
    arms = Arms.grid(400)
    kernels: dict[str, Kernel] = {
        "squared exponential, $l = 0.2$": SquaredExponential(0.2),
        r"Matern, $l = 0.2$, $\nu = 1.5$": Matern32(0.2),
    }
    panels: Any = figure.subplots(1, 2, sharey=True)
    x = arms.coordinates[:, 0]
    for axes, (name, kernel) in zip(panels, kernels.items(), strict=True):
        rng = stream("bogunovic2016/fig-1", 0, name)
        path = drift.Path(drift.MarkovDrift(EPSILON), sampler_for(arms, kernel).draw, rng)
        functions = path.ahead(TIMES[-1])
        for i, t in enumerate(TIMES):
            values, look = functions[t - 1], style.line_style(i)
            best = int(np.argmax(values))
            axes.plot(x, values, label=f"$f_{{{t}}}$", **look)
            axes.plot(x[best], values[best], "o", color=look["color"], clip_on=False)
        axes.set(title=name, xlabel="$x$", xlim=(0, 1))
    panels[0].set_ylabel("$f_t(x)$")
    style.share_legend(figure, 4, [panels[0]])


def bogunovic2016_fig_3b(figure: Figure) -> None:
    """bogunovic2016, Fig. 3(b): the temperatures of 46 sensors over five days."""
    readings = datasets.load("intel-berkeley", {"every": EVERY})
    values = readings.values
    days = np.arange(len(values)) * EVERY / DAY
    axes = figure.subplots()
    for i, column in enumerate(values.T):
        colour = style.line_style(i % 7)["color"]
        axes.plot(days, column, color=colour, alpha=0.45, linewidth=0.8)
    axes.plot(days, values.max(axis=1), color=style.INK, linewidth=1.2, label="the warmest sensor")
    axes.axvline(TRAINING_DAYS, color=style.INK, linestyle=(0, (4, 3)), linewidth=1.2)
    axes.set(xlabel="day", ylabel=f"temperature in {readings.unit}", xlim=(0, float(days[-1])))
    height = axes.get_ylim()[1]
    for place, side, label in ((-0.03, "right", "training"), (0.03, "left", "test")):
        axes.text(TRAINING_DAYS + place, height, label, ha=side, va="top", color=style.INK)
    style.share_legend(figure, 1, [axes])


# -- tranthe2020 ----------------------------------------------------------------------------------


def tranthe2020_theory(figure: Figure) -> None:
    """tranthe2020, Lemma 4 and Theorem 1: the covering term of the subspaces, and regret orders."""
    left, right = figure.subplots(1, 2)
    rounds, d = np.arange(1, 1001), 5
    gain = theory.gain_order_matern(rounds, d, 2.5)
    for i, (dim, alpha) in enumerate(itertools.product((10, 20, 100), (0.0, 2.0))):
        label, look = rf"$D = {dim}$, $N_0 = 1$, $\alpha = {alpha:g}$", style.line_style(i)
        covering = theory.covering_term(theory.subspaces_by(len(rounds), 1, alpha), dim, d)
        order = theory.regret_order_subspaces(rounds, gain, dim, d, alpha)
        left.plot(rounds, covering, label=label, **look)
        right.plot(rounds, order / rounds, label=label, **look)
    title = r"covering term, $a = b = 1$, $\delta = 0.1$"
    left.set(title=title, xlabel="$t$", ylabel="regret", **LOG)
    right.set(title="order of $R_T / T$, no constants", xlabel="$T$", **LOG)
    style.share_legend(figure, 3, [left])


# -- all ------------------------------------------------------------------------------------------

FIGURES = {
    name.replace("_", "-"): draw
    for name, draw in list(globals().items())
    if name.partition("_")[0] in registry.PAPERS
}


def pictures() -> dict[str, bytes]:
    """The PNG pictures, by address; one whose data are missing says so."""
    return {f"results/{name}.png": picture(name) for name in FIGURES}


def picture(name: str) -> bytes:
    """A figure, whose title is the docstring of its function."""
    draw = FIGURES[name]
    with style.new_figure(7.0, 3.9) as figure:
        try:
            draw(figure)
        except MissingData as missing:
            figure.text(0.5, 0.5, f"not drawn: {missing}", ha="center", wrap=True)
        style.entitle(figure, str(draw.__doc__).rstrip("."))
    return figure._repr_png_()
