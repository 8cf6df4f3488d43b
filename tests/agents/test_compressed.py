"""Compression, bedi2022, eq. (2.12): choice and test re-derived from dense formulas; skipping."""

import math
import pickle
import time

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.data.compression import Compression
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

NOISE_VAR = 0.025


def threshold(epsilon):
    return NOISE_VAR * (math.exp(2 * epsilon) - 1)


def theorem_32(t):
    return 2 * math.log(60 * t**2 * math.pi**2 / (6 * 0.1))


def ucb(t, mean, var, dense):
    return mean + np.sqrt(theorem_32(t) * var)


def improvement(normal, level):
    """log(sigma phi(z) + (mu - level) Phi(z)), z = (mu - level) / sigma."""

    def score(t, mean, var, dense):
        gap = mean - level(dense, mean)
        return np.log(np.sqrt(var)) + normal.log_improvement(gap / np.sqrt(var))

    return score


def best_reward(dense, mean):
    return max(dense.rewards) if dense.rewards else dense.prior_mean.max()


def test_known_rewards_of_several_rounds_are_informative_given_those_before():
    problem = Problem(Arms.grid(9), SquaredExponential(0.3), NOISE_VAR)
    agent = agents.make("gp-ucb", problem, seed=0, compress=1.0)
    agent.prior_data([4, 4, 0], [0.1, 0.2, 0.3], rounds=[-1.0, 0.0, 0.0])
    np.testing.assert_array_equal(agent.data.points, [4, 0])
    np.testing.assert_array_equal(agent.data.rounds, [-1.0, 0.0])


# With these observations are rejected again and again within the rounds of a replay.
EPSILONS = [0.1, 0.3]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_cub_replays_algorithm_1(replay, epsilon):
    played = replay("cub", ucb, threshold=threshold(epsilon), compress=epsilon)
    assert len(set(played)) > 5


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_cei_replays_algorithm_1(replay, normal, epsilon):
    replay("cei", improvement(normal, best_reward), threshold=threshold(epsilon), compress=epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_cmpi_replays_algorithm_1(replay, normal, epsilon):
    score = improvement(normal, lambda dense, mean: mean.max())
    replay("cmpi", score, threshold=threshold(epsilon), compress=epsilon)


def test_the_test_may_have_a_noise_of_its_own(replay):
    """As bedi2022 is read with a regularizer: a posterior of one noise, a test of another."""
    compress = {"epsilon": 0.1, "noise_var": 0.5}
    played = replay("cub", ucb, threshold=0.5 * (math.exp(0.2) - 1), compress=compress)
    assert len(set(played)) > 5


@pytest.mark.parametrize("drift", [0.03, 0.1])
def test_compression_stands_before_a_fading_posterior(replay, world, drift):
    """Rejected pulls fade the past too, until the next informative one."""
    dense = world.dense(epsilon=drift)
    given = {"beta": {"type": "log", "c1": 0.8, "c2": 4.0}, "epsilon": drift, "compress": 1.0}

    def score(t, mean, var, dense):
        return mean + np.sqrt(0.8 * np.log(4 * t) * var)

    played = replay("gp-ucb", score, dense=dense, threshold=threshold(1.0), **given)
    assert 5 < len(dense.arms) < len(played)


def test_compression_stands_before_a_posterior_that_restarts(replay):
    replay(
        "cub",
        ucb,
        forget=lambda t: t - (t - 1) % 7,
        threshold=threshold(0.3),
        reset_every=7,
        compress=0.3,
    )


def play(agent, world, rounds, skip=False):
    """The actions played, and the number of evaluations."""
    played, evaluations = [], 0
    noise = np.random.default_rng(5)
    for _ in range(rounds):
        actions = agent.ask()
        rewards = world.function[actions] + 0.1 * noise.standard_normal(len(actions))
        if skip:
            wanted = agent.informative(actions)
            rewards[~wanted] = np.nan
            evaluations += int(wanted.sum())
            agent.tell(actions, rewards, observed=wanted)
        else:
            agent.tell(actions, rewards)
            evaluations += len(actions)
        played.append(actions)
    return np.array(played), evaluations


DENSE = {
    "cub": ("gp-ucb", {"beta": {"type": "finite", "delta": 0.1, "scale": 1.0}}),
    "cei": ("ei", {"incumbent": "observed"}),
    "cmpi": ("mpi", {"variant": "improvement", "incumbent": "max-mean", "margin": 0.0}),
}


@pytest.mark.parametrize(
    ("back", "noise_var"), [("rows", NOISE_VAR), ("rows", 1e-6), ("coefficients", NOISE_VAR)]
)
@pytest.mark.parametrize("name", DENSE)
def test_a_budget_of_0_is_the_dense_agent_bit_for_bit(world, name, noise_var, back, batch_size):
    problem = world.problem(noise_var=noise_var, batch_size=batch_size)
    dense, given = DENSE[name]
    one = agents.make(name, problem, seed=0, compress=0.0, posterior=back)
    other = agents.make(dense, problem, seed=0, posterior=back, **given)
    assert np.array_equal(play(one, world, 60)[0], play(other, world, 60)[0])
    assert one.posterior.size == other.posterior.size == 60 * batch_size
    for a, b in zip(one.belief(), other.belief(), strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_budget_of_0_lets_in_what_rounding_took_for_known(world):
    """Without noise, the variance of an arm that was seen is 0, and not above a threshold of 0."""
    problem = world.problem(noise_var=0.0)
    agent = agents.make("cub", problem, compress=0.0)
    for _ in range(3):
        assert agent.informative([7]).all()
        agent.tell([7], [1.0])
    assert agent.posterior.var[7] <= 1e-12
    assert agent.posterior.size == 3


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("more", [{}, {"epsilon": 0.02}, {"reset_every": 9}, {"window": 12}])
def test_what_is_rejected_need_not_be_evaluated(world, name, more, batch_size):
    """Skipped or evaluated in vain: the same actions and beliefs, to the bit."""
    problem = world.problem(batch_size=batch_size)
    wasteful, thrifty = (agents.make(name, problem, seed=0, compress=0.5, **more) for _ in range(2))
    played, all_of_them = play(wasteful, world, 60)
    chosen, evaluations = play(thrifty, world, 60, skip=True)
    assert np.array_equal(played, chosen)
    assert 0 < evaluations < all_of_them == 60 * batch_size
    assert thrifty.round == wasteful.round == 60
    for a, b in zip(wasteful.belief(), thrifty.belief(), strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_learner_of_epsilon_can_skip(world):
    learn = {"what": ["epsilon"], "every": 5, "window": 10}
    agent = agents.make("tv-gp-ucb", world.problem(), seed=0, learn=learn, compress=0.3)
    _, evaluations = play(agent, world, 40, skip=True)
    assert evaluations < 40
    assert 0 <= agent.epsilon <= 1


def test_within_a_batch_each_action_is_tested_given_those_let_in_before(world):
    agent = agents.make("cub", world.problem(), compress=0.5)
    before = agent.posterior.var.copy()
    # The first pull of an arm leaves a variance of s^2 / (1 + s^2), below the threshold.
    assert agent.informative([20, 20, 45]).tolist() == [True, False, True]
    assert np.array_equal(agent.posterior.var, before)
    agent.tell([20, 20, 45], [0.5, 9.0, 0.1])
    assert agent.posterior.size == 2
    dense = world.dense()
    dense.tell([20, 45], [0.5, 0.1], 1)
    assert np.allclose(agent.posterior.mean, dense.mean(), atol=1e-9)


def test_what_is_hallucinated_is_not_known(world):
    agent = agents.make("cub", world.problem(), compress=0.5)
    agent.posterior.hallucinate([20])
    assert agent.informative([20, 45]).tolist() == [True, True]


def test_the_model_order_settles(world):
    """And without compression it grows with every pull."""
    agent = agents.make("cub", world.problem(), compress=0.05)
    play(agent, world, 600)
    settled = agent.posterior.size
    play(agent, world, 400)
    assert settled < 200
    assert agent.posterior.size == settled


def test_budgets_are_declared(world):
    horizon = world.problem(horizon=400)

    def epsilon(spec, problem=horizon):
        return agents.make("cub", problem, compress=spec).compression.epsilon

    assert epsilon({"epsilon": 0.2}) == epsilon(0.2) == 0.2
    assert epsilon({"alpha": 0.5}) == pytest.approx(0.5 * math.log(1 + 1 / 20))
    agent = agents.make("cub", horizon, compress={"alpha": 0.5}, horizon=100)
    assert agent.compression.epsilon == pytest.approx(0.5 * math.log(1.1))
    assert epsilon(None) == 0.0
    assert agents.make("cub", horizon).compression.epsilon == 1e-4
    assert agents.make("ei", horizon).compression.epsilon == 0.0
    assert Compression(0.2, 0.5).threshold(None) == pytest.approx(0.5 * (math.exp(0.4) - 1))


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (-0.1, "compress: epsilon must be finite"),
        (math.nan, "compress: epsilon must be finite"),
        (True, "compress must be a number or a dict"),
        ("much", "compress must be a number or a dict"),
        ({"noise_var": 0.1}, "needs epsilon or alpha"),
        ({"epsilon": 0.1, "alpha": 0.5}, "needs epsilon or alpha, and not both"),
        ({"alpha": -1.0}, "compress: alpha"),
        ({"alpha": 0.5}, "alpha needs a horizon"),
        ({"epsilon": 0.1, "noise_var": 0.0}, "compress: noise_var"),
        ({"epsilon": 0.1, "noise_var": -1.0}, "compress: noise_var"),
    ],
)
def test_bad_budgets_are_refused(world, wrong, match):
    with pytest.raises(InvalidInput, match=match):
        agents.make("cub", world.problem(horizon=None), compress=wrong)


def test_names_of_budgets_and_forms_are_guessed(world):
    with pytest.raises(UnknownName, match="did you mean 'alpha'"):
        agents.make("cub", world.problem(), compress={"alpa": 0.5})
    with pytest.raises(UnknownName, match="did you mean 'improvement'"):
        agents.make("mpi", world.problem(), variant="improvment")


def test_compression_needs_noise(world):
    with pytest.raises(InvalidInput, match="noise_var above 0"):
        agents.make("cub", world.problem(noise_var=0.0))


BAD_MASKS = [
    ([1, 2], [0.5, 0.5], [True]),
    ([1, 2], [0.5], [True, False]),
    ([1, 2], [0.5, 0.5], [1, 0]),
    ([1, 2], [0.5, 0.5], True),
    ([1, 2], [math.nan, 0.5], [True, False]),
    ([1, 99], [0.5, 0.5], [True, False]),
    ([1, 2], [0.5, [0.5, 0.5]], [True, False]),
    ([1, 2], ["a", "b"], [True, False]),
    ([], [], np.array([], bool)),
]


@pytest.mark.parametrize("name", ["cub", "gp-ucb", "random"])
@pytest.mark.parametrize("wrong", BAD_MASKS)
def test_bad_masks_are_refused_and_change_nothing(world, name, wrong):
    agent = agents.make(name, world.problem(), seed=0)
    agent.tell([3], [1.0])
    before = agent.snapshot()
    with pytest.raises(InvalidInput):
        agent.tell(*wrong)
    assert str(agent.snapshot()) == str(before)


def test_any_agent_can_be_told_of_a_part(world):
    for name in ("gp-ucb", "ei", "random"):
        agent = agents.make(name, world.problem(), seed=0)
        assert agent.informative([3, 3]).tolist() == [True, True]
        agent.tell([3, 40], [None, 0.2], observed=[False, True])
        agent.tell([3, 40], [math.nan, math.inf], observed=[False, False])
        assert agent.round == 2
        if name != "random":
            assert agent.posterior.observed.tolist() == [40]


def test_in_a_box_too(world):
    problem = world.problem(domain=Box([0.0], [1.0]), prior_mean=0.0)
    agent = agents.make("cub", problem, seed=0, candidates=64, compress=0.5)
    for _ in range(5):
        actions = agent.ask()
        assert agent.informative(actions).shape == (1,)
        agent.tell(actions, [math.nan], observed=[False])
    assert agent.posterior.size == 0
    twice = np.concatenate([actions, actions])
    assert agent.informative(twice).tolist() == [True, False]


def example(**settings):
    """The example function of bedi2022: sin x + cos x + 0.1 x on [-10, 10], in 1000 points."""
    x = np.linspace(-10.0, 10.0, 1000)
    problem = Problem(Arms(x[:, None]), SquaredExponential(1.0), 0.001)
    return agents.make("cub", problem, seed=0, **settings), np.sin(x) + np.cos(x) + 0.1 * x


@pytest.mark.slow
@pytest.mark.parametrize("back", ["rows", "coefficients"])
def test_runs_in_perpetuity(back):
    """A million rounds: a bounded model, constant memory and constant time a round."""
    agent, function = example(compress=0.01, posterior=back)
    noise = math.sqrt(0.001) * np.random.default_rng(1).standard_normal(1_000_000)
    orders, sizes, seconds = [], [], []
    for part in np.split(noise, 20):
        start = time.process_time()
        for disturbance in part:
            arms = agent.ask()
            agent.tell(arms, function[arms] + disturbance)
        seconds.append(time.process_time() - start)
        orders.append(agent.posterior.size)
        sizes.append(len(pickle.dumps(agent.snapshot())))
    assert 60 < orders[0] <= orders[-1] < 160
    assert orders[-1] - orders[9] <= 8  # beta_t still grows, as log t^2
    assert sizes[-1] < 1.3 * sizes[0]
    assert np.median(seconds[-5:]) < 1.5 * np.median(seconds[:5])
    mean, sd = agent.belief()
    assert np.abs(mean - function).max() < 6 * sd.max()
