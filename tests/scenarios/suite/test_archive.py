"""The archive has every agent on every problem that it can play, or says why it has not."""

import numpy as np
import pytest

from gpbandits_env.scenarios.suite import suites
from gpbandits_env.scenarios.suite.archive import (
    absent,
    archived,
    current,
    digest,
    entries,
    folder,
    refusal,
    row_of,
)
from tools.archive import PAGE, tables
from tools.site.marked import filled

MOST_BYTES = 600_000


def test_every_row_is_there_or_its_absence_is_explained():
    """If this fails: python -m tools.archive --agent NAME makes the rows of a new agent."""
    rows, reasons = archived("core-v1"), absent("core-v1")
    explained = {
        (label, id) for label, given in reasons.items() for ids in given.values() for id in ids
    }
    wanted = {(label, id) for label in entries() for id in suites.problems("core-v1")}
    assert set(rows) | explained == wanted
    assert not set(rows) & explained
    assert not [
        reason for given in reasons.values() for reason in given if "not been run" in reason
    ]


@pytest.mark.parametrize("label", entries())
def test_rows_are_current(label):
    """If this fails: python -m tools.archive makes the rows anew."""
    problems, entry = suites.problems("core-v1"), entries()[label]
    for (agent, id), row in archived("core-v1").items():
        if agent == label:
            assert current(row, problems[id], entry), id
            assert row.regret.shape == (problems[id].trials, len(row.rounds))
            assert len(row.digests) == row.trials
            assert np.isfinite(row.regret).all()
            assert row.seconds > 0.0


def test_an_absent_agent_is_refused_for_the_stated_reason():
    problems, reasons = suites.problems("core-v1"), absent("core-v1")
    for label, id in (("rembo", "core-v1/se"), ("genie", "core-v1/branin")):
        assert id in reasons[label][refusal(problems[id], entries()[label])]


def test_the_page_describes_the_problems_as_they_are():
    page = PAGE.read_text("utf-8")
    assert filled(page, tables()) == page


def test_the_archive_is_small():
    assert sum(len(file.read_bytes()) for file in folder("core-v1").iterdir()) <= MOST_BYTES


def test_a_row_is_of_the_exact_regret():
    problem = suites.problems("core-v1")["core-v1/batch-5"]
    rng = np.random.default_rng(0)
    regret = rng.uniform(size=(3, problem.horizon, 5))
    seconds = rng.uniform(size=(3, problem.horizon))
    row = row_of(problem, entries()["random"], regret, seconds)
    exact = regret.reshape(3, -1).cumsum(axis=1)[:, 4::5] / (5 * np.arange(1, problem.horizon + 1))
    np.testing.assert_allclose(row.regret, exact[:, row.rounds - 1], rtol=2.0**-11)
    assert row.seconds == pytest.approx(np.median(seconds.mean(axis=1)), rel=5e-3)
    changed = regret[0].copy()
    changed[2, 3] = np.nextafter(changed[2, 3], 1.0)
    assert digest(changed) != digest(regret[0]) == int(row.digests[0])
