"""An agent as a policy that maps observations to actions, as RL tooling expects."""

import copy
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.data.pending import Played, matched
from gpbandits_env.arrays import Array, IntArray, Points, as_array, finite_array, numbers, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.seeding import child

KEYS = ("actions", "rewards", "round")


class Policy:
    """Passes an observation {"actions", "rewards", "round"} to `learn`, and returns `ask`.

    Round 0 starts a new episode and resets the agent. A round that the agent has already observed
    is not passed again. In an environment where evaluations can be skipped (the observation has
    "observed"), the policy returns the pair (actions, observe), which skips the actions that are
    not informative. In a vector environment each instance has its own agent: the first is the given
    agent, and the others are copies whose generators are spawned from its generator.
    """

    def __init__(self, agent: Any) -> None:
        self._agents = [agent]  # of the class `Agent`, whose module imports this one

    def __call__(
        self, observation: Mapping[str, ArrayLike], episode_start: ArrayLike | None
    ) -> Any:
        """The next actions, (m, ...) or (B, m, ...); with a mask if evaluations can be skipped.

        Raises:
            InvalidInput: the observation has another form.
        """
        observed, single = self.read(observation, episode_start)
        rounds = observation["round"]
        if np.any(np.mod(rounds, 1)):
            raise InvalidInput(
                f"round must be a whole number, got {shown(np.ravel(rounds).tolist())}: remove "
                "wrappers that alter it, such as ScaledRound, or pass the observation to observe"
            )
        # All copies are made first, so that no instance's stream depends on another's draws.
        agents = self.agents(len(observed))
        chosen = [self._act(*each) for each in zip(agents, observed, strict=True)]
        if "observed" not in observation:
            return chosen[0] if single else np.stack(chosen)
        wanted = [agent.informative(a) for agent, a in zip(agents, chosen, strict=True)]
        return (chosen[0], wanted[0]) if single else (np.stack(chosen), np.stack(wanted))

    def agents(self, count: int) -> list[Any]:
        """The agents of the first instances; those that are missing are made."""
        for _ in range(len(self._agents), whole(count, "the number of instances")):
            first = self._agents[0]
            # Parts that share the agent's generator, such as a search, share the copy's.
            own = {id(first.problem): first.problem, id(first.rng): child(first.rng)}
            alone: list[Any] = []  # of the copy's own policy
            self._agents.append(copy.deepcopy(first, own | {id(self._agents): alone}))
            alone.append(self._agents[-1])
            self._agents[-1].reset()
        return self._agents[:count]

    def read(
        self, observation: Mapping[str, ArrayLike], episode_start: ArrayLike | None
    ) -> tuple[list[tuple[Any, ...]], bool]:
        """The checked arguments of `_act` for each instance, and whether there is only one."""
        if not isinstance(observation, Mapping) or any(key not in observation for key in KEYS):
            pair = isinstance(observation, tuple)
            cure = "the first item that reset or step returns" if pair else "remove wrappers"
            raise InvalidInput(f"an observation must be a dict with the keys {KEYS}: {cure}")
        rewards = finite_array(observation["rewards"], "rewards")
        keys = [key for key in ("actions", "round", "time", "context") if key in observation]
        given = {key: as_array(observation[key], key) for key in keys}
        single = rewards.ndim == 1
        if single:
            rewards, given = rewards[None], {key: array[None] for key, array in given.items()}
        actions, contexts = given["actions"], given.get("context")
        if rewards.ndim != 2 or actions.shape[:2] != rewards.shape:
            raise InvalidInput(
                f"rewards must have shape (m,) or (B, m), one per action, got {rewards.shape} "
                f"for actions {actions.shape}"
            )
        counts, first = _rounds(given["round"], len(rewards), episode_start), self._agents[0]
        arrived = mask_in(observation, "arrived", rewards.shape)
        seen = mask_in(observation, "observed", rewards[:, : first.batch_size].shape)
        for each in actions:
            first.problem.domain.check(each)
        if contexts is not None and (not contexts.ndim or len(contexts) != len(rewards)):
            raise InvalidInput(
                f"context must have one entry for each of {len(rewards)} instances, got shape "
                f"{contexts.shape}"
            )
        for each in () if contexts is None else contexts:
            first.checked_context(each)
        time = given.get("time")
        if time is not None:
            if time.size != 2 * len(rewards):
                raise InvalidInput(
                    "time must be the time at which the rewards hold and the present, (2,) or "
                    f"(B, 2), got shape {np.shape(observation['time'])}"
                )
            time = finite_array(time, "time").reshape(-1, 2)
        parts = (contexts, seen, arrived, time)
        each_part = (repeat(None) if part is None else part for part in parts)
        return list(zip(counts, actions, rewards, *each_part, strict=False)), single

    def _act(self, agent: Any, observed: Sequence[Any]) -> Points:
        round_, actions, rewards, context, *masks = observed
        if round_ == 0:
            agent.reset()
        elif round_ > agent.round:
            learn(agent, actions, rewards, *masks)
        return agent.ask() if context is None else agent.ask(context=context)


def learn(
    agent: Any,
    actions: Points,
    rewards: Array,
    observed: NDArray[np.bool_] | None,
    arrived: NDArray[np.bool_] | None,
    time: Array | None = None,
) -> None:
    """Pass what one round showed to an agent.

    Args:
        agent: the agent.
        actions: (m, ...); or if rewards are delayed (K, ...), the actions of the last rounds, those
            of the latest round first.
        rewards: (m,) or (K,).
        observed: (m,) bool, which actions of the latest round are evaluated; None for all.
        arrived: (K,) bool, whose rewards arrived; None if rewards are not delayed.
        time: (2,), the time at which the rewards hold, and the present; None without a clock.
    """
    m, now = agent.problem.batch_size, agent.round + 1
    slots = np.flatnonzero(() if arrived is None else arrived)
    if len(slots):  # errors are raised before the round counts
        played = agent.problem.domain.check(actions)
        latest = played[:m] if observed is None else played[:m][observed]
        most = agent.problem.max_delay
        pending = [p for p in agent.pending if most is None or p.round + most >= now]
        pending += [Played(now, action, None) for action in latest]
        matched(pending, played[slots], now - slots // m)
    if time is not None:
        agent._placed(agent.problem.domain.check(actions), None)  # raises before time passes
        agent.pass_until(*time.tolist())
    if arrived is None:
        agent.tell(actions, rewards, observed=observed)
        return
    agent.expect(actions[:m], observed)
    if len(slots):
        agent.tell_late(actions[slots], rewards[slots], now - slots // m)


def mask_in(
    observation: Mapping[str, ArrayLike], key: str, shape: tuple[int, ...]
) -> NDArray[np.bool_] | None:
    """A mask of a shape in an observation, which may lack a first axis of length 1; or None."""
    if key not in observation:
        return None
    seen = numbers(observation[key], key)
    seen = seen[None] if seen.ndim + 1 == len(shape) and shape[0] == 1 else seen
    if seen.shape != shape or not np.isin(seen, (0, 1)).all():
        raise InvalidInput(
            f"{key} must have shape {shape}, one 0 or 1 per reward, got shape {seen.shape}"
        )
    return seen == 1


def _rounds(rounds: IntArray, count: int, episode_start: ArrayLike | None) -> list[int]:
    """The round of each instance; 0 where an episode starts."""
    given = finite_array(rounds, "round")
    try:
        counts = given.reshape(count, 1)[:, 0]
        if episode_start is not None:
            counts = np.where(np.reshape(episode_start, count), 0, counts)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"round and episode_start must have one value for each of the {count} instances, got "
            f"shape {rounds.shape}"
        ) from None
    return [whole(int(t), "round", 0) for t in counts.tolist()]
