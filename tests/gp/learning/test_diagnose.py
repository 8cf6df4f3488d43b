"""The diagnosis finds what the data were made of, and refuses what it cannot judge."""

import json
from datetime import datetime

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Empirical
from gpbandits_env.gp.learning import diagnose, time
from gpbandits_env.gp.learning.diagnose import _recommend
from gpbandits_env.gp.temporal import temporal_from_dict
from gpbandits_env.problem import Problem

ARMS = np.linspace(0, 1, 8)
K = np.exp(-((ARMS[:, None] - ARMS) ** 2) / (2 * 0.3**2))
ROOT = np.linalg.cholesky(K + 1e-9 * np.eye(8))
NOISE = 0.05


def readings(rounds, step, seed, gaps=None, noise=NOISE):
    """A path f_{t+1} = step(f_t, draw, t), seen in noise."""
    rng = np.random.default_rng(seed)
    f, rows = ROOT @ rng.standard_normal(8), []
    for t in range(rounds):
        rows.append(f + np.sqrt(noise) * rng.standard_normal(8))
        gap = 1.0 if gaps is None else gaps[t]
        f = step(f, lambda: ROOT @ rng.standard_normal(8), t + 1, gap)
    return np.array(rows)


def markov(epsilon):
    def step(f, draw, t, gap):
        keep = (1 - epsilon) ** gap
        return np.sqrt(keep) * f + np.sqrt(1 - keep) * draw()

    return step


def score(found, name):
    return next(m for m in found.models if m.name == name)


def test_drifting_data():
    found = diagnose(readings(150, markov(0.05), 3), mean=0.0, covariance=K)
    assert found.recommended == "drifting"
    assert found.interval[0] < 0.05 < found.interval[1]
    assert found.noise_var == pytest.approx(NOISE, rel=0.3)
    drifting = score(found, "drifting")
    assert drifting.coverage == pytest.approx(0.95, abs=0.03)
    resetting, static = score(found, "resetting"), score(found, "static")
    assert drifting.log_score > resetting.log_score > static.log_score > -2
    assert found.rows == (90, 60)


def test_columns_of_other_units_are_named():
    rows = readings(60, markov(0.05), 3)
    diagnose(rows)
    diagnose(rows * [1, 3, 1, 1, 0.1, 1, 1, 30])
    with pytest.warns(UserWarning, match=r"column 5 \(from 0\) vary .* as those of column 2, but"):
        diagnose(rows * [1, 1, 1e-3, 1, 1, 1e6, 1, 1])


@pytest.mark.parametrize("unit", [10.0, 1e-6])
def test_the_unit_of_all_readings_changes_nothing_but_the_unit(unit):
    rows = readings(60, markov(0.05), 3)[:, :4]
    one, other = diagnose(rows), diagnose(unit * rows + 3.0)
    assert other.per_row == pytest.approx(one.per_row, rel=1e-6)
    assert other.recommended == one.recommended
    assert other.noise_var == pytest.approx(unit**2 * one.noise_var, rel=1e-3)
    for a, b in zip(one.models, other.models, strict=True):
        assert (a.name, a.block, a.coverage) == (b.name, b.block, b.coverage)
        assert b.log_score + np.log(unit) == pytest.approx(a.log_score, abs=1e-3)


def test_a_season_is_found():
    """A wave of 12 rows that passes from arm to arm, with a drift on it."""
    rows = readings(115, markov(0.2), 6)
    phases = 2 * np.pi * (np.arange(115)[:, None] / 12 - np.arange(8) / 8)
    found = diagnose(rows + 2.0 * np.sin(phases))
    seasonal = score(found, "seasonal")
    assert found.recommended == "seasonal"
    assert seasonal.temporal["kernels"][0]["period"] == pytest.approx(12.0, rel=0.02)
    assert seasonal.log_score > score(found, "drifting").log_score
    assert seasonal.coverage > 0.85


def series_of(kind, seed, rows=240, arms=4):
    """Independent arms that vary in time as the kind says, seen in noise of variance 0.04."""
    rng, t = np.random.default_rng(seed), np.arange(float(rows))[:, None]
    season = sum(
        rng.normal(size=arms) * np.cos(2 * np.pi * h * t / 24) / h
        + rng.normal(size=arms) * np.sin(2 * np.pi * h * t / 24) / h
        for h in (1, 2)
    )
    kernels = {
        "static": {"type": "static"},
        "drifting": {"type": "markov", "epsilon": 0.05},
        "smooth": {"type": "matern32", "lengthscale": 20.0},
        "smoother": {"type": "matern52", "lengthscale": 20.0},
    }
    given = kernels["drifting" if kind in ("periodic", "seasonal") else kind]
    times = np.arange(float(rows))
    covariance = temporal_from_dict(given)(times, times) + 1e-9 * np.eye(rows)
    rest = np.linalg.cholesky(covariance) @ rng.normal(size=(rows, arms))
    parts = {"periodic": (season,), "seasonal": (season, rest)}.get(kind, (rest,))
    return sum(parts) + 0.2 * rng.normal(size=(rows, arms))


KINDS = ("static", "drifting", "smooth", "smoother", "periodic", "seasonal")


def test_smooth_variation_is_recognized():
    assert diagnose(series_of("smooth", 0, rows=140)).recommended == "smooth"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_variation_is_recognized_in_most_series(kind):
    found = [diagnose(series_of(kind, seed)).recommended for seed in range(20)]
    right = sum(name == ("smooth" if kind == "smoother" else kind) for name in found)
    print(kind, right, sorted(found))
    assert right >= 14


def shifted(seed, epsilon=0.3):
    """A slow function and a shift of all arms of the same variance that drifts fast."""
    rng, shift, rows = np.random.default_rng(1000 + seed), 0.0, readings(300, markov(0.01), seed)
    for row in rows:
        row += shift
        shift = np.sqrt(1 - epsilon) * shift + np.sqrt(epsilon) * rng.standard_normal()
    return rows


def test_a_shift_of_all_arms_is_found():
    found = diagnose(shifted(5))
    assert found.recommended == "shifting"
    model = score(found, "shifting")
    slow, fast = model.temporal["kernels"]
    assert slow["epsilon"] < 0.1 < fast["epsilon"] < 0.6
    assert model.settings["temporal"] == model.temporal
    problem = Problem(Arms(np.arange(8.0)), Empirical(K), NOISE)
    agent = agents.make("gp-ucb", problem, seed=0, **json.loads(json.dumps(model.settings)))
    agent.tell([3], [0.5])
    assert agent.posterior.temporal.to_dict() == model.temporal


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_shift_of_all_arms_is_found_in_most_series_and_not_where_there_is_none():
    """These series had no part in the choice of the criterion, which was made on others."""
    found = [diagnose(shifted(seed)).recommended for seed in range(300, 320)]
    assert found.count("shifting") >= 18
    none = [diagnose(readings(300, markov(0.05), seed)).recommended for seed in range(300, 320)]
    assert none.count("shifting") <= 1


@pytest.mark.slow
def test_a_long_series_needs_no_given_moments():
    found = diagnose(readings(3000, markov(0.1), 7))
    assert found.recommended == "drifting"
    assert found.epsilon == pytest.approx(0.1, rel=0.15)


def test_functions_that_change_completely_are_noise_to_the_next_row():
    """Epsilon is near 1, and a static function with all variance as noise predicts as well."""
    found = diagnose(readings(100, markov(1.0), 2))
    assert found.epsilon > 0.9
    assert found.recommended == "static"
    assert found.noise_var == pytest.approx(1.0 + NOISE, rel=0.2)
    scores = [score(found, name).log_score for name in ("static", "resetting", "drifting")]
    assert np.ptp(scores) < 0.05


def test_each_model_has_the_noise_that_it_makes_most_likely():
    """Without noise, the static model was scored with that of the drifting one: -8e8 a reading."""
    values, times = readings(30, markov(0.05), 2, noise=0.0), np.arange(30.0)
    found = diagnose(values, mean=0.0, covariance=K)
    seen, block = np.arange(18), score(found, "resetting").block
    for name, groups in (("static", 0 * seen), ("resetting", seen // block)):
        same = groups[:, None] == groups
        gram, rows = np.kron(same, K), values[:18].ravel()

        def loss(log_noise, gram=gram, rows=rows):
            spread = gram + np.exp(log_noise) * np.eye(len(rows))
            return -multivariate_normal(np.zeros(len(rows)), spread).logpdf(rows)

        noise = np.exp(minimize_scalar(loss, bounds=(-9.0, 3.0), method="bounded").x)
        model = score(found, name)
        logs, _ = predicted(values[18:], times[18:], 0.0, model.block, 18, noise)
        assert model.log_score == pytest.approx(logs.mean(), rel=1e-3)
        assert model.log_score > -2.0


def test_blocks_begin_with_the_table_and_not_with_the_test_rows():
    """90 training rows, with a new function every 16 rows: the first test rows are in a block."""
    values = readings(150, lambda f, draw, t, gap: draw() if t % 16 == 0 else f, 3, noise=0.01)
    found = diagnose(values)
    assert found.recommended == "resetting"
    assert score(found, "resetting").block == 16
    assert score(found, "resetting").log_score > -0.1


def test_abrupt_changes_ask_for_resets():
    found = diagnose(readings(160, lambda f, draw, t, gap: draw() if t % 16 == 0 else f, 3))
    assert score(found, "resetting").block == 16
    assert found.recommended == "resetting"
    assert "predicts" in found.reason


def test_a_slow_function_needs_no_drift():
    """The training rows vary around their mean by noise and little else."""
    rng = np.random.default_rng(4)
    base = 3 * ROOT @ rng.standard_normal(8)
    wander = 0.05 * rng.standard_normal((150, 1))
    found = diagnose(base + wander + 0.3 * rng.standard_normal((150, 8)), noise_var=0.09)
    assert score(found, "static").log_score > score(found, "resetting").log_score - 0.05


def test_a_static_function_is_static_and_its_epsilon_unknown():
    """The readings vary by noise alone."""
    found = diagnose(readings(120, markov(0.0), 3))
    assert found.recommended == "static"
    assert found.interval == (0.0, 0.999)
    assert "say nothing about epsilon" in found.unknown
    assert found.noise_var == pytest.approx(NOISE, rel=0.2)
    assert score(found, "static").coverage == pytest.approx(0.95, abs=0.03)


def test_a_static_function_of_known_mean_and_covariance_excludes_a_drift():
    """Its distance from the known mean does not change."""
    found = diagnose(readings(120, markov(0.0), 3), mean=0.0, covariance=K)
    assert found.interval[0] == 0.0
    assert found.interval[1] < 0.01


def test_gaps_and_irregular_times():
    gaps = np.random.default_rng(0).choice([0.5, 1.0, 3.0], size=180)
    values = readings(180, markov(0.05), 5, gaps)
    values[np.random.default_rng(1).random(values.shape) < 0.03] = np.nan
    times = np.concatenate([[0.0], np.cumsum(gaps)[:-1]])
    found = diagnose(values, times, mean=0.0, covariance=K)
    assert found.recommended == "drifting"
    assert found.interval[0] < 0.05 < found.interval[1]
    assert found.rows[0] < 108


def test_a_drift_that_is_fast_in_the_usual_gap_is_found_between_rows_that_are_closer():
    """Most rows are 20 units apart. Epsilon was at most 0.999 per 20 units: 0.29 per unit."""
    gaps = np.random.default_rng(0).choice([1.0, 20.0], p=[0.4, 0.6], size=150)
    times = np.cumsum(gaps)
    values = readings(150, markov(0.6), 5, [*gaps[1:], 1.0])
    found = diagnose(values, times, mean=0.0, covariance=K)
    assert found.gap == 20.0
    assert found.interval[0] < 0.6 < found.interval[1] < 0.9
    assert found.epsilon == pytest.approx(0.6, abs=0.15)
    per_row = [1 - (1 - e) ** 20 for e in (found.epsilon, *found.interval)]
    assert found.per_row == pytest.approx(per_row)
    drifting = score(found, "drifting")
    assert drifting.settings["epsilon"] == pytest.approx(1 - (1 - drifting.epsilon) ** 20)
    slow = diagnose(readings(150, markov(0.002), 5, [*gaps[1:], 1.0]), times)
    assert slow.interval[0] < 0.002 < slow.interval[1] < 0.02


def test_a_drift_that_does_not_return_to_its_mean_is_a_drift_with_known_noise_too():
    """With the learned epsilon of 0 it was the static model, and its covariance too large."""
    values = np.cumsum(1.0 + np.random.default_rng(0).normal(size=(24, 1)), axis=0)
    found = diagnose(values, noise_var=0.1)
    assert found.epsilon == 0.0
    assert score(found, "drifting").epsilon > 0.0
    gain = score(found, "drifting").log_score - score(found, "static").log_score
    assert gain > 1.0


def test_the_unit_of_time_changes_nothing_but_the_unit(monkeypatch):
    """Rows an hour apart in hours and in milliseconds; the search began at 1e-4 in any unit."""
    values, hour = readings(28, markov(0.3), 5)[:, :1], 3.6e6
    season = 3.0 * np.sin(2.0 * np.pi * np.arange(28.0) / 6.0)[:, None]
    known = {"noise_var": NOISE, "mean": 0.0, "covariance": K[:1, :1]}
    monkeypatch.setattr(time, "ITERATIONS", 3)
    rows = diagnose(values + season, **known)
    found = diagnose(values + season, 1e12 + hour * np.arange(28.0), **known)
    ends = [1 - (1 - e) ** hour for e in (found.epsilon, *found.interval)]
    assert ends == pytest.approx([rows.epsilon, *rows.interval], rel=1e-6)
    scores = [m.log_score for m in rows.models]
    assert [m.log_score for m in found.models] == pytest.approx(scores, abs=1e-6)
    for name in ("smooth", "periodic", "seasonal"):  # the same covariances in time
        kernels = [temporal_from_dict(score(m, name).temporal) for m in (rows, found)]
        lags = np.array([0.0, 1.0, 2.5, 7.0])
        expected = kernels[0](np.zeros(1), lags)
        assert kernels[1](np.zeros(1), hour * lags) == pytest.approx(expected, rel=1e-5)


def test_rows_that_are_closer_than_a_unit_of_time_are_rounds_too():
    """The time between two rows counted as at least one unit, of which there are two rows here."""
    values, words = readings(60, markov(0.3), 5), {"noise_var": NOISE}
    rows, found = diagnose(values, **words), diagnose(values, 0.5 * np.arange(60.0), **words)
    assert found.gap == 0.5
    assert found.per_row == pytest.approx(rows.per_row, rel=0.01)
    assert found.epsilon == pytest.approx(1 - (1 - rows.epsilon) ** 2, rel=1e-3)
    lengths = [score(d, "smooth").settings["temporal"]["lengthscale"] for d in (rows, found)]
    assert lengths[1] == pytest.approx(lengths[0], rel=0.02)


def predicted(rows, times, epsilon, block, before=0, noise=NOISE):
    """Each row's mean log density given those before it, and the share in the band; dense.

    Blocks are counted from ``before`` rows ahead of the first one.
    """
    logs, inside = [], []
    for t, row in enumerate(rows):
        start = 0 if block is None else max(0, t - (before + t) % block)
        seen = [(s, i) for s in range(start, t) for i in np.flatnonzero(~np.isnan(rows[s]))]
        here = np.flatnonzero(~np.isnan(row))
        mean, covariance = np.zeros(len(here)), K[np.ix_(here, here)]
        if seen:
            when, arms = np.array(seen).T
            fade = (1 - epsilon) ** (np.abs(times[when][:, None] - times[when]) / 2)
            gram = K[np.ix_(arms, arms)] * fade + noise * np.eye(len(arms))
            cross = K[np.ix_(here, arms)] * (1 - epsilon) ** ((times[t] - times[when]) / 2)
            mean = cross @ np.linalg.solve(gram, rows[when, arms])
            covariance = covariance - cross @ np.linalg.solve(gram, cross.T)
        sd = np.sqrt(np.diag(covariance) + noise)
        logs.append(norm.logpdf(row[here], mean, sd).mean())
        inside.append((np.abs(row[here] - mean) <= 1.959964 * sd).mean())
    return np.array(logs), np.array(inside)


def test_scores_are_those_of_dense_predictions_of_the_rows_that_follow():
    """Slow at first, restless later: the block is that of the first part all the same."""
    rng = np.random.default_rng(0)
    gaps = rng.choice([0.5, 1.0, 4.0], size=50)
    values = readings(50, lambda f, draw, t, gap: draw() if t > 30 or t % 16 == 0 else f, 5)
    values[31:][rng.random((19, 8)) < 0.1] = np.nan
    times = np.cumsum(gaps)
    found = diagnose(values, times, mean=0.0, covariance=K, noise_var=NOISE)
    first, second = (values[:30], times[:30]), (values[30:], times[30:])
    blocks = [2**i for i in range(6)]  # the others are longer than the rows
    block = max(blocks, key=lambda n: predicted(*first, 0.0, n)[0].mean())
    later = max(blocks, key=lambda n: predicted(*second, 0.0, n, 30)[0].mean())
    assert block != later
    wanted = {"static": (0.0, None), "resetting": (0.0, block), "drifting": (found.epsilon, None)}
    assert [model.name for model in found.models[:3]] == list(wanted)
    for model in found.models[:3]:
        assert (model.epsilon, model.block) == wanted[model.name]
        logs, inside = predicted(*second, *wanted[model.name], 30)
        assert model.log_score == pytest.approx(logs.mean(), abs=1e-8)
        assert model.coverage == pytest.approx(inside.mean())


@pytest.mark.parametrize(
    ("gains", "choice"),
    [
        ((0.001, 0.0, 0.0), "static"),
        ((0.0, 0.1, 0.0), "static"),  # by half a standard error
        ((0.0, 1.0, 0.0), "resetting"),  # by five of them
        ((0.0, 1.0, 1.1), "resetting"),
        ((0.0, 0.0, 1.0), "drifting"),
        ((0.0, 0.5, 2.0), "drifting"),
        ((0.0, -0.3, 0.3), "static"),  # by one and a half
        ((0.5, 0.0, 0.0), "static"),
    ],
)
def test_a_simpler_model_is_recommended_unless_it_predicts_worse_by_two_standard_errors(
    gains, choice
):
    """Paired differences whose standard error is about 0.2 between any two."""
    names, n = ("static", "resetting", "drifting"), 25
    noise = np.sqrt(0.5) * np.random.default_rng(0).standard_normal((3, n))
    noise -= noise.mean(axis=1, keepdims=True)
    logs = {name: gain + own for name, gain, own in zip(names, gains, noise, strict=True)}
    name, reason = _recommend(logs)
    assert name == choice
    assert ("simpler" in reason) == (max(gains) > gains[names.index(choice)])


@pytest.mark.parametrize(
    ("values", "times", "says"),
    [
        (np.zeros((8, 3)), None, "10 training rows"),
        (np.eye(50)[:, [2, 45]], None, r"column 1 \(counted from 0\) never varies"),
        (np.column_stack([np.arange(50.0), np.full(50, 0.1)]), None, "column 1 .* never varies"),
        (np.full((50, 2), np.inf), None, "infinity"),
        (np.random.default_rng(0).normal(size=(50, 2)) * 1e140, None, "in a unit in which it is"),
        (np.random.default_rng(0).normal(size=(50, 2)) * 1e-200, None, "in a unit in which it is"),
        (np.ones((50, 2)), np.datetime64("2026-03-01") + np.arange(50), r"datasets.hours\(times\)"),
        (np.ones((50, 2)), [datetime(2026, 3, 1)] * 50, r"datasets.hours\(times\)"),
        (np.zeros((0, 3)), None, "table"),
        (np.random.default_rng(0).normal(size=(50, 2)), np.arange(50.0)[::-1], "increasing"),
        (np.random.default_rng(0).normal(size=(50, 2)), np.arange(49.0), "increasing"),
        (np.random.default_rng(0).normal(size=(50, 2)), np.repeat([3.0, 4.0], [40, 10]), "time 3"),
        (np.where(np.arange(50) < 34, np.arange(50.0), np.nan)[:, None], None, "got 30 and 4"),
    ],
)
def test_what_cannot_be_judged_is_refused(values, times, says):
    with pytest.raises(InvalidInput, match=says):
        diagnose(values, times)


@pytest.mark.parametrize(("corner", "says"), [((0.0, 0.5), "symmetric"), ((2.0, 2.0), "semidefin")])
def test_a_matrix_that_is_no_covariance_is_refused(corner, says):
    values, covariance = np.random.default_rng(0).normal(size=(50, 3)).cumsum(axis=0), np.eye(3)
    covariance[[0, 1], [1, 0]] = corner
    with pytest.raises(ValueError, match=says):
        diagnose(values, covariance=covariance)


def test_an_arm_that_stands_still_may_have_a_known_variance():
    values = np.column_stack([np.sin(np.arange(50.0)), np.full(50, 0.1)])
    found = diagnose(values, mean=0.0, covariance=np.eye(2))
    assert np.isfinite([model.log_score for model in found.models]).all()
    with pytest.raises(InvalidInput, match=r"column 0 .* never varies"):
        diagnose(np.ones((50, 2)), mean=0.0, covariance=np.eye(2))


def test_the_rows_of_the_test_do_not_determine_the_block():
    """In training there is a new function after every fourth row; later never, or in every row."""
    rng = np.random.default_rng(0)
    train = np.repeat(rng.standard_normal((12, 2)), 4, axis=0)
    blocks = []
    for later in (np.repeat(rng.standard_normal((1, 2)), 32, axis=0), rng.standard_normal((32, 2))):
        rows = np.concatenate([train, later]) + 0.1 * np.random.default_rng(1).normal(size=(80, 2))
        found = diagnose(rows, noise_var=0.01, mean=0.0, covariance=np.eye(2))
        (resetting,) = (model for model in found.models if model.name == "resetting")
        blocks.append(resetting.block)
    assert blocks == [4, 4]
