"""The confidence width of MS-UCB as a beta schedule."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.agents.schedules import SCHEDULES, Schedule
from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.theory import beta_subspaces


@SCHEDULES.register("subspaces")
@dataclass(frozen=True)
class SubspaceBeta(Schedule):
    """scale * (2 log(pi^2 t^2/delta) + 2d log(2bd sqrt(log(6Da/delta)) t^2)): tranthe2020.

    For d = 0 scale * 4 log(pi^2 t^2 / (2 delta)); for d = D Theorem 2 of srinivas2010.

    Args:
        subspace_dim: d.
        delta: the failure probability.
        a: the derivatives' tail, P(sup |df/dx_j| > L) <= a exp(-(L/b)^2), x in [-1, 1]^D.
        b: the derivatives' tail, in units of f.
        scale: a factor, at least 0.
        dim: D; the problem's when left out.
    Source: tranthe2020, Section 4.
    """

    subspace_dim: int
    delta: float = 0.1
    a: float = 1.0
    b: float = 1.0
    scale: float = 1.0
    dim: int | None = None

    def __post_init__(self) -> None:
        whole(self.subspace_dim, "subspace_dim", 0)
        positive(self.scale, "scale", zero=True)
        if self.dim is not None:
            whole(self.dim, "dim", max(1, self.subspace_dim))

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        if self.dim is None:
            raise InvalidInput("the beta schedule was given no 'dim', and no problem to take it of")
        beta = beta_subspaces(t, self.dim, self.subspace_dim, self.delta, self.a, self.b)
        return np.asarray(self.scale * beta)

    def filled(self, problem: Problem, arms: int | None) -> Self:
        return replace(self, dim=problem.domain.dim) if self.dim is None else self
