"""Schedules: the theorems' formulas, what is filled in, JSON, and mistakes."""

import json
import math
import re
from dataclasses import dataclass

import numpy as np
import pytest

from gpbandits_env import agents, scenarios
from gpbandits_env.agents import GPAgent
from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import (
    RKHS,
    SCHEDULES,
    Constant,
    Continuous,
    Finite,
    LogTime,
    Randomised,
    Robust,
    Schedule,
    SubspaceBeta,
    schedule_for,
)
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern32
from gpbandits_env.gp.theory import beta_subspaces
from gpbandits_env.problem import Problem

ARMS = Problem(Arms.grid((7, 5), high=[2.0, 1.0]), Matern32(0.3), 0.1, max_norm=3.0)
BOX = Problem(Box([0.0, -1.0, 0.0], [1.0, 3.0, 1.0]), Matern32(0.3), 0.1)
EXAMPLES = [
    Finite(0.2, 0.5),
    Continuous(0.2, 2.0, 3.0, scale=0.5),
    RKHS(0.2, 4.0, 2.0),
    RKHS(),
    Constant(2.0),
    LogTime(0.5, 0.3),
    Robust(Constant(2.0), 0.5, 0.1, 0.04),
    SubspaceBeta(1),
]
# A new schedule is tried with its defaults.
EXAMPLES += [new() for new in SCHEDULES.members.values() if new not in {*map(type, EXAMPLES)}]


@pytest.mark.parametrize("schedule", EXAMPLES, ids=repr)
def test_plain_dicts_round_trip(schedule):
    for declared in (schedule, schedule.filled(ARMS, 35)):
        spec = json.loads(json.dumps(SCHEDULES.to_dict(declared)))
        assert SCHEDULES.from_dict(spec) == declared
        assert schedule_for(spec, ARMS, 35) == schedule.filled(ARMS, 35)


@pytest.mark.parametrize("schedule", EXAMPLES, ids=repr)
def test_scale_multiplies_and_rounds_may_be_an_array(schedule):
    t = np.arange(1, 2500)
    one = schedule_for(schedule, ARMS, 35)
    twice = schedule_for(SCHEDULES.to_dict(schedule) | {"scale": 2 * schedule.scale}, ARMS, 35)
    assert twice(t, 1.5) == pytest.approx(2 * one(t, 1.5))
    assert one(t, 1.5).shape == t.shape
    assert (one(t, 1.5) >= 0).all()
    rule = ConfidenceBound(one, rho=3.0**0.5).prepared(ARMS, 35)
    for i in (1, 2, 1024, 1025, 2400, 3):
        assert type(rule.beta(i, 1.5)) is float
        assert rule.beta(i, 1.5) == pytest.approx(3.0 * float(one(i, 1.5)), rel=1e-12)


def test_what_the_problem_tells_is_filled_in():
    assert schedule_for(Finite(), ARMS, 35) == Finite(arms=35)
    assert schedule_for(Finite(arms=9), ARMS, 35) == Finite(arms=9)
    assert schedule_for(Continuous(), ARMS, 35) == Continuous(r=2.0, dim=2)
    assert schedule_for(Continuous(), BOX, 64) == Continuous(r=4.0, dim=3)
    assert schedule_for(Continuous(r=1.0, dim=1), BOX, 64) == Continuous(r=1.0, dim=1)
    assert schedule_for(RKHS(), ARMS, 35) == RKHS(norm_bound=3.0)
    assert schedule_for(RKHS(norm_bound=5.0), ARMS, 35) == RKHS(norm_bound=5.0)
    assert schedule_for(2, ARMS, 35) == Constant(2.0)


@pytest.mark.parametrize("d", [0, 2, 3])
def test_subspaces_have_the_width_of_their_paper(d):
    schedule = schedule_for(SubspaceBeta(d, 0.2, a=2.0, b=3.0, scale=0.5), BOX, None)
    t = np.arange(1, 9)
    assert schedule.dim == 3
    assert schedule(t) == pytest.approx(0.5 * beta_subspaces(t, 3, d, 0.2, a=2.0, b=3.0))


def test_the_candidates_of_a_box_are_counted():
    agent = agents.make("gp-ucb", BOX, seed=0, candidates=64, beta={"type": "finite"})
    assert agent.rule.schedule == Finite(arms=64)
    assert agents.make("gp-ucb", BOX, seed=0, candidates=1024).rule.schedule == Finite(
        0.1, 0.2, 1024
    )


def test_a_rule_may_be_shared_by_agents_of_different_problems():
    rule = ConfidenceBound({"type": "finite"})
    first = GPAgent(ARMS, np.random.default_rng(0), rule)
    before = first.rule.beta(1, 0.0)
    second = GPAgent(ARMS.replaced(domain=Arms.grid(9)), np.random.default_rng(0), rule)
    assert (first.rule.schedule, second.rule.schedule) == (Finite(arms=35), Finite(arms=9))
    assert first.rule.beta(1, 0.0) == before > second.rule.beta(1, 0.0)


def test_in_a_whole_box_theorem_2_stands_in_for_theorem_1():
    schedule = agents.make("gp-ucb", BOX, seed=0).rule.schedule
    assert schedule == Continuous(0.1, 1.0, 1.0, r=4.0, scale=0.2, dim=3)


def test_one_arm_needs_no_shift():
    assert Randomised(1)(np.array([1, 5])).tolist() == [2.0, 2.0]  # the mean of what is drawn


def test_logarithms_are_clipped_at_0():
    assert LogTime(0.8, 0.4)(np.array([1, 2, 3])).tolist()[:2] == [0.0, 0.0]
    assert LogTime(0.8, 0.4)(3) == pytest.approx(0.8 * np.log(1.2))
    assert LogTime(0.8, 0.4, 5.0, power=2)(np.array([1, 3])) == pytest.approx(
        [0, 5.0 * (0.8 * np.log(1.2)) ** 2]
    )


@pytest.mark.parametrize(
    ("spec", "problem", "message"),
    [
        ({"type": "rkhs"}, BOX, "max_norm"),
        ({"type": "rkhs"}, ARMS.replaced(noise_var=0.0), "infinite without noise"),
        ({"type": "finite", "delta": 0.0}, ARMS, "delta"),
        ({"type": "finite", "delta": 1.0}, ARMS, "delta"),
        ({"type": "finite", "delta": "much"}, ARMS, "delta"),
        ({"type": "finite", "scale": -1.0}, ARMS, "scale"),
        ({"type": "finite", "scale": np.nan}, ARMS, "scale"),
        ({"type": "finite", "arms": 0}, ARMS, "arms"),
        ({"type": "continuous", "b": 0.0}, ARMS, "b must be"),
        ({"type": "continuous", "a": 1e-9}, ARMS, "a must be above"),
        ({"type": "continuous", "r": -1.0}, ARMS, "r must be"),
        ({"type": "continuous", "dim": 0}, ARMS, "dim"),
        ({"type": "rkhs", "gamma": -1.0}, ARMS, "gamma"),
        ({"type": "constant"}, ARMS, "value"),
        ({"type": "constant", "value": -1.0}, ARMS, "value"),
        ({"type": "log", "c2": 0.0}, ARMS, "c2"),
        ({"type": "igp", "noise_var": -0.1}, ARMS, "noise_var must be"),
        ({"type": "robust", "base": 2.0, "noise_var": 0.0}, ARMS, "a noise_var above 0"),
        ({"type": "robust", "base": {"type": "randomised"}}, ARMS, "no base that is drawn"),
        ({"delta": 0.1}, ARMS, "needs a 'type'"),
        ({"type": "finite"}, BOX, "needs 'arms', which its problem does not state"),
        (-2.0, ARMS, "beta must be finite"),
        ("finite", ARMS, "a dict with a 'type'"),
        (True, ARMS, "a dict with a 'type'"),
    ],
)
def test_mistakes_are_named(spec, problem, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        agents.make("gp-ucb", problem, beta=spec)


@pytest.mark.parametrize(
    "wrong", [math.sqrt, lambda t: 2.0, np.sqrt, Finite, "finite", "2.0", True, [2.0]]
)
def test_what_is_no_schedule_learns_what_is_one_and_how_to_write_ones_own(wrong):
    for spec in (wrong, {"type": "robust", "base": wrong}):
        with pytest.raises(InvalidInput) as refused:
            agents.make("gp-ucb", ARMS, beta=spec)
        message = str(refused.value)
        assert "a number, a dict with a 'type', such as {'type': 'finite', 'scale'" in message
        assert "derived from agents.acquisitions.schedules.Schedule with the method" in message
        assert all(name in message for name in SCHEDULES.members)


def test_unknown_names():
    with pytest.raises(UnknownName, match="did you mean 'finite'"):
        agents.make("gp-ucb", ARMS, beta={"type": "finit"})
    with pytest.raises(UnknownName, match="did you mean 'delta'"):
        agents.make("gp-ucb", ARMS, beta={"type": "finite", "dleta": 0.1})


def test_a_schedule_without_a_problem_says_what_it_lacks():
    with pytest.raises(InvalidInput, match="'arms'"):
        Finite()(1)


def test_a_schedule_of_your_own():
    @dataclass(frozen=True)
    class Rising(Schedule):
        slope: float

        def __call__(self, t, gain=0.0):
            return self.slope * np.asarray(t, dtype=np.float64)

    agent = agents.make("ucbpe", ARMS, seed=0, beta=Rising(0.5))
    assert [agent.rule.beta(t, 0.0) for t in (1, 4)] == [0.5, 2.0]


def test_a_schedule_of_your_own_gives_a_beta_of_at_least_0_for_each_round():
    @dataclass(frozen=True)
    class Falling(Schedule):
        def __call__(self, t, gain=0.0):
            return 2.0 - np.asarray(t, dtype=np.float64)

    class Same(Schedule):
        def __call__(self, t, gain=0.0):
            return 2.0

    with pytest.raises(InvalidInput, match=r"Same must return beta_t in the shape of t.* got 2.0"):
        agents.make("gp-ucb", ARMS, seed=0, beta=Same())

    class Listed(Schedule):
        def __call__(self, t, gain=0.0):
            return [2.0 for _ in np.ravel(t)]

    for gains in (False, True):
        Listed.needs_gain = gains
        with pytest.raises(InvalidInput, match=r"Listed must return beta_t in the shape.* got \[2"):
            agents.make("gp-ucb", ARMS, seed=0, beta=Listed())
    for beta in (
        lambda t: 2.0 * math.log(t),
        lambda t: 2.0 if t < 10 else 1.0,
        lambda t: max(t, 3),
    ):

        class Scalar(Schedule):
            def __call__(self, t, gain=0.0, beta=beta):
                return beta(t)

        with pytest.raises(InvalidInput, match=r"Scalar fails for .*array\(\[1, 2\]\).*np.where"):
            agents.make("gp-ucb", ARMS, seed=0, beta=Scalar())
    agent = agents.make("gp-ucb", ARMS, seed=0, beta=Falling())
    for _ in range(2):
        agent.tell([0], [1.0])
    with pytest.raises(InvalidInput, match="Falling gives -1 in round 3"):
        agent.ask()


@dataclass(frozen=True)
class Settling(Schedule):
    """Its fields have the names of others' fields, and other meanings."""

    a: float = 3.0
    b: float = -0.5
    power: float = 0.5

    def __call__(self, t, gain=0.0):
        return np.maximum(0.0, self.a + self.b * np.asarray(t, float) ** self.power)


def test_the_fields_of_ones_own_schedule_mean_what_it_says():
    assert agents.make("gp-ucb", ARMS, seed=0, beta=Settling()).rule.beta(4, 0.0) == 2.0


def test_every_type_is_known_from_the_start():
    """Whatever else has been imported: all are defined in the package of the registry."""
    homes = {cls.__module__.rpartition(".")[0] for cls in SCHEDULES.members.values()}
    assert homes == {LogTime.__module__.rpartition(".")[0]}


@pytest.mark.parametrize("learn", [True, {"every": 4}, ["lengthscale"], None, False])
def test_gp_ucb_in_a_box_has_beta_2_where_the_model_is_learned(learn):
    theorem = Continuous(scale=0.2).filled(BOX, None)
    found = agents.make("gp-ucb", BOX, seed=0, learn=learn).rule.schedule(7)
    assert found == (2.0 if learn else theorem(7))
    assert agents.make("gp-ucb", BOX, seed=0, learn=learn, beta=9.0).rule.schedule(7) == 9.0
    on_arms = agents.make("gp-ucb", ARMS, seed=0, learn=learn).rule.schedule(7)
    assert on_arms == Finite(arms=35, scale=0.2)(7)


def test_the_scenarios_of_tranthe2020_keep_the_theorem():
    entry = next(e for e in scenarios.get("tranthe2020/ackley-20").agents if e.label == "gp-ucb")
    agent = agents.make("gp-ucb", BOX, seed=0, **entry.settings)
    assert agent.rule.schedule(7) == Continuous(scale=1.0, dim=20, r=2.0)(7)


def test_the_robust_width_adds_corruption_and_misfit_over_the_noise():
    base = Finite(0.2, 0.5)
    spec = {"type": "robust", "base": SCHEDULES.to_dict(base), "corruption": 3.0, "misfit": 0.2}
    schedule, t = schedule_for(spec, ARMS, 35), np.arange(1, 9)
    root = np.sqrt(base.filled(ARMS, 35)(t)) + (3.0 + 0.2 * np.sqrt(t)) / np.sqrt(0.1)
    assert np.sqrt(schedule(t)) == pytest.approx(root)
    assert schedule_for({"type": "robust", "base": RKHS()}, ARMS, 35)(4, 1.5) == pytest.approx(
        schedule_for(RKHS(), ARMS, 35)(4, 1.5)
    )
    with pytest.raises(InvalidInput, match="noise_var above 0"):
        schedule_for(spec, Problem(ARMS.domain, ARMS.kernel, 0.0), 35)


def test_replays_rgp_ucb_and_ec_gp_ucb():
    """Every choice with mu + (2 + 0.1 (C + eps sqrt(t)) / s) sigma, by dense algebra."""
    problem = Problem(Arms.grid(25), Matern32(0.2), 0.04)
    k, x = problem.kernel(*[problem.domain.coordinates] * 2), []
    beta = Robust(Constant(4.0), corruption=0.5, misfit=0.1)
    agent = agents.make("gp-ucb", problem, seed=0, beta=SCHEDULES.to_dict(beta))
    rng, y = np.random.default_rng(5), []
    for t in range(1, 31):
        gram = k[np.ix_(x, x)] + 0.04 * np.eye(len(x))
        mean = k[:, x] @ np.linalg.solve(gram, y) if x else np.zeros(25)
        var = np.diag(k) - (np.sum(k[:, x] * np.linalg.solve(gram, k[x]).T, 1) if x else 0.0)
        score = mean + (2.0 + (0.5 + 0.1 * np.sqrt(t)) / 0.2) * np.sqrt(var)
        action = agent.ask()
        assert score[action[0]] == pytest.approx(score.max(), abs=1e-8)
        reward = np.sin(5 * problem.domain.coordinates[action, 0]) + 0.2 * rng.normal(size=1)
        x.append(int(action[0])), y.append(float(reward[0]))
        agent.tell(action, reward)


def test_replays_irgp_ucb():
    """beta_t = 2 log(|D| / 2) + E_t with one exponential draw of mean 2 per round."""
    assert schedule_for({"type": "randomised", "arms": 400}, ARMS, 35)(3) == pytest.approx(
        12.5966347331
    )
    problem = Problem(Arms.grid(25), Matern32(0.2), 0.04)
    k, x, y = problem.kernel(*[problem.domain.coordinates] * 2), [], []
    agent = agents.make("gp-ucb", problem, seed=7, beta={"type": "randomised"})
    rng, noise = np.random.default_rng(7), np.random.default_rng(5)
    levels = []
    for _ in range(30):
        gram = k[np.ix_(x, x)] + 0.04 * np.eye(len(x))
        mean = k[:, x] @ np.linalg.solve(gram, y) if x else np.zeros(25)
        var = np.diag(k) - (np.sum(k[:, x] * np.linalg.solve(gram, k[x]).T, 1) if x else 0.0)
        levels.append(2 * np.log(25 / 2) + 2 * rng.standard_exponential())
        score = mean + np.sqrt(levels[-1] * var)
        action = agent.ask()
        assert score[action[0]] == pytest.approx(score.max(), abs=1e-8)
        reward = np.sin(5 * problem.domain.coordinates[action, 0]) + 0.2 * noise.normal(size=1)
        x.append(int(action[0])), y.append(float(reward[0]))
        agent.tell(action, reward)
    assert np.ptp(levels) > 1.0


@pytest.mark.parametrize("name", ["gp-ucb", "bucb", "ucbpe"])
def test_a_randomised_level_is_drawn_once_per_round(name):
    problem = Problem(Arms.grid(30), Matern32(0.2), 0.01, batch_size=3)
    agent = agents.make(name, problem, seed=7, beta={"type": "randomised"})
    agent.tell([3, 9, 20], [0.1, 0.5, 0.3])
    drawn = np.random.default_rng(7)
    drawn.standard_exponential()
    agent.ask()
    assert agent.rng.bit_generator.state == drawn.bit_generator.state


def test_a_randomised_level_in_a_box_needs_a_shift():
    with pytest.raises(InvalidInput, match="arms"):
        schedule_for({"type": "randomised"}, BOX, None)
    given = {"type": "randomised", "shift": 1.0, "scale": 0.5}
    assert schedule_for(given, BOX, None)(4) == 1.5


def test_a_rule_of_one_agent_serves_another_with_more_arms():
    used = ConfidenceBound({"type": "finite"}).prepared(ARMS, 35)
    fresh = ConfidenceBound({"type": "finite"}).prepared(ARMS, 350)
    assert used.beta(1, 0.0) < used.prepared(ARMS, 350).beta(1, 0.0) == fresh.beta(1, 0.0)
