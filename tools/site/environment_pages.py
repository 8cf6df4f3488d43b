"""One page per environment: a picture, the arguments, and the spaces."""

import ast
import inspect
from dataclasses import MISSING, fields
from io import BytesIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import gymnasium as gym
import numpy as np
from docstrings import call, in_cell, meanings, prose
from gymnasium.envs.registration import load_env_creator
from PIL import Image
from scenario_pages import made

from gpbandits_env import agents
from gpbandits_env.scenarios.reporting.tables import markdown

# What the picture of an environment shows: its arguments, an agent, that one's settings, rounds. A
# new environment is drawn as it is made without arguments.
SHOWN: dict[str, tuple[dict[str, Any], str, dict[str, Any], int]] = {
    "StaticGP-v0": ({"grid": (60, 60)}, "gp-ucb", {}, 30),
    "MarkovGP-v0": ({"grid": 200, "epsilon": 0.02, "noise_var": 0.02}, "tv-gp-ucb", {}, 30),
    "Drifting-v0": (
        {"grid": (60, 60), "drift": {"type": "rotation", "period": 120, "functions": 3}},
        "tv-gp-ucb",
        {"epsilon": 0.03},
        45,
    ),
    "Task-v0": ({"task": "bird"}, "ei", {"standardize": True, "learn": True}, 34),
    "HighDim-v0": ({"function": "camelback", "dim": 50}, "rembo", {"standardize": True}, 60),
    "Replay-v0": ({}, "tv-gp-ucb", {"epsilon": 0.1}, 12),
}
GUIDE = Path(__file__).parents[2] / "docs" / "environments.md"
ALONE: tuple[dict[str, Any], str, dict[str, Any], int] = ({}, "gp-ucb", {}, 12)


def ids() -> list[str]:
    """The registered ids."""
    return [name for name in gym.registry if name.startswith("gpbandits/")]


def pages() -> dict[str, str]:
    """The source of every environment's page."""
    said = GUIDE.read_text(encoding="utf-8")
    return {f"environments/{_name(id)}.md": _page(id, said) for id in ids()}


def pictures() -> dict[str, bytes]:
    """A PNG picture of every environment after some rounds of an agent."""
    return {f"environments/{_name(id)}.png": _picture(id) for id in ids()}


def _name(id: str) -> str:
    return id.partition("/")[2]


def _picture(id: str) -> bytes:
    arguments, name, settings, rounds = SHOWN.get(_name(id), ALONE)
    env = gym.make(id, render_mode="rgb_array", **arguments)
    own: Any = env.unwrapped
    observation, _ = env.reset(seed=0)
    agent = agents.make(name, env, seed=0, **settings)
    own.attach(agent)
    for t in range(rounds):
        context = observation.get("context")
        actions = agent.ask() if context is None else agent.ask(context=context)
        observation, *_ = env.step(actions)
        if t < rounds - 1:  # the picture shows the belief by which the agent chose
            agent.tell(actions, observation["rewards"])
    file = BytesIO()
    Image.fromarray(np.asarray(env.render())).save(file, "png", optimize=True)
    env.close()
    return file.getvalue()


def _page(id: str, said: str) -> str:
    env = gym.make(id, batch_size=3)
    env.reset(seed=0)
    env.action_space.seed(0)
    observation, reward, _, _, info = env.step(env.action_space.sample())
    declared = load_env_creator(str(gym.spec(id).entry_point)).arguments
    arguments, agent, settings, rounds = SHOWN.get(_name(id), ALONE)
    shown = f"`gym.make({call(id, arguments)})` after {rounds} rounds of "
    page = made.get_template("environment.md").render(
        id=id,
        name=_name(id),
        about=prose(declared),
        caption=f"{shown}`agents.make({call(agent, settings)})`.",
        anchor=f"#{id.lower().replace('/', '')}" if f"## {id}\n" in said else "",
        arguments=_arguments(declared),
        env=env,
        observation=_table(observation, env.observation_space),
        reward=type(reward).__name__,
        info=_table(info),
        horizon=gym.spec(id).max_episode_steps,
    )
    env.close()
    return page


def _arguments(declared: type) -> str:
    """The fields of a declaration, with their meaning from the docstrings of its classes."""
    said, kinds = meanings(declared), _annotations(declared)
    rows = []
    for field in fields(declared):
        default = "required" if field.default is MISSING else f"`{field.default!r}`"
        kind = in_cell(kinds[field.name].replace("Settings", "dict").replace(" | ", " or "))
        rows.append([f"`{field.name}`", f"`{kind}`", default, said[field.name]])
    return markdown(["argument", "type", "default", "meaning"], rows)


def _annotations(declared: type) -> dict[str, str]:
    """The types of the fields as the classes state them, the nearest class first."""
    found: dict[str, str] = {}
    for base in declared.__mro__[:-1]:
        for node in ast.parse(dedent(inspect.getsource(base))).body[0].body:  # type: ignore[attr-defined]
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.setdefault(node.target.id, ast.unparse(node.annotation))
    return found


def _table(values: dict[str, Any], space: Any = None) -> str:
    rows = []
    for key, value in values.items():
        kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
        rows.append([f"`{key}`", kind, np.shape(value), *([f"`{space[key]}`"] if space else [])])
    return markdown(["key", "kind", "shape", *(["space"] if space else [])], rows)
