"""Drifts that combine other drifts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, listed, positive
from gpbandits_env.drift.base import DRIFTS, Drift, Fresh, Memory
from gpbandits_env.errors import InvalidInput, shown


@DRIFTS.register("blend")
@dataclass(frozen=True)
class Blend(Drift):
    r"""A weighted sum of independent functions, each with a drift of its own.

    .. math:: f = \sum_i \sqrt{w_i} f_i, \quad \sum_i w_i = 1

    An example is a slow trend plus a fast season. The marginal law is kept if every part keeps it.

    Args:
        drifts: the drift of each part.
        weights: the share of each part in the variance, up to a common factor; equal by default.
    Raises:
        InvalidInput: there are fewer than 2 parts, or not one weight per part.
    """

    drifts: tuple[Drift, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        parts = _drifts(self.drifts)
        weights = tuple(positive(w, "weights") for w in self.weights) or (1.0,) * len(parts)
        if len(parts) < 2 or len(weights) != len(parts):
            raise InvalidInput("blend needs at least 2 drifts, and one weight per drift or none")
        object.__setattr__(self, "drifts", parts)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "keeps_marginal", all(d.keeps_marginal for d in parts))

    def start(self, fresh: Fresh) -> Memory:
        memories = [d.start(fresh) for d in self.drifts]
        # The sizes of the parts are kept in the memory, so that the declaration stays frozen.
        sizes = np.array([len(m) for m in memories], dtype=np.float64)
        return (sizes, *(v for m in memories for v in m))

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        moved = [d.step(m, fresh, t, rng) for d, m in zip(self.drifts, _split(memory), strict=True)]
        return (memory[0], *(v for m in moved for v in m))

    def values(self, memory: Memory, t: int) -> Array:
        total = sum(self.weights)
        parts = zip(self.drifts, self.weights, _split(memory), strict=True)
        return np.sum([np.sqrt(w / total) * d.values(m, t) for d, w, m in parts], axis=0)


@DRIFTS.register("then")
@dataclass(frozen=True)
class Then(Drift):
    """Several drifts applied to the same function, one after the other, in every round.

    The drifts must keep only the last function (Markov, change points). An example is a steady
    drift with sudden breaks.

    Args:
        drifts: the drifts, in the order in which they are applied between two rounds.
    Raises:
        InvalidInput: there are fewer than 2 drifts.
    """

    drifts: tuple[Drift, ...]

    def __post_init__(self) -> None:
        parts = _drifts(self.drifts)
        if len(parts) < 2:
            raise InvalidInput("then needs at least 2 drifts")
        for d in parts:
            if type(d).start is not Drift.start or type(d).values is not Drift.values:
                raise InvalidInput(
                    f"then takes drifts that keep only the last function, not {type(d).__name__}; "
                    "use blend instead"
                )
        object.__setattr__(self, "drifts", parts)
        object.__setattr__(self, "keeps_marginal", all(d.keeps_marginal for d in parts))

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        for d in self.drifts:
            memory = d.step(memory, fresh, t, rng)
        return memory


def _drifts(given: Any) -> tuple[Drift, ...]:
    parts = listed(given, "drifts")
    for part in parts:
        if not isinstance(part, Drift):
            raise InvalidInput(f"drifts must be drifts, got {shown(part)}")
    return parts


def _split(memory: Memory) -> list[Memory]:
    ends = np.cumsum(memory[0]).astype(int)
    rest = memory[1:]
    return [rest[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
