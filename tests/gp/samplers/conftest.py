"""Every exact way to draw, on small arms; and what a sampler is measured by."""

from dataclasses import dataclass

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import (
    Empirical,
    Kernel,
    Linear,
    Matern,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
)
from gpbandits_env.gp.samplers import (
    circulant_sampler,
    dense_factor,
    kronecker_factor,
    low_rank_factor,
    sampler_for,
)

MAKE = {
    "dense": dense_factor,
    "lowrank": lambda arms, kernel: low_rank_factor(arms, kernel, arms.size),
    "kronecker": kronecker_factor,
    "circulant": circulant_sampler,
    "auto": sampler_for,
}

GRID = Arms.grid((7, 5), low=(0.0, -1.0), high=(1.0, 1.0))
LINE = Arms.grid(40)
CUBE = Arms.grid((4, 3, 5))
FREE = Arms(np.random.default_rng(5).random((30, 2)))
# Larger than a block of the dense factor.
LONG = Arms.grid(300, high=6.0)
READINGS = np.random.default_rng(6).standard_normal((12, 20))

SE = SquaredExponential(0.4, 2.0)
ARD = SquaredExponential((0.3, 0.9), 0.5)

CASES: dict[str, tuple[str, Arms, Kernel]] = {
    "dense matern32 free": ("dense", FREE, Matern32(0.3, 1.7)),
    "dense matern52 line of blocks": ("dense", LONG, Matern52(0.5)),
    "dense singular se": ("dense", LINE, SE),
    "dense repeated arms": ("dense", Arms(np.tile(FREE.coordinates, (2, 1))), Matern12(0.3)),
    "dense one arm": ("dense", Arms(np.zeros((1, 2))), SE),
    "lowrank se line": ("lowrank", LINE, SE),
    "lowrank ard grid": ("lowrank", GRID, ARD),
    "lowrank linear": ("lowrank", FREE, Linear(3.0)),
    "lowrank singular empirical": (
        "lowrank",
        Arms(np.arange(20)),
        Empirical(np.cov(READINGS, rowvar=False)),
    ),
    "kronecker ard grid": ("kronecker", GRID, ARD),
    "kronecker se cube": ("kronecker", CUBE, SE),
    "kronecker product": ("kronecker", GRID, SE * ARD),
    "kronecker rough axis": ("kronecker", GRID, SquaredExponential((0.05, 0.5))),
    "kronecker uneven axes": (
        "kronecker",
        Arms(
            np.stack(np.meshgrid([0.0, 0.1, 0.7], [0.0, 3.0], indexing="ij"), 2).reshape(-1, 2),
            (np.array([0.0, 0.1, 0.7]), np.array([0.0, 3.0])),
        ),
        SE,
    ),
    "circulant matern12 line": ("circulant", LINE, Matern12(0.3)),
    "circulant matern52 grid": ("circulant", GRID, Matern52(0.3, 2.5)),
    "circulant matern52 ard grid": ("circulant", GRID, Matern52((0.2, 0.9))),
    "circulant bessel grid": ("circulant", GRID, Matern(0.3, nu=1.1)),
    "circulant se cube": ("circulant", CUBE, SquaredExponential(0.3)),
    "circulant sum": ("circulant", GRID, Matern12(0.2) + 0.5 * SquaredExponential(0.5)),
    "circulant product": ("circulant", LINE, Matern32(0.5) * SquaredExponential(0.7)),
    "circulant one-point axis": ("circulant", Arms.grid((1, 9)), Matern32(0.2)),
    "circulant two points": ("circulant", Arms.grid(2), Matern32(0.2)),
    "auto matern52 free": ("auto", FREE, Matern52(0.3)),
}
FACTORS = [name for name in CASES if name.split()[0] in ("dense", "lowrank", "kronecker")]


@dataclass(frozen=True)
class Case:
    kind: str
    arms: Arms
    kernel: Kernel

    @property
    def sampler(self):
        return MAKE[self.kind](self.arms, self.kernel)

    @property
    def covariance(self):
        return self.kernel(self.arms.coordinates)


def pytest_generate_tests(metafunc):
    if "exact" in metafunc.fixturenames:
        metafunc.parametrize("exact", [Case(*c) for c in CASES.values()], ids=list(CASES))
    if "factored" in metafunc.fixturenames:
        metafunc.parametrize("factored", [Case(*CASES[c]) for c in FACTORS], ids=FACTORS)


@pytest.fixture
def rng():
    return np.random.default_rng(20100621)


@pytest.fixture
def phi():
    """The matrix Phi of a sampler: its values at the unit coefficients, (n, rank)."""
    return lambda sampler: sampler(np.eye(sampler.rank)).T


@pytest.fixture
def z_scores():
    """How many standard errors each entry of the empirical second moment is from K, (n, n).

    For Gaussian draws of mean 0 the variance of f_i f_j is K_ii K_jj + K_ij^2.
    """

    def scores(draws, covariance):
        found = draws.T @ draws / len(draws)
        sd = np.sqrt(np.outer(*[covariance.diagonal()] * 2) + covariance**2)
        return (found - covariance) * np.sqrt(len(draws)) / sd

    return scores
