"""The eight agents of ren2024 on arms: every choice derived again from dense formulas.

Given the agent's own samples; that those are right is for `test_laws_of_batches`.
"""

import itertools

import numpy as np
import pytest

from gpbandits_env.agents.acquisitions.schedules import THEOREM_OVER_5

pi, log, sqrt = np.pi, np.log, np.sqrt
N, DELTA, NOISE_VAR = 60, 0.1, 0.025
WORLDS = {"static": {}, "drifting": {"epsilon": 0.05}}


@pytest.fixture(params=WORLDS)
def settings(request):
    return WORLDS[request.param]


@pytest.fixture(params=[1, 4], ids=["one", "batch of 4"])
def m(request):
    return request.param


def beta(t):
    """srinivas2010, Theorem 1, over 5."""
    return 2 * log(N * t**2 * pi**2 / (6 * DELTA)) / 5


@pytest.mark.parametrize("rho", [1.0, 1.7])
def test_bucb(turns, m, settings, rho):
    """Desautels et al. (2014): mu + rho sqrt(beta) sigma(. | those before)."""
    for turn in turns("bucb", m, rho=rho, **settings):
        for i in range(m):
            sd = sqrt(turn.var(turn.actions[:i]))
            turn.best(i, turn.mean + rho * sqrt(beta(turn.t)) * sd)


@pytest.mark.parametrize("region", [{}, {"region": False}])
def test_ucbpe(turns, m, settings, region):
    """Contal et al. (2013): UCB, then variance over R+ of the moments before the batch."""
    excluded = 0
    for turn in turns("ucbpe", m, batch={"type": "explore", **region}, **settings):
        mean, sd = turn.mean, sqrt(turn.var())
        turn.best(0, mean + sqrt(beta(turn.t)) * sd)
        lower = (mean - sqrt(beta(turn.t)) * sd).max()
        upper = mean + 2.0 * sqrt(beta(turn.t + 1)) * sd
        relevant = (upper >= lower - 1e-9) | (not region.get("region", True))
        excluded += (~relevant).any()
        for i in range(1, m):
            turn.best(i, np.where(relevant, turn.var(turn.actions[:i]), -np.inf))
    assert region.get("region", True) == (excluded > 0)


def expected_improvement(normal, mean, var, incumbent):
    return sqrt(var) * np.exp(normal.log_improvement((mean - incumbent) / sqrt(var)))


@pytest.mark.parametrize("scale", [1.0, 3.0])
@pytest.mark.parametrize("over", ["sd", "range"])
def test_sp(turns, m, settings, normal, scale, over):
    """Garcia-Barcos and Martinez-Cantin (2019): drawn with P ~ exp(b_t a)."""
    played = []
    earlier = 0 if over == "sd" else 14
    rule = {"type": "boltzmann", "scale": scale, "over": over, "earlier": earlier}
    for turn in turns("sp", m, batch=rule, **settings):
        told = turn.dense.arms
        incumbent = turn.mean[told].max() if told else turn.mean.max()
        value = expected_improvement(normal, turn.mean, turn.var(), incumbent)
        spread = value.std() if over == "sd" else value.max() - value.min()
        sharp = scale * log(1 + earlier + turn.t)
        weight = np.exp(sharp * (value - value.max()) / spread)
        cumulative = np.cumsum(weight / weight.sum())
        for arm, uniform in zip(turn.actions, turn.before.random(m), strict=True):
            assert (cumulative[arm - 1] if arm else 0.0) - 1e-9 <= uniform
            assert uniform <= cumulative[arm] + 1e-9
        played += turn.actions.tolist()
    assert len(set(played)) > 2


@pytest.mark.parametrize("kind", ["posterior-mean", "observed", "max-mean"])
def test_qei(turns, m, settings, normal, kind):
    """Ginsbourger et al. (2008): the means at those before are told as if they were rewards."""
    for turn in turns("qei", m, rounds=15, incumbent=kind, **settings):
        dense, kept = turn.dense, len(turn.dense.arms)
        for i in range(m):
            mean = dense.mean(now=turn.t)
            assert mean == pytest.approx(turn.mean, abs=1e-8)
            incumbent = mean.max()
            if dense.arms and kind != "max-mean":
                incumbent = (
                    mean[dense.arms].max()
                    if kind == "posterior-mean" or kept == 0
                    else max(dense.rewards)
                )
            if kept == 0 and kind != "max-mean":
                incumbent = max(incumbent, dense.prior_mean.max())
            var = dense.var(now=turn.t)
            gap = (mean - incumbent) / sqrt(var)
            turn.best(i, 0.5 * log(var) + normal.log_improvement(gap))
            dense.tell([turn.actions[i]], [mean[turn.actions[i]]], turn.t)
        for told in (dense.arms, dense.rewards, dense.times):
            del told[kept:]


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_ts(turns, m, settings, scale):
    """Kandasamy et al. (2018): each action maximises a sample of its own.

    Chowdhury & Gopalan (2017): a sample differs from the mean by the scale times its difference.
    """
    changed = 0
    for turn in turns("ts", m, scale=scale, **settings):
        (samples,) = turn.samples
        assert samples.shape == (m, N)
        closer = turn.mean + scale * (samples - turn.mean)
        for i in range(m):
            assert closer[i, turn.actions[i]] == pytest.approx(closer[i].max(), abs=1e-8)
        changed += (closer.argmax(axis=1) != samples.argmax(axis=1)).any()
        assert len({row.tobytes() for row in samples}) == m
    assert (changed > 0) == (scale != 1.0)


@pytest.mark.parametrize("steps", [0, 50])
def test_dpp_ts(turns, m, settings, steps):
    """Nava et al. (2022): Metropolis from a Thompson batch, by ratios of determinants."""
    moved = 0
    for turn in turns("dpp-ts", m, batch={"type": "dpp", "steps": steps}, **settings):
        (samples,) = turn.samples
        drawn, rng, covariance = samples.argmax(axis=1), turn.after[0], turn.covariance()
        batch = drawn[:m].copy()
        for fresh in drawn[m:]:
            proposal = batch.copy()
            proposal[rng.integers(m)] = fresh
            ratio = determinant(covariance, proposal) / determinant(covariance, batch)
            uniform = np.exp(-rng.standard_exponential())
            assert abs(uniform - ratio) > 1e-9 or ratio >= 1.0
            if uniform < min(1.0, ratio):
                batch, moved = proposal, moved + 1
        assert np.array_equal(turn.actions, batch)
    assert (moved > 0) == (steps > 0)


def determinant(covariance, batch):
    """Of I + K_t(batch, batch) / s^2; repeated actions enter as often as they stand there."""
    return np.linalg.det(np.eye(len(batch)) + covariance[np.ix_(batch, batch)] / NOISE_VAR)


@pytest.mark.parametrize(
    ("redraws", "scale", "replaced"),
    [(10, 1.0, True), (0, 1.0, True), (100, 0.3, True), (0, 1.0, False)],
)
def test_ts_rsr(turns, m, settings, redraws, scale, replaced):
    """ren2024, Algorithm 1, with the redraws of Appendix C, and as written."""
    redrawn = exhausted = 0
    rule = {"type": "ts-rsr", "redraws": redraws, "replaced": replaced}
    for turn in turns("ts-rsr", m, batch=rule, scale=scale, **settings):
        floor, sd = turn.mean.max(), sqrt(turn.var())
        drawn = [turn.mean + scale * (samples - turn.mean) for samples in turn.samples]
        levels = drawn[0].max(axis=1)
        for samples in drawn[1:]:
            low = np.flatnonzero(levels <= floor)
            assert len(samples) == len(low) > 0
            levels[low] = samples.max(axis=1)
            redrawn += 1
        assert len(turn.samples) <= redraws + 1
        low = levels <= floor
        assert not low.any() or len(turn.samples) == redraws + 1
        exhausted += low.any()
        if replaced:
            levels[low] = floor + sd[turn.mean.argmax()]
        for i in range(m):
            ratio = (levels[i] - turn.mean) / sqrt(turn.var(turn.actions[:i]))
            turn.best(i, -ratio)
    assert (redrawn > 0) == (redraws > 0)
    assert (exhausted > 0) == (redraws == 0)


def test_random(turns, m):
    """Uniform, each on its own."""
    for turn in turns("random", m):
        assert np.array_equal(turn.actions, turn.before.integers(N, size=m))


@pytest.mark.parametrize("then", ["thompson", "hallucinate"])
def test_initialised(turns, m, settings, then):
    """ren2024, Appendix B: three rounds by variance alone, then the other rule."""
    rule = {"type": "initialised", "rounds": 3, "then": {"type": then}}
    if then == "thompson":
        name, given = "ts", settings
    else:
        name, given = "gp-ucb", {"beta": THEOREM_OVER_5, **settings}
    for turn in turns(name, m, rounds=6, batch=rule, **given):
        for i in range(m):
            if turn.t <= 3:
                turn.best(i, turn.var(turn.actions[:i]))
            elif then == "hallucinate":
                sd = sqrt(turn.var(turn.actions[:i]))
                turn.best(i, turn.mean + sqrt(beta(turn.t)) * sd)
            else:
                assert turn.actions[i] == turn.samples[0][i].argmax()


def test_initialised_with_uniform_points(turns, m, settings):
    """Three rounds of uniform arms, then the other rule."""
    rule = {"type": "initialised", "rounds": 3, "first": "uniform", "then": {"type": "hallucinate"}}
    for turn in turns("gp-ucb", m, rounds=6, batch=rule, beta=THEOREM_OVER_5, **settings):
        if turn.t <= 3:
            assert np.array_equal(turn.actions, turn.before.integers(N, size=m))
        else:
            for i in range(m):
                turn.best(i, turn.mean + sqrt(beta(turn.t) * turn.var(turn.actions[:i])))


def test_max_variance(turns, settings):
    for turn in turns("gp-ucb", 4, rounds=10, batch="max-variance", **settings):
        for i in range(4):
            turn.best(i, turn.var(turn.actions[:i]))


def test_rules_differ(turns):
    """The replays would be idle if all rules chose alike."""
    names = ("bucb", "ucbpe", "sp", "qei", "ts", "dpp-ts", "ts-rsr", "random")
    played = {
        name: tuple(np.concatenate([turn.actions for turn in turns(name, 4, rounds=8)]).tolist())
        for name in names
    }
    for one, other in itertools.combinations(names, 2):
        assert played[one] != played[other], (one, other)
