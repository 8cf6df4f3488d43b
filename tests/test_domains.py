"""Arms and boxes: actions, points, validation, round trips."""

import json
import pickle

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from gpbandits_env.domains import Arms, Box, domain_from_dict, two_corners
from gpbandits_env.errors import InvalidInput

POINTS = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=5),
    elements=st.floats(-1e6, 1e6),
)
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=3)
ENDS = st.tuples(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3)).map(lambda p: (p[0], p[0] + p[1]))


@st.composite
def domains(draw):
    kind = draw(st.sampled_from(["arms", "grid", "box"]))
    if kind == "arms":
        return Arms(draw(POINTS))
    shape = draw(SHAPES)
    low, high = zip(*[draw(ENDS) for _ in shape], strict=True)
    return Arms.grid(shape, low, high) if kind == "grid" else Box(low, high)


@given(domains())
def test_round_trips(domain):
    again = pickle.loads(pickle.dumps(domain))
    assert again == domain
    assert hash(again) == hash(domain)
    assert type(again) is type(domain)
    spec = json.loads(json.dumps(domain.to_dict()))
    kind = {"grid": Arms.grid, "arms": lambda points: Arms(points), "box": Box}[spec.pop("type")]
    assert kind(**spec) == domain


@given(domains(), st.integers(1, 6), st.integers(0, 2**32))
def test_samples_are_valid_actions(domain, size, seed):
    actions = domain.sample(np.random.default_rng(seed), size)
    assert_array_equal(domain.check(actions, size), actions)
    assert domain.points(actions).shape == (size, domain.dim)
    space = domain.action_space(size)
    assert space.contains(actions)
    space.seed(seed)
    domain.check(space.sample(), size)


def test_grid_points_and_order():
    grid = Arms.grid((2, 3), low=[0, 10], high=[1, 12])
    assert grid.coordinates.tolist() == [[0, 10], [0, 11], [0, 12], [1, 10], [1, 11], [1, 12]]
    assert (grid.size, grid.dim, grid.shape) == (6, 2, (2, 3))
    assert Arms.grid(3).coordinates[:, 0].tolist() == [0.0, 0.5, 1.0]


def test_a_vector_of_arms_is_a_column():
    arms = Arms([3.0, 1.0, 2.0])
    assert arms.coordinates.shape == (3, 1)
    assert (arms.shape, arms.axes) == ((3,), None)
    assert arms.points(np.array([2, 0])).tolist() == [[2.0], [3.0]]


def test_what_a_domain_holds_is_its_own_and_read_only():
    mine = np.zeros((2, 2))
    arms, box = Arms(mine), Box(mine[0], [1.0, 1.0])
    mine[:] = 7.0
    assert not arms.coordinates.any()
    assert not box.low.any()
    for array in (arms.coordinates, box.low, box.high, Arms.grid(3).axes[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_a_grid_is_not_its_bare_points():
    """Samplers are cached by domain: a grid's may not come back for a list of points."""
    grid = Arms.grid((4, 5))
    assert grid != Arms(grid.coordinates)
    assert Arms.grid(4) != Arms(Arms.grid(4).coordinates)
    assert grid == Arms.grid([4, 5], 0.0, [1.0, 1.0])


def test_equal_domains_have_equal_hashes_for_negative_zero_too():
    assert Arms([0.0, 1.0]) == Arms([-0.0, 1.0])
    assert hash(Arms([0.0, 1.0])) == hash(Arms([-0.0, 1.0]))
    assert hash(Box(0.0, 1.0)) == hash(Box(-0.0, 1.0))
    assert Arms([0.0]) != Box(0.0, 1.0)
    assert Box(0.0, 1.0) != Arms([0.0])


def test_action_spaces():
    assert Arms.grid(7).action_space(3) == spaces.MultiDiscrete([7, 7, 7])
    space = Box([0.0, -1.0], 2.0).action_space(2)
    assert space.shape == (2, 2)
    assert space.dtype == np.float64
    assert space.low.tolist() == [[0.0, -1.0]] * 2
    for bad in (0, -1, 1.5):
        with pytest.raises(InvalidInput, match="batch_size"):
            Arms.grid(7).action_space(bad)


@pytest.mark.parametrize(
    "bad", [[5], [-1], [0, 99], [2**63 - 1], np.array([2**63], np.uint64), np.array([-(2**63)])]
)
def test_arms_out_of_range(bad):
    with pytest.raises(InvalidInput, match=r"0\.\.4"):
        Arms.grid(5).check(bad)


@pytest.mark.parametrize("bad", [[0.0], [1.5], [True], ["1"], [None], [float("nan")], [1 + 0j]])
def test_arms_are_whole_numbers(bad):
    with pytest.raises(InvalidInput, match="whole numbers"):
        Arms.grid(5).check(bad)


@pytest.mark.parametrize("bad", ["1", ["1", "2"]])
def test_the_error_for_strings_says_so(bad):
    with pytest.raises(InvalidInput, match=r"whole numbers \(arm indices\), got strings"):
        Arms.grid(5).check(bad)
    with pytest.raises(InvalidInput, match="rewards must be an array of numbers: got strings"):
        Arms.grid(5).observations([0, 1], bad)


@pytest.mark.parametrize("bad", [0, [[0]], [0, 1, 2], [0]])
def test_arms_in_a_batch_of_two(bad):
    with pytest.raises(InvalidInput, match=r"shape \(2,\)"):
        Arms.grid(5).check(bad, 2)


@pytest.mark.parametrize("bad", [0.5, [0.5], [[0.5, 0.5]]])
def test_there_is_one_reward_per_action(bad):
    with pytest.raises(InvalidInput, match=r"shape \(2,\).*\['rewards'\].* arrive late"):
        Arms.grid(5).observations([0, 1], bad)


def test_the_error_for_a_failed_evaluation_has_the_cure():
    with pytest.raises(InvalidInput, match=r"got NaN: leave out .* observed=mask"):
        Arms.grid(5).observations([0, 1], [np.nan, 1.0])
    with pytest.raises(InvalidInput, match="rewards must be an array of numbers: got None"):
        Arms.grid(5).observations([0, 1], None)


def test_arms_checked_have_one_type():
    for actions in ([0, 4], np.array([0, 4], np.int8), np.array([0, 4], np.uint32), (0, 4)):
        checked = Arms.grid(5).check(actions)
        assert checked.dtype == np.int64
        assert checked.tolist() == [0, 4]
    assert Arms.grid(5).check([]).shape == (0,)


@pytest.mark.parametrize(
    "bad",
    [
        [[0.5]],
        [0.5, 0.5],
        [[0.5, 1.1]],
        [[-0.1, 0.5]],
        [[0.5, np.nan]],
        [["a", "b"]],
        [[[0.5, 0.5]]],
    ],
)
def test_points_outside_a_box(bad):
    with pytest.raises(InvalidInput, match="actions must"):
        Box([0.0, 0.0], 1.0).check(bad)


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.1), (-0.3, 1e3), (1e3 + 0.1, 1e3 + 0.3)])
def test_points_outside_by_the_rounding_of_single_precision_are_on_the_edge(low, high):
    box = Box([low, -1.0], [high, 1.0])
    ends = np.array([[low, 0.5], [high, 0.25]])
    given = np.nextafter(ends, 2 * ends - ends[::-1]).astype(np.float32).astype(float)
    before = given.copy()
    checked = box.check(given)
    assert (checked >= box.low).all()
    assert (checked <= box.high).all()
    assert checked == pytest.approx(ends, rel=2e-7)
    assert np.array_equal(given, before)
    for end, side in zip(ends, (-1, 1), strict=True):
        with pytest.raises(InvalidInput, match="coordinate 0 ranges from"):
            box.check([np.add(end, [side * 1e-6 * max(abs(low), abs(high)), 0.0])])


def test_the_error_names_what_is_outside_and_where():
    wanted = r"coordinate 1 ranges from -2.0 to 3.0, but action 2 has 3.5"
    with pytest.raises(InvalidInput, match=wanted):
        Box([0.0, -2.0], [1.0, 3.0]).check([[0.5, 0.5], [1.0, 3.0], [0.5, 3.5]])


def test_a_box_takes_its_corners_and_counts_its_points():
    box = Box([0.0, 0.0], [1.0, 2.0])
    assert box.check([[0.0, 0.0], [1.0, 2.0]], 2).shape == (2, 2)
    with pytest.raises(InvalidInput, match=r"\(3, 2\)"):
        box.check([[0.0, 0.0]], 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Arms([]),
        lambda: Arms(np.zeros((0, 2))),
        lambda: Arms(np.zeros((2, 0))),
        lambda: Arms(np.zeros((2, 2, 2))),
        lambda: Arms(3.0),
        lambda: Arms([0.0, np.nan]),
        lambda: Arms("abc"),
        lambda: Arms.grid(0),
        lambda: Arms.grid((3, -1)),
        lambda: Arms.grid(2.5),
        lambda: Arms.grid(()),
        lambda: Arms.grid("33"),
        lambda: Arms.grid(3, low=1.0, high=0.0),
        lambda: Arms.grid((3, 3), low=[0.0, 0.0, 0.0]),
        lambda: Arms.grid(3, high=np.inf),
        lambda: Box(0.0, 0.0),
        lambda: Box([0.0, 1.0], [1.0, 0.0]),
        lambda: Box([0.0, 1.0], [1.0, 2.0, 3.0]),
        lambda: Box(0.0, np.nan),
        lambda: Box([], []),
    ],
)
def test_what_is_no_domain_is_refused(make):
    with pytest.raises(InvalidInput):
        make()


def test_the_error_for_bounds_in_place_of_corners_has_the_cure():
    with pytest.raises(InvalidInput, match="two corners, with one number per coordinate"):
        Box(*two_corners([(0, 1), (0, 1)]))


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ([10**9], r"1.00e\+9 points is 8 GB"),
        ((10**4, 10**4), r"1.00e\+8 points is 1.6 GB"),
        ([10**15] * 400, r"1.00e\+6000 points is 3.20e\+5994 GB"),
    ],
)
def test_a_grid_that_no_memory_holds_is_refused_before_it_is_made(shape, said):
    with pytest.raises(InvalidInput, match=said):
        Arms.grid(shape)


@pytest.mark.parametrize("domain", [Arms.grid(5), Box([0.0], [1.0])])
@pytest.mark.parametrize("rewards", [[np.nan], [np.inf], [-1e151], [1.0, 2.0], [[1.0]], 1.0, ["a"]])
def test_an_observation_of_one_action_is_checked(domain, rewards):
    action = domain.sample(np.random.default_rng(0), 1)
    with pytest.raises(InvalidInput, match="rewards"):
        domain.observations(action, np.array(rewards))
    known, values = domain.observations(action, np.array([3]))
    assert values.dtype == np.float64
    assert values.tolist() == [3.0]
    np.testing.assert_array_equal(known, action)


SQUARE, SIDES = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0]] * 2


@pytest.mark.parametrize(
    ("points", "axes"),
    [
        (SQUARE, [[0.0, 1.0], [0.0, 2.0]]),
        (SQUARE, [[0.0, 1.0, 2.0, 3.0]]),
        (SQUARE, [[0.0, 1.0]]),
        (SQUARE, []),
        (SQUARE[::-1], SIDES),
    ],
)
def test_axes_of_another_grid_are_refused(points, axes):
    def of_dict(points, axes):
        return domain_from_dict({"type": "arms", "points": points, "axes": axes})

    for make in (Arms, of_dict):
        assert make(SQUARE, SIDES) == Arms.grid((2, 2))
        with pytest.raises(InvalidInput, match="axes must be those of a grid of 4 points"):
            make(points, axes)


def test_observations_may_be_none_unless_some_are_asked_for():
    assert [len(part) for part in Arms.grid(5).observations([], [])] == [0, 0]
    with pytest.raises(InvalidInput, match="at least one action"):
        Arms.grid(5).observations([], [], least=1)


@pytest.mark.parametrize(
    "domain",
    [
        Arms(np.array([[0.1, 0.2], [0.3, 0.7]])),
        Arms.grid((3, 1), [0.1, 5.0], [0.7, 6.0]),
        Arms(np.array([0.0, 0.1, 1.0]), (np.array([0.0, 0.1, 1.0]),)),
        Box([0.0, -1.0], [0.1, 2.0]),
    ],
)
def test_a_domain_survives_json(domain):
    again = domain_from_dict(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert type(again) is type(domain)
