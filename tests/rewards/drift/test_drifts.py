"""Each drift's law, by moments and by construction; draws come from a plain dense factor."""

import sys
from dataclasses import dataclass

import numpy as np
import pytest

from gpbandits_env.errors import GPBanditsError, InvalidInput, UnknownName
from gpbandits_env.gp.temporal import (
    MarkovTime,
    Matern32Time,
    Matern52Time,
    PeriodicTime,
    QuasiPeriodicTime,
    StaticTime,
    TemporalProduct,
    TemporalSum,
    WienerTime,
)
from gpbandits_env.rewards.drift import (
    DRIFTS,
    Blend,
    ChangePoints,
    Drift,
    FunctionDrift,
    MarkovDrift,
    Path,
    Rotation,
    Seasonal,
    TemporalDrift,
    Then,
    VaryingMarkovDrift,
    as_drift,
    check_drift,
    laws,
)
from gpbandits_env.rewards.drift.drift import BLOCK

POINTS = np.linspace(0, 1, 4)
K = np.exp(-((POINTS[:, None] - POINTS) ** 2) / (2 * 0.3**2))
L = np.linalg.cholesky(K + 1e-12 * np.eye(4))

EVERY = [
    MarkovDrift(0.1),
    MarkovDrift(0.0),
    MarkovDrift(1.0),
    VaryingMarkovDrift((0.0, 0.3), rounds=(2, 3)),
    ChangePoints((3, 6)),
    ChangePoints(rate=0.2),
    Seasonal(7),
    Seasonal(6.5, (1.0, 0.5)),
    Rotation(9, functions=3),
    Blend((MarkovDrift(0.2), Seasonal(5)), (1.0, 3.0)),
    Then((MarkovDrift(0.1), ChangePoints(rate=0.1))),
    TemporalDrift(QuasiPeriodicTime(5.0, 0.8, harmonics=2, epsilon=0.05)),
]
# A new drift is tried with its defaults.
EVERY += [new() for new in DRIFTS.members.values() if new not in {type(d) for d in EVERY}]
ids = [f"{type(d).__name__}{i}" for i, d in enumerate(EVERY)]


def draw(rng, size):
    return rng.standard_normal((size, 4)) @ L.T


def path_of(drift, seed, draw=draw):
    return Path(drift, draw, np.random.default_rng(seed))


def draw_abreast(rng, size):
    return draw(rng, 100 * size).reshape(size, 400)


def many_paths(drift, rounds, trials=4000):
    """So many paths, a hundred of which are drawn as one function of independent parts."""
    paths = [path_of(drift, s, draw_abreast).ahead(rounds) for s in range(trials // 100)]
    return np.stack(paths).reshape(-1, rounds, 100, 4).swapaxes(1, 2).reshape(-1, rounds, 4)


@pytest.mark.parametrize("drift", EVERY, ids=ids)
def test_it_keeps_every_law(drift, monkeypatch):
    assert drift.keeps_marginal
    monkeypatch.setattr(laws, "PATHS", 50)  # the law of the marginal is tried below
    check_drift(drift)


@pytest.mark.parametrize("drift", EVERY, ids=ids)
def test_every_function_has_the_law_of_the_first(drift):
    paths = many_paths(drift, 9)
    for t in (0, 3, 8):
        limit = 4.5 / np.sqrt(len(paths))
        np.testing.assert_allclose(paths[:, t].mean(axis=0), 0.0, atol=limit)
        covariance = paths[:, t].T @ paths[:, t] / len(paths)
        np.testing.assert_allclose(covariance, K, atol=np.sqrt(2) * limit)


@pytest.mark.parametrize("drift", EVERY, ids=ids)
def test_values_handed_out_cannot_be_written_to(drift):
    path = path_of(drift, 3)
    for values in (path.values, path.advance()):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0


def test_markov_covariance_between_rounds():
    eps = 0.15
    paths = many_paths(MarkovDrift(eps), 8)
    for j in (1, 3, 7):
        estimate = paths[:, 0].T @ paths[:, j] / len(paths)
        expected = (1 - eps) ** (j / 2) * K
        np.testing.assert_allclose(estimate, expected, atol=4.5 * np.sqrt(2 / len(paths)))


def test_markov_step_is_eq_4():
    f, g = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    (moved,) = MarkovDrift(0.36).step((f,), lambda: g.copy(), 1, np.random.default_rng(0))
    np.testing.assert_allclose(moved, 0.8 * f + 0.6 * g, rtol=1e-15)


def test_markov_ends_are_static_and_independent():
    static = path_of(MarkovDrift(0.0), 0).ahead(50)
    assert (static == static[0]).all()
    paths = many_paths(MarkovDrift(1.0), 2)
    correlation = paths[:, 0].T @ paths[:, 1] / len(paths)
    np.testing.assert_allclose(correlation, 0.0, atol=4.5 / np.sqrt(len(paths)))


@pytest.mark.parametrize(
    "kernel",
    [
        MarkovTime(0.15),
        Matern32Time(3.0),
        Matern52Time(5.0),
        WienerTime(0.2),
        PeriodicTime(4.5, 0.7, harmonics=2),
        TemporalSum((PeriodicTime(6.0, harmonics=1), MarkovTime(0.3), StaticTime()), (0.5, 1, 0.2)),
        TemporalProduct((WienerTime(2.0), MarkovTime(0.5))),  # its steps differ
    ],
    ids=lambda kernel: kernel.type_name,
)
def test_paths_have_the_covariance_of_their_temporal_kernel(kernel):
    drift = as_drift({"type": "temporal", "kernel": kernel.to_dict()})
    paths = many_paths(drift, 6, trials=1000)
    times = np.arange(6.0)
    expected = np.einsum("ts,xz->txsz", kernel(times, times), K)
    estimate = np.einsum("itx,isz->txsz", paths, paths) / len(paths)
    scale = np.sqrt(np.einsum("tt,ss->ts", *[kernel(times, times)] * 2))[:, None, :, None]
    assert np.abs((estimate - expected) / scale).max() <= 5.0 * np.sqrt(2 / len(paths))
    assert drift.keeps_marginal == (kernel.type_name not in ("wiener", "sum", "product"))


def test_a_path_may_start_at_zero():
    @dataclass(frozen=True)
    class Brownian(WienerTime):
        """T(t, s) = rate min(t, s)."""

        def __call__(self, t, s):
            return self.rate * np.minimum.outer(t, s)

        def covariance(self, t):
            return np.array([[self.rate * t]])

    paths = many_paths(TemporalDrift(Brownian(0.5)), 3)
    assert not paths[:, 0].any()
    covariance = np.einsum("pi,pj->ij", paths[:, 1], paths[:, 2]) / len(paths)
    np.testing.assert_allclose(covariance, 0.5 * K, atol=4.5 * np.sqrt(2 / len(paths)))


def test_a_periodic_path_draws_nothing_after_the_start():
    count = []
    drift = TemporalDrift(PeriodicTime(12.0, harmonics=2))
    memory = drift.start(lambda: count.append(1) or np.ones(3))
    drift.step(memory, lambda: count.append(1) or np.ones(3), 1, np.random.default_rng(0))
    assert len(count) == 5


def test_varying_markov_reads_its_rates_in_turn():
    drift = VaryingMarkovDrift((0.1, 0.2), rounds=(2, 3))
    rates = [drift.epsilon_at(t) for t in range(1, 11)]
    assert rates == [0.1, 0.1, 0.2, 0.2, 0.2] * 2


def test_varying_markov_goes_on_after_a_rate_of_one():
    drift, rng = VaryingMarkovDrift((0.5, 1.0), rounds=(4, 1)), np.random.default_rng(0)

    def kept(t, dt):
        """The correlation of f_t and f_{t + dt}."""
        return drift.elapse((np.ones(1),), lambda: np.zeros(1), t, dt, rng)[0].item()

    assert kept(1.0, 1.5) == kept(6.0, 1.5) == kept(103.5, 1.5) == pytest.approx(0.5**0.75)
    assert kept(4.5, 1.0) == kept(5.0, 0.5) == 0.0


def test_change_points_come_when_they_are_told_and_only_then():
    path = path_of(ChangePoints((4, 9)), 2).ahead(12)
    changed = [t + 1 for t in range(1, 12) if not np.array_equal(path[t], path[t - 1])]
    assert changed == [4, 9]


def test_random_change_points_come_at_their_rate():
    path = path_of(ChangePoints(rate=0.25), 2).ahead(4000)
    rate = (path[1:] != path[:-1]).any(axis=1).mean()
    assert rate == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 4000))


def test_seasons_return_and_covary_as_stated():
    drift = Seasonal(6, (2.0, 1.0))
    path = path_of(drift, 4).ahead(20)
    np.testing.assert_allclose(path[6:], path[:-6], atol=1e-12)
    paths = many_paths(drift, 3)
    angle = 2 * np.pi * 2 / 6
    expected = K * (4 * np.cos(angle) + np.cos(2 * angle)) / 5
    estimate = paths[:, 0].T @ paths[:, 2] / len(paths)
    np.testing.assert_allclose(estimate, expected, atol=4.5 * np.sqrt(2 / len(paths)))


def test_rotation_passes_through_its_functions_and_returns():
    drift = Rotation(12, functions=3)
    path = path_of(drift, 4)
    functions = [v.copy() for v in path._memory]
    rows = path.ahead(13)
    for i in range(3):
        np.testing.assert_allclose(rows[4 * i], functions[i], atol=1e-12)
        halfway = (functions[i] + functions[(i + 1) % 3]) / np.sqrt(2.0)
        np.testing.assert_allclose(rows[4 * i + 2], halfway, atol=1e-12)
    np.testing.assert_allclose(rows[12], rows[0], atol=1e-12)


def test_one_drift_after_the_other_in_the_order_given():
    """A change before the fading fades too; one after it does not."""
    for order, kept in (((0, 1), [0.8, 0.6]), ((1, 0), [0.0, 1.0])):
        drifts = (ChangePoints((2,)), MarkovDrift(0.36))
        drawn = iter(np.eye(3))
        moved = Then(tuple(drifts[i] for i in order)).step(
            (np.array([0.0, 0.0, 1.0]),), lambda d=drawn: next(d).copy(), 1, np.random.default_rng()
        )
        np.testing.assert_allclose(moved[0], [*kept, 0.0], atol=1e-12)


def test_a_blend_keeps_the_law_if_all_its_parts_do():
    steady, shrinking = MarkovDrift(0.1), as_drift(lambda f, *_: 0.5 * f)
    assert Blend((steady, steady)).keeps_marginal
    assert not Blend((steady, shrinking)).keeps_marginal
    assert Then((steady, steady)).keeps_marginal
    assert not Then((steady, shrinking)).keeps_marginal


def test_every_function_that_is_drawn_is_used_and_in_order():
    sizes = []

    def counted(rng, size):
        sizes.append(size)
        return np.full((size, 2), 10.0 * len(sizes)) + np.arange(float(size))[:, None]

    path = Path(MarkovDrift(1.0), counted, np.random.default_rng(0)).ahead(2 * BLOCK)
    expected = [10.0 * (i + 1) + j for i in range(2) for j in range(BLOCK)]
    np.testing.assert_array_equal(path[:, 0], expected)
    assert sizes == [BLOCK, BLOCK]


def test_chances_draw_nothing_of_what_the_functions_are_drawn_of():
    """The same seed has the same functions, whatever else is left to chance."""
    certain = path_of(ChangePoints(tuple(range(2, 21))), 3).ahead(20)
    rare = path_of(ChangePoints(rate=0.3), 3).ahead(60)
    changed = [0, *np.flatnonzero((rare[1:] != rare[:-1]).any(axis=1)) + 1]
    assert 10 < len(changed) <= 20
    np.testing.assert_array_equal(rare[changed], certain[: len(changed)])


def test_blend_weighs_variances():
    paths = many_paths(Blend((MarkovDrift(0.0), MarkovDrift(1.0)), (1.0, 3.0)), 2)
    estimate = paths[:, 0].T @ paths[:, 1] / len(paths)
    np.testing.assert_allclose(estimate, 0.25 * K, atol=4.5 * np.sqrt(2 / len(paths)))


def test_a_users_function_is_a_drift():
    def shrink(f, fresh, t, rng):
        f *= 0.5
        return f

    path = path_of(as_drift(shrink), 0)
    first = path.values
    np.testing.assert_array_equal(path.advance(), 0.5 * first)
    assert not as_drift(shrink).keeps_marginal


@dataclass(frozen=True)
class Fading(Drift):
    """A drift that is not registered."""

    rate: float = 0.5

    def step(self, memory, fresh, t, rng):
        return (self.rate * memory[0],)


class Halved(Fading):
    """It has no arguments of its own."""


def test_a_drift_of_your_own_is_named_by_its_module(monkeypatch):
    monkeypatch.setitem(sys.modules, "own_drifts", sys.modules[__name__])
    monkeypatch.setattr(Fading, "__module__", "own_drifts")
    spec = {"type": "own_drifts:Fading", "rate": 0.25}
    assert DRIFTS.to_dict(Fading(0.25)) == spec
    assert as_drift(spec) == Fading(0.25)
    both = Blend((Fading(), MarkovDrift(0.1)))
    assert as_drift(DRIFTS.to_dict(both)) == both
    assert DRIFTS.to_dict(Halved())["type"].endswith(":Halved")
    with pytest.raises(InvalidInput, match="no class 'Fade' derived from Drift"):
        as_drift({"type": "own_drifts:Fade"})
    with pytest.raises(InvalidInput, match="FunctionDrift has no dict: make it a dataclass"):
        DRIFTS.to_dict(as_drift(lambda f, *_: f))


def test_functions_and_dicts_are_parts_of_blends_and_chains():
    def shrink(f, fresh, t, rng):
        return 0.5 * f

    for both in (Blend, Then):
        drift = both((shrink, {"type": "markov", "epsilon": 0.1}))
        assert drift.drifts[1] == MarkovDrift(0.1)
        assert not drift.keeps_marginal
        assert not as_drift({"type": drift.type_name, "drifts": [shrink, shrink]}).keeps_marginal
    path = path_of(Then((shrink, shrink)), 0)
    first = path.values
    np.testing.assert_array_equal(path.advance(), 0.25 * first)


def test_a_users_class_is_a_drift():
    class Flip(Drift):
        def step(self, memory, fresh, t, rng):
            return (-memory[0],)

    path = path_of(Flip(), 0).ahead(3)
    np.testing.assert_array_equal(path[1], -path[0])
    np.testing.assert_array_equal(path[2], path[0])


@pytest.mark.slow
def test_100_000_rounds_keep_their_variance():
    path = path_of(MarkovDrift(0.01), 0)
    total = np.zeros(4)
    for _ in range(100_000):
        total += path.advance() ** 2
    # Successive squares correlate as (1 - eps)^j: about 1e5 * eps / 2 independent ones.
    np.testing.assert_allclose(total / 100_000, 1.0, atol=5 * np.sqrt(2 / 500))


@pytest.mark.parametrize(
    ("returns", "says"),
    [
        (lambda f: (f[:3],), r"Own must return functions of shape \(4,\).* \(3,\) in round 2"),
        (lambda f: (f[None],), r"\(1, 4\)"),
        (lambda f: (0.5,), r"\(\) in round 2"),
        (lambda f: f, "tuple of arrays, got array"),
        (lambda f: None, "tuple of arrays, got None in round 2"),
    ],
)
def test_what_a_class_of_ones_own_returns_is_checked_before_the_path_moves(returns, says):
    class Own(Drift):
        def step(self, memory, fresh, t, rng):
            return returns(memory[0])

    path = path_of(Own(), 0)
    before = path.values
    with pytest.raises(InvalidInput, match=says):
        path.advance()
    assert path.round == 1
    np.testing.assert_array_equal(path.values, before)
    np.testing.assert_array_equal(path._memory, [before])


def test_a_memory_may_grow():
    class Mean(Drift):
        """The mean of the last three draws, of fewer at the start."""

        keeps_marginal = False

        def step(self, memory, fresh, t, rng):
            return (*memory, fresh())[-3:]

        def values(self, memory, t):
            return np.mean(memory, axis=0)

    check_drift(Mean())


def test_values_are_floats_whatever_a_drift_returns():
    class Signs(Drift):
        def step(self, memory, fresh, t, rng):
            return (np.sign(memory[0]).astype(int),)

    assert path_of(Signs(), 0).advance().dtype == np.float64


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: MarkovDrift(1.5), r"\[0, 1\]"),
        (lambda: MarkovDrift(float("nan")), r"\[0, 1\]"),
        (lambda: MarkovDrift("fast"), "number"),
        (lambda: VaryingMarkovDrift(()), "epsilons"),
        (lambda: VaryingMarkovDrift((0.1, 0.2), rounds=(1, 2, 3)), "one per rate"),
        (lambda: ChangePoints((1,)), "at least 2"),
        (lambda: ChangePoints(rate=-0.1), "rate"),
        (lambda: Seasonal(0), "period"),
        (lambda: Seasonal(5, (0.0,)), "above 0"),
        (lambda: Rotation(5, functions=1), "functions"),
        (lambda: Blend((MarkovDrift(0.1),)), "at least 2"),
        (lambda: Blend((MarkovDrift(0.1), MarkovDrift(0.2)), (1.0,)), "one weight per drift"),
        (lambda: Then((MarkovDrift(0.1), Seasonal(4))), "blend"),
        (lambda: as_drift({"type": "markov", "epsilon": 0.1, "rate": 2}), "rate"),
        (lambda: as_drift({"type": "temporal", "kernel": {"type": "seasonal"}}), "temporal kernel"),
        (lambda: VaryingMarkovDrift(0.1), "epsilons must be a list, got 0.1"),
        (lambda: Seasonal(5, 1.0), "weights must be a list, got 1.0"),
        (lambda: Blend((MarkovDrift(0.1), MarkovDrift(0.2)), 0.5), "weights must be a list"),
        (lambda: as_drift(7), "drift"),
        (lambda: as_drift(MarkovDrift), r"give MarkovDrift\(\.\.\.\)"),
        (lambda: path_of(as_drift(lambda f, *_: f[:2]), 0).advance(), "shape"),
        (lambda: path_of(as_drift(lambda f, *_: f * np.nan), 0).advance(), "NaN"),
    ],
)
def test_bad_drifts_are_refused(make, says):
    with pytest.raises(GPBanditsError, match=says):
        make()


def test_unknown_drift_names_the_nearest():
    with pytest.raises(UnknownName, match=r"'markov'.*, your own as module:Class\)$"):
        as_drift({"type": "markow", "epsilon": 0.1})


def test_function_drift_needs_a_function():
    assert isinstance(as_drift(lambda f, fresh, t, rng: fresh()), FunctionDrift)
    with pytest.raises(InvalidInput):
        as_drift("markov")
