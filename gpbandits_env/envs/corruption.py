"""Adversaries that change rewards within a budget.

Source: Bogunovic et al. (2022), Section 2 (sum_t max_x |c_t(x)| <= C), and the names and sizes of
the attacks in its experiments. There, some leave a target region alone; here, none does.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from gpbandits_env.arrays import TIE, Array, Settings, positive, whole
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.functions import Function
from gpbandits_env.specs import Family


@dataclass(frozen=True, kw_only=True)
class Corruption(ABC):
    """An adversary that knows the function and sees the actions before it changes rewards.

    It attacks one reward after the other, and what would exceed the budget is cut off. Actions that
    are not observed cost nothing.

    Args:
        budget: C >= 0, the largest sum of absolute changes in an episode, in units of the reward.

    Attributes:
        needs_arms: whether it evaluates the function at all actions, so that it refuses a box.
    """

    needs_arms: ClassVar[bool] = False
    budget: float

    def __post_init__(self) -> None:
        positive(self.budget, "budget", zero=True)

    @abstractmethod
    def wanted(self, function: Function, domain: Domain, values: Array) -> Array:
        """What it would add to rewards of these noiseless values (m,), without a budget, (m,)."""

    def range(self, low: float, high: float) -> tuple[float, float]:
        """The ends between which changed values lie if the values lie in [low, high]."""
        return low, high


CorruptionSpec: TypeAlias = Settings | Corruption | None
CORRUPTIONS: Family[Corruption] = Family("corruption", Corruption)


@dataclass(frozen=True, kw_only=True)
class Lowering(Corruption):
    """An attack on values within ``height`` > 0 of the optimum, in units of the reward."""

    height: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.height, "height")

    def range(self, low: float, high: float) -> tuple[float, float]:
        return low - self.height, high


@CORRUPTIONS.register("clipping")
@dataclass(frozen=True, kw_only=True)
class Clipping(Lowering):
    """Values above f* - height become f* - height, so that the best actions look alike."""

    height: float = 0.5

    def wanted(self, function: Function, domain: Domain, values: Array) -> Array:
        return np.minimum(0.0, function.optimum - self.height - values)


@CORRUPTIONS.register("subtraction")
@dataclass(frozen=True, kw_only=True)
class Subtraction(Lowering):
    """Values above f* - height lose ``height``, so that good actions look worse than others."""

    height: float = 1.0 / 3.0

    def wanted(self, function: Function, domain: Domain, values: Array) -> Array:
        return np.where(values > function.optimum - self.height, -self.height, 0.0)


@CORRUPTIONS.register("flipping")
@dataclass(frozen=True, kw_only=True)
class Flipping(Corruption):
    """Values change their sign."""

    def wanted(self, function: Function, domain: Domain, values: Array) -> Array:
        return -2.0 * values

    def range(self, low: float, high: float) -> tuple[float, float]:
        return min(low, -high), max(high, -low)


@CORRUPTIONS.register("top-k")
@dataclass(frozen=True, kw_only=True)
class TopK(Corruption):
    """The values of the k best arms, and of arms equal to the last of them, become the smallest."""

    needs_arms = True
    k: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.k, "k")

    def wanted(self, function: Function, domain: Domain, values: Array) -> Array:
        every = function(np.arange(domain.size))
        last = np.sort(every)[-min(self.k, len(every))] - TIE * np.abs(every).max()
        return np.where(values >= last, every.min() - values, 0.0)


def corruption_for(spec: CorruptionSpec, domain: Domain) -> Corruption | None:
    """The adversary for the argument ``corruption``; None for rewards that nobody changes.

    Args:
        spec: a dict such as {"type": "clipping", "budget": 50.0}, a `Corruption`, or None.
        domain: that of the actions.
    Raises:
        InvalidInput: another type, a number is out of range, or it needs arms and has a box.
        UnknownName: there is no such type or field.
    """
    corruption = None if spec is None else CORRUPTIONS.from_dict(spec)
    if corruption is not None and corruption.needs_arms and not domain.finite:
        raise InvalidInput("this corruption ranks all arms: use a grid or arms instead of a box")
    return corruption
