"""What batch rules promise beside their formulas, and the combinations that they refuse."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.acquisitions.functions import Augmented, LogEI
from gpbandits_env.agents.batch import RULES, rule_for
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Linear, Matern32, SquaredExponential
from gpbandits_env.problem import Problem


def test_sp_sharpens_with_time(world):
    """From far spread to nearly greedy."""
    agent = agents.make("sp", world.problem(), seed=0, batch_size=1000)
    agent.tell([10, 30], [0.5, 0.2])
    score = agent.acquisition().score(agent.posterior.mean, agent.posterior.var)
    shares = []
    for played in (1, 100, 10**6):
        agent.round = played
        shares.append((agent.ask() == score.argmax()).mean())
    assert shares[0] < shares[1] < shares[2]
    assert shares[0] < 0.2


LATER = {"type": "initialised", "rounds": 2, "then": {"type": "thompson"}}
MANY = {"type": "round", "candidates": 5000}


@pytest.mark.parametrize("rule", ["thompson", "dpp", "ts-rsr", LATER, "hallucinate"])
@pytest.mark.parametrize(
    ("search", "exact"),
    [("gradient", False), ({"starts": 0}, False), (MANY, False), ("round", True)],
)
def test_rules_that_draw_samples_need_a_search_that_can(rule, search, exact):
    """In a box random features need a spectral density, unless samples are exact."""
    box, rough = Box([0.0, 0.0], [1.0, 1.0]), Matern32(0.5)
    known, unknown = Problem(box, rough, 0.1), Problem(box, rough + Linear(), 0.1)
    agents.make("ei", known, search=search, batch=rule)
    if exact or rule == "hallucinate":
        agents.make("ei", unknown, search=search, batch=rule)
        return
    with pytest.raises(InvalidInput, match="'linear' has no spectral density"):
        agents.make("ei", unknown, search=search, batch=rule)


@pytest.mark.parametrize("name", ["ts", "dpp-ts", "ts-rsr"])
def test_an_agent_that_cannot_draw_its_samples_is_refused_when_it_is_made(name):
    box, line, kernel = Box([0.0, 0.0], [1.0, 1.0]), Box([0.0], [1.0]), Matern32(0.5) + Linear()
    for problem in (Problem(box, kernel, 0.1), Problem(line, kernel, 0.1, contexts=line)):
        with pytest.raises(InvalidInput, match="use arms or a grid instead of a box"):
            agents.make(name, problem, seed=0)
    agents.make(name, Problem(box, kernel, 0.1), seed=0, candidates=9).ask()
    agents.make(name, Problem(Arms.grid(9), kernel, 0.1, contexts=line), seed=0).ask(context=[0.5])


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("dropout-ucb", {"d": 2}),
        ("hesbo", {"d": 2}),
        ("line-bo", {}),
        ("ms-ucb", {"d": 1}),
        ("rembo", {"d": 2}),
        ("sre", {"d": 2, "rounds": 3}),
        ("turbo", {"acquisition": "ucb", "candidates": 5000}),
    ],
)
def test_neither_is_one_of_a_box_with_many_dimensions(name, settings):
    problem = Problem(Box(-np.ones(3), np.ones(3)), Matern32(0.5) + Linear(), 0.1)
    with pytest.raises(InvalidInput, match="'linear' has no spectral density"):
        agents.make(name, problem, seed=0, batch="thompson", **settings)
    agents.make(name, problem, seed=0, **settings).ask()


@pytest.mark.parametrize(
    "spec",
    [
        *(name for name in RULES.members if name != "initialised"),
        {"type": "explore", "region": False},
        {"type": "initialised", "rounds": 2, "then": {"type": "dpp", "steps": 3}},
        {"type": "initialised", "rounds": 2, "then": "thompson"},
    ],
)
def test_rules_are_declarations(spec):
    rule = rule_for(spec)
    assert RULES.from_dict(RULES.to_dict(rule)) == rule_for(rule) == rule


def test_unknown_rules_and_fields():
    with pytest.raises(UnknownName, match=r"did you mean.*'thompson'"):
        rule_for("thomson")
    with pytest.raises(UnknownName, match=r"did you mean.*'steps'"):
        rule_for({"type": "dpp", "step": 3})
    with pytest.raises(InvalidInput, match="rounds"):
        rule_for("initialised")


@pytest.mark.parametrize("name", ["bucb", "ucbpe", "sp", "qei", "ts", "ts-rsr"])
def test_without_noise_and_all_arms_known(world, name):
    """Nothing is left to learn: they play on, within the arms, and nothing is warned of."""
    problem = world.problem(kernel=Matern32(0.2), noise_var=0.0, batch_size=3)
    agent = agents.make(name, problem, seed=0)
    agent.tell(np.arange(60), np.sin(np.arange(60)))
    for _ in range(3):
        actions = agent.ask()
        assert ((actions >= 0) & (actions < 60)).all()
        agent.tell(actions, np.sin(actions))


@pytest.mark.parametrize("name", ["bucb", "ucbpe", "sp", "qei", "ts", "dpp-ts", "ts-rsr"])
def test_the_units_of_rewards_do_not_matter(world, name):
    """A thousand times the rewards, the deviations and the prior mean: the same arms."""
    played = []
    for unit in (1.0, 1000.0):
        problem = world.problem()
        kernel = problem.kernel.scaled(unit**2)
        changes = {"kernel": kernel, "noise_var": problem.noise_var * unit**2}
        changes["prior_mean"] = unit * problem.prior_mean
        agent = agents.make(name, problem.replaced(**changes), seed=3, batch_size=3)
        actions = []
        for _ in range(6):
            actions.append(agent.ask())
            agent.tell(actions[-1], unit * world.function[actions[-1]])
        played.append(actions)
    assert np.array_equal(*played)


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


def test_a_believed_mean_raises_the_incumbent_of_augmented_ei_too():
    """In the middle of two good arms the mean is higher than at any observed arm."""
    problem = Problem(Arms.grid(60), SquaredExponential(0.2), 0.01, 4)
    agent = agents.make("qei", problem, seed=0, augmented=True)
    agent.tell([15, 25, 35, 45], [0.0, 1.0, 1.0, 0.0])
    posterior, level = agent.posterior, agent.posterior.mean_at_observed().max()
    actions, means = agent.ask(), posterior.mean.copy()
    assert means[actions[0]] > level + 0.1
    for i, arm in enumerate(actions):
        posterior.hallucinate(actions[:i])
        score = Augmented(LogEI(level), 0.01).score(means, posterior.var)
        posterior.rollback()
        assert score[arm] == pytest.approx(score.max(), abs=1e-8)
        level = max(level, means[arm])


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
        ({"batch": {**two_rounds, "then": 3}}, "a batch rule must be"),
        ({"batch": {"type": "dpp", "steps": -1}}, "steps"),
        ({"batch": {"type": "boltzmann", "scale": 0.0}}, "scale"),
        ({"batch": {"type": "boltzmann", "earlier": -1}}, "earlier"),
        ({"batch": {"type": "explore", "region": 2}}, "region"),
        ({"rho": 0.0}, "rho"),
    ]:
        with pytest.raises(InvalidInput, match=reason):
            agents.make("bucb", problem, **settings)
    with pytest.raises(InvalidInput, match="beta"):
        agents.make("ei", problem, batch="explore")
    for unknown, kind in [
        ({"type": "boltzmann", "over": "variance"}, "spread"),
        ({**two_rounds, "then": {"type": "hallucinate"}, "first": "sobol"}, "first rounds"),
    ]:
        with pytest.raises(UnknownName, match=kind):
            agents.make("bucb", problem, batch=unknown)


def test_a_sample_that_is_level_with_the_largest_mean_is_drawn_again():
    drawn = []

    def sampled(posterior, rng, size):
        drawn.append(size)
        return None, np.full(size, 1.0)

    now = SimpleNamespace(
        m=3,
        rng=None,
        posterior=SimpleNamespace(mean_at=lambda at: [1.0], var_at=lambda at: [0.25]),
        search=SimpleNamespace(best_mean=lambda posterior: np.array([4]), sampled=sampled),
    )
    rule = rule_for({"type": "ts-rsr", "redraws": 2})
    assert rule.maxima(now).tolist() == [1.5] * 3  # one standard deviation above
    assert drawn == [3, 3, 3]
