"""Noise that is told with the values, and noise that a campaign finds out about."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Integer
from gpbandits_env.agents.optimize.noise import pooled
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

SE = SquaredExponential(0.2)
SQUARE = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}
# When an evaluation is repeated does not depend on how well a search finds the maximum.
FEW = {"starts": 2, "candidates": 64, "evaluations": 40}


def bowl(p):
    return (p["x"] - 0.3) ** 2 + (p["y"] - 0.6) ** 2


def told(noise):
    """A campaign in which half of the values have a hundred times the noise of the others."""
    campaign = Campaign(SQUARE, maximize=False, seed=0, n_initial=6)
    rng = np.random.default_rng(0)
    for _ in range(30):
        (asked,) = campaign.ask()
        sd = float(rng.choice([0.01, 1.0]))
        value = bowl(asked.params) + sd * rng.standard_normal()
        campaign.tell(asked.id, value, noise=sd if noise else None)
    return campaign


def test_noise_that_is_told_with_the_values_is_used():
    campaign, untold = told(True), told(False)
    assert bowl(campaign.recommended) < 0.005 < bowl(untold.recommended)
    sds = np.array([record.noise for record in campaign.records])
    posterior, refit = campaign.agent.posterior, campaign.agent.refit
    # The last fit knew these variances, and that of further values is their median.
    count = refit.learned[-1]["observations"]
    assert refit.model.noise_var == pytest.approx(np.median(sds[:count] ** 2))
    points = posterior.observed
    gram = posterior.kernel(points, points) + np.diag(sds**2)
    gap = posterior.rewards - posterior.prior_mean
    mean = posterior.prior_mean + posterior.kernel(points, points) @ np.linalg.solve(gram, gap)
    np.testing.assert_allclose(posterior.mean_at_observed(), mean, atol=1e-8)


@pytest.mark.parametrize("agent", ["ei", "gp-ucb", "ts", "ts-rsr", "qei", "mpi"])
def test_a_campaign_with_told_noise_resumes_to_the_bit(agent, tmp_path):
    campaign = Campaign(SQUARE, agent, seed=0, n_initial=4)
    for i in range(9):
        (asked,) = campaign.ask()
        campaign.tell(asked.id, bowl(asked.params), noise=None if i % 3 else 0.1 * i)
    campaign.save(tmp_path / "campaign.json")
    other = Campaign.resume(tmp_path / "campaign.json")
    assert [r.noise for r in other.records] == [0.0, None, None, pytest.approx(0.3), None, None,
                                                pytest.approx(0.6), None, None]  # fmt: skip
    assert other.ask(2) == campaign.ask(2)


def test_all_ways_to_tell_noise():
    campaign = Campaign({"a": Integer(0, 10)}, seed=0)
    campaign.observe({"a": 3}, 1.0, noise=0.5)
    campaign.observe_all([{"a": 4}] * 3, [1.0, 2.0, 3.0], noise=[0.1, None, np.nan])
    assert [record.noise for record in campaign.records] == [0.5, 0.1, None, None]
    campaign.correct(0, 2.0)
    assert campaign.records[0].noise == 0.5
    campaign.correct(0, 2.0, noise=0.25)
    assert campaign.to_dataframe()["noise"].tolist()[:2] == [0.25, 0.1]
    once = Campaign({"a": Integer(0, 10)}, seed=0)
    once.observe_all(
        [{"a": 3}] + [{"a": 4}] * 3, [2.0, 1.0, 2.0, 3.0], noise=[0.25, 0.1, None, None]
    )
    points = [{"a": a} for a in range(11)]
    np.testing.assert_allclose(campaign.predict(points), once.predict(points), atol=1e-10)
    (asked,) = campaign.ask()
    assert campaign.tell(asked.id, np.nan, noise=0.3).noise is None  # it failed


@pytest.mark.parametrize("noise", [-0.1, np.inf, "much"])
def test_wrong_noise_changes_nothing(noise):
    campaign = Campaign(SQUARE, seed=0)
    with pytest.raises(InvalidInput, match="noise"):
        campaign.observe({"x": 0.0, "y": 0.0}, 1.0, noise=noise)
    with pytest.raises(InvalidInput, match="one entry per evaluation, got 2 for 1"):
        campaign.observe_all([{"x": 0.0, "y": 0.0}], [1.0], noise=[0.1, 0.2])
    assert not campaign.records
    assert not campaign.agent.posterior.size


@pytest.mark.parametrize("agent", ["ms-ucb", "dropout-ucb", "line-bo", "turbo", "rembo", "hesbo"])
def test_agents_of_lines_and_subspaces_learn_less_from_a_value_with_more_noise(agent):
    means = []
    for sd in (1e-3, 5.0):
        campaign = Campaign(
            [(0.0, 1.0)] * 20, agent, seed=0, n_initial=1, learn=False, standardize=False
        )
        campaign.tell(campaign.ask()[0], 2.0, noise=sd)
        means.append(campaign.predict([campaign.records[0].params])[0][0])
    assert means[0] == pytest.approx(2.0, abs=1e-3)
    assert means[1] < 0.2


def test_the_best_value_keeps_its_noise_in_the_next_stage_of_sre():
    agent = agents.make("sre", Problem(Box(np.zeros(8), np.ones(8)), SE, 0.01), seed=0, rounds=3)
    resumed = agents.make("sre", agent.problem, seed=0, rounds=3)
    for reward in (0.1, 0.9, 0.3):
        agent.tell(agent.ask(), [reward], noise_var=[10.0 * reward])
    assert agent.data.noise_of(agent.keep.usable(agent.data)) == pytest.approx([9.0])
    resumed.restore(agent.snapshot())
    assert resumed.ask() == pytest.approx(agent.ask())


@pytest.mark.parametrize(
    ("agent", "settings"),
    [
        ("ei", {"window": 9}),
        ("tv-gp-ucb", {"epsilon": 0.1}),
        ("ei", {"compress": 0.1}),
    ],
)
def test_agents_that_take_no_told_noise_say_so(agent, settings):
    campaign = Campaign(SQUARE, agent, seed=0, **settings)
    with pytest.raises(InvalidInput, match="takes no noise of single values"):
        campaign.observe({"x": 0.0, "y": 0.0}, 1.0, noise=0.1)
    assert not campaign.records


@pytest.mark.parametrize(
    ("name", "settings", "more"),
    [
        ("gp-ucb", {}, {"observed": [True, False]}),
        ("gp-ucb", {"window": 3}, {}),
        ("random", {}, {}),
    ],
)
def test_noise_variances_that_an_agent_cannot_use_are_refused(name, settings, more):
    problem = Problem(Arms.grid(5), SquaredExponential(0.2), 0.1)
    agent = agents.make(name, problem, seed=0, **settings)
    with pytest.raises(InvalidInput, match=r"noise of each reward's own|leave out actions"):
        agent.tell([0, 1], [0.1, 0.2], noise_var=[0.1, 0.2], **more)
    assert agent.round == 0


def test_a_function_may_return_its_noise():
    rng = np.random.default_rng(0)

    def run(x):
        if x[0] > 0.9:
            return np.nan
        sd = float(rng.choice([0.01, 1.0]))
        return (x[0] - 0.3) ** 2 + sd * rng.standard_normal(), sd

    found = agents.minimize(run, [(-1.0, 1.0)], n_calls=20, seed=0, noise="returned")
    done = [record for record in found.campaign.records if record.status == "done"]
    assert {record.noise for record in done} == {0.01, 1.0}
    assert abs(found.recommended[0] - 0.3) < 0.15
    with pytest.raises(InvalidInput, match="pair of its value and the standard deviation"):
        agents.minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=3, noise="returned")
    with pytest.raises(UnknownName, match="did you mean 'returned'"):
        agents.minimize(run, [(0.0, 1.0)], n_calls=3, noise="return")


def test_noise_is_returned_beside_constraints():
    found = agents.minimize(
        lambda x: ((x[0], 0.1), {"c": 0.5 - x[0]}), [(0.0, 1.0)],
        n_calls=12, seed=0, noise="returned", constraints={"c": 0.0},
    )  # fmt: skip
    assert [record.noise for record in found.campaign.records] == [0.1] * 12
    assert 0.5 <= found.fun < 0.6


@pytest.mark.parametrize("together", [True, False])
def test_the_noise_of_a_value_is_not_that_of_its_constraints(together):
    x = np.linspace(0.0, 1.0, 15)
    campaign = Campaign([(0.0, 1.0)], seed=0, constraints={"c": 0.5})
    if together:
        campaign.observe_all(x, 1000 * x, constraints=x, noise=[100.0] * 15)
    for one in () if together else x:
        campaign.observe([one], 1000 * one, constraints=[one], noise=100.0)
    campaign.correct(3, 1000 * x[3])
    mean, sd = campaign.predict_constraints([[0.2], [0.8]])["c"]
    assert mean == pytest.approx([0.2, 0.8], abs=0.01)
    assert (sd < 0.01).all()
    assert campaign.recommended["x0"] <= 0.5


def repeated(campaign):
    seen = [tuple(record.params.values()) for record in campaign.records]
    return len(seen) - len(set(seen))


def test_without_noise_nothing_is_evaluated_again():
    found = agents.minimize(lambda x: float(np.sum(x**2)), [(-1.0, 2.0)] * 3, n_calls=30, seed=0)
    assert repeated(found.campaign) == 0
    assert found.agent.rule.augmented is False


UNIFORM = {"type": "initialised", "rounds": 20, "first": "uniform", "then": "hallucinate"}


@pytest.mark.parametrize(("agent", "settings"), [("sp", {}), ("ei", {"batch": UNIFORM})])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_actions_that_are_drawn_do_not_repeat_what_is_known(agent, settings, noise):
    """Without noise no evaluation is repeated, and with noise none that failed."""
    space = {"x": Integer(0, 4), "y": Integer(0, 3)}
    settings = {**settings, "noise": noise, "failures": "region", "seed": 0}
    campaign = Campaign(space, agent, maximize=False, n_initial=4, **settings)
    for _ in range(20):
        (asked,) = campaign.ask()
        fails = asked.params["y"] == 1
        campaign.tell(asked.id, np.nan if fails else float(asked.params["x"]))
    seen = [tuple(record.params.values()) for record in campaign.records]
    failed = [p for p in seen if p[1] == 1]
    assert len(set(failed)) == len(failed)
    if not noise:
        assert len(set(seen)) == 20


@pytest.mark.parametrize("agent", ["ei", "qei", "ts", "ts-rsr"])
def test_noise_is_found_by_one_repeated_evaluation(agent, tmp_path):
    """EI is augmented from then on with a sampled incumbent, and samples are as drawn."""

    def knows(campaign):
        if agent in ("ei", "qei"):
            rule = campaign.agent.rule
            return {(True, "sampled"): True, (False, "posterior-mean"): False}[
                rule.augmented, rule.incumbent
            ]
        return {0.5: False, 1.0: True}[campaign.agent.search.scale]

    rng = np.random.default_rng(0)
    campaign = Campaign(SQUARE, agent, maximize=False, seed=0, search=FEW)
    while len(campaign.records) < 45:
        (asked,) = campaign.ask()
        if again := repeated(campaign):
            break
        assert knows(campaign) is False
        campaign.tell(asked.id, bowl(asked.params) + 0.3 * rng.standard_normal())
    assert again == 1
    assert len(campaign.records) > 20
    before = campaign.records[:-1]
    assert asked.params == min(before, key=lambda record: record.value).params
    assert campaign.ask()[0].params != asked.params  # while it is pending
    campaign.tell(asked.id, bowl(asked.params) + 0.3 * rng.standard_normal())
    done = [record for record in campaign.records if record.status == "done"]
    assert campaign.agent.posterior.size == len(done)  # both values are learned
    campaign.save(tmp_path / "campaign.json")
    resumed = Campaign.resume(tmp_path / "campaign.json")
    assert campaign.ask() == resumed.ask()
    assert knows(campaign) is knows(resumed) is True
    assert repeated(campaign) == 1


@pytest.mark.parametrize(
    ("dim", "noise", "scale"),
    [(2, 0.0, 0.5), (2, None, 0.5), (2, 0.3, 1.0), (8, 0.0, 0.5), (8, 0.3, 0.625**0.5),
     (45, 0.0, 1 / 3), (45, 0.3, 1 / 3)],
)  # fmt: skip
def test_posterior_samples_are_closer_to_the_mean_without_noise_and_in_many_dimensions(
    dim, noise, scale
):
    campaign = Campaign([(-1.0, 1.0)] * dim, "ts", noise=noise)
    assert campaign.agent.search.scale == pytest.approx(scale)
    own = Campaign([(-1.0, 1.0)] * dim, "ts", noise=noise, scale=0.7)
    assert own.agent.search.scale == 0.7


@pytest.mark.parametrize(
    "settings",
    [{"noise": 0.3}, {"augmented": False}, {"incumbent": "posterior-mean"}, {"epsilon": 0.01}],
)
def test_nothing_is_repeated_if_the_noise_is_known_or_the_choice_is_made(settings):
    rng = np.random.default_rng(0)
    campaign = Campaign(SQUARE, maximize=False, seed=0, search=FEW, **settings)
    for _ in range(24):  # without these settings the 21st is repeated
        (asked,) = campaign.ask()
        campaign.tell(asked.id, bowl(asked.params) + 0.3 * rng.standard_normal())
    assert repeated(campaign) == 0
    rule = campaign.agent.rule
    assert rule.augmented is (rule.incumbent == "sampled") is ("noise" in settings)


def test_a_repeated_evaluation_without_noise_costs_one_evaluation_and_changes_nothing_else():
    """The model takes the ripples for noise, and the evaluation that is repeated says otherwise."""

    def run(x):
        return float(np.sum(x**2) + np.sum(np.cos(40.0 * x)))

    found, plain = (
        agents.minimize(run, [(-1.0, 2.0)] * 2, n_calls=calls, seed=0, search=FEW, **settings)
        for calls, settings in ((26, {}), (25, {"augmented": False}))
    )
    assert repeated(found.campaign) == 1
    seen = [tuple(x) for x in found.x_iters]
    again = next(i for i in range(26) if seen[i] in seen[:i])
    assert 20 <= again < 25
    np.testing.assert_array_equal(np.delete(found.x_iters, again, axis=0), plain.x_iters)
    # It is not learned after a correction either.
    for campaign in (found.campaign, plain.campaign):
        campaign.correct(0, 1.0)
    np.testing.assert_array_equal(found.predict([[0.1, 0.2]]), plain.predict([[0.1, 0.2]]))


def test_the_noise_of_few_replicates_is_drawn_to_a_common_one():
    rng, n = np.random.default_rng(0), 3
    for prior_df, spread in ((np.inf, 0.0), (4.0, 1.0)):
        # Variances of a scaled inverse chi-squared law around 0.01, and estimates of them.
        truth = np.full(400, 0.01)
        if spread:
            truth = 0.01 * prior_df / rng.chisquare(prior_df, 400)
        told = np.sqrt(truth * rng.chisquare(n - 1, 400) / (n - 1))
        found = np.array(pooled(told.tolist(), n))
        error, before = (np.mean(np.log(sd**2 / truth) ** 2) for sd in (found, told))
        assert error < 0.4 * before
        if spread:
            # The posterior mean of the precision, with the true prior.
            best = (prior_df * 0.01 + (n - 1) * told**2) / (prior_df + n - 1)
            np.testing.assert_allclose(found**2, best, rtol=0.35)
    many = np.sqrt([0.01, 0.04, 0.0025] * 5).tolist()
    np.testing.assert_allclose(pooled(many, 10_000), many, rtol=1e-2)
    assert pooled([0.1, None, 0.1], 3) == [pytest.approx(0.1), None, pytest.approx(0.1)]
    assert pooled([0.3, None], 3) == [0.3, None]
    # A zero counts as 1% of the median.
    assert pooled([0.0, 1.0, 1.5, 2.0], 3) == pytest.approx(pooled([0.015, 1.0, 1.5, 2.0], 3))


def test_a_campaign_of_replicates_learns_the_pooled_noise(tmp_path):
    file = tmp_path / "c.json"
    campaign = Campaign({"x": (0.0, 1.0)}, seed=0, noise={"replicates": 3}, file=file)
    rng = np.random.default_rng(0)
    for _ in range(9):
        (asked,) = campaign.ask()
        y = asked.params["x"] + 0.2 * rng.standard_normal(3)
        campaign.tell(asked.id, y.mean(), noise=y.std(ddof=1) / np.sqrt(3))
    told = [record.noise for record in campaign.records]
    learned = np.sqrt(campaign.agent.data.noise_of(slice(None)))
    np.testing.assert_allclose(learned, pooled(told, 3))
    assert np.ptp(learned) < np.ptp(told)
    resumed = Campaign.resume(file)
    np.testing.assert_array_equal(np.sqrt(resumed.agent.data.noise_of(slice(None))), learned)
    resumed.correct(0, 0.5, noise=0.3)
    told[0] = 0.3
    np.testing.assert_allclose(np.sqrt(resumed.agent.data.noise_of(slice(None))), pooled(told, 3))


def test_noise_is_one_number():
    with pytest.raises(InvalidInput, match="noise must be a number, got array"):
        agents.minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=3, noise=np.array([0.1, 0.2]))


def test_means_of_replicates_without_their_standard_errors_are_refused():
    with pytest.raises(InvalidInput, match=r"\{'replicates': n\} the function must return a pair"):
        agents.minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=3, noise={"replicates": 3})


@pytest.mark.parametrize("noise", [{"replicates": 1}, {"replicate": 3}, {}])
def test_wrong_replicates_are_refused(noise):
    with pytest.raises(InvalidInput, match="replicates"):
        agents.minimize(lambda x: (x[0], 0.1), [(0.0, 1.0)], n_calls=3, noise=noise)


@pytest.mark.parametrize("noise", [None, {"replicates": 3}])
def test_time_stamps_change_nothing_where_data_do_not_age(noise):
    found = []
    for timed in (False, True):
        campaign = Campaign({"x": (0.0, 1.0)}, seed=0, n_initial=4, noise=noise)
        for i, x in enumerate((0.1, 0.5, 0.9, 0.3, 0.5, 0.7)):  # 0.5 again, with the same value
            own = {} if noise is None else {"noise": 0.1 + 0.05 * (i % 3)}
            campaign.observe([x], np.sin(6.0 * x), **own, **({"time": i + 1.0} if timed else {}))
        found.append(campaign.predict([[0.2], [0.6]]))
    np.testing.assert_array_equal(*found)


def test_equal_values_of_one_point_move_no_noise_to_other_values():
    """The last told of two equal values of one point is left out, also if it was asked first."""
    campaign = Campaign({"x": (0.0, 1.0)}, seed=0, noise={"replicates": 3})
    campaign.observe([0.1], 1.0, noise=0.1)
    first, second = campaign.expect([0.5]), campaign.expect([0.5])
    campaign.tell(second, 2.0)
    campaign.observe([0.9], 0.3, noise=0.3)
    campaign.tell(first, 2.0)
    campaign.observe([0.7], 0.4, noise=0.2)
    unknown = np.isnan(campaign.agent.data.noise_of(slice(None)))
    assert unknown.tolist() == [False, True, False, False]
