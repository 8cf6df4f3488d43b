"""MS-UCB.

Paper: tranthe2020, Algorithm 1, with the beta_t that it states before it.
Assumes: Gaussian noise of known variance; the theory also assumes derivatives that are bounded with
high probability.
Departures: 1. beta_t is divided by 5, like that of GP-UCB in the experiments of srinivas2010;
2. the maximum over the subspaces is found by search: all subspaces are screened, and the best K
points are refined by gradient ascent, unless random_starts is set; 3. any acquisition can be used,
UCB by default; 4. a batch is chosen by hallucinated variance, and all its actions come from the
same Z_t; 5. the box may have sides of any length.
"""

from functools import partial
from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import NAMED
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.embeddings.action_map import box_of
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.search import Search, SearchSpec, search_for
from gpbandits_env.agents.search.subspaces import Growth, SubspaceSearch
from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams


def subspace_search(
    problem: Problem, rng: Generator, keep: Keep, spec: SearchSpec, *, d: int, **growth: Any
) -> Search:
    """The search of Z_t, or of the whole box if d = D; the other arguments are of `Growth`."""
    box = box_of(problem)
    low_dim = min(whole(d, "d", 0), box.dim)
    declared = Growth(**growth)
    if low_dim == box.dim:
        search = search_for(box, spec, rng)
    elif spec is not None:
        raise InvalidInput(
            "ms-ucb takes the setting search only if d = D: leave search out, and use "
            "candidates, refine and evaluations"
        )
    else:
        search = SubspaceSearch(box, low_dim, Streams(rng), declared)
    search.usual_beta = {"type": "subspaces", "subspace_dim": low_dim, "scale": 0.2}
    return search


class MSUCB(GPAgent):
    r"""GP-UCB in a growing set of random subspaces.

    .. math::
        x_t = \arg\max_{z \in Z_t, \, y \in [-1, 1]^d} \mu(z, y) + \sqrt{\beta_t} \, \sigma(z, y),
        \quad |Z_t| = \sum_{s \leq t} N_0 s^\alpha

    The domain must be a box. In round t, N_0 t^alpha new points z of the first D - d coordinates
    are added to Z_t. The action is the best pair (z, y) with z in Z_t and any y for the last d
    coordinates. With d = 0 the agent chooses among sampled points only; with d = D it is GP-UCB.
    The random draws of a round depend only on the generator and the round.

    Cost of a round: O(S t (d + t)) for S = |Z_t| subspaces, independent of D, plus
    O(S D + N_t t D) once per observation. Memory: 4 S (D - d) + 8 S t bytes.

    Args:
        d: the dimension of the subspaces, at least 0; a value above D means D.
        n0: N_0, at least 1.
        alpha: the growth exponent, from 0 to 8.
        cap: the largest |Z_t| allowed. Algorithm 1 has no cap, but with alpha = 2 there are 2.7
            million subspaces after 200 rounds.
        candidates: the number of points screened per round over all subspaces, at least 2 in each.
        refine: K, the number of screened points from which a gradient ascent starts.
        evaluations: the budget of acquisition evaluations for all ascents that choose one action.
        random_starts: whether K ascents start from uniform points that are spread evenly over the
            subspaces, without screening, as in the paper's experiments. If there are more than K
            subspaces, each start draws its own.
        z_share: the share of each of the D - d sides, around its middle, from which z is drawn.
            Algorithm 1 draws from the whole side, 1.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `Named`.
        beta: beta_t of "ucb"; by default that of the paper over 5.
        search: for d = D only; see `Parts`. It replaces candidates, refine and evaluations.
    Source: tranthe2020, Algorithm 1.
    """

    PARTS = Parts(acquisition=NAMED, own_search=partial(subspace_search, d=5, **vars(Growth())))
