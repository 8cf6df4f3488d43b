"""One property times every registered agent."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.agents.registry import OVERRIDES, agent_class
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.kernels import Matern52, SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child

# Settings to try an agent with, beside its defaults; a new agent is tried with its defaults.
VARIANTS = {
    "gp-ucb": [{"beta": {"type": "rkhs", "norm_bound": 1.0, "scale": 1e-3}, "back": "rows"}],
    "ei": [{"incumbent": "observed"}, {"epsilon": 0.1}],
    "mpi": [{"reset_every": 4}],
    "ts": [{"window": 3}, {"epsilon": 0.1}, {"qbar": 3.0}],
    "r-gp-ucb": [{"reset_every": 3}],
    "sw-gp-ucb": [{"window": 3}],
    "tv-gp-ucb": [{"learn_every": 4, "learn_window": 6}],
    "cub": [
        {"compress": 0.5},
        {"compress": {"type": "horizon", "alpha": 0.5, "horizon": 50}, "epsilon": 0.1},
    ],
    "cei": [{"compress": 0.5, "window": 3}],
    "cmpi": [{"compress": 0.5, "reset_every": 4}],
    "bkb-ucb": [{"qbar": 0.5}],
    "bkb-ei": [{"compress": 0.5, "window": 3}],
    "bkb-mpi": [{"qbar": 1.5, "reset_every": 4}],
    "ms-ucb": [
        {"d": 1, "n0": 3, "alpha": 1.0, "learn": True, "acquisition": "ei"},
        {"d": 0, "n0": 5, "reset_every": 4},
        {"d": 1, "epsilon": 0.1, "acquisition": "ts"},
    ],
    "dropout-ucb": [
        {"d": 1, "fill": "copy", "learn": {"every": 3}, "standardise": True},
        {"d": 1, "fill": "random", "window": 3},
    ],
    "line-bo": [
        {"directions": "ascent", "rounds_per_line": 2, "learn": ["noise_var"]},
        {"directions": "coordinate", "epsilon": 0.1, "acquisition": "mpi"},
    ],
    "rembo": [{"d": 1, "acquisition": "ei"}, {"d": 2, "kernel_on": "x", "learn": True}],
    "hesbo": [{"d": 1, "epsilon": 0.1}, {"d": 2, "standardise": True}],
    "sre": [{"d": 1, "stages": 3, "rounds": 3, "learn": {"every": 2}}],
}
CASES = [(name, given) for name in agents.names() for given in [{}, *VARIANTS.get(name, [])]]
DOMAINS = {
    "grid": Arms.grid((4, 5)),
    "arms": Arms(np.random.default_rng(0).uniform(size=(12, 3))),
    "box": Box([-1.0, 0.0], [1.0, 3.0]),
}
# Those who draw their actions: asked twice, they answer differently.
DRAWING = {"ts", "random", "rexp3"}
# Those whose search of a box draws: their actions may differ, what they believe may not.
DRAWING_IN_BOXES = {"line-bo", "rembo", "hesbo", "sre", "ms-ucb"}
# Those that say so when they are given a box, and when they are given arms.
ARMS_ONLY = {"genie"}
BOX_ONLY = {"ms-ucb", "dropout-ucb", "line-bo", "rembo", "hesbo", "sre"}
ROUNDS = 11

# One environment of each id, on finitely many arms and, where there is one, in a box.
READINGS = (np.random.default_rng(0).normal(size=(30, 6)) + np.arange(6)).tolist()
WORLDS = {
    "gpbandits/StaticGP-v0": [{"grid": [6, 5]}, {"box": [[0.0], [1.0]], "features": 64}],
    "gpbandits/MarkovGP-v0": [{"grid": [6, 5]}, {"box": [[0.0], [1.0]], "features": 64}],
    "gpbandits/Drifting-v0": [{"grid": [6]}, {"function": "ackley", "dim": 3}],
    "gpbandits/Table-v0": [{"readings": READINGS}],
    "gpbandits/Replay-v0": [{"readings": READINGS}],
    "gpbandits/Task-v0": [{"task": "ackley", "grid": 6}, {"task": "camelback"}],
}
IDS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))
ENVS = [(name, kwargs) for name in IDS for kwargs in WORLDS.get(name, [{}])]


def label(value):
    name, given = value
    return "-".join([name.split("/")[-1], *(k for k in given if k != "readings")])


def problem_on(domain, batch_size=1):
    return Problem(
        DOMAINS[domain],
        SquaredExponential(0.3),
        0.05,
        batch_size=batch_size,
        horizon=50,
        prior_mean=0.2,
        epsilon=0.05,
    )


def quick(case):
    """Settings with which an agent for boxes searches little."""
    name, given = case
    if name == "ms-ucb" and "d" in given:
        return {"candidates": 16, "refine": 2, "evaluations": 40}
    if name not in BOX_ONLY:
        return {}
    return {"search": {"candidates": 32, "starts": 2, "evaluations": 40}}


def build(case, problem, seed=3, **more):
    """The agent of a case; those for arms alone are not tried in a box."""
    name, given = case
    box = isinstance(problem.domain, Box)
    if box and name in ARMS_ONLY:
        with pytest.raises(InvalidInput, match="arms"):
            agents.make(name, problem, **given)
        pytest.skip(f"{name} plays arms")
    if not box and name in BOX_ONLY:
        with pytest.raises(InvalidInput, match="box"):
            agents.make(name, problem, **given)
        pytest.skip(f"{name} plays in a box")
    candidates = {"candidates": 16} if box and "candidates" in agents.settings_of(name) else {}
    if name in BOX_ONLY:
        candidates = quick(case)
    return agents.make(name, problem, seed=seed, **given, **candidates, **more)


def truth(actions, t):
    """A function that moves, at arms or points."""
    values = np.asarray(actions, float).reshape(len(actions), -1)
    return np.sin(values.sum(axis=1) + 0.1 * t)


def teach(agent, actions, rewards):
    """One round's rewards; the genie is shown the function too."""
    agent.tell(actions, rewards)
    if hasattr(agent, "reveal"):
        agent.reveal(truth(np.arange(agent.problem.domain.size), agent.round))


def play(agent, rounds=ROUNDS):
    played = []
    for _ in range(rounds):
        actions = agent.ask()
        teach(agent, actions, truth(actions, agent.round))
        played.append(actions)
    return np.array(played)


def same(a, b):
    """Equal to the bit, whatever is nested in what."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return a == b


def beliefs_agree(one, other):
    return same(one.belief(), other.belief())


@pytest.fixture(params=CASES, ids=label)
def case(request):
    return request.param


@pytest.fixture(params=DOMAINS)
def domain(request):
    return request.param


@pytest.fixture(params=[1, 4])
def problem(request, domain):
    return problem_on(domain, request.param)


def test_actions_are_fit_for_the_environment(case, problem):
    agent = build(case, problem)
    space = problem.domain.action_space(problem.batch_size)
    for actions in play(agent):
        assert actions in space
    fresh = agent.ask()
    fresh[:] = 0
    assert agent.ask() in space


def test_the_seed_decides_everything(case, problem):
    one, other = (build(case, problem) for _ in range(2))
    assert np.array_equal(play(one, 5), play(other, 5))
    assert same(one.snapshot(), other.snapshot())


@pytest.mark.parametrize("name", sorted(DRAWING & set(agents.names())))
def test_another_seed_draws_other_actions(name):
    problem = problem_on("arms", 4)
    assert len({play(build((name, {}), problem, seed=seed)).tobytes() for seed in range(4)}) == 4


def test_restoring_a_snapshot_is_as_good_as_never_stopping(case, problem):
    agent = build(case, problem)
    play(agent, 6)
    state = pickle.loads(pickle.dumps(agent.snapshot()))
    ahead = play(agent)
    agent.restore(state)
    assert same(agent.snapshot(), state)
    assert np.array_equal(play(agent), ahead)
    other = build(case, problem)
    play(other, 2)  # what it did before must leave no trace
    other.restore(state)
    assert same(other.snapshot(), state)
    assert np.array_equal(play(other), ahead)
    assert same(other.snapshot(), agent.snapshot())
    assert beliefs_agree(other, agent)


def test_a_snapshot_is_a_copy(case, problem):
    agent = build(case, problem)
    play(agent, 3)
    state = agent.snapshot()
    before = pickle.loads(pickle.dumps(state))
    play(agent, 4)
    assert same(state, before)
    agent.restore(state)
    play(agent, 4)
    assert same(state, before)


def test_pickling_in_mid_run(case, problem):
    agent = build(case, problem)
    play(agent, 5)
    twin = pickle.loads(pickle.dumps(agent))
    assert same(twin.snapshot(), agent.snapshot())
    assert np.array_equal(play(twin), play(agent))
    assert beliefs_agree(twin, agent)


def test_asking_teaches_nothing(case, problem):
    agent = build(case, problem)
    for rounds in (0, 1, 4):
        play(agent, rounds)
        before, belief = agent.snapshot(), agent.belief()
        first, second = agent.ask(), agent.ask()
        after = agent.snapshot()
        drawing = case[0] in DRAWING | DRAWING_IN_BOXES
        if not drawing and not (case[0] == "genie" and rounds == 0):
            assert np.array_equal(first, second)
            assert same(after["rng"], before["rng"])
        assert same({**after, "rng": None}, {**before, "rng": None})
        assert same(agent.belief(), belief)


def test_reset_returns_to_the_prior(case, problem):
    agent = build(case, problem)
    prior = agent.snapshot()
    belief = agent.belief()
    play(agent)
    agent.reset()
    after = agent.snapshot()
    assert same({**after, "rng": None}, {**prior, "rng": None})
    assert same(agent.belief(), belief)
    fresh = build(case, problem)
    fresh.rng.bit_generator.state = after["rng"]
    assert np.array_equal(play(agent), play(fresh))


def test_what_was_not_observed_teaches_nothing(case, domain):
    """But the round counts; and what is informative can be asked for without a trace."""
    problem = problem_on(domain, 4)
    one, other = (build(case, problem) for _ in range(2))
    nothing = np.zeros(4, bool)
    for t in range(ROUNDS):
        actions = one.ask()
        assert np.array_equal(other.ask(), actions)
        before = one.snapshot()
        wanted = one.informative(actions)
        assert (wanted.shape, wanted.dtype) == ((4,), np.bool_)
        assert same(one.snapshot(), before)
        observed = np.arange(4) != t % 4
        rewards = truth(actions, t)
        other.tell(actions[observed], rewards[observed])
        one.tell(actions, np.where(observed, rewards, np.nan), observed=observed)
        for agent in (one, other):
            if hasattr(agent, "reveal"):
                agent.reveal(truth(np.arange(problem.domain.size), agent.round))
        assert same(one.snapshot(), other.snapshot())
    one.tell(actions, np.full(4, np.nan), observed=nothing)
    assert one.round == ROUNDS + 1
    with pytest.raises(InvalidInput):
        one.informative([[9.9, 9.9]] if domain == "box" else [99])


def test_the_belief_is_one_of_means_and_deviations(case, problem):
    agent = build(case, problem)
    play(agent)
    belief = agent.belief()
    if belief is None:
        assert not isinstance(agent, agents.GPAgent)
        return
    for part in belief:
        assert part.shape == (agent.posterior.arms.size,)
        assert np.isfinite(part).all()
    assert (belief[1] >= 0).all()


class Mistakes:
    """Strategies of (actions, rewards) that no agent may accept."""

    numbers = st.floats(-3, 3)

    def __init__(self, agent):
        self.agent, self.domain = agent, agent.problem.domain
        self.is_box = isinstance(self.domain, Box)
        self.pool = np.concatenate([agent.ask() for _ in range(5)]).tolist()

    def _good(self, k):
        return self.pool[:k]

    def all(self):
        kinds = [self.no_data(), self.rewards(), self.lengths(), self.actions(), self.nonsense()]
        return st.one_of(kinds)

    def no_data(self):
        return st.sampled_from([([], []), (np.array([], int), np.array([])), ([[]], [])])

    def rewards(self):
        wrong = st.sampled_from([np.nan, np.inf, -np.inf, "much", None, [1.0, 2.0]])
        return st.integers(1, 5).flatmap(
            lambda k: st.tuples(
                st.just(self._good(k)),
                st.tuples(st.lists(self.numbers, min_size=k, max_size=k), wrong).map(
                    lambda pair: [*pair[0][:-1], pair[1]]
                ),
            )
        )

    def lengths(self):
        counts = st.tuples(st.integers(1, 5), st.integers(0, 6)).filter(lambda p: p[0] != p[1])
        shapes = counts.map(lambda p: (self._good(p[0]), [0.5] * p[1]))
        deeper = st.integers(1, 4).map(lambda k: (self._good(k), [[0.5]] * k))
        flat = st.just((self._good(1), 0.5))
        return st.one_of(shapes, deeper, flat)

    def actions(self):
        if self.is_box:
            outside = st.sampled_from([[-1.1, 0.5], [0.0, 3.1], [np.nan, 1.0], [0.0, np.inf]])
            shapes = st.sampled_from([[0.0], [0.0, 1.0, 2.0], 0.5, [[0.0, 1.0]]])
            # A point of the box that is none of the candidates, for those who have candidates.
            stray = st.just([0.123456789, 1.5]) if self.agent.belief() else st.nothing()
            one = st.one_of(outside, shapes, stray)
        else:
            n = self.domain.size
            one = st.one_of(
                st.integers(max_value=-1),
                st.integers(min_value=n),
                st.floats(),
                st.sampled_from([True, "arm", None, [0], [0, 1], 1j]),
            )
        position = st.integers(0, 2)
        return (
            st.tuples(one, position)
            .map(lambda pair: ([*self._good(pair[1]), pair[0]], [0.5] * (pair[1] + 1)))
            .filter(self._wrong)
        )

    def _wrong(self, pair):
        # Among whole numbers NumPy reads True as 1, which is an arm.
        return not (len(pair[0]) > 1 and pair[0][-1] is True)

    def nonsense(self):
        return st.sampled_from(
            [
                (None, None),
                ("ab", [1.0]),
                ({}, {}),
                (self._good(1), None),
                (None, [1.0]),
                (3, [1.0]),
                ([self._good(1)[0], [0, [1]]], [0.5, 0.5]),
                (self._good(1), [10**400]),
                (self._good(1), np.array([1.0 + 1.0j])),
                (self._good(1), ["1.0"]),
                (self._good(2), [[1.0, 2.0], [1.0]]),
            ]
        )


@pytest.mark.parametrize("domain", ["grid", "box"])
def test_bad_input_is_refused_and_changes_nothing(case, domain):
    agent = build(case, problem_on(domain, 2))
    play(agent, 7)
    mistakes = Mistakes(agent)

    @settings(max_examples=25, deadline=None, database=None, derandomize=True)
    @given(mistakes.all())
    def refuse(pair):
        before = agent.snapshot()
        with pytest.raises(InvalidInput):
            agent.tell(*pair)
        assert same(agent.snapshot(), before)

    refuse()
    other = build(case, problem_on(domain, 2))
    play(other, 7)
    other.restore(agent.snapshot())
    assert np.array_equal(play(agent), play(other))


def test_a_restore_that_fails_changes_nothing(case, domain):
    agent = build(case, problem_on(domain, 2))
    play(agent, 5)
    before = agent.snapshot()
    wrong = [{}, None, {**before, "more": 1}, {**before, "rng": 3}, {**before, "round": "first"}]
    wrong += [{k: v for k, v in before.items() if k != key} for key in before]
    wrong += [{**before, key: object()} for key in before]
    for state in wrong:
        with pytest.raises(InvalidInput):
            agent.restore(state)
        assert same(agent.snapshot(), before)
    other = build(case, problem_on(domain, 2))
    other.restore(before)
    assert np.array_equal(play(agent), play(other))


@pytest.mark.parametrize("world", ENVS, ids=label)
def test_plays_every_environment(case, world):
    name, kwargs = world
    env = gym.make(name, **kwargs, batch_size=2)
    problem = env.unwrapped.problem
    more = {"tv-gp-ucb": {"epsilon": 0.05}, "r-gp-ucb": {"reset_every": 4}}.get(case[0], {})
    agent = build((case[0], {**more, **case[1]}), problem)
    env.reset(seed=1)
    for _ in range(8):
        actions = agent.ask()
        assert actions in env.action_space
        observation, _, _, _, info = env.step(actions)
        agent.tell(observation["actions"], observation["rewards"])
        if hasattr(agent, "reveal"):
            agent.reveal(env.unwrapped.function(np.arange(problem.domain.size)))
        assert np.isfinite(info["regret"]).all()


def by_hand(agent, seed, episodes, horizon, **kwargs):
    """The actions of an ask/tell loop in a world of its own, and the ask after the last round."""
    env = gym.make("gpbandits/StaticGP-v0", **kwargs)
    played = []
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        agent.reset()
        for _ in range(horizon):
            played.append(agent.ask())
            agent.tell(played[-1], env.step(played[-1])[0]["rewards"])
        played.append(agent.ask())
    return played


def policies(case):
    if case[0] == "genie":
        pytest.skip("the genie is shown the function, which no observation holds")
    more = {"tv-gp-ucb": {"epsilon": 0.05}, "r-gp-ucb": {"reset_every": 4}}.get(case[0], {})
    return case[0], {**more, **case[1], **quick(case)}


def world_of(name):
    return {"box": [[0, 0], [1, 1]], "features": 64} if name in BOX_ONLY else {"grid": [12]}


@pytest.mark.parametrize("batch_size", [1, 3])
def test_predicting_is_asking_and_telling(case, batch_size):
    name, given = policies(case)
    kwargs = {**world_of(name), "noise_var": 0.05, "batch_size": batch_size}
    env = gym.make("gpbandits/StaticGP-v0", max_episode_steps=6, **kwargs)
    expected = by_hand(agents.make(name, env, seed=5, **given), 1, 2, 6, **kwargs)
    agent = agents.make(name, env, seed=5, **given)
    played = []
    for episode in range(2):
        observation, _ = env.reset(seed=1 if episode == 0 else None)
        done = False
        while not done:
            played.append(agent.predict(observation)[0])
            observation, _, _, done, _ = env.step(played[-1])
        played.append(agent.predict(observation)[0])
    assert np.array_equal(played, expected)


def test_predicting_for_many_worlds_is_asking_and_telling_in_each(case):
    name, given = policies(case)
    if name in BOX_ONLY:
        pytest.skip("all worlds share what such an agent draws when it is made")
    kwargs = {**world_of(name), "noise_var": 0.05, "batch_size": 2}
    envs = gym.make_vec("gpbandits/StaticGP-v0", 3, max_episode_steps=6, **kwargs)
    agent = agents.make(name, envs, seed=5, **given)
    observation, _ = envs.reset(seed=10)
    played = []
    for _ in range(14):  # at the end of an episode the action is not played: the worlds reset
        played.append(agent.predict(observation)[0])
        assert played[-1] in envs.action_space
        observation = envs.step(played[-1])[0]
    first = agents.make(name, envs, seed=5, **given)
    alone = [first, *(agents.make(name, envs, seed=child(first.rng), **given) for _ in range(2))]
    for i, single in enumerate(alone):
        expected = by_hand(single, 10 + i, 2, 6, **kwargs)
        assert np.array_equal([actions[i] for actions in played], expected)


def test_settings_of_are_the_ones_that_make_takes(case):
    name, given = case
    listed = agents.settings_of(name)
    assert set(given) <= set(listed)
    defaults = {key: value for key, value in listed.items() if value is not None}
    problem = problem_on("box" if name in BOX_ONLY else "arms")
    plain, spelt = (agents.make(name, problem, seed=0, **kwargs) for kwargs in ({}, defaults))
    assert np.array_equal(play(plain), play(spelt))
    with pytest.raises(UnknownName, match=f"no setting of the agent '{name}'"):
        agents.make(name, problem, temperature=1.0)


def test_a_misspelt_setting_is_answered_with_the_nearest(case):
    name, _ = case
    for setting in [*agents.settings_of(name), *OVERRIDES]:
        with pytest.raises(UnknownName, match=f"did you mean.*'{setting}'"):
            agents.make(name, problem_on("arms"), **{setting + "x": 1})


def test_a_misspelt_name_is_answered_with_the_nearest(case):
    name, _ = case
    with pytest.raises(UnknownName, match=f"did you mean.*'{name}'"):
        agents.make(name + "x", problem_on("arms"))
    assert agent_class(name).__doc__


def test_overrides_replace_what_the_problem_says(case):
    name, given = case[0], {**case[1], **quick(case)}
    box = name in BOX_ONLY
    prior_mean = 0.7 if box else np.linspace(-1, 1, 20)
    problem = problem_on("box" if box else "grid")
    changes = {"noise_var": 0.5, "prior_mean": prior_mean, "batch_size": 3, "horizon": 9}
    spec = {"type": "matern52", "lengthscale": 0.7}
    agent = agents.make(name, problem, seed=2, **given, kernel=spec, **changes)
    told = problem.replaced(kernel=Matern52(0.7), **changes)
    assert agent.problem.kernel == Matern52(0.7)
    assert agent.problem.noise_var == 0.5
    assert agent.problem.domain is problem.domain
    other = agents.make(name, told, seed=2, **given)
    assert np.array_equal(play(agent), play(other))
    assert (problem.batch_size, problem.noise_var) == (1, 0.05)
    for wrong in ({"kernel": {"type": "s"}}, {"noise_var": -1.0}, {"prior_mean": [0.0, np.nan]}):
        with pytest.raises((InvalidInput, UnknownName)):
            agents.make(name, problem, **given, **wrong)
