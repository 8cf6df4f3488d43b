"""core-v1 is frozen: whoever changes a problem makes another suite."""

import pytest

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.scenarios.scenario import AgentEntry
from gpbandits_env.scenarios.study.rehearsal import rehearse
from gpbandits_env.scenarios.suite import suites

FROZEN = {
    "se": "809280b465805af3",
    "se-noisy": "d7e2b35a1509d537",
    "matern12": "addd39fb65c9e7a1",
    "matern52": "377283c1df1f15b0",
    "matern32-noisy": "d62285aad514030c",
    "long": "889093acb0890456",
    "lengthscale-long": "09d11932381a8b31",
    "lengthscale-short": "81f76a916915e9fb",
    "kernel": "5f8c6aa94ee324af",
    "drift-slow": "1de99ceed91d439e",
    "drift-fast": "f032d2006c63085d",
    "rate": "2068babb8250ee3d",
    "breaks": "de68830a787e2088",
    "season": "aafdb21110098b8a",
    "batch-5": "b00f3c2a380b54ac",
    "batch-20": "b4dc4126b42e5045",
    "context": "735fdf38cb2fc959",
    "delay": "e5a97fb2b2da129f",
    "delay-random": "ca8b5fef728ecb15",
    "branin": "5ec4edaecd917afd",
    "ackley": "a38362249a1f4676",
    "hartmann": "db6c931df8cf9e9e",
    "box-noisy": "26b843896ba778d3",
    "levy-20": "4f078be9c1abbb4f",
    "ellipsoid-100": "dea45eb195b457a2",
}


def test_problems_are_frozen():
    found = {id.partition("/")[2]: suites.frozen(p) for id, p in suites.problems("core-v1").items()}
    assert found == FROZEN


@pytest.mark.parametrize("problem", suites.problems("core-v1").values(), ids=lambda p: p.id)
def test_a_problem_can_be_made_and_says_what_it_asks(problem):
    assert problem.tags
    assert set(problem.tags) <= set(suites.tags("core-v1"))
    assert len(problem.cells()) == 1
    given, _ = rehearse(problem.cells()[0])
    told = problem.cells()[0].scenario.agents[0].settings
    assert given.batch_size == {"batch-5": 5, "batch-20": 20}.get(problem.id[8:], 1)
    assert ("wrong model" in problem.tags) == ("kernel" in told)
    if "unknown drift" in problem.tags:
        assert given.epsilon is None
        assert given.temporal is None
    elif "drift" in problem.tags:
        assert given.epsilon > 0.0


def test_every_tag_is_of_some_problem():
    used = {tag for problem in suites.problems("core-v1").values() for tag in problem.tags}
    assert used == set(suites.tags("core-v1"))


def test_the_hash_of_a_problem_depends_on_what_its_results_depend_on():
    problem = suites.problems("core-v1")["core-v1/se"]
    first = suites.frozen(problem)
    assert suites.frozen(problem.select(["gp-ucb"])) == first
    assert suites.frozen(problem, seed=2027) != first
    assert suites.frozen(problem.select(horizon=99)) != first
    assert suites.frozen(problem.changed({"noise_var": 0.002})) != first


def test_the_hash_of_settings_depends_on_all_of_them():
    entries = [
        AgentEntry("a", "gp-ucb"),
        AgentEntry("a", "ei"),
        AgentEntry("a", "gp-ucb", {"beta": 2.0}),
        AgentEntry("a", "tv-gp-ucb"),
    ]
    assert len({suites.settings_hash(entry) for entry in entries}) == 4
    assert suites.settings_hash(AgentEntry("b", "ei")) == suites.settings_hash(entries[1])
    told = AgentEntry("a", "ei", {"margin": 0.0, "window": None, "posterior": "auto"})
    assert suites.settings_hash(told) == suites.settings_hash(entries[1])


def test_problems_are_chosen_by_name_or_id():
    assert list(suites.chosen("core-v1", ["rate", "core-v1/se"])) == ["core-v1/rate", "core-v1/se"]
    with pytest.raises(UnknownName, match="breaks"):
        suites.chosen("core-v1", ["break"])
    with pytest.raises(UnknownName, match="core-v1"):
        suites.problems("core-v2")
    for wrong in ("se", [], [3]):
        with pytest.raises(InvalidInput, match="problems must be a list"):
            suites.chosen("core-v1", wrong)
