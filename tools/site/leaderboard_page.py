"""The leaderboard: every agent of the archive of a suite, by score, by tag and by cost; a card."""

from functools import cache
from html import escape

import numpy as np
from scenario_pages import made

from gpbandits_env import agents
from gpbandits_env.scenarios.results.statistics import ORACLE, RANDOM
from gpbandits_env.scenarios.suite import suites
from gpbandits_env.scenarios.suite.archive import archived
from gpbandits_env.scenarios.suite.card import Card, card, duration
from gpbandits_env.scenarios.suite.card_figure import single_figures
from gpbandits_env.scenarios.suite.rows import Field
from gpbandits_env.scenarios.suite.scores import Standing, standings

SUITE, ALL, BEST = "core-v1", "all problems", 3
# The agent of the card that is shown.
EXAMPLE = "gp-ucb"
# An agent has a score on a tag if it plays at least this share of its problems.
ENOUGH = 0.5

# Tag -> the words of a score, its value, and the number of problems that the agent plays.
Scores = dict[str, tuple[str, str, int]]


def leaderboard() -> str:
    """The table, which the reader sorts, and the best agents on each tag."""
    known, tags = archived(SUITE), _tags()
    groups = {ALL: list(tags)} | {
        tag: [id for id, own in tags.items() if tag in own] for tag in suites.tags(SUITE)
    }
    found = [
        (agent, {tag: _scored(agent, tag, ids, known) for tag, ids in groups.items()})
        for agent in standings(known, tags)
    ]
    found.sort(key=lambda pair: (not pair[1][ALL][1], pair[0].score.value, pair[0].label))
    made.globals["linked"] = _linked
    return made.get_template("leaderboard.html").render(
        all=ALL,
        groups=groups,
        found=found,
        duration=duration,
        best={tag: _best(found, tag) for tag in groups},
    )


def example() -> str:
    """The sentence of a card."""
    return f"> {_example().sentence}"


def pictures() -> dict[str, bytes]:
    """The pictures of a card, as files of the site."""
    made = single_figures(_example())
    return {f"pictures/{k.replace(' ', '-')}.png": v._repr_png_() for k, v in made.items()}


@cache
def _example() -> Card:
    return card(archived(SUITE), EXAMPLE, _tags())


def _tags() -> dict[str, tuple[str, ...]]:
    return {id: problem.tags for id, problem in suites.problems(SUITE).items()}


def _scored(agent: Standing, tag: str, ids: list[str], field: Field) -> tuple[str, str, int]:
    played = sum((agent.label, id) in field for id in ids)
    value = agent.score.value if tag == ALL else agent.tags.get(tag, np.nan)
    if np.isnan(value) or played < ENOUGH * len(ids):
        return "", "", played
    words = str(agent.score) if tag == ALL else f"{round(value, 3) + 0.0:.3f}"
    return words, f"{value:.4f}", played


def _linked(label: str) -> str:
    """The label of an agent with a link to its page; labels of others begin with their name."""
    name = label.partition("/")[0]
    known = name in agents.names()
    return f'<a href="agents/{name}.html">{escape(label)}</a>' if known else escape(label)


def _best(found: list[tuple[Standing, Scores]], tag: str) -> list[str]:
    """The best agents on a tag with their scores, and nothing where there are fewer."""
    scored = sorted(
        (float(scores[tag][1]), agent.label)
        for agent, scores in found
        if scores[tag][1] and agent.label not in (ORACLE, RANDOM)
    )
    names = [f"{label} ({value:.3f})" for value, label in scored[:BEST]]
    return names + [""] * (BEST - len(names))
