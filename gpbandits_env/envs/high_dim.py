"""gpbandits/HighDim-v0: test functions in a cube of many dimensions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import positive
from gpbandits_env.envs.declared import DeclaredEnv, DeclaredVectorEnv
from gpbandits_env.envs.world import World
from gpbandits_env.functions import MOTIONS, PlacedSource
from gpbandits_env.kernels import Kernel, Matern52, kernel_from_dict
from gpbandits_env.problem import Problem

# The default lengthscale over sqrt(D): two points drawn uniformly in [-1, 1]^D are sqrt(2 D / 3)
# apart in the mean square, 1.6 of these lengthscales, whatever D is.
LENGTHSCALE = 0.5


def high_dim_world(
    function: str = "ackley",
    dim: int = 20,
    active: int | Sequence[int] | None = None,
    shift: bool | ArrayLike = False,
    motion: Any = None,
    noise_var: float = 1e-6,
    model_noise_var: float | None = None,
    kernel: Mapping[str, Any] | Kernel | None = None,
    prior_mean: float = 0.0,
    epsilon: float | None = None,
    batch_size: int = 1,
) -> World:
    """The world of `HighDim`; see there for the arguments."""
    moved = None if motion is None else MOTIONS.from_dict(motion)
    source = PlacedSource(function, dim, active, shift, moved)
    variance = positive(noise_var, "noise_var", zero=True)
    told = variance if model_noise_var is None else model_noise_var
    box = source.domain
    default = Matern52(LENGTHSCALE * float(np.sqrt(box.dim)))
    model = default if kernel is None else kernel_from_dict(kernel)
    model.check_points(np.stack([box.low, box.high]))
    problem = Problem(box, model, told, batch_size, prior_mean=prior_mean, epsilon=epsilon)
    return World(problem, source, variance)


class HighDim(DeclaredEnv):
    """A test function in [-1, 1]^D, D up to thousands, whose usual box is scaled to the cube.

        gym.make("gpbandits/HighDim-v0", function="schwefel-1.2", dim=100, shift=True)
        gym.make("gpbandits/HighDim-v0", function="camelback", dim=5000)
        gym.make("gpbandits/HighDim-v0", function="ackley", dim=100, active=10,
                 motion={"type": "orbit", "radius": 0.2})

    The maximum is exact, shifted or moving (see `PlacedSource` for what is read outside a
    function's usual box).

    Args:
        render_mode: None, "ansi" or "rgb_array".
        function: a test function.
        dim: D.
        active: how many coordinates matter, at places drawn at each reset; or which ones, in
            the function's order. By default as many as the function takes: all D, if it takes
            any number. The rest are inert.
        shift: False; True to draw at each reset where the maximum is, uniformly in the inner 80%
            of the cube (less where a motion needs the room); or by how much it is moved, a
            number or one per active coordinate, in units of the cube.
        motion: of the active coordinates: a dict with a "type" (orbit, line, turn, stretch), or
            None.
        noise_var: the variance of the noise on a reward, at least 0.
        model_noise_var: what learners are told it is; ``noise_var`` if not given.
        kernel: the learner's model; if not given Matern 5/2 of variance 1 and lengthscale
            0.5 sqrt(D), which scales as the distances in the cube do. The functions' values are
            of any scale, and tranthe2020 learns the kernel's numbers from the data.
        prior_mean: the learner's, a number.
        epsilon: the drift that learners are told of; None for none.
        batch_size: the number of actions m in a round.
    Raises:
        InvalidInput: a value out of range, or a shift or a motion that takes the maximum out of
            the cube.
        UnknownName: an argument, function, motion or kernel that does not exist.
    Source: tranthe2020, Section 5.
    """

    builder = staticmethod(high_dim_world)


class HighDimVector(DeclaredVectorEnv):
    """B of `HighDim` side by side; see there and `BanditVectorEnv`."""

    builder = staticmethod(high_dim_world)
