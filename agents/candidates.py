"""Where a learner's belief lives: the domain's own arms, a whole box, or some points of a box."""

import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from gpbandits_env.arrays import IntArray, whole
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.seeding import child

# Candidate points: more are a slip.
MOST = 2**24


class Places:
    """Where the belief lives, and how actions name its points. Here: the problem's own domain.

    Args:
        domain: of the posterior: arms, or a box.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    @property
    def fingerprint(self) -> int:
        """What tells places drawn differently apart; 0 for the problem's own domain."""
        return 0

    def actions(self, places: NDArray[Any]) -> NDArray[Any]:
        """The actions that play these arms or points of the belief's domain, fresh."""
        return places

    def indices(self, actions: ArrayLike) -> ArrayLike:
        """The arms or points of the belief's domain that these actions play.

        In the problem's own domain they are the same; the posterior itself checks them.
        """
        return actions


def places_of(domain: Domain, candidates: int | None, rng: np.random.Generator) -> Places:
    """The domain itself, or so many Sobol points of a box.

    Args:
        domain: the problem's.
        candidates: how many points of a box; None for all of it. On arms it does not matter.
        rng: the points are drawn from its child.
    Raises:
        InvalidInput: fewer than 2 points, or a domain of another kind.
    """
    if not isinstance(domain, (Arms, Box)):
        raise InvalidInput(f"a domain is Arms or a Box, got {type(domain).__name__}")
    if candidates is not None:
        whole(candidates, "candidates", 2, MOST)
    if isinstance(domain, Arms) or candidates is None:
        return Places(domain)
    return Candidates.of(domain, candidates, rng)


class Candidates(Places):
    """Points of a box, named by their coordinates."""

    def __init__(self, arms: Arms, box: Box) -> None:
        super().__init__(arms)
        self.arms = arms
        self._box = box
        self._index = {point.tobytes(): i for i, point in enumerate(arms.coordinates)}
        self._fingerprint = zlib.crc32(arms.coordinates.tobytes())

    @staticmethod
    def of(box: Box, count: int, rng: np.random.Generator) -> "Candidates":
        """``count`` Sobol points.

        Raises:
            InvalidInput: fewer than 2 points.
        """
        power = int(np.ceil(np.log2(whole(count, "candidates", 2, MOST))))
        unit = qmc.Sobol(box.dim, rng=child(rng)).random_base2(power)[:count]
        points = box.low + (box.high - box.low) * unit
        return Candidates(Arms(np.minimum(points, box.high)), box)

    @property
    def fingerprint(self) -> int:
        return self._fingerprint

    def actions(self, arms: IntArray) -> NDArray[Any]:
        return self.arms.coordinates[arms]

    def indices(self, actions: ArrayLike) -> IntArray:
        points = self._box.check(actions) + 0.0  # contiguous, and -0.0 has the bytes of 0.0
        found = [self._index.get(point.tobytes(), -1) for point in points]
        if -1 in found:
            raise InvalidInput(
                f"the point {points[found.index(-1)].tolist()} is none of the agent's "
                f"{self.arms.size} candidates; it can learn only at points that it chose among "
                "(agent.posterior.arms.coordinates lists them)"
            )
        return np.array(found, dtype=np.int64)
