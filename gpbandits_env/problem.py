"""The problem given to an agent before it starts: everything it may know of an environment."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

from gpbandits_env.arrays import Array, finite_array, frozen, positive, whole
from gpbandits_env.display import Displayed
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.kernels import Kernel
from gpbandits_env.temporal import TemporalKernel, temporal_from_dict


@dataclass(frozen=True, repr=False)
class Problem(Displayed):
    """An agent's task: where it may act, and its model of the reward.

    An environment provides its problem as `env.unwrapped.problem`. Without an environment, the user
    constructs one.

    Args:
        domain: the possible actions.
        kernel: the covariance of the reward function.
        noise_var: the variance of the noise on a reward, at least 0, in reward units squared.
        batch_size: the number of actions m in a round.
        horizon: the number of rounds, if known.
        prior_mean: the mean of the reward function: a number, or (n,) one per arm.
        max_norm: a bound B on the squared RKHS norm of the function, if known (srinivas2010,
            Theorem 3).
        epsilon: how fast the function drifts (bogunovic2016, eq. (4)), in [0, 1]; None if it is
            static or the rate is unknown.
        temporal: the temporal kernel of the drift, if it is known and is not that of epsilon.
        max_delay: the largest number of rounds by which a reward is late; later ones never arrive.
            None if rewards are not delayed, or if there is no such bound.
        history: (T, n) the rewards of all n arms in the T rounds before the first one, if known.
    Raises:
        InvalidInput: no domain or kernel, a number out of range, or a prior mean of another shape.
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
    history: Array | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise InvalidInput(f"domain must be Arms or a Box, got {shown(self.domain)}")
        if not isinstance(self.kernel, Kernel):
            raise InvalidInput(f"kernel must be a kernel, got {shown(self.kernel)}")
        object.__setattr__(self, "noise_var", positive(self.noise_var, "noise_var", zero=True))
        whole(self.batch_size, "batch_size")
        if self.horizon is not None:
            whole(self.horizon, "horizon")
        if self.max_delay is not None:
            whole(self.max_delay, "max_delay", 0)
        self._check_time()
        if self.max_norm is not None:
            positive(self.max_norm, "max_norm", zero=True)
        mean = finite_array(self.prior_mean, "prior_mean")
        if mean.ndim and not (isinstance(self.domain, Arms) and mean.shape == (self.domain.size,)):
            raise InvalidInput(f"prior_mean must be a number or one per arm, got {mean.shape}")
        object.__setattr__(self, "prior_mean", frozen(mean.copy()) if mean.ndim else float(mean))

    def _check_time(self) -> None:
        """Check how the function changes, and what is known of earlier rounds."""
        if self.epsilon is not None and positive(self.epsilon, "epsilon", zero=True) > 1:
            raise InvalidInput(f"epsilon must lie in [0, 1], got {self.epsilon!r}")
        if self.temporal is not None:
            if self.epsilon is not None:
                raise InvalidInput("give epsilon or temporal, not both: epsilon is a Markov drift")
            object.__setattr__(self, "temporal", temporal_from_dict(self.temporal))
        if self.history is not None:
            rows = finite_array(self.history, "history", ndim=2)
            if not isinstance(self.domain, Arms) or rows.shape[1] != self.domain.size:
                raise InvalidInput(f"history must have one column per arm, got shape {rows.shape}")
            object.__setattr__(self, "history", frozen(rows.copy()))

    def _facts(self) -> dict[str, Any]:
        facts = {f.name: getattr(self, f.name) for f in fields(self) if f.compare}
        unset = isinstance(self.prior_mean, float) and self.prior_mean == 0.0
        return facts | ({"prior_mean": None} if unset else {})

    def replaced(self, **changes: Any) -> "Problem":
        """The same problem with some fields changed, checked anew.

        Raises:
            InvalidInput: a field out of range.
            UnknownName: a problem has no such field.
        """
        known = [f.name for f in fields(self)]
        for key in changes:
            one_of(key, known, "field of a problem")
        return replace(self, **changes)
