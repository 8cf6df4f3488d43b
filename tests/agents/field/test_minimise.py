"""One call, against functions whose optimum is known."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.field import Choice, Integer, Real
from gpbandits_env.errors import InvalidInput
from gpbandits_env.functions.formulas_fixed import hartmann

BRANIN = [(-5.0, 10.0), (0.0, 15.0)]


def branin(x):
    bowl = (x[1] - 5.1 * x[0] ** 2 / (4 * np.pi**2) + 5 * x[0] / np.pi - 6) ** 2
    return bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x[0]) + 10


@pytest.mark.parametrize("seed", range(3))
def test_branin_in_thirty_calls(seed):
    found = agents.minimize(branin, BRANIN, n_calls=30, seed=seed)
    assert found.fun - 0.397887 < 0.1
    assert branin(found.x) == found.fun
    assert found.nfev == len(found.func_vals) == len(found.x_iters) == 30
    assert found.success


def test_hartmann_in_sixty_calls_four_at_a_time():
    """Its two best maxima are 3.3224 and 3.2032."""
    with ThreadPoolExecutor(4) as pool:
        found = agents.maximize(
            lambda x: float(hartmann(x[None])[0]), [(0.0, 1.0)] * 6,
            n_calls=60, batch=4, parallel=pool.map, seed=0,
        )  # fmt: skip
    assert 3.15 < found.fun <= 3.3224
    assert found.func_vals.max() == found.fun


def test_given_points_noise_failures_and_a_callback():
    seen, calls = [], []

    def fun(x):
        calls.append(x)
        return float("nan") if len(calls) == 2 else float((x[0] - 0.3) ** 2)

    found = agents.minimize(
        fun, [(0.0, 1.0)], n_calls=12, seed=0, noise=0.0, x0=[[0.0], [0.9]], y0=[0.09, 0.36],
        callback=lambda result: seen.append(result.nfev) or result.nfev == 10,
    )  # fmt: skip
    assert seen == list(range(1, 11))
    assert len(calls) == 10
    assert len(found.func_vals) == 12
    assert np.isnan(found.func_vals).sum() == 1
    assert found.message.startswith("stopped")
    assert abs(found.x[0] - 0.3) < 0.02
    first = agents.minimize(fun, [(0.0, 1.0)], n_calls=3, seed=0, x0=[[0.5]])
    assert first.x_iters[0] == pytest.approx([0.5])


def test_dimensions_by_name_and_mixed_ones_by_place():
    space = {"n": Integer(1, 40), "rate": Real(1e-4, 1, log=True), "kind": Choice(("a", "b", "c"))}

    def fun(p):
        return (p["n"] - 9) ** 2 / 50 + np.log10(p["rate"] / 0.01) ** 2 + (p["kind"] != "b")

    found = agents.minimize(fun, space, n_calls=40, seed=0)
    assert found.x["kind"] == "b"
    assert found.fun < 0.05
    listed = agents.minimize(
        lambda x: fun(dict(zip(space, x, strict=True))), list(space.values()), n_calls=12, seed=0
    )
    assert isinstance(listed.x[0], int)
    assert isinstance(listed.x[2], str)


def test_the_seed_decides_and_settings_reach_the_agent():
    runs = [
        agents.minimize(branin, BRANIN, "ts", n_calls=12, seed=s, learn=False).func_vals
        for s in (1, 1, 2)
    ]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_calls": 0}, {"noise": -1.0}, {"y0": [1.0]}, {"x0": [[0, 0]], "y0": [1, 2]},
        {"x0": [[99, 0]]}, {"x0": [[0]]}, {"x0": [0.0, 0.0]}, {"x0": [[0, 0, 0]]},
        {"agent": "random"}, {"batch_size": 3}, {"parallel": lambda f, xs: []},
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(wrong):
    with pytest.raises(InvalidInput):
        agents.minimize(branin, BRANIN, **{"n_calls": 3, **wrong})


@pytest.mark.parametrize("value", [None, [1.0], float("inf"), "1"])
def test_a_function_that_gives_no_number_is_no_failed_call(value):
    with pytest.raises(InvalidInput, match="value"):
        agents.minimize(lambda x: value, BRANIN, n_calls=3)
