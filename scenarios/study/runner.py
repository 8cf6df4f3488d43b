"""Runs a trial (one agent in one environment instance), here or in a worker."""

import json
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
from joblib.externals.loky.cloudpickle_wrapper import dumps
from numpy.typing import NDArray

from gpbandits_env import agents
from gpbandits_env.arrays import Array, Plain, Settings, whole
from gpbandits_env.errors import GPBanditsError, InvalidInput, one_of, shown
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.registration import register_all
from gpbandits_env.rewards.functions.process import ROUNDING
from gpbandits_env.rewards.regret import instantaneous
from gpbandits_env.scenarios.declare import as_json
from gpbandits_env.scenarios.results import records
from gpbandits_env.scenarios.scenario import AgentEntry, Cell, Scenario, clocked
from gpbandits_env.seeding import seed_for
from gpbandits_env.specs import FAMILIES

# `import gpbandits_env` registers them too, but not on the command line (see there).
register_all()

# The rounds for which a trial that its clock ends has room at first.
USUAL = 256
# Seconds of work that a worker does at a time.
PORTION = 0.1
# Environments that a thread keeps: those of a study differ only in the parameters of its grid.
MOST_KEPT = 2
# The folders of the scenario files that were read, in which modules that they name are found.
FOLDERS: list[str] = []


def look_in(folder: str) -> None:
    """Find modules in a folder too, last of all, so that it hides no installed module."""
    for places in (sys.path, FOLDERS):
        if folder not in places:
            places.append(folder)


@dataclass(frozen=True)
class PlannedTrial:
    """A trial for a worker to run.

    Args:
        cell: the scenario at one point of its grid.
        key: the trial.
        seed: the base seed of the study, on which all streams depend.
        folders: further folders in which the user's modules are found.
        sent: what a notebook or script defines and the scenario names (see `of_main`). It is sent
            with the task, because a worker has another ``__main__``.
    """

    cell: Cell
    key: records.TrialKey
    seed: int
    folders: tuple[str, ...] = ()
    sent: tuple[tuple[str, str, Any], ...] = ()

    def stream(self, purpose: str, label: str = "") -> int:
        """The seed of a stream: "world" (the environment), "initial" (points, noise) or "agent".

        The seed of an agent depends on its label and on all parameters. The other seeds depend only
        on those of the environment without its batch size. So all agents of a trial, and all
        settings of an agent that the grid sweeps, face the same environment instance and the same
        initial points.
        """
        params = self.cell.params if label else self.cell.instance_params
        named = as_json(params, sort_keys=True)
        labels = (label,) if label else ()
        return seed_for(self.cell.scenario.id, named, purpose, *labels, self.key.trial, self.seed)


def of_main(cell: Cell) -> tuple[tuple[str, str, Any], ...]:
    """The classes of ``__main__`` that a cell names: (family, name, class).

    A drift, a kernel, ... that ``__main__`` registered has the name of its `specs.FAMILIES`. The
    family of what is named as "__main__:Name" is "".
    """
    here, main = cell.scenario, vars(sys.modules["__main__"])
    text = as_json([[[entry.agent, entry.settings] for entry in here.agents], here.env_kwargs])
    return (
        *(("", name, main[name]) for name in re.findall(r'"__main__:(\w+)"', text)),
        *(
            (kind, name, found)
            for kind, family in FAMILIES.items()
            for name, found in family.members.items()
            if found.__module__ == "__main__" and json.dumps(name) in text
        ),
    )


def check_sendable(cells: Sequence[Cell]) -> None:
    """Raise InvalidInput if a class of ``__main__`` that the cells name cannot go to workers."""
    for name, found in {name: found for cell in cells for _, name, found in of_main(cell)}.items():
        try:
            dumps(found)
        except Exception as error:  # a user's class may refer to anything
            raise InvalidInput(
                f"{name} cannot be sent to worker processes ({type(error).__name__}: {error}); "
                "use jobs=1, or put the class into a module and name it 'module:Class'"
            ) from error


_kept = threading.local()


def _free() -> dict[tuple[str, str, int], gym.Env[Any, Any]]:
    """The environments that this thread has used and that are free now."""
    return vars(_kept).setdefault("free", {})


def make_env(env: str, kwargs: Settings, horizon: int) -> gym.Env[Any, Any]:
    """A new environment with a horizon; InvalidInput if it cannot be made or has fewer rounds."""
    if "max_episode_steps" in kwargs:
        raise InvalidInput("max_episode_steps is the horizon of the scenario: set that instead")
    if not isinstance(mode := kwargs.get("render_mode"), str | None):
        raise InvalidInput(f"render_mode must be a string, such as 'rgb_array', got {shown(mode)}")
    # With a duration the clock ends an episode, whatever the number of its rounds.
    steps = -1 if clocked(kwargs) else horizon
    try:
        made = gym.make(env, max_episode_steps=steps, disable_env_checker=True, **kwargs)
    except GPBanditsError:  # some of these are a TypeError too
        raise
    except (gym.error.Error, ImportError, TypeError) as error:  # a package may not be installed
        raise InvalidInput(f"environment {env!r}: {error}") from error
    problem = getattr(made.unwrapped, "problem", None)
    if steps > 0 and problem is not None and (problem.horizon or horizon) < horizon:
        raise InvalidInput(
            f"the horizon is {horizon}, but the recording ends after {problem.horizon} rounds: use "
            "a shorter horizon, other starts, or repeat=True, so that the first row follows the "
            "last"
        )
    return made


def forget_environments() -> None:
    """Drop all: a notebook may have changed a drift, a kernel or a file of readings."""
    _free().clear()


@contextmanager
def lent(env: str, kwargs: Settings, horizon: int) -> Iterator[gym.Env[Any, Any]]:
    """Lend an environment exclusively; a reset with a seed determines all of its state.

    The thread keeps it for its next trial. An environment in use is never lent again, so that
    neither another thread nor a trial within a trial can change it. It is dropped after an error,
    which may have interrupted a step.
    """
    plain = as_json(kwargs, sort_keys=True)
    key = (env, plain, horizon)
    free = _free()
    found = free.pop(key, None) or make_env(env, json.loads(plain), horizon)
    yield found
    free[key] = found
    while len(free) > MOST_KEPT:
        del free[next(iter(free))]


def make_agent(entry: AgentEntry, env_or_problem: Any, seed: int) -> Any:
    """Make the agent of an entry for an environment or for a problem.

    Raises:
        InvalidInput: the constructor of an agent of one's own refuses what it is given by a
            TypeError or a ValueError, or raises another error, which is the cause of this one.
    """
    try:
        agent = agents.make(entry.agent, env_or_problem, seed=seed, **entry.settings)
    except GPBanditsError:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"agent {entry.label!r}: {error}") from None
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise InvalidInput(
            f"agent {entry.label!r}: its constructor raised {shown(error)} in line {place.lineno} "
            f"of {place.filename}; to refuse a problem, raise a ValueError"
        ) from error
    if entry.history:
        agent.prior_data(**agent.problem.last_rows(entry.history))
    return agent


def initial_points(
    env: gym.Env[Any, Any], agent: Any, count: int, seed: int
) -> dict[str, NDArray[Any]]:
    """Evaluate ``count`` uniform points and give them to an agent as prior data, after the reset.

    Returns:
        The initial arrays of a `TrialRecord`.
    """
    instance: Any = env.unwrapped
    rng = np.random.default_rng(seed)
    actions = instance.problem.domain.sample(rng, count)
    rewards, values = instance.prior_data(actions, rng)
    agent.prior_data(actions, rewards)
    return {
        "initial_actions": actions,
        "initial_rewards": rewards,
        "initial_values": values,
        "initial_regret": instantaneous(instance.function.optimum, values),
    }


def run_rounds(
    env: gym.Env[Any, Any],
    agent: Any,
    horizon: int | None,
    first: Plain | None = None,
    *,
    opening: int | None = None,
    store_actions: bool = True,
    spent: int = 0,
) -> tuple[Plain, Plain]:
    """One agent in one environment instance, which has been reset.

    If rewards are delayed, the agent is told of each when it arrives, and with a clock of the
    times. In a selective environment the agent says which of its actions would be informative, and
    only these are evaluated. An oracle, i.e. an agent with a method ``reveal`` (the genie of
    bogunovic2016), gets the function of each round after the round.

    Args:
        env: the environment.
        agent: a fresh agent.
        horizon: rounds; None if the clock ends the episode.
        first: the observation of the reset, which has the first context if there are contexts.
        opening: an arm to choose in round 1 instead of the agent's own choice.
        store_actions: whether to return actions, if they are not too many and ``horizon`` is given.
        spent: evaluations before round 1.
    Returns:
        The arrays of a `TrialRecord`, and its times.
    """
    rounds, seconds = records.Rounds(horizon or USUAL), records.Rounds(horizon or USUAL)
    instance: Any = env.unwrapped
    selective = bool(getattr(instance, "selective", False))
    delayed = instance.problem.max_delay is not None
    reveal = getattr(agent, "reveal", None)
    context = None if first is None else first.get("context")
    t, over = 0, False
    while t < horizon if horizon else not over:
        start = perf_counter()
        actions = agent.ask() if context is None else agent.ask(context=context)
        if t == 0 and opening is not None:
            actions = np.full(len(actions), opening)
        mask: tuple[Any, ...] = (agent.informative(actions),) if selective else ()
        chosen = perf_counter()
        clock = getattr(instance, "evaluation_seconds", 0.0)
        observation, _, _, over, info = env.step((actions, *mask) if selective else actions)
        stepped = perf_counter()
        context = observation.get("context")
        if delayed or "time" in observation:
            agent.observe(observation)
        else:
            agent.tell(actions, observation["rewards"], *mask)
        end = perf_counter()
        if reveal is not None:
            reveal(instance.function.values)
        observed = mask[0] if selective else np.ones(len(actions), dtype=bool)
        spent += int(np.count_nonzero(observed))
        if store_actions and horizon and horizon * np.size(actions) <= records.MOST_ACTIONS:
            rounds.put(t, actions=actions)
        if "time" in observation:
            rounds.put(t, time=observation["time"], time_regret=info["time_regret"])
        rounds.put(
            t,
            rewards=np.where(observed, np.nan, 0.0) if delayed else observation["rewards"],
            values=info["noiseless_rewards"],
            regret=info["regret"],
            optimum=info["optimum"],
            model_order=model_order(agent),
            evaluations=spent,
        )
        if delayed:
            _put_late(rounds.arrays["rewards"], t, observation)
        evaluating = getattr(instance, "evaluation_seconds", 0.0) - clock
        seconds.put(t, ask=chosen - start, tell=end - stepped, evaluate=evaluating)
        t += 1
    return rounds.until(t), seconds.until(t)


def in_parts(
    rounds: Plain, seconds: Plain, parts: int, end: float, before: Plain
) -> tuple[Plain, Plain]:
    """The arrays of a trial under a clock by equal parts of its time, instead of by rounds.

    The regret of a part is the mean over its time of that of the actions in force, per action; the
    first actions count from the start. Other quantities are those of the last round that has ended
    with the part; seconds are those of the rounds that have ended in it.

    Args:
        rounds: the arrays of `run_rounds`.
        seconds: those of their seconds.
        parts: the number of parts, T.
        end: the time at which the trial ends, in units of the drift.
        before: the model order and the evaluations before the first round.
    """
    read, now = rounds["time"].T
    integral, latest = rounds["time_regret"], rounds["regret"][-1].mean()
    known = [0.0, *integral, integral[-1] + latest * max(end - read[-1], 0.0)]
    ends = end * np.arange(1, parts + 1) / parts
    sums = np.interp(ends, [0.0, *read, max(end, read[-1])], known)
    mean = np.diff(sums, prepend=0.0) * parts / end
    ends *= 1.0 + ROUNDING  # a round that ends with a part, up to the rounding of sums, is its own
    last = np.searchsorted(now, ends, side="right") - 1
    found = {k: a[last.clip(min=0)] for k, a in rounds.items() if not k.startswith("time")}
    for name, value in before.items():
        found[name] = np.where(last < 0, value, found[name])
    found["regret"] = np.repeat(mean[:, None], found["regret"].shape[1], axis=1)
    part = np.searchsorted(ends, now[: last[-1] + 1])
    of = {name: np.bincount(part, each[: len(part)], parts) for name, each in seconds.items()}
    return found, of


def _put_late(rewards: Array, t: int, observation: Plain) -> None:
    """Write the rewards that arrive in round ``t`` to the rounds of their actions."""
    slots = np.flatnonzero(observation["arrived"])
    age, i = np.divmod(slots, rewards.shape[1])
    rewards[t - age, i] = observation["rewards"][slots]


def model_order(agent: Any) -> int:
    """The number of data points in an agent's posterior; 0 for an agent without a posterior."""
    return int(getattr(getattr(agent, "posterior", None), "size", 0))


def run_tasks(tasks: Sequence[PlannedTrial]) -> list[records.TrialRecord | records.TrialFailure]:
    """Run the trials of several tasks; a trial that raises or exits becomes a failure.

    None begins after `PORTION` seconds, except the first.

    BLAS is limited to one thread here, so that the limit holds in every engine, and once for all
    tasks, because finding the loaded libraries takes about 2 ms.
    """
    found, end = [], perf_counter() + PORTION
    with one_blas_thread():
        for task in tasks:
            found.append(_run_or_fail(task))
            if perf_counter() > end:
                break
    return found


def _run_or_fail(task: PlannedTrial) -> records.TrialRecord | records.TrialFailure:
    for folder in task.folders:
        look_in(folder)
    for kind, name, found in task.sent:
        members = FAMILIES[kind].members if kind else vars(sys.modules["__main__"])
        members[name] = found
    try:
        return _run(task)
    except (Exception, SystemExit) as error:
        lines = "".join(traceback.format_exception_only(error)).splitlines()
        said = ", ".join(lines).removeprefix(f"{type(error).__module__}.")
        return records.TrialFailure(task.key, _storable(said), _storable(traceback.format_exc()))


def _storable(text: str) -> str:
    """A text in which characters that cannot be stored, such as half of a pair, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def died(task: PlannedTrial, why: object) -> records.TrialFailure:
    """The failure of a trial that every worker process has died of; ``why`` is the last death."""
    words = "WorkerDied: its worker process died whenever it ran this trial (out of memory?)"
    return records.TrialFailure(task.key, words, f"{words}: {why}\n")


def run_trial(scenario: Scenario, label: str, trial: int, seed: int = 0) -> records.TrialRecord:
    """Run a single trial at the first point of a scenario's grid; errors are not caught."""
    one_of(label, [entry.label for entry in scenario.agents], "agent in the scenario")
    whole(trial, "trial", 0)
    cell = scenario.cells()[0]
    with one_blas_thread():
        return _run(PlannedTrial(cell, records.TrialKey(cell.index, label, trial), seed))


def _run(task: PlannedTrial) -> records.TrialRecord:
    cell, here, label = task.cell, task.cell.scenario, task.key.agent
    entry = next(e for e in here.agents if e.label == label)
    env_seed, agent_seed = task.stream("world"), task.stream("agent", label)
    first, openings = Plain(), here.openings
    with lent(here.env, cell.made_for(entry), here.horizon) as env:
        agent = make_agent(entry, env, agent_seed)
        observation, _ = env.reset(seed=env_seed)
        if "context" in observation:
            agent.set_context(observation["context"])
        if here.initial:
            first = initial_points(env, agent, here.initial, task.stream("initial"))
        end, before = clocked(here.env_kwargs), model_order(agent)
        try:
            rounds, seconds = run_rounds(
                env,
                agent,
                None if end else here.horizon,
                observation,
                opening=openings[task.key.trial % len(openings)] if openings else None,
                store_actions=here.store_actions,
                spent=here.initial,
            )
        except Exception as error:
            error.add_note(f"in round {agent.round + 1}")
            raise
    if end:
        known = {"model_order": before, "evaluations": here.initial}
        rounds, seconds = in_parts(rounds, seconds, here.horizon, end, known)
    if "actions" not in rounds:
        first.pop("initial_actions", None)
    return records.TrialRecord(task.key, env_seed, agent_seed, rounds | first, seconds)
