"""The laws that every agent must keep, as a check for your own agents."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.registry import agent_class, make
from gpbandits_env.arrays import Array, Points, all_of
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import GPBanditsError, InvalidInput, LawBroken, shown
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.laws import keep_all
from gpbandits_env.problem import Problem

# The step of central differences.
STEP = 1e-6
# Makes a new agent, always with the same seed.
Fresh: TypeAlias = Callable[[], Agent]


def check_agent(
    agent: str | type[Agent],
    problems: Problem | Sequence[Problem] | None = None,
    **settings: Any,
) -> None:
    """Check that an agent keeps all laws on some problems; this takes about a second.

    The laws: the scores of an acquisition have the right shape, and their gradient is right;
    actions have the right shape and lie in the domain; the same seed gives the same actions; `ask`
    changes only the generator; invalid input raises an error and changes nothing; rewards that were
    not observed have no effect; prior data count as no round; late rewards are learned; snapshots,
    pickles and resets work.

    Args:
        agent: a class, "module:Class", or the name of a registered agent.
        problems: the problems of the check, without contexts; by default 6 x 5 arms and a box, with
            batches of 1 and 3 actions, except those that the agent does not support.
        settings: the settings of the agent.
    Raises:
        LawBroken: a law is broken; the message names the law and says what was found.
        InvalidInput: a problem has contexts, or the agent supports none of the problems; the
            message says why.
    """
    cls = agent_class(agent)
    given = [problems] if isinstance(problems, Problem) else problems
    tried = usual_problems() if given is None else all_of(Problem, given, "problems", "problems")
    if any(problem.contexts is not None for problem in tried):
        raise InvalidInput("check_agent tries problems without contexts: leave out contexts")
    named = repr(agent) if isinstance(agent, str) else cls.__name__
    refused: list[GPBanditsError] = []
    broken: list[LawBroken] = []
    kept: list[Problem] = []
    for problem in tried:
        fresh = partial(make, agent, problem, seed=7, **settings)
        try:
            fresh()
            where = f" on {_where(problem)}"
            keep_all(LAWS, f"the agent {named}", where, cls.__module__, fresh)
            kept.append(problem)
        except LawBroken as error:
            broken.append(error)
        except InvalidInput as error:
            refused.append(error)
    if broken:
        advice = (
            f"; it keeps all laws on {' and on '.join(map(_where, kept))}: if it is for these "
            f"only, give them as problems=[{', '.join(map(_code, kept))}]"
        )
        raise LawBroken(f"{broken[0]}{advice if kept else ''}") from broken[0].__cause__
    if not kept:
        raise InvalidInput(f"the agent {named} supports none of the problems: {refused[0]}")


def _where(problem: Problem) -> str:
    kind = "arms" if problem.domain.finite else "a box"
    return f"{kind}, with batch size {problem.batch_size}"


def _code(problem: Problem) -> str:
    """The code that makes a problem like one of `usual_problems`."""
    domain = "Arms.grid((6, 5))" if problem.domain.finite else "Box([-1, 0], [1, 3])"
    return f"Problem({domain}, SquaredExponential(0.3), 0.05, {problem.batch_size})"


def usual_problems() -> list[Problem]:
    """Small problems on arms and in a box, with batches of 1 and 3 actions."""
    kernel = SquaredExponential(0.3)
    domains = (Arms.grid((6, 5)), Box(np.array([-1.0, 0.0]), np.array([1.0, 3.0])))
    return [
        Problem(domain, kernel, 0.05, m, 50, prior_mean=0.2, epsilon=0.05, max_delay=4)
        for domain in domains
        for m in (1, 3)
    ]


def actions_in_the_domain(fresh: Fresh) -> None:
    """`ask` returns a new array of m actions that `env.step` accepts."""
    agent = fresh()
    space = agent.problem.domain.action_space(agent.batch_size)
    for actions in trial(agent):
        _expect(actions in space, f"ask returned {actions!r}, which is not in {space}")
    actions = agent.ask()
    new = isinstance(actions, np.ndarray) and actions.flags.writeable
    _expect(new, f"ask must return a new array, got {actions!r}")
    actions[:] = 0
    again = agent.ask()
    _expect(again in space, "overwriting the array that ask returned changed the agent")
    _expect(
        not np.shares_memory(actions, again),
        "ask returned the same array twice, so that its second call overwrites the actions of the "
        "first: return a copy, such as actions.copy()",
    )


def scores_of_the_acquisition(fresh: Fresh) -> None:
    """The scores of an acquisition are a new array of the shape of the means, without NaN."""
    agent = fresh()
    if not isinstance(agent, GPAgent) or agent.rule is None:
        return
    rng = np.random.default_rng(0)
    mean, var = rng.uniform(-1.0, 1.0, 20), rng.uniform(0.1, 1.0, 20)
    given = mean.copy(), var.copy()
    score = agent.acquisition().score(mean, var)
    _expect(same(given, (mean, var)), "score changed its arguments")
    right = isinstance(score, np.ndarray) and score.shape == mean.shape
    _expect(right, f"score must return an array of shape {mean.shape}, got {shown(score)}")
    _expect(not np.isnan(score).any(), f"a score is NaN: {shown(score)}")


def gradients_of_the_acquisition(fresh: Fresh) -> None:
    """The gradient of an acquisition, which a box needs, agrees with differences of its score."""
    agent = fresh()
    if not isinstance(agent, GPAgent) or agent.rule is None or agent.problem.domain.finite:
        return
    trial(agent, 2)
    acquisition, rng = agent.acquisition(), np.random.default_rng(0)
    mean, var = rng.uniform(-1.0, 1.0, 20), rng.uniform(0.1, 1.0, 20)
    slopes = acquisition.gradient(mean, var)
    steps = {"mean": (STEP, 0.0), "variance": (0.0, STEP)}
    for (name, (a, b)), slope in zip(steps.items(), slopes, strict=True):
        rise = acquisition.score(mean + a, var + b) - acquisition.score(mean - a, var - b)
        _expect(
            np.allclose(slope, rise / (2 * STEP), rtol=1e-4, atol=1e-4),
            f"the derivative by the {name} is not that of the score",
        )


def the_seed_decides(fresh: Fresh) -> None:
    """Two agents with the same seed choose the same actions."""
    one, other = fresh(), fresh()
    _expect(np.array_equal(trial(one), trial(other)), "two agents with the same seed differ")
    _expect(same(one.snapshot(), other.snapshot()), "their snapshots differ")


def asking_teaches_nothing(fresh: Fresh) -> None:
    """`ask` changes only the generator, and rolls hallucinated points back."""
    agent = fresh()
    for rounds in (0, 3):
        trial(agent, rounds)
        before, believed = agent.snapshot(), _believed(agent)
        agent.ask()
        after = {**agent.snapshot(), "rng": before["rng"]}
        _expect(same(after, before), "ask changed the snapshot in more than the generator")
        _expect(
            same(_believed(agent), believed),
            "ask changed the posterior: a batch rule that hallucinates calls posterior.rollback()",
        )


def mistakes_change_nothing(fresh: Fresh) -> None:
    """Invalid input raises `InvalidInput` before anything changes."""
    agent = fresh()
    trial(agent, 2)
    actions = agent.ask()
    good = truth(agent, actions, 0)
    mistakes = (
        (actions, good[:-1]),
        (actions, np.full(len(good), np.nan)),
        (actions, good[:, None]),
        (actions[:0], good[:0]),
        (None, good),
    )
    for wrong, rewards in mistakes:
        _refuses(agent, f"tell({wrong!r}, {rewards!r})", agent.tell, wrong, rewards)


def not_observed_teaches_nothing(fresh: Fresh) -> None:
    """A round in which nothing was observed counts, and its rewards have no effect."""
    one, other = fresh(), fresh()
    for agent in (one, other):
        trial(agent, 2)
    actions = one.ask()
    other.ask()
    nothing = np.zeros(len(actions), dtype=np.bool_)
    one.tell(actions, np.full(len(actions), np.nan), observed=nothing)
    other.tell(actions, np.full(len(actions), 1e3), observed=nothing)
    _expect(one.round == 3, f"after 3 rounds the attribute round is {one.round}")
    _expect(same(one.snapshot(), other.snapshot()), "rewards that were not observed had an effect")


def prior_data_count_no_round(fresh: Fresh) -> None:
    """`prior_data` leaves the round at 0."""
    agent = fresh()
    actions = agent.ask()
    agent.prior_data(actions, truth(agent, actions, 0))
    _expect(agent.round == 0, f"after prior_data the attribute round is {agent.round}, not 0")


def late_rewards_are_learned(fresh: Fresh) -> None:
    """`expect` counts a round, and `tell_late` accepts each pending reward once, or it says why."""
    agent = fresh()
    trial(agent, 2)
    actions = agent.ask()
    before = agent.snapshot()
    try:
        agent.expect(actions)
    except InvalidInput:
        _expect(same(agent.snapshot(), before), "a refused call of expect changed the agent")
        return
    _expect(agent.round == 3, f"after 3 rounds the attribute round is {agent.round}")
    agent.ask()
    twin = fresh()
    twin.restore(pickle.loads(pickle.dumps(agent.snapshot())))
    rewards = truth(agent, actions, 2)
    for each in (agent, twin):
        each.tell_late(actions, rewards, np.full(len(actions), 3))
    _expect(same(agent.snapshot(), twin.snapshot()), "a restored agent lost pending actions")
    _expect(agent.round == 3, "tell_late counted a round")
    _refuses(agent, "tell_late of actions that are not pending", agent.tell_late, actions, rewards)


def snapshots_resume(fresh: Fresh) -> None:
    """A snapshot is a copy that can be pickled, and a restored agent equals the original."""
    agent = fresh()
    trial(agent, 3)
    state = agent.snapshot()
    kept = pickle.loads(pickle.dumps(state))
    ahead = trial(agent)
    _expect(same(state, kept), "a snapshot changed when the agent continued")
    other = fresh()
    trial(other, 2)
    other.restore(kept)
    _expect(same(other.snapshot(), kept), "restore left part of the previous state")
    cure = "snapshot must return all that it remembers, and _restore take it back"
    _expect(np.array_equal(trial(other), ahead), f"a restored agent chooses other actions: {cure}")
    _refuses(other, "restore({})", other.restore, {})


def pickles_resume(fresh: Fresh) -> None:
    """A pickled agent continues as the original does."""
    agent = fresh()
    trial(agent, 3)
    twin = pickle.loads(pickle.dumps(agent))
    _expect(np.array_equal(trial(twin), trial(agent)), "a pickled agent chooses other actions")


def reset_forgets(fresh: Fresh) -> None:
    """After `reset` an agent equals a new one, except for its generator."""
    agent, new = fresh(), fresh()
    trial(agent, 4)
    agent.reset()
    state = {**agent.snapshot(), "rng": None}
    _expect(same(state, {**new.snapshot(), "rng": None}), "reset left part of the previous state")


LAWS = (
    scores_of_the_acquisition,
    actions_in_the_domain,
    gradients_of_the_acquisition,
    the_seed_decides,
    asking_teaches_nothing,
    mistakes_change_nothing,
    not_observed_teaches_nothing,
    prior_data_count_no_round,
    late_rewards_are_learned,
    snapshots_resume,
    pickles_resume,
    reset_forgets,
)


def trial(agent: Agent, rounds: int = 5) -> Points:
    """The actions of an agent on the rewards of a smooth function, (rounds, m, ...)."""
    chosen = []
    for _ in range(rounds):
        actions = agent.ask()
        chosen.append(np.array(actions))
        agent.tell(actions, truth(agent, actions, agent.round))
    return np.array(chosen)


def truth(agent: Agent, actions: Points, t: int) -> Array:
    """The rewards of a smooth function that changes slightly in each round, (m,)."""
    points = agent.problem.domain.points(agent.problem.domain.check(actions))
    return np.asarray(
        np.sin(3.0 * points).sum(axis=1) + 0.01 * np.cos(7.0 * t + np.arange(len(points)))
    )


def same(one: Any, other: Any) -> bool:
    """Whether two snapshots are bit-identical."""
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f"))


def _believed(agent: Agent) -> object:
    """The moments of the posterior at five points; None without a posterior."""
    if not isinstance(agent, GPAgent):
        return None
    return agent.posterior.moments(agent.posterior.domain.sample(np.random.default_rng(0), 5))


def _refuses(agent: Agent, what: str, method: Callable[..., None], *arguments: object) -> None:
    """Expect that a call of a method raises `InvalidInput`, and changes nothing."""
    before = agent.snapshot()
    try:
        method(*arguments)
    except InvalidInput:
        _expect(same(agent.snapshot(), before), f"{what} was refused, but changed the agent")
    else:
        raise LawBroken(f"{what} did not raise InvalidInput")


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise LawBroken(otherwise)
