"""The picture of an environment with contexts says which context it shows."""

import gymnasium as gym
import numpy as np
import pytest
from matplotlib.figure import Figure

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.envs.drawing import DOTS, FADED

MADE = {"id": "gpbandits/Contextual-v0", "grid": 9, "contexts": 3, "sequence": [0, 2, 0, 1, 0]}


@pytest.mark.parametrize("mode", [None, "vector_entry_point"])
def test_readings_of_other_contexts_are_faded(monkeypatch, mode):
    drawn = []

    def figure(**given):
        drawn.append(Figure(**given))
        return drawn[-1]

    monkeypatch.setattr("gpbandits_env.envs.drawing.Figure", figure)
    env = gym.make(render_mode="rgb_array", **MADE)
    if mode:
        env = gym.make_vec(num_envs=1, vectorization_mode=mode, render_mode="rgb_array", **MADE)
    env.reset(seed=0)
    for arm in range(5):
        env.step(np.full(1, arm) if mode else arm)
    env.render()
    (axes,) = drawn[-1].axes
    names = {"readings", "in other contexts"}
    dots = [found for found in axes.collections if found.get_label() in names]
    arms = {found.get_alpha(): np.rint(8 * found.get_offsets()[:, 0]).tolist() for found in dots}
    assert arms == {DOTS["alpha"]: [0, 2, 4], FADED: [1, 3]}
    assert "round 5 in context 0 " in drawn[-1].get_suptitle()


@pytest.mark.parametrize("contexts", [None, {"columns": [3]}, {"clock": 6, "parts": 3}])
def test_the_columns_of_a_table_are_steps_with_contexts_too(contexts, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "gpbandits_env.envs.drawing.Figure",
        lambda **given: drawn.append(Figure(**given)) or drawn[0],
    )
    env = gym.make("gpbandits/Replay-v0", contexts=contexts, render_mode="rgb_array")
    env.reset(seed=0)
    env.render()
    (axes,) = drawn[0].axes
    assert axes.get_xlabel() == "arm"
    assert axes.lines[0].get_drawstyle() == "steps-mid"


def test_text_names_the_context():
    env = gym.make(render_mode="ansi", **MADE)
    env.reset(seed=0)
    env.step(4), env.step(4)
    assert env.render().startswith("round 2 in context 2 | actions 4")
    boxed = {**MADE, "contexts": {"box": [[0.0], [1.0]]}, "sequence": [[0.25]]}
    env = gym.make(render_mode="ansi", **boxed)
    env.reset(seed=0)
    env.step(4)
    assert env.render().startswith("round 1 in context (0.25) | ")
