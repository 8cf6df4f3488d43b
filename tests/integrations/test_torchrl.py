"""torchrl's GymEnv makes our environments, and its DQN trains in them."""

import gymnasium as gym
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)

IDS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))


@pytest.fixture(autouse=True)
def _installed():
    """Only a worker that runs these tests takes the seconds of the import."""
    pytest.importorskip("torchrl")


@pytest.mark.parametrize("id", IDS)
def test_every_environment_is_made_by_its_id(id):
    """It tries an argument ``frameskip`` first and reads our error."""
    from torchrl.envs import GymEnv
    from torchrl.envs.utils import check_env_specs

    env = GymEnv(id)
    check_env_specs(env)
    assert env.rollout(3).batch_size == (3,)


def test_dqn_learns():
    import torch
    from tensordict.nn import TensorDictSequential
    from torchrl.envs import CatTensors, Compose, DoubleToFloat, GymEnv, TransformedEnv
    from torchrl.modules import MLP, EGreedyModule, QValueActor
    from torchrl.objectives import DQNLoss, SoftUpdate

    torch.manual_seed(0)
    made = GymEnv("gpbandits/StaticGP-v0", grid=[6], max_episode_steps=10)
    env = TransformedEnv(
        made, Compose(DoubleToFloat(in_keys=["rewards"]), CatTensors(["rewards"], "observation"))
    )
    actor = QValueActor(MLP(out_features=6, num_cells=[16]), spec=env.action_spec)
    policy = TensorDictSequential(actor, EGreedyModule(env.action_spec, eps_init=0.3))
    policy(env.reset())  # makes the network
    before = [weights.detach().clone() for weights in actor.parameters()]
    loss = DQNLoss(actor, action_space=env.action_spec)
    target = SoftUpdate(loss, eps=0.9)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-2)
    for _ in range(5):
        optimizer.zero_grad()
        loss(env.rollout(10, policy))["loss"].backward()
        optimizer.step()
        target.step()
    after = list(actor.parameters())
    assert all((a != b).any() for a, b in zip(before, after, strict=True))
    assert all(weights.isfinite().all() for weights in after)
