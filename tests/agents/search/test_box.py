"""The search over a box against dense grids, its own laws, and what it keeps between calls."""

import numpy as np
import pytest

from gpbandits_env.agents.acquisitions import UCB, LogEI, LogPI, Mean, Variance
from gpbandits_env.agents.embeddings.embedding import BoxMap, gaussian_embedding
from gpbandits_env.agents.search import SEARCHES, search_for
from gpbandits_env.agents.search import box as box_search
from gpbandits_env.agents.search.box import BoxSearch, Gradient
from gpbandits_env.agents.search.candidates import HeldCandidates
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.posterior import BoxPosterior

GRID = {1: 20001, 2: 301, 3: 61}
ACQUISITIONS = {
    "ucb": lambda posterior: UCB(4.0),
    "log-ei": lambda posterior: LogEI(posterior.mean_at_observed().max()),
    "log-pi": lambda posterior: LogPI(posterior.mean_at_observed().max(), 0.1),
    "mean": lambda posterior: Mean(),
    "variance": lambda posterior: Variance(),
}


def posterior(dim, seed, told=15):
    rng = np.random.default_rng(seed)
    box = Box(-np.ones(dim), np.full(dim, 2.0))
    belief = BoxPosterior(box, Matern52(0.5), 1e-3)
    x = box.sample(rng, told)
    belief.condition(x, belief.sample(rng, 1, x)[0] + 0.03 * rng.standard_normal(told))
    return belief


def search(belief, seed=0, through=None, **settings):
    return BoxSearch(belief.box, np.random.default_rng(seed), Gradient(**settings), through)


def value(acquisition, belief, x):
    return acquisition.score(*belief.moments(x))


@pytest.mark.parametrize("dim", GRID)
class TestDenseGrid:
    def test_hardly_ever_below_the_best_of_a_grid(self, dim):
        missed = dict.fromkeys(ACQUISITIONS, 0)
        for seed in range(4):
            belief = posterior(dim, seed)
            grid = Arms.grid([GRID[dim]] * dim, belief.box.low, belief.box.high).coordinates
            moments = belief.moments(grid)
            for name, make in ACQUISITIONS.items():
                acquisition = make(belief)
                there = acquisition.score(*moments).max()
                found = value(acquisition, belief, search(belief, seed).best(acquisition, belief))
                missed[name] += found[0] < there - 1e-6 * max(abs(there), 1e-6)
        assert missed == dict.fromkeys(ACQUISITIONS, 0)


@pytest.mark.parametrize("mapped", [False, True])
def test_points_near_the_best_are_left_out_on_request(mapped):
    belief = posterior(2, 0)
    through = BoxMap(gaussian_embedding(2, 1, np.random.default_rng(0)), belief.box)
    for near_best, more in ((True, True), (False, False)):
        found = BoxSearch(
            belief.box,
            np.random.default_rng(0),
            Gradient(candidates=40, near_best=near_best),
            through if mapped else None,
        )
        assert (len(found.candidates_of(belief)[0]) > 40) == more
    with pytest.raises(InvalidInput, match="near_best must be true or false"):
        search(belief, near_best="no")


class TestBest:
    def test_a_known_optimum(self):
        # One told point without noise: the mean is the kernel around it.
        belief = BoxPosterior(Box(np.zeros(3), np.ones(3)), SquaredExponential(0.2), 1e-8)
        belief.condition([[0.3, 0.6, 0.9]], [2.0])
        found = search(belief).best(Mean(), belief)
        np.testing.assert_allclose(found, [[0.3, 0.6, 0.9]], atol=1e-5)

    @pytest.mark.parametrize("dim", [2, 25])
    @pytest.mark.parametrize("pending", [0, 3])
    def test_the_largest_mean_without_variances(self, dim, pending):
        for seed in range(4):
            belief = posterior(dim, seed)
            belief.hallucinate(belief.box.sample(np.random.default_rng(seed), pending))
            usual = search(belief, seed).best(Mean(), belief)
            np.testing.assert_allclose(search(belief, seed).best_mean(belief), usual, atol=1e-4)

    def test_an_optimum_in_a_corner(self):
        belief = BoxPosterior(Box(np.zeros(2), np.ones(2)), SquaredExponential(0.7), 1e-4)
        belief.condition([[1.0, 1.0], [0.0, 0.0]], [1.0, -1.0])
        found = search(belief).best(Variance(), belief)
        corners = np.array([[0.0, 1.0], [1.0, 0.0]])
        assert np.abs(corners - found).max(axis=1).min() == 0.0

    def test_without_data_and_under_flat_scores_a_point_of_the_box_is_found(self):
        belief = BoxPosterior(Box(np.zeros(30), np.ones(30)), Matern52(1.0), 0.1)
        found = search(belief).best(LogPI(1e9), belief)
        assert belief.box.check(found).shape == (1, 30)

    def test_the_generator_decides_and_nothing_else(self):
        belief = posterior(2, 0)
        one, two = search(belief), search(belief)
        first = one.best(UCB(1.0), belief)
        np.testing.assert_array_equal(two.best(UCB(1.0), belief), first)
        two.rng.bit_generator.state = one.rng.bit_generator.state
        other = BoxSearch(belief.box, np.random.default_rng(9))
        other.rng.bit_generator.state = one.rng.bit_generator.state
        again = one.best(UCB(1.0), belief)
        np.testing.assert_array_equal(other.best(UCB(1.0), belief), again)

    def test_the_budget_is_kept(self, monkeypatch):
        belief = posterior(3, 2)
        asked = []
        gradients = belief.gradients
        monkeypatch.setattr(belief, "gradients", lambda x: asked.append(len(x)) or gradients(x))
        search(belief, evaluations=37).best(UCB(4.0), belief)
        assert 10 <= sum(asked) <= 37


class TestThroughAMap:
    @pytest.fixture
    def through(self):
        box = Box(-np.ones(6), np.full(6, 2.0))
        return BoxMap(gaussian_embedding(6, 2, np.random.default_rng(1)), box)

    @pytest.mark.parametrize("name", ACQUISITIONS)
    def test_hardly_ever_below_the_best_of_a_grid_of_the_small_box(self, name, through):
        small = through.small
        grid = through.lift(Arms.grid([201, 201], small.low, small.high).coordinates)
        for seed in range(4):
            belief = posterior(6, seed)
            acquisition = ACQUISITIONS[name](belief)
            there = value(acquisition, belief, grid).max()
            x = search(belief, seed, through=through).best(acquisition, belief)
            assert value(acquisition, belief, x)[0] >= there - 1e-6 * max(abs(there), 1e-6)
            assert through.lift(through.lower(x)) == pytest.approx(x, abs=1e-9)

    def test_samples_are_maximised_in_the_image(self, through):
        belief = posterior(6, 0)
        finder = search(belief, through=through)
        actions, values = finder.sampled(belief, np.random.default_rng(1), 4)
        paths = belief.paths(np.random.default_rng(1), 4)
        np.testing.assert_allclose(paths.climb(actions, np.arange(4))[0], values, rtol=1e-9)
        drawn = through.lift(through.small.sample(np.random.default_rng(0), 4000))
        assert (values >= paths(drawn).max(axis=1) - 1e-4).all()

    def test_a_region_is_kept_to(self, through):
        belief = posterior(6, 2)
        finder = search(belief, through=through)
        level = np.median(belief.moments(finder.candidates_of(belief)[0])[0])
        region = finder.region(belief, lambda mean, var: mean > level)
        assert region(finder.best(Variance(), belief, region)).all()


class TestRegion:
    def test_the_best_point_lies_inside_the_region_of_before(self):
        belief = posterior(2, 3)
        finder = search(belief)
        level = np.quantile(
            belief.moments(belief.box.sample(np.random.default_rng(0), 500))[0], 0.7
        )
        region = finder.region(belief, lambda mean, var: mean + np.sqrt(var) > level + 0.5)
        grid = Arms.grid([201, 201], belief.box.low, belief.box.high).coordinates
        mean, var = belief.moments(grid)
        for _ in range(4):
            found = finder.best(Variance(), belief, region)
            assert region(found)[0]
            inside = mean + np.sqrt(var) > level + 0.5
            there = belief.moments(grid[inside])[1].max()
            assert belief.moments(found)[1][0] > 0.99 * there
            belief.hallucinate(found)

    def test_what_is_kept_of_a_region_is_that_of_the_same_candidates(self):
        belief = posterior(2, 3)
        region = search(belief).region(belief, lambda mean, var: mean > 0.0)
        for points in belief.box.sample(np.random.default_rng(0), 40).reshape(2, 20, 2):
            inside = region.at_candidates(points)
            np.testing.assert_array_equal(inside, belief.moments(points)[0] > 0.0)
            assert region.at_candidates(points) is inside

    def test_an_empty_region_is_refused(self):
        belief = posterior(2, 3)
        finder = search(belief)
        nowhere = finder.region(belief, lambda mean, var: np.zeros(mean.shape, dtype=bool))
        with pytest.raises(InvalidInput, match="no candidate"):
            finder.best(UCB(1.0), belief, nowhere)


class TestHallucinated:
    def test_candidates_stay_and_their_variances_follow(self):
        belief = posterior(2, 4)
        belief.advance(0.1)
        finder = search(belief)
        belief.hallucinate(finder.best(UCB(1.0), belief))
        held = finder._held
        for _ in range(12):
            belief.hallucinate(finder.best(UCB(1.0), belief))
        finder.best(UCB(1.0), belief)
        assert finder._held is held
        mean, var = belief.moments(held.points)
        np.testing.assert_allclose(held.mean, mean, rtol=0, atol=1e-10)
        np.testing.assert_allclose(held.var, var, rtol=0, atol=1e-10)
        belief.rollback()
        finder.best(UCB(1.0), belief)
        assert finder._held is not held

    @pytest.mark.parametrize("change", ["rewards", "kernel", "drift", "others"])
    def test_another_state_is_not_followed(self, change):
        belief = posterior(2, 5)
        belief.hallucinate([[0.0, 0.0]])
        held = HeldCandidates(belief.box.sample(np.random.default_rng(0), 20), belief)
        if change == "rewards":
            belief.condition([[0.0, 0.0]], [1.0])
        elif change == "kernel":
            log = [(belief.observed, belief.rewards, 0.0)]
            belief = BoxPosterior(belief.box, Matern52(0.4), belief.noise_var)
            belief.replay(log)
        elif change == "drift":
            belief.advance(0.2)
        else:
            belief.rollback()
        belief.hallucinate([[1.0, 0.0]])
        assert not held.follow(belief)


class TestSampled:
    def test_each_is_the_maximum_of_its_own_function(self):
        belief = posterior(1, 6)
        finder, rng = search(belief), np.random.default_rng(1)
        paths = belief.paths(np.random.default_rng(1), 5)
        actions, values = finder.sampled(belief, rng, 5)
        grid = np.linspace(belief.box.low, belief.box.high, 4001)
        np.testing.assert_allclose(paths.climb(actions, np.arange(5))[0], values, rtol=1e-9)
        assert (values >= paths(grid).max(axis=1) - 1e-4).all()

    def test_shapes_without_data(self):
        belief = BoxPosterior(Box(np.zeros(4), np.ones(4)), Matern52(1.0), 0.1)
        actions, values = search(belief).sampled(belief, np.random.default_rng(0), 3)
        assert actions.shape == (3, 4)
        assert values.shape == (3,)


class TestOthers:
    def test_options_and_the_largest_mean(self):
        belief = posterior(2, 7)
        finder = search(belief)
        points, mean, var = finder.candidates_of(belief)
        expected = belief.moments(points)
        np.testing.assert_allclose([mean, var], expected, rtol=0, atol=1e-10)
        assert finder.largest_mean(belief) >= mean.max()

    def test_declarations(self):
        box, rng = Box(np.zeros(2), np.ones(2)), np.random.default_rng(0)
        assert search_for(box, {}, rng).settings.starts == 10
        assert search_for(box, {"starts": 3}, rng).settings.starts == 3
        for spec in ({"type": "gradient", "starts": 4}, {"type": "round", "candidates": 7}):
            declared = SEARCHES.from_dict(spec)
            assert SEARCHES.from_dict(SEARCHES.to_dict(declared)) == declared
        with pytest.raises(UnknownName):
            search_for(box, {"start": 3}, rng)
        with pytest.raises(InvalidInput):
            search_for(box, {"starts": -1}, rng)
        with pytest.raises(InvalidInput, match="boxes"):
            search_for(Arms.grid(3), {}, rng)


def test_where_scores_are_level_the_end_of_an_ascent_is_closer_to_the_maximum():
    """Means that differ by less than 1e-9 of their size are level."""
    for seed in range(4):
        near = posterior(2, seed)
        belief = BoxPosterior(near.box, Matern52(0.5), 1e-3, prior_mean=1e8)
        belief.condition(near.observed, 1e8 + near.mean_at_observed())
        acquisition = ACQUISITIONS["log-ei"](belief)
        usual, level = search(belief, seed), search(belief, seed)
        level.takes_level = True
        found = [
            value(acquisition, belief, one.best(acquisition, belief)) for one in (usual, level)
        ]
        assert found[1] > found[0] + 0.01


def test_samples_of_a_small_scale_have_the_maximum_of_the_mean():
    belief = posterior(2, 0)
    wide, narrow = search(belief), search(belief)
    narrow.scale = 1e-3
    top = belief.mean_at(wide.best_mean(belief)).item()
    (_, far), (points, close) = (
        s.sampled(belief, np.random.default_rng(1), 4) for s in (wide, narrow)
    )
    assert np.abs(far - top).max() > 0.1
    np.testing.assert_allclose(close, top, atol=0.01)
    np.testing.assert_allclose(belief.mean_at(points), top, atol=0.01)


def test_candidates_are_kept_while_points_are_hallucinated_unless_there_is_a_map():
    belief = posterior(2, 0)
    through = BoxMap(gaussian_embedding(2, 1, np.random.default_rng(0)), belief.box)
    for mapped, pending, kept in ((None, 1, True), (None, 0, False), (through, 1, False)):
        belief.rollback()
        belief.hallucinate(belief.box.low + np.zeros((pending, 2)))
        found = search(belief, through=mapped)
        one, other = (found.candidates_of(belief)[0] for _ in range(2))
        assert np.array_equal(one, other) == kept


def test_a_crossover_is_within_the_budget_of_evaluations(monkeypatch):
    belief, points = posterior(25, 0), []
    gradients = belief.gradients
    monkeypatch.setattr(belief, "gradients", lambda x: points.append(len(x)) or gradients(x))
    search(belief, candidates=64, starts=4, evaluations=20).best(UCB(4.0), belief)
    assert 16 <= sum(points) <= 20


def test_each_ascent_of_a_sample_has_the_budget_of_one_ascent(monkeypatch):
    belief, budgets, real = posterior(2, 0), [], box_search.climb

    def climb(*given, evaluations):
        budgets.append(evaluations)
        return real(*given, evaluations=evaluations)

    monkeypatch.setattr(box_search, "climb", climb)
    found = search(belief, starts=5, evaluations=100, sample_starts=2)
    found.sampled(belief, np.random.default_rng(1), 4)
    assert budgets == [2 * 4 * 100 // 5]
