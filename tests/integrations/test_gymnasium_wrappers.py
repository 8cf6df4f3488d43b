"""Gymnasium's own wrappers and all ways to make many worlds, on every environment."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import (
    FlattenObservation,
    RecordEpisodeStatistics,
    RecordVideo,
    RescaleAction,
    TimeLimit,
)

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents

READINGS = (np.random.default_rng(0).normal(size=(30, 6)) + np.arange(6)).tolist()
WORLDS = {
    "gpbandits/StaticGP-v0": {"grid": [6, 5]},
    "gpbandits/MarkovGP-v0": {"grid": [6, 5]},
    "gpbandits/Drifting-v0": {"grid": [6]},
    "gpbandits/Table-v0": {"readings": READINGS},
    "gpbandits/Replay-v0": {"readings": READINGS, "repeat": True},
    "gpbandits/Task-v0": {"task": "ackley", "grid": 6},
}
IDS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))


@pytest.fixture(params=[*IDS, *(f"{id} selective" for id in IDS)])
def world(request):
    id, _, selective = request.param.partition(" ")
    return {"id": id, "batch_size": 2, "selective": bool(selective), **WORLDS.get(id, {})}


def test_flat_observations_statistics_and_limits(world):
    env = gym.make(**world)
    limited = RecordEpisodeStatistics(FlattenObservation(TimeLimit(env.unwrapped, 3)))
    observation, _ = limited.reset(seed=0)
    assert observation in limited.observation_space
    assert observation.ndim == 1
    limited.action_space.seed(0)
    total = 0.0
    for t in range(3):
        observation, reward, terminated, truncated, info = limited.step(
            limited.action_space.sample()
        )
        total += reward
        assert observation in limited.observation_space
        assert (terminated, truncated) == (False, t == 2)
    assert info["episode"]["r"] == pytest.approx(total)
    assert info["episode"]["l"] == 3


def rollout(envs, actions):
    observation, _ = envs.reset(seed=7)
    seen = [observation]
    for batch in actions:
        seen.append(envs.step(batch)[0])
    envs.close()
    return seen


@pytest.mark.parametrize("mode", ["async", "vector_entry_point"])
def test_all_ways_to_make_many_worlds_agree(world, mode):
    if mode == "async" and (world["id"] != "gpbandits/MarkovGP-v0" or world["selective"]):
        pytest.skip("processes are slow to start: one environment stands for all")
    made = {"num_envs": 3, "max_episode_steps": 4, **world}
    sync = gym.make_vec(vectorization_mode="sync", **made)
    sync.action_space.seed(0)
    actions = [sync.action_space.sample() for _ in range(7)]
    one = rollout(sync, actions)
    other = rollout(gym.make_vec(vectorization_mode=mode, **made), actions)
    for a, b in zip(one, other, strict=True):
        assert a.keys() == b.keys()
        assert all(np.array_equal(a[key], b[key]) for key in a)


def test_videos_are_recorded(tmp_path):
    pytest.importorskip("moviepy")
    env = gym.make("gpbandits/MarkovGP-v0", grid=[30], render_mode="rgb_array", max_episode_steps=3)
    video = RecordVideo(
        env, str(tmp_path / "films"), episode_trigger=lambda _: True, disable_logger=True
    )
    agent = agents.make("tv-gp-ucb", video, seed=0)
    observation, _ = video.reset(seed=0)
    done = False
    while not done:
        observation, _, _, done, _ = video.step(agent.predict(observation)[0])
    video.close()
    (film,) = (tmp_path / "films").glob("*.mp4")
    assert film.stat().st_size > 1000


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # the wrapper's own
def test_rescaled_actions_reach_the_edges_in_single_precision():
    """What a policy of float32 saturates at is on the edge, not outside by its rounding."""
    rng = np.random.default_rng(0)
    low, high = -(10 ** rng.uniform(-2, 2, 12)), 10 ** rng.uniform(-2, 2, 12)
    bare = gym.make("gpbandits/Task-v0", task="ackley", dim=12, box=(low, high))
    env = RescaleAction(bare, np.float32(-1), np.float32(1))
    env.reset(seed=0)
    for side, edge in ((-1, low), (1, high)):
        observation = env.step(np.full((1, 12), side, dtype=np.float32))[0]
        assert observation["actions"][0] == pytest.approx(edge, rel=1e-5, abs=1e-5)
        assert observation in env.observation_space
