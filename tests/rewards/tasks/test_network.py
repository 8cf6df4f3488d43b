import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.rewards.datasets.mnist import Digits
from gpbandits_env.rewards.tasks import make_task, network
from gpbandits_env.rewards.tasks.network import Network, OutputWeights, digits

NOTHING = np.zeros(0)


@pytest.fixture
def task(prepared):
    return prepared(make_task("network-100"))


def test_coordinates(prepared):
    assert make_task("network-100").coordinates.box.dim == 100
    assert make_task("network-500").coordinates.box.dim == 500
    with pytest.raises(InvalidInput, match="hidden"):
        OutputWeights(0)


def test_digits_are_split_evenly_and_blank_pixels_left_out(task):
    data = digits()
    assert data.inputs.shape[0] == 4000
    assert np.bincount(data.held_targets).tolist() == [100] * 10
    assert data.targets.sum(axis=0).tolist() == [400] * 10
    assert data.inputs[:, :-1].any(axis=0).all()
    assert 0.0 <= data.inputs.min() < data.inputs.max() <= 1.0
    assert (data.held_inputs[:, -1] == 1.0).all()


def test_whole_mnist_is_split_as_its_files_are(monkeypatch):
    rng = np.random.default_rng(5)
    parts = {
        name: Digits(rng.integers(0, 256, (n, 784)).astype(np.uint8), np.arange(n) % 10)
        for name, n in (("train", 300), ("test", 20))
    }
    parts["train"].images[:, :7] = 0  # blank where it is learned from
    monkeypatch.setattr(network, "load_digits", parts.__getitem__)
    digits.cache_clear()
    network._trained.cache_clear()
    try:
        data = digits("mnist")
        assert data.inputs.shape == (300, 784 - 7 + 1)
        assert data.held_targets.tolist() == parts["test"].labels.tolist()
        assert data.held_inputs[3, :-1].tolist() == pytest.approx(parts["test"].images[3, 7:] / 255)
        shown = np.sort(data.inputs[:, :-1].sum(axis=1))
        assert shown == pytest.approx(np.sort(parts["train"].images.sum(axis=1) / 255.0), rel=1e-5)
        task = OutputWeights(2, "mnist")
        (value,) = task.values(np.full((1, 20), 0.5), NOTHING)
        net = Network(2, np.full((2, 10), 0.5), "mnist")
        net.train(1)
        assert value == -net.loss()
        best = task.best(NOTHING)
        assert task.values(best.action[None], NOTHING).tolist() == [-best.accuracy]
    finally:
        digits.cache_clear()
        network._trained.cache_clear()
    with pytest.raises(UnknownName, match="mnist"):
        make_task("network-100", {"digits": "minst"})


def cross_entropy(net, inputs, targets):
    """In double precision, from the parameters alone."""
    n = inputs.shape[1] * 4
    inner = net.parameters[:n].astype(float).reshape(-1, 4)
    logits = np.maximum(inputs.astype(float) @ inner, 0) @ net.outer.astype(float)
    logits += net.parameters[n : n + 10].astype(float)
    return np.mean(np.log(np.exp(logits).sum(axis=1)) - (logits * targets).sum(axis=1))


@pytest.mark.parametrize("joint", [False, True])
def test_the_gradient_is_that_of_the_cross_entropy(task, joint):
    rng, data = np.random.default_rng(0), digits()
    net = Network(4, None if joint else rng.uniform(-1, 1, (4, 10)))
    inputs, targets = data.inputs[:50], data.targets[:50]
    net._backward(inputs, targets)
    along = rng.normal(size=len(net.parameters)).astype(np.float32)
    start = net.parameters.copy()
    ends = []
    for step in (2e-4, -2e-4):
        net.parameters[:] = start + np.float32(step) * along
        ends.append(cross_entropy(net, inputs, targets))
    slope = (ends[0] - ends[1]) / 4e-4
    assert float(net.gradient @ along) == pytest.approx(slope, rel=2e-2)


def test_the_loss_is_that_of_the_digits_held_out(task):
    net = Network(4, np.random.default_rng(1).uniform(-1, 1, (4, 10)))
    net.train(1)
    data = digits()
    targets = np.eye(10)[data.held_targets]
    assert net.loss() == pytest.approx(cross_entropy(net, data.held_inputs, targets), rel=1e-5)


def test_training_lowers_the_loss_and_the_output_weights_matter(task):
    points = task.coordinates.box.sample(np.random.default_rng(2), 4)
    values = task.values(np.vstack([points, np.zeros(100)]), NOTHING)
    assert (values[:4] > -1.6).all()
    assert values[4] == pytest.approx(-np.log(10), abs=1e-2)  # no unit reaches the output
    assert len(set(values.tolist())) == 5
    assert (task.values(points[::-1], NOTHING)[::-1] == values[:4]).all()


def test_weights_trained_jointly_are_the_best_known(task):
    best = task.best(NOTHING)
    assert best.optimum == 0.0
    values = task.values(task.coordinates.box.sample(np.random.default_rng(3), 20), NOTHING)
    assert values.max() < -best.accuracy == task.values(best.action[None], NOTHING)[0]


def test_a_training_that_diverges_has_a_loss_all_the_same(task):
    assert task.values(np.full((1, 100), 1e30), NOTHING).tolist() == [-network.WORST]
