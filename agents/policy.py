"""An agent as a policy: observations in, actions out, as RL tooling calls it."""

import copy
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import finite_array, numbers, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child

KEYS = ("actions", "rewards", "round")


class Learner(Protocol):
    """What a policy asks of its agent; see `Agent`."""

    problem: Problem
    rng: np.random.Generator
    round: int

    def ask(self) -> NDArray[Any]:
        """The next actions."""
        ...

    def tell(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        """Learn the rewards of one round."""
        ...

    def informative(self, actions: ArrayLike) -> NDArray[np.bool_]:
        """Which actions would teach something."""
        ...

    def reset(self) -> None:
        """Forget everything."""
        ...


class Policy:
    """Reads {"actions", "rewards", "round"}, tells its agent, and asks it.

    Round 0 is a new episode and resets the agent; a round it has been told already is not told
    again. Where actions can be skipped (the observation has "observed") what it returns is the pair
    (actions, observe) of such an environment: what the agent calls informative is observed. With a
    leading axis (vector environments) each instance has an agent of its own: the first
    is the agent itself, the others copies whose generators are children of its own.

    Args:
        agent: whose policy this is.
    """

    def __init__(self, agent: Learner) -> None:
        self._agents = [agent]

    def __call__(
        self, observation: Mapping[str, ArrayLike], episode_start: ArrayLike | None
    ) -> Any:
        """The next actions, (m, ...) or (B, m, ...); a pair of these and a mask if selective.

        Raises:
            InvalidInput: an observation of another form.
        """
        if not isinstance(observation, Mapping) or any(key not in observation for key in KEYS):
            raise InvalidInput(f"an observation is a dict with {KEYS}; is the env wrapped?")
        rewards = finite_array(observation["rewards"], "rewards")
        try:
            actions, rounds = np.asarray(observation["actions"]), np.asarray(observation["round"])
        except ValueError as error:
            raise InvalidInput(f"actions and round must be arrays: {error}") from None
        single = rewards.ndim == 1
        if single:
            actions, rewards, rounds = actions[None], rewards[None], rounds[None]
        if rewards.ndim != 2 or actions.shape[:2] != rewards.shape:
            raise InvalidInput(
                f"rewards must have shape (m,) or (B, m), one per action, got {rewards.shape} "
                f"for actions {actions.shape}"
            )
        counts = _rounds(rounds, len(rewards), episode_start)
        seen = _observed(observation, single, rewards.shape)
        for each in actions:  # before any world is told anything
            self._agents[0].problem.domain.check(each)
        # All at once and first, so that no world's stream depends on what another draws.
        while len(self._agents) < len(rewards):
            self._agents.append(self._another())
        asked = [
            self._act(i, a, r, t, None if seen is None else seen[i])
            for i, (a, r, t) in enumerate(zip(actions, rewards, counts, strict=True))
        ]
        played = asked[0] if single else np.stack(asked)
        if seen is None:
            return played
        wanted = [agent.informative(a) for agent, a in zip(self._agents, asked, strict=False)]
        return played, wanted[0] if single else np.stack(wanted)

    def _act(
        self,
        world: int,
        actions: NDArray[Any],
        rewards: NDArray[Any],
        round_: int,
        observed: NDArray[np.bool_] | None,
    ) -> NDArray[Any]:
        agent = self._agents[world]
        if round_ == 0:
            agent.reset()
        elif round_ > agent.round:
            agent.tell(actions, rewards, observed=observed)
        return agent.ask()

    def _another(self) -> Learner:
        first = self._agents[0]
        agents, self._agents = self._agents, []
        try:
            # Whatever shares the generator, as a search does, shares the twin's.
            own = {id(first.problem): first.problem, id(first.rng): child(first.rng)}
            twin = copy.deepcopy(first, own)
        finally:
            self._agents = agents
        twin.reset()
        return twin


def _observed(
    observation: Mapping[str, ArrayLike], single: bool, shape: tuple[int, ...]
) -> NDArray[np.bool_] | None:
    """(B, m) which actions were observed; None where none can be skipped."""
    if "observed" not in observation:
        return None
    seen = numbers(observation["observed"], "observed")
    seen = seen[None] if single else seen
    if seen.shape != shape or not np.isin(seen, (0, 1)).all():
        raise InvalidInput(f"observed must be 0 or 1 for each reward, got shape {seen.shape}")
    return seen == 1


def _rounds(rounds: NDArray[Any], worlds: int, episode_start: ArrayLike | None) -> list[int]:
    """The round of each world; 0 where an episode starts."""
    try:
        counts = numbers(rounds, "round").reshape(worlds, 1)[:, 0]
        if episode_start is not None:
            counts = np.where(np.reshape(episode_start, worlds), 0, counts)
        return [whole(int(t), "round", 0) for t in counts.tolist()]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"round and episode_start must be one per instance ({worlds}), got {rounds.shape}"
        ) from None
