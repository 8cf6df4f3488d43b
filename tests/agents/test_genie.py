import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

FUNCTIONS = np.random.default_rng(0).normal(size=(6, 20))


@pytest.fixture
def genie():
    return agents.make("genie", Problem(Arms.grid(20), SquaredExponential(0.2), 0.1), seed=1)


def test_it_plays_the_maximiser_of_the_function_before(genie):
    first = genie.ask()
    genie.tell(first, [0.0])
    for function in FUNCTIONS:
        genie.reveal(function)
        arm = genie.ask()
        assert arm == function.argmax()
        genie.tell(arm, [-100.0])  # what it is told teaches it nothing


def test_the_first_arm_is_uniform(genie):
    arms = np.concatenate([genie.ask() for _ in range(4000)])
    counts = np.bincount(arms, minlength=20)
    # Chi-squared with 19 degrees of freedom: above 50 with probability 1e-4.
    assert ((counts - 200) ** 2 / 200).sum() < 50


def test_it_cannot_act_on_what_it_was_told(genie):
    genie.tell([3], [1.0])
    with pytest.raises(InvalidInput, match="function of round 1 was not revealed"):
        genie.ask()
    genie.reveal(FUNCTIONS[0])
    genie.ask()
    genie.tell([3], [1.0])
    with pytest.raises(InvalidInput, match=r"round 2 was not revealed.*call reveal\(values\)"):
        genie.ask()


def test_a_batch_is_the_same_arm(genie):
    batch = agents.make("genie", genie.problem, batch_size=3)
    batch.tell([0, 1, 2], np.zeros(3))
    batch.reveal(FUNCTIONS[1])
    assert batch.ask().tolist() == [FUNCTIONS[1].argmax()] * 3


@pytest.mark.parametrize("values", [np.zeros(19), np.zeros((1, 20)), np.full(20, np.nan)])
def test_a_wrong_function_changes_nothing(genie, values):
    genie.tell([0], [0.0])
    genie.reveal(FUNCTIONS[2])
    with pytest.raises(InvalidInput, match="values"):
        genie.reveal(values)
    assert genie.ask() == FUNCTIONS[2].argmax()


def test_it_needs_arms():
    with pytest.raises(InvalidInput, match="finite set of arms"):
        agents.make("genie", Problem(Box([0.0], [1.0]), SquaredExponential(0.2), 0.1))


def test_snapshot_and_reset(genie):
    genie.tell([0], [0.0])
    genie.reveal(FUNCTIONS[3])
    kept = genie.snapshot()
    genie.reset()
    first = genie.ask()
    assert 0 <= first[0] < 20
    genie.restore(kept)
    assert genie.ask() == FUNCTIONS[3].argmax()
