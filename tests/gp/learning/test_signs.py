"""The model of a function whose sign is observed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.learning import signs
from gpbandits_env.gp.learning.signs import SignModel, propagated, site

POINTS = np.random.default_rng(0).random((25, 2))
LABELS = np.where(POINTS.sum(axis=1) > 1.0, -1.0, 1.0)


@pytest.mark.parametrize("mean", [-40.0, -2.0, 0.0, 1.5, 30.0])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_a_site_matches_the_moments_of_the_product(mean, label):
    var = 4.0
    f = mean + np.linspace(-60.0, 60.0, 400_001)
    weights = np.exp(-0.5 * (f - mean) ** 2 / var) * ndtr(label * f)
    weights /= weights.sum()
    moments = weights @ f, weights @ (f - weights @ f) ** 2
    value, noise_var = site(np.array([mean]), np.array([var]), np.array([label]))
    precision = 1.0 / var + 1.0 / noise_var
    found = (mean / var + value / noise_var) / precision, 1.0 / precision
    assert np.ravel(found) == pytest.approx(moments, rel=1e-6)


@pytest.mark.parametrize("mean", [-2.0, 0.0, 4.0, 30.0])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_a_site_with_chance_matches_the_moments_too(mean, label):
    """Where the product has a larger variance than f, the site leaves the variance as it is."""
    var, chance = 4.0, 0.2
    f = mean + np.linspace(-60.0, 60.0, 400_001)
    likelihood = (1.0 - chance) * ndtr(label * f) + chance * (label < 0.0)
    weights = np.exp(-0.5 * (f - mean) ** 2 / var) * likelihood
    weights /= weights.sum()
    expected, spread = weights @ f, weights @ (f - weights @ f) ** 2
    value, noise_var = site(np.array([mean]), np.array([var]), np.array([label]), chance)
    precision = 1.0 / var + 1.0 / noise_var
    found = (mean / var + value / noise_var) / precision, 1.0 / precision
    assert np.ravel(found) == pytest.approx([expected, min(spread, var)], rel=1e-5)


def test_sites_are_finite_far_from_the_boundary():
    mean, var = np.array([1e6, -1e6, 0.0]), np.array([1e-6, 1e8, 1e8])
    for label, chance in ((-1.0, 0.0), (1.0, 0.0), (-1.0, 0.1), (1.0, 0.1)):
        value, noise_var = site(mean, var, np.full(3, label), chance)
        assert np.isfinite(value).all()
        assert (noise_var > 0.0).all()


def test_the_evidence_of_three_labels_is_that_of_an_orthant():
    """P(f + noise has the signs of the labels), by integration of a normal distribution."""
    points, labels, mean = POINTS[:3], np.array([1.0, -1.0, 1.0]), 0.4
    gram = Matern52(0.5, 2.0)(points)
    flipped = (gram + np.eye(3)) * np.outer(labels, labels)
    exact = multivariate_normal.cdf(labels * mean, mean=np.zeros(3), cov=flipped)
    assert propagated(gram, labels, mean).log_evidence == pytest.approx(np.log(exact), abs=5e-3)


def test_gradients_are_those_of_the_evidence(monkeypatch):
    monkeypatch.setattr(signs, "TOLERANCE", 1e-10)

    def evidence(u):
        lengthscale, variance, mean = np.exp(u[0]), np.exp(u[1]), u[2]
        return propagated(Matern52(lengthscale, variance)(POINTS), LABELS, mean)

    u = np.array([-0.7, 2.0, 0.5])
    at, grams = evidence(u), Matern52(np.exp(u[0]), np.exp(u[1])).parameter_gradients(POINTS)
    found = [0.5 * np.sum(at.gradient * grams[k]) for k in ("lengthscale", "variance")]
    numeric = approx_fprime(u, lambda u: evidence(u).log_evidence, 1e-5)
    assert [*found, at.pull.sum()] == pytest.approx(numeric, abs=1e-4)


def test_labels_next_to_a_straight_boundary_do_not_make_it_rough():
    """Eight of the labels lie within 0.001 of the boundary."""
    rng = np.random.default_rng(1)
    along, side = rng.random(8), rng.uniform(0.0002, 0.001, 8) * np.tile([-1.0, 1.0], 4)
    close = np.stack([along + side, 1.0 - along + side], axis=1)
    points = np.concatenate([POINTS, close])
    labels = np.where(points.sum(axis=1) > 1.0, -1.0, 1.0)
    model = SignModel.prior([0, 1]).fitted(points, labels)
    value, noise_var = model.targets(points, labels)
    kernel, new = model.kernel, rng.random((400, 2))
    new = new[np.abs(new.sum(axis=1) - 1.0) > 0.02]
    weights = np.linalg.solve(kernel(points) + np.diag(noise_var), value - model.mean)
    assert min(model.lengthscales) > 0.3
    at_new = model.mean + kernel(new, points) @ weights
    assert (np.sign(at_new) == np.where(new.sum(axis=1) > 1.0, -1.0, 1.0)).mean() > 0.9


def test_coordinates_without_influence_get_long_lengthscales():
    points = np.random.default_rng(4).random((40, 6))
    labels = np.where(points[:, 2] > 0.6, -1.0, 1.0)
    model = SignModel.prior([0, 1, 2, 3, 4, 4]).fitted(points, labels)
    assert len(model.lengthscales) == 5
    assert model.lengthscales[2] < 0.5 * min(model.lengthscales[j] for j in (0, 1, 3, 4))


def test_labels_at_random_are_noise():
    labels = np.where(np.random.default_rng(1).random(60) < 0.3, -1.0, 1.0)
    points = np.random.default_rng(2).random((60, 2))
    model = SignModel.prior([0, 1]).fitted(points, labels)
    value, noise_var = model.targets(points, labels)
    weights = np.linalg.solve(model.kernel(points) + np.diag(noise_var), value - model.mean)
    new = np.random.default_rng(3).random((200, 2))
    assert (model.mean + model.kernel(new, points) @ weights > 0.0).mean() > 0.8


def test_the_evidence_and_its_slope_allow_for_chance(monkeypatch):
    """A label of -1 is due to chance, or else the sign of f + noise."""
    monkeypatch.setattr(signs, "TOLERANCE", 1e-10)
    points, labels, mean, chance = POINTS[:2], np.array([1.0, -1.0]), 0.4, 0.2
    gram = Matern52(0.5, 2.0)(points)
    both = multivariate_normal.cdf([mean, mean], mean=[0.0, 0.0], cov=gram + np.eye(2))
    first = ndtr(mean / np.sqrt(1.0 + gram[0, 0]))
    exact = (1.0 - chance) * (chance * first + (1.0 - chance) * (first - both))
    at = propagated(gram, labels, mean, chance)
    assert at.log_evidence == pytest.approx(np.log(exact), abs=5e-3)

    def evidence(u):
        return propagated(gram, labels, mean, float(u[0])).log_evidence

    assert approx_fprime(np.array([chance]), evidence, 1e-6) == pytest.approx(
        at.in_chance, abs=5e-3
    )


@pytest.mark.parametrize(("seed", "rate"), [(0, 0.2), (1, 0.3)])
def test_failures_by_chance_are_told_from_those_of_a_place(seed, rate):
    rng = np.random.default_rng(seed)
    points = rng.random((60, 2))
    start = SignModel.prior([0, 1], signs.CHANCE)
    place = np.where(points.sum(axis=1) > 1.3, -1.0, 1.0)
    assert start.fitted(points, place).chance < 0.02
    labels = np.where(rng.random(60) < rate, -1.0, 1.0)
    model = start.fitted(points, labels)
    assert model.chance == pytest.approx((labels < 0.0).mean(), abs=0.07)
    assert replace(model, chance=0.01).fitted(points, labels).chance > 0.1
    assert SignModel.prior([0, 1]).fitted(points, labels).chance == 0.0


def test_the_last_digits_of_the_points_do_not_change_what_is_learned():
    rng = np.random.default_rng(3)
    points = rng.random((26, 2))
    points[10:] = [0.55, 0.6] + 0.1 * rng.standard_normal((16, 2))
    labels = np.where(points.sum(axis=1) > 1.2, -1.0, 1.0)

    def learned(points):
        models = [SignModel.prior((0, 1), chance=0.1)]
        for n in range(8, 27, 3):
            models.append(models[-1].fitted(points[:n], labels[:n]))
        return [x for m in models for x in (*m.lengthscales, m.variance, m.mean, m.chance)]

    moved = points * (1.0 + 1e-14 * np.random.default_rng(0).standard_normal(points.shape))
    assert learned(moved) == pytest.approx(learned(points), rel=1e-7)


def test_the_common_lengthscale_is_as_uncertain_with_many_groups_as_with_one():
    """Its logarithm is the mean of those of the groups."""
    for n in (1, 2, 6):
        _, precision = SignModel.prior(range(n))._normal()
        own = np.linalg.inv(precision)[:n, :n]
        assert own.mean() == pytest.approx(signs.LENGTHSCALE_SD**2)


def test_a_model_is_learned_from_the_last_labels(monkeypatch):
    monkeypatch.setattr(signs, "LAST", 10)
    start = SignModel.prior((0, 0))
    assert start.fitted(POINTS, LABELS) == start.fitted(POINTS[-10:], LABELS[-10:])


def _contradictory(seed):
    """Labels that differ at points that almost agree, a common mean, and a chance or none."""
    rng = np.random.default_rng(seed)
    half, d = int(rng.integers(2, 20)), int(rng.integers(1, 6))
    first = rng.random((half, d))
    second = first + 10.0 ** rng.uniform(-4.0, -1.0) * rng.standard_normal((half, d))
    labels = rng.choice([-1.0, 1.0], 2 * half)
    variance = 1e3 * np.exp(2.0 * rng.standard_normal())
    kernel = Matern52(0.5 * d**0.5 * np.exp(rng.standard_normal()), variance)
    return kernel(np.vstack([first, second])), labels, 30.0 * rng.random(), (0.0, 0.1)[seed % 2]


def test_expectation_propagation_converges_in_few_sweeps(monkeypatch):
    """With damping alone, 11 of these did not converge in 60 sweeps; they need 56 on average."""
    made, marginals = [], signs._Marginals

    def counted(*sites):
        made.append(marginals(*sites))
        return made[-1]

    monkeypatch.setattr(signs, "_Marginals", counted)
    converged = 0
    for seed in range(40):
        gram, labels, mean, chance = _contradictory(seed)
        at = propagated(gram, labels, mean, chance)
        own = marginals(gram, at.precision, at.shift)
        values, noise_var = site(mean + own.mean, own.var, labels, chance)
        sites = np.stack([at.precision, at.shift])
        moved = np.stack([1.0 / noise_var, (values - mean) / noise_var])
        converged += np.allclose(moved, sites, rtol=0.0, atol=1e-5 * (1.0 + np.abs(sites).max()))
    assert converged >= 39
    assert len(made) < 40 * 40


def test_a_label_that_is_far_from_likely_warns_of_nothing():
    at = propagated(np.full((2, 2), 1e-3), np.array([-1.0, 1.0]), 300.0)
    assert np.isfinite(at.log_evidence)
