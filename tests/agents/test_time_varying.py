"""Fading, resetting and sliding: where they are GP-UCB in the limit, and other agents that fade."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.algorithms.r_gp_ucb import paper_block_length
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Linear, Matern52, SquaredExponential
from gpbandits_env.problem import Problem

LOGARITHM = {"type": "log", "c1": 0.8, "c2": 4.0}
HORIZON = 60


def equal(one, other):
    """Two beliefs, to the bit."""
    return all(np.array_equal(a, b) for a, b in zip(one.belief(), other.belief(), strict=True))


def improvement(normal, name, margin=0.01):
    """log EI and log PI over the largest posterior mean among the arms that still count."""

    def score(t, mean, var, dense):
        told = mean[dense.arms] if dense.arms else dense.prior_mean
        if name == "ei":
            return 0.5 * np.log(var) + normal.log_improvement((mean - told.max()) / np.sqrt(var))
        return normal.log_cumulative((mean - told.max() - margin) / np.sqrt(var))

    return score


def improvement_on_the_observed(normal):
    def score(t, mean, var, dense):
        best = max(dense.rewards) if dense.rewards else dense.prior_mean.max()
        return 0.5 * np.log(var) + normal.log_improvement((mean - best) / np.sqrt(var))

    return score


@pytest.mark.parametrize("back", ["rows", "coefficients"])
def test_the_posterior_is_that_of_eqs_7_and_8(world, batch_size, back):
    """120 rounds of repeated arms; the actions of a batch share one time."""
    problem = world.problem(batch_size=batch_size)
    agent = agents.make("tv-gp-ucb", problem, epsilon=0.03, posterior=back)
    dense, rng = world.dense(epsilon=0.03), np.random.default_rng(0)
    for t in range(1, 121):
        arms = rng.choice([2, 3, 20, 21, 40, 59], size=batch_size) if t % 3 else agent.ask()
        rewards = world.rewards(arms)
        agent.tell(arms, rewards)
        dense.tell(arms, rewards, t)
        if t % 20 == 0 or t < 5:
            mean, sd = agent.belief()
            assert mean == pytest.approx(dense.mean(now=t + 1), abs=1e-8)
            assert sd**2 == pytest.approx(dense.var(now=t + 1), abs=1e-8)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("tv-gp-ucb", {"epsilon": 0.0}),
        ("r-gp-ucb", {"reset_every": HORIZON}),
        ("sw-gp-ucb", {"window": HORIZON}),
    ],
)
@pytest.mark.parametrize("back", ["rows", "coefficients"])
def test_is_gp_ucb_to_the_bit_in_the_limit(world, batch_size, name, settings, back):
    problem = world.problem(batch_size=batch_size)
    forgetful = agents.make(name, problem, posterior=back, **settings)
    plain = agents.make("gp-ucb", problem, posterior=back, beta=LOGARITHM)
    for _ in range(HORIZON):
        assert equal(forgetful, plain)
        actions = plain.ask()
        assert np.array_equal(forgetful.ask(), actions)
        rewards = world.rewards(actions)
        for agent in (forgetful, plain):
            agent.tell(actions, rewards)


@pytest.mark.parametrize(
    ("name", "settings"), [("tv-gp-ucb", {"epsilon": 1.0}), ("r-gp-ucb", {"reset_every": 1})]
)
def test_forgets_everything_in_the_other_limit(world, batch_size, name, settings):
    problem = world.problem(batch_size=batch_size)
    agent, fresh = (agents.make(name, problem, **settings) for _ in range(2))
    for _ in range(10):
        actions = agent.ask()
        agent.tell(actions, world.rewards(actions))
        assert equal(agent, fresh)
    assert agent.round == 10


def test_r_gp_ucb_resets_when_t_mod_n_is_1(world):
    agent = agents.make("r-gp-ucb", world.problem(), reset_every=5)
    sizes = []
    for _ in range(12):
        sizes.append(agent.posterior.size)  # what round t = 1, 2, ... is chosen from
        agent.tell(agent.ask(), [0.0])
    assert sizes == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]


def test_sw_gp_ucb_keeps_the_last_rounds(world):
    agent = agents.make("sw-gp-ucb", world.problem(batch_size=2), window=3)
    for t in range(9):
        agent.tell([t, t + 20], [0.0, 1.0])
    assert agent.posterior.observed.tolist() == [6, 7, 8, 26, 27, 28]


@pytest.mark.parametrize("name", ["ei", "mpi"])
def test_improvement_fades(replay, world, normal, name):
    dense = world.dense(epsilon=0.1)
    replay(name, improvement(normal, name), dense=dense, epsilon=0.1)


@pytest.mark.parametrize("name", ["ei", "mpi"])
def test_improvement_starts_anew(replay, normal, name):
    score = improvement(normal, name)
    replay(name, score, forget=lambda t: t - (t - 1) % 6, reset_every=6)


@pytest.mark.parametrize("settings", [{"window": 4}, {"reset_every": 4}])
def test_the_best_observed_reward_is_forgotten_too(replay, normal, settings):
    kept = (lambda t: t - 4) if "window" in settings else (lambda t: t - (t - 1) % 4)
    score = improvement_on_the_observed(normal)
    replay("ei", score, forget=kept, incumbent="observed", **settings)


@pytest.mark.parametrize("name", ["max-mean", "max-variance"])
def test_mean_and_variance_fade(replay, world, name):
    def score(t, mean, var, dense):
        return mean if name == "max-mean" else var

    replay(name, score, dense=world.dense(epsilon=0.2), epsilon=0.2)


FEW = np.array([[0.0], [0.2], [0.3], [0.7], [1.0]])
TOLD = [([0, 3], [0.4, -0.3]), ([1, 1], [0.9, 0.5]), ([3, 2], [0.6, 0.3]), ([4, 4], [-0.2, 0.4])]


def joint(gram, noise_var, epsilon, first):
    """Mean and covariance of all arms after TOLD, from round ``first`` on: eqs. (7)-(8)."""
    arms = np.concatenate([a for a, _ in TOLD[first:]])
    rewards = np.concatenate([r for _, r in TOLD[first:]])
    times = np.repeat(np.arange(first, len(TOLD)), 2)
    fade = (1 - epsilon) ** (abs(times[:, None] - times) / 2)
    inner = gram[np.ix_(arms, arms)] * fade + noise_var * np.eye(len(arms))
    cross = gram[arms] * ((1 - epsilon) ** ((len(TOLD) - times) / 2))[:, None]
    weights = np.linalg.solve(inner, cross)
    return rewards @ weights, gram - cross.T @ weights


@pytest.mark.parametrize(
    ("settings", "epsilon", "first"),
    [
        ({}, 0.0, 0),
        ({"epsilon": 0.3}, 0.3, 0),
        ({"window": 2}, 0.0, 2),
        ({"reset_every": 3}, 0.0, 3),
    ],
)
@pytest.mark.parametrize("back", ["rows", "coefficients"])
def test_thompson_sampling_plays_an_arm_as_often_as_it_is_best(settings, epsilon, first, back):
    noise_var, draws = 0.1, 20_000
    problem = Problem(Arms(FEW), SquaredExponential(0.3), noise_var, batch_size=draws)
    agent = agents.make("ts", problem, seed=1, posterior=back, **settings)
    for arms, rewards in TOLD:
        agent.tell(arms, rewards)
    gram = np.exp(-0.5 * ((FEW - FEW.T) / 0.3) ** 2)
    mean, covariance = joint(gram, noise_var, epsilon, first)
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(5))
    brute = mean + np.random.default_rng(2).standard_normal((20 * draws, 5)) @ root.T
    expected = np.bincount(brute.argmax(axis=1), minlength=5) / 20
    counts = np.bincount(agent.ask(), minlength=5)
    assert (expected > 50).all()
    # Chi-squared, 4 degrees of freedom, with the brute force's own noise: above 25 with 5e-5.
    assert ((counts - expected) ** 2 / expected).sum() < 25


def test_the_block_length_is_the_papers(world):
    problem = world.problem(epsilon=0.01, horizon=500)
    assert paper_block_length(problem) == round(12 * 0.01 ** (-1 / 4))  # 38
    assert agents.make("r-gp-ucb", problem).keep.every == 38
    c = 2 / (2 * 2.5 + 2)
    matern = problem.replaced(kernel=Matern52(0.2))
    assert paper_block_length(matern) == round(24 * 0.01 ** (-1 / (4 - c)))
    assert paper_block_length(problem.replaced(horizon=20)) == 20
    assert agents.make("r-gp-ucb", problem, reset_every=7).keep.every == 7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": None}, "does not state its epsilon"),
        ({"horizon": None}, "does not state its horizon"),
        ({"kernel": Linear()}, "no block length for the kernel 'linear'"),
    ],
)
def test_without_a_block_length_it_says_what_is_missing(world, changes, message):
    problem = world.problem(**{"epsilon": 0.01, "horizon": 500, **changes})
    with pytest.raises(InvalidInput, match=message):
        agents.make("r-gp-ucb", problem)


def test_tv_gp_ucb_takes_the_drift_of_the_problem(world):
    learns = agents.make("tv-gp-ucb", world.problem())
    assert learns.refit.learning.what == ("epsilon",)
    assert learns.epsilon == 0.01
    own = agents.make("tv-gp-ucb", world.problem(), learn={"what": ["epsilon"], "every": 3})
    assert own.refit.learning.every == 3
    assert agents.make("tv-gp-ucb", world.problem(epsilon=0.2)).epsilon == 0.2
    assert agents.make("tv-gp-ucb", world.problem(epsilon=0.2)).refit is None
    assert agents.make("tv-gp-ucb", world.problem(epsilon=0.2), epsilon=0.1).epsilon == 0.1
    for wrong in (-0.1, 1.1, np.nan, "slow"):
        with pytest.raises(InvalidInput, match="epsilon must"):
            agents.make("tv-gp-ucb", world.problem(), epsilon=wrong)


@pytest.mark.parametrize("domain", [Arms.grid(9), Box([0.0, 0.0], [1.0, 1.0])], ids=["arms", "box"])
@pytest.mark.parametrize("name", ["ei", "mpi", "qei", "sp", "gp-ucb", "ts", "ts-rsr"])
def test_agents_play_on_where_all_data_have_faded_away(name, domain):
    problem = Problem(domain, SquaredExponential(0.3), 0.1, batch_size=2, prior_mean=0.4)
    agent = agents.make(name, problem, seed=0, epsilon=1.0)
    for _ in range(3):
        agent.tell(domain.check(agent.ask()), [5.0, 7.0])
        assert len(agent.posterior.observed) == 0
        if hasattr(agent, "incumbent"):
            assert agent.acquisition().level == pytest.approx(0.4)


@pytest.mark.parametrize("acquisition", ["ucb", "ei", "ts"])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ms-ucb", {"d": 1}),
        ("line-bo", {}),
        ("rembo", {"d": 1}),
        ("rembo", {"d": 1, "kernel_on": "x"}),
        ("hesbo", {"d": 1}),
        ("sre", {"d": 1, "rounds": 2}),
        ("turbo", {"n_initial": 2}),
    ],
)
def test_agents_of_many_dimensions_play_on_too(name, settings, acquisition):
    box = Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    problem = Problem(box, SquaredExponential(0.3), 0.1)
    settings = {"epsilon": 1.0, "acquisition": acquisition, **settings}
    agent = agents.make(name, problem, seed=0, **settings)
    for _ in range(4):
        agent.tell(box.check(agent.ask()), [5.0])


WHERE = {
    "arms": Arms.grid(9),
    "box": Box([0.0, 0.0], [1.0, 1.0]),
}
LOW = ("rembo", "hesbo", "ms-ucb", "dropout-ucb", "sre")


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", agents.names())
def test_where_all_has_faded_away_agents_play_as_if_nothing_had_been_told(name, where):
    problem = Problem(WHERE[where], SquaredExponential(0.2), 0.1, batch_size=2)
    given = {"d": 1} if name in LOW else {}
    try:
        agent = agents.make(name, problem, seed=1, epsilon=1.0, **given)
    except ValueError:
        pytest.skip("it does not fade, or does not play there")
    rng = np.random.default_rng(0)
    for _ in range(3):
        actions = agent.ask()
        assert actions.shape == problem.domain.check(actions).shape
        agent.tell(actions, rng.standard_normal(2))
    agent.ask()
    agent.posterior.advance(0.02, 1e9)
    at = None if where == "arms" else problem.domain.sample(rng, 5)
    mean, sd = agent.belief(at)
    assert mean == pytest.approx(0.0, abs=1e-12)
    assert sd == pytest.approx(1.0, abs=1e-12)
    if name != "cei":  # whose incumbent is a reward
        assert getattr(agent, "incumbent", 0.0) == 0.0


@pytest.mark.parametrize("search", [None, "round"])
@pytest.mark.parametrize("name", ["ei", "mpi", "qei", "max-mean", "ts"])
def test_a_long_time_brings_the_prior_back(name, search):
    problem = Problem(WHERE["box"], SquaredExponential(0.2), 0.1, prior_mean=3.0)
    agent = agents.make(name, problem, seed=0, epsilon=0.02, search=search)
    rng = np.random.default_rng(0)
    for _ in range(4):
        agent.tell(agent.ask(), rng.standard_normal(1))
    agent.posterior.advance(0.02, 86400.0)
    assert getattr(agent, "incumbent", 3.0) == 3.0
    assert np.isfinite(agent.ask()).all()


@pytest.mark.parametrize("wrong", [np.array([0.1, 0.2]), np.zeros(0)])
def test_an_array_is_no_drift(wrong):
    problem = Problem(Arms.grid(5), SquaredExponential(0.2), 0.1)
    with pytest.raises(InvalidInput, match="epsilon must be a number"):
        agents.make("qei", problem, epsilon=wrong)
    with pytest.raises(InvalidInput, match="temporal kernel must be a dict"):
        agents.make("w-dbo", problem, temporal=wrong)


def test_a_snapshot_knows_how_long_the_next_round_takes():
    problem = Problem(Arms.grid(9), Matern52(0.3), noise_var=0.05)
    agent, other = (agents.make("tv-gp-ucb", problem, seed=0, epsilon=0.1) for _ in range(2))
    agent.pass_until(0.3, 0.5)
    other.restore(agent.snapshot())
    for each in (agent, other):
        each.tell([3], [1.0])
    assert agent.clock == other.clock == 0.5
    assert equal(agent, other)
