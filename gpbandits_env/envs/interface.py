"""How agents act in a bandit and what they observe: the spaces of its environments."""

from dataclasses import replace

import numpy as np
from gymnasium import spaces

from gpbandits_env.arrays import Points, flag
from gpbandits_env.envs.bandit import Bandit, Space
from gpbandits_env.envs.clock import ClockSpec, clock_for
from gpbandits_env.envs.corruption import CorruptionSpec, corruption_for
from gpbandits_env.envs.delays import DelaySpec, LateRewards, delays_for
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


class Interface:
    """What single and vector environments of a bandit have in common.

    Args:
        bandit: what is simulated.
        selective: whether actions can be skipped.
        discrete: whether an action is the number of one arm instead of an array of one; None for
            wherever a round has one arm.
        delay: see `delays_for`.
        corruption: see `corruption_for`.
        clock: see `clock_for`.
    Raises:
        InvalidInput: an argument is of another type or out of range; or a discrete action, but
            several actions per round or a box.
    """

    def __init__(
        self,
        bandit: Bandit,
        selective: bool,
        discrete: bool | None,
        delay: DelaySpec,
        corruption: CorruptionSpec,
        clock: ClockSpec = None,
    ) -> None:
        self.bandit, self.batch_size = bandit, bandit.problem.batch_size
        self.selective = flag(selective, "selective")
        one_arm = bandit.problem.domain.finite and self.batch_size == 1
        self.discrete = one_arm if discrete is None else flag(discrete, "discrete_action")
        if self.discrete and not one_arm:
            raise InvalidInput(
                "discrete_action=True needs one arm per round (arms or a grid, and batch_size=1), "
                f"got actions in {bandit.problem.domain.action_space(self.batch_size)}"
            )
        self.corruption = corruption_for(corruption, bandit.problem.domain)
        self._delays, self.clock = delays_for(delay), clock_for(clock)
        other = "delay" if self._delays is not None else "contexts"
        if self.clock is not None and (self._delays or bandit.problem.contexts is not None):
            raise InvalidInput(f"clock and {other} cannot be combined: {other} count rounds")
        # With delays, an observation has an action and a reward for each round of the past.
        self._slots = self.batch_size if not self._delays else self._delays.slots(self.batch_size)

    def problem(self, horizon: int | None) -> Problem:
        """What an agent may know in episodes of at most so many rounds."""
        most = None if self._delays is None else self._delays.most
        horizon = self.bandit.horizon(horizon)
        return replace(self.bandit.problem, horizon=horizon, max_delay=most)

    def action_space(self) -> Space:
        """A batch of actions, or one arm; if selective, a pair of these and which to observe."""
        m, domain = self.batch_size, self.bandit.problem.domain
        space: Space = spaces.Discrete(domain.size) if self.discrete else domain.action_space(m)
        return spaces.Tuple((space, spaces.MultiBinary(m))) if self.selective else space

    def observation_space(self) -> spaces.Dict:
        """The last actions, their noisy rewards and the round; see `BanditEnv` for the others."""
        problem, k = self.bandit.problem, self._slots
        low, high = self.bandit.reward_range()
        if self.corruption is not None:
            low, high = self.corruption.range(low, high)
        parts: dict[str, Space] = {
            "actions": problem.domain.action_space(k),
            "rewards": spaces.Box(low, high, (k,), dtype=np.float64),
            "round": spaces.Box(0, 2**62, (1,), dtype=np.int64),
        }
        if self._delays is not None:
            parts["arrived"] = spaces.MultiBinary(k)
        if problem.contexts is not None:
            parts["context"] = problem.contexts.action_space(1)
        if self.selective:
            parts["observed"] = spaces.MultiBinary(self.batch_size)
        if self.clock is not None:
            parts["time"] = spaces.Box(0.0, 2.0**62, (2,), dtype=np.float64)
        return spaces.Dict(parts)

    def first_actions(self, count: int) -> Points:
        """The actions in an observation before any action: arm 0, or the low corner of a box."""
        domain = self.bandit.problem.domain
        return np.zeros(count, int) if domain.finite else np.tile(domain.span[0], (count, 1))

    def late_rewards(self, instances: int | None) -> LateRewards | None:
        """The rewards on their way, none so far; None without delays."""
        if self._delays is None:
            return None
        first = self.first_actions(self._slots)
        return LateRewards(self._delays, first, self.batch_size, instances)
