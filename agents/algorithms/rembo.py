"""REMBO.

Paper: Wang et al. (2013), "Bayesian Optimization in a Billion Dimensions via Random Embeddings",
Algorithm 2, as a baseline of tranthe2020.
Assumes: the function varies only in a few directions, of any orientation.
Departures: 1. any acquisition can be used, GP-UCB by default; 2. there is one embedding, not
several interleaved ones; 3. those of `GPAgent`.
"""

from functools import partial

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import NAMED
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.embeddings.action_map import ActionMap, box_of
from gpbandits_env.agents.embeddings.embedding import BoxMap, EmbeddedMap, gaussian_embedding
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import whole
from gpbandits_env.errors import one_of
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child


def gaussian_map(
    problem: Problem, rng: Generator, keep: Keep, *, d: int, kernel_on: str
) -> ActionMap:
    """The map of one Gaussian embedding of d dimensions, with the kernel on "y" or on "x"."""
    one_of(kernel_on, ("y", "x"), "kernel_on of rembo")
    box = box_of(problem)
    embedding = gaussian_embedding(box.dim, whole(d, "d"), child(rng))
    if kernel_on == "y":
        return EmbeddedMap(problem, embedding)
    # The posterior is on the points x of the box, of which only the image of the map is searched.
    clipped = ActionMap(problem)
    clipped.through = BoxMap(embedding, box)
    return clipped


class REMBO(GPAgent):
    r"""GP-UCB in one random Gaussian embedding of d dimensions.

    .. math:: x = \mathrm{clip}(A y), \quad A_{ij} \sim N(0, 1)

    The domain must be a box. The agent searches y in [-sqrt d, sqrt d]^d. A is drawn when the
    agent is made.

    Args:
        d: the dimension of y.
        kernel_on: the inputs of the kernel (Section 3 has both). With "y", the posterior is on y
            (see `EmbeddedMap`). With "x", it is on the clipped points x and uses the problem's
            kernel. A reward observed outside the embedding then counts at the point where it was
            observed, and two y with the same clipped point are one point.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `Named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for the small box.
        search: the search of the small box; see `Parts`.
    """

    PARTS = Parts(acquisition=NAMED, action_map=partial(gaussian_map, d=5, kernel_on="y"))
