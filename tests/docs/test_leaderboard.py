"""The leaderboard of the site, made from the archive."""

import json
import re
from html import unescape
from importlib import import_module

import pytest

from gpbandits_env.scenarios.suite import suites
from gpbandits_env.scenarios.suite.archive import archived
from gpbandits_env.scenarios.suite.scores import standings


@pytest.fixture(scope="module")
def leaderboard(root):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "tools" / "site"))
        yield import_module("leaderboard_page")


@pytest.fixture(scope="module")
def text(leaderboard):
    return leaderboard.leaderboard()


def test_every_agent_of_the_archive_has_a_row_with_a_score_per_tag(text, leaderboard):
    rows = re.findall(r'<tr data-scores="(.*?)"><td data-value="(.*?)">', text)
    known = archived("core-v1")
    assert {label for _, label in rows} == {agent for agent, _ in known}
    problems, tags = suites.problems("core-v1"), suites.tags("core-v1")
    for scores, label in rows:
        found = json.loads(unescape(scores))
        assert set(found) == {leaderboard.ALL, *tags}
        for tag, (_, value, played) in found.items():
            asked = [p.id for p in problems.values() if tag in (leaderboard.ALL, *p.tags)]
            assert played == sum((label, id) in known for id in asked)
            assert bool(value) <= (2 * played >= len(asked))


def test_scores_are_those_of_the_archive_in_order(text, leaderboard):
    rows = re.findall(r'<tr data-scores="(.*?)"><td data-value="(.*?)">', text)
    tags = {id: p.tags for id, p in suites.problems("core-v1").items()}
    of = {s.label: s for s in standings(archived("core-v1"), tags)}
    values = []
    for scores, label in rows:
        words, value, _ = json.loads(unescape(scores))[leaderboard.ALL]
        if value:
            assert words == str(of[label].score)
            values.append(float(value))
    assert len(values) > 5
    assert values == sorted(values)
    assert text.count("<button") == 4
    assert f"| {leaderboard.ALL} | 25 | " in text


def test_the_example_has_a_sentence_and_a_picture(leaderboard):
    assert "has lower regret than" in leaderboard.example()
    assert all(len(picture) > 20_000 for picture in leaderboard.pictures().values())
