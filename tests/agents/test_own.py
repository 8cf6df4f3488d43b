"""Agents of one's own by name, "module:Class"."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.acquisitions import UCB, Acquisition, LogEI
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule
from gpbandits_env.agents.acquisitions.schedules import SCHEDULES
from gpbandits_env.agents.batch import RULES, BatchRule
from gpbandits_env.agents.optimize import Campaign
from gpbandits_env.agents.parts import Parts
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.specs import class_named

SOURCE = """
from dataclasses import dataclass
import numpy as np
from gpbandits_env.agents import Agent, GPAgent
from gpbandits_env.agents.acquisitions import LCB
from gpbandits_env.agents.acquisitions.schedules import Schedule
from gpbandits_env.agents.batch import BatchRule

class Cautious(GPAgent):
    def __init__(self, problem, rng, *, beta=4.0, **settings):
        super().__init__(problem, rng, LCB(beta), **settings)

class Half(Agent):
    pass

unfinished = 3

class Uniform(BatchRule):
    scores = True

    def choose(self, now):
        return now.search.uniform(now.posterior, now.rng, now.m)

@dataclass(frozen=True)
class Spread(Uniform):
    pass

@dataclass(frozen=True)
class Falling(Schedule):
    first: float = 3.0

    def __call__(self, t, gain=0.0):
        return self.first / np.asarray(t, float)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "own_of_a_test.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "broken_of_a_test.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return "own_of_a_test"


def test_a_class_is_taken_as_well_as_its_name(world):
    class Bold(agents.GPAgent):
        def __init__(self, problem, rng, *, beta=9.0, **parts):
            super().__init__(problem, rng, UCB(beta), **parts)

    agent = agents.make(Bold, world.problem(), seed=0, beta=1.0)
    assert type(agent) is Bold
    assert agents.settings_of(Bold)["beta"] == 9.0
    with pytest.raises(UnknownName, match=r"Bold.* did you mean 'beta'"):
        agents.make(Bold, world.problem(), betta=1.0)
    for wrong in (agents.Agent, int):
        with pytest.raises(
            InvalidInput, match=f"{wrong.__name__} is not an agent: derive it from Agent"
        ):
            agents.make(wrong, world.problem())


def test_an_acquisition_is_derived_from_acquisition(world):
    class Duck:
        def score(self, mean, var):
            return mean

    for acquisition in (Duck(), UCB, "ucb", np.add):

        class Bold(agents.GPAgent):
            def __init__(self, problem, rng, *, acquisition=acquisition, **parts):
                super().__init__(problem, rng, acquisition, **parts)

        with pytest.raises(InvalidInput, match="derived from Acquisition"):
            agents.make(Bold, world.problem())


def test_a_class_for_an_acquisition_is_refused_with_what_to_give(world):
    class Own(agents.GPAgent):
        PARTS = Parts(acquisition=UCB)

    with pytest.raises(InvalidInput, match=r"give UCB\(\.\.\.\), or partial\(UCB, \.\.\.\)"):
        agents.make(Own, world.problem())


class Given(Acquisition):
    """Scores and derivatives that a test gives, as functions of mean and variance."""

    def __init__(self, scores, slopes=lambda mean, var: (np.ones_like(mean), 0.0 * var)):
        self.scores, self.slopes = scores, slopes

    def score(self, mean, var):
        return self.scores(mean, var)

    def gradient(self, mean, var):
        return self.slopes(mean, var)


SQUARE = Box(np.zeros(2), np.ones(2))
WRONG_SCORES = (
    lambda mean, var: 1.0,
    lambda mean, var: np.float64(1.0),
    lambda mean, var: None,
    lambda mean, var: mean.tolist(),
    lambda mean, var: mean[:-1],
    lambda mean, var: mean[:, None],
    lambda mean, var: np.add.outer(mean, var),
)


@pytest.mark.parametrize("domain", [Arms.grid(7), SQUARE], ids=["arms", "box"])
@pytest.mark.parametrize("scores", WRONG_SCORES, ids=range(len(WRONG_SCORES)))
def test_scores_of_a_wrong_shape_name_the_acquisition(scores, domain):
    own = type("Own", (agents.GPAgent,), {"PARTS": Parts(acquisition=Given(scores))})
    agent = agents.make(own, Problem(domain, SquaredExponential(0.3), 0.05), seed=0)
    with pytest.raises(InvalidInput, match=r"Given.score must return an array of shape \(\d+,\), "):
        agent.ask()


@pytest.mark.parametrize("domain", [Arms.grid(7), SQUARE], ids=["arms", "box"])
def test_an_improvement_on_no_reward_at_all_is_refused(domain):
    class Best(AcquisitionRule):
        def at(self, now):
            return LogEI(now.best_reward)

    own = type("Own", (agents.GPAgent,), {"PARTS": Parts(acquisition=Best())})
    agent = agents.make(own, Problem(domain, SquaredExponential(0.3), 0.05), seed=0)
    with np.errstate(all="ignore"), pytest.raises(InvalidInput, match="as inf: a score must be"):
        agent.ask()


def test_a_rule_returns_an_acquisition(world):
    class Forgetful(AcquisitionRule):
        def at(self, now):
            UCB(4.0)

    class Own(agents.GPAgent):
        PARTS = Parts(acquisition=Forgetful())

    agent = agents.make(Own, world.problem(), seed=0)
    with pytest.raises(InvalidInput, match=r"Forgetful\.at must return an Acquisition"):
        agent.ask()


def test_it_is_made_with_its_settings(world, module):
    agent = agents.make(f"{module}:Cautious", world.problem(), seed=0, beta=1.0, epsilon=0.1)
    agent.tell([3, 8], [1.0, -1.0])
    mean, sd = agent.belief()
    assert agent.ask() == [np.argmax(mean - sd)]
    assert agents.settings_of(f"{module}:Cautious")["beta"] == 4.0
    with pytest.raises(UnknownName, match="did you mean 'beta'"):
        agents.make(f"{module}:Cautious", world.problem(), betta=1.0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module_here:Cautious", "ModuleNotFoundError"),
        ("broken_of_a_test:Cautious", "ZeroDivisionError"),
        ("own_of_a_test:Cautius", "has no class 'Cautius'"),
        ("own_of_a_test:unfinished", "derived from Agent"),
        ("own_of_a_test:Half", "the class does not define ask"),
        ("json:Cautious", r"'json' \(.*json.__init__.py\) has no class 'Cautious'"),
        (":Cautious", "cannot be imported"),
        ("own_of_a_test:", "has no class"),
    ],
)
def test_what_is_no_agent_is_said(world, module, name, message):
    with pytest.raises(InvalidInput, match=message):
        agents.make(name, world.problem())


class Forgets(agents.Agent):
    def __init__(self, problem, rng):
        self.asked = 0

    def ask(self):
        return self.problem.domain.sample(self.rng, self.batch_size)


class TakesNothing(Forgets):
    def __init__(self):
        super().__init__(None, None)


class Demands(Forgets):
    def __init__(self, problem, rng, width):
        super().__init__(problem, rng)


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (Forgets, "'Forgets' does not call Agent's constructor"),
        (TakesNothing, "takes 1 positional argument but 3 were given"),
        (Demands, "missing 1 required positional argument: 'width'"),
    ],
)
def test_a_constructor_that_does_not_fit_is_an_error_with_its_cure(world, own, words):
    with pytest.raises(InvalidInput, match=f"{words}.*: write 'def __init__.self, problem, rng"):
        agents.make(own, world.problem(), seed=0)


def test_an_agent_cannot_change_the_arrays_of_its_caller(world):
    class Shifts(agents.Agent):
        def ask(self):
            return self.problem.domain.sample(self.rng, self.batch_size)

        def _learn(self, actions, rewards):
            actions += 1

    agent = agents.make(Shifts, world.problem(), seed=0)
    actions = agent.ask()
    given = actions.copy()
    with pytest.raises(ValueError, match="read-only"):
        agent.tell(actions, np.zeros(len(actions)))
    np.testing.assert_array_equal(actions, given)


def test_a_batch_rule_of_ones_own_that_scores_names_itself_where_nothing_is_scored(world, module):
    rule = class_named(f"{module}:Uniform", BatchRule, "batch rule")()
    with pytest.raises(InvalidInput, match="the rule 'Uniform' needs an acquisition"):
        agents.make("ts", world.problem(), batch=rule)


@pytest.mark.parametrize(
    ("part", "name"), [("batch", "Spread"), ("beta", "Falling")], ids=["batch", "beta"]
)
def test_a_batch_rule_and_a_schedule_are_named_as_agents_are(world, module, tmp_path, part, name):
    spec = {"type": f"{module}:{name}"}
    family = {"batch": RULES, "beta": SCHEDULES}[part]
    own = family.from_dict(spec)
    assert family.from_dict(family.to_dict(own)) == own
    arms = [
        agents.make("gp-ucb", world.problem(batch_size=3), seed=0, **{part: given}).ask().tolist()
        for given in (own, spec)
    ]
    assert arms[0] == arms[1]
    with pytest.raises(UnknownName, match="your own as module:Class"):
        agents.make("gp-ucb", world.problem(), **{part: {"type": name}})
    file, given = tmp_path / "own.json", {"agent": "gp-ucb", "seed": 0, part: own}
    Campaign([(0.0, 1.0)], file=file, **given)
    assert Campaign.resume(file, trusted=True).ask(3) == Campaign([(0.0, 1.0)], **given).ask(3)
    with pytest.raises(InvalidInput, match="if you trust this file"):
        Campaign.resume(file)


def test_a_batch_rule_that_is_no_dataclass_is_of_use_unless_it_is_saved(module, tmp_path):
    rule = class_named(f"{module}:Uniform", BatchRule, "batch rule")()
    Campaign([(0.0, 1.0)], "gp-ucb", seed=0, batch=rule).ask()
    with pytest.raises(InvalidInput, match="Uniform has no dict: make it a dataclass"):
        Campaign([(0.0, 1.0)], "gp-ucb", seed=0, batch=rule, file=tmp_path / "own.json")
