"""One page an environment: action, observation, reward and info, as they are when it is made."""

import inspect
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from docstrings import meanings
from gymnasium.envs.registration import load_env_creator

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.scenarios.reporting.tables import markdown

# Tables need readings; any other environment can be made without arguments.
READINGS = np.random.default_rng(0).normal(size=(60, 12)).tolist()


def ids() -> list[str]:
    """The registered ids."""
    return [name for name in gym.registry if name.startswith("gpbandits/")]


def made(id: str) -> gym.Env[Any, Any]:
    """An environment of that id with three actions a round."""
    try:
        return gym.make(id, batch_size=3)
    except (TypeError, ValueError):
        return gym.make(id, batch_size=3, readings=READINGS)


def pages(root: Path) -> dict[str, str]:
    """The source of every environment's page."""
    said = (root / "docs" / "environments.md").read_text(encoding="utf-8")
    return {f"environments/{id.partition('/')[2]}.md": _page(id, said) for id in ids()}


def _page(id: str, said: str) -> str:
    env = made(id)
    env.reset(seed=0)
    env.action_space.seed(0)
    observation, reward, _, _, info = env.step(env.action_space.sample())
    declared = load_env_creator(str(gym.spec(id).entry_point)).arguments
    first, _, rest = (inspect.getdoc(declared) or "").partition("\n")
    table = env.spec is not None and "readings" in env.spec.kwargs
    more = ", readings=table" if table else ""
    horizon = gym.spec(id).max_episode_steps
    anchor = f"#{id.lower().replace('/', '')}" if f"## {id}\n" in said else ""
    parts = [
        f"# {id}",
        f"{first}\n",
        f'```python\nenv = gym.make("{id}", batch_size=3{more})\n```',
        "As it is made by this call" + (" (`table`: 60 rows of 12 readings):" if table else ":"),
        f"**Action**: `{env.action_space}`",
        f"**Observation**\n\n{_table(observation, env.observation_space)}",
        f"**Reward**: a Python {type(reward).__name__}, the sum of the batch's noisy rewards.",
        f"**Info** of a step, which agents never see\n\n{_table(info)}",
        f"**End**: truncated after {horizon} rounds (`max_episode_steps`), never terminated.",
        f"What each means: [environments](../environments.md{anchor}).",
        f"**Arguments**, in addition to those of every environment\n\n{_arguments(declared)}",
    ]
    if rest.strip():
        parts += ["## Its arguments as a class", f"::: {declared.__module__}.{declared.__name__}"]
    env.close()
    return "\n\n".join(parts) + "\n"


def _arguments(declared: type) -> str:
    """The fields of a declaration, with their meaning from the docstrings of its classes."""
    said = meanings(declared)
    rows = []
    for field in fields(declared):
        default = "" if field.default in (MISSING, None) else f"`{field.default!r}`"
        rows.append([f"`{field.name}`", default, said[field.name]])
    return markdown(["argument", "default", "meaning"], rows)


def _table(values: dict[str, Any], space: Any = None) -> str:
    rows = []
    for key, value in values.items():
        kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
        rows.append([f"`{key}`", kind, np.shape(value), *([f"`{space[key]}`"] if space else [])])
    return markdown(["key", "kind", "shape", *(["space"] if space else [])], rows)
