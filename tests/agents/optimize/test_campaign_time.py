"""Time stamps of a campaign."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from gpbandits_env.agents.optimize import Campaign, Choice, minimize
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.temporal import temporal_from_dict


def test_time_passes_until_a_failure_is_told():
    campaign, twin = (Campaign([(0.0, 1.0)], "ei", seed=0, epsilon=0.1) for _ in range(2))
    for one in (campaign, twin):
        one.observe([0.5], 1.0)
    failed = campaign.observe([0.2], np.nan, time=5.0)
    twin.ask(time=5.0)
    assert (failed.status, failed.time, campaign.now) == ("failed", 5.0, 5.0)
    assert np.array_equal(campaign.predict([0.5]), twin.predict([0.5]))


def test_a_round_ends_at_its_time_stamp_or_after_one_unit():
    campaign = Campaign([(0.0, 1.0)], "ei", seed=0, epsilon=0.1)
    for time, now in ((3.5, 3.5), (None, 4.5), (4.5, 4.5)):
        (asked,) = campaign.ask()
        assert campaign.tell(asked, 1.0, time=time).time == campaign.now == now
        assert campaign.agent.clock == now
    assert campaign.agent.round == 3


@pytest.mark.parametrize("steps", [[1.0, 2.5, 2.5, 7.0], [0.5, 0.5, 3.25, 4.0]])
def test_data_fade_by_the_clock(steps):
    """Means by numpy.linalg from k(x, z) (1 - eps)^(|t - t'| / 2), at a time of its own."""
    epsilon, ell, noise = 0.1, 0.3, 0.01
    campaign = Campaign(
        [(0.0, 1.0)], "gp-ucb", seed=0, n_initial=0, epsilon=epsilon, standardize=False,
        kernel={"type": "se", "lengthscale": ell}, noise_var=noise,
    )  # fmt: skip
    x = np.array([0.1, 0.4, 0.45, 0.9])
    y = np.sin(5 * x)
    for point, value, t in zip(x, y, steps, strict=True):
        campaign.observe({"x0": point}, value, time=t)
    now = 9.5
    campaign.ask(time=now)
    at = np.linspace(0, 1, 7)
    t = np.array(steps)

    def covariance(a, b, ages):
        return np.exp(-((a[:, None] - b) ** 2) / (2 * ell**2)) * (1 - epsilon) ** (ages / 2)

    gram = covariance(x, x, np.abs(t[:, None] - t)) + noise * np.eye(4)
    cross = covariance(x, at, (now - t)[:, None])
    mean, sd = campaign.agent.belief(at[:, None])
    assert mean == pytest.approx(cross.T @ np.linalg.solve(gram, y), abs=1e-8)
    var = 1 - (cross * np.linalg.solve(gram, cross)).sum(axis=0)
    assert sd == pytest.approx(np.sqrt(var), abs=1e-6)


def test_a_season_goes_by_the_clock():
    """At irregular times, mean and variance are those of the formula."""
    day = {"type": "periodic", "period": 24.0, "harmonics": 3}
    campaign = Campaign(
        {"x": Choice(("a", "b", "c"))}, "gp-ucb", seed=0, n_initial=0, temporal=day,
        standardize=False, kernel={"type": "se", "lengthscale": 0.3}, noise_var=0.01,
    )  # fmt: skip
    times, chosen, y = np.array([1.0, 13.5, 30.0, 49.0]), "abcb", np.array([1.0, 0.2, -0.4, 0.7])
    for name, value, t in zip(chosen, y, times, strict=True):
        campaign.observe({"x": name}, value, time=t)
    now = 73.25
    campaign.ask(time=now)
    posterior, kernel = campaign.agent.posterior, temporal_from_dict(day)
    gram = posterior.kernel(posterior.arms.coordinates)
    seen = [campaign.space.action({"x": name}) for name in chosen]
    noisy = gram[np.ix_(seen, seen)] * kernel(times, times) + 0.01 * np.eye(4)
    cross = gram[seen] * kernel(times, np.array([now]))
    assert posterior.mean == pytest.approx(cross.T @ np.linalg.solve(noisy, y), abs=1e-8)
    var = 1.0 - (cross * np.linalg.solve(noisy, cross)).sum(axis=0)
    assert posterior.var == pytest.approx(var, abs=1e-8)


def test_time_stamps_count_in_a_box_under_a_temporal_kernel():
    day = {"type": "sum", "kernels": [{"type": "periodic", "period": 24.0}, {"type": "static"}]}
    campaign = Campaign(
        {"x": (0.0, 4.0), "y": (0.0, 1.0)}, "gp-ucb", seed=0, n_initial=0, temporal=day,
        standardize=False, kernel={"type": "se", "lengthscale": 0.3}, noise_var=0.01,
    )  # fmt: skip
    times, y = np.array([1.0, 13.5, 30.0, 49.0]), np.array([1.0, 0.2, -0.4, 0.7])
    points = np.array([[0.1, 0.2], [0.5, 0.5], [0.9, 0.1], [0.3, 0.8]])
    for point, value, t in zip(points, y, times, strict=True):
        campaign.observe({"x": 4.0 * point[0], "y": point[1]}, value, time=t)
    now = 73.25
    campaign.ask(time=now)
    posterior, kernel = campaign.agent.posterior, temporal_from_dict(day)
    x = np.random.default_rng(0).uniform(size=(9, 2))
    noisy = posterior.kernel(points) * kernel(times, times) + 0.01 * np.eye(4)
    cross = posterior.kernel(points, x) * kernel(times, np.array([now]))
    mean, var = posterior.moments(x)
    assert mean == pytest.approx(cross.T @ np.linalg.solve(noisy, y), abs=1e-8)
    expected = 1.0 - (cross * np.linalg.solve(noisy, cross)).sum(axis=0)
    assert var == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("when", [datetime(2026, 3, 1, 12), np.datetime64("2026-03-01T12:00")])
def test_a_date_is_refused_with_the_way_to_a_number(when):
    campaign = Campaign([(0.0, 1.0)], "ei", seed=0)
    with pytest.raises(InvalidInput, match="timedelta"):
        campaign.observe([0.5], 1.0, time=timedelta(hours=3))
    cure = r"\(date - first\) / timedelta\(hours=1\)"
    with pytest.raises(InvalidInput, match=cure):
        campaign.observe([0.5], 1.0, time=when)
    with pytest.raises(InvalidInput, match=cure):
        minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=2, time=lambda: when)
    first = type(when)("2026-03-01") if isinstance(when, np.datetime64) else datetime(2026, 3, 1)
    assert campaign.observe([0.5], 1.0, time=(when - first) / timedelta(hours=1)).time == 12.0
