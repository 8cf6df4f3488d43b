"""`check_agent` passes agents that keep the laws, and names the law that one breaks."""

import numpy as np
import pytest

from gpbandits_env.agents import Agent, GPAgent, check_agent
from gpbandits_env.agents.acquisitions import UCB
from gpbandits_env.agents.batch import BatchRule
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import frozen
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, LawBroken, UnknownName
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem


class Greedy(Agent):
    """The best action so far, or a random one."""

    def __init__(self, problem, rng, *, explore=0.3):
        super().__init__(problem, rng)
        self.explore, self.best = explore, (-np.inf, None)

    def ask(self):
        actions = self.problem.domain.sample(self.rng, self.batch_size)
        if self.best[1] is not None:
            actions[self.rng.random(len(actions)) > self.explore] = self.best[1]
        return actions

    def _learn(self, actions, rewards):
        if len(rewards) and rewards.max() > self.best[0]:
            top = int(rewards.argmax())
            self.best = (float(rewards[top]), actions[top].copy())

    def reset(self):
        super().reset()
        self.best = (-np.inf, None)

    def snapshot(self):
        return super().snapshot() | {"best": self.best}

    def _restore(self, state):
        self.best = state["best"]
        super()._restore(state)


@pytest.mark.parametrize("agent", ["random", "rexp3", "sp", "bkb-ucb", Greedy])
def test_agents_that_keep_the_laws(agent):
    check_agent(agent)


class Watched(Keep):
    """All data count; it remembers the last reward, NaN before any."""

    REMEMBERS = (*Keep.REMEMBERS, "last")

    def begin(self):
        super().begin()
        self.last = np.full(1, np.nan)

    def observe(self, seen, before):
        self.last = seen.rewards[-1:].copy() if len(seen.rewards) else self.last


def test_a_memory_may_have_nan():
    check_agent("gp-ucb", keep=Watched)


def test_problems_and_settings_may_be_given():
    problem = Problem(Arms.grid(7), SquaredExponential(0.2), 0.1, batch_size=2)
    check_agent("gp-ucb", problem, epsilon=0.1, compress=0.05)
    check_agent(Greedy, [problem], explore=0.9)
    with pytest.raises(InvalidInput, match=r"supports none of the problems: .*box"):
        check_agent("hesbo", problem)


def test_a_class_that_is_no_agent_or_takes_no_such_setting_breaks_no_law():
    class HasNoAsk(Agent):
        """Its method is missing."""

    with pytest.raises(InvalidInput, match="implement all of its abstract methods"):
        check_agent(HasNoAsk)
    with pytest.raises(UnknownName, match="did you mean 'explore'"):
        check_agent(Greedy, explor=0.9)
    for wrong in (None, Greedy.__init__, Problem):
        with pytest.raises((UnknownName, InvalidInput), match=r"no agent|not an agent"):
            check_agent(wrong)
    for wrong in ([], [None], np.ones(2), object()):
        with pytest.raises(InvalidInput, match="problems must be a list"):
            check_agent(Greedy, wrong)


def test_problems_with_contexts_break_no_law():
    problem = Problem(Arms.grid(7), SquaredExponential(0.2), 0.1, contexts=Arms.grid(3))
    with pytest.raises(InvalidInput, match="problems without contexts"):
        check_agent("gp-ucb", problem)


class TooMany(Greedy):
    def ask(self):
        return np.concatenate([super().ask()] * 2)


class ReturnsList(Greedy):
    def ask(self):
        return super().ask().tolist()


class ReturnsReadOnly(Greedy):
    def ask(self):
        return frozen(super().ask())


class Reuses(Greedy):
    """Its actions are always in the same array."""

    def __init__(self, problem, rng):
        super().__init__(problem, rng)
        self.buffer = super().ask()

    def ask(self):
        self.buffer[:] = super().ask()
        return self.buffer


class ReusesPart(Reuses):
    def ask(self):
        return super().ask()[::-1]


class Unseeded(Greedy):
    def ask(self):
        return self.problem.domain.sample(np.random.default_rng(), self.batch_size)


class LearnsByAsking(Greedy):
    def ask(self):
        self.best = (self.best[0], super().ask()[0])
        return super().ask()


class Believes(Greedy):
    def tell(self, actions, rewards, observed=None):
        self.best = (0.0, None)
        super().tell(actions, rewards, observed)


class Gullible(Greedy):
    def tell(self, actions, rewards, observed=None):
        try:
            super().tell(actions, rewards, observed)
        except InvalidInput:
            return


class UsesAll(Greedy):
    def tell(self, actions, rewards, observed=None):
        super().tell(actions, rewards, observed)
        if observed is not None:
            self.best = (float(np.nan_to_num(np.max(rewards))), self.best[1])


class CountsPrior(Greedy):
    def prior_data(self, actions, rewards):
        self.tell(actions, rewards)


class ForgetsToSave(Greedy):
    def snapshot(self):
        return Agent.snapshot(self)

    def _restore(self, state):
        Agent._restore(self, state)


class Unpicklable(Greedy):
    def __getstate__(self):
        return {**self.__dict__, "best": (-np.inf, None)}


class Remembers(Greedy):
    def reset(self):
        Agent.reset(self)


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (TooMany, "actions_in_the_domain"),
        (ReturnsList, "actions_in_the_domain"),
        (ReturnsReadOnly, "actions_in_the_domain"),
        (Unseeded, "the_seed_decides"),
        (LearnsByAsking, "asking_teaches_nothing"),
        (Believes, "mistakes_change_nothing"),
        (Gullible, "mistakes_change_nothing"),
        (UsesAll, "not_observed_teaches_nothing"),
        (CountsPrior, "prior_data_count_no_round"),
        (ForgetsToSave, "snapshots_resume"),
        (Unpicklable, "pickles_resume"),
        (Remembers, "reset_forgets"),
    ],
)
def test_the_law_that_is_broken_is_named(broken, law):
    with pytest.raises(LawBroken, match=f"{broken.__name__} breaks the law of {law}"):
        check_agent(broken)


def test_an_agent_that_saves_too_little_is_told_what_to_do():
    with pytest.raises(LawBroken, match=r"snapshot must return all .*, and _restore take it back"):
        check_agent(ForgetsToSave)


@pytest.mark.parametrize("broken", [Reuses, ReusesPart])
def test_an_array_that_is_returned_again_is_named(broken):
    words = r"actions_in_the_domain .*ask returned the same array twice, .*return a copy"
    with pytest.raises(LawBroken, match=words):
        check_agent(broken)


class Steeper(UCB):
    def gradient(self, mean, var):
        in_mean, in_var = super().gradient(mean, var)
        return in_mean, 2.0 * in_var


class WrongSlope(GPAgent):
    def __init__(self, problem, rng, **parts):
        super().__init__(problem, rng, Steeper(2.0), **parts)


def test_a_wrong_gradient_of_an_acquisition_breaks_a_law():
    with pytest.raises(LawBroken, match=r"gradients_of_the_acquisition on a box.* by the variance"):
        check_agent(WrongSlope)
    check_agent(WrongSlope, Problem(Arms.grid(7), SquaredExponential(0.2), 0.1))  # has no effect


class Flat(UCB):
    def score(self, mean, var):
        return super().score(mean, var)[:, None]


class Undefined(UCB):
    def score(self, mean, var):
        with np.errstate(invalid="ignore"):
            return np.log(mean)


class InPlace(UCB):
    def score(self, mean, var):
        mean += var
        return mean


@pytest.mark.parametrize(
    ("acquisition", "message"),
    [
        (Flat, r"score must return an array of shape \(20,\)"),
        (Undefined, "a score is NaN"),
        (InPlace, "score changed its arguments"),
    ],
)
def test_wrong_scores_of_an_acquisition_break_a_law(acquisition, message):
    broken = type("Broken", (GPAgent,), {"PARTS": Parts(acquisition=acquisition(2.0))})
    with pytest.raises(LawBroken, match=f"scores_of_the_acquisition.* {message}"):
        check_agent(broken)


def test_a_batch_rule_that_leaves_hallucinated_points_breaks_a_law():
    class Leaves(BatchRule):
        def choose(self, now):
            point = now.search.best(now.acquisition(), now.posterior)
            now.posterior.hallucinate(point)
            return np.repeat(point, now.m, axis=0)

    with pytest.raises(LawBroken, match=r"asking_teaches_nothing .* posterior.rollback\(\)"):
        check_agent("gp-ucb", batch=Leaves())


def test_any_error_of_an_agent_names_the_law():
    class Local(Greedy):
        """It cannot be pickled."""

    with pytest.raises(LawBroken, match=r"pickles_resume on arms, .* local object"):
        check_agent(Local)


def test_an_agent_that_cannot_be_asked_breaks_a_law():
    with pytest.raises(LawBroken, match=r"'genie' breaks the law .* was not revealed"):
        check_agent("genie")
