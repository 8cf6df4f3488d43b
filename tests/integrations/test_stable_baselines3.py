"""Our agents under stable-baselines3's evaluate_policy, and its PPO in our worlds."""

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FilterObservation, FlattenObservation, RecordEpisodeStatistics

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.seeding import child

WORLD = {"id": "gpbandits/StaticGP-v0", "grid": [12], "batch_size": 2, "max_episode_steps": 5}
BOX = {**WORLD, "grid": None, "box": [[0.0], [1.0]]}
QUICK = {"search": {"candidates": 16, "starts": 1, "evaluations": 20}}


@pytest.fixture(scope="module")
def sb3():
    """What is used of the library; only a worker that runs these tests takes time to import it."""
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import PPO
    from stable_baselines3.common import env_checker, evaluation, monitor, vec_env

    return SimpleNamespace(
        PPO=PPO,
        check_env=env_checker.check_env,
        evaluate_policy=evaluation.evaluate_policy,
        Monitor=monitor.Monitor,
        DummyVecEnv=vec_env.DummyVecEnv,
        VecMonitor=vec_env.VecMonitor,
    )


def returns_by_hand(name, episodes, seed=0, world=WORLD, **settings):
    """What an ask/tell loop earns in the episodes that follow one reset with seed 1."""
    env = gym.make(**world)
    agent = agents.make(name, env, seed=seed, **settings)
    env.reset(seed=1)
    returns = []
    for _ in range(episodes):
        env.reset()
        agent.reset()
        total = 0.0
        for _ in range(world["max_episode_steps"]):
            actions = agent.ask()
            observation, reward, _, _, _ = env.step(actions)
            agent.tell(actions, observation["rewards"])
            total += reward
        returns.append(total)
    return returns


@pytest.mark.parametrize("wrap", [lambda env: env, RecordEpisodeStatistics])
@pytest.mark.parametrize(("world", "settings"), [(WORLD, {}), (BOX, QUICK)], ids=["arms", "box"])
def test_evaluate_policy_earns_what_ask_and_tell_earn(sb3, wrap, world, settings):
    env = sb3.Monitor(wrap(gym.make(**world)))
    agent = agents.make("gp-ucb", env, seed=0, **settings)
    env.reset(seed=1)
    returns, lengths = sb3.evaluate_policy(agent, env, 1, return_episode_rewards=True)
    assert lengths == [5]
    assert returns == pytest.approx(returns_by_hand("gp-ucb", 1, world=world, **settings), rel=1e-5)


def test_evaluate_policy_in_many_worlds(sb3):
    envs = sb3.DummyVecEnv([lambda: sb3.Monitor(gym.make(**WORLD)) for _ in range(3)])
    envs.seed(1)
    agent = agents.make("ts", gym.make(**WORLD), seed=0)
    returns, lengths = sb3.evaluate_policy(agent, envs, 6, return_episode_rewards=True)
    assert lengths == [5] * 6
    assert np.isfinite(returns).all()
    assert len(set(returns)) == 6
    assert child(agent.rng).random() < 1  # the agent goes on to be usable
    random = agents.make("random", gym.make(**WORLD), seed=0)
    envs.seed(1)
    best, worst = (sb3.evaluate_policy(a, envs, 30)[0] for a in (agent, random))
    assert best > worst


def test_agents_are_made_for_its_vector_environments(sb3):
    envs = sb3.VecMonitor(sb3.DummyVecEnv([lambda: gym.make(**WORLD) for _ in range(2)]))
    agent = agents.make("gp-ucb", envs, seed=0)
    assert agent.problem.horizon == WORLD["max_episode_steps"]
    assert np.isfinite(sb3.evaluate_policy(agent, envs, 2)[0])
    envs.close()


def test_a_flat_world_passes_its_checks_and_ppo_learns_in_it(sb3):
    def flat():
        return sb3.Monitor(FlattenObservation(gym.make(**WORLD)))

    sb3.check_env(flat(), skip_render_check=True)
    envs = sb3.DummyVecEnv([flat for _ in range(4)])
    envs.seed(0)
    ppo = sb3.PPO("MlpPolicy", envs, n_steps=16, batch_size=32, n_epochs=2, seed=0, device="cpu")
    ppo.learn(128)
    actions, _ = ppo.predict(envs.reset())
    assert actions.shape == (4, 2)
    assert np.isfinite(sb3.evaluate_policy(ppo, flat(), 3)[0])


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize(
    "world",
    [BOX, {"id": "gpbandits/Task-v0", "task": "hartmann-6"}, {"id": "gpbandits/HighDim-v0"}],
    ids=lambda w: w["id"].partition("/")[2],
)
@pytest.mark.filterwarnings("ignore:.*(float64|symmetric|unconventional):UserWarning")
def test_its_checks_pass_in_boxes(sb3, world, flat):
    env = gym.make(**world)
    sb3.check_env(FlattenObservation(env) if flat else env, skip_render_check=True)


class SameFunction(gym.Wrapper):
    """Every episode has the function of seed 3."""

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=3, options=options)


@pytest.mark.slow
def test_ppo_that_sees_the_context_earns_more_than_ppo_that_does_not(sb3):
    """It learns the best arm of each of 4 contexts; without the context, no arm is best."""
    world = {"grid": [6], "contexts": 4, "sequence": "in turn", "max_episode_steps": 20}

    def flat(*keys):
        env = SameFunction(gym.make("gpbandits/Contextual-v0", **world))
        return sb3.Monitor(FlattenObservation(FilterObservation(env, keys)))

    def earned(*keys):
        envs = sb3.DummyVecEnv([lambda: flat(*keys) for _ in range(8)])
        ppo = sb3.PPO("MlpPolicy", envs, n_steps=32, batch_size=64, n_epochs=4, gamma=0.0,
                  learning_rate=3e-3, seed=0, device="cpu")  # fmt: skip
        return sb3.evaluate_policy(ppo.learn(2048), flat(*keys), 2)[0]

    torch = pytest.importorskip("torch")
    env = gym.make("gpbandits/Contextual-v0", **world)
    env.reset(seed=3)
    best = sum(env.step([0])[-1]["optimum"] for _ in range(20))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # many threads are slower on so small a network
    try:
        seeing, blind = earned("context"), earned("rewards")
    finally:
        torch.set_num_threads(threads)
    assert seeing > 0.9 * best
    assert blind < 0.7 * best


@pytest.mark.slow
def test_ppo_trained_for_long_is_better_than_chance(sb3):
    """Half a minute: pytest -m slow tests/integrations."""
    readings = np.arange(8) + np.random.default_rng(0).normal(0, 0.1, (30, 8))  # arm 7 is best
    still = {"id": "gpbandits/Table-v0", "readings": readings.tolist(), "max_episode_steps": 10}

    def flat():
        return sb3.Monitor(FlattenObservation(gym.make(**still)))

    envs = sb3.DummyVecEnv([flat for _ in range(8)])
    ppo = sb3.PPO("MlpPolicy", envs, n_steps=64, batch_size=128, gamma=0.0, seed=0, device="cpu")
    before = sb3.evaluate_policy(ppo, flat(), 20, deterministic=False)[0]
    ppo.learn(20_000)
    assert sb3.evaluate_policy(ppo, flat(), 20)[0] > before + 5
