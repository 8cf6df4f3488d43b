from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.gp.posterior.subspaces import Subspaces
from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.papers import tranthe2020
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Scenario
from gpbandits_env.scenarios.study.rehearsal import resolved
from gpbandits_env.scenarios.study.runner import make_env

ALL = [s for s in tranthe2020.SCENARIOS if isinstance(s, Scenario)]
FIGURE = [s for s in ALL if s.id.rpartition("/")[2].split("-")[-1].isdigit() and "HighDim" in s.env]
BUDGET = 1010


def small(name, trials=2, horizon=2, **changes):
    return replace(get(f"tranthe2020/{name}"), trials=trials, horizon=horizon, **changes)


def test_the_figures_are_all_there():
    names = {s.id.partition("/")[2] for s in ALL}
    for dim in (20, 50, 100):
        for function in (*tranthe2020.FUNCTIONS, "schwefel"):
            assert {f"{function}-{dim}", f"{function}-{dim}-shifted"} <= names
    assert {"subspaces", "dimension", "network-100", "network-500", "ramp-loss"} <= names
    literal = {f"{f}-{d}-literal" for f in tranthe2020.FUNCTIONS for d in (20, 50, 100)}
    literal |= {f"{f}-20-literal" for f in tranthe2020.OTHER_FORMS}
    assert literal <= names
    inside = {f"{f}-20-inside" for f in tranthe2020.FUNCTIONS}
    assert inside <= names
    assert len(names) == 35 + len(literal) + len(inside)


@pytest.mark.parametrize("scenario", FIGURE, ids=lambda s: s.id)
def test_the_papers_settings(scenario):
    assert (scenario.horizon, scenario.initial, scenario.initial_counts) == (200, 20, True)
    assert [e.label for e in scenario.agents] == [
        *("ms-ucb", "gp-ucb", "dropout-ucb", "line-bo", "sre", "rembo", "hesbo")
    ]
    assert {e.settings.get("d", 5) for e in scenario.agents} == {5}
    assert {str(e.settings["learn"]) for e in scenario.agents} == {"{'every': 20}"}
    assert all(e.settings["standardize"] for e in scenario.agents)
    assert scenario.panels[0].band == "deviation"


@pytest.mark.parametrize("scenario", ALL, ids=lambda s: s.id)
def test_findings_speak_of_agents_that_can_run(scenario):
    labels = {e.label for e in scenario.agents}
    assert scenario.findings
    assert all(set(f.labels) <= labels for f in scenario.findings)
    resolved(scenario)


@pytest.mark.parametrize("name", ["camelback-20", "schwefel-20-shifted"])
def test_a_figure_runs_from_end_to_end(run, name):
    outcome = run("a.sqlite", small(name))
    with Store.open(outcome.path) as store:
        found = report(store)
    assert not found.failures
    (cell,) = found.cells
    assert len(cell.agents) == 7
    assert [c.holds is None for c in cell.findings] == [False, False]


def test_every_agent_begins_where_it_searches():
    scenario = get("tranthe2020/levy-20-inside")
    assert (scenario.horizon, scenario.initial) == (220, 0)
    env = make_env(scenario.env, scenario.env_kwargs, 220)
    for entry in scenario.agents:
        env.reset(seed=0)
        agent = agents.make(entry.agent, env, seed=0, **entry.settings)
        points = []
        for _ in range(21):
            points.append(agent.ask()[0])
            observation, *_ = env.step(points[-1][None])
            agent.tell(points[-1][None], observation["rewards"])
        first = np.array(points[:20])
        # The dimension of what the first points span, from their center.
        rank = np.linalg.matrix_rank(first - first.mean(axis=0), tol=1e-6)
        inside = len(set(agent.action_map.embedding.hash)) if entry.label == "hesbo" else 19
        assert rank == inside, entry.label


def test_subspaces_and_dimension_run(run):
    for name in ("subspaces", "dimension"):
        outcome = run(f"{name}.sqlite", small(name))
        with Store.open(outcome.path) as store:
            found = report(store)
        assert not found.failures
        assert len(found.cells) == 2


@pytest.fixture
def spent(monkeypatch):
    """A counter of the points at which an acquisition is evaluated."""
    counts = {"points": 0}

    def counted(cls, name, size):
        plain = getattr(cls, name)

        def count(self, *args, **kwargs):
            counts["points"] += size(args)
            return plain(self, *args, **kwargs)

        monkeypatch.setattr(cls, name, count)

    for cls in (BoxPosterior, Subspaces):
        counted(cls, "gradients", lambda args: len(args[0]))
        counted(cls, "moments", lambda args: len(args[0]))
    held = agents.search.candidates.HeldCandidates
    counted(held, "__init__", lambda args: len(args[0]))
    return counts


@pytest.mark.parametrize("entry", tranthe2020.SEVEN, ids=lambda e: e.label)
def test_no_agent_has_more_than_the_budget(spent, entry):
    scenario = get("tranthe2020/ackley-20")
    env = make_env(scenario.env, scenario.env_kwargs, 40)
    env.reset(seed=0)
    agent = agents.make(entry.agent, env, seed=0, **entry.settings)
    rng = np.random.default_rng(0)
    points = agent.problem.domain.sample(rng, 20)
    agent.prior_data(points, rng.standard_normal(20))
    rounds = []
    for _ in range(6):
        spent["points"] = 0
        agent.ask()
        rounds.append(spent["points"])
        agent.tell(agent.problem.domain.sample(rng, 1), rng.standard_normal(1))
    # Climbs that have arrived stop early, so that the budget is a limit and not what is spent.
    assert max(rounds) <= BUDGET
    assert min(rounds) > 0
