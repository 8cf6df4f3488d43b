"""The batch agents re-derived at every step from dense formulas, given the agent's own samples.

The samples are drawn again from a copy of the agent's generator, in the order of the paper; that
they have the law of the posterior is tested elsewhere (tests/posterior, tests/agents/batch).
"""

import copy
import math

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput

ARMS, DELTA = 60, 0.1


def beta_at(t):
    """Theorem 1 of srinivas2010 over 5."""
    return 2.0 * math.log(ARMS * t**2 * math.pi**2 / (6 * DELTA)) / 5


def covariance(dense, arms, now):
    """The posterior covariance of f among arms, from scratch; `dense` gives only variances."""
    points = dense.points

    def kernel(a, b):
        square = ((points[a][:, None] - points[b][None]) ** 2).sum(axis=-1)
        return np.exp(-square / (2 * 0.2**2))

    if not dense.arms:
        return kernel(arms, arms)
    age = now - np.array(dense.times, float)
    keep = (1 - dense.epsilon) ** (age / 2)
    apart = (1 - dense.epsilon) ** (np.abs(age[:, None] - age) / 2)
    gram = kernel(dense.arms, dense.arms) * apart + 0.025 * np.eye(len(age))
    cross = kernel(dense.arms, arms) * keep[:, None]
    return kernel(arms, arms) - cross.T @ np.linalg.solve(gram, cross)


def weight(dense, batch, now):
    """det(I + K_t(batch) / s2)."""
    return np.linalg.det(np.eye(len(batch)) + covariance(dense, batch, now) / 0.025)


class Rounds:
    """An agent and the dense data side by side, round by round."""

    def __init__(self, world, name, m, epsilon=0.0, **settings):
        more = {"epsilon": epsilon} if epsilon else {}
        self.world, self.dense = world, world.dense(epsilon=epsilon)
        self.agent = agents.make(name, world.problem(), seed=4, batch_size=m, **more, **settings)
        self.m = m

    def __call__(self, rounds):
        """Yields round, a copy of the generator from before the choice, what was chosen, mean."""
        for t in range(1, rounds + 1):
            rng = copy.deepcopy(self.agent.rng)
            actions = self.agent.ask()
            assert actions.shape == (self.m,)
            yield t, rng, actions, self.dense.mean(now=t)
            # In a batch all see the same function, and share one time.
            rewards = self.world.rewards(actions)
            self.agent.tell(actions, rewards)
            self.dense.tell(actions, rewards, t)

    def var(self, t, also=()):
        return self.dense.var(also=also, now=t)

    def samples(self, rng, count):
        """What the agent's own posterior draws from a generator."""
        return self.agent.posterior.sample(rng, count)


@pytest.fixture(params=[0.0, 0.1], ids=["static", "drifting"])
def epsilon(request):
    return request.param


def best(score, arm, abs_=1e-8):
    """An arm's score is the largest."""
    assert score[arm] == pytest.approx(score.max(), abs=abs_)


@pytest.mark.parametrize("m", [1, 4])
class TestReplay:
    @pytest.mark.parametrize("rho", [1.0, 1.7])
    def test_bucb(self, world, m, epsilon, rho):
        play = Rounds(world, "bucb", m, epsilon, rho=rho)
        for t, _, actions, mean in play(25):
            for i, arm in enumerate(actions):
                sd = np.sqrt(play.var(t, actions[:i]))
                best(mean + rho * math.sqrt(beta_at(t)) * sd, arm)

    @pytest.mark.parametrize("region", [True, False])
    def test_ucbpe(self, world, m, epsilon, region):
        """Contal et al. (2013): R+ by twice the root of the next beta, moments held."""
        batch = {"type": "explore", "region": region}
        play, narrow = Rounds(world, "ucbpe", m, epsilon, batch=batch), 0
        for t, _, actions, mean in play(25):
            sd = np.sqrt(play.var(t))
            best(mean + math.sqrt(beta_at(t)) * sd, actions[0])
            y_dot = (mean - math.sqrt(beta_at(t)) * sd).max()
            inside = mean + 2 * math.sqrt(beta_at(t + 1)) * sd >= y_dot - 1e-9
            narrow += not inside.all()
            for i in range(1, m):
                var = play.var(t, actions[:i])
                assert inside[actions[i]] or not region
                best(np.where(inside, var, -1.0) if region else var, actions[i])
        assert narrow > 5 or (m, epsilon) == (1, 0.1)

    def test_max_variance(self, world, m, epsilon):
        play = Rounds(world, "gp-ucb", m, epsilon, batch="max-variance")
        for t, _, actions, _ in play(15):
            for i, arm in enumerate(actions):
                best(play.var(t, actions[:i]), arm)

    def test_initialised(self, world, m, epsilon):
        """Maximum variance for three rounds, then BUCB."""
        batch = {"type": "initialised", "rounds": 3, "then": {"type": "hallucinate"}}
        play = Rounds(world, "bucb", m, epsilon, batch=batch)
        for t, _, actions, mean in play(10):
            for i, arm in enumerate(actions):
                var = play.var(t, actions[:i])
                best(var if t <= 3 else mean + np.sqrt(beta_at(t) * var), arm)

    @pytest.mark.parametrize("incumbent", ["posterior-mean", "observed", "max-mean"])
    def test_qei(self, world, m, epsilon, normal, incumbent):
        """Each believes that those before gave their means: by a posterior with fantasies in it."""
        play = Rounds(world, "qei", m, epsilon, incumbent=incumbent)
        for t, _, actions, _ in play(15):
            told = copy.deepcopy(play.dense)
            for arm in actions:
                mean = told.mean(now=t)
                sd = np.sqrt(told.var(now=t))
                if not play.dense.arms:
                    level = max(mean.max(), *[mean[a] for a in told.arms], -9.0)
                elif incumbent == "max-mean":
                    level = mean.max()
                else:
                    level = max(told.rewards if incumbent == "observed" else mean[told.arms])
                best(np.log(sd) + normal.log_improvement((mean - level) / sd), arm)
                told.tell([arm], [mean[arm]], t)

    def test_sp(self, world, m, epsilon, normal):
        """The policy is exp(b_t EI), b_t = log(1 + t) / sd(EI); drawn by the agent's generator."""
        play = Rounds(world, "sp", m, epsilon)
        for t, rng, actions, mean in play(25):
            sd = np.sqrt(play.var(t))
            level = mean[play.dense.arms].max() if play.dense.arms else mean.max()
            improvement = sd * np.exp(normal.log_improvement((mean - level) / sd))
            weights = np.exp(math.log(1 + t) * improvement / improvement.std())
            below = np.cumsum(weights) / weights.sum()
            for arm, u in zip(actions, rng.random(m), strict=True):
                assert below[arm] > u - 1e-7
                assert arm == 0 or below[arm - 1] < u + 1e-7

    def test_ts(self, world, m, epsilon):
        play = Rounds(world, "ts", m, epsilon)
        for _, rng, actions, _ in play(15):
            drawn = play.samples(rng, m)
            for path, arm in zip(drawn, actions, strict=True):
                best(path, arm, 0.0)

    @pytest.mark.parametrize("steps", [0, 12, 50])
    def test_dpp_ts(self, world, m, epsilon, steps):
        """Metropolis over batches, the proposals fresh Thompson samples."""
        play, moved = Rounds(world, "dpp-ts", m, epsilon, batch={"type": "dpp", "steps": steps}), 0
        for t, rng, actions, _ in play(15):
            pool = play.samples(rng, m + steps).argmax(axis=1)
            batch = list(pool[:m])
            for fresh in pool[m:]:
                proposal = batch.copy()
                proposal[rng.integers(m)] = fresh
                ratio = weight(play.dense, proposal, t) / weight(play.dense, batch, t)
                if math.exp(-rng.standard_exponential()) < ratio:
                    moved += proposal != batch
                    batch = proposal
            assert actions.tolist() == batch
        assert (moved > 5) == (steps > 0)

    @pytest.mark.parametrize("redraws", [0, 10])
    def test_ts_rsr(self, world, m, epsilon, redraws):
        """ren2024, Algorithm 1, with the redraws of Appendix C."""
        batch = {"type": "ts-rsr", "redraws": redraws}
        play = Rounds(world, "ts-rsr", m, epsilon, batch=batch)
        again, replaced = 0, 0
        for t, rng, actions, mean in play(20):
            top = np.array([path.max() for path in play.samples(rng, m)])
            for _ in range(redraws):
                low = np.flatnonzero(top <= mean.max())
                if len(low):
                    again += len(low)
                    top[low] = play.samples(rng, len(low)).max(axis=1)
            low = top <= mean.max()
            replaced += low.sum()
            top[low] = mean.max() + math.sqrt(play.var(t)[mean.argmax()])
            for i, arm in enumerate(actions):
                ratio = (top[i] - mean) / np.sqrt(play.var(t, actions[:i]))
                assert ratio[arm] == pytest.approx(ratio.min(), rel=1e-7)
        assert again > 0 or not redraws
        assert replaced > 0 or redraws


def test_a_batch_of_a_drifting_world_shares_one_time(world):
    """Two rounds of three are not six rounds of one: nothing fades within a batch."""
    one = agents.make("ts-rsr", world.problem(), seed=0, epsilon=0.2, batch_size=3)
    dense = world.dense(epsilon=0.2)
    for t in (1, 2):
        actions = one.ask()
        rewards = world.rewards(actions)
        one.tell(actions, rewards)
        dense.tell(actions, rewards, t)
    assert one.posterior.mean == pytest.approx(dense.mean(now=3), abs=1e-10)
    assert one.posterior.var == pytest.approx(dense.var(now=3), abs=1e-10)
    apart = world.dense(epsilon=0.2)
    for t, (arm, reward) in enumerate(zip(dense.arms, dense.rewards, strict=True), 1):
        apart.tell([arm], [reward], t)
    assert np.abs(apart.mean(now=7) - dense.mean(now=3)).max() > 0.01


@pytest.mark.parametrize("rule", ["hallucinate", "boltzmann", "believer", "explore"])
@pytest.mark.parametrize("name", ["ts", "dpp-ts", "ts-rsr"])
def test_samplers_have_no_acquisition_to_score_by(world, name, rule):
    with pytest.raises(InvalidInput, match=f"the rule '{rule}'"):
        agents.make(name, world.problem(), batch=rule)


def test_what_makes_no_sense_is_refused_with_the_reason(world):
    problem, two_rounds = world.problem(), {"type": "initialised", "rounds": 2}
    for settings, reason in [
        ({"batch": "believer"}, "incumbent"),
        ({"batch": "dpp", "noise_var": 0.0}, "noise_var"),
        (
            {"batch": {**two_rounds, "then": {"type": "believer"}}},
            "incumbent",
        ),
        ({"batch": {**two_rounds, "then": "thompson"}}, "as a dict"),
        ({"batch": {"type": "dpp", "steps": -1}}, "steps"),
        ({"batch": {"type": "boltzmann", "scale": 0.0}}, "scale"),
        ({"batch": {"type": "explore", "width": -2.0}}, "width"),
        ({"rho": 0.0}, "rho"),
    ]:
        with pytest.raises(InvalidInput, match=reason):
            agents.make("bucb", problem, **settings)
    with pytest.raises(InvalidInput, match="beta"):
        agents.make("ei", problem, batch="explore")
