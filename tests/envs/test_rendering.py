import pickle
from functools import partial
from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib._pylab_helpers import Gcf
from matplotlib.figure import Figure

from gpbandits_env import agents
from gpbandits_env.envs.rendering import METADATA, RECENT
from gpbandits_env.errors import InvalidInput, NotReset, UnknownName
from gpbandits_env.rewards.datasets import Readings

ROWS = np.random.default_rng(0).normal(size=(30, 12))
ON_MAP = Readings(ROWS, unit="mph", locations=np.random.default_rng(1).random((12, 2)))
SCENES = {
    "curve": ("StaticGP", {"grid": 60}),
    "line in a box": ("StaticGP", {"box": [[0.0], [2.0]]}),
    "image": ("StaticGP", {"grid": [9, 12]}),
    "image of a box": ("StaticGP", {"box": [[0, 0], [1, 2]]}),
    "scattered arms": ("StaticGP", {"arms": [[0, 0], [1, 0.5], [0.2, 0.9]]}),
    "bars": ("Table", {"readings": ROWS}),
    "map": ("Table", {"readings": ON_MAP}),
    "course": (
        "StaticGP",
        {"box": [[0, 0, 0], [1, 1, 1]], "kernel": {"type": "matern52", "lengthscale": 0.5}},
    ),
}


class Believer:
    """Stands in for an agent: believes in 0 up to 1."""

    def __init__(self, n=0):
        self.n = n

    def belief(self, points=None):
        n = self.n if points is None else len(points)
        return np.zeros(n), np.ones(n)


@pytest.fixture(params=SCENES, scope="module")
def env(request):
    name, kwargs = SCENES[request.param]
    made = gym.make(f"gpbandits/{name}-v0", render_mode="rgb_array", batch_size=2, **kwargs)
    made.reset(seed=3)
    return made


class Drawn:
    """The figures that are drawn, in turn."""

    def __init__(self):
        self.figures = []

    def __call__(self, **given):
        self.figures.append(Figure(**given))
        return self.figures[-1]


@pytest.fixture(scope="module")
def pictures(env):
    """Before and after a round, and then with the belief of an agent: pixels and figures."""
    drawn = Drawn()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpbandits_env.envs.drawing.Figure", drawn)
        first = env.render()
        env.step(env.action_space.sample())
        second = env.render()
        env.unwrapped.attach(Believer(env.unwrapped.problem.domain.size))
        third = env.render()
        env.unwrapped.attach(None)
    return (first, second, third), drawn.figures


def test_pictures_are_pixels_and_follow_the_episode(pictures):
    shown, _ = pictures
    for picture in shown:
        assert picture.shape == (450, 800, 3)
        assert picture.dtype == np.uint8
        assert picture.flags.writeable
    assert (shown[0] != shown[1]).any()
    assert not Gcf.figs


def test_an_attached_agents_belief_is_shown(env, pictures):
    domain = env.unwrapped.problem.domain
    (_, without, believed), _ = pictures
    # In a box of three dimensions there is nowhere to draw it.
    assert (believed != without).any() == (domain.finite or domain.dim <= 2)


def test_the_axis_of_rounds_has_whole_numbers(pictures):
    for figure in pictures[1]:
        for axes in figure.axes:
            if axes.get_xlabel() == "round":
                assert (axes.get_xticks() % 1 == 0).all()


@pytest.mark.parametrize("high", [1.5, 3.0])
def test_numbers_below_a_high_map_do_not_overlap(high, monkeypatch):
    drawn = Drawn()
    monkeypatch.setattr("gpbandits_env.envs.drawing.Figure", drawn)
    kernel = {"type": "se", "lengthscale": 0.5}
    env = gym.make(
        "gpbandits/StaticGP-v0",
        box=([-1, 0], [1, 2 * high]),
        kernel=kernel,
        render_mode="rgb_array",
    )
    env.reset(seed=0)
    env.render()
    axes = drawn.figures[-1].axes[0]
    low, high = axes.get_xlim()
    seen = [label for label in axes.get_xticklabels() if low <= label.get_position()[0] <= high]
    ends = [label.get_window_extent() for label in seen]
    assert all(left.x1 < right.x0 for left, right in pairwise(ends))


def test_maps_are_not_stretched_and_hold_the_star(env, pictures):
    """A unit is as long on both axes, and no corner is the edge of the panel."""
    mapped = env.unwrapped.bandit.locations is not None or env.unwrapped.problem.domain.dim == 2
    for figure, count in zip(pictures[1], (1, 1, 3), strict=True):
        maps = [axes for axes in figure.axes if axes.get_xlabel() != "round"]
        maps = [axes for axes in maps if axes.get_title(loc="left")]
        assert len(maps) == mapped * count
        for axes in maps:
            box = axes.get_window_extent()
            (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
            across, up = box.width / (right - left), box.height / (top - bottom)
            assert across == pytest.approx(up, rel=0.01)
            star = axes.collections[-1].get_offsets()[0]
            assert left + 0.03 * (right - left) < star[0] < right - 0.03 * (right - left)
            assert bottom + 0.03 * (top - bottom) < star[1] < top - 0.03 * (top - bottom)
        assert all(axes.get_xlabel() and axes.get_ylabel() for axes in maps[:1])


def test_real_agents_can_be_attached_in_a_box_and_detached():
    env = gym.make("gpbandits/StaticGP-v0", box=[[0], [1]], render_mode="rgb_array")
    env.reset(seed=0)
    without = env.render()
    for name, more in (("gp-ucb", {}), ("gp-ucb", {"candidates": 16}), ("random", {})):
        env.unwrapped.attach(agents.make(name, env, seed=0, **more))
        # A belief at candidates alone is not drawn on the box.
        assert (env.render() != without).any() == (name == "gp-ucb" and not more)
    env.unwrapped.attach(agents.make("gp-ucb", env, seed=0))
    env.unwrapped.attach(None)
    assert (env.render() == without).all()


def test_text_tells_the_round():
    env = gym.make("gpbandits/StaticGP-v0", grid=9, batch_size=2, render_mode="ansi")
    with pytest.raises(NotReset, match="reset"):
        env.unwrapped.render()
    env.reset(seed=0)
    assert env.render().startswith("round 0 | no action yet | best ")
    *_, info = env.step(np.array([3, 8]))
    line = env.render()
    assert line.startswith("round 1 | actions 3 8 | rewards ")
    assert f"simple {info['simple_regret']:.4g} | best {info['best_action']} worth" in line


def test_copies_carry_what_pictures_show():
    env = gym.make("gpbandits/StaticGP-v0", grid=30, render_mode="rgb_array").unwrapped
    env.reset(seed=1)
    for arm in (3, 20):
        env.step([arm])
    other, picture = pickle.loads(pickle.dumps(env)), env.render()
    env.reset()
    assert (other.render() == picture).all()


def test_worlds_side_by_side_are_drawn_one_by_one():
    pictures = []
    for mode in ("vector_entry_point", "sync"):
        env = gym.make_vec(
            "gpbandits/StaticGP-v0",
            2,
            vectorization_mode=mode,
            grid=20,
            render_mode="ansi",
            max_episode_steps=3,
        )
        env.reset(seed=2)
        lines = []
        for arm in range(5):
            env.step(np.full((2, 1), arm))
            lines.append(env.render())
        pictures.append(lines)
    assert pictures[0] == pictures[1]


def test_only_what_can_be_shown_is_attached(env):
    with pytest.raises(InvalidInput, match="belief"):
        env.unwrapped.attach(object())
    plain = gym.make("gpbandits/StaticGP-v0", grid=4).unwrapped
    with pytest.raises(InvalidInput, match="render_mode='rgb_array'"):
        plain.attach(Believer(4))


@pytest.mark.parametrize("believer", [Believer(3), Believer(9)])
def test_an_agent_of_other_arms_is_refused_when_it_is_drawn(believer):
    env = gym.make("gpbandits/StaticGP-v0", grid=4, render_mode="rgb_array").unwrapped
    env.reset(seed=0)
    env.attach(believer)
    with pytest.raises(InvalidInput, match=r"not \(4,\): attach an agent that is made for"):
        env.render()


@pytest.mark.parametrize("make", [gym.make, partial(gym.make_vec, num_envs=2)])
def test_without_a_render_mode_there_is_a_warning_and_no_picture(make):
    env = make("gpbandits/StaticGP-v0", grid=4).unwrapped
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="with a render_mode"):
        assert env.render() is None


def test_if_one_agent_cannot_be_shown_none_is_attached():
    env = gym.make_vec("gpbandits/StaticGP-v0", 2, grid=4, render_mode="ansi").unwrapped
    with pytest.raises(InvalidInput, match="belief"):
        env.attach([Believer(4), object()])
    assert [viewer.agent for viewer in env._viewers] == [None, None]


def test_an_agent_that_predicts_in_many_instances_is_shown_in_each():
    settings = {"grid": 9, "render_mode": "rgb_array", "max_episode_steps": 4}
    envs = gym.make_vec("gpbandits/StaticGP-v0", 3, **settings)
    for early in (True, False):
        agent, twin = (agents.make("ts", envs, seed=0) for _ in range(2))
        observations, _ = envs.reset(seed=0)
        if early:
            envs.attach(agent)
        for _ in range(2):
            actions, _ = agent.predict(observations)
            np.testing.assert_array_equal(actions, twin.predict(observations)[0])
            observations, *_ = envs.step(actions)
        envs.attach(agent)
        agent.predict(observations)
        shown = [viewer.agent for viewer in envs._viewers]
        assert shown == agent.instances(3)
        assert shown[0] is agent
        assert [each.posterior.size for each in shown] == [2, 2, 2]
        before, each = envs.render(), agent.instances(3)[2]
        each.tell([4], [3.0])
        same = [np.array_equal(*pair) for pair in zip(before, envs.render(), strict=True)]
        assert same == [True, True, False]


def test_readings_of_functions_long_gone_are_not_shown():
    for name, kept in (("MarkovGP", RECENT), ("StaticGP", RECENT + 5)):
        env = gym.make(f"gpbandits/{name}-v0", grid=9, render_mode="ansi").unwrapped
        env.reset(seed=0)
        for _ in range(RECENT + 5):
            env.step([0])
        assert len(env._viewer.history) == kept


def test_the_axis_of_a_function_that_drifts_stays_where_it_is(monkeypatch):
    monkeypatch.setattr("gpbandits_env.envs.drawing.Figure", drawn := Drawn())
    env = gym.make("gpbandits/MarkovGP-v0", grid=30, epsilon=0.3, render_mode="rgb_array")
    env.reset(seed=0)
    for arm in range(4):
        env.step([arm])
        env.render()
    assert {figure.axes[0].get_ylim() for figure in drawn.figures} == {(-3.0, 3.0)}


def test_in_many_dimensions_the_regret_of_each_action_is_drawn(monkeypatch):
    monkeypatch.setattr("gpbandits_env.envs.drawing.Figure", drawn := Drawn())
    env = gym.make("gpbandits/HighDim-v0", dim=3, batch_size=2, render_mode="rgb_array")
    env.reset(seed=0)
    regrets = [env.step(env.action_space.sample())[-1]["regret"] for _ in range(3)]
    env.render()
    (dots,) = drawn.figures[0].axes[0].collections
    rounds, regret = dots.get_offsets().T
    assert rounds.tolist() == [1, 1, 2, 2, 3, 3]
    assert np.asarray(regret) == pytest.approx(np.concatenate(regrets))


def test_a_window_follows_the_episode(monkeypatch):
    monkeypatch.setitem(METADATA, "render_fps", 1000)
    env = gym.make("gpbandits/MarkovGP-v0", grid=9, render_mode="human", max_episode_steps=3)
    assert not Gcf.figs  # nothing is opened before there is something to show
    agent = agents.make("tv-gp-ucb", env, seed=0)
    env.unwrapped.attach(agent)
    observation, _ = env.reset(seed=0)
    (manager,) = Gcf.figs.values()
    titles = [manager.canvas.figure.get_suptitle()]
    for _ in range(2):
        observation, *_ = env.step(agent.predict(observation)[0])
        titles.append(manager.canvas.figure.get_suptitle())
    assert [title.split()[1].strip(":") for title in titles] == ["0", "1", "2"]
    assert env.render() is None
    plt.close(manager.canvas.figure)  # as a person might
    env.step([0])
    copy = pickle.loads(pickle.dumps(env))
    assert len(Gcf.figs) == 1
    copy.step([1])
    assert len(Gcf.figs) == 2
    for each in (env, copy, copy):
        each.close()
    assert not Gcf.figs


def test_instances_side_by_side_have_no_window():
    with pytest.raises(UnknownName, match="ansi, rgb_array"):
        gym.make_vec("gpbandits/StaticGP-v0", 2, grid=4, render_mode="human")
