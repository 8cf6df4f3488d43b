"""W-DBO: the criterion against its reference values, and every choice and removal re-derived."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from scipy.special import gamma, kv
from scipy.stats import qmc

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.agents.algorithms.w_dbo import Criterion, in_future
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.temporal import Matern32Time
from gpbandits_env.problem import Problem

X = np.array([[0.1, 0.2], [0.4, 0.9], [0.8, 0.3], [0.5, 0.5]])
Y, TIMES = np.array([0.5, -1.0, 0.3, 0.9]), np.array([0.1, 0.4, 0.6, 0.9])
ELL, TIME = 0.3, Matern32Time(0.4)


def future(kernel, times, now):
    """The integrals of T(u, t_j) T(u, t_l) over u from now on."""
    features = in_future(kernel, times, now)
    return features @ features.T


def staleness(gram, rewards, overlap):
    """The formula of `Criterion.staleness` from Delta, y and C, in dense algebra."""
    precision = np.linalg.inv(gram)
    weights, own = precision @ rewards, precision.diagonal()
    total = weights @ overlap @ weights + np.vdot(precision, overlap)
    each = np.einsum("ij,ij->i", precision @ overlap, precision)
    return np.sqrt(each * ((weights / own) ** 2 + 1.0 / own) / total)


def squared_exponential(r):
    return np.pi * ELL**2 * np.exp(-(r**2) / (4 * ELL**2))


def matern52(r):
    nu, a = 2.5, np.sqrt(5.0) / ELL
    order, r = 2 * nu + 1, np.maximum(r, 1e-9)
    front = 2 ** (2 - 2 * nu) * np.pi * gamma(nu + 1) ** 2 / (gamma(2 * nu + 2) * gamma(nu) ** 2)
    return front * a ** (2 * nu - 1) * r**order * kv(order, a * r)


# In the plane the integral over space has a closed form; the variance is 0.8, the noise 0.1.
REFERENCE = [
    (Matern52, matern52, [0.05982107, 0.20751288, 0.23811972, 0.93385962]),
    (SquaredExponential, squared_exponential, [0.05928692, 0.20489942, 0.23431443, 0.93578768]),
]


@pytest.mark.parametrize(("kind", "integral", "expected"), REFERENCE)
def test_staleness_has_the_reference_values(kind, integral, expected):
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    overlap = np.minimum(1.0, integral(distances)) * future(TIME, TIMES, 1.0)
    gram = kind(ELL, variance=0.8)(X, X) * TIME(TIMES, TIMES) + 0.1 * np.eye(4)
    np.testing.assert_allclose(staleness(gram, Y, overlap), expected, atol=1e-8)


def test_staleness_is_the_distance_of_posteriors_with_and_without():
    """One inversion per observation, and the integral over time by quadrature."""
    rng = np.random.default_rng(0)
    x, y, times = rng.random((7, 2)), rng.standard_normal(7), np.sort(rng.random(7))
    kernel, arms, now = Matern52(0.4), rng.random((9, 2)), 1.2
    nodes, weights = np.polynomial.legendre.leggauss(200)
    later = now + 4.0 * (nodes + 1.0)
    in_time = (TIME(later, times).T * weights * 4.0) @ TIME(later, times)
    space = kernel(x, arms)
    overlap = space @ space.T / len(arms) * in_time
    gram = kernel(x, x) * TIME(times, times) + 0.1 * np.eye(7)
    inverse = np.linalg.inv(gram)
    expected = []
    for i in range(7):
        others = np.delete(np.arange(7), i)
        without = np.zeros((7, 7))
        without[np.ix_(others, others)] = np.linalg.inv(gram[np.ix_(others, others)])
        w, m = (inverse - without) @ y, inverse - without
        expected.append(w @ overlap @ w + np.sum(m * overlap))
    a = inverse @ y
    expected = np.sqrt(np.array(expected) / (a @ overlap @ a + np.sum(inverse * overlap)))
    found = staleness(gram, y, space @ space.T / len(arms) * future(TIME, times, now))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def left(budget, kept, gram, rewards, space, times, now, rate):
    """The budget and the observations that are left after removals, in dense algebra."""
    while len(kept) > 2:
        when, some = times[kept], space[kept]
        p, q = rate * (now - when)[:, None], rate * (now - when)
        over = np.exp(-p - q) * ((1 + p) * (1 + q) / 2 + (2 + p + q) / 4 + 0.25) / rate
        overlap = some @ some.T / space.shape[1] * over
        stale = staleness(gram[np.ix_(kept, kept)], rewards[kept], overlap)
        i = int(stale.argmin())
        if 1.0 + stale[i] >= budget:
            break
        budget, kept = budget / (1.0 + stale[i]), np.delete(kept, i)
    return budget, kept


def test_replays_its_choices_and_removals_in_a_box():
    """The integral over space is the mean over 512 Sobol points; the search is local."""
    low, high = np.array([-1.0, 2.0]), np.array([1.0, 5.0])
    kernel, time, rate = SquaredExponential((0.5, 0.8)), Matern32Time(8.0), np.sqrt(3.0) / 8.0
    problem = Problem(Box(low, high), kernel, 0.04, prior_mean=0.3)
    given = {"temporal": time, "alpha": 0.5, "batch": "hallucinate"}
    agent = agents.make("w-dbo", problem, seed=0, **given)
    rng, unit = np.random.default_rng(0), qmc.Sobol(2, scramble=False).random(512)
    places = low + unit * (high - low)
    anywhere = rng.uniform(low, high, (2000, 2))
    x, y, times = np.empty((0, 2)), np.empty(0), np.empty(0)
    kept, budget, checked = np.empty(0, int), 1.0, 0.0
    for now in np.cumsum(rng.uniform(0.2, 2.0, 30)):
        chosen = agent.ask()
        if len(kept):
            at, when = x[kept], times[kept]
            gram = kernel(at, at) * time(when, when) + 0.04 * np.eye(len(at))
            points = np.concatenate([chosen, anywhere])
            cross = kernel(points, at) * time(np.array([agent.clock]), when)
            weights = np.linalg.solve(gram, cross.T)
            var = 1.0 - np.sum(cross * weights.T, axis=1)
            score = weights.T @ (y[kept] - 0.3)
            score += np.sqrt(0.2 * 2 * np.log(2 * len(kept)) * np.maximum(var, 0.0))
            assert score[0] >= score.max() - 1e-6
        read = agent.clock
        agent.pass_until(read, now)
        reward = np.sin(3.0 * chosen[0, 0] + 0.3 * now) + 0.2 * rng.standard_normal()
        agent.tell(chosen, [reward])
        kept = np.append(kept, len(x))
        x, y, times = np.vstack([x, chosen]), np.append(y, reward), np.append(times, read)
        budget, checked = budget * 1.5 ** ((now - checked) / 8.0), now
        gram = kernel(x, x) * time(times, times) + 0.04 * np.eye(len(x))
        budget, kept = left(budget, kept, gram, y - 0.3, kernel(x, places), times, now, rate)
        np.testing.assert_array_equal(np.flatnonzero(agent.keep.usable(agent.data)), kept)
        assert agent.keep.budget == pytest.approx(budget)
    assert 2 < len(kept) < len(x)


@pytest.mark.parametrize("clock", [None, {"thinking": [0.2, 0.05], "evaluation": 0.5}])
@pytest.mark.parametrize("batch_size", [1, 2])
def test_replays_its_choices_and_removals(clock, batch_size):
    drift = {"type": "temporal", "kernel": {"type": "matern32", "lengthscale": 8.0}}
    more = {"batch_size": batch_size, "noise_var": 0.04}
    env = gym.make("gpbandits/Drifting-v0", grid=[5, 5], drift=drift, clock=clock, **more)
    agent = agents.make("w-dbo", env, seed=0, batch="hallucinate", alpha=0.5)
    problem = env.unwrapped.problem
    points, kernel, time = problem.domain.coordinates, problem.kernel, Matern32Time(8.0)
    rate, space = np.sqrt(3.0) / 8.0, kernel(points, points)  # of the kernel in time
    arms, rewards, times = (np.empty(0, int), np.empty(0), np.empty(0))
    kept, budget, checked, now = np.empty(0, int), 1.0, 0.0, 0.0
    observation, _ = env.reset(seed=4)
    for t in range(40):
        chosen = np.atleast_1d(agent.ask())
        known = len(kept)
        for i, arm in enumerate(chosen):
            at, when = np.append(arms[kept], chosen[:i]), np.append(times[kept], np.full(i, now))
            gram = space[np.ix_(at, at)] * time(when, when) + 0.04 * np.eye(len(at))
            cross = space[:, at] * time(np.array([now]), when)
            weights = np.linalg.solve(gram, cross.T) if len(at) else np.empty((0, 25))
            var = np.diag(space) - np.sum(cross * weights.T, axis=1)
            before = np.linalg.solve(gram[:known, :known], rewards[kept]) if known else np.empty(0)
            beta = 0.2 * 2 * np.log(2 * max(known, 1))
            score = cross[:, :known] @ before + np.sqrt(beta * np.maximum(var, 0.0))
            assert score[arm] == pytest.approx(score.max(), abs=1e-8)
        observation, *_ = env.step(chosen)
        agent.observe(observation)
        read, now = observation["time"] if clock else (float(t), t + 1.0)
        kept = np.append(kept, len(arms) + np.arange(batch_size))
        arms, rewards = np.append(arms, chosen), np.append(rewards, observation["rewards"])
        times = np.append(times, np.full(batch_size, read))
        budget, checked = budget * 1.5 ** ((now - checked) / 8.0), now
        gram = space[np.ix_(arms, arms)] * time(times, times) + 0.04 * np.eye(len(arms))
        budget, kept = left(budget, kept, gram, rewards, space[arms], times, now, rate)
        np.testing.assert_array_equal(np.flatnonzero(agent.keep.usable(agent.data)), kept)
        assert agent.keep.budget == pytest.approx(budget)
    assert 2 < len(kept) < len(arms)


@pytest.mark.parametrize("noise_var", [0.05, 1e-5])
def test_its_criterion_is_accurate_after_1000_rounds(monkeypatch, noise_var):
    """It is updated as observations come and go; here it is computed anew to compare with."""
    made = []
    start = Criterion.__init__
    monkeypatch.setattr(Criterion, "__init__", lambda *given: made.append(start(*given)))
    kernel, time, rng = Matern52(0.4), Matern32Time(12.0), np.random.default_rng(0)
    problem = Problem(Box(np.zeros(2), np.ones(2)), kernel, noise_var, prior_mean=0.2)
    agent = agents.make("w-dbo", problem, seed=0, temporal=time, alpha=0.3)
    for now in np.cumsum(rng.exponential(0.4, 1000)):
        agent.pass_until(agent.clock, now)
        x = rng.random((1, 2))
        agent.tell(x, [np.sin(5.0 * x[0, 0] + 0.2 * now) + 0.2 * rng.standard_normal()])
    kept = np.flatnonzero(agent.keep.usable(agent.data))
    x, times, y = agent.data.points[kept], agent.data.times[kept], agent.data.rewards[kept]
    spread = kernel(x, qmc.Sobol(2, scramble=False).random(512))
    overlap = spread @ spread.T / 512 * future(time, times, agent.clock)
    gram = kernel(x, x) * time(times, times) + noise_var * np.eye(len(x))
    known = agent.keep._known
    found = known.staleness(agent.clock)[np.argsort(known.rows)]
    np.testing.assert_allclose(found, staleness(gram, y - 0.2, overlap), atol=1e-8)
    assert 20 < len(kept) < 500
    assert len(made) < 10


def test_its_criterion_is_computed_anew_where_it_is_inaccurate():
    problem = Problem(Box(np.zeros(2), np.ones(2)), Matern52(0.4), 0.05)
    agent = agents.make("w-dbo", problem, seed=0, alpha=0.01)
    rng = np.random.default_rng(0)
    for _ in range(20):
        agent.tell(rng.random((1, 2)), rng.standard_normal(1))
    known = agent.keep._known
    known._matrices[2] *= 1.0 + 1e-6
    agent.tell(rng.random((1, 2)), rng.standard_normal(1))
    assert agent.keep._known is not known
    assert agent.keep._known.accurate(0)


def test_what_it_holds_after_removals_follows_from_its_snapshot():
    """Removals update the factor of the posterior, and a restored agent repeats them."""
    rng, problem = (
        np.random.default_rng(0),
        Problem(Box(np.zeros(2), np.ones(2)), Matern52(0.4), 0.05),
    )
    agent, other = (agents.make("w-dbo", problem, seed=0, alpha=2.0) for _ in range(2))
    held = []
    for t in range(70):
        x = agent.ask()
        if t % 9 == 8:
            other.restore(pickle.loads(pickle.dumps(agent.snapshot())))
            found, expected = (
                a.posterior.moments(problem.domain.sample(np.random.default_rng(t), 40))
                for a in (other, agent)
            )
            np.testing.assert_array_equal(found, expected)
        reward = np.sin(5.0 * x[0, 0] + 0.2 * t) + 0.2 * rng.standard_normal()
        agent.tell(x, [reward])
        held.append(sum(row is not None for *_, row in agent.conditioned._calls))
    assert max(held) > 5
    assert 0 in held[40:]  # conditioned anew


@pytest.mark.parametrize("finite", [True, False])
def test_it_continues_after_any_time(finite):
    """The budget would overflow after 80,000 rounds at the default lengthscale."""
    domain = Arms(X) if finite else Box(np.zeros(2), np.ones(2))
    agent = agents.make("w-dbo", Problem(domain, Matern52(0.4), 0.05), seed=0)
    for dt in (1.0, 80_000.0, 1e9, 1e140, 1.0, 1.0):
        agent.tell(agent.ask(), [0.3])
        agent.wait(dt)
        assert 1.0 < agent.keep.budget < np.inf or agent.round < 3
    assert len(agent.data.rewards) == 6
    assert np.isfinite(agent.posterior.mean_at_observed()).all()


def test_observations_far_from_all_places_are_equally_stale():
    """The oldest is removed first, and the budget stays a number."""
    problem = Problem(Box(np.zeros(2), np.ones(2)), SquaredExponential(1e-6), 0.05)
    agent = agents.make("w-dbo", problem, seed=0)
    for i in range(6):
        agent.tell([[0.1 + 0.1 * i, 0.5]], [0.3])
    assert agent.keep.budget == pytest.approx(1.25 ** (6 / 25.0))
    assert agent.keep.dropped == [0, 1, 2, 3]


def test_another_kernel_in_time_is_an_error():
    env = gym.make("gpbandits/MarkovGP-v0", grid=5)
    with pytest.raises(InvalidInput, match="Matern 3/2"):
        agents.make("w-dbo", env, seed=0, temporal={"type": "periodic", "period": 5.0})
    with pytest.raises(InvalidInput, match="leave out"):
        agents.make("w-dbo", env, seed=0, window=5)
