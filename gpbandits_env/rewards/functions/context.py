"""GP draws of an action and a context: in each round the context is given."""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, Points
from gpbandits_env.domains import Arms, Box, joined
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.samplers import BoxSampler
from gpbandits_env.rewards.drift import Drift, Path
from gpbandits_env.rewards.functions.function import ArmFunction, Function
from gpbandits_env.rewards.functions.gp import BoxFunction, GPOnArms, GPOnBox, gp_on
from gpbandits_env.rewards.functions.maximum import BoxMaximum
from gpbandits_env.rewards.functions.process import RewardPath, RewardProcess
from gpbandits_env.seeding import Streams

# So many contexts are drawn ahead.
BLOCK = 256


class Contexts:
    """The contexts z_1, z_2, ... of an episode, which do not depend on the actions.

    Args:
        domain: the set of contexts.
        table: the contexts in order, (rows,) or (rows, q), the first after the last; None for
            independent draws, uniform on the domain.
    Raises:
        InvalidInput: the table is empty, or a row is not in the domain.
    """

    def __init__(self, domain: Arms | Box, table: ArrayLike | None = None) -> None:
        self.domain = domain
        self.table: Points | None = None
        if table is not None:
            try:
                self.table = domain.check(table)
            except InvalidInput:
                numbers = f"whole numbers in 0..{len(domain.span) - 1}"
                kind = numbers if domain.finite else f"points (rows, {domain.dim}) of {domain!r}"
                raise InvalidInput(
                    f"the sequence of contexts must be {kind}, got {shown(table)}"
                ) from None
            if not len(self.table):
                raise InvalidInput("the sequence of contexts is empty")

    def block(self, streams: Streams, number: int) -> Points:
        """The contexts of some rounds, (`BLOCK`,) or (`BLOCK`, q)."""
        if self.table is None:
            return self.domain.sample(streams.at(number), BLOCK)
        return self.table[np.arange(number * BLOCK, (number + 1) * BLOCK) % len(self.table)]


class ContextPath(RewardPath):
    """The functions x -> f_t(x, z_t) of an episode."""

    def __init__(self, process: "ContextProcess", draw: Path | Array, streams: Streams) -> None:
        self._process, self._streams, self._round = process, streams, 1
        self._path = draw if isinstance(draw, Path) else None
        self._vector = draw.values if isinstance(draw, Path) else draw
        # The functions of a static draw in the contexts so far.
        self._slices: dict[int, Function] = {}
        self._block = -1, np.empty(0)
        self._read()

    def context(self, t: int) -> Points:
        number, row = divmod(t - 1, BLOCK)
        if number != self._block[0]:
            self._block = number, self._process.contexts.block(self._streams, number)
        return self._block[1][row : row + 1].copy()

    def advance(self, dt: float = 1.0) -> None:
        assert dt == 1.0  # a context belongs to a round: no clock
        self._round += 1
        if self._path is not None:
            self._vector = self._path.advance()
        self._read()

    def _read(self) -> None:
        context, process = self.context(self._round), self._process
        if self._path is not None or not process.contexts.domain.finite:
            self.function = process.slice(self._vector, context)
            return
        z = int(context[0])
        if z not in self._slices:
            self._slices[z] = process.slice(self._vector, context)
        self.function = self._slices[z]


class ContextProcess(RewardProcess):
    """Draws f ~ GP(0, k) of pairs of an action and a context, static or drifting.

    On arms and finitely many contexts the draws and the regret are exact. With a box of actions or
    of contexts, draws have the error of the box sampler. In a box of actions the maximum of every
    round is found by search (`BoxMaximum`), for a static draw once per finite context.

    Args:
        actions: the arms or the box of actions.
        contexts: the contexts.
        kernel: the covariance of points (action, context).
        drift: how f changes between rounds; None if it does not.
    Raises:
        InvalidInput: the actions are a box in which draws vary too fast (see `BoxMaximum`).
    """

    def __init__(
        self, actions: Arms | Box, contexts: Contexts, kernel: Kernel, drift: Drift | None = None
    ) -> None:
        self.domain: Arms | Box = actions
        self.contexts, self.drift = contexts, drift
        self.draws = gp_on(joined(actions, contexts.domain), kernel)
        if isinstance(self.draws, GPOnBox) and isinstance(actions, Box):
            fixed = FixedContext(self.draws.sampler, contexts.domain.span[0])
            BoxMaximum(fixed, actions).check()

    def slice(self, vector: Array, context: Points) -> Function:
        """The function of the action in a context, (1,) or (1, q), and its maximum."""
        actions, contexts = self.domain, self.contexts.domain
        if isinstance(self.draws, GPOnArms):
            return ArmFunction(np.ascontiguousarray(vector[int(context[0]) :: contexts.size]))
        fixed = FixedContext(self.draws.sampler, contexts.points(context)[0])
        if isinstance(actions, Arms):
            return ArmFunction(fixed.features(actions.coordinates) @ vector)
        best, accuracy = BoxMaximum(fixed, actions)(vector)
        return BoxFunction(fixed, vector, best, accuracy)

    def begin(self, rng: np.random.Generator) -> ContextPath:
        streams, vectors = Streams(rng), self.draws.vectors
        drift = self.drift
        draw = vectors(rng, 1)[0] if drift is None else Path(drift, vectors, rng)
        return ContextPath(self, draw, streams)

    def bounds(self) -> tuple[float, float]:
        kept = self.drift is None or self.drift.keeps_marginal
        return self.draws.bounds() if kept else super().bounds()


class FixedContext(BoxSampler):
    """The features of pairs of an action and one context, as features of the action.

    Args:
        pairs: the features of the pairs.
        context: (q,) the context.
    """

    def __init__(self, pairs: BoxSampler, context: Array) -> None:
        self._pairs, self._context = pairs, context
        self.rank, self.error = pairs.rank, pairs.error
        self.fastest = pairs.fastest[: len(pairs.fastest) - len(context)]

    def features(self, x: Array) -> Array:
        return self._pairs.features(self._with_context(x))

    def gradient(self, x: Array) -> Array:
        return self._pairs.gradient(self._with_context(x))[:, :, : x.shape[1]]

    def sums(self, x: Array, steps: Array, xi: Array) -> Array:
        zeros = np.zeros((len(steps), len(self._context)))
        return self._pairs.sums(self._with_context(x), np.hstack([steps, zeros]), xi)

    def pull(self, x: Array, xi: Array) -> tuple[Array, Array]:
        values, slopes = self._pairs.pull(self._with_context(x), xi)
        return values, slopes[:, : x.shape[1]]

    def _with_context(self, x: Array) -> Array:
        return np.hstack([x, np.broadcast_to(self._context, (len(x), len(self._context)))])
