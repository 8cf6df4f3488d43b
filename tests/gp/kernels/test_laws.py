"""What holds for every kernel, in 1, 2 and 5 dimensions."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gpbandits_env.errors import GPBanditsError, InvalidInput, UnknownName
from gpbandits_env.gp.kernels import KERNELS, Linear, kernel_from_dict
from gpbandits_env.gp.kernels.laws import LAWS


def test_every_registered_kernel_is_tested(all_kernels):
    tested, todo = set(), list(all_kernels)
    while todo:
        kernel = todo.pop()
        tested.add(kernel.type_name)
        todo.extend(getattr(kernel, "terms", getattr(kernel, "factors", ())))
    assert tested == set(KERNELS.members)


def test_every_law(any_case):
    for law in LAWS:
        law(*any_case)


def test_matrices_agree_to_the_last_digits(any_case):
    kernel, x, z = any_case
    points = x if kernel.on_indices else np.concatenate([x, x[:3], x[:2] + 1e-9])
    matrix = kernel(points)
    assert_array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-13 * np.trace(matrix)
    assert_allclose(kernel.diagonal(x), np.diag(kernel(x)), rtol=1e-15, atol=0)
    both = np.concatenate([x, z])
    assert_allclose(kernel(x, z), kernel(both)[: len(x), len(x) :], rtol=1e-15, atol=1e-16)
    assert_allclose(kernel(x[4:5], z)[0], kernel(x, z)[4], rtol=1e-15, atol=1e-16)
    assert_allclose(kernel(z, x), kernel(x, z).T, rtol=1e-15, atol=1e-16)


def test_gradient_in_x_is_the_finite_difference(smooth_case):
    kernel, x, z = smooth_case
    h = 1e-5
    gradient = kernel.gradient(x, z)
    assert gradient.shape == (len(x), len(z), x.shape[1])
    for j in range(x.shape[1]):
        step = np.zeros_like(x)
        step[:, j] = h
        expected = (kernel(x + step, z) - kernel(x - step, z)) / (2 * h)
        assert_allclose(gradient[:, :, j], expected, rtol=1e-6, atol=1e-8)


def test_gradient_at_kinks_and_beside_them(vector_case):
    kernel, x, _ = vector_case
    h = 1e-6
    gradient = kernel.gradient(x, np.concatenate([x, x + 1e-200, x + 1e-9]))
    assert np.isfinite(gradient).all()
    if kernel.is_stationary:
        assert not gradient[np.arange(len(x)), np.arange(len(x))].any()
    far = x + 0.5  # away from its kink every kernel has a derivative
    expected = (kernel(x + h, far) - kernel(x - h, far)) / (2 * h)
    assert_allclose(kernel.gradient(x, far).sum(axis=2), expected, rtol=1e-6, atol=1e-8)


def test_gradients_in_the_parameters_of_one_argument(any_case):
    kernel, x, _ = any_case
    square, cross = kernel.parameter_gradients(x), kernel.parameter_gradients(x, x)
    for name, value in square.items():
        # A difference quotient multiplies the rounding errors of the kernel by 1e5.
        assert_allclose(value, cross[name], rtol=1e-15, atol=1e-10)
        assert np.isfinite(value).all()


def test_parameters_round_trip(any_case):
    kernel = any_case[0]
    values = kernel.parameters()
    assert kernel.with_parameters(values) == kernel
    assert kernel.with_parameters({}) == kernel
    doubled = {name: 2 * value for name, value in values.items()}
    assert kernel.with_parameters(doubled).parameters() == pytest.approx(doubled)
    with pytest.raises(UnknownName, match="no parameter of the kernel"):
        kernel.with_parameters({"lengthscalf": 1.0})
    with pytest.raises(InvalidInput, match="above 0"):
        kernel.with_parameters({next(iter(values)): -1.0})


def test_a_kernel_is_read_as_itself_and_differs_from_others(any_case):
    kernel = any_case[0]
    assert kernel_from_dict(kernel) is kernel
    kernel(any_case[1])
    assert {kernel: 1}[pickle.loads(pickle.dumps(kernel))] == 1
    assert kernel != kernel * 1.5


def test_factors_are_positive_numbers(any_case):
    kernel, x, z = any_case
    assert_allclose((2.5 * kernel)(x, z), 2.5 * kernel(x, z), rtol=1e-14, atol=0)
    assert_allclose((kernel * 2.5).diagonal(x), 2.5 * kernel.diagonal(x), rtol=1e-14, atol=0)
    for factor in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="factor"):
            kernel * factor


def test_says_whether_it_is_stationary(vector_case):
    kernel, x, z = vector_case
    moved = np.allclose(kernel(x + 0.7, z + 0.7), kernel(x, z), atol=1e-12)
    assert kernel.is_stationary == moved


def test_a_lengthscale_in_other_units_is_the_kernel_of_other_points(vector_case):
    kernel, x, z = vector_case
    half = kernel.with_lengthscale(lambda ell: (np.asarray(ell) / 2.0).tolist())
    if "linear" not in str(kernel.to_dict()):
        assert_allclose(half(x, z), kernel(2.0 * x, 2.0 * z), rtol=1e-12)
    assert Linear().with_lengthscale(lambda ell: 2 * ell) == Linear()


def test_points_of_the_right_dimension_are_accepted(any_case):
    kernel, x, _ = any_case
    kernel.check_points(x)


@pytest.mark.parametrize("name", ["se", "matern12", "matern32", "matern52", "matern"])
@pytest.mark.parametrize("field", ["lengthscale", "variance", "nu"])
def test_parameters_must_be_positive_numbers(name, field):
    spec = {"type": name, "lengthscale": 1.0, **({"nu": 1.0} if name == "matern" else {})}
    if field == "nu" and name != "matern":
        with pytest.raises(UnknownName, match="'nu'"):
            kernel_from_dict({**spec, "nu": 1.0})
        return
    for bad in (0.0, -1.0, np.nan, np.inf, "wide", None):
        with pytest.raises(InvalidInput, match=field):
            kernel_from_dict({**spec, field: bad})


@pytest.mark.parametrize("bad", [[], [[0.1]], [0.1, -0.2], [0.1, "x"], [0.1, float("nan")]])
def test_ard_lengthscales_must_be_positive_numbers(bad):
    with pytest.raises(InvalidInput, match="lengthscale"):
        kernel_from_dict({"type": "se", "lengthscale": bad})


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"lengthscale": 1.0},
        {"type": "se"},
        {"type": "rbf", "lengthscale": 1.0},
        {"type": "se", "lenghtscale": 1.0},
        {"type": "matern", "lengthscale": 1.0},
        {"type": "sum", "terms": []},
        {"type": "sum", "terms": [1.0]},
        {"type": "sum", "terms": {"type": "linear"}},
        {"type": "product", "factors": 3},
        {"type": "linear", "variance": 0},
        "se",
        None,
    ],
)
def test_a_wrong_dict_is_a_clear_error(spec):
    with pytest.raises(GPBanditsError):
        kernel_from_dict(spec)


def test_a_misspelt_type_gets_a_suggestion():
    with pytest.raises(UnknownName, match="did you mean 'matern52'"):
        kernel_from_dict({"type": "matern25", "lengthscale": 1.0})


def test_a_kernel_times_something_else_is_an_error():
    with pytest.raises(InvalidInput, match="factor"):
        Linear() * "two"
    with pytest.raises(TypeError):
        Linear() + 1.0
