"""Other people's optimisers behave as our agents do; with the real libraries."""

import copy
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign
from gpbandits_env.agents.registry import adapter_names
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, MissingExtra, UnknownName
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.problem import Problem

DOMAINS = {
    "grid": Arms.grid((4, 5)),
    "arms": Arms(np.random.default_rng(0).uniform(size=(12, 3))),
    "box": Box([-1.0, 0.0], [1.0, 3.0]),
}
QUICK = {
    "botorch": {"candidates": 16, "starts": 1, "samples": 16},
    "optuna": {},
}


@pytest.fixture(scope="module", params=adapter_names())
def name(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture(scope="module", params=[("grid", 1), ("arms", 3), ("box", 2)], ids=lambda p: p[0])
def problem(request):
    domain, m = request.param
    return Problem(DOMAINS[domain], SquaredExponential(0.5), 0.01, m, prior_mean=0.2)


@pytest.fixture(scope="module")
def run(name, problem):
    """The actions of four rounds, the snapshot after two, and the agent at the end."""
    agent = build(name, problem)
    first = play(agent, 2)
    state = pickle.dumps(agent.snapshot())
    return np.concatenate([first, play(agent, 2)]), state, pickle.dumps(agent)


def truth(actions):
    values = np.asarray(actions, float).reshape(len(actions), -1)
    return np.sin(values.sum(axis=1))


def play(agent, rounds):
    played = []
    for _ in range(rounds):
        played.append(agent.ask())
        agent.tell(played[-1], truth(played[-1]))
    return np.array(played)


def build(name, problem, seed=3):
    return agents.make(name, problem, seed=seed, **QUICK[name])


def same(one, other):
    return pickle.dumps(one) == pickle.dumps(other)


def test_actions_fit_the_seed_matters_and_a_reset_agent_is_as_new(name, problem, run):
    played, _, last = run
    assert all(actions in problem.domain.action_space(problem.batch_size) for actions in played)
    assert not np.array_equal(played, play(build(name, problem, 4), 4))
    one, fresh = pickle.loads(last), build(name, problem)
    one.reset()
    fresh.rng.bit_generator.state = one.rng.bit_generator.state
    assert np.array_equal(play(one, 2), play(fresh, 2))


def test_a_snapshot_goes_on_as_if_never_stopped(name, problem, run):
    played, pickled, _ = run
    state, other = pickle.loads(pickled), build(name, problem, 9)
    other.restore(state)
    assert np.array_equal(play(other, 2), played[2:])
    before = pickle.dumps(other.snapshot())
    data = state["data"]
    fewer, none = {**data, "rewards": data["rewards"][:-1]}, {**data, "points": None}
    for wrong in ({}, {**state, "data": fewer}, {**state, "data": none}):
        with pytest.raises(InvalidInput):
            other.restore(wrong)
        assert pickle.dumps(other.snapshot()) == before


def test_bad_input_is_refused_and_what_was_not_observed_teaches_nothing(name, problem):
    one, other = build(name, problem), build(name, problem)
    actions = one.ask()
    other.ask()
    for wrong in ([np.nan] * len(actions), [0.5] * (len(actions) + 1), [np.inf] * len(actions)):
        before = one.snapshot()
        with pytest.raises(InvalidInput):
            one.tell(actions, wrong)
        assert same(one.snapshot(), before)
    observed = np.arange(len(actions)) > 0
    one.tell(actions, np.where(observed, 0.5, np.nan), observed=observed)
    if observed.any():
        other.tell(actions[observed], [0.5] * observed.sum())
        assert np.array_equal(one.ask(), other.ask())
    assert one.round == 1


def test_asks_teach_nothing_and_prior_data_count_no_round(name, problem):
    agent, twin = build(name, problem), build(name, problem)
    points = problem.domain.sample(np.random.default_rng(5), 6)
    for each in (agent, twin):
        each.prior_data(points, truth(points))
        assert each.round == 0
    before = agent.snapshot()
    asked = [agent.ask() for _ in range(2)]
    after = agent.snapshot()
    assert same({**after, "rng": None}, {**before, "rng": None})
    assert np.array_equal(asked[0], twin.ask())
    assert np.array_equal(asked[1], twin.ask())
    for each in (agent, twin):  # several asks before a tell, and in another order
        each.tell(asked[1], truth(asked[1]))
        each.tell(asked[0], truth(asked[0]))
    assert np.array_equal(agent.ask(), copy.deepcopy(twin).ask())


def test_actions_out_of_the_domain_are_refused(name, problem):
    agent = build(name, problem)
    m = problem.batch_size
    arms = isinstance(problem.domain, Arms)
    wrong = np.full(m, problem.domain.size) if arms else np.full((m, 2), 99.0)
    before = agent.snapshot()
    with pytest.raises(InvalidInput):
        agent.tell(wrong, np.zeros(m))
    assert same(agent.snapshot(), before)


def test_a_campaign_says_what_it_needs(name):
    with pytest.raises(InvalidInput, match="posterior"):
        Campaign({"x": (0.0, 1.0)}, name)


def test_it_is_better_than_chance(name):
    regret = {}
    for agent_name in (name, "random"):
        finals = []
        for seed in range(2):
            env = gym.make("gpbandits/StaticGP-v0", grid=(12, 12))
            settings = QUICK.get(agent_name, {})
            agent = agents.make(agent_name, env, seed=seed, **settings)
            env.reset(seed=seed)
            for _ in range(20):
                actions = agent.ask()
                observation, _, _, _, info = env.step(actions)
                agent.tell(actions, observation["rewards"])
            finals.append(info["cumulative_regret"])
        regret[agent_name] = np.mean(finals)
    assert regret[name] < 0.8 * regret["random"]


@pytest.mark.parametrize("kernel", [SquaredExponential(0.4, 2.0), Matern52((0.3, 1.0), 1.5)])
def test_the_posterior_of_botorch_is_ours(kernel):
    """The same model of the same data."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("botorch")
    problem = Problem(DOMAINS["box"], kernel, 0.05, prior_mean=0.7)
    other, ours = agents.make("botorch", problem, seed=0), agents.make("ei", problem, seed=0)
    points = problem.domain.sample(np.random.default_rng(0), 9)
    at = problem.domain.sample(np.random.default_rng(1), 30)
    for agent in (other, ours):
        agent.tell(points, truth(points))
    with torch.no_grad():
        belief = other._model().posterior(torch.tensor(at))
    mean, sd = belief.mean.numpy()[:, 0], belief.variance.sqrt().numpy()[:, 0]
    assert mean == pytest.approx(ours.belief(at)[0], abs=1e-5)
    assert sd == pytest.approx(ours.belief(at)[1], abs=1e-5)


def test_kernels_and_words_it_does_not_know_are_refused(problem):
    pytest.importorskip("botorch")
    with pytest.raises(InvalidInput, match="matern52"):
        agents.make("botorch", problem, kernel={"type": "linear"})
    with pytest.raises(UnknownName, match="qlogei"):
        agents.make("botorch", problem, acquisition="qlogeii")
    pytest.importorskip("optuna")
    with pytest.raises(UnknownName, match="TPESampler"):
        agents.make("optuna", problem, sampler="TPESample")
    with pytest.raises(InvalidInput, match="does not take"):
        agents.make("optuna", problem, options={"colour": 1})


def test_adapters_play_on_after_any_reward_that_they_took(name, problem):
    agent = build(name, problem)
    agent.tell(agent.ask(), [0.1 * i for i in range(problem.batch_size)])
    for size in (1e100, -1e100) if name == "botorch" else (1e100, 1e150, -1e150):
        agent.tell(agent.ask(), np.full(problem.batch_size, size))
        assert np.isfinite(agent.ask()).all()
    if name == "botorch":
        with pytest.raises(InvalidInput, match=r"1e\+100 in size for BoTorch, got 2e\+100"):
            agent.tell(agent.ask(), np.full(problem.batch_size, -2e100))
        assert agent.round == 3
        assert len(agent.snapshot()["data"]["rewards"]) == 3 * problem.batch_size


STATEFUL = ("CmaEsSampler", "NSGAIISampler", "QMCSampler", "GridSampler", "PartialFixedSampler")


@pytest.mark.parametrize("sampler", STATEFUL)
def test_samplers_of_optuna_that_would_not_be_themselves_are_refused(problem, sampler):
    pytest.importorskip("optuna")
    with pytest.raises(UnknownName, match=rf"state of its own named '{sampler}'.* TPESampler"):
        agents.make("optuna", problem, sampler=sampler)


def test_what_a_sampler_of_optuna_cannot_do_is_refused_when_it_is_made(monkeypatch):
    pytest.importorskip("optuna")
    inside = Problem(DOMAINS["box"], SquaredExponential(0.5), 0.01)
    with pytest.raises(InvalidInput, match="needs arms"):
        agents.make("optuna", inside, sampler="BruteForceSampler")
    with pytest.raises(InvalidInput, match="no constraints"):
        agents.make("optuna", inside, options={"constraints_func": len})
    for name in ("TreeSampler", "nsgaii", None):
        with pytest.raises(UnknownName, match="TPESampler"):
            agents.make("optuna", inside, sampler=name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="torch"):
        agents.make("optuna", inside, sampler="GPSampler")


@pytest.mark.parametrize("sampler", ["TPESampler", "GPSampler", "RandomSampler"])
def test_a_sampler_of_optuna_suggests_what_it_would_in_a_study_that_was_played(sampler):
    optuna = pytest.importorskip("optuna")
    if sampler == "GPSampler":
        pytest.importorskip("torch")
    problem = Problem(DOMAINS["box"], SquaredExponential(0.5), 0.01)
    agent = agents.make("optuna", problem, seed=3, sampler=sampler)
    played = play(agent, 14)[:, 0]
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    axes = {
        f"x{i}": optuna.distributions.FloatDistribution(low, high)
        for i, (low, high) in enumerate([(-1.0, 1.0), (0.0, 3.0)])
    }
    study = optuna.create_study(
        direction="maximize", sampler=getattr(optuna.samplers, sampler)(seed=0)
    )
    for point in played:
        study.enqueue_trial({"x0": point[0], "x1": point[1]})
        study.tell(study.ask(axes), truth(point[None])[0])
    study.sampler = getattr(optuna.samplers, sampler)(seed=99)
    expected = list(study.ask(axes).params.values())
    assert agent.choose(99)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("case", adapter_names())
def test_without_the_library_the_error_names_the_extra(case, monkeypatch):
    monkeypatch.setitem(sys.modules, case, None)
    problem = Problem(DOMAINS["grid"], SquaredExponential(0.5), 0.01)
    with pytest.raises(MissingExtra, match=rf"gpbandits-env\[{case}\]"):
        agents.make(case, problem)


def test_the_seed_decides_everything_also_in_two_threads(name, problem, run, short_turns):
    """Also those whose library has one generator, or one warning filter, for the whole process."""

    def played(seed):
        return play(build(name, problem, seed), 3)

    alone, filters = played(4), list(warnings.filters)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(played, (3, 4))
    assert np.array_equal(one, run[0][:3])
    assert np.array_equal(other, alone)
    assert list(warnings.filters) == filters
