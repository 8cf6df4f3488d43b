"""MS-UCB.

Paper: tranthe2020, Algorithm 1, with the beta_t of Section 4.
Assumes: Gaussian noise of known variance; in theory also derivatives that are bounded with high
probability.
Departures: 1. beta_t is over 5, as GP-UCB's is in the experiments of srinivas2010; 2. the maximum
over subspaces is searched for: all are screened, the best K refined by gradient; 3. any acquisition
(UCB by default); 4. a batch is chosen by hallucinated variance, all its actions from the same Z_t;
5. boxes of any sides.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import Round, rule_named
from gpbandits_env.agents.acquisitions.schedules import Beta
from gpbandits_env.agents.action_map import ActionMap, box_of
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.search import SearchSpec
from gpbandits_env.agents.search.subspaces import Growth, SubspaceSearch
from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import BoxPosterior
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams


class MSUCB(GPAgent):
    r"""GP-UCB in a growing set of random subspaces.

    .. math::
        x_t = \arg\max_{z \in Z_t, \, y \in [-1, 1]^d} \mu(z, y) + \sqrt{\beta_t} \, \sigma(z, y),
        \quad |Z_t| = \sum_{s \leq t} N_0 s^\alpha

    It acts in a box. In round t N_0 t^alpha new points z of the first D - d coordinates join Z_t;
    the action is the best (z, y), z in Z_t, y any value of the last d coordinates. d = 0 is the
    best of sampled points, d = D is GP-UCB. What a round draws depends on the generator and the
    round alone.

    Cost of a round: O(S t (d + t)) for S = |Z_t| subspaces, whatever D, and O(S D + N_t t D) once
    per observation; memory 4 S (D - d) + 8 S t bytes.

    Args:
        d: the dimension of the subspaces, from 0 to D; D if that is less.
        n0: N_0 >= 1.
        alpha: at least 0.
        cap: if given, the largest |Z_t|. Algorithm 1 has none, but with alpha = 2 there are 2.7
            million subspaces after 200 rounds.
        candidates: points to screen a round, over all subspaces; at least 2 in each.
        refine: K, how many of them are climbed from.
        evaluations: of the acquisition along all climbs of a round together, at most.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `rule_named`.
        margin: of "ei" and "mpi".
        beta: of "ucb"; by default that of Section 4 over 5.
        search: for d = D only, as of `GPAgent`; it replaces candidates, refine and evaluations.
    Source: tranthe2020, Algorithm 1.
    """

    posterior: BoxPosterior

    # A composition root: the growth of Z_t, its search and the acquisition are settings by name.
    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        d: int = 5,
        n0: int = 1,
        alpha: float = 0.0,
        cap: int | None = None,
        candidates: int = 1024,
        refine: int = 16,
        evaluations: int = 800,
        acquisition: str = "ucb",
        margin: float | None = None,
        beta: Beta | None = None,
        search: SearchSpec = None,
        **parts: Any,
    ) -> None:
        box = box_of(problem, self)
        low_dim = min(whole(d, "d", 0), box.dim)
        growth = Growth(n0, alpha, cap, candidates, refine, evaluations)
        mapped = ActionMap(problem)
        if low_dim < box.dim:
            if search is not None:
                raise InvalidInput("ms-ucb searches its subspaces by itself: leave out search")
            streams = Streams(rng)
            mapped = ActionMap(problem, streams.fingerprint)
            search = SubspaceSearch(box, low_dim, streams, growth)
        if beta is None:
            beta = {"type": "subspaces", "subspace_dim": low_dim, "scale": 0.2}
        rule = rule_named(acquisition, margin, beta, box)
        super().__init__(problem, rng, rule, mapped, search=search, **parts)

    def next_round(self) -> Round:
        if isinstance(self.search, SubspaceSearch):
            self.search.reach(self.round + 1, self.posterior)
        return super().next_round()

    @property
    def subspaces(self) -> int:
        """|Z_t| of the next round; 0 for d = D."""
        search = self.next_round().search
        return search.size if isinstance(search, SubspaceSearch) else 0
