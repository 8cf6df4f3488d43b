import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.tasks import boston, make_task
from gpbandits_env.rewards.tasks.boston import HousingNetwork, split, validation_loss

NOTHING = np.zeros(0)


@pytest.fixture
def task(prepared):
    return prepared(make_task("boston"))


def test_the_gradient_is_that_of_the_mean_squared_error(task):
    data = split()
    inputs, targets = data.inputs[:20], data.targets[:20]
    network = HousingNetwork(3)
    network.backward(inputs, targets)
    gradient = network.gradient.copy()
    for i in range(len(gradient)):
        network.parameters[i] += 1e-5
        above = np.mean((network(inputs) - targets) ** 2)
        network.parameters[i] -= 2e-5
        below = np.mean((network(inputs) - targets) ** 2)
        network.parameters[i] += 1e-5
        assert gradient[i] == pytest.approx((above - below) / 2e-5, rel=1e-4, abs=1e-4)


def test_the_split_is_fixed_and_standardised_by_what_is_trained_on(task):
    data = split()
    assert data.inputs.shape == (404, 14)
    assert data.held_inputs.shape == (102, 14)
    assert data.inputs[:, :13].mean(axis=0) == pytest.approx(np.zeros(13), abs=1e-12)
    assert data.inputs[:, :13].std(axis=0) == pytest.approx(np.ones(13))
    assert (data.inputs[:, 13] == 1).all()
    values = np.concatenate([data.targets, data.held_targets])
    assert values.sum() == pytest.approx(506 * 22.532806, rel=1e-6)


def test_every_row_is_in_one_batch_of_each_epoch(task):
    rows = np.concatenate(boston.batches()).reshape(boston.EPOCHS, -1)
    assert (np.sort(rows, axis=1) == np.arange(404)).all()
    assert max(map(len, boston.batches())) == 32


def test_training_beats_the_mean_of_the_values(task):
    data = split()
    mean = np.mean((data.held_targets - data.targets.mean()) ** 2)
    assert 8.0 < validation_loss(19, 0.005, 0.2, 0.3) < 0.35 * mean


def test_nodes_are_rounded_and_nothing_is_random(task):
    points = np.array([[nodes, 0.003, 0.15, 0.48] for nodes in (19.4, 18.6, 20.0)])
    values = task.values(task.coordinates.rounded(points), NOTHING)
    assert values[0] == values[1] != values[2]


def test_a_training_that_diverges_has_a_loss_all_the_same(task):
    value = task.values(np.array([[100, 1e200, 0.5, 0.5]]), NOTHING)
    assert value.tolist() == [-boston.WORST]


@pytest.mark.slow
def test_random_search_does_not_beat_the_best_found(task):
    box, rng = task.coordinates.box, np.random.default_rng(1)
    best = task.best(NOTHING)
    values = task.values(task.coordinates.rounded(box.sample(rng, 1500)), NOTHING)
    assert values.max() <= best.optimum + best.accuracy
    # Regrets are of the size of the paper's, 0.5 to 1.1.
    assert 0.1 < best.optimum - np.mean([v.max() for v in values.reshape(-1, 150)]) < 3.0


def test_the_loss_may_be_the_root_of_the_mean_squared_error(task, prepared):
    other = prepared(make_task("boston", {"root": True}))
    points = np.array([[19, 0.003, 0.15, 0.48], [50, 0.01, 0.3, 0.2]])
    values = other.values(points, NOTHING)
    np.testing.assert_allclose(values**2, -task.values(points, NOTHING))
    assert (values < 0).all()
    best, usual = other.best(NOTHING), task.best(NOTHING)
    assert best.optimum**2 == pytest.approx(-usual.optimum)
    assert (best.optimum + best.accuracy) ** 2 == pytest.approx(
        -usual.optimum - usual.accuracy, rel=1e-2
    )
    with pytest.raises(InvalidInput, match="root"):
        make_task("boston", {"root": 1})
