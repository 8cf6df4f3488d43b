"""The problem given to an agent before it starts: everything it may know of an environment."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, Plain, finite_array, frozen, positive, whole
from gpbandits_env.display import Displayed
from gpbandits_env.domains import MOST_NUMBERS, Arms, Box, Domain, joined
from gpbandits_env.errors import InvalidInput, all_known, shown
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import TemporalKernel, check_in_time


@dataclass(frozen=True, repr=False)
class Problem(Displayed):
    """An agent's task: where it may act, and its model of the reward.

    An environment provides its problem as `env.unwrapped.problem`. Without an environment, the user
    constructs one.

    Args:
        domain: the possible actions.
        kernel: the covariance of the reward function, or its dict.
        noise_var: the variance of the noise on a reward, at least 0, in reward units squared.
        batch_size: the number of actions m in a round.
        horizon: the number of rounds, if known.
        prior_mean: the mean of the reward function: a number, or (n,) one per arm.
        max_norm: a bound B on the squared RKHS norm of the function, if known (srinivas2010,
            Theorem 3).
        epsilon: how fast the function drifts (bogunovic2016, eq. (4)), in [0, 1]; None if it is
            static or the rate is unknown.
        temporal: the temporal kernel of the drift, if it is known and is not that of epsilon.
        contexts: what is observed before an action is chosen: the set of contexts, or None. The
            reward then depends on the pair of action and context, and the kernel is one of points
            whose first coordinates are those of the action and whose last are the context's.
        max_delay: the largest number of rounds by which a reward is late; later ones never arrive.
            None if rewards are not delayed, or if there is no such bound.
        reward_sd: the standard deviation of rewards that ``kernel`` and ``noise_var`` are stated
            for, if they are known to have the scale of the rewards. Agents that standardize rewards
            divide both by its square; without it they read both as for rewards of variance 1.
        history: (T, n) the rewards of all n arms in the T rounds before the first one, if known.
    Raises:
        InvalidInput: no domain or kernel, a number out of range, a prior mean of another shape, or
            both epsilon and a temporal kernel.
    """

    domain: Domain
    kernel: Kernel
    noise_var: float
    batch_size: int = 1
    horizon: int | None = None
    prior_mean: float | Array = 0.0
    max_norm: float | None = None
    epsilon: float | None = None
    temporal: TemporalKernel | None = None
    max_delay: int | None = None
    contexts: Domain | None = None
    reward_sd: float | None = None
    history: Array | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name, given in (("domain", self.domain), ("contexts", self.contexts)):
            if not isinstance(given, (Arms, Box)) and not (given is None and name == "contexts"):
                raise InvalidInput(f"{name} must be Arms or a Box, got {shown(given)}")
        self._check_model()
        whole(self.batch_size, "batch_size", 1, MOST_NUMBERS // self.domain.dim)
        for name, least in (("horizon", 1), ("max_delay", 0)):
            if getattr(self, name) is not None:
                whole(getattr(self, name), name, least)
        if self.max_norm is not None:
            positive(self.max_norm, "max_norm", zero=True)
        if self.reward_sd is not None:
            positive(self.reward_sd, "reward_sd")
        if self.history is not None:
            rows = finite_array(self.history, "history", ndim=2)
            if not self.domain.finite or rows.shape[1] != self.domain.size:
                raise InvalidInput(f"history must have one column per arm, got shape {rows.shape}")
            object.__setattr__(self, "history", frozen(rows.copy()))

    def _check_model(self) -> None:
        """Check and convert what a `Model` has."""
        epsilon = 0.0 if self.epsilon is None else self.epsilon
        if self.epsilon is not None and self.temporal is not None:
            raise InvalidInput("give epsilon or temporal, not both: epsilon is a Markov drift")
        model = Model(self.kernel, self.noise_var, self.prior_mean, epsilon, self.temporal)
        check_in_time(model.temporal)
        for name in ("kernel", "noise_var", "prior_mean", "temporal"):
            object.__setattr__(self, name, getattr(model, name))
        mean = np.shape(self.prior_mean)
        if mean and not (self.domain.finite and mean == (self.domain.size,)):
            raise InvalidInput(f"prior_mean must be a number or one per arm, got {mean}")

    def _facts(self) -> Plain:
        facts = {f.name: getattr(self, f.name) for f in fields(self) if f.compare}
        unset = not np.ndim(self.prior_mean) and self.prior_mean == 0.0
        return facts | ({"prior_mean": None} if unset else {})

    @property
    def joint(self) -> "Problem":
        """The problem on pairs of an action and a context, as one without contexts."""
        if self.contexts is None:
            return self
        domain = joined(self.domain, self.contexts)
        mean = self.prior_mean
        if np.ndim(mean) and not domain.finite:
            raise InvalidInput("with a box of contexts prior_mean must be one number for all arms")
        if np.ndim(mean):
            mean = np.repeat(mean, domain.size // np.size(mean))
        return replace(self, domain=domain, contexts=None, prior_mean=mean, history=None)

    def last_rows(self, rows: int) -> Plain:
        """The last rows of the history, as arguments of `Agent.prior_data`.

        Raises:
            InvalidInput: the history has fewer rows, or there is none.
        """
        known = 0 if self.history is None else len(self.history)
        if whole(rows, "history") > known or self.history is None:
            raise InvalidInput(f"history={rows}, but the problem has {known} rows of history")
        return {
            "actions": np.tile(np.arange(self.domain.size), rows),
            "rewards": self.history[-rows:].ravel(),
            "rounds": np.repeat(np.arange(1.0 - rows, 1.0), self.domain.size),
        }

    def replaced(self, **changes: Any) -> "Problem":
        """The same problem with some fields changed, checked anew.

        Raises:
            InvalidInput: a field out of range.
            UnknownName: a problem has no such field.
        """
        all_known(changes, [f.name for f in fields(self)], "field of a problem")
        return replace(self, **changes)
