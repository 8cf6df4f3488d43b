"""A mixture of environments, for meta-learning."""

import copy
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random as seeded
from numpy.typing import ArrayLike

from gpbandits_env.arrays import finite_array
from gpbandits_env.errors import InvalidInput, NotReset, shown

Env = gym.Env[Any, Any]
# The seeds of the members' resets are smaller than this.
SEEDS = 2**31


class Mixture(gym.Env[Any, Any]):
    """An environment that draws one of several environments at each reset.

    The info of a reset contains the index of the drawn one as ``environment``, for evaluation only.
    Observations are those of the members, and the observation space contains those of all members.

        Mixture([gym.make("gpbandits/StaticGP-v0", grid=[9]), gym.make("gpbandits/MarkovGP-v0",
                grid=[9])], weights=[1, 2])

    Args:
        members: environments, wrapped or not, with equal action spaces and observations of the same
            form.
        weights: the relative frequency of each member; by default all are equal.
    Raises:
        InvalidInput: there are no members, or they do not fit together; or the weights are
            negative, all 0, or not one per member.
    """

    def __init__(self, members: Sequence[Env], weights: ArrayLike | None = None) -> None:
        self.members = tuple(members)
        if not self.members or not all(isinstance(env, gym.Env) for env in self.members):
            raise InvalidInput(f"a mixture needs environments, got {shown(members)}")
        shares = np.ones(len(self.members)) if weights is None else finite_array(weights, "weights")
        if shares.shape != (len(self.members),) or (shares < 0).any() or not shares.any():
            raise InvalidInput(
                f"weights must be {len(self.members)} numbers of at least 0, not all 0, "
                f"got {shown(weights)}"
            )
        self.shares = shares / shares.sum()
        self.action_space = self.members[0].action_space
        for env in self.members[1:]:
            if env.action_space != self.action_space:
                raise InvalidInput(
                    "the members of a mixture need equal action spaces, got "
                    f"{self.action_space} and {env.action_space}"
                )
        self.observation_space = _hull([env.observation_space for env in self.members])
        self.metadata = self.members[0].metadata
        self.render_mode = self.members[0].render_mode
        self._present: Env | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Draw a member and reset it.

        Args:
            seed: determines which members are drawn, and everything random in them.
            options: the reset options for the member that is drawn.
        Raises:
            GPBanditsError: the member refuses the options; nothing has changed then.
        """
        rng = copy.deepcopy(self.np_random) if seed is None else seeded(seed)[0]
        which = int(rng.choice(len(self.members), p=self.shares))
        begun = self.members[which].reset(seed=int(rng.integers(SEEDS)), options=options)
        super().reset(seed=seed)
        self._np_random, self._present = rng, self.members[which]
        return begun[0], {**begun[1], "environment": which}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step in the current member.

        Raises:
            NotReset: before the first `reset`.
        """
        return self._member("step").step(action)

    def render(self) -> Any:
        """Render the current member."""
        return self._member("render").render()

    def close(self) -> None:
        """Close all members."""
        for env in self.members:
            env.close()

    def _member(self, called: str) -> Env:
        if self._present is None:
            raise NotReset(f"{called}() was called before reset()")
        return self._present


def _hull(members: Sequence[spaces.Space[Any]]) -> spaces.Space[Any]:
    """The smallest space of the same form that contains all members."""
    first = members[0]
    if all(space == first for space in members):
        return first
    dicts = [space.spaces for space in members if isinstance(space, spaces.Dict)]
    if len(dicts) == len(members) and all(d.keys() == dicts[0].keys() for d in dicts):
        return spaces.Dict({key: _hull([d[key] for d in dicts]) for key in dicts[0]})
    boxes = [space for space in members if isinstance(space, spaces.Box)]
    alike = len(boxes) == len(members) and len({(b.shape, b.dtype) for b in boxes}) == 1
    if not alike:
        raise InvalidInput(
            "the members of a mixture need observations of the same form, got "
            + " and ".join(map(str, members))
        )
    low, high = np.min([b.low for b in boxes], axis=0), np.max([b.high for b in boxes], axis=0)
    return spaces.Box(low, high, dtype=boxes[0].dtype.type)
