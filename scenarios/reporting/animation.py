"""A trial as a moving picture: the function, its optimum, and the agent's posterior."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gpbandits_env import agents
from gpbandits_env.arrays import whole
from gpbandits_env.errors import GPBanditsError, InvalidInput
from gpbandits_env.files import check_output, writing
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study.runner import make_agent
from gpbandits_env.seeding import seed_for

# A GIF of this width is legible in a page and stays below about a megabyte.
WIDTH, COLOURS = 560, 96


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
    frames = _frames(
        scenario.env, dict(cell.scenario.env_kwargs), cell.scenario.agents[0], rounds, seed
    )
    images = [_image(pixels, reset) for pixels, reset in frames]
    looks: dict[str, Any] = {"duration": round(1000 / frames_per_second), "loop": 0}
    with writing(path, "gif") as part:
        images[0].save(
            part, format="GIF", save_all=True, append_images=images[1:], optimize=True, **looks
        )
    return path


def _frames(
    env_id: str, kwargs: dict[str, Any], entry: AgentEntry, rounds: int, seed: int
) -> list[tuple[NDArray[np.uint8], bool]]:
    """Each round's picture, and whether the agent's memory was emptied at its end."""
    try:
        env = gym.make(env_id, max_episode_steps=rounds, render_mode="rgb_array", **kwargs)
    except (gym.error.Error, TypeError) as error:
        if isinstance(error, GPBanditsError):
            raise
        raise InvalidInput(f"environment {env_id!r}: {error}") from None
    agent = make_agent(entry, env, seed_for("animation", "agent", seed))
    reveal = getattr(agent, "reveal", None)
    env.reset(seed=seed_for("animation", "world", seed))
    if agent.belief() is not None:
        env.unwrapped.attach(agent)  # type: ignore[attr-defined]
    frames = []
    for _ in range(rounds):
        actions = agent.ask()
        observation, *_ = env.step(actions)
        # The posterior with which the agent chose, and what it then observed.
        pixels = np.asarray(env.render(), dtype=np.uint8)
        agent.tell(actions, observation["rewards"])
        if reveal is not None:
            reveal(env.unwrapped.function.values)  # type: ignore[attr-defined]
        posterior = getattr(agent, "posterior", None)
        frames.append((pixels, posterior is not None and posterior.size == 0))
    return frames


def _image(pixels: NDArray[np.uint8], reset: bool) -> Any:
    from PIL import Image, ImageDraw

    image = Image.fromarray(pixels)
    image = image.resize(
        (WIDTH, round(WIDTH * image.height / image.width)), Image.Resampling.LANCZOS
    )
    if reset:
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 0, image.width - 1, image.height - 1), outline=(213, 94, 0), width=4)
        pen.text((image.width - 60, 8), "reset", fill=(213, 94, 0), font_size=16)
    return image.quantize(COLOURS, dither=Image.Dither.NONE)
