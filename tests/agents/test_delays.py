"""Rewards that arrive late: what every agent does with pending actions and late rewards."""

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import norm

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

KERNEL, NOISE = SquaredExponential(0.2), 0.05
ARMS = Arms.grid(30)
F = np.sin(6.0 * ARMS.coordinates[:, 0])


def make(name, *, domain=ARMS, batch_size=1, max_delay=20, seed=0, **settings):
    problem = Problem(domain, KERNEL, NOISE, batch_size, 50, max_delay=max_delay)
    return agents.make(name, problem, seed=seed, **settings)


def dense(points, kernel, observed, rewards, pending, decay=None):
    """Mean on the observed points and variance on all, by numpy.linalg alone."""
    k = lambda a, b: np.exp(-((a[:, None] - b[None]) ** 2) / (2 * 0.2**2))  # noqa: E731
    x, xs = points[:, 0], points[observed, 0]
    gram = k(xs, xs) + NOISE * np.eye(len(xs))
    mean = k(x, xs) @ np.linalg.solve(gram, rewards) if len(xs) else np.zeros(len(x))
    every = np.concatenate([xs, points[pending, 0]])
    cross = k(x, every)
    gram = k(every, every) + NOISE * np.eye(len(every))
    reduction = (cross * np.linalg.solve(gram, cross.T).T).sum(axis=1) if len(every) else 0.0
    return mean, 1.0 - reduction


def five_rounds_late(agent, arm, played, rewards, rng):
    """Play an arm, and tell the reward of five rounds before."""
    t = len(played)
    played.append(arm)
    rewards.append(F[arm] + 0.2 * rng.standard_normal())
    agent.expect([arm])
    if t >= 5:
        agent.tell_late(played[t - 5 : t - 4], rewards[t - 5 : t - 4], [t - 4])


@pytest.mark.parametrize("posterior", ["rows", "coefficients"])
def test_gp_ucb_conditions_the_variance_on_pending_actions(posterior):
    """Every choice under a delay of 5, derived anew: GP-BUCB's rule for pending actions."""
    agent = make("gp-ucb", beta=4.0, posterior=posterior)
    rng, played, rewards = np.random.default_rng(1), [], []
    for t in range(30):
        known = max(0, t - 5)
        mean, var = dense(ARMS.coordinates, KERNEL, played[:known], rewards[:known], played[known:])
        score = mean + 2.0 * np.sqrt(var)
        arm = int(agent.ask()[0])
        assert score[arm] == pytest.approx(score.max(), abs=1e-7)
        five_rounds_late(agent, arm, played, rewards, rng)
        assert len(agent.pending) == min(t + 1, 5)
    assert len(set(played[:6])) == 6


def test_qei_believes_in_the_means_of_pending_actions():
    """Every choice under a delay of 5: EI over the largest mean of observed and pending arms."""
    agent = make("qei")
    rng, played, rewards, higher = np.random.default_rng(1), [], [], 0
    for t in range(30):
        arm, known = int(agent.ask()[0]), max(0, t - 5)
        if known:
            told = ARMS.coordinates, KERNEL, played[:known], rewards[:known], played[known:]
            mean, var = dense(*told)
            sd, level = np.sqrt(np.maximum(var, 1e-300)), mean[played].max()
            higher += level > mean[played[:known]].max() + 1e-6
            z = (mean - level) / sd
            gain = sd * (z * norm.cdf(z) + norm.pdf(z))
            assert gain[arm] == pytest.approx(gain.max(), rel=1e-6)
        five_rounds_late(agent, arm, played, rewards, rng)
    assert higher >= 3


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"epsilon": 0.1},
        {"epsilon": 0.7},  # so that old rounds are dropped from the log
        {"epsilon": 1.0},
        {"window": 7},
        {"reset_every": 6},
        {"temporal": {"type": "matern32", "lengthscale": 8.0}},
    ],
    ids=str,
)
@pytest.mark.parametrize("domain", [ARMS, Box([0.0], [1.0])], ids=["arms", "box"])
def test_a_late_reward_counts_in_the_round_of_its_action(domain, settings):
    """Once all have arrived, the posterior is that of an agent that was told in time."""
    late, prompt = (make("max-variance", domain=domain, **settings) for _ in range(2))
    rng = np.random.default_rng(2)
    actions, rewards = domain.sample(rng, 24), rng.standard_normal(24)
    arrivals: dict[int, list[int]] = {}
    for t in range(24):
        arrivals.setdefault(min(t + int(rng.integers(5)), 22), []).append(t)
    for t in range(24):
        late.expect(actions[[t]])
        for s in arrivals.get(t, []):
            if s <= t:
                late.tell_late(actions[[s]], rewards[[s]], [s + 1])
        prompt.tell(actions[[t]], rewards[[t]])
    late.tell_late(actions[[23]], rewards[[23]])
    assert not late.pending
    points = domain.sample(rng, 9)
    for ours, theirs in zip(
        late.posterior.moments(points), prompt.posterior.moments(points), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-8)
    assert late.round == prompt.round == 24


@pytest.mark.parametrize(
    "settings",
    [
        {"learn": {"every": 4, "starts": 1, "first": 4}},
        {"learn": {"every": 4, "starts": 1, "first": 4}, "epsilon": 0.1},
        {"learn": {"every": 4, "starts": 1, "first": 4}, "window": 9},
        {"learn": {"every": 4, "what": ["epsilon"], "starts": 1, "window": 30}, "epsilon": 0.1},
    ],
    ids=str,
)
def test_a_learned_model_is_conditioned_on_late_rewards_too(settings):
    """The posterior equals that of its own model on its own log, in the order of the rounds."""
    agent = make("gp-ucb", **settings)
    rng = np.random.default_rng(4)
    for t in range(22):
        agent.expect([t])
        if t >= 3:
            agent.tell_late([t - 3], rng.standard_normal(1), [t - 2])
    assert agent.learned
    fresh, data, t = agent._prior(agent.refit.model), agent.data, agent.round
    rows = data.rounds >= max(agent.keep.first(t + 1), 0.0)
    for now in range(1, t + 1):
        mine = rows & (data.rounds == now)
        fresh.condition(data.points[mine], data.rewards[mine])
        fresh.advance(agent.refit.model.epsilon)
    np.testing.assert_allclose(agent.posterior.mean, fresh.mean, atol=1e-8)
    np.testing.assert_allclose(agent.posterior.var, fresh.var, atol=1e-8)
    # Rows whose weight has decayed below 1e-9 are left out.
    assert 0 < agent.posterior.size <= np.count_nonzero(rows)
    assert agent.posterior.size == np.count_nonzero(rows) or settings["learn"].get("what")


def test_under_drift_the_posterior_is_the_dense_formula_with_the_times_of_the_actions():
    """bogunovic2016, eqs. (7)-(8), with numpy.linalg alone."""
    agent = make("tv-gp-ucb", epsilon=0.07)
    rng, delay = np.random.default_rng(3), 4
    played, rewards = rng.integers(0, 30, 15), rng.standard_normal(15)
    for t in range(15):
        agent.expect(played[[t]])
        if t >= delay:
            agent.tell_late(played[[t - delay]], rewards[[t - delay]])
    x, n = ARMS.coordinates[:, 0], 15 - delay
    times, xs = np.arange(n), x[played[:n]]
    rate = np.sqrt(1 - 0.07)
    gram = np.exp(-((xs[:, None] - xs) ** 2) / 0.08) * rate ** abs(times[:, None] - times)
    cross = np.exp(-((x[:, None] - xs) ** 2) / 0.08) * rate ** (15 - times)
    inverse = np.linalg.inv(gram + NOISE * np.eye(n))
    mean, sd = agent.belief()
    np.testing.assert_allclose(mean, cross @ inverse @ rewards[:n], atol=1e-8)
    np.testing.assert_allclose(sd**2, 1 - ((cross @ inverse) * cross).sum(axis=1), atol=1e-8)


def test_rewards_that_are_lost_stop_being_pending_after_the_largest_delay():
    agent = make("gp-ucb", max_delay=3)
    for t in range(9):
        agent.expect([t])
        assert [p.round for p in agent.pending] == list(range(max(1, t - 2), t + 2))
    forever = make("gp-ucb", max_delay=None)
    for t in range(9):
        forever.expect([t])
    assert len(forever.pending) == 9


@pytest.mark.parametrize("settings", [{"epsilon": 0.1}, {"window": 5}, {"reset_every": 5}], ids=str)
def test_an_agent_that_forgets_need_not_know_the_largest_delay(settings):
    late, prompt = (make("gp-ucb", max_delay=None, **settings) for _ in range(2))
    for agent in (late, prompt):
        agent.tell([7], [0.5])
        agent.expect([3]) if agent is late else agent.tell([3], [1.0])
        agent.tell([12], [-0.5])
    late.tell_late([3], [1.0])
    np.testing.assert_allclose(late.belief(), prompt.belief(), atol=1e-10)


def test_a_pending_action_is_a_copy_with_its_time_and_goes_with_a_reset():
    box = Box([0.0], [1.0])
    agent, twin = (make("gp-ucb", domain=box, epsilon=0.1) for _ in range(2))
    action = np.array([[0.3]])
    agent.tell([[0.4]], [2.0])
    before = agent.belief([[0.4]])
    agent.wait(100.0)  # which the belief shows at once
    assert abs(agent.belief([[0.4]])[0]) < 0.01 < before[0]
    agent.reset()
    agent.wait(2.5)
    agent.expect(action)
    action[:] = 0.9
    agent.expect([[0.5]])
    twin.restore(agent.snapshot())
    for one in (agent, twin):
        one.tell_late([[0.3]], [1.0], [1])
        assert one.data.times.tolist() == [2.5]
        one.reset()
        assert one.pending == []


def test_a_late_reward_that_is_not_informative_is_dropped():
    agent = make("cub", compress=0.5)
    agent.expect([4])
    for _ in range(9):
        agent.tell([4], [1.0])
    size = agent.data.size
    agent.tell_late([4], [1.0])
    assert agent.data.size == agent.posterior.size == size < 9


def test_equal_actions_are_told_apart_by_their_rounds():
    agent = make("gp-ucb", batch_size=2)
    agent.expect([4, 4])
    agent.expect([4, 7])
    agent.tell_late([4], [1.0], [2])
    assert [p.round for p in agent.pending] == [1, 1, 2]
    agent.tell_late([4, 7], [1.0, 2.0])
    assert [p.round for p in agent.pending] == [1]
    before = agent.snapshot()
    for wrong, rounds in (([7], None), ([4], [2]), ([4], [0]), ([4, 4], None), ([4], [1, 1])):
        with pytest.raises(InvalidInput, match=r"pending|rounds"):
            agent.tell_late(wrong, np.zeros(len(wrong)), rounds)
    assert str(agent.snapshot()) == str(before)


def test_late_rewards_of_one_round_may_be_duplicates():
    agent = make("gp-ucb", batch_size=3)
    agent.expect([2, 2, 5])
    agent.tell([2, 5, 5], np.zeros(3))
    assert agent.duplicates == 1
    agent.tell_late([2, 2], np.zeros(2), [1, 1])
    assert agent.duplicates == 2


def test_skipped_actions_are_not_pending():
    agent = make("cub", batch_size=3, compress=0.5)
    agent.expect([1, 2, 3], observed=[True, False, True])
    assert [int(p.action) for p in agent.pending] == [1, 3]
    # What is pending counts in what is informative.
    assert make("cub", compress=0.5).informative([1]).all()
    assert not agent.informative([1, 2]).any()


def test_rexp3_divides_by_the_probability_with_which_the_arm_was_drawn():
    agent = make("rexp3", reset_every=10, low=0.0, high=1.0)
    agent.expect([3])
    for _ in range(4):
        agent.tell([5], [1.0])
    before = agent._log_weights.copy()
    agent.tell_late([3], [1.0])
    gained = agent._log_weights - before
    assert gained[3] == pytest.approx(agent.exploration / 30 / (1 / 30), rel=1e-12)
    assert np.count_nonzero(gained) == 1
    agent.expect([3])
    for _ in range(4):
        agent.tell([5], [1.0])
    agent.tell_late([3], [1.0])  # of a block that is over
    assert not agent._log_weights.any()


def test_a_late_reward_is_a_success_of_turbos_region_only_in_the_region_of_its_action():
    search = {"candidates": 32}
    agent, prompt = (make("turbo", domain=Box([0.0], [1.0]), seed=0, **search) for _ in range(2))
    for t in range(12):
        action = agent.ask()
        agent.expect(action)
        agent.tell_late(action, [float(t)])
        prompt.tell(prompt.ask(), [float(t)])
        assert agent.search.length == prompt.search.length
    assert agent.search.length > 0.8  # it grew
    agent.expect(agent.ask())
    agent.keep.stage = agent.round + 0.5  # the region ends
    agent.tell_late([agent.pending[0].action], [1.0])
    assert agent.posterior.size == 0


@pytest.mark.parametrize("compress", [None, 1e-9], ids=["all", "compressed"])
@pytest.mark.parametrize("late", [True, False], ids=["tell_late", "tell"])
def test_a_reset_discards_the_data_at_once_also_while_rewards_are_pending(compress, late):
    agent = make("r-gp-ucb", reset_every=6, compress=compress)
    for t in range(6):
        agent.expect([5 * t])
        if t >= 3:
            agent.tell_late([5 * t - 15], [1.0])
    assert agent.posterior.size == 0
    agent.expect([17])
    agent.tell_late([15], [9.0])  # of the old block: it does not count
    assert agent.posterior.size == 0
    # Pending actions of the old block do not count either.
    assert [p.round for p in agent.pending] == [5, 6, 7]
    assert len(agent._pending_points()) == 1
    agent.tell_late([17], [2.0]) if late else agent.tell([17], [2.0])
    mean, var = dense(ARMS.coordinates, KERNEL, [17], np.array([2.0]), [])
    np.testing.assert_allclose(agent.posterior.mean, mean, atol=1e-8)
    np.testing.assert_allclose(agent.posterior.var, var, atol=1e-8)


def test_a_reset_without_pending_rewards_discards_the_data_at_once():
    agent = make("r-gp-ucb", reset_every=3)
    for t in range(3):
        agent.expect([t])
        agent.tell_late([t], [1.0])
    agent.tell([1], [1.0])
    assert agent.posterior.size == 1
    for _ in range(2):
        agent.tell([1], [1.0])
    assert agent.posterior.size == 0


def test_a_reset_discards_the_data_also_if_the_dictionary_is_empty():
    """With qbar = 0.5, a point that was pulled four times is often missing from the dictionary."""
    empty = 0
    for seed in range(20):
        nystrom = {"type": "nystrom", "qbar": 0.5, "per": "pull"}
        agent = make("gp-ucb", reset_every=4, posterior=nystrom, seed=seed)
        for t in range(8):
            agent.tell([5], [1.0])
            empty += t % 4 == 3 and agent.posterior.size == 0
            assert len(agent.posterior.observed) == (t % 4 < 3)
    assert empty > 10


def test_a_fit_after_a_reset_uses_the_data_of_the_blocks_before():
    agent = make("r-gp-ucb", reset_every=5, learn={"every": 1, "first": 3, "starts": 1})
    for t in range(7):
        agent.expect([3 * t])
        if t >= 2:
            agent.tell_late([3 * t - 6], [np.sin(t)])
    fits = len(agent.learned)
    assert agent.posterior.size == 0  # all rewards are of the block before
    agent.tell_late([15], [1.0])
    agent.expect([1])
    assert agent.posterior.size == 1
    assert len(agent.learned) == fits + 1
    assert agent.learned[-1]["observations"] == 6


def test_pending_points_of_a_stage_of_sre_are_not_those_of_the_next():
    """Points are coordinates of the embedding of their stage."""
    box = Box(-np.ones(6), np.ones(6))
    agent = make("sre", domain=box, d=2, stages=2, rounds=3)
    for _ in range(3):
        agent.expect(agent.ask())
    assert agent.action_map.stage == 1
    assert len(agent._pending_points()) == 0
    agent.tell_late([agent.pending[-1].action], [1.0])
    assert agent.posterior.size == 0
    agent.expect(agent.ask())
    agent.tell_late([agent.pending[-1].action], [1.0])
    assert agent.posterior.size == 1


def test_a_late_reward_says_nothing_of_turbos_region_if_it_was_chosen_before_the_last_change():
    agent = make("turbo", domain=Box([0.0], [1.0]), seed=0, candidates=32)
    for _ in range(9):
        agent.expect(agent.ask())
    points = [played.action for played in agent.pending]
    agent.tell_late(points[:2], [1.0, 0.5])  # the first two start the search of the region
    agent.tell_late(points[2:], [0.0] * 7)  # chosen before it
    assert agent.search.length == 0.8
    for length in (0.4, 0.2):
        agent.expect(agent.ask())
        agent.expect(agent.ask())
        for played in list(agent.pending):
            agent.tell_late([played.action], [0.0])
            assert agent.search.length == length


def test_an_environment_with_delays_needs_one_call_per_round():
    env = gym.make("gpbandits/StaticGP-v0", grid=[20], batch_size=2, delay={"least": 0, "most": 4})
    agent, policy = (agents.make("gp-ucb", env, seed=0) for _ in range(2))
    observation, _ = env.reset(seed=0)
    for t in range(12):
        actions = agent.ask()
        assert np.array_equal(actions, policy.predict(observation)[0])
        observation, *_ = env.step(actions)
        agent.observe(observation)
        assert agent.round == t + 1
    assert agent.posterior.size + len(agent.pending) == 24


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["gp-ucb", "ei", "mpi", "bucb", "ts", "ts-rsr", "tv-gp-ucb", "r-gp-ucb"]
)
@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_ten_rounds_of_delay_cost_at_most_twelve_of_random_play(name, kernel):
    """The mean over 12 functions of the difference in cumulative regret, after 150 rounds.

    It may exceed the bound by two standard errors, because the functions differ much.

    R-GP-UCB starts anew in the middle. What arrives then is of the block before, and its agent
    knows nothing for ten rounds again, so that it may lose the same twice.
    """

    def regret(name, delay, seed):
        env = gym.make(
            "gpbandits/StaticGP-v0",
            grid=[20, 20],
            kernel={"type": kernel, "lengthscale": 0.2},
            delay=delay,
        )
        needed = {"tv-gp-ucb": {"epsilon": 0.001}, "r-gp-ucb": {"reset_every": 75}}
        more = needed.get(name, {})
        agent = agents.make(name, env, seed=seed, **more)
        env.reset(seed=seed)
        for _ in range(150):
            observation, *_, info = env.step(agent.ask())
            agent.observe(observation)
        return info["cumulative_regret"]

    seeds = range(12)
    one_round = np.mean([regret("random", None, seed) for seed in seeds]) / 150
    cost = [regret(name, 10, seed) - regret(name, None, seed) for seed in seeds]
    starts = 2 if name == "r-gp-ucb" else 1
    error = np.std(cost, ddof=1) / np.sqrt(len(cost))
    assert np.mean(cost) - 2.0 * error <= starts * 12.0 * one_round


def test_with_standardized_rewards_late_ones_give_the_posterior_of_those_in_time():
    problem = Problem(Arms.grid(12), SquaredExponential(0.2), 0.01)
    made = {"seed": 0, "standardize": True, "learn": {"every": 4, "what": []}}
    in_time, late = agents.make("ei", problem, **made), agents.make("ei", problem, **made)
    rewards = 100.0 + 7.0 * np.random.default_rng(0).standard_normal(12)
    for arm in range(12):
        in_time.tell([arm], rewards[[arm]])
        late.expect([arm])
        if arm >= 3:
            late.tell_late([arm - 3], rewards[[arm - 3]])
    for arm in (9, 10, 11):
        late.tell_late([arm], rewards[[arm]])
    for ours, theirs in zip(late.belief(), in_time.belief(), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8)
