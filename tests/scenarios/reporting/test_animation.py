"""Animations: a frame a round, resets marked, mistakes told."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from gpbandits_env.errors import InvalidInput, StoreError, UnknownName
from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.reporting.animation import animate
from gpbandits_env.scenarios.reporting.style import OF_AGENT, ORANGE, VERMILION


@pytest.fixture
def drifting():
    return Scenario(
        id="my/drifting",
        source="a test",
        title="a test",
        env="gpbandits/MarkovGP-v0",
        env_kwargs={"grid": [30], "epsilon": 0.2},
        agents=(
            AgentEntry("r", "r-gp-ucb", {"reset_every": 2}),
            AgentEntry("tv", "tv-gp-ucb"),
            AgentEntry("random", "random"),
        ),
        horizon=10,
        trials=1,
    )


def frames_of(path):
    with Image.open(path) as image:
        frames = []
        for i in range(image.n_frames):
            image.seek(i)
            frames.append(np.asarray(image.convert("RGB"), dtype=int))
        return frames


def test_a_frame_a_round_and_resets_marked(drifting, tmp_path):
    frames = frames_of(animate(drifting, "r", tmp_path / "r.gif", rounds=4))
    assert len(frames) == 4
    # A frame around the picture in the mark's orange, after rounds 2 and 4.
    marked = [bool((np.abs(f[0, 5:-5] - (213, 94, 0)).max(axis=1) < 40).all()) for f in frames]
    assert marked == [False, True, False, True]
    assert all(f.std() > 10 for f in frames)
    assert np.abs(frames[0] - frames[1]).max() > 50


def test_agents_without_a_belief_are_shown_too(drifting, tmp_path):
    assert len(frames_of(animate(drifting, "random", tmp_path / "a.gif", rounds=2))) == 2
    assert len(frames_of(animate(drifting, "genie", tmp_path / "b.gif", rounds=2))) == 2


def test_a_label_that_is_no_formula_is_drawn_as_it_is(drifting, tmp_path):
    odd = replace(drifting, agents=(AgentEntry("$x_{$", "tv-gp-ucb"),))
    assert len(frames_of(animate(odd, "$x_{$", tmp_path / "a.gif", rounds=2))) == 2


def test_the_same_seed_gives_the_same_file(drifting, tmp_path):
    a = animate(drifting, "tv", tmp_path / "a.gif", rounds=2, seed=1).read_bytes()
    assert animate(drifting, "tv", tmp_path / "b.gif", rounds=2, seed=1).read_bytes() == a
    assert animate(drifting, "tv", tmp_path / "c.gif", rounds=2, seed=2).read_bytes() != a


def test_a_context_reaches_the_agent(drifting, tmp_path):
    contextual = replace(drifting, env="gpbandits/Contextual-v0", env_kwargs={"grid": 20})
    path = animate(contextual, "gp-ucb", tmp_path / "a.gif", rounds=2)
    with Image.open(path) as image:
        assert image.n_frames == 2


def test_rewards_may_arrive_late(drifting, tmp_path):
    late = replace(drifting, env_kwargs={**drifting.env_kwargs, "delay": 2})
    assert len(frames_of(animate(late, "tv", tmp_path / "a.gif", rounds=4))) == 4


def test_mistakes_are_told(drifting, tmp_path):
    with pytest.raises(InvalidInput, match=r"\.gif"):
        animate(drifting, "tv", tmp_path / "a.png")
    with pytest.raises(UnknownName, match="'tv'"):
        animate(drifting, "tvv", tmp_path / "a.gif")
    with pytest.raises(InvalidInput, match="rounds"):
        animate(drifting, "tv", tmp_path / "a.gif", rounds=0)
    (tmp_path / "taken").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        animate(drifting, "tv", tmp_path / "taken" / "a.gif", rounds=1)
    result = CliRunner().invoke(main, ["animate", "srinivas2010/fig-2", "--agent", "gp-ucb"])
    assert result.exit_code == 2
    assert "is an illustration" in result.output


def test_frames_on_a_line_share_their_axes(drifting, tmp_path):
    """What does not change from round to round is the same to the pixel, in exact colours."""
    frames = frames_of(animate(drifting, "tv", tmp_path / "a.gif", rounds=3))
    axis = [frame[60:290, :50] for frame in frames]
    assert axis[0].std() > 10
    assert all((other == axis[0]).all() for other in axis[1:])
    assert (frames[0][5, 300] == 255).all()
    for colour in (OF_AGENT["tv-gp-ucb"], ORANGE, VERMILION):
        exact = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        assert (frames[-1] == exact).all(axis=2).any(), colour


def test_other_domains_are_rendered(drifting, tmp_path):
    plane = replace(drifting, env_kwargs={"grid": [6, 6], "epsilon": 0.2})
    assert len(frames_of(animate(plane, "tv", tmp_path / "a.gif", rounds=2))) == 2
