"""What a learner is told."""

from unittest.mock import Mock

import numpy as np
import pytest

from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import Matern32Time
from gpbandits_env.problem import Problem

KERNEL, ARMS = SquaredExponential(0.2), Arms.grid(4)


def test_defaults():
    problem = Problem(ARMS, KERNEL, 0.1)
    assert (problem.batch_size, problem.horizon, problem.prior_mean) == (1, None, 0.0)


def test_prior_mean_is_a_number_or_a_read_only_copy():
    mean = np.arange(4)
    problem = Problem(ARMS, KERNEL, 0.0, prior_mean=mean)
    mean[0] = 9
    np.testing.assert_array_equal(problem.prior_mean, [0.0, 1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        problem.prior_mean[0] = 1.0
    assert type(Problem(ARMS, KERNEL, 0.1, prior_mean=np.int64(2)).prior_mean) is float


@pytest.mark.parametrize(
    "wrong",
    [
        {"noise_var": -0.1},
        {"noise_var": float("nan")},
        {"noise_var": "loud"},
        {"batch_size": 0},
        {"batch_size": 2.0},
        {"batch_size": 10**9},
        {"horizon": 0},
        {"horizon": 10.5},
        {"prior_mean": [0.0, 1.0]},
        {"prior_mean": [[0.0, 1.0, 2.0, 3.0]]},
        {"prior_mean": float("inf")},
        {"contexts": np.zeros(2)},
        {"domain": Mock(spec=Domain, dim=1, finite=False)},  # a third kind
    ],
)
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        Problem(**{"domain": ARMS, "kernel": KERNEL, "noise_var": 0.1, **wrong})


def test_a_box_has_a_constant_prior_mean():
    with pytest.raises(InvalidInput, match="prior_mean"):
        Problem(Box(0.0, [1.0] * 4), KERNEL, 0.1, prior_mean=np.zeros(4))


def test_a_kernel_is_read():
    assert Problem(ARMS, KERNEL.to_dict(), 0.1) == Problem(ARMS, KERNEL, 0.1)
    assert Model(KERNEL.to_dict(), 0.1) == Model(KERNEL, 0.1)
    for make in (lambda: Problem(ARMS, "se", 0.1), lambda: Model("se", 0.1)):
        with pytest.raises(InvalidInput, match="dict with a 'type'"):
            make()


def test_a_temporal_kernel_is_read_and_excludes_epsilon():
    given = {"type": "matern32", "lengthscale": 20.0}
    problem = Problem(ARMS, KERNEL, 0.1, temporal=given)
    assert problem.temporal == Matern32Time(20.0)
    with pytest.raises(InvalidInput, match="not both"):
        problem.replaced(epsilon=0.1)


def test_epsilon_and_a_temporal_kernel_exclude_each_other():
    kernel, temporal = SquaredExponential(0.2), {"type": "matern32", "lengthscale": 3.0}
    for epsilon in (0.0, 0.1):
        with pytest.raises(InvalidInput, match="epsilon or temporal"):
            Problem(Arms.grid(5), kernel, 0.1, epsilon=epsilon, temporal=temporal)
