"""Draws of a Gaussian process: StaticGP-v0, MarkovGP-v0 and Drifting-v0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Settings, finite_array, whole, wholes
from gpbandits_env.domains import Arms, Box, clock, two_corners
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.declaration import EntryPoint, ModelArguments
from gpbandits_env.envs.task import default_kernel
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.rewards.drift import Drift, DriftSpec, MarkovDrift, as_drift
from gpbandits_env.rewards.functions import (
    MOTIONS,
    SWEPT,
    TEST_FUNCTIONS,
    AnalyticProcess,
    ContextProcess,
    Contexts,
    DriftProcess,
    GPOnBox,
    Motion,
    SweptProcess,
    gp_on,
)
from gpbandits_env.rewards.functions.catalogue import dimension

DEFAULT_KERNEL = {"type": "se", "lengthscale": 0.2}
ContextSpec: TypeAlias = int | Sequence[int] | Settings | Arms | Box


@dataclass(frozen=True, kw_only=True)
class GPArguments(ModelArguments):
    """The domain, the kernel and the noise of a GP bandit.

    Args:
        kernel: a kernel, or its plain dict; squared exponential of lengthscale 0.2 by default.
        grid: points per axis of a product grid on [low, high]; 50 x 50 on [0, 1]^2 by default.
        arms: (n, d) points.
        box: the two corners of a box, (d,) each.
        low: the lower ends of the grid, a number or one per axis.
        high: the upper ends of the grid, likewise.
    """

    grid: int | Sequence[int] | Arms | None = None
    arms: ArrayLike | Arms | None = None
    box: Sequence[ArrayLike] | Box | None = None
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    noise_var: float = 0.025
    default_grid: ClassVar[int | tuple[int, ...]] = (50, 50)

    def domain(self, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> Arms | Box:
        """The domain, with default ends of a grid. Two of grid, arms and box are an error."""
        given = [name for name in ("grid", "arms", "box") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidInput(f"give only one of grid, arms and box, got {' and '.join(given)}")
        box, arms, grid = self.box, self.arms, self.grid
        placed = "Arms" if isinstance(grid, Arms) else next((n for n in given if n != "grid"), "")
        if placed and not (self.low is None and self.high is None):
            raise InvalidInput(f"low and high belong to a grid, but {placed} was given")
        if box is not None:
            return box if isinstance(box, Box) else Box(*two_corners(box))
        if arms is not None:
            return arms if isinstance(arms, Arms) else Arms(finite_array(arms, "arms"))
        if isinstance(grid, Arms):
            return grid
        shape = self.default_grid if grid is None else grid
        low, high = low if self.low is None else self.low, high if self.high is None else self.high
        return Arms.grid(shape, low, high)

    def draws(self, drift: Drift | None = None, epsilon: float | None = None) -> Bandit:
        """The bandit of GP draws, static if there is no drift.

        Agents know ``epsilon``, or else what the drift says of itself.
        """
        kernel = self.covariance(DEFAULT_KERNEL)
        draws = gp_on(self.domain(), kernel)
        if isinstance(draws, GPOnBox):
            _ = draws.maximum  # raises an error if a search of the box would be too long
        process = draws if drift is None else DriftProcess(draws, drift)
        known = {"epsilon": epsilon} if drift is None or epsilon is not None else drift.known
        return self.modelled(process, kernel, **known)


@dataclass(frozen=True, kw_only=True)
class StaticGPArguments(GPArguments):
    """A static GP bandit: f ~ GP(0, k), drawn anew at each reset; noise N(0, noise_var).

    The domain is a grid, any set of arms, or a box. In a box the maximum is found by search
    (`BoxMaximum`), which costs milliseconds per function if it is smooth and up to seconds if it is
    rough; where it would cost more, making the environment is an error. Draws follow k up to the
    stated error of the box sampler.

    Source: srinivas2010, Section 2.
    """

    def bandit(self) -> Bandit:
        return self.draws()


@dataclass(frozen=True, kw_only=True)
class MarkovGPArguments(GPArguments):
    """A drifting GP bandit: f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}, g ~ GP(0, k).

    Every f_t has the law GP(0, k); regret is against the maximum of the round's own function.
    The path depends on the seed alone, never on the actions.

    Args:
        epsilon: how fast the function drifts, in [0, 1]; agents know it.
    Source: bogunovic2016, eqs. (3)-(4).
    """

    epsilon: float = 0.01
    noise_var: float = 0.01

    def bandit(self) -> Bandit:
        return self.draws(MarkovDrift(self.epsilon))


@dataclass(frozen=True, kw_only=True)
class DriftingArguments(GPArguments):
    """A bandit whose reward function changes between rounds, in any declared way.

    The function is either a GP draw with a drift, or a test function with a motion:

        gym.make("gpbandits/Drifting-v0", drift={"type": "change-points", "times": [100, 200]})
        gym.make("gpbandits/Drifting-v0", function="ackley", motion={"type": "orbit"})
        gym.make("gpbandits/Drifting-v0", function="shekel", sweep=600, grid=(6, 6, 6))

    With ``sweep``, the last coordinate of the function is time. The domain is a grid over the other
    coordinates, or arms, and values have mean 0 and variance 1 over the box and over time.

    The domain of a test function is its usual box, or a grid over it, unless another domain is
    given. The kernel is then the agents' model of the function, by default Matern 3/2 with a
    lengthscale of a fifth of each side of the box.

    Args:
        drift: the drift of a GP draw: a dict with a "type" (markov, varying-markov, change-points,
            seasonal, rotation, temporal, blend, then), a `Drift`, or your own function
            ``step(f, fresh, t, rng) -> f_next``; by default markov with epsilon = 0.01.
        function: "gp", or a test function (`TEST_FUNCTIONS`, or with ``sweep`` one of `SWEPT`).
        motion: the motion of a test function: a dict with a "type" (orbit, line, turn, stretch).
        sweep: the number of rounds in which time goes from one end of its range to the other, and
            then back.
        dim: the dimension of a test function of any dimension, unless the domain determines it.
        epsilon: the drift in the agents' model; by default they know what the drift says of
            itself: epsilon of a Markov drift, the kernel of a temporal one (see `Drift.known`).
    """

    drift: DriftSpec | None = None
    function: str = "gp"
    motion: Settings | Motion | None = None
    sweep: float | None = None
    dim: int | None = None
    epsilon: float | None = None
    noise_var: float = 0.01

    def bandit(self) -> Bandit:
        if self.function == "gp":
            if any(given is not None for given in (self.motion, self.sweep, self.dim)):
                raise InvalidInput(
                    "motion, sweep and dim belong to a test function; use drift for a GP"
                )
            drift = MarkovDrift(0.01) if self.drift is None else as_drift(self.drift)
            return self.draws(drift, self.epsilon)
        if self.drift is not None:
            raise InvalidInput(f"drift belongs to function='gp'; use motion for {self.function!r}")
        process = self._analytic() if self.sweep is None else self._swept(self.sweep)
        kernel = self.covariance(default_kernel(process.box))
        return self.modelled(process, kernel, epsilon=self.epsilon)

    def _analytic(self) -> AnalyticProcess:
        one_of(self.function, ["gp", *TEST_FUNCTIONS], "function")
        somewhere = any(part is not None for part in (self.grid, self.arms, self.box))
        usual = TEST_FUNCTIONS[self.function]
        if not (self.grid is None or isinstance(self.grid, Arms)):
            axes = len(wholes(self.grid, "grid"))
            dimension(self.function, axes or None)  # `domain` refuses a grid without axes
        domain = self.domain(usual.low, usual.high) if somewhere else None
        motion = None if self.motion is None else MOTIONS.from_dict(self.motion)
        return AnalyticProcess(self.function, domain, self.dim, motion)

    def _swept(self, sweep: float) -> SweptProcess:
        swept = SWEPT[one_of(self.function, SWEPT, "function with a sweep")]
        if self.motion is not None or self.dim is not None:
            raise InvalidInput("a function with a sweep takes no motion and no dim")
        if self.box is not None or (self.grid is None and self.arms is None):
            raise InvalidInput(
                f"a function with a sweep needs a grid or arms, here in {swept.dim - 1} dimensions"
            )
        domain = self.domain(swept.low, swept.high)
        assert isinstance(domain, Arms)
        return SweptProcess(swept, domain, sweep)


@dataclass(frozen=True, kw_only=True)
class ContextualArguments(GPArguments):
    """A contextual GP bandit: the context z_t is observed before the action x_t is chosen.

    The reward is f(x_t, z_t) plus noise, with f ~ GP(0, k) on pairs of an action and a context. The
    first coordinates of a pair are those of the action. The regret is against the best action in
    the context of the round.

        gym.make("gpbandits/Contextual-v0", grid=50, contexts=10)
        gym.make("gpbandits/Contextual-v0", grid=50, contexts={"clock": 24}, kernel={...})

    The default grid has 50 points on [0, 1].

    Args:
        contexts: the contexts: the number of points of a grid on [0, 1], or one per axis;
            {"points": (c, q) points}; {"box": the two corners}; or {"clock": c}, c points of the
            unit circle (cosine and sine), in turn.
        sequence: the order of contexts: "drawn", independent and uniform; "in turn"; or a list, of
            numbers of contexts or of points of the box, which is replayed. By default "drawn", and
            for a clock "in turn".
        epsilon: how fast f drifts, in [0, 1]; agents know it.
    Source: Krause & Ong (2011), Section 2.
    """

    contexts: ContextSpec = 10
    sequence: ArrayLike | None = None
    epsilon: float = 0.0
    default_grid: ClassVar[int | tuple[int, ...]] = 50

    def bandit(self) -> Bandit:
        domain, kernel = self.domain(), self.covariance(DEFAULT_KERNEL)
        contexts = contexts_of(self.contexts)
        drift = MarkovDrift(self.epsilon) if self.epsilon else None
        process = ContextProcess(domain, Contexts(contexts, self._rows(contexts)), kernel, drift)
        return self.modelled(process, kernel, epsilon=self.epsilon or None, contexts=contexts)

    def _rows(self, contexts: Arms | Box) -> ArrayLike | None:
        """The contexts in order; None if they are drawn."""
        order = self.sequence
        if order is None:
            clock = isinstance(self.contexts, Mapping) and "clock" in self.contexts
            order = "in turn" if clock else "drawn"
        if not isinstance(order, str):
            return order
        if one_of(order, ("drawn", "in turn"), "sequence of contexts") == "drawn":
            return None
        if not contexts.finite:
            raise InvalidInput("a box of contexts has no order: give the sequence as a list")
        return np.arange(contexts.size)


def contexts_of(spec: ContextSpec) -> Arms | Box:
    """The set of contexts for the argument ``contexts`` of `ContextualArguments`.

    Raises:
        InvalidInput: the argument has another form.
    """
    if isinstance(spec, (Arms, Box)):
        return spec
    if not isinstance(spec, Mapping):
        try:
            return Arms.grid(spec)
        except InvalidInput as error:
            cure = '; {"points": ...} gives any contexts, and {"clock": 24} the hours of a day'
            raise InvalidInput(f"contexts form a grid: {error}{cure}") from None
    if set(spec) == {"points"}:
        return Arms(finite_array(spec["points"], "contexts"))
    if set(spec) == {"box"}:
        return Box(*two_corners(spec["box"]))
    if set(spec) == {"clock"}:
        return clock(whole(spec["clock"], "clock", 2))
    raise InvalidInput(
        'contexts must be a number, a list of numbers, or {"points": ...}, {"box": ...} or '
        f'{{"clock": ...}}, got {shown(spec)}'
    )


StaticGP = EntryPoint(StaticGPArguments)
StaticGPVector = StaticGP.vector
MarkovGP = EntryPoint(MarkovGPArguments)
MarkovGPVector = MarkovGP.vector
Drifting = EntryPoint(DriftingArguments)
DriftingVector = Drifting.vector
Contextual = EntryPoint(ContextualArguments)
ContextualVector = Contextual.vector
