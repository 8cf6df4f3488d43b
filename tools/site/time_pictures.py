"""The pictures of docs/time.md: draws of temporal kernels, beliefs with them, and a clock."""

from io import BytesIO
from typing import Any

import gymnasium as gym
import numpy as np
from PIL import Image

from gpbandits_env import agents
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.envs.drawing import draw_belief
from gpbandits_env.figure import NotebookFigure
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.rewards.drift import Path as DriftPath
from gpbandits_env.rewards.drift import TemporalDrift
from gpbandits_env.scenarios.reporting.style import new_figure, share_legend

DAY = {"type": "quasi-periodic", "period": 24.0, "harmonics": 3, "epsilon": 0.002}
MARKOV = {"type": "markov", "epsilon": 0.1}
ARMS = 60
DRAWS: dict[str, dict[str, Any]] = {
    "Markov, epsilon 0.1": MARKOV,
    "Matern 3/2, lengthscale 20": {"type": "matern32", "lengthscale": 20.0},
    "Matern 5/2, lengthscale 20": {"type": "matern52", "lengthscale": 20.0},
    "Wiener, rate 0.05": {"type": "wiener", "rate": 0.05},
    "periodic, period 24": {"type": "periodic", "period": 24.0, "harmonics": 3},
    "season 0.7 + Markov 0.3": {"type": "sum", "kernels": [DAY, MARKOV], "weights": [0.7, 0.3]},
}


def pictures(seconds: float) -> dict[str, bytes]:
    """All pictures by address; the clock runs for some seconds."""
    return {
        "images/time-draws.png": draw_kernels(),
        "images/time-belief.png": draw_beliefs(),
        "images/time-clock.webp": animate_speeds(seconds),
    }


def draw_kernels() -> bytes:
    """Three values of one arm over 150 rounds, for each temporal kernel."""
    with new_figure(6.0, 5.6) as figure:
        axes = figure.subplots(3, 2, sharex=True)
        for axis, (title, spec) in zip(axes.flat, DRAWS.items(), strict=True):
            axis.plot(np.arange(1, 151), _path(spec, 4, 3, 150), linewidth=1.0)
            axis.set_title(title, fontsize=10)
        for axis in axes[2]:
            axis.set_xlabel("round")
    return figure._repr_png_()


def _path(spec: dict[str, Any], seed: int, arms: int, rounds: int) -> Array:
    """Values of independent arms that drift with a temporal kernel, (rounds, arms)."""
    rng = np.random.default_rng(seed)
    drift = TemporalDrift(spec)  # type: ignore[arg-type]
    return DriftPath(drift, lambda rng, size: rng.standard_normal((size, arms)), rng).ahead(rounds)


def draw_beliefs() -> bytes:
    """The belief about one arm, which is seen on two days, with a season and without one."""
    arms, kernel = Arms.grid(1), SquaredExponential(1.0)
    season, rounds = DRAWS["season 0.7 + Markov 0.3"], np.arange(1, 97)
    truth = _path(season, 1, 1, 96)[:, 0]
    seen = (rounds <= 48) & (rounds % 2 == 0)
    models = {"knows the season": season, "assumes a Markov drift": MARKOV}
    with new_figure(6.0, 2.8) as figure:
        axes = figure.subplots(1, 2, sharey=True)
        for axis, (title, spec) in zip(axes, models.items(), strict=True):
            temporal = TemporalDrift(spec).kernel  # type: ignore[arg-type]
            posterior = posterior_for(arms, kernel, 0.02, temporal=temporal)
            mean, sd = np.empty((2, 96))
            for i in range(96):
                mean[i], sd[i] = posterior.mean[0], posterior.sd[0]
                if seen[i]:
                    posterior.condition([0], truth[i : i + 1])
                posterior.advance(0.0)
            draw_belief(axis, rounds, mean, sd)
            axis.plot(rounds, truth, color="black", linewidth=0.8, label="truth")
            axis.plot(rounds[seen], truth[seen], "k.", label="observed")
            axis.set(title=title, xlabel="round")
        share_legend(figure, 4)
    return figure._repr_png_()


def animate_speeds(seconds: float) -> bytes:
    """The same agent at two speeds on a function that moves while it thinks.

    All frames have the colors of the last one.
    """
    speeds = {"decides in a millisecond": 0.001, "decides in a second": 1.0}
    (env, _), *_ = runs = [_clocked(thinking, seconds) for thinking in speeds.values()]
    figure = NotebookFigure(figsize=(6.0, 3.2), dpi=80)
    axes = figure.subplots(1, 2, sharey=True)
    frames = []
    for now in np.arange(5.0, seconds, 0.9):
        truth = env.unwrapped.bandit.process.at(1.0 + now).values
        for axis, title, (_, rounds) in zip(axes, speeds, runs, strict=True):
            past = [round_ for round_ in rounds if round_[0] <= now]
            read, action, belief, regret = past[-1]
            said = f"{now:.1f} s: {len(past)} evaluations, regret over time {regret / read:.2f}"
            axis.clear()
            draw_belief(axis, np.arange(ARMS), *belief)
            axis.plot(truth, color="black", linewidth=1.0, label="function")
            axis.plot(action, truth[action], "o", color="tab:red", label="action")
            axis.set(ylim=(-4.0, 4.0), xlabel="arm")
            axis.set_title(f"{title}\n{said}", fontsize=9)
        axes[0].legend(fontsize=9, loc="lower left", ncols=2)
        frames.append(Image.open(BytesIO(figure._repr_png_())).convert("RGB"))
    palette = frames[-1].quantize(20, kmeans=1)
    first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    looks: dict[str, Any] = {"append_images": others, "duration": 500, "loop": 0}
    first.save(file := BytesIO(), "webp", save_all=True, lossless=True, **looks)
    return file.getvalue()


def _clocked(thinking: float, seconds: float) -> tuple[Any, list[Any]]:
    """The time, the action, the belief that chose it and the regret over time of each round."""
    clock = {"evaluation": 0.1, "thinking": thinking, "duration": seconds}
    kernel = {"type": "matern52", "lengthscale": 70.0}
    world: dict[str, Any] = {"function": "eggholder", "sweep": 60.0, "grid": ARMS, "kernel": kernel}
    env = gym.make("gpbandits/Drifting-v0", **world, noise_var=0.05, clock=clock)
    agent = agents.make("tv-gp-ucb", env, seed=0, epsilon=0.1, beta=4.0)
    observation, _ = env.reset(seed=0)
    played, over = [], False
    while not over:
        agent.observe(observation)
        actions, belief = agent.ask(), agent.belief()
        observation, _, _, over, info = env.step(actions)
        regret = info["time_regret"]
        played.append((float(observation["time"][0]), int(actions[0]), belief, regret))
    return env, played
