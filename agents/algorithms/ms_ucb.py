"""MS-UCB.

Paper: tranthe2020, Algorithm 1, with the beta_t of Section 4.
Assumes: Gaussian noise of known variance; in theory also derivatives that are bounded with high
probability.
Departures: 1. beta_t is over 5, as GP-UCB's is in the experiments of srinivas2010; 2. the maximum
over subspaces is searched for: all are screened, the best K refined by gradient; 3. any acquisition
(UCB by default); 4. a batch is chosen by hallucinated variance, all its actions from the same Z_t;
5. boxes of any sides.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.agents.any_acquisition import AnyAcquisition
from gpbandits_env.agents.search.subspaces import Growth, SubspaceSearch
from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


class MSUCB(AnyAcquisition):
    """The largest upper confidence bound in ever more random subspaces.

    At round t N_0 t^alpha new points z of the first D - d coordinates join Z_t; what is played is
    the best (z, y), z in Z_t, y any value of the last d coordinates. d = 0 is the best of sampled
    points, d = D is GP-UCB.

    Cost of a round: O(S t (d + t)) for S = |Z_t| subspaces, whatever D, and O(S D + N_t t D) once
    per observation; memory 4 S (D - d) + 8 S t bytes.

    Args:
        problem: where it acts; its domain is a box.
        rng: its own randomness; what a round draws depends on it and the round alone.
        d: the dimension of the subspaces, from 0 to D; D if that is less.
        n0: N_0 >= 1.
        alpha: at least 0.
        cap: if given, no subspaces are drawn beyond so many. Algorithm 1 has no cap, but with
            alpha = 2 there are 2.7 million after 200 rounds.
        candidates: points to screen a round, over all subspaces; at least 2 in each.
        refine: K, how many of them are climbed from.
        evaluations: of the acquisition along all climbs together, at most.
        settings: those of `AnyAcquisition`; of d = D also ``search``, in the place of the three.
    Source: tranthe2020, Algorithm 1.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        d: int = 5,
        n0: int = 1,
        alpha: float = 0.0,
        cap: int | None = None,
        candidates: int = 1024,
        refine: int = 16,
        evaluations: int = 800,
        **settings: Any,
    ) -> None:
        self._low_dim = min(whole(d, "d", 0), problem.domain.dim)
        self._whole_box = self._low_dim == problem.domain.dim
        growth = Growth(n0, alpha, cap, candidates, refine, evaluations)
        if not self._whole_box and settings.get("search") is not None:
            raise InvalidInput("ms-ucb searches its subspaces by itself: leave out search")
        key = [] if self._whole_box else rng.integers(0, 2**63, size=4).tolist()
        super().__init__(problem, rng, **settings)
        self._key = key
        if not self._whole_box:
            self.search = SubspaceSearch(problem.domain, self._low_dim, key, growth)

    def default_beta(self) -> Mapping[str, Any]:
        """Section 4's over 5."""
        return {"type": "subspaces", "subspace_dim": self._low_dim, "scale": 0.2}

    @property
    def subspaces(self) -> int:
        """|Z_t| of the round about to be played; 0 for d = D."""
        return self.search.size if isinstance(self.search, SubspaceSearch) else 0

    def tell(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        super().tell(actions, rewards, observed)
        if isinstance(self.search, SubspaceSearch):
            self.search.reach(self.round + 1, self.box_posterior)

    def reset(self) -> None:
        super().reset()
        if isinstance(self.search, SubspaceSearch):
            self.search.restart()

    def snapshot(self) -> dict[str, Any]:
        return super().snapshot() | {"key": list(self._key)}

    def _restore(self, state: Mapping[str, Any]) -> None:
        if state["key"] != self._key:
            raise InvalidInput("the agent of the snapshot draws other subspaces: another seed")
        super()._restore(state)
        if isinstance(self.search, SubspaceSearch):
            self.search.restart()
            self.search.reach(self.round + 1, self.box_posterior)
