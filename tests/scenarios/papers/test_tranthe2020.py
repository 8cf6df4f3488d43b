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
FIGURE = [s for s in ALL if "HighDim" in s.env and "grid" not in s.id and not s.grid]
SEVEN = ("ms-ucb", "gp-ucb", "dropout-ucb", "line-bo", "sre", "rembo", "hesbo")
STARTS = 200


def small(name, trials=2, horizon=2, **changes):
    return replace(get(f"tranthe2020/{name}"), trials=trials, horizon=horizon, **changes)


def test_the_figures_are_all_there():
    names = {s.id.partition("/")[2] for s in ALL}
    panels = {f"{f}-{dim}" for f in (*tranthe2020.FUNCTIONS, "schwefel") for dim in (20, 50, 100)}
    readings = {f"{f}-100@shifted" for f in tranthe2020.FUNCTIONS[:3]} | {"camelback-20@ard"}
    tasks = {"network-100", "network-500", "ramp-loss"}
    assert names == panels | readings | tasks | {"subspaces", "dimension"}


@pytest.mark.parametrize("scenario", FIGURE, ids=lambda s: s.id)
def test_the_papers_settings(scenario):
    dim, entries = scenario.env_kwargs["dim"], {e.label: e.settings for e in scenario.agents}
    assert list(entries) == [*SEVEN, "random"]
    assert (scenario.horizon, scenario.trials) == (220, 10)
    assert entries.pop("random") == {}
    assert {s.get("d", 5) for s in entries.values()} == {5}
    assert {s["learn"]["every"] for s in entries.values()} == {1}
    assert entries["ms-ucb"]["refine"] == 10 * dim
    assert entries["ms-ucb"]["random_starts"]
    for label in ("gp-ucb", "dropout-ucb", "line-bo", "sre"):
        search = entries[label]["search"]
        assert search["starts"] == search["candidates"] == 10 * dim
        assert not search["near_best"]
        assert entries[label]["beta"]["scale"] == 1.0
    for label in ("rembo", "hesbo"):
        assert entries[label]["acquisition"] == "ei"
        assert entries[label]["search"] == {"starts": 0, "candidates": 2000, "near_best": False}


@pytest.mark.parametrize("scenario", ALL, ids=lambda s: s.id)
def test_every_scenario_can_run(scenario):
    resolved(scenario)


@pytest.mark.parametrize(
    "name",
    ["camelback-20", pytest.param("camelback-20@ard", marks=pytest.mark.slow), "levy-100@shifted"],
)
def test_a_figure_runs_from_end_to_end(run, name):
    outcome = run("a.sqlite", small(name, horizon=22))
    with Store.open(outcome.path) as store:
        found = report(store)
    assert not found.failures
    (cell,) = found.cells
    assert len(cell.agents) == 8


def test_every_agent_begins_where_it_searches():
    scenario = get("tranthe2020/levy-20")
    env = make_env(scenario.env, scenario.env_kwargs, 220)
    for entry in scenario.agents[:-1]:
        env.reset(seed=0)
        agent = agents.make(entry.agent, env, seed=0, **entry.settings)
        points = []
        for _ in range(20):
            points.append(agent.ask()[0])
            observation, *_ = env.step(points[-1][None])
            agent.tell(points[-1][None], observation["rewards"])
        first = np.array(points)
        # The dimension of what the first points span, from their center.
        rank = np.linalg.matrix_rank(first - first.mean(axis=0), tol=1e-6)
        inside = len(set(agent.action_map.embedding.hash)) if entry.label == "hesbo" else 19
        assert rank == inside, entry.label


def test_subspaces_and_dimension_run(run):
    for name in ("subspaces", "dimension"):
        outcome = run(f"{name}.sqlite", small(name, trials=1, horizon=21))
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


@pytest.mark.parametrize("entry", get("tranthe2020/ackley-20").agents[:7], ids=lambda e: e.label)
def test_the_starts_of_a_round_are_a_total(spent, entry):
    """10 D starts, of 20 evaluations on average, for every subspace or small box together."""
    scenario = get("tranthe2020/ackley-20")
    env = make_env(scenario.env, scenario.env_kwargs, 40)
    env.reset(seed=0)
    settings = {k: v for k, v in entry.settings.items() if k != "batch"}
    agent = agents.make(entry.agent, env, seed=0, **settings)
    rng = np.random.default_rng(0)
    points = agent.problem.domain.sample(rng, 20)
    agent.prior_data(points, rng.standard_normal(20))
    code = entry.label in ("rembo", "hesbo")
    for _ in range(4):
        spent["points"] = 0
        agent.ask()
        assert spent["points"] == 2000 if code else STARTS < spent["points"] <= 21 * STARTS
        agent.tell(agent.problem.domain.sample(rng, 1), rng.standard_normal(1))
