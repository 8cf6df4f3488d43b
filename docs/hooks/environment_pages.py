"""One page an environment: action, observation, reward and info, as they are when it is made."""

import inspect
from typing import Any

import gymnasium as gym
import numpy as np

import gpbandits_env  # noqa: F401 (registers the environments)

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


def pages() -> dict[str, str]:
    """The source of every environment's page."""
    return {f"environments/{id.partition('/')[2]}.md": _page(id) for id in ids()}


def _page(id: str) -> str:
    env = made(id)
    env.reset(seed=0)
    env.action_space.seed(0)
    observation, reward, _, _, info = env.step(env.action_space.sample())
    first, _, rest = (inspect.getdoc(type(env.unwrapped)) or "").partition("\n")
    table = env.spec is not None and "readings" in env.spec.kwargs
    more = ", readings=table" if table else ""
    horizon = gym.spec(id).max_episode_steps
    parts = [
        f"# {id}",
        f"{first}\n",
        f'```python\nenv = gym.make("{id}", batch_size=3{more})\n```',
        "As it is made by this call" + (" (`table`: 60 rows of 12 readings):" if table else ":"),
        f"**Action**: `{env.action_space}`",
        f"**Observation**\n\n{_table(observation, env.observation_space)}",
        f"**Reward**: a Python {type(reward).__name__}, the sum of the batch's noisy rewards.",
        f"**Info** of a step, never told to a learner\n\n{_table(info)}",
        f"**End**: truncated after {horizon} rounds (`max_episode_steps`), never terminated.",
        "What each means, and the arguments: [environments](../environments.md#"
        + f"{id.lower().replace('/', '')}).",
    ]
    if rest.strip():
        parts += ["## Its class", "::: " + _path(env)]
    env.close()
    return "\n\n".join(parts) + "\n"


def _path(env: gym.Env[Any, Any]) -> str:
    cls = type(env.unwrapped)
    return f"{cls.__module__}.{cls.__qualname__}"


def _table(values: dict[str, Any], space: Any = None) -> str:
    lines = ["| key | kind | shape |" + (" space |" if space else "")]
    lines.append("| --- | --- | --- |" + (" --- |" if space else ""))
    for key, value in values.items():
        kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
        line = f"| `{key}` | {kind} | {np.shape(value)} |"
        lines.append(line + (f" `{space[key]}` |" if space else ""))
    return "\n".join(lines)
