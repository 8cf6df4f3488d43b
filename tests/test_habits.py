"""What people who come from other libraries type first works, or the error says what does."""

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env as gb
from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput, LawBroken, UnknownName
from gpbandits_env.rewards.functions import TEST_FUNCTIONS


def test_tell_takes_the_suggestion():
    one, other = (gb.Campaign({"x": (0.0, 1.0)}, seed=0) for _ in range(2))
    for value in (1.0, 2.0, 3.0, 4.0, 5.0):
        (suggestion,), (same,) = one.ask(), other.ask()
        assert suggestion == same
        assert one.tell(suggestion, value) == other.tell(same.id, value)
    record = one.correct(suggestion, 9.0)
    assert one.correct(record, 8.0).value == one.best.value == 8.0
    (failing,) = one.ask()
    assert one.fail(failing).status == "failed"
    for point in ({"x": 0.5}, [0.5], np.array([0.5])):
        with pytest.raises(InvalidInput, match="observe"):
            one.tell(point, 1.0)
    assert len(one.records) == 6


@pytest.mark.parametrize("kind", [gb.Real, gb.Integer])
def test_priors_of_scikit_optimize(kind):
    assert kind(1, 100, prior="log-uniform") == kind(1, 100, log=True)
    assert kind(1, 100, prior="uniform") == kind(1, 100)
    assert gb.Categorical is gb.Choice
    with pytest.raises(UnknownName, match="'log-uniform'"):
        kind(1, 100, prior="loguniform")
    with pytest.raises(InvalidInput, match="exclude each other"):
        kind(1, 100, log=True, prior="uniform")
    with pytest.raises(InvalidInput, match="above 0"):
        kind(0, 100, prior="log-uniform")


def test_dimensions_at_the_top_level_are_saved_in_a_file(tmp_path):
    space = {"rate": gb.Real(1e-4, 1.0, prior="log-uniform"), "kind": gb.Categorical(["a", "b"])}
    made = gb.Campaign(space, seed=0, file=tmp_path / "campaign.json")
    made.tell(made.ask()[0], 1.0)
    resumed = gb.Campaign.resume(tmp_path / "campaign.json")
    assert resumed.space.dimensions == made.space.dimensions == space
    assert resumed.records == made.records


@pytest.mark.parametrize("name", TEST_FUNCTIONS)
def test_test_functions_by_name(name):
    f, up = gb.benchmark_function(name), gb.benchmark_function(name, maximize=True)
    dim = TEST_FUNCTIONS[name].dim or 2
    assert len(f.bounds) == len(f.x_best) == dim
    assert f(f.x_best) == pytest.approx(f.optimum, abs=1e-8 * max(1.0, abs(f.optimum)))
    low, high = np.array(f.bounds).T
    points = np.random.default_rng(0).uniform(low, high, (200, dim))
    assert f(points).min() >= f.optimum
    assert np.array_equal(up(points), -f(points))
    assert up.optimum == -f.optimum
    assert f(points[0]) == f(points[0].tolist())
    assert f(points[0]) == pytest.approx(f(points)[0])
    with pytest.raises(InvalidInput, match="shape"):
        f(np.zeros(dim + 1))


def test_a_test_function_is_minimized():
    f = gb.benchmark_function("camelback")
    found = gb.minimize(f, f.bounds, n_calls=30, seed=0)
    assert f.optimum <= found.fun < f.optimum + 0.05
    assert len(gb.benchmark_function("ackley", 5).bounds) == 5
    with pytest.raises(InvalidInput, match="6 dimensions"):
        gb.benchmark_function("hartmann-6", 5)
    with pytest.raises(UnknownName, match="did you mean 'hartmann-6'"):
        gb.benchmark_function("hartmann6")


@pytest.mark.parametrize("cure", [{"candidates": 500}, {"search": "round"}])
@pytest.mark.parametrize("name", ["ts", "ts-rsr", "dpp-ts"])
def test_the_error_of_a_kernel_without_samples_names_what_works(name, cure):
    problem = gb.Problem(gb.Box([0.0, 0.0], [1.0, 1.0]), gb.Linear(), 0.01)
    with pytest.raises(InvalidInput, match=r"candidates=500 or search='round'"):
        agents.make(name, problem, seed=0)
    agent = agents.make(name, problem, seed=0, **cure)
    for _ in range(3):
        actions = agent.ask()
        agent.tell(actions, actions.sum(axis=1))


PROBLEM = gb.Problem(gb.Arms.grid(3), gb.Matern52(0.2), 0.1)
FOREIGN = {
    "kernel": {"kernel": {"type": "RBF"}},
    "lengthscale": {"lengthscale": 0.2},
    "horizon": {"horizon": 100},
    "bounds": {"bounds": [(0, 1)]},
}
OURS = {"kernel": "se", "lengthscale": "kernel", "horizon": "max_episode_steps", "bounds": "box"}


@pytest.mark.parametrize("habit", FOREIGN)
def test_an_environment_knows_what_others_call_its_arguments(habit):
    with pytest.raises(UnknownName, match=f"did you mean {OURS[habit]!r}"):
        gym.make("gpbandits/StaticGP-v0", **FOREIGN[habit])


MISTAKES = {
    "minimize": lambda: gb.minimize(sum, [(0, 1)], ncalls=3),
    "make": lambda: agents.make("gp-ucb", PROBLEM, betta=2),
    "Campaign": lambda: gb.Campaign([(0, 1)], sead=1),
}


@pytest.mark.parametrize("call", MISTAKES.values(), ids=MISTAKES)
def test_an_unknown_argument_is_answered_by_the_nearest_five(call):
    with pytest.raises(UnknownName, match="the nearest of") as caught:
        call()
    assert len(str(caught.value)) < 200
    assert str(caught.value).rpartition(": ")[2].count(",") == 4


class OneArm(agents.Agent):
    """It returns one arm, whatever is asked for, and knows its actions as arms only."""

    def ask(self):
        if not self.problem.domain.finite:
            raise NotImplementedError("arms only")
        return self.rng.integers(self.problem.domain.size, size=1)


@pytest.mark.parametrize(("given", "meant"), [("maximise", "maximize"), ("random_state", "seed")])
def test_a_campaign_knows_its_own_arguments(given, meant):
    with pytest.raises(UnknownName, match=f"no argument of Campaign .*did you mean '{meant}'"):
        gb.Campaign({"x": (0.0, 1.0)}, **{given: 1})


def test_check_agent_names_the_line_and_the_problems_that_fit():
    with pytest.raises(LawBroken) as caught:
        agents.check_agent(OneArm)
    message = str(caught.value)
    assert "on arms, with batch size 3: ask returned array" in message
    code = message.partition("give them as problems=")[2]
    names = {"Problem": gb.Problem, "Arms": gb.Arms, "SquaredExponential": gb.SquaredExponential}
    agents.check_agent(OneArm, problems=eval(code, names))
    box = gb.Problem(gb.Box([0.0], [1.0]), gb.Matern52(0.2), 0.1)
    with pytest.raises(LawBroken, match=r"line \d+: raise NotImplementedError\(.arms only.\)"):
        agents.check_agent(OneArm, problems=box)
