"""gpbandits/MarkovGP-v0: the time-varying Gaussian process of bogunovic2016."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from gpbandits_env.domains import Arms, Box
from gpbandits_env.drift import MarkovDrift
from gpbandits_env.envs.declared import DeclaredEnv, DeclaredVectorEnv
from gpbandits_env.envs.static_gp import gp_world
from gpbandits_env.envs.world import World
from gpbandits_env.kernels import Kernel


def markov_gp_world(
    epsilon: float = 0.01,
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
    """The world of `MarkovGP`; see there for the arguments."""
    drift = MarkovDrift(epsilon)
    domain = (grid, arms, box, low, high)
    return gp_world(kernel, domain, noise_var, batch_size, sampler, features, drift)


class MarkovGP(DeclaredEnv):
    """A drifting GP bandit: f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}, g ~ GP(0, k).

    Every f_t has the law GP(0, k); regret is against the maximum of the round's own function.
    The path depends on the seed alone, never on the actions.

    Args:
        render_mode: None, "ansi" or "rgb_array".
        epsilon: how fast the function drifts, in [0, 1]; the learner is told it.
        kwargs: the other arguments of `StaticGP`.
    Raises:
        InvalidInput: epsilon outside [0, 1], several domains, or a value out of range.
        UnknownName: an argument, kernel or sampler that does not exist.
    Source: bogunovic2016, eqs. (3)-(4).
    """

    builder = staticmethod(markov_gp_world)


class MarkovGPVector(DeclaredVectorEnv):
    """B of `MarkovGP` side by side; see there and `BanditVectorEnv`."""

    builder = staticmethod(markov_gp_world)
