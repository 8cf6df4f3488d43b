"""What single and vector environments of a bandit share: spaces, problem and specification."""

from dataclasses import asdict, replace

import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from gpbandits_env.arrays import Plain, Settings, flag
from gpbandits_env.domains import Domain
from gpbandits_env.envs.bandit import Bandit, Space
from gpbandits_env.envs.clock import Clock, ClockSpec, clock_for
from gpbandits_env.envs.corruption import CorruptionSpec, corruption_for
from gpbandits_env.envs.delays import Delays, DelaySpec, LateRewards, delays_for
from gpbandits_env.envs.episode import Noise
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.specs import described


class Interface:
    """How agents act in instances of a bandit, and what they observe.

    Gymnasium's specification has dicts in place of kernels, drifts, domains, delays and clocks:
    Gymnasium writes objects as dicts without their type, which make no environment again.

    Args:
        bandit: what is simulated.
        instances: the number of instances; None for a single one, whose arrays have no such axis.
        selective: whether actions can be skipped.
        delay: see `delays_for`.
        corruption: see `corruption_for`.
        clock: see `clock_for`.
    Raises:
        InvalidInput: an argument is of another type or out of range.
        UnknownName: an argument has an unknown name.
    """

    _spec: EnvSpec | None = None

    def __init__(
        self,
        bandit: Bandit,
        instances: int | None,
        selective: bool,
        delay: DelaySpec,
        corruption: CorruptionSpec,
        clock: ClockSpec,
    ) -> None:
        self._bandit, problem = bandit, bandit.problem
        domain, m = problem.domain, problem.batch_size
        self.selective = flag(selective, "selective")
        self._discrete = domain.finite and m == 1  # an action is then the number of an arm
        self._corruption = corruption_for(corruption, domain)
        self._delays, self._clock = delays_for(delay), clock_for(clock)
        other = "delay" if self._delays is not None else "contexts"
        if self._clock is not None and (self._delays or problem.contexts is not None):
            raise InvalidInput(f"clock and {other} cannot be combined: {other} count rounds")
        # With delays, an observation has an action and a reward for each round of the past.
        self._slots = m if self._delays is None else self._delays.slots(m)
        # The actions in an observation before any action: arm 0, or the low corner of a box.
        low = np.zeros((), int) if domain.finite else domain.span[0]
        first = np.stack([low] * self._slots)
        self._first, self._noise = first[:m], Noise(instances, m)
        self._late: LateRewards | None = None
        if self._delays is not None:
            self._late = LateRewards(self._delays, first, m, instances)

    @property
    def spec(self) -> EnvSpec | None:
        """How `gymnasium.make` made the environment; None if it did not."""
        return self._spec

    @spec.setter
    def spec(self, given: EnvSpec | None) -> None:
        plain = None if given is None else replace(given, kwargs=declared(given.kwargs))
        self._spec = plain

    def _problem(self, horizon: int | None) -> Problem:
        """What an agent may know in episodes of at most so many rounds, without reset options."""
        most = None if self._delays is None else self._delays.most
        ends = [end for end in (horizon, self._bandit.process.rounds) if end is not None]
        return replace(self._bandit.problem, horizon=min(ends, default=None), max_delay=most)

    def _action_space(self) -> Space:
        """A batch of actions, or one arm; if selective, a pair of these and which to observe."""
        m, domain = self._bandit.problem.batch_size, self._bandit.problem.domain
        space: Space = spaces.Discrete(domain.size) if self._discrete else domain.action_space(m)
        return spaces.Tuple((space, spaces.MultiBinary(m))) if self.selective else space

    def _observation_space(self) -> spaces.Dict:
        """The last actions, their noisy rewards and the round; see `BanditEnv` for the others."""
        problem, k = self._bandit.problem, self._slots
        low, high = self._bandit.reward_range()
        if self._corruption is not None:
            low, high = self._corruption.range(low, high)
        parts: dict[str, Space] = {
            "actions": problem.domain.action_space(k),
            "rewards": spaces.Box(low, high, (k,), dtype=np.float64),
            "round": spaces.Box(0, 2**62, (1,), dtype=np.int64),
        }
        if self._late is not None:
            parts["arrived"] = spaces.MultiBinary(k)
        if problem.contexts is not None:
            parts["context"] = problem.contexts.action_space(1)
        if self.selective:
            parts["observed"] = spaces.MultiBinary(problem.batch_size)
        if self._clock is not None:
            parts["time"] = spaces.Box(0.0, 2.0**62, (2,), dtype=np.float64)
        return spaces.Dict(parts)


def declared(arguments: Settings) -> Plain:
    """Keyword arguments with the dicts that stand for objects; what has no dict stays as it is."""
    return {name: _declared(value) for name, value in arguments.items()}


def _declared(value: object) -> object:
    if isinstance(value, np.ndarray):  # it may be large, and specifications are copied
        return value
    if isinstance(value, Domain):
        return value.to_dict()
    try:
        return described(asdict(value) if isinstance(value, (Clock, Delays)) else value)
    except InvalidInput:
        return value
