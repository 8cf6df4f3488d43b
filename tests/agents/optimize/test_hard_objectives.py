"""Objectives that fail, are flat, or return the same value again."""

import numpy as np
import pytest

from gpbandits_env.agents.acquisitions import Mean
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, minimize, surrogates
from gpbandits_env.agents.search import ArmSearch
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.posterior import posterior_for

SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def bowl(p):
    return (p["x"] - 0.8) ** 2 + (p["y"] - 0.7) ** 2


def played(campaign, calls, value):
    for _ in range(calls):
        (suggestion,) = campaign.ask()
        campaign.tell(suggestion.id, value(suggestion.params))
    return campaign


def failing(p):
    """The minimum of the bowl is at the boundary of failures, at (0.55, 0.45)."""
    return np.nan if p["x"] + p["y"] > 1.0 else bowl(p)


@pytest.mark.parametrize("agent", ["ei", pytest.param("gp-ucb", marks=pytest.mark.slow)])
def test_agents_learn_where_evaluations_fail(agent):
    campaign = Campaign(SQUARE, agent, maximize=False, seed=0, n_initial=6)
    played(campaign, 18, failing)
    assert sum(record.status == "failed" for record in campaign.records[6:]) <= 5
    assert campaign.best.value < 0.155  # 0.125 at the boundary
    slack = campaign._surrogates.failures.success
    done = np.array([list(r.params.values()) for r in campaign.records if r.status == "done"])
    failed = np.array([list(r.params.values()) for r in campaign.failed])
    assert slack.mean_at(done).mean() > 0.5 > 0.0 > slack.mean_at(failed).mean()


def test_a_model_of_failures_is_kept_in_the_file(tmp_path):
    plain = Campaign(SQUARE, maximize=False, seed=1, n_initial=4)
    file = tmp_path / "campaign.json"
    resumed = Campaign(SQUARE, maximize=False, seed=1, n_initial=4, file=file)
    for _ in range(9):
        played(plain, 1, failing)
        played(resumed, 1, failing)
        resumed = Campaign.resume(file)
    assert len(plain.failed) > 0
    assert resumed.snapshot()["records"] == plain.snapshot()["records"]


def test_the_variance_is_conditioned_on_the_last_failed_points(monkeypatch):
    campaign = Campaign(SQUARE, maximize=False, seed=0, n_initial=6)
    played(campaign, 10, failing)
    monkeypatch.setattr(surrogates, "LAST_FAILED", 2)
    kept, posterior = [], campaign.agent.posterior
    monkeypatch.setattr(posterior, "hallucinate", lambda points: kept.extend(points.tolist()))
    campaign.ask()
    failed = [list(record.params.values()) for record in campaign.failed]
    assert len(failed) > 2
    np.testing.assert_allclose(kept, failed[-2:])


def test_a_corrected_failure_is_learned_anew():
    campaign = Campaign(SQUARE, maximize=False, seed=1, n_initial=4)
    played(campaign, 6, failing)
    for record in campaign.failed:
        campaign.correct(record.id, 1.0)
    assert campaign._surrogates.failures.success is None


def test_without_any_value_nothing_is_concluded_from_failures():
    campaign = Campaign(SQUARE, seed=0, n_initial=2)
    played(campaign, 5, lambda p: np.nan)
    assert len({tuple(r.params.values()) for r in campaign.records}) == 5
    assert campaign._surrogates.failures.success is None


def test_agents_with_an_embedding_take_failures_without_a_model():
    campaign = Campaign({**SQUARE, "z": (0.0, 1.0)}, "rembo", seed=0, n_initial=2, d=2)
    played(campaign, 5, lambda p: np.nan if p["x"] > 0.5 else p["y"])
    assert campaign.failed
    assert campaign._surrogates.failures.success is None


GRID = {"i": Integer(0, 15), "j": Integer(0, 15)}


def failing_once():
    """The least value is 0, at (4, 11), where the first call fails; the next ones are 1."""
    calls = []

    def value(p):
        away = (p["i"] - 4) ** 2 + (p["j"] - 11) ** 2
        calls.append(away)
        return np.nan if away == 0 and calls.count(0) == 1 else float(away)

    return value


@pytest.mark.parametrize(("failures", "best"), [("auto", 0.0), ("random", 0.0), ("region", 1.0)])
def test_a_point_that_failed_by_chance_is_chosen_again(failures, best):
    campaign = Campaign(GRID, maximize=False, seed=0, failures=failures)
    played(campaign, 30, failing_once())
    assert len(campaign.failed) == 1
    assert campaign.best.value == best


@pytest.mark.parametrize("agent", ["ei", pytest.param("ts-rsr", marks=pytest.mark.slow)])
def test_failures_by_chance_do_not_keep_from_the_minimum(agent):
    rng = np.random.default_rng(5)
    campaign = Campaign(GRID, agent, maximize=False, seed=1)
    value = failing_once()
    played(campaign, 45, lambda p: np.nan if rng.random() < 0.3 else value(p))
    assert len(campaign.failed) > 8
    assert campaign.best.value == 0.0


def test_a_point_that_always_fails_is_given_up():
    campaign = Campaign(GRID, maximize=False, seed=0)
    away = failing_once()
    played(campaign, 40, lambda p: away(p) or np.nan)
    assert 1 < sum(p.params == {"i": 4, "j": 11} for p in campaign.failed) < 8
    assert campaign.best.value == 1.0


def test_a_small_space_is_exhausted_once_each_point_has_a_value_or_fails_for_good():
    def ended(failures, times):
        campaign = Campaign(
            {"n": Integer(0, 5)}, maximize=False, seed=0, noise=0.0, failures=failures
        )
        for n in [*range(6), *[5] * (times - 1)]:
            campaign.observe({"n": n}, np.nan if n == 5 else float(n))
        return campaign

    assert ended("region", 1).exhausted
    assert not ended("random", 3).exhausted
    campaign = ended("random", 1)
    played(campaign, 1, lambda p: float(p["n"]))
    assert campaign.records[-1].params == {"n": 5}
    assert campaign.exhausted


def test_a_run_ends_once_all_points_have_failed_because_of_their_place():
    found = minimize(lambda x: np.nan, [Integer(0, 5)], n_calls=9, seed=0, failures="region")
    assert found.nfev == 6
    assert "no repeat would differ" in found.message


def test_the_cause_of_failures_is_a_setting_and_kept_in_the_file(tmp_path):
    with pytest.raises(UnknownName, match="failures"):
        Campaign(SQUARE, failures="chance")
    with pytest.raises(UnknownName, match="failures"):
        minimize(lambda x: x[0], [(0.0, 1.0)], failures="place")
    file = tmp_path / "campaign.json"
    plain = Campaign(GRID, maximize=False, seed=0, failures="random", file=file)
    with pytest.raises(InvalidInput, match="failures"):
        Campaign.open(file, GRID, maximize=False, seed=0)
    played(plain, 24, failing_once())
    resumed = Campaign.resume(file)
    assert resumed.snapshot()["failures"] == "random"
    assert resumed._surrogates.failures.success is None


def test_a_learned_rate_of_failures_is_kept_in_the_file(tmp_path):
    rng, file = np.random.default_rng(0), tmp_path / "campaign.json"
    plain = Campaign(SQUARE, maximize=False, seed=1, n_initial=4)
    resumed = Campaign(SQUARE, maximize=False, seed=1, n_initial=4, file=file)
    for _ in range(16):
        lost = rng.random() < 0.25
        for campaign in (plain, resumed):
            played(campaign, 1, lambda p, lost=lost: np.nan if lost else bowl(p))
        resumed = Campaign.resume(file)
    assert plain._surrogates.failures._learned.chance > 0.05
    assert resumed.snapshot()["records"] == plain.snapshot()["records"]


def test_a_flat_objective_is_covered_and_what_differs_is_climbed():
    campaign = Campaign(SQUARE, maximize=False, seed=0, n_initial=4)
    played(campaign, 16, lambda p: 7.0)
    points = np.array([list(r.params.values()) for r in campaign.records])
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 21)] * 2), axis=-1).reshape(-1, 2)
    assert np.linalg.norm(grid[:, None] - points, axis=2).min(axis=1).max() < 0.4
    assert not np.isin(points, [0.0, 1.0]).any()
    campaign = Campaign(SQUARE, maximize=False, seed=0, n_initial=4)
    played(campaign, 40, lambda p: min(0.0, bowl(p) - 0.02))
    assert campaign.best.value < -0.019
    assert len({repr(record.params) for record in campaign.records}) >= 38


@pytest.mark.parametrize("agent", ["ei", "gp-ucb", "ts", "ts-rsr"])
def test_values_without_noise_are_not_asked_for_again(agent):
    """One repeated evaluation shows that there is no noise; ``noise=0`` says so before."""
    for noise, repeats in ((None, 1), (0.0, 0)):
        campaign = Campaign(
            {"n": Integer(0, 11)}, agent, maximize=False, seed=0, n_initial=4, noise=noise
        )
        played(campaign, 12, lambda p: (p["n"] - 3) ** 2 + 0.1 * p["n"])
        asked = [record.params["n"] for record in campaign.records]
        assert len(asked) - len(set(asked)) <= repeats
        played(campaign, 3, lambda p: 0.0)  # all are known: any may be asked for


@pytest.mark.parametrize("noise", [None, 0.1])
def test_a_repeated_value_that_was_the_same_is_not_asked_for_again(noise):
    """Also where a noise is stated. A run then does not end, because that may be a coincidence."""
    corner = Campaign(SQUARE, maximize=False, seed=7, n_initial=4, noise=noise)
    for params in ([0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.3, 0.7], [0.6, 0.2]):
        corner.observe(params, sum(params))
    played(corner, 6, lambda p: sum(p.values()))
    assert len({repr(record.params) for record in corner.records[1:]}) == 10
    arms = Campaign({"n": Integer(0, 3)}, seed=0, n_initial=4, noise=noise)
    for n in (0, 1, 2, 3, 3):
        arms.observe([n], float(n))
    assert arms.exhausted == (noise is None)


def test_noisy_values_are_asked_for_again():
    rng = np.random.default_rng(0)
    campaign = Campaign({"n": Integer(0, 11)}, maximize=False, seed=0, n_initial=4)
    played(campaign, 20, lambda p: abs(p["n"] - 3) + rng.standard_normal())
    assert len({record.params["n"] for record in campaign.records}) < 12


def test_few_different_values_do_not_keep_a_run_at_one_point():
    """Ten equal values of one point are no coincidence, also if other points have this value."""
    space = {"a": Integer(0, 20), "x": (0.0, 1.0)}
    campaign = Campaign(space, maximize=False, seed=0)
    played(campaign, 40, lambda p: abs(p["a"] - 7.0))
    asked = [repr(record.params) for record in campaign.records]
    assert max(map(asked.count, asked)) == 10


def test_equal_values_may_be_a_coincidence():
    """Successes and failures as 0 and 1: that an option returned 1 twice says little."""
    campaign = Campaign({"kind": Choice(tuple("abcdefgh"))}, seed=0, n_initial=4)
    for kind, value in zip("abcdabab", [1, 0, 1, 0, 1, 0, 1, 0], strict=True):
        campaign.observe({"kind": kind}, value)
    assert campaign._surrogates.noise.is_present is not False


def test_an_agent_that_forgets_asks_again():
    campaign = Campaign({"n": Integer(0, 3)}, seed=0, n_initial=0, noise=0.0, window=3)
    played(campaign, 8, lambda p: float(p["n"]))
    assert campaign._surrogates.noise.is_present is not False


def test_excluded_arms_are_chosen_only_where_no_other_is_left():
    arms = Arms(np.linspace(0.0, 1.0, 5)[:, None])
    posterior = posterior_for(arms, SquaredExponential(0.3), 0.01)
    posterior.condition([4], [5.0])
    search, rng = ArmSearch(arms.size), np.random.default_rng(0)
    assert search.best(Mean(), posterior).tolist() == [4]
    search.excluded = np.array([4, 3])
    assert search.best(Mean(), posterior).tolist() == [2]
    assert not set(search.sampled(posterior, rng, 50)[0].tolist()) & {3, 4}
    region = search.region(posterior, lambda mean, var: mean > 1.0)
    assert search.best(Mean(), posterior, region)[0] in (2, 4)
    search.excluded = np.arange(5)
    assert search.best(Mean(), posterior).tolist() == [4]


def test_outliers_do_not_ruin_the_model():
    """Two values 1000 standard deviations away; the posterior has them drawn in."""
    rng = np.random.default_rng(0)
    points = [{"x": float(x), "y": float(y)} for x, y in rng.random((30, 2))]
    values = [bowl(p) for p in points]
    values[3], values[17] = 150.0, -150.0
    grid = [{"x": x, "y": y} for x in (0.2, 0.5, 0.8) for y in (0.2, 0.5, 0.8)]
    truth, errors = np.array([bowl(p) for p in grid]), {}
    for robust in (True, False):
        learn = {"what": ["lengthscale", "variance", "noise_var"], "robust": robust}
        campaign = Campaign(SQUARE, maximize=False, seed=0, n_initial=0, learn=learn)
        campaign.observe_all(points, values)
        errors[robust] = np.abs(campaign.predict(grid)[0] - truth).mean()
    assert errors[True] < 0.2 < 0.6 < errors[False]
    usual = Campaign(SQUARE, seed=0)
    assert usual.agent.refit.learning.robust
    usual = Campaign(SQUARE, seed=0, constraints={"c": 1.0})
    assert not usual._surrogates.slacks._models["c"].agent.refit.learning.robust


def test_predictions_are_in_the_units_of_values_that_were_drawn_in():
    """Most values are near the minimum, and one is 40 standard deviations of these away."""
    campaign = Campaign({"x": (0.0, 1.0)}, maximize=False, seed=0, n_initial=0)
    xs = np.concatenate([0.3 + 0.02 * np.linspace(-1, 1, 17), [0.5, 0.7, 0.9, 1.0]])
    campaign.observe_all([{"x": float(x)} for x in xs], [1e4 * (x - 0.3) ** 2 for x in xs])
    assert campaign.agent.posterior.rewards.min() > -1000.0  # drawn in
    mean, _ = campaign.predict([{"x": 0.3}, {"x": 0.9}])
    assert mean == pytest.approx([0.0, 3600.0], abs=2.0, rel=0.01)


def test_a_robust_campaign_is_resumed_bit_for_bit(tmp_path):
    file = tmp_path / "campaign.json"
    plain = Campaign(SQUARE, maximize=False, seed=1, n_initial=4)
    resumed = Campaign(SQUARE, maximize=False, seed=1, n_initial=4, file=file)
    for _ in range(9):
        for campaign in (plain, resumed):
            played(campaign, 1, lambda p: 1e6 if p["x"] > 0.8 else bowl(p))
        resumed = Campaign.resume(file)
    assert plain.agent.refit.winsorizer is not None
    assert resumed.snapshot()["records"] == plain.snapshot()["records"]


def test_the_spread_of_what_was_drawn_in_is_that_of_the_values():
    """At an outlier the map is steep, and an interval of it has the slope of the map."""
    campaign = Campaign([(0.0, 1.0)], seed=0)
    x = np.linspace(0.0, 1.0, 15)
    campaign.observe_all(x[:, None], np.where(x == 0.5, 30.0, np.sin(6.0 * x)))
    winsorizer = campaign.agent.refit.winsorizer
    mean, var = campaign.agent.posterior.moments(np.array([[0.5]]))
    ends = [winsorizer.undone(mean + side * 1e-4)[0] for side in (-1.0, 1.0)]
    slope = (ends[1] - ends[0]) / 2e-4
    assert slope > 2.0
    assert campaign.predict([0.5])[1] == pytest.approx(slope * np.sqrt(var), rel=1e-3)
