"""What a result says: predictions in the user's units, importance, five lines and plots."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real, plots
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern52

SPACE = {"rate": Real(1e-4, 1.0, log=True), "depth": Integer(1, 8), "kind": Choice(("a", "b", "c"))}


def campaign(space, agent="ei", *, maximize=False, count=12, fun=None, **settings):
    made = Campaign(space, agent, maximize=maximize, seed=0, **settings)
    for _ in range(count):
        (suggestion,) = made.ask()
        made.tell(suggestion.id, fun(suggestion.params))
    return made


@pytest.mark.parametrize("maximize", [False, True])
def test_predictions_equal_the_dense_formula_in_the_units_of_the_user(maximize):
    kernel, noise_var = Matern52(0.4, variance=4.0), 0.01
    space = {"x": Real(-2.0, 2.0), "rate": Real(1e-3, 1.0, log=True)}
    made = campaign(
        space, maximize=maximize, fun=lambda p: 3.0 + p["x"] ** 2 - np.log(p["rate"]),
        kernel=kernel, noise_var=noise_var, standardize=False,
    )  # fmt: skip
    seen = np.array([made.space.encode(r.params) for r in made.records])
    y = np.array([r.value for r in made.records])
    points = [{"x": 0.5, "rate": 0.1}, {"x": -1.0, "rate": 0.002}]
    at = np.array([[0.625, 2 / 3], [0.25, np.log(2) / np.log(1000)]])
    gram = kernel(seen) + noise_var * np.eye(len(seen))
    cross = kernel(at, seen)
    mean, sd = made.predict(points)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(gram, y), atol=1e-8)
    var = 4.0 - np.einsum("ij,ji->i", cross, np.linalg.solve(gram, cross.T))
    np.testing.assert_allclose(sd, np.sqrt(var), atol=1e-8)
    np.testing.assert_allclose(made.predict([0.5, 0.1])[0], mean[:1], rtol=1e-12)
    with pytest.raises(UnknownName, match="did you mean 'rate'"):
        made.predict({"x": 0.0, "rat": 0.1})
    with pytest.raises(InvalidInput, match="2 values"):
        made.predict([[0.5, 0.1, 0.0]])


def test_predictions_learn_the_function():
    found = agents.minimize(lambda x: 7.0 + x[0] ** 2, [(-1.0, 2.0)], n_calls=15, seed=0)
    mean, sd = found.predict([[-0.5], [1.0]])
    assert (np.abs(mean - [7.25, 8.0]) < np.maximum(4 * sd, 0.02)).all()
    assert (sd < 0.2).all()
    assert found.recommended.tolist() == list(found.campaign.recommended.values())
    assert found.fun == 7.0 + found.x[0] ** 2 <= 7.0 + found.recommended[0] ** 2  # as x


@pytest.mark.parametrize("agent", ["rembo", "line-bo", "ts-rsr"])
def test_other_agents_predict_too(agent):
    made = campaign([(0.0, 1.0)] * 4, agent, count=5, n_initial=3, fun=lambda p: p["x0"])
    mean, sd = made.predict([[0.2, 0.4, 0.6, 0.8]])
    assert np.isfinite(mean).all()
    assert (sd > 0).all()
    assert set(made.importance()) == {"x0", "x1", "x2", "x3"}


def test_importance_of_an_additive_function_is_the_share_of_variance():
    """Uniform inputs in [0, 1] have variance 1/12, so the shares are 9/10 and 1/10."""
    made = campaign([(0.0, 1.0)] * 3, count=20, fun=lambda p: 3.0 * p["x0"] + p["x1"])
    for total in (False, True):
        found = made.importance(total=total)
        assert found == pytest.approx({"x0": 0.9, "x1": 0.1, "x2": 0.0}, abs=0.03)


def test_importance_of_an_interaction_is_in_the_total_index_alone():
    made = campaign(
        {"x": Integer(-2, 2), "y": Integer(-2, 2), "z": Choice(("a", "b"))}, count=25,
        fun=lambda p: float(p["x"] * p["y"]), n_initial=25,
    )  # fmt: skip
    alone, total = made.importance(), made.importance(total=True)
    assert alone["x"] < 0.2
    assert alone["y"] < 0.2
    assert total["x"] > 0.7
    assert total["y"] > 0.7
    assert total["z"] < 0.2


def test_importance_before_any_value_is_zero():
    assert Campaign([(0.0, 1.0)] * 2, seed=0).importance() == {"x0": 0.0, "x1": 0.0}
    assert Campaign([Integer(0, 4)], seed=0).importance(total=True) == {"x0": 0.0}


def test_a_result_is_five_lines():
    found = agents.maximize(
        lambda p: float("nan") if p["depth"] == 8 else p["depth"] - p["rate"],
        SPACE, n_calls=15, seed=0, n_initial=8,
    )  # fmt: skip
    lines = str(found).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith(f"maximum: {found.fun:.6g} at rate = ")
    assert lines[2].startswith("importance: depth ")
    assert f"{len(found.campaign.failed)} failed" in lines[3]
    assert "Campaign(dimensions=rate, depth, kind, agent=ei, maximize=True" in lines[4]
    assert repr(found) == str(found)


def test_a_result_without_a_value_is_five_lines_too():
    found = agents.minimize(lambda x: float("nan"), [(0.0, 1.0)], n_calls=3, seed=0)
    assert str(found).splitlines()[:2] == ["minimum: none", "recommended: none"]
    assert len(str(found).splitlines()) == 5


@pytest.fixture(scope="module")
def found():
    def fun(p):
        if p["rate"] > 0.5:
            return float("nan")
        return (np.log10(p["rate"]) + 2) ** 2 + p["depth"] + {"a": 0, "b": 3, "c": 1}[p["kind"]]

    return agents.minimize(fun, SPACE, n_calls=15, seed=0)


def test_the_plot_of_convergence_has_all_values(found):
    (axes,) = plots.convergence(found).axes
    values, best = axes.lines[0].get_ydata(), axes.lines[1].get_ydata()
    np.testing.assert_array_equal(values, found.func_vals)
    assert best[-1] == found.fun
    assert (np.diff(best[~np.isnan(best)]) <= 0).all()
    assert len(axes.lines[2].get_xdata()) == len(found.campaign.failed) > 0


def test_the_best_so_far_satisfies_the_constraints():
    campaign = Campaign([(0.0, 1.0)], maximize=False, seed=0, constraints={"c": 0.0})
    for x, value, c in ((0.1, 1.0, 2.0), (0.2, 5.0, -1.0), (0.3, 2.0, 1.0), (0.4, 4.0, -1.0)):
        campaign.observe({"x0": x}, value, constraints=[c])
        (axes,) = plots.convergence(campaign).axes
    assert axes.lines[0].get_ydata().tolist() == [1.0, 5.0, 2.0, 4.0]
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), [np.nan, 5.0, 5.0, 4.0])


def test_slices_show_the_belief_through_a_point(found):
    figure = plots.slices(found, at=[0.01, 3, "b"])
    assert [axes.get_xlabel() for axes in figure.axes] == list(SPACE)
    line = figure.axes[0].lines[0]
    rate = line.get_xdata()
    expected = found.predict([{"rate": r, "depth": 3, "kind": "b"} for r in rate])[0]
    np.testing.assert_array_equal(line.get_ydata(), expected)
    assert figure.axes[0].get_xscale() == "log"
    assert len(plots.slices(found.campaign).axes) == 3


def test_long_names_of_options_do_not_cover_each_other():
    campaign = Campaign(
        {"short": Choice(("a", "b")), "long": Choice(("adam", "momentum", "nesterov"))}
    )
    campaign.observe_all([["a", "nesterov"], ["b", "adam"], ["b", "momentum"]], [0.1, 0.4, 0.2])
    for figure, angles in ((plots.slices(campaign), [0.0, 30.0]), (plots.pairs(campaign), [0.0])):
        labels = [axes.get_xticklabels()[0] for axes in figure.axes]
        assert [label.get_rotation() for label in labels] == angles


def test_all_of_many_options_are_drawn():
    options = [[i, i] for i in range(102)]
    campaign = Campaign({"kind": Choice(options), "x": Real(0.0, 1.0)})
    campaign.observe_all([[[7, 7], 0.2], [[101, 101], 0.5]], [0.1, 0.4])
    of_kind = plots.slices(campaign).axes[0]
    assert of_kind.lines[0].get_xdata().tolist() == list(range(102))
    assert plots.pairs(campaign).axes[0].collections[0].get_array().shape == (41, 102)


def test_options_that_equal_each_other_have_their_own_places():
    campaign = Campaign({"flag": Choice((0, False, 1, True))}, seed=0)
    campaign.observe_all([[True]], [1.0])
    of_flag = plots.slices(campaign, at=[True]).axes[0]
    assert of_flag.lines[-1].get_xdata()[0] == 3.0


def test_pairs_are_those_of_the_most_important_dimensions():
    names = ["a", "b", "c", "d", "e", "f", "g"]
    campaign = Campaign(dict.fromkeys(names, (0.0, 1.0)), seed=0)
    points = np.random.default_rng(0).random((60, 7))
    campaign.observe_all(points, 10.0 * (points[:, 2:] ** 2).sum(axis=1))
    shown = {axes.get_xlabel() for axes in plots.pairs(campaign).axes} - {""}
    assert {"a", "b"}.isdisjoint(shown)
    assert shown >= {"c", "d", "e", "f"}


def test_pairs_show_each_pair(found):
    figure = plots.pairs(found)
    drawn = [axes for axes in figure.axes if axes.axison]
    assert len(drawn) == 3
    assert len(drawn[0].lines[0].get_xdata()) == np.isfinite(found.func_vals).sum()
    assert len([a for a in plots.pairs(found, ["depth", "rate"]).axes if a.axison]) == 1
    figure.canvas.draw()


def test_plots_refuse_what_they_cannot_show(found):
    with pytest.raises(InvalidInput, match="no evaluation has a value"):
        plots.convergence(Campaign([(0.0, 1.0)], seed=0))
    infeasible = Campaign([(0.0, 1.0)], seed=0, constraints={"c": 0.0})
    infeasible.observe({"x0": 0.5}, 1.0, constraints=[9.0])
    with pytest.raises(InvalidInput, match="satisfies the constraints"):
        plots.slices(infeasible)
    for no_result in (None, {}, np.zeros(3)):
        with pytest.raises(InvalidInput, match="a result or a campaign"):
            plots.convergence(no_result)
    assert len(plots.slices(infeasible, at=[0.5]).axes) == 1
    with pytest.raises(InvalidInput, match="at least two"):
        plots.pairs(found, ["rate"])
    with pytest.raises(UnknownName, match="dimension"):
        plots.pairs(found, ["rate", "deep"])
    with pytest.raises(InvalidInput, match="one point"):
        plots.slices(found, at=[[0.01, 3, "b"], [0.02, 3, "b"]])


def test_pairs_share_their_axes_and_integers_have_whole_ticks():
    made = campaign(SPACE, count=4, fun=lambda p: p["rate"] + p["depth"])
    first, _, below, inner = plots.pairs(made).axes
    assert (first.get_shared_x_axes().joined(first, below), inner.get_ylabel()) == (True, "")
    assert not any(label.get_visible() for label in inner.get_yticklabels())
    assert all(tick == int(tick) for tick in inner.get_xticks())
