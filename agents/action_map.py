"""Maps between the points of an agent's posterior and the actions of the problem."""

import zlib
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from gpbandits_env.arrays import IntArray, whole
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child

# The largest number of candidates.
MOST = 2**24


class ActionMap:
    """The identity: the posterior is on the problem's own domain.

    Args:
        inner: the problem on the posterior's domain: domain, kernel, noise and prior mean.
        fingerprint: a number that differs between agents with different seeds; 0 if the map has no
            randomness.

    Attributes:
        identity: whether `actions` and `points` return their argument.
    """

    identity: ClassVar[bool] = True

    def __init__(self, inner: Problem, fingerprint: int = 0) -> None:
        self.inner, self.fingerprint = inner, fingerprint

    def actions(self, points: NDArray[Any]) -> NDArray[Any]:
        """The actions of arms or points of the posterior's domain, as a new array."""
        return points

    def points(self, actions: NDArray[Any]) -> NDArray[Any]:
        """The arms or points of the posterior's domain for checked actions.

        Raises:
            InvalidInput: an action corresponds to none of them.
        """
        return actions


def action_map_for(problem: Problem, candidates: int | None, rng: np.random.Generator) -> ActionMap:
    """The map to the problem's domain, or in a box to ``candidates`` Sobol points.

    The points are drawn by a child of ``rng``.

    Raises:
        InvalidInput: there are fewer than 2 candidates, or the domain is neither arms nor a box.
    """
    domain = problem.domain
    if not isinstance(domain, (Arms, Box)):
        raise InvalidInput(f"the domain must be Arms or a Box, got {type(domain).__name__}")
    if candidates is not None:
        whole(candidates, "candidates", 2, MOST)
    if isinstance(domain, Arms) or candidates is None:
        return ActionMap(problem)
    return CandidateMap(problem, sobol_arms(domain, candidates, rng))


def box_of(problem: Problem, agent: object) -> Box:
    """The problem's domain; raises `InvalidInput` unless it is a box."""
    if not isinstance(problem.domain, Box):
        raise InvalidInput(
            f"{type(agent).__name__} needs a box, got a finite set of arms: use a Box as the "
            "domain, or another agent"
        )
    return problem.domain


class CandidateMap(ActionMap):
    """The posterior is on candidate points of a box as arms; actions are their coordinates."""

    identity: ClassVar[bool] = False

    def __init__(self, problem: Problem, arms: Arms) -> None:
        self.arms = arms
        super().__init__(problem.replaced(domain=arms), zlib.crc32(arms.coordinates.tobytes()))
        self._index = {point.tobytes(): i for i, point in enumerate(arms.coordinates)}

    def actions(self, points: NDArray[Any]) -> NDArray[Any]:
        return self.arms.coordinates[points]

    def points(self, actions: NDArray[Any]) -> IntArray:
        rows = actions + 0.0  # contiguous, and -0.0 has the bytes of 0.0
        found = [self._index.get(row.tobytes(), -1) for row in rows]
        if -1 in found:
            raise InvalidInput(
                f"the point {rows[found.index(-1)].tolist()} is none of the agent's "
                f"{self.arms.size} candidates, and the agent accepts observations only there "
                "(agent.posterior.arms.coordinates lists them)"
            )
        return np.array(found, dtype=np.int64)


def sobol_arms(box: Box, count: int, rng: np.random.Generator) -> Arms:
    """``count`` Sobol points of a box, scrambled by a child of the generator."""
    power = int(np.ceil(np.log2(count)))
    unit = qmc.Sobol(box.dim, rng=child(rng)).random_base2(power)[:count]
    return Arms(np.minimum(box.low + (box.high - box.low) * unit, box.high))
