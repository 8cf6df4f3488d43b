"""The illustrations of srinivas2010, drawn with this library's own kernels, theory and agents."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpbandits_env import theory
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.kernels import Kernel, Linear, Matern52, SquaredExponential
from gpbandits_env.posterior import posterior_on
from gpbandits_env.samplers import sampler_for
from gpbandits_env.scenarios.reporting.style import (
    COLOURS,
    INK,
    entitle,
    line_style,
    new_figure,
    write,
)
from gpbandits_env.scenarios.scenario import Picture
from gpbandits_env.seeding import stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Fig. 2: the rounds before the first one shown. After them GP-UCB, at seed 0, goes where the band
# is wide, and then where the mean is high.
PLAYED = 3
NOISE_VAR = 0.025


def save(
    picture: Picture, path: Path, seed: int = 0, suffixes: Sequence[str] = (".png", ".svg")
) -> list[Path]:
    """Draw a picture to files beside each other, one a suffix; that of ``path`` does not count.

    Raises:
        StoreError: a file cannot be written.
    """
    with new_figure(11.0, 3.6) as figure:
        module, _, name = picture.draw.partition(":")
        getattr(import_module(module), name)(figure, seed)
        entitle(figure, f"{picture.source}: {picture.title}")
        return write(figure, path.with_suffix(""), suffixes)


def two_iterations(figure: "Figure", seed: int) -> None:
    """Fig. 2(b, c): two rounds of GP-UCB on one function of the 1-D experiment."""
    arms, kernel = Arms.grid(400), SquaredExponential(0.2)
    rng = stream("srinivas2010/fig-2", seed)
    truth = sampler_for(arms, kernel).draw(rng)
    posterior = posterior_on(arms, kernel, NOISE_VAR)
    actions: list[int] = []
    rewards: list[float] = []
    panels: Any = figure.subplots(1, 2, sharey=True)
    for t in range(1, PLAYED + 3):
        width = np.sqrt(theory.beta_finite(t, arms.size, 0.1) / 5.0 * posterior.var)
        choice = int(np.argmax(posterior.mean + width))  # eq. (6)
        if t > PLAYED:
            axes = panels[t - PLAYED - 1]
            x = arms.coordinates[:, 0]
            _belief(axes, x, truth, posterior.mean, width)
            axes.plot(
                arms.coordinates[actions, 0],
                rewards,
                "o",
                color=INK,
                clip_on=False,
                label="rewards",
            )
            axes.plot(
                x[choice],
                posterior.mean[choice] + width[choice],
                "*",
                markersize=14,
                clip_on=False,
                color=COLOURS[1],
                label="choice",
            )
            axes.set_title(f"round {t}")
        reward = truth[choice] + np.sqrt(NOISE_VAR) * rng.standard_normal()
        actions.append(choice)
        rewards.append(float(reward))
        posterior.condition(np.array([choice]), np.array([reward]))
    panels[0].set_ylabel("reward")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)


def _belief(axes: "Axes", x: Array, truth: Array, mean: Array, width: Array) -> None:
    axes.fill_between(
        x,
        mean - width,
        mean + width,
        color=COLOURS[0],
        alpha=0.18,
        linewidth=0,
        label=r"$\mu_{t-1} \pm \sqrt{\beta_t}\,\sigma_{t-1}$",
    )
    axes.plot(x, mean, color=COLOURS[0], label=r"$\mu_{t-1}$")
    axes.plot(x, truth, color="#8C8C8C", linestyle=(0, (4, 2)), linewidth=1.4, label="$f$")
    axes.set_xlabel("$x$")
    axes.set_xlim(0, 1)


def information(figure: "Figure", seed: int) -> None:
    """Fig. 3: eigenvalues, and the bound of Eq. (8) on gamma_T, of four kernels of equal trace."""
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
        left.plot(np.arange(1, 101), values[:100], label=name, **line_style(i))
        bound = theory.spectral_bound(values, NOISE_VAR, len(rounds))
        right.plot(rounds, bound, label=name, **line_style(i))
    left.set(title="spectrum", xlabel="rank", ylabel="eigenvalue", yscale="log", ylim=(1e-4, 1e3))
    right.set(title=r"bound on $\gamma_T$", xlabel="$T$", ylabel="nats", ylim=(0, None))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)


def _spectrum(arms: Arms, kernel: Kernel) -> Array:
    """Eigenvalues from the largest down, scaled to the trace of n independent arms."""
    found = np.linalg.eigvalsh(kernel(arms.coordinates))[::-1]
    values: Array = np.maximum(found, 0.0).astype(np.float64)
    return values * (arms.size / values.sum())


def draws(figure: "Figure", seed: int) -> None:
    """Fig. 4: five draws from each of three kernels on |x| <= 1."""
    arms = Arms.grid(400, -1.0, 1.0)
    kernels: dict[str, Kernel] = {
        "linear": Linear(),
        "squared exponential, $l = 0.2$": SquaredExponential(0.2),
        r"Matern, $\nu = 2.5$, $l = 0.2$": Matern52(0.2),
    }
    panels: Any = figure.subplots(1, 3, sharey=True)
    for axes, (name, kernel) in zip(panels, kernels.items(), strict=True):
        sampler = sampler_for(arms, kernel)
        for i, path in enumerate(sampler.draw(stream("srinivas2010/fig-4", seed, name), 5)):
            axes.plot(arms.coordinates[:, 0], path, color=line_style(i)["color"])
        axes.set(title=name, xlabel="$x$", xlim=(-1, 1))
    panels[0].set_ylabel("$f(x)$")
