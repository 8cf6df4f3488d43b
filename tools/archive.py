"""`python -m tools.archive` makes the archive of core-v1, and makes anew what is out of date."""

import json
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

import click
import numpy as np

from gpbandits_env.files import write_text
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study import run_trial
from gpbandits_env.scenarios.suite import suites
from gpbandits_env.scenarios.suite.archive import ABSENT, OTHERS, current, entries, refusal, row_of
from gpbandits_env.scenarios.suite.rows import FILE, Row, load, save
from tools.site.marked import filled

SUITE = "core-v1"
ROOT = Path(__file__).resolve().parent.parent / "scenarios" / "suite" / "archive"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "suite.md"
ONLY_BOXES = "the optimizers of other libraries are run in boxes without noise, one action a round"


def reason(problem: Scenario, entry: AgentEntry) -> str | None:
    """Why an agent does not play a problem; None if it does."""
    if entry in OTHERS and problem.metric != "simple_regret":
        return ONLY_BOXES
    return refusal(problem, entry)


@click.command()
@click.option("--agent", "labels", multiple=True, help="Only this agent; may be repeated.")
@click.option("--anew", is_flag=True, help="Run those too that have a row of the present code.")
def archive(labels: tuple[str, ...], anew: bool) -> None:
    """Run the agents that have no row, or an old one, and keep the rows after each problem.

    \b
    Examples:
      python -m tools.archive --agent gp-ucb
      python -m tools.archive --agent gp-ucb --anew
    """
    file, problems = ROOT / SUITE / FILE, suites.problems(SUITE)
    for label in labels or entries():
        for problem in problems.values():
            _make(problem, entries()[label], file, anew)
    _explain(problems, file)
    write_text(PAGE, filled(PAGE.read_text("utf-8"), tables()), "text")


def tables() -> dict[str, str]:
    """The tables of the page about a suite: its problems and tags."""
    problems = [
        [f"`{id.partition('/')[2]}`", p.title, str(p.horizon), str(p.trials), ", ".join(p.tags)]
        for id, p in suites.problems(SUITE).items()
    ]
    tags = [[tag, what] for tag, what in suites.tags(SUITE).items()]
    return {
        "problems": markdown(["problem", "what it is", "rounds", "trials", "tags"], problems),
        "tags": markdown(["tag", "the problems"], tags),
    }


def _make(problem: Scenario, entry: AgentEntry, file: Path, anew: bool) -> None:
    kept = load(file).get((entry.label, problem.id))
    known = kept is not None and current(kept, problem, entry)
    if (known and not anew) or reason(problem, entry) is not None:
        return
    row = played(problem, entry)
    save(file, (load(file) | {(entry.label, problem.id): row}).values())
    click.echo(f"{entry.label} {problem.id}: {row.seconds:.3g} s per round")


def _explain(problems: dict[str, Scenario], file: Path) -> None:
    """Drop the rows of agents that are gone, and write down why others are absent."""
    rows, found = load(file), dict[str, dict[str, list[str]]]()
    save(file, (row for row in rows.values() if row.agent in entries()))
    for label, entry in entries().items():
        for id, problem in problems.items():
            if (label, id) not in rows:
                why = reason(problem, entry) or "it has not been run yet"
                found.setdefault(label, {}).setdefault(why, []).append(id)
    write_text(file.with_name(ABSENT), json.dumps(found, indent=1) + "\n", "text")


def played(problem: Scenario, entry: AgentEntry) -> Row:
    """The row of an agent on a problem, with the trials run here.

    The seconds are those of the processor, as other programs may run at the same time.
    """
    asked, regrets, seconds = replace(problem, agents=(entry,)), [], []
    for trial in range(problem.trials):
        clock, start = perf_counter(), process_time()
        record = run_trial(asked, entry.label, trial)
        share = min(1.0, (process_time() - start) / (perf_counter() - clock))
        regrets.append(record.rounds["regret"])
        seconds.append((record.seconds["ask"] + record.seconds["tell"]) * share)
    return row_of(problem, entry, np.stack(regrets), np.stack(seconds))


if __name__ == "__main__":
    archive()
