"""DQN of tianshou in our environments."""

import gymnasium as gym
import pytest
from gymnasium.wrappers import FlattenObservation

import gpbandits_env  # noqa: F401 (registers the environments)

MADE = {"id": "gpbandits/StaticGP-v0", "grid": [6], "max_episode_steps": 10}


def flat():
    return FlattenObservation(gym.make(**MADE))


def test_dqn_learns(monkeypatch):
    """Its collector turns infos into objects with attributes, so no key may hide a method."""
    pytest.importorskip("numba")
    # To compile its functions takes longer than all that they do here.
    monkeypatch.setattr("numba.config.DISABLE_JIT", True)
    pytest.importorskip("tianshou")
    import torch
    from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.trainer import OffPolicyTrainerParams
    from tianshou.utils.net.common import Net

    torch.manual_seed(0)
    envs, one = DummyVectorEnv([flat for _ in range(4)]), flat()
    net = Net(state_shape=one.observation_space.shape, action_shape=6, hidden_sizes=[16])
    before = [weights.detach().clone() for weights in net.parameters()]
    policy = DiscreteQLearningPolicy(
        model=net, action_space=one.action_space, eps_training=0.5, eps_inference=0.5
    )
    dqn = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-2))
    collector = Collector(dqn, envs, VectorReplayBuffer(1000, 4), exploration_noise=True)
    dqn.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=80,
            collection_step_num_env_steps=40,
            batch_size=16,
            verbose=False,
            show_progress=False,
        )
    )
    after = list(net.parameters())
    assert all((a != b).any() for a, b in zip(before, after, strict=True))
    assert all(weights.isfinite().all() for weights in after)
    assert collector.buffer.info.noiseless_rewards.shape[1:] == (1,)
