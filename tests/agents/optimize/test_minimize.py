"""One call, against functions whose optimum is known."""

import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import Bounds

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.rewards.functions.formulas import hartmann

BRANIN = [(-5.0, 10.0), (0.0, 15.0)]


def branin(x):
    bowl = (x[1] - 5.1 * x[0] ** 2 / (4 * np.pi**2) + 5 * x[0] / np.pi - 6) ** 2
    return bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x[0]) + 10


@pytest.mark.parametrize("seed", range(2))
def test_branin_in_25_calls(seed):
    found = agents.minimize(branin, BRANIN, n_calls=25, seed=seed)
    assert found.fun - 0.397887 < 0.1
    assert branin(found.x) == found.fun
    assert found.nfev == len(found.func_vals) == len(found.x_iters) == 25
    assert found.success


def test_hartmann_in_44_calls_four_at_a_time():
    """Its two best maxima are 3.3224 and 3.2032."""
    with ThreadPoolExecutor(4) as pool:
        found = agents.maximize(
            lambda x: float(hartmann(x[None])[0]), [(0.0, 1.0)] * 6,
            n_calls=44, batch=4, parallel=pool.map, seed=2,
        )  # fmt: skip
    assert 3.1 < found.fun <= 3.3224
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

    found = agents.minimize(fun, space, n_calls=16, seed=0)
    assert found.x["kind"] == "b"
    assert found.fun < 0.05
    listed = agents.minimize(
        lambda x: fun(dict(zip(space, x, strict=True))), list(space.values()), n_calls=4, seed=0
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
        {"x0": [[99, 0]]}, {"x0": [[0]]}, {"x0": [0.0, 0.0, 0.0]}, {"x0": [[0, 0, 0]]},
        {"agent": "random"}, {"batch_size": 3}, {"maximize": True}, {"file": 5}, {"seed": "a"},
        {"parallel": "4"}, {"timeout": 0.0}, {"verbose": 1}, {"callback": [5]},
        {"parallel": ThreadPoolExecutor}, {"parallel": object()},
        {"callback": 5}, {"parallel": 0}, {"on_error": "ignore"}, {"on_error": None},
        {"x0": 5}, {"x0": [[0, 0], [1, 1]], "y0": 1}, {"x0": [[0, 0]], "y0": ["1"]},
        {"x0": [["0", 0]]}, {"x0": [[0, True]]}, {"x0": [0, "0"]}, {"x0": [0, 0], "y0": "1"},
        {"y0": 1},
        {"bounds": [("a", "b")]}, {"bounds": [(None, 1)]}, {"bounds": [(0, 1j)]}, {"fun": 5},
        {"bounds": [("0", "1")]}, {"bounds": 5},
    ],
)  # fmt: skip
@pytest.mark.parametrize("search", [agents.minimize, agents.maximize])
def test_bad_arguments_are_refused_before_anything_is_called(search, wrong):
    def never(x):
        raise AssertionError("called")

    with pytest.raises((InvalidInput, UnknownName)):
        search(**{"fun": never, "bounds": BRANIN, "n_calls": 3, **wrong})


@pytest.mark.parametrize("on_error", ["raise", "fail"])
@pytest.mark.parametrize(
    "values", [[], [1.0], np.ones(3), 5, None, np.array(0.5), {0: 1.0, 1: 2.0}, {1.0, 2.0}]
)
def test_a_parallel_that_gives_other_than_one_value_a_point_is_refused(values, on_error):
    given = {"batch": 2, "parallel": lambda f, xs: values, "on_error": on_error}
    with pytest.raises(InvalidInput, match="one value for each of 2 points") as caught:
        agents.minimize(branin, BRANIN, n_calls=4, **given)
    assert [r.status for r in caught.value.result.campaign.records] == ["pending", "pending"]


@pytest.mark.parametrize(("lazy", "got"), [([1.0], "got 1 value"), ([1.0, 2.0, 3.0], "got more")])
def test_a_lazy_parallel_of_other_than_one_value_a_point_is_refused(lazy, got):
    with pytest.raises(InvalidInput, match=got) as caught:
        agents.minimize(branin, BRANIN, n_calls=4, batch=2, parallel=lambda f, xs: iter(lazy))
    assert caught.value.result.nfev == min(len(lazy), 2)  # values count as they arrive


@pytest.mark.parametrize("value", [None, [1.0], np.float64("-inf"), "1", np.ones(2), 1e200])
def test_a_function_that_gives_no_number_is_no_failed_call(value):
    with pytest.raises(InvalidInput, match="a value must be one number"):
        agents.minimize(lambda x: value, BRANIN, n_calls=3)
    turned = -value if isinstance(value, float) else value
    with pytest.raises(InvalidInput, match="a value must be one number"):
        agents.maximize(lambda x: turned, BRANIN, n_calls=3)


@pytest.mark.parametrize(
    ("value", "number"),
    [(np.array([2.5]), 2.5), (np.array([[2.5]]), 2.5), (True, 1.0), (np.bool_(False), 0.0)],
)
def test_arrays_of_one_number_and_truth_values_are_numbers(value, number):
    assert agents.minimize(lambda x: value, BRANIN, n_calls=2, seed=0).fun == number


def test_a_tensor_of_one_number_is_a_number():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            return np.array([2.5])

        def size(self):  # of PyTorch: a method
            return (1,)

    assert agents.minimize(lambda x: Tensor(), BRANIN, n_calls=2, seed=0).fun == 2.5


@pytest.mark.parametrize(
    ("given", "points"),
    [
        ({"bounds": BRANIN, "x0": [2.0, 3.0]}, [[2.0, 3.0]]),
        ({"bounds": BRANIN, "x0": np.array([2.0, 3.0]), "y0": 7.0}, [[2.0, 3.0]]),
        ({"bounds": [(0, 1)], "x0": [0.2, 0.3]}, [[0.2], [0.3]]),
        ({"bounds": {"a": (0, 1)}, "x0": {"a": 0.25}}, [{"a": 0.25}]),
        ({"bounds": [(0, 1), Choice(("ab", "c"))], "x0": [0.5, "ab"]}, [[0.5, "ab"]]),
    ],
)
def test_one_point_is_a_point(given, points):
    found = agents.minimize(lambda x: 1.0, n_calls=2, seed=0, **given)
    shown = [x.tolist() if isinstance(x, np.ndarray) else x for x in found.x_iters]
    assert shown[: len(points)] == points


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"n_trials": 20}, "no argument of maximize named 'n_trials'; did you mean 'n_calls'[?]"),
        ({"random_state": 0}, "did you mean 'seed'[?] [(]the nearest of"),
        ({"acq_func": "EI"}, "did you mean 'agent'[?]"),
        ({"agent": "EI"}, "did you mean 'ei'[?]"),
        ({"margn": 0.1}, "did you mean 'margin'"),
        ({"batch_size": 2}, "did you mean 'batch'[?]"),
    ],
)
def test_names_of_other_libraries_are_understood(given, meant):
    with pytest.raises(UnknownName, match=meant):
        agents.maximize(lambda x: 0.0, BRANIN, **given)


def test_few_calls_are_spread_and_failures_are_among_them():
    choices = [Choice(("a", "b", "c", "d"))] * 8
    options = agents.minimize(lambda x: sum(v == "a" for v in x), choices, n_calls=8, seed=0)
    assert options.campaign.n_initial == 2  # a quarter of the calls
    assert Campaign(choices, seed=0).n_initial == 18  # 2 d + 2, whatever the number of options
    failing = Campaign(BRANIN, seed=0, n_initial=3)
    for _ in range(3):
        failing.fail(failing.ask()[0].id)
    spread = Campaign(BRANIN, seed=0, n_initial=4).ask(4)[3].params
    assert failing.ask()[0].params != spread


def test_maximize_takes_the_arguments_of_minimize_also_by_position():
    """``help`` and editors show them, from one declaration."""
    assert inspect.signature(agents.maximize) == inspect.signature(agents.minimize)
    assert agents.maximize.__doc__.startswith("Find the maximizer")
    found = agents.maximize(lambda x: x[0], [(0.0, 1.0)], "ts", n_calls=3, seed=0)
    assert type(found.agent).__name__ == "ThompsonSampling"
    with pytest.raises(TypeError, match="bounds"):
        agents.maximize(lambda x: x[0])


def test_maximize_is_minimize_of_the_negative_in_the_functions_own_sign():
    options = {"n_calls": 12, "seed": 0, "x0": [[0.0, 1.0]], "y0": [-branin([0.0, 1.0])]}
    up = agents.maximize(lambda x: -branin(x), BRANIN, **options)
    down = agents.minimize(branin, BRANIN, **{**options, "y0": [branin([0.0, 1.0])]})
    assert np.array_equal(up.func_vals, -down.func_vals)
    assert up.fun == -down.fun == up.func_vals.max()
    assert up.campaign.maximize
    assert up.campaign.best.value == up.fun
    (suggestion,) = up.campaign.ask()
    assert up.campaign.tell(suggestion.id, 1e3).value == up.campaign.best.value


def test_unsigned_numbers_are_maximized_as_they_are():
    picture = np.arange(6, dtype=np.uint8)
    assert agents.maximize(lambda x: picture.sum(), BRANIN, n_calls=3, seed=0).fun == 15.0
    assert agents.maximize(lambda x: np.uint8(3), BRANIN, n_calls=3, seed=0).fun == 3.0


def test_the_worst_infinity_is_a_failed_call():
    found = agents.minimize(lambda x: np.inf if x[0] > 2 else branin(x), BRANIN, n_calls=12, seed=0)
    assert 0 < np.isnan(found.func_vals).sum() == len(found.campaign.failed) < 12
    found = agents.maximize(lambda x: -np.inf, BRANIN, n_calls=3, seed=0)
    assert not found.success
    assert len(found.campaign.failed) == 3


class Broken(Exception):
    """What a function of the user's raises."""


def breaks(x):
    if x[0] > 2:
        raise Broken("no plasma")
    return branin(x)


def test_an_exception_ends_the_run_and_loses_nothing(tmp_path):
    file = tmp_path / "run.json"
    calls = []

    def fun(x):
        if len(calls) == 5:
            raise Broken("no plasma")
        calls.append(branin(x))
        return calls[-1]

    with pytest.raises(Broken, match="no plasma") as caught:
        agents.minimize(fun, BRANIN, n_calls=9, seed=0, batch=3, file=file)
    so_far = caught.value.result
    assert so_far.nfev == 5
    assert so_far.fun == min(calls)
    assert "file=" in caught.value.__notes__[0]
    assert "on_error='fail'" in caught.value.__notes__[1]
    again = Campaign.resume(file)
    assert [r.value for r in again.records[:5]] == calls
    assert len(again.pending) == 1
    again.fail(again.pending[0].id)
    assert again.ask()


@pytest.mark.parametrize("calls", [4, 5])
def test_a_run_that_was_interrupted_within_a_batch_goes_on_as_if_it_was_not(calls, tmp_path):
    given = {"n_calls": 12, "n_initial": 3, "batch": 3, "seed": 0}
    whole = agents.minimize(branin, BRANIN, **given)
    made = []

    def fun(x):
        if len(made) == calls:
            raise KeyboardInterrupt
        made.append(x)
        return branin(x)

    with pytest.raises(KeyboardInterrupt):
        agents.minimize(fun, BRANIN, file=tmp_path / "c.json", **given)
    again = agents.minimize(branin, BRANIN, file=tmp_path / "c.json", **given)
    np.testing.assert_array_equal(again.x_iters, whole.x_iters)


def test_a_stop_iteration_ends_the_run_like_other_exceptions():
    values = iter([1.0, 2.0])
    with pytest.raises(RuntimeError, match="StopIteration") as caught:
        agents.minimize(lambda x: next(values), BRANIN, n_calls=5, seed=0)
    assert isinstance(caught.value.__cause__, StopIteration)
    assert caught.value.result.func_vals[:2].tolist() == [1.0, 2.0]
    assert caught.value.__notes__
    found = agents.minimize(lambda x: next(values), BRANIN, n_calls=2, seed=0, on_error="fail")
    assert "StopIteration" in found.campaign.failed[0].reason


def test_what_a_callback_or_a_wrong_value_ends_is_not_lost_either():
    for on_error in ("raise", "fail"):
        values = iter([1.0, 2.0, None])
        with pytest.raises(InvalidInput) as caught:
            agents.minimize(
                lambda x, v=values: next(v), BRANIN, n_calls=5, seed=0, on_error=on_error
            )
        assert caught.value.result.func_vals[:2].tolist() == [1.0, 2.0]
        assert caught.value.result.nfev == 2
        assert "2 calls made before" in caught.value.__notes__[0]
        assert "on_error" not in "".join(caught.value.__notes__)
    with pytest.raises(KeyboardInterrupt) as stopped:
        agents.minimize(branin, BRANIN, n_calls=5, seed=0, callback=interrupted)
    assert stopped.value.result.nfev == 1


def interrupted(result):
    raise KeyboardInterrupt


def test_an_exception_may_count_as_a_failed_call_from_other_threads_too():
    with ThreadPoolExecutor(2) as pool:
        found = agents.minimize(
            breaks, BRANIN, n_calls=12, seed=0, batch=4, parallel=pool.map, on_error="fail"
        )
    assert found.nfev == 12
    assert 0 < len(found.campaign.failed) < 12
    assert found.campaign.failed[0].reason == "Broken('no plasma')"
    assert found.x[0] <= 2
    with pytest.raises(KeyboardInterrupt):
        agents.minimize(interrupted, BRANIN, n_calls=3, on_error="fail")


class Column:
    """What another library gives that turns into an array."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_points_and_values_may_be_columns_of_tables():
    found = agents.minimize(
        branin, BRANIN, n_calls=1, x0=Column([[0, 1.5], [3, 2.5]]), y0=Column([2, 5]), seed=0
    )
    assert [x.tolist() for x in found.x_iters[:2]] == [[0.0, 1.5], [3.0, 2.5]]
    assert found.func_vals[:2].tolist() == [2.0, 5.0]
    with pytest.raises(InvalidInput, match="y0"):
        agents.minimize(branin, BRANIN, n_calls=1, x0=Column([[0, 1.5]]), y0=Column(["2"]))


def test_points_given_are_called_to_the_bit():
    seen = []
    agents.minimize(
        lambda x: seen.append(x[0]) or 0.0, Bounds([-3.3], [7.7]), n_calls=1, x0=[[1.1]], seed=0
    )
    assert seen == [1.1]


def test_masked_values_of_known_points_and_of_constraints_are_failures():
    y0 = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    found = agents.minimize(
        lambda x: x[0], [(0.0, 1.0)], n_calls=1, seed=0, x0=[[0.1], [0.2], [0.3]], y0=y0
    )
    assert [record.id for record in found.campaign.failed] == [1]
    found = agents.minimize(
        lambda x: (x[0], {"c": np.ma.masked}), BRANIN, n_calls=2, seed=0, constraints={"c": 1.0}
    )
    assert len(found.campaign.failed) == 2
