"""What decides the claims of bogunovic2016 beside its curves."""

from collections.abc import Callable

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Kernel, Matern52, SquaredExponential
from gpbandits_env.gp.theory.time_varying import tail_constants
from gpbandits_env.seeding import stream

Arrays = dict[str, Array]
LENGTHSCALE = 0.2
KERNELS: dict[str, Kernel] = {
    "se": SquaredExponential(LENGTHSCALE),
    "matern52": Matern52(LENGTHSCALE),
}

# -- The constants of assumptions (9) and (10) -----------------------------------------------------

SIDE, DRAWS, FRESH = 50, 1000, 10_000


def constants() -> Arrays:
    """Constants of the tails (9) and (10) that hold, and the tails of fresh draws against them.

    m is the upper 95% limit of E sup |h| from 1000 draws on the grid of the scenarios. "tail" is
    the largest ratio of a tail of 10 000 fresh draws to a exp(-(L/b)^2), over the levels that at
    least 10 of them pass. "beyond 5" is the share of draws with sup |df/dx_1| > 5, which the
    constants a = b = 1 put at exp(-25).
    """
    found: Arrays = {}
    for name in KERNELS:
        for what, (covariance, sd) in _fields(name).items():
            factor = np.linalg.cholesky(covariance + 1e-10 * sd**2 * np.eye(len(covariance)))
            sups, fresh = (
                np.abs(factor @ stream("bogunovic2016/constants", name, what, n).standard_normal(
                    (len(factor), n)
                )).max(axis=0)
                for n in (DRAWS, FRESH)
            )  # fmt: skip
            m = sups.mean() + 1.645 * sups.std(ddof=1) / np.sqrt(DRAWS)
            a, b = tail_constants(float(m), sd)
            levels = np.sort(fresh)[:-9]
            shares = 1.0 - np.arange(len(levels)) / FRESH
            found[f"{name} {what} m, s, a, b"] = np.array([m, sd, a, b])
            found[f"{name} {what} tail"] = np.array([(shares / (a * np.exp(-((levels / b) ** 2)))).max()])
            found[f"{name} {what} beyond 5"] = np.array([(fresh > 5.0).mean()])
    return found


def _fields(name: str) -> dict[str, tuple[Array, float]]:
    """The covariance on the grid, and the standard deviation, of f and of df/dx_1."""
    points = Arms.grid((SIDE, SIDE)).coordinates
    lag = points[:, None, 0] - points[:, 0]
    k, u = KERNELS[name](points), lag**2 / LENGTHSCALE**2
    if name == "se":
        return {"f": (k, 1.0), "slope": (k * (1.0 - u) / LENGTHSCALE**2, 1.0 / LENGTHSCALE)}
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    a = np.sqrt(5.0) * distance / LENGTHSCALE
    slope = 5.0 / 3.0 / LENGTHSCALE**2 * np.exp(-a) * (1.0 + a - 5.0 * u)
    return {"f": (k, 1.0), "slope": (slope, np.sqrt(5.0 / 3.0) / LENGTHSCALE)}


COMPUTATIONS: dict[str, Callable[[], Arrays]] = {"constants": constants}
