"""The pictures of a card, each alone or all in one figure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.reporting import style
from gpbandits_env.scenarios.results.statistics import LIMITS, ORACLE
from gpbandits_env.scenarios.suite.card import MOST, SHARES, Card

Styles: TypeAlias = Mapping[str, Plain]
GREY = "#8C8C8C"
# A radar of fewer tags is a line.
CORNERS = 3


def figure(card: Card) -> "style.Figure":
    """All pictures of a card in one Matplotlib figure."""
    styles, panels, last = _styles(card), _panels(card), _height(card)
    rows = -(-sum(draw is not _ranks for draw in panels.values()) // 2)
    heights = [max(3.6, 0.6 + 0.3 * len(card.profiles))] * rows
    with style.new_figure(13.0, 1.0 + sum(heights) + last) as made:
        grid = made.add_gridspec(rows + 1, 2, height_ratios=[*heights, last])
        for i, draw in enumerate(panels.values()):
            place = grid[-1, :] if draw is _ranks else grid[i // 2, i % 2]
            draw(made.add_subplot(place, polar=draw is _radar), card, styles)
        said = card.sentence.replace(card.own.label, style.shortened(card.own.label))
        style.entitle(made, f"{said} Score {card.own.score}.")
        style.share_legend(made, 6)
    return made


def single_figures(card: Card) -> "dict[str, style.Figure]":
    """Each picture of a card as a figure of its own, by its name."""
    styles, found = _styles(card), {}
    for name, draw in _panels(card).items():
        with style.new_figure(*((13.0, _height(card)) if draw is _ranks else (6.0, 4.4))) as made:
            draw(axes := made.add_subplot(polar=draw is _radar), card, styles)
            axes.set_title("")  # the page has a caption
            if draw not in (_ranks, _cost):  # which name their agents
                style.share_legend(made, 3)
        found[name] = made
    return found


def _panels(card: Card) -> dict[str, Callable[[Any, Card, Styles], None]]:
    """The pictures for which a card has what they show."""
    panels = {
        "scores": (_scores, card.anytime),
        "performance profiles": (_performance, True),
        "scores before the last round": (_anytime, card.anytime),
        "runtime profiles": (_runtime, True),
        "scores by tag": (_radar, len(card.tags) >= CORNERS),
        "score against time": (_cost, not np.isnan(card.own.seconds)),
        "probability of improvement": (_improvement, card.improvement),
        "critical differences": (_ranks, card.ranking),
    }
    return {name: draw for name, (draw, shown) in panels.items() if shown and card.profiles}


def _styles(card: Card) -> Styles:
    """The looks of each line, by its label; the newcomer's is thick."""
    found = style.line_styles({k: k.partition("/")[0].partition(" (")[0] for k in card.profiles})
    thick = {"linewidth": 3.0, "linestyle": "-"}
    return found | {k: found[k] | thick for k in found if k == card.newcomer}


def _height(card: Card) -> float:
    """The height of the ranks."""
    return 1.2 + 0.2 * len(card.ranking.agents) if card.ranking else 1.0


def _scores(axes: "style.Axes", card: Card, styles: Styles) -> None:
    for row, agent in enumerate(card.agents):
        score, colour = agent.score, styles[agent.label]["color"]
        axes.plot([score.low, score.high], [row, row], color=colour, linewidth=6, alpha=0.35)
        axes.plot(score.value, row, marker="o", color=colour)
    axes.set_yticks(range(len(card.agents)), [style.shortened(a.label) for a in card.agents])
    axes.invert_yaxis()
    axes.set(title="scores, lower is better", xlabel=_ends(card))


def _ends(card: Card) -> str:
    """What the scores mean."""
    return f"score: 0 the oracle (or the best agent), 1 {card.one or 'the worst agent'}"


def _performance(axes: "style.Axes", card: Card, styles: Styles) -> None:
    for label, (share, low, high) in card.profiles.items():
        axes.plot(LIMITS, share, label=style.legible(label), **styles[label])
        style.band(axes, LIMITS, low, high, styles[label]["color"])
    axes.set(title="performance profiles", xlabel=_ends(card), ylim=(0.0, 1.02))
    axes.set_ylabel("share of trials at or below")


def _anytime(axes: "style.Axes", card: Card, styles: Styles) -> None:
    for label, scores in card.anytime.items():
        axes.plot(SHARES, scores, label=style.legible(label), **styles[label])
    axes.set(title="scores before the last round", xlabel="share of the horizon", ylabel="score")
    axes.set_ylim(top=min(axes.get_ylim()[1], 2.0))


def _runtime(axes: "style.Axes", card: Card, styles: Styles) -> None:
    for label, share in card.runtimes.items():
        axes.plot(card.rounds, share, label=style.legible(label), **styles[label])
    axes.set(title="runtime profiles", xscale="log", ylim=(0.0, 1.02))
    axes.set_xlabel("rounds, each of one evaluation or one batch")
    axes.set_ylabel("share of problem x trial x target reached")


def _improvement(axes: "style.Axes", card: Card, styles: Styles) -> None:
    labels = [agent.label for agent in card.agents]
    looks: Plain = {"ha": "center", "va": "center", "fontsize": min(10.0, 80.0 / len(labels))}
    table = [[card.improvement[a][b].value if a != b else np.nan for b in labels] for a in labels]
    axes.imshow(table, vmin=0.0, vmax=1.0, cmap="RdBu", aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        if i != j:
            colour = "white" if abs(value - 0.5) > 0.35 else style.INK
            axes.text(j, i, f"{value:.2f}", color=colour, **looks)
    axes.set_xticks(range(len(labels)), map(style.shortened, labels), rotation=60, ha="right")
    axes.set_yticks(range(len(labels)), map(style.shortened, labels))
    axes.grid(visible=False)
    axes.set_title("probability that the row beats the column")


def _radar(axes: Any, card: Card, styles: Styles) -> None:
    """Draw scores on an axis for each tag, on which farther out is better."""
    tags = list(card.tags)
    angles = np.linspace(0.0, 2.0 * np.pi, len(tags), endpoint=False)
    of = {agent.label: agent.tags for agent in card.agents}
    for label, looks in styles.items():
        shown = 1.0 - np.array([of[label].get(tag, np.nan) for tag in tags])
        closed = np.clip(np.append(shown, shown[0]), 0.0, 1.0)
        axes.plot(np.append(angles, angles[0]), closed, label=style.legible(label), **looks)
    axes.set_theta_offset(np.pi / 2)
    axes.set_theta_direction(-1)
    axes.set_xticks(angles, tags)
    for tick, angle in zip(axes.get_xticklabels(), angles, strict=True):
        side = np.sin(angle)
        tick.set_ha("center" if abs(side) < 0.1 else "left" if side > 0 else "right")
    axes.set_ylim(0.0, 1.0)
    axes.set_yticks([0.25, 0.5, 0.75], ["", "0.5", ""], color=GREY)
    axes.tick_params(pad=0)
    axes.set_title("1 - score by tag (0 for scores above 1), farther out is better", pad=18)


def _cost(axes: "style.Axes", card: Card, styles: Styles) -> None:
    """Draw the score against the time per round of every agent."""
    least = MOST * len(card.scales)
    placed = [a for a in card.agents if a.problems >= least and a.label != ORACLE]
    others = [a for a in placed if a.label not in styles]
    axes.plot([a.seconds for a in others], [a.score.value for a in others], ".", color=GREY)
    cheapest, named = np.inf, {}
    for agent in placed:  # the best score first, so that the front is what is cheaper than these
        where, looks = (agent.seconds, agent.score.value), styles.get(agent.label)
        colour = looks["color"] if looks else GREY
        if looks:
            error = [[agent.score.value - agent.score.low], [agent.score.high - agent.score.value]]
            size = 9 if agent.label == card.newcomer else 6
            axes.errorbar(*where, yerr=error, fmt="o", color=colour, markersize=size)
        if looks or agent.seconds < cheapest:
            named[agent.label] = (*where, colour)
        cheapest = min(cheapest, agent.seconds)
    axes.set_xscale("log")
    if all(agent.score.low > 0.0 for agent in placed):  # so that the good ones stand apart
        scores = [agent.score.value for agent in placed]
        few = max(scores) > 5.0 * min(scores)  # more numbers would cover each other
        axes.set_yscale("log", subs=(2, 5) if few else None)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_title("score against computing time, lower is better")
    _name(axes, named, [(agent.seconds, agent.score.value) for agent in placed])
    axes.set_xlabel("seconds per round (ask and tell)")
    axes.set_ylabel("score")


def _name(
    axes: "style.Axes",
    named: Mapping[str, tuple[float, float, str]],
    points: Sequence[tuple[float, float]],
) -> None:
    """Write names beside points, from the lowest up, each above what it would cover."""
    scale = 72.0 / axes.figure.dpi
    axes.get_xlim(), axes.get_ylim()  # which the transform below needs
    at = {name: axes.transData.transform(where[:2]) * scale for name, where in named.items()}
    drawn = axes.transData.transform(points) * scale
    taken = [(x - 5.0, x + 5.0, y - 3.0) for x, y in drawn]  # left, right, height
    for name, (x, y) in sorted(at.items(), key=lambda each: float(each[1][1])):
        words = style.shortened(name)
        left, right, height = x + 7.0, x + 7.0 + 5.6 * len(words), y - 3.0
        for a, b, other in sorted(taken, key=lambda each: each[2]):
            if left < b and right > a and abs(height - other) < 12.0:
                height = other + 12.0
        taken.append((left, right, height))
        said: Plain = {"textcoords": "offset points", "fontsize": 9, "color": named[name][2]}
        if height > y + 9.0:
            line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
            said["arrowprops"] = line | {"relpos": (0.0, 0.0)}  # else it crosses lower names
        axes.annotate(words, named[name][:2], xytext=(7.0, height - y), **said)


def _ranks(axes: "style.Axes", card: Card, styles: Styles) -> None:
    """Draw mean ranks, with a bar for each group of agents that do not differ."""
    found = card.ranking
    assert found is not None
    size = len(found.agents)
    for row, (label, rank) in enumerate(zip(found.agents, found.ranks, strict=True)):
        colour = styles[label]["color"] if label in styles else GREY
        axes.plot([0.0, rank], [row, row], color="#E6E6E6", linewidth=1.0)
        axes.plot(rank, row, "o", color=colour, markersize=9 if label == card.newcomer else 6)
    right = size + 1.0
    step = 0.25 * size / max(len(found.groups), 1)
    for i, group in enumerate(found.groups):
        first, last = found.agents.index(group[0]), found.agents.index(group[-1])
        own = card.newcomer in group
        x = right + min(step, 0.035 * size) * i
        colour = styles[card.newcomer]["color"] if own else style.INK
        axes.plot([x, x], [first - 0.2, last + 0.2], color=colour, linewidth=3.0 if own else 1.5)
    axes.set_yticks(range(size), [style.shortened(label) for label in found.agents])
    for tick, label in zip(axes.get_yticklabels(), found.agents, strict=True):
        tick.set_fontweight("bold" if label == card.newcomer else "normal")
    axes.set_ylim(size - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= size])
    axes.grid(visible=False, axis="y")
    axes.set_title("mean ranks; agents that a bar at the right joins do not differ")
    axes.set_xlabel(f"mean rank over {len(found.problems)} problems")
