"""The table of docs/mixing.md: every combination is made and run for a few rounds.

``python tests/agents/batch/test_mixing.py`` writes the page anew.
"""

from pathlib import Path

import numpy as np

from gpbandits_env import agents
from gpbandits_env.agents import batch
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

PAGE = Path(__file__).resolve().parents[3] / "docs" / "mixing.md"
PLACES = {"arms": Arms.grid((5, 4)), "box": Box([0.0, 0.0], [1.0, 1.0])}
OPTIONS = {
    "static": {},
    "drifting": {"epsilon": 0.05},
    "seasonal": {"temporal": {"type": "periodic", "period": 3.0, "harmonics": 1}},
    "reset": {"reset_every": 2},
    "window": {"window": 2},
    "compressed": {"compress": 0.05},
    "budgeted": {"posterior": {"type": "nystrom", "qbar": 3.0}},
    "contexts": {"contexts": 3},
}
RULES = {
    **{name: name for name in ("hallucinate", "thompson")},
    "dpp": {"type": "dpp", "steps": 3},
    **{name: name for name in ("explore", "boltzmann", "believer", "randomised-believer")},
    "ts-rsr": {"type": "ts-rsr", "redraws": 1},
    "max-variance": "max-variance",
    "initialised": {"type": "initialised", "rounds": 1, "then": {"type": "thompson"}},
}
# A new rule is tried with its defaults, and has a row.
RULES |= {name: name for name in batch.RULES.members if name not in RULES}
# Each stands for others that combine in the same way, and differ in a default.
AGENTS = {
    "gp-ucb": (
        "`bucb`, `ucbpe`, `tv-gp-ucb`, `r-gp-ucb`, `sw-gp-ucb`, `cub`, `bkb-ucb`, `lb-gp-ucb`"
    ),
    "ei": "`sp`, `qei`, `cei`, `bkb-ei`",
    "mpi": "`cmpi`, `bkb-mpi`",
    "max-mean": "",
    "max-variance": "",
    "ts": "`dpp-ts`, `ts-rsr`",
}
QUICK = {"candidates": 6, "starts": 1, "evaluations": 3, "sample_starts": 1}
BOX_AGENTS = {
    "ms-ucb": {"d": 1, "candidates": 8, "refine": 1, "evaluations": 6},
    "dropout-ucb": {"d": 1, "search": QUICK},
    "line-bo": {"search": QUICK},
    "rembo": {"d": 1, "search": QUICK},
    "hesbo": {"d": 1, "search": QUICK},
    "sre": {"d": 1, "rounds": 3, "search": QUICK},
    "turbo": {"n_initial": 2, "candidates": 12},
}
OWN_RULE = ("et-gp-ucb", "bma-gp-ucb", "wgp-ucb", "ui-tvbo", "w-dbo")
ROUNDS, BATCH = 3, 2


def quick(name, place, given):
    """Settings with which a box is searched fast."""
    if name in BOX_AGENTS:
        return BOX_AGENTS[name]
    if place == "arms":
        return {}
    needs_arms = "posterior" in given or "temporal" in given or name in OWN_RULE
    return {"candidates": 12} if needs_arms else {"search": QUICK}


def tried(name, place, contexts=0, **given):
    """Why a combination is refused; "" if it runs as it should."""
    kernel, domain = SquaredExponential(0.3), PLACES[place]
    problem = Problem(domain, kernel, 0.05, batch_size=BATCH, epsilon=0.05, horizon=ROUNDS)
    problem = problem.replaced(contexts=Arms.grid(contexts) if contexts else None)
    try:
        agent = agents.make(name, problem, seed=0, **quick(name, place, given), **given)
    except InvalidInput as error:
        return str(error)
    space = domain.action_space(BATCH)
    for t in range(ROUNDS):
        actions = agent.ask(context=t) if contexts else agent.ask()
        assert actions in space, (name, place, given)
        agent.tell(actions, np.sin(np.asarray(actions, float).reshape(BATCH, -1).sum(axis=1)))
    points = agent.problem.domain.sample(np.random.default_rng(0), 4)
    moments = agent.belief() or agent.belief(points)
    assert all(np.isfinite(part).all() for part in moments), (name, place, given)
    return ""


class Reasons:
    """The reasons for refusals, numbered in the order in which they are met."""

    def __init__(self):
        self.numbers = {}

    def mark(self, reason):
        return str(self.numbers.setdefault(reason, len(self.numbers) + 1)) if reason else "yes"

    def cell(self, reasons):
        """One mark where all agree; otherwise the columns of each."""
        marks = {}
        for column, reason in reasons.items():
            marks.setdefault(self.mark(reason), []).append(column)
        if len(marks) == 1:
            return next(iter(marks))
        return "; ".join(f"{mark}: {', '.join(columns)}" for mark, columns in marks.items())

    def lines(self):
        return [f"{number}. {reason}." for reason, number in self.numbers.items()]


def table(corner, columns, rows):
    """The lines of a Markdown table."""
    head = [f"| {corner} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    return head + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows]


def narrow(corner, columns, rows):
    """The same table with its columns as rows: few agents side by side fit a page."""
    names, cells = zip(*rows, strict=True)
    return table(corner, names, list(zip(columns, zip(*cells, strict=True), strict=True)))


def rules_table(names, places, options, reasons):
    def cell(name, rule):
        outcomes = {
            f"{option} on {place}": tried(name, place, batch=RULES[rule], **OPTIONS[option])
            for place in places
            for option in options
        }
        return reasons.cell(outcomes)

    rows = [(f"`{name}`", [cell(name, rule) for rule in RULES]) for name in names]
    return narrow("rule", [f"`{rule}`" for rule in RULES], rows)


def options_table(reasons):
    """Two data options at once, under GP-UCB."""
    settings = {name: given for name, given in OPTIONS.items() if given}

    def cell(one, other):
        if one == other:
            return "-"
        given = {**settings[one], **settings[other]}
        return reasons.cell({place: tried("gp-ucb", place, **given) for place in PLACES})

    rows = [(one, [cell(one, other) for other in settings]) for one in settings]
    return table("data option", settings, rows)


def noiseless_table(reasons):
    """What compares with the noise is refused without noise."""
    given = {**{name: {"batch": RULES[name]} for name in RULES if name != "hallucinate"}, **OPTIONS}
    cells = {
        name: reasons.cell({"arms": tried("ei", "arms", noise_var=0.0, **more)})
        for name, more in given.items()
        if name != "explore"
    }
    return narrow("rule or data option", cells, [("`ei`", list(cells.values()))])


def agents_table(names, places, reasons):
    rows = [
        (
            f"`{name}`",
            [
                reasons.cell({p: tried(name, p, **given) for p in places})
                for given in OPTIONS.values()
            ],
        )
        for name in names
    ]
    return narrow("data option", OPTIONS, rows)


def page():
    """The whole page; every combination in it has been run."""
    reasons = Reasons()
    settings = [
        f"- {name}: `{'='.join(map(str, next(iter(given.items()))))}`"
        for name, given in OPTIONS.items()
        if given
    ]
    text = [
        "# What combines with what",
        "",
        "<!-- picture pictures/mixing.png: The belief of `gp-ucb` with four data options after",
        "the same 40 readings of a function that drifts (older ones are fainter) -->",
        "",
        "The tables show which agents, batch rules and data options run together. A cell says",
        '"yes" if the agent runs. Otherwise it gives the number of the [reason](#reasons) why',
        "the combination is refused when the agent is made.",
        "",
        f"A test runs every combination for {ROUNDS} rounds of {BATCH} actions and checks this",
        "page; `python tests/agents/batch/test_mixing.py` writes it.",
        "",
        "## Agents, batch rules and data options, on arms and in boxes",
        "",
        "Each cell stands for sixteen combinations: all eight data options, on arms and in a box.",
        "",
        "- static: all data count alike",
        *settings,
        "",
        "The rules `thompson`, `dpp`, `ts-rsr` and `max-variance` do not use the agent's",
        "acquisition, and `explore` uses only its beta.",
        "",
        *rules_table(AGENTS, PLACES, OPTIONS, reasons),
        "",
        "These agents combine in the same way. They differ in their default data option, which",
        "counts as one of [two](#two-data-options-at-once):",
        "",
        *[f"- like `{name}`: {others}" for name, others in AGENTS.items() if others],
        "",
        "`mini-gp-ucb` and `mini-ei` combine like `gp-ucb` and `ei`, but support no contexts.",
        "",
        "## Agents that forget by a rule of their own",
        "",
        "They combine with batch rules like `gp-ucb`, except that `w-dbo`, whose bound has no",
        "setting `beta`, does not support `explore`. On arms and in boxes:",
        "",
        *agents_table(OWN_RULE, PLACES, reasons),
        "",
        "## Two data options at once",
        "",
        *options_table(reasons),
        "",
        "## Without noise",
        "",
        *noiseless_table(reasons),
        "",
        "## Agents of many dimensions",
        "",
        "These agents act in boxes only. With static data:",
        "",
        *rules_table(BOX_AGENTS, ["box"], ["static"], reasons),
        "",
        "With their default rule:",
        "",
        *agents_table(BOX_AGENTS, ["box"], reasons),
        "",
        "## Reasons",
        "",
        *reasons.lines(),
    ]
    return "\n".join(text) + "\n"


def test_the_page_says_what_comes_of_every_combination():
    assert PAGE.read_text(encoding="utf-8") == page()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
