"""gpbandits/Drifting-v0: any function, any drift."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from gpbandits_env.arrays import positive
from gpbandits_env.domains import Arms, Box
from gpbandits_env.drift import Drift, MarkovDrift, as_drift
from gpbandits_env.envs.declared import DeclaredEnv, DeclaredVectorEnv
from gpbandits_env.envs.static_gp import DEFAULT_KERNEL, domain_of, gp_world
from gpbandits_env.envs.world import World
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.functions import MOTIONS, TEST_FUNCTIONS, AnalyticSource
from gpbandits_env.kernels import Kernel, kernel_from_dict
from gpbandits_env.problem import Problem


def drifting_world(
    drift: Any = None,
    function: str = "gp",
    motion: Any = None,
    dim: int | None = None,
    epsilon: float | None = None,
    kernel: Mapping[str, Any] | Kernel | None = None,
    grid: int | Sequence[int] | Arms | None = None,
    arms: ArrayLike | Arms | None = None,
    box: Sequence[ArrayLike] | Box | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    noise_var: float = 0.01,
    batch_size: int = 1,
    sampler: str = "auto",
    features: int = 1024,
) -> World:
    """The world of `Drifting`; see there for the arguments."""
    domain = (grid, arms, box, low, high)
    if not isinstance(function, str):
        raise unknown("function", function, ["gp", *TEST_FUNCTIONS])
    if function == "gp":
        if motion is not None or dim is not None:
            raise InvalidInput("motion and dim belong to a test function; a GP takes a drift")
        law: Drift = MarkovDrift(0.01) if drift is None else as_drift(drift)
        return gp_world(kernel, domain, noise_var, batch_size, sampler, features, law, epsilon)
    if drift is not None:
        raise InvalidInput(f"a drift belongs to function='gp'; {function!r} takes a motion")
    given = domain_of(*domain) if any(part is not None for part in domain[:3]) else None
    if given is not None and not isinstance(given, (Arms, Box)):
        raise InvalidInput("a test function is played on arms or in a box")
    moved = None if motion is None else MOTIONS.from_dict(motion)
    source = AnalyticSource(function, given, dim, moved)
    variance = positive(noise_var, "noise_var", zero=True)
    model = kernel_from_dict(DEFAULT_KERNEL if kernel is None else kernel)
    problem = Problem(source.domain, model, variance, batch_size, epsilon=epsilon)
    return World(problem, source, variance)


class Drifting(DeclaredEnv):
    """A bandit whose reward function changes between rounds, in any declared way.

    Either a GP draw with a drift, or a test function with a motion:

        gym.make("gpbandits/Drifting-v0", drift={"type": "change-points", "times": [100, 200]})
        gym.make("gpbandits/Drifting-v0", function="ackley", motion={"type": "orbit"})

    Args:
        render_mode: None, "ansi" or "rgb_array".
        drift: of a GP draw: a dict with a "type" (markov, varying-markov, change-points, seasonal,
            rotation, blend, then), a `Drift`, or your own ``step(f, fresh, t, rng) -> f_next``.
        function: "gp", or a test function (`TEST_FUNCTIONS`).
        motion: of a test function: a dict with a "type" (orbit, line, turn, stretch), or None.
        dim: of a test function of any dimension, where no domain says it.
        epsilon: the drift that learners are told; by default that of a Markov drift, else none.
        kwargs: the other arguments of `StaticGP`; a test function is played in its usual box
            unless a domain is given, and the kernel is then the learner's model of it.
    Raises:
        InvalidInput: a drift for a test function or a motion for a GP, or a value out of range.
        UnknownName: a drift, motion, function or argument that does not exist.
    """

    builder = staticmethod(drifting_world)


class DriftingVector(DeclaredVectorEnv):
    """B of `Drifting` side by side; see there and `BanditVectorEnv`."""

    builder = staticmethod(drifting_world)
