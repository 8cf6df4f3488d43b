"""A trial as a moving picture: the function, its optimum, and the agent's posterior."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gpbandits_env import agents
from gpbandits_env.arrays import whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import GPBanditsError, InvalidInput
from gpbandits_env.files import check_output, writing
from gpbandits_env.scenarios.reporting.colours import COLOURS, colour_of
from gpbandits_env.scenarios.reporting.tracking import Moment, frames
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study.runner import make_agent
from gpbandits_env.seeding import seed_for

# A GIF of this width is legible in a page and stays below about a megabyte.
WIDTH, SHADES = 720, 128
NEARLY = 247  # of 255: as good as white


def animate(
    scenario: Scenario,
    agent: str,
    path: Path,
    rounds: int = 60,
    seed: int = 0,
    frames_per_second: int = 5,
) -> Path:
    """Run a trial of an agent in a scenario's environment as a GIF, one frame per round.

    A round whose end empties the agent's memory (R-GP-UCB) is marked "reset".

    Args:
        scenario: where; of a grid of parameters, the first point.
        agent: a label of the scenario, or a registered agent.
        path: the file, ending in .gif, which is returned.
        rounds: frames.
        seed: of the environment and the agent.
        frames_per_second: the speed.
    Raises:
        InvalidInput: no such suffix, or a number out of range.
        UnknownName: no such agent.
        StoreError: the file cannot be written.
    """
    if path.suffix != ".gif":
        raise InvalidInput(f"{path}: an animation is a file ending in .gif")
    check_output(path, "gif")
    whole(frames_per_second, "frames per second")
    chosen = scenario.select([agent], horizon=whole(rounds, "rounds"), known=agents.names())
    cell = chosen.cells()[0]
    env = _made(scenario.env, dict(cell.scenario.env_kwargs), rounds)
    images = _with_one_palette(_frames(env, cell.scenario.agents[0], rounds, seed))
    looks: dict[str, Any] = {"duration": round(1000 / frames_per_second), "loop": 0}
    with writing(path, "gif") as part:
        images[0].save(
            part, format="GIF", save_all=True, append_images=images[1:], optimize=True, **looks
        )
    return path


def _made(env_id: str, kwargs: dict[str, Any], rounds: int) -> gym.Env[Any, Any]:
    try:
        return gym.make(env_id, max_episode_steps=rounds, render_mode="rgb_array", **kwargs)
    except (gym.error.Error, TypeError) as error:
        if isinstance(error, GPBanditsError):
            raise
        raise InvalidInput(f"environment {env_id!r}: {error}") from None


def _frames(env: gym.Env[Any, Any], entry: AgentEntry, rounds: int, seed: int) -> list[Any]:
    """Each round's picture, framed where the agent's memory was emptied at its end."""
    agent = make_agent(entry, env, seed_for("animation", "agent", seed))
    reveal = getattr(agent, "reveal", None)
    bare: Any = env.unwrapped
    env.reset(seed=seed_for("animation", "world", seed))
    believes = agent.belief() is not None
    if believes:
        bare.attach(agent)
    domain = bare.problem.domain
    line = isinstance(domain, Arms) and domain.dim == 1 and not bare.problem.kernel.on_indices
    pictures: list[NDArray[np.uint8]] = []
    moments, resets = [], []
    for _ in range(rounds):
        actions = agent.ask()
        observation, *_ = env.step(actions)
        # The posterior with which the agent chose, and what it then observed.
        if line:
            belief = agent.belief() if believes else None
            values = bare.function(np.arange(domain.size))
            best = int(bare.function.best_action)
            moments.append(Moment(values, best, actions, observation["rewards"], belief))
        else:
            pictures.append(np.asarray(env.render(), dtype=np.uint8))
        agent.tell(actions, observation["rewards"])
        if reveal is not None:
            reveal(bare.function.values)
        posterior = getattr(agent, "posterior", None)
        resets.append(posterior is not None and posterior.size == 0)
    if line:
        colour = colour_of(entry.agent)
        pictures = list(frames(moments, domain.coordinates[:, 0], entry.label, colour))
    return [_image(*both) for both in zip(pictures, resets, strict=True)]


def _image(pixels: NDArray[np.uint8], reset: bool) -> Any:
    from PIL import Image, ImageDraw

    image = Image.fromarray(pixels)
    if image.width > WIDTH:
        size = (WIDTH, round(WIDTH * image.height / image.width))
        image = image.resize(size, Image.Resampling.LANCZOS)
    if reset:
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 0, image.width - 1, image.height - 1), outline=(213, 94, 0), width=4)
        pen.text((image.width - 60, 8), "reset", fill=(213, 94, 0), font_size=16)
    return image


def _with_one_palette(images: Sequence[Any]) -> list[Any]:
    """The images in the same few colours, so that what stays the same costs no bytes.

    White and the colours of agents and marks, which cover few pixels, are among them.
    """
    from PIL import Image

    samples = [np.asarray(image)[::3, ::3] for image in images]
    exact = [255, 255, 255, *(int(c[i : i + 2], 16) for c in COLOURS for i in (1, 3, 5))]
    common = Image.fromarray(np.concatenate(samples)).quantize(SHADES - len(exact) // 3)
    colours = np.array([*(common.getpalette() or ()), *exact]).reshape(-1, 3)
    colours[(colours > NEARLY).all(axis=1)] = 255
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours.ravel().tolist())
    return [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
