"""Playing a scenario: the loop of one trial, and a trial as the task of a worker."""

import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import gpbandits_env  # noqa: F401  (registers the environments)
from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput
from gpbandits_env.regret import instantaneous
from gpbandits_env.scenarios.folders import look_in
from gpbandits_env.scenarios.results.records import (
    MOST_ACTIONS,
    Rounds,
    TrialFailure,
    TrialKey,
    TrialRecord,
)
from gpbandits_env.scenarios.scenario import AgentEntry, Cell, Scenario
from gpbandits_env.seeding import seed_for


@dataclass(frozen=True)
class Initial:
    """Random points that are evaluated and told before round 1.

    Args:
        points: how many, uniform and independent.
        seed: of their stream, and of their noise.
    """

    points: int
    seed: int

    def tell(self, world: Any, agent: Any) -> dict[str, NDArray[Any]]:
        """Tell them to an agent as prior data; returns the arrays of `records.INITIAL_FIELDS`."""
        rng = np.random.default_rng(self.seed)
        actions = world.problem.domain.sample(rng, self.points)
        rewards, values = world.prior_data(actions, rng)
        agent.prior_data(actions, rewards)
        return {
            "initial_actions": actions,
            "initial_rewards": rewards,
            "initial_values": values,
            "initial_regret": instantaneous(world.function.optimum, values),
        }


@dataclass(frozen=True)
class Task:
    """A trial for a worker to play.

    Args:
        scenario: the scenario's id, which names the random streams.
        env: the environment's id.
        cell: the parameters.
        key: which trial.
        seed: the study's base seed.
        folders: where modules of the user's own are, besides the usual places.
    """

    scenario: str
    env: str
    cell: Cell
    key: TrialKey
    seed: int
    folders: tuple[str, ...] = ()


def seeds(task: Task, label: str, trial: int) -> tuple[int, int]:
    """The seeds of the world and of the agent.

    The world's depends on the trial and on what shapes the world, not on the agent: all agents
    of a trial, and all settings of an agent that the grid sweeps, face the same world.
    """
    world = json.dumps(task.cell.world, sort_keys=True)
    params = json.dumps(dict(task.cell.params), sort_keys=True)
    return (
        seed_for(task.scenario, world, "world", trial, task.seed),
        seed_for(task.scenario, params, "agent", label, trial, task.seed),
    )


def initial_seed(task: Task, trial: int) -> int:
    """The seed of a trial's initial points and their noise: the same for all agents."""
    world = json.dumps(task.cell.world, sort_keys=True)
    return seed_for(task.scenario, world, "initial", trial, task.seed)


def make_env(env: str, kwargs: Mapping[str, Any], horizon: int) -> gym.Env[Any, Any]:
    """The environment of a cell, kept by its process: a reset with a seed sets all of its state.

    Raises:
        InvalidInput: no such environment, or keywords that it refuses.
    """
    return _make_env(env, json.dumps(dict(kwargs), sort_keys=True), horizon)


@lru_cache(maxsize=2)
def _make_env(env: str, kwargs: str, horizon: int) -> gym.Env[Any, Any]:
    try:
        return gym.make(
            env, max_episode_steps=horizon, disable_env_checker=True, **json.loads(kwargs)
        )
    except (gym.error.Error, TypeError) as error:
        raise InvalidInput(f"environment {env!r}: {error}") from None


def make_agent(entry: AgentEntry, env: gym.Env[Any, Any], seed: int) -> Any:
    """The agent of an entry, for that environment."""
    try:
        return agents.make(entry.agent, env, seed=seed, **entry.settings)
    except TypeError as error:
        raise InvalidInput(f"agent {entry.label!r}: {error}") from None


def play(
    env: gym.Env[Any, Any],
    agent: Any,
    horizon: int,
    seed: int,
    opening: int | None = None,
    initial: Initial | None = None,
    store_actions: bool = True,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One agent in one world.

    In a selective environment the agent is asked which of its actions would be informative, and
    only these are evaluated. An agent with a method ``reveal`` (the genie of bogunovic2016) is
    shown each round's function after it was played.

    Args:
        env: the environment.
        agent: a fresh agent.
        horizon: rounds to play.
        seed: of the environment's reset.
        opening: an arm to play in round 1 instead of the agent's own choice.
        initial: random points told before round 1, if any.
        store_actions: whether to return actions, if they are not too many.
    Returns:
        The arrays of `records.ROUND_FIELDS` and `INITIAL_FIELDS`, and those of `SECONDS_FIELDS`.
    """
    rounds, seconds = Rounds(horizon), Rounds(horizon)
    world: Any = env.unwrapped
    selective, observed = bool(getattr(world, "selective", False)), None
    # Only a yardstick such as the genie has this method: learners never see the truth.
    reveal = getattr(agent, "reveal", None)
    env.reset(seed=seed)
    first = {} if initial is None else initial.tell(world, agent)
    spent = len(first.get("initial_regret", ()))
    for t in range(horizon):
        start = perf_counter()
        actions = agent.ask()
        if t == 0 and opening is not None:
            actions = np.full(len(actions), opening)
        if selective:
            observed = agent.informative(actions)
        asked = perf_counter()
        if t == 0 and store_actions:
            store_actions = horizon * np.size(actions) <= MOST_ACTIONS
        clock = getattr(world, "evaluation_seconds", 0.0)
        observation, _, _, _, info = env.step((actions, observed) if selective else actions)
        stepped = perf_counter()
        if selective:
            agent.tell(actions, observation["rewards"], observed)
        else:
            agent.tell(actions, observation["rewards"])
        told = perf_counter()
        if reveal is not None:
            reveal(env.unwrapped.function.values)  # type: ignore[attr-defined]
        spent += len(actions) if observed is None else int(np.count_nonzero(observed))
        if store_actions:
            rounds.put(t, actions=actions)
        rounds.put(
            t,
            rewards=observation["rewards"],
            values=info["values"],
            regret=info["regret"],
            optimum=info["optimum"],
            model_order=model_order(agent),
            evaluations=spent,
        )
        evaluating = getattr(world, "evaluation_seconds", 0.0) - clock
        seconds.put(t, ask=asked - start, tell=told - stepped, evaluate=evaluating)
    if not store_actions:
        first.pop("initial_actions", None)
    return rounds.arrays | first, seconds.arrays


def model_order(agent: Any) -> int:
    """The data points that an agent's posterior holds; 0 for an agent without a posterior."""
    return int(getattr(getattr(agent, "posterior", None), "size", 0))


def run_task(task: Task) -> TrialRecord | TrialFailure:
    """Play a task's trial; one that raises, or would end its process, becomes a failure."""
    return run_tasks([task])[0]


def run_tasks(tasks: Sequence[Task]) -> list[TrialRecord | TrialFailure]:
    """Play the trials of several tasks, as `run_task`.

    BLAS is held to one thread, here rather than by the caller, so that every engine has it; once
    for all, because to find out which libraries are loaded takes about 2 ms.
    """
    with threadpool_limits(limits=1):
        return [_run(task) for task in tasks]


def _run(task: Task) -> TrialRecord | TrialFailure:
    for folder in task.folders:
        look_in(folder)
    try:
        return _play(task)
    except (Exception, SystemExit) as error:
        # No environment is kept that an error may have left half way through a step.
        _make_env.cache_clear()
        return TrialFailure(task.key, f"{type(error).__name__}: {error}", traceback.format_exc())


def died(task: Task, why: object) -> TrialFailure:
    """What becomes of a trial that no worker process has survived.

    Args:
        task: which.
        why: what is known of the last death.
    """
    words = "WorkerDied: its worker process died whenever it played this trial (out of memory?)"
    return TrialFailure(task.key, words, f"{words}: {why}\n")


def run_trial(scenario: Scenario, label: str, trial: int, seed: int = 0) -> TrialRecord:
    """Play a single trial of a scenario without parameter grid; what it raises comes through."""
    cell = scenario.cells()[0]
    key = TrialKey(cell.index, label, trial)
    with threadpool_limits(limits=1):
        return _play(Task(scenario.id, scenario.env, cell, key, seed))


def _play(task: Task) -> TrialRecord:
    cell, label, trial = task.cell, task.key.agent, task.key.trial
    entry = next(e for e in cell.agents if e.label == label)
    world_seed, agent_seed = seeds(task, label, trial)
    env = make_env(task.env, cell.made_with, cell.horizon)
    agent = make_agent(entry, env, agent_seed)
    initial = Initial(cell.initial, initial_seed(task, trial)) if cell.initial else None
    rounds, seconds = play(
        env, agent, cell.horizon, world_seed, cell.opening(trial), initial, cell.store_actions
    )
    return TrialRecord(task.key, world_seed, agent_seed, rounds, seconds)
