"""The table of docs/agents.md, and one page per agent with a picture.

The text is that of docstrings and signatures. A picture has four panels: what an agent believes,
how it scores, what it chose, and its regret. `python tools/site/agent_pages.py` writes the table
into docs/agents.md for readers of the checkout. The build of the site writes it again.
"""

import copy
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from docstrings import call, in_cell, meanings, plain, prose
from marked import filled
from scenario_pages import made

from gpbandits_env import agents
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.registry import OVERRIDES, agent_class
from gpbandits_env.envs.drawing import BLUE, GREY, INK, ORANGE, RING, VERMILION, draw_belief
from gpbandits_env.errors import GPBanditsError
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.reporting.style import new_figure, share_legend
from gpbandits_env.scenarios.reporting.tables import markdown

PAPER = re.compile(r"^Paper: (.*?)(?=\n[A-Z]\w+:|\n\n|\Z)", re.DOTALL | re.MULTILINE)


def table(linked: bool = False) -> str:
    """The table of all agents: a description, the source and the settings.

    Args:
        linked: whether the name of an agent links to its page on the site.
    """
    rows = []
    for name in agents.names():
        cls, shown = agent_class(name), f"`{name}`"
        first = (inspect.getdoc(cls) or "").partition("\n")[0]
        own = ", ".join(f"`{key}`" + (f" ({value})" if value else "") for key, value in _own(cls))
        link = f"[{shown}](agents/{name}.md)" if linked else shown
        rows.append([link, in_cell(plain(first)), in_cell(plain(_source(cls))), own])
    return markdown(["name", "what it is", "source", "settings (defaults)"], rows)


def pages() -> dict[str, str]:
    """The source of every agent's page."""
    return {f"agents/{name}.md": _page(name) for name in agents.names()}


def _source(cls: type[agents.Agent]) -> str:
    """The paper that a module names, without its title and further remarks."""
    paper = PAPER.search(sys.modules[cls.__module__].__doc__ or "")
    assert paper is not None, f"{cls.__module__} opens with its paper"
    short = re.split(r"[;:] |(?<=\d{4}\)), |, as a| \(\"", " ".join(paper[1].split()))[0]
    return short.rstrip(".")


def _own(cls: type[agents.Agent]) -> Iterator[tuple[str, str]]:
    """The settings that a class adds, with their defaults where these are plain values."""
    usual = Parts().settings
    stated = cls.PARTS.settings if issubclass(cls, agents.GPAgent) else {}
    own = {k: v for k, v in stated.items() if k not in usual or usual[k] != v}
    for parameter in inspect.signature(cls.__init__).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            own[parameter.name] = parameter.default
    for name, default in own.items():
        yield name, f"{default}" if isinstance(default, (str, int, float)) else ""


def _page(name: str) -> str:
    cls = agent_class(name)
    module = sys.modules[cls.__module__]
    shared = issubclass(cls, agents.GPAgent) and cls is not agents.GPAgent
    own = re.search(r"Departures.*?(?=\n\n)", inspect.getdoc(agents.GPAgent) or "", re.DOTALL)
    assert own is not None, "GPAgent states its departures"
    about, raises, errors = prose(cls).partition("**Raises**")
    return made.get_template("agent.md").render(
        name=name,
        about=about,
        errors=raises + errors,
        caption=caption(name),
        notes=_notes(plain(module.__doc__ or "")),
        shared=_notes(plain(own[0])) if shared else "",
        settings=_settings(name),
        overrides=", ".join(f"`{key}`" for key in OVERRIDES),
        scenarios=[
            s.id
            for s in registry.scenarios().values()
            if any(e.agent == name for e in (*s.agents, *s.alternatives))
        ],
        source=cls.__module__.replace(".", "/").removeprefix("gpbandits_env/"),
    )


def _notes(docstring: str) -> str:
    """The paragraphs Paper, Assumes and Departures of a docstring; the departures become a list."""
    text = re.sub(r"^(Paper|Assumes|Departures[^:]*):", r"\n\n**\1:**", docstring, flags=re.M)
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        joined = " ".join(block.split())
        if joined.startswith("**Departures"):
            joined = re.sub(r"(?:; |\s)(\d+)\. ", r"\n\n\1. ", joined)
        blocks.append(joined)
    return "\n\n".join(blocks)


def _settings(name: str) -> str:
    cls = agent_class(name)
    found, said = agents.settings_of(name), meanings(cls)
    rows = []
    for key, value in found.items():
        default = getattr(cls, f"DEFAULT_{key.upper()}", None) if value is None else value
        shown = repr(dict(default) if hasattr(default, "items") else default)
        rows.append([f"`{key}`", f"`{in_cell(shown)}`", said.get(key, "")])
    head = ["setting", "default", "meaning"]
    return markdown(head, rows) if rows else "This agent has no settings of its own."


# -- Pictures --------------------------------------------------------------------------------------

# The rounds of the pictures, and how often the last round is repeated to count choices.
ROUNDS = {"agents": 25, "repeats": 200}
ARMS: dict[str, Any] = {"id": "gpbandits/StaticGP-v0", "grid": 100}
MOVING: dict[str, Any] = {"id": "gpbandits/MarkovGP-v0", "grid": 100, "epsilon": 0.02}
BOX: dict[str, Any] = {
    "id": "gpbandits/StaticGP-v0",
    "box": [[0.0], [1.0]],
    "kernel": {"type": "matern52", "lengthscale": 0.2},
}
PLANE: dict[str, Any] = {**BOX, "box": [[0.0, 0.0], [1.0, 1.0]]}
# Agents that are made for functions that drift.
DRIFTING = (
    *("tv-gp-ucb", "r-gp-ucb", "sw-gp-ucb", "et-gp-ucb", "wgp-ucb", "bma-gp-ucb"),
    *("ui-tvbo", "w-dbo", "rexp3", "genie"),
)
# Agents that search a subspace of d dimensions, which is less than a box only if d is.
SUBSPACES = ("dropout-ucb", "hesbo", "ms-ucb", "rembo", "sre")


def pictures() -> dict[str, bytes]:
    """A PNG picture for each agent by its address in the site."""
    return {f"agents/{name}.png": picture(name) for name in agents.names()}


@cache
def home(name: str | type[agents.Agent]) -> dict[str, Any]:
    """The arguments of the environment of an agent: on arms, or where it needs one, in a box."""
    if name in SUBSPACES:
        return PLANE
    for arguments in (MOVING if name in DRIFTING else ARMS, BOX, PLANE):
        env = gym.make(**arguments, noise_var=0.02, max_episode_steps=50)
        try:
            agents.make(name, env, seed=0).ask()
        except (GPBanditsError, AttributeError):
            continue
        return arguments
    raise GPBanditsError(f"no environment is known for a picture of {name}")


def caption(name: str) -> str:
    """What the picture of an agent shows."""
    arguments = dict(home(name))
    made = call(arguments.pop("id"), arguments)
    settings = ", d=1" if name in SUBSPACES else ""
    return (
        f"`agents.make({name!r}, env{settings})` after {ROUNDS['agents']} rounds in "
        f"`gym.make({made}, noise_var=0.02)`: its belief and the readings; how it scores actions "
        "or, without a score, how often it would choose each one; the actions that it chose; and "
        "its regret."
    )


def picture(name: str | type[agents.Agent]) -> bytes:
    """The four panels of an agent."""
    rounds, arguments = ROUNDS["agents"], home(name)
    env: Any = gym.make(**arguments, noise_var=0.02, max_episode_steps=50)
    agent = agents.make(name, env, seed=0, **({"d": 1} if name in SUBSPACES else {}))
    domain, t = agent.problem.domain, np.arange(1, rounds + 1)
    _begin(env)
    played, rewards, optima, regrets = np.empty((4, rounds))
    for i in range(rounds):
        if hasattr(agent, "reveal") and i:
            agent.reveal(env.unwrapped.function(np.arange(domain.size)))
        actions = agent.ask()
        observation, *_, info = env.step(actions)
        played[i], rewards[i] = domain.points(actions)[0, 0], observation["rewards"][0]
        optima[i] = domain.points(np.asarray(info["best_action"])[None])[0, 0]
        regrets[i] = info["cumulative_regret"] / t[i]
        if i < rounds - 1:  # the picture shows the belief by which the agent chose
            agent.tell(actions, observation["rewards"])
    actions, x = _line(agent)
    belief = _belief(agent, actions)
    with new_figure(6.0, 5.4) as figure:
        (left, right), (choice, average) = figure.subplots(2, 2)
        left.plot(x, env.unwrapped.function(actions), color=INK, lw=1.4, label="function")
        if belief is not None:
            draw_belief(left, x, *belief)
        left.scatter(played[:-1], rewards[:-1], s=14, color=BLUE, alpha=0.6, label="readings")
        left.scatter(played[-1:], rewards[-1:], s=60, **RING)
        left.set_title(_given(agent))
        share_legend(figure, 4, [left])
        right.set_title(_draw_scores(right, agent, belief, x))
        choice.plot(t, optima, color=ORANGE, lw=2.5, label="optimum")
        choice.scatter(t, played, s=18, color=VERMILION)
        choice.set(xlabel="round", ylabel="x", title="choice")
        choice.legend(fontsize=9)
        average.plot(t, regrets, color=BLUE, lw=2)
        average.set(xlabel="round", ylim=(0.0, None), title="average regret")
    env.close()
    return figure._repr_png_()


def _begin(env: Any) -> None:
    """Begin an episode whose optimum is not at the edge, where some agents guess first."""
    for seed in range(100):
        env.reset(seed=seed)
        domain = env.unwrapped.problem.domain
        best = domain.points(np.asarray(env.unwrapped.function.best_action)[None])[0, 0]
        if 0.15 < best < 0.85:
            return


def _given(agent: agents.Agent) -> str:
    """The title of the belief, with the number of readings that count if others do not."""
    if not isinstance(agent, agents.GPAgent):
        return "belief"
    counting = agent.keep.counts(agent.data, agent.round + 1)
    some = f", given {counting.sum()} of {len(counting)} readings"
    return "belief" if counting.all() else f"belief{some}"


def _line(agent: agents.Agent) -> tuple[Any, Any]:
    """Actions along the first coordinate, through the middle of the others, and where they are."""
    domain = agent.problem.domain
    if domain.finite:
        return np.arange(domain.size), domain.span[:, 0]
    x = np.linspace(*domain.span[:, 0], 200)
    points = np.tile(domain.span.mean(axis=0), (200, 1))
    points[:, 0] = x
    return points, x


def _belief(agent: agents.Agent, actions: Any) -> tuple[Any, Any] | None:
    try:
        return agent.belief() if agent.problem.domain.finite else agent.belief(actions)
    except GPBanditsError:
        return None


def _draw_scores(axes: Any, agent: agents.Agent, belief: Any, x: Any) -> str:
    """Draw how an agent scores actions, or how often it chooses them; returns the title."""
    if isinstance(agent, agents.GPAgent) and agent.rule is not None and belief is not None:
        axes.plot(x, agent.acquisition().score(belief[0], belief[1] ** 2), color=VERMILION, lw=1.6)
        axes.set_xlabel("x")
        return "acquisition"
    chosen = []
    for seed in range(ROUNDS["repeats"]):
        twin = copy.deepcopy(agent)
        twin.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
        chosen.append(agent.problem.domain.points(twin.ask())[0, 0])
    axes.hist(chosen, bins=50, range=(x.min(), x.max()), color=GREY)
    axes.set_xlabel("x")
    return f"choices, {ROUNDS['repeats']} repetitions"


if __name__ == "__main__":
    page = Path(__file__).parents[2] / "docs" / "agents.md"
    page.write_text(filled(page.read_text("utf-8"), {"agents": table()}), encoding="utf-8")
