"""Maps between the points of an agent's posterior and the actions of the problem."""

from typing import Any, ClassVar

import numpy as np

from gpbandits_env.agents.data.part import Part
from gpbandits_env.arrays import IntArray, Points, whole
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.samplers import sobol
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child

# The largest number of candidates.
MOST = 2**24


class ActionMap(Part):
    """The identity: the posterior is on the problem's own domain.

    Args:
        inner: the problem on the posterior's domain: domain, kernel, noise and prior mean.

    Attributes:
        data_domain: the domain of the points of the data.
        belief_domain: the domain on which a belief is shown.
        identity: whether `actions` and `points` return their argument.
        moves: whether the map changes in every round.
        fingerprint: a number that changes with the points that stand for the same actions.
        through: the map whose image is searched, in the posterior's domain; None for all of it.
    """

    identity: ClassVar[bool] = True
    moves: ClassVar[bool] = False
    fingerprint = 0
    through: Any = None

    def __init__(self, inner: Problem) -> None:
        self.inner = inner
        self.data_domain: Domain = inner.domain
        self.belief_domain: Domain = inner.domain

    def belief_points(self, actions: Points | None) -> Points | None:
        """The points of `belief_domain` for checked actions; on arms, without any, all of them."""
        if not self.belief_domain.finite:
            return None if actions is None else self.points(actions)
        if actions is not None:
            raise InvalidInput("the posterior of this agent is on arms: leave out the points")
        return np.arange(len(self.belief_domain.span))

    def set_context(self, context: Points | None, search: Any) -> None:
        """Go to a context, (1,) or (1, q), and let a search choose among the actions in it."""

    def kernel(self, kernel: Kernel) -> Kernel:
        """The kernel of the posterior, for that of the model."""
        return kernel

    def coordinates(self, points: Points) -> Points:
        """The points of the posterior's domain for those of the data."""
        return points

    def placed(self, points: Points) -> Points:
        """The arms or points of the posterior's domain for those of `belief_domain`."""
        return points

    def actions(self, points: Points) -> Points:
        """The actions of arms or points of the posterior's domain, as a new array."""
        return points

    def points(self, actions: Points) -> Points:
        """The points of `belief_domain` for checked actions; `InvalidInput` if there is none."""
        return actions


class ContextMap(ActionMap):
    """The posterior is on pairs of an action and a context; see `domains.joined`.

    Args:
        base: the map between actions and arms or points without a context.
        contexts: the set of contexts.

    Attributes:
        context: the context of the present round, (1,) or (1, q); None before it is known.
    """

    identity: ClassVar[bool] = False

    def __init__(self, base: ActionMap, contexts: Domain) -> None:
        self.base, self.contexts = base, contexts
        super().__init__(base.inner.replaced(contexts=contexts).joint)
        self.context: Points | None = None
        self.belief_domain = domain = base.inner.domain
        # The number of contexts (1,), if the posterior is on arms. NumPy takes half as long with an
        # array as with an int.
        self._count = None
        if isinstance(contexts, Arms) and domain.finite:
            self._count = np.array([contexts.size])
        if domain.finite:
            self._index = {point.tobytes(): i for i, point in enumerate(domain.span)}

    def set_context(self, context: Points | None, search: Any) -> None:
        if context is None:
            raise InvalidInput(
                "the problem has contexts: give one by ask(context=...) or tell(..., context=...)"
            )
        self.context = context
        if self._count is not None:
            search.searched = slice(context.item(), None, self.contexts.size)
        else:
            free = np.full(self.belief_domain.dim, np.nan)
            search.fix(self.inner.domain, np.concatenate([free, self.contexts.points(context)[0]]))

    def actions(self, points: Points) -> Points:
        if self._count is not None:
            return self.base.actions(points // self._count)
        own = np.array(points[:, : self.belief_domain.dim])
        if self.belief_domain.finite:
            own = np.array([self._index[row.tobytes()] for row in own], dtype=np.int64)
        return self.base.actions(own)

    def points(self, actions: Points) -> Points:
        return self.base.points(actions)

    def placed(self, points: Points) -> Points:
        assert self.context is not None
        if self._count is not None:
            return points * self._count + self.context
        context = self.contexts.points(self.context)
        context = np.broadcast_to(context, (len(points), context.shape[1]))
        return np.hstack([self.belief_domain.points(points), context])


def action_map_for(problem: Problem, candidates: int | None, rng: np.random.Generator) -> ActionMap:
    """The map to the problem's domain, or in a box to ``candidates`` Sobol points.

    The points are drawn by a child of ``rng``.

    Raises:
        InvalidInput: there are fewer than 2 candidates, or more than 2^24.
    """
    domain = problem.domain
    if candidates is not None:
        whole(candidates, "candidates", 2, MOST)
    contexts, problem = problem.contexts, problem.replaced(contexts=None)
    made = ActionMap(problem)
    if isinstance(domain, Box) and candidates is not None:
        made = CandidateMap(problem, sobol_arms(domain, candidates, rng))
    return made if contexts is None else ContextMap(made, contexts)


def box_of(problem: Problem) -> Box:
    """The problem's domain; raises `InvalidInput` unless it is a box."""
    if not isinstance(problem.domain, Box):
        raise InvalidInput(
            "this agent needs a box, got a finite set of arms: use a Box as the domain, or another "
            "agent"
        )
    return problem.domain


class CandidateMap(ActionMap):
    """The posterior is on candidate points of a box as arms; actions are their coordinates."""

    identity: ClassVar[bool] = False

    def __init__(self, problem: Problem, arms: Arms) -> None:
        self.arms = arms
        super().__init__(problem.replaced(domain=arms))
        self._index = {point.tobytes(): i for i, point in enumerate(arms.coordinates)}

    def actions(self, points: Points) -> Points:
        return self.arms.coordinates[points]

    def points(self, actions: Points) -> IntArray:
        rows = actions + 0.0  # contiguous, and -0.0 has the bytes of 0.0
        found = [self._index.get(row.tobytes(), -1) for row in rows]
        if -1 in found:
            raise InvalidInput(
                f"the point {rows[found.index(-1)].tolist()} is not one of the agent's "
                f"{self.arms.size} candidates, and the agent accepts observations only there "
                "(agent.posterior.arms.coordinates lists them)"
            )
        return np.array(found, dtype=np.int64)


def sobol_arms(box: Box, count: int, rng: np.random.Generator) -> Arms:
    """``count`` Sobol points of a box, scrambled by a child of the generator."""
    unit = sobol(box.dim, count, child(rng))
    return Arms(np.minimum(box.low + (box.high - box.low) * unit, box.high))
