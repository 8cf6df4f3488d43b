"""What `reset(options={...})` fixes or draws in one instance."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput, UnknownName

DRIFTING = {"id": "gpbandits/MarkovGP-v0", "grid": [12], "epsilon": 0.2, "noise_var": 0.5}


def draw(rng):
    lengthscale = float(rng.uniform(0.1, 0.5))
    return {"epsilon": rng.uniform(), "kernel": {"type": "se", "lengthscale": lengthscale}}


OPTIONS = [{"epsilon": 0.0}, {"noise_var": 0.0, "epsilon": 1.0}, {"draw": draw, "noise_var": 0.1}]


@pytest.fixture
def env():
    return gym.make(**DRIFTING)


def best(env, rounds=30):
    """The optimum of each round, which no action changes."""
    return [env.step([0])[-1]["optimum"] for _ in range(rounds)]


def test_a_parameter_is_fixed_for_one_episode(env):
    env.reset(seed=0)
    moving = best(env)
    _, info = env.reset(seed=0, options={"epsilon": 0.0})
    assert info == {"parameters": {"epsilon": 0.0}}
    still = best(env)
    assert set(still) == {moving[0]}  # the same function of round 1
    assert env.reset(seed=0)[1] == {}
    assert best(env) == moving


def test_a_refused_first_reset_leaves_the_environment_usable(env):
    with pytest.raises(UnknownName, match="did you mean 'epsilon'"):
        env.reset(options={"epsilonn": 0.1})
    env.reset(seed=0)
    assert env.step([0])[0]["round"] == [1]


def test_the_noise_is_that_of_the_instance(env):
    env.reset(seed=1, options={"noise_var": 0.0})
    observation, *_, info = env.step([3])
    assert observation["rewards"] == info["noiseless_rewards"]
    rewards, values = env.unwrapped.prior_data([1, 2, 3], np.random.default_rng(0))
    assert np.array_equal(rewards, values)
    for options, exact in ((None, False), ({"noise_var": 0.0}, True)):
        env.reset(seed=1, options=options)
        observation, *_, info = env.step([3])
        assert (observation["rewards"] == info["noiseless_rewards"]) == exact


def test_drawn_parameters_are_set_by_the_seed_and_are_new_in_each_episode(env):
    first = env.reset(seed=2, options={"draw": draw})[1]["parameters"]
    seen = best(env)
    assert env.reset(seed=2, options={"draw": draw})[1]["parameters"] == first
    assert best(env) == seen
    later = [env.reset(options={"draw": draw})[1]["parameters"]["epsilon"] for _ in range(5)]
    assert len({first["epsilon"], *later}) == 6
    check_env(env.unwrapped, skip_render_check=True)


def test_what_an_agent_may_know_stays_that_of_the_environment(env):
    env.reset(seed=0, options={"epsilon": 0.7, "noise_var": 0.1})
    problem = agents.make("tv-gp-ucb", env, seed=0).problem
    assert (problem.epsilon, problem.noise_var) == (0.2, 0.5)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epsilonn": 0.1}, "did you mean 'epsilon'"),
        ({"epsilon": 2.0}, "epsilon"),
        ({"epsilon": "fast"}, "epsilon must be a number"),
        ({"noise_var": 0.6}, "largest variances"),
        ({"kernel": {"type": "se", "lengthscale": 0.2, "variance": 4.0}}, "largest variances"),
        ({"grid": [13]}, "cannot change the actions"),
        ({"batch_size": 2}, "cannot change the actions"),
        ({"draw": 0.1}, "'draw' must be a function"),
        ({"draw": lambda rng: rng.random()}, "which returned"),
        ({"draw": lambda rng: {"draw": draw}}, "which returned"),
        ({"draw": lambda rng: {"epsilon": rng.random() + 1}}, "epsilon"),
        ([("epsilon", 0.1)], "must be a dict"),
    ],
)
@pytest.mark.parametrize("seed", [None, 5])
def test_what_does_not_fit_is_refused_and_nothing_changes(env, options, says, seed):
    many = gym.make_vec(num_envs=2, **DRIFTING)
    for each in (env.unwrapped, many.unwrapped):
        each.reset(seed=0, options={"epsilon": 0.5})
        each.step(each.action_space.sample())
        before = pickle.dumps(each)
        with pytest.raises((InvalidInput, UnknownName), match=says):
            each.reset(seed=seed, options=options)
        assert pickle.dumps(each) == before


CONTEXTS = {"id": "gpbandits/Contextual-v0", "grid": [4], "contexts": 3}
CLOCK = {"id": "gpbandits/Replay-v0", "contexts": {"clock": 12, "parts": 3}}


@pytest.mark.parametrize(
    ("made", "contexts"),
    [
        (CONTEXTS, 30),
        (CONTEXTS, {"box": [[0.0], [1.0]]}),
        (CONTEXTS, {"points": [[0.0], [0.3], [1.0]]}),
        (CLOCK, {"clock": 12, "parts": 12}),
    ],
)
@pytest.mark.parametrize("some", [False, True])
def test_the_set_of_contexts_cannot_change(made, contexts, some):
    one, many = gym.make(**made).unwrapped, gym.make_vec(num_envs=2, **made).unwrapped
    for each in (one, many):
        mask = {"reset_mask": np.array([True, False])} if some and each is many else {}
        each.reset(seed=0)
        before = pickle.dumps(each)
        with pytest.raises(InvalidInput, match="cannot change the set of contexts"):
            each.reset(options={"contexts": contexts, **mask})
        assert pickle.dumps(each) == before
        each.step(each.action_space.sample())


def test_the_contexts_may_come_in_another_order():
    env = gym.make(**CONTEXTS)
    first, _ = env.reset(seed=0, options={"contexts": 3, "sequence": [2, 0]})
    assert first["context"] == [2]
    assert first in env.observation_space


@pytest.mark.parametrize("options", OPTIONS)
def test_a_copy_is_an_instance_with_the_same_parameters(env, options):
    env.reset(seed=3, options=options)
    best(env, 5)
    other = pickle.loads(pickle.dumps(env))
    rest = [env.step([1]) for _ in range(5)]
    assert data_equivalence(rest, [other.step([1]) for _ in range(5)], exact=True)


@pytest.mark.parametrize("options", OPTIONS)
def test_instances_side_by_side_equal_single_ones(options):
    made = {"num_envs": 3, "max_episode_steps": 4, **DRIFTING}
    ours, theirs = (
        gym.make_vec(vectorization_mode=mode, **made) for mode in ("vector_entry_point", "sync")
    )
    both = [env.reset(seed=4, options=dict(options)) for env in (ours, theirs)]
    assert data_equivalence(*both, exact=True)
    mask = np.array([False, True, True])
    rng = np.random.default_rng(0)
    for t in range(14):
        actions = rng.integers(12, size=(3, 1))
        assert data_equivalence(ours.step(actions), theirs.step(actions), exact=True)
        if t == 6:
            some = {**options, "reset_mask": mask}
            got = [env.reset(options=dict(some)) for env in (ours, theirs)]
            assert data_equivalence(*got, exact=True)
        if t == 7:
            ours = pickle.loads(pickle.dumps(ours))


def test_every_environment_takes_its_noise_as_an_option():
    for id in (name for name in gym.registry if name.startswith("gpbandits/")):
        env = gym.make(id, noise_var=0.1)
        env.reset(seed=0, options={"noise_var": 0.0})
        observation, *_, info = env.step(env.action_space.sample())
        assert observation["rewards"] == info["noiseless_rewards"], id


def test_tables_and_tasks_take_other_arguments_too():
    table = gym.make("gpbandits/Replay-v0")
    rows = [table.reset(seed=0, options={"starts": [k]})[1] for k in (0, 7)]
    assert [info["parameters"]["starts"] for info in rows] == [[0], [7]]
    task = gym.make("gpbandits/HighDim-v0", dim=4)
    task.reset(seed=0, options={"shift": True})
    assert np.abs(task.step(np.zeros((1, 4)))[-1]["best_action"]).max() > 0.01
