"""Contextual agents: choices and posteriors derived anew, and what contexts may not be."""

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52, OnCoordinates, SquaredExponential
from gpbandits_env.problem import Problem

NOISE = 0.05
KERNEL = OnCoordinates((0,), SquaredExponential(0.2)) * OnCoordinates((1,), Matern52(0.4))
ADDED = OnCoordinates((0,), SquaredExponential(0.2)) + 0.5 * OnCoordinates((1,), Matern52(0.4))
ARMS, CONTEXTS, LINE = Arms.grid(15), Arms.grid(4), Box([0.0], [1.0])


def se(a, b, ell=0.2):
    return np.exp(-((a[:, None] - b[None]) ** 2) / (2 * ell**2))


def matern52(a, b, ell=0.4):
    r = np.sqrt(5.0) * np.abs(a[:, None] - b[None]) / ell
    return (1 + r + r**2 / 3) * np.exp(-r)


def product(x, z):
    """k((x, z), (x', z')) = SE(x, x') Matern(z, z'), written here with NumPy alone."""
    return se(x[:, 0], z[:, 0]) * matern52(x[:, 1], z[:, 1])


def added(x, z):
    return se(x[:, 0], z[:, 0]) + 0.5 * matern52(x[:, 1], z[:, 1])


def dense(k, at, seen, rewards):
    """Mean and variance by numpy.linalg alone."""
    if not len(seen):
        return np.zeros(len(at)), k(at, at).diagonal()
    inverse = np.linalg.inv(k(seen, seen) + NOISE * np.eye(len(seen)))
    cross = k(at, seen)
    return cross @ inverse @ rewards, k(at, at).diagonal() - ((cross @ inverse) * cross).sum(axis=1)


@pytest.mark.parametrize("posterior", ["rows", "coefficients"])
def test_replays_cgp_ucb_on_arms(posterior):
    """Krause & Ong (2011): beta_t = 2 log(|X| t^2 pi^2 / (6 delta)) for all pairs X."""
    beta = {"type": "finite", "delta": 0.1}
    problem = Problem(ARMS, KERNEL, NOISE, contexts=CONTEXTS)
    agent = agents.make("gp-ucb", problem, seed=0, beta=beta, posterior=posterior)
    rng, seen, rewards = np.random.default_rng(1), np.empty((0, 2)), np.empty(0)
    x = ARMS.coordinates[:, 0]
    for t in range(1, 21):
        z = int(rng.integers(4))
        at = np.stack([x, np.full(15, CONTEXTS.coordinates[z, 0])], axis=1)
        mean, var = dense(product, at, seen, rewards)
        score = mean + np.sqrt(2 * np.log(60 * t**2 * np.pi**2 / 0.6) * var)
        arm = int(agent.ask(context=z)[0])
        assert score[arm] == pytest.approx(score.max(), abs=1e-7)
        seen, y = np.vstack([seen, at[arm]]), np.sin(5 * x[arm] + 3 * z) + 0.2 * rng.normal()
        rewards = np.append(rewards, y)
        agent.tell([arm], [y])
        ours = agent.belief()
        np.testing.assert_allclose(ours[0], dense(product, at, seen, rewards)[0], atol=1e-8)
        np.testing.assert_allclose(ours[1] ** 2, dense(product, at, seen, rewards)[1], atol=1e-8)


@pytest.mark.parametrize(("kernel", "k"), [(KERNEL, product), (ADDED, added)])
@pytest.mark.parametrize("domain", [ARMS, LINE], ids=["arms", "box"])
@pytest.mark.parametrize("contexts", [CONTEXTS, LINE], ids=["finite", "box"])
def test_choices_and_posterior_are_those_of_the_dense_formula(domain, contexts, kernel, k):
    """UCB in every combination of arms and boxes; in a box nothing on a fine grid is better."""
    problem = Problem(domain, kernel, NOISE, 2, contexts=contexts)
    agent = agents.make("gp-ucb", problem, seed=0, beta=4.0)
    rng, seen, rewards = np.random.default_rng(2), np.empty((0, 2)), np.empty(0)
    x = ARMS.coordinates if domain is ARMS else np.linspace(0, 1, 401)[:, None]
    for _ in range(12):
        context = contexts.sample(rng, 1)[0]
        z = np.atleast_1d(contexts.points(np.array([context]))[0])
        at = np.hstack([x, np.tile(z, (len(x), 1))])
        mean, var = dense(k, at, seen, rewards)
        score = mean + 2.0 * np.sqrt(var)
        actions = agent.ask(context=context)
        own = np.hstack([domain.points(actions), np.tile(z, (2, 1))])
        mean, var = dense(k, own[:1], seen, rewards)
        assert (mean + 2.0 * np.sqrt(var))[0] >= score.max() - 1e-6
        seen, rewards = np.vstack([seen, own]), np.append(rewards, rng.normal(size=2))
        agent.tell(actions, rewards[-2:])
        mean, sd = agent.belief(None if domain is ARMS else x)
        wanted = dense(k, at, seen, rewards)
        np.testing.assert_allclose(mean, wanted[0], atol=1e-8)
        np.testing.assert_allclose(sd**2, wanted[1], atol=1e-8)


def test_the_incumbent_of_ei_is_the_best_observed_action_in_this_context():
    """Rewards of a context that is better everywhere do not discourage the others."""
    kernel = OnCoordinates((0,), SquaredExponential(0.2)) + 9.0 * OnCoordinates(
        (1,), SquaredExponential(0.05)
    )
    for domain, contexts in ((ARMS, CONTEXTS), (ARMS, LINE), (LINE, CONTEXTS)):
        problem = Problem(domain, kernel, NOISE, contexts=contexts)
        agent = agents.make("ei", problem, seed=0)
        points = [2, 9] if domain is ARMS else [[0.1], [0.6]]
        high, low = (3, 0) if contexts is CONTEXTS else ([1.0], [0.0])
        agent.prior_data(points, [6.1, 6.0], context=high)
        agent.set_context(low)
        level = agent.rule.level(agent.next_round())
        observed = domain.points(domain.check(points))
        at = np.hstack([observed, np.zeros((2, 1))])
        assert level == pytest.approx(
            agent.posterior.mean_at(
                at if not isinstance(agent.posterior.domain, Arms) else domain.check(points) * 4
            ).max(),
            abs=1e-9,
        )
        assert level < 3.0


def test_prior_data_pending_actions_and_late_rewards_keep_their_contexts():
    problem = Problem(ARMS, KERNEL, NOISE, contexts=CONTEXTS, max_delay=9)
    agent, prompt = (agents.make("gp-ucb", problem, seed=0) for _ in range(2))
    for each in (agent, prompt):
        each.prior_data([1, 2], [0.5, 0.1], context=2)
    for t, z in enumerate((3, 0, 1)):
        agent.expect([t], context=z)
        prompt.tell([t], [float(t)], context=z)
    agent.tell_late([2, 0, 1], [2.0, 0.0, 1.0])
    for z in range(4):
        agent.set_context(z), prompt.set_context(z)
        np.testing.assert_allclose(agent.belief(), prompt.belief(), atol=1e-9)


def test_predict_and_observe_follow_the_context_of_the_observation():
    settings = {"grid": [9], "contexts": 4, "batch_size": 2, "delay": 1}
    env = gym.make("gpbandits/Contextual-v0", **settings)
    agent, policy = (agents.make("gp-ucb", env, seed=0) for _ in range(2))
    observation, _ = env.reset(seed=0)
    for _ in range(8):
        actions = agent.ask(context=observation["context"])
        assert np.array_equal(actions, policy.predict(observation)[0])
        observation, *_ = env.step(actions)
        agent.observe(observation)
    follower = agents.make("gp-ucb", env, seed=0)
    observation, _ = env.reset(seed=0)
    for t in range(8):
        follower.observe(observation)
        assert follower.round == t
        assert np.array_equal(follower.context, observation["context"])
        observation, *_ = env.step(follower.ask())
    assert follower.posterior.size + len(follower.pending) == 14
    envs = gym.make_vec("gpbandits/Contextual-v0", 2, **settings)
    together = agents.make("gp-ucb", envs, seed=0)
    observation, _ = envs.reset(seed=0)
    for _ in range(5):
        observation, *_ = envs.step(together.predict(observation)[0])
    assert [a.round for a in together._policy._agents] == [4, 4]


@pytest.mark.parametrize("contexts", [CONTEXTS, LINE], ids=["finite", "box"])
def test_an_observation_with_a_wrong_context_changes_nothing(contexts):
    problem = Problem(ARMS, KERNEL, NOISE, contexts=contexts)
    agent, good = (
        agents.make("gp-ucb", problem, seed=0),
        contexts.sample(np.random.default_rng(0), 1),
    )
    agent.predict({"actions": [0], "rewards": [0.0], "round": [0], "context": good})
    for wrong in ([7], [[7.0]], "x", [], None, [[0.5, 0.5]]):
        with pytest.raises(InvalidInput, match="context must be a"):
            agent.predict({"actions": [0], "rewards": [0.0], "round": [1], "context": wrong})
        assert (agent.round, agent.posterior.size) == (0, 0)
    several = {"actions": [[0]] * 2, "rewards": [[0.0]] * 2, "round": [[1]] * 2}
    with pytest.raises(InvalidInput, match="each of 2 instances"):
        agent.predict(several | {"context": [good]})


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"incumbent": "observed"}, "different contexts"),
        ({"search": "round", "candidates": None}, "coordinates"),
    ],
)
def test_what_does_not_work_with_contexts_says_why(settings, why):
    domain = LINE if "search" in settings else ARMS
    problem = Problem(domain, KERNEL, NOISE, contexts=CONTEXTS)
    with pytest.raises(InvalidInput, match=why):
        agents.make("ei", problem, **settings)
    with pytest.raises(InvalidInput, match="search is for boxes"):
        agents.make("ei", Problem(ARMS, KERNEL, NOISE, contexts=LINE), search="gradient")
    with pytest.raises(InvalidInput, match="no contexts"):
        agents.make("ei", Problem(ARMS, SquaredExponential(0.2), NOISE)).ask(context=0)


@pytest.mark.parametrize("domain", [ARMS, LINE], ids=["arms", "line"])
@pytest.mark.parametrize("contexts", [CONTEXTS, LINE], ids=["finite", "box"])
def test_uniform_first_rounds_are_actions(domain, contexts):
    batch = {"type": "initialised", "rounds": 9, "first": "uniform", "then": {"type": "thompson"}}
    problem = Problem(domain, KERNEL, NOISE, batch_size=400, contexts=contexts)
    agent = agents.make("ts", problem, seed=0, batch=batch)
    actions = agent.ask(context=contexts.sample(np.random.default_rng(0), 1))
    cells = actions if domain.finite else np.floor(15 * actions[:, 0]).astype(int)
    counts = np.bincount(cells, minlength=15)
    assert len(counts) == 15
    assert counts.min() > 10


def test_what_is_informative_depends_on_a_context_that_is_unknown_after_a_reset():
    agent = agents.make("cub", Problem(ARMS, KERNEL, NOISE, contexts=CONTEXTS), compress=0.4)
    agent.tell([3, 3], [1.0, 1.0], context=2)
    assert not agent.informative([3]).any()
    agent.ask(context=0)
    assert agent.informative([3]).all()
    agent.reset()
    with pytest.raises(InvalidInput, match="ask\\(context"):
        agent.informative([3])


def test_a_point_that_is_no_candidate_does_not_change_the_context():
    problem = Problem(LINE, KERNEL, NOISE, contexts=CONTEXTS)
    agent = agents.make("gp-ucb", problem, seed=0, candidates=16)
    agent.tell(agent.ask(context=1), [0.5])
    for call in (
        lambda: agent.tell([[0.1234]], [0.0], context=2),
        lambda: agent.prior_data([[0.1234]], [0.0], context=2),
        lambda: agent.expect([[0.1234]], context=2),
    ):
        with pytest.raises(InvalidInput, match="candidates"):
            call()
        assert (agent.context, agent.round, agent.pending) == ([1], 1, [])
    agent.snapshot()["context"][:] = 2
    assert agent.context == [1]
    with pytest.raises(InvalidInput, match="another seed"):
        agents.make("gp-ucb", problem, seed=1, candidates=16).restore(agent.snapshot())


@pytest.mark.slow
def test_cgp_ucb_is_better_than_to_ignore_contexts_and_than_to_keep_them_apart():
    """By more than two standard errors of the paired differences, over 12 functions."""
    on = lambda j, ell: {  # noqa: E731
        "type": "on",
        "coordinates": [j],
        "kernel": {"type": "se", "lengthscale": ell},
    }
    both = lambda ell: {"type": "product", "factors": [on(0, 0.2), on(1, ell)]}  # noqa: E731

    def regret(kernel, seed, truth):
        env = gym.make("gpbandits/Contextual-v0", grid=50, contexts=10, kernel=truth)
        agent = agents.make("gp-ucb", env, seed=seed, kernel=kernel)
        observation, _ = env.reset(seed=seed)
        for _ in range(200):
            actions = agent.ask(context=observation["context"])
            observation, *_, info = env.step(actions)
            agent.observe(observation)
        return info["cumulative_regret"]

    def gap(kernel, truth):
        gaps = [regret(kernel, seed, truth) - regret(truth, seed, truth) for seed in range(12)]
        return np.mean(gaps) / (np.std(gaps, ddof=1) / np.sqrt(12))

    assert gap(on(0, 0.2), both(0.3)) > 2.0  # blind
    assert gap(both(1e-3), both(0.3)) > 2.0  # one agent per context
    # Where the context does not matter, the blind agent is no better.
    assert abs(gap(on(0, 0.2), both(1e3))) < 2.0
