"""The arms a learner chooses among: the domain's own, or points of a box."""

import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from gpbandits_env.arrays import IntArray, whole
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.seeding import child


class Candidates:
    """Arms, and how actions of the domain name them. On arms an action is the index already."""

    def __init__(self, arms: Arms) -> None:
        self.arms = arms

    @staticmethod
    def of(domain: Domain, count: int, rng: np.random.Generator) -> "Candidates":
        """The domain's arms, or ``count`` Sobol points of a box.

        Raises:
            InvalidInput: fewer than 2 points, or a domain of another kind.
        """
        if isinstance(domain, Arms):
            return Candidates(domain)
        if not isinstance(domain, Box):
            raise InvalidInput(f"a domain is Arms or a Box, got {type(domain).__name__}")
        power = int(np.ceil(np.log2(whole(count, "candidates", 2))))
        unit = qmc.Sobol(domain.dim, rng=child(rng)).random_base2(power)[:count]
        points = domain.low + (domain.high - domain.low) * unit
        return BoxCandidates(Arms(np.minimum(points, domain.high)), domain)

    @property
    def fingerprint(self) -> int:
        """What tells candidates drawn differently apart; 0 for the domain's own arms."""
        return 0

    def actions(self, arms: IntArray) -> NDArray[Any]:
        """The actions that play these arms, fresh."""
        return arms

    def indices(self, actions: ArrayLike) -> ArrayLike:
        """The arms that these actions play; on arms the posterior itself checks them."""
        return actions


class BoxCandidates(Candidates):
    """Points of a box, named by their coordinates."""

    def __init__(self, arms: Arms, box: Box) -> None:
        super().__init__(arms)
        self._box = box
        self._index = {point.tobytes(): i for i, point in enumerate(arms.coordinates)}
        self._fingerprint = zlib.crc32(arms.coordinates.tobytes())

    @property
    def fingerprint(self) -> int:  # noqa: D102
        return self._fingerprint

    def actions(self, arms: IntArray) -> NDArray[Any]:  # noqa: D102
        return self.arms.coordinates[arms]

    def indices(self, actions: ArrayLike) -> IntArray:  # noqa: D102
        points = self._box.check(actions) + 0.0  # contiguous, and -0.0 has the bytes of 0.0
        found = [self._index.get(point.tobytes(), -1) for point in points]
        if -1 in found:
            raise InvalidInput(
                f"the point {points[found.index(-1)].tolist()} is none of the agent's "
                f"{self.arms.size} candidates; it can learn only at points that it chose among "
                "(agent.posterior.arms.coordinates lists them)"
            )
        return np.array(found, dtype=np.int64)
