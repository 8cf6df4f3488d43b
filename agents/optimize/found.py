"""The result of `minimize` and `maximize`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.dimensions import Real
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import Array
from gpbandits_env.display import in_short


class Found(OptimizeResult):
    """What was found: SciPy's `OptimizeResult`, and what the agent believes of the function.

    Attributes:
        x: the best evaluated point, in the form that the function takes; None without a value.
        fun: its value; NaN without a value.
        x_iters: all points in order, including those known beforehand.
        func_vals: their values, (n,); NaN for failed calls.
        nfev: the number of calls.
        success: whether there is a value.
        message: why the run ended.
        campaign: the `Campaign`, which can continue.
        agent: its agent.
    """

    @classmethod
    def of(cls, campaign: Campaign, calls: int, message: str, *, named: bool) -> "Found":
        """The result of a campaign after that many calls; if named, points are dicts."""
        space, best = campaign.space, campaign.best
        values = [np.nan if r.value is None else r.value for r in campaign.records]
        made: Any = cls  # a dict; SciPy declares no fields
        result: Found = made(
            x=None if best is None else shaped(space, best.params, named=named),
            fun=np.nan if best is None else best.value,
            x_iters=[shaped(space, r.params, named=named) for r in campaign.records],
            func_vals=np.array(values),
            nfev=calls,
            success=best is not None,
            message=message,
            agent=campaign.agent,
            campaign=campaign,
        )
        return result

    @property
    def recommended(self) -> dict[str, Any] | None:
        """The evaluated point with the best posterior mean, by name; see `Campaign`."""
        found: dict[str, Any] | None = self["campaign"].recommended
        return found

    def recommend(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """The values with the best posterior mean in a context, by name; see `Campaign`."""
        found: dict[str, Any] = self["campaign"].recommend(context)
        return found

    def predict(self, points: Any) -> tuple[Array, Array]:
        """Posterior mean and standard deviation at points; see `Campaign.predict`."""
        moments: tuple[Array, Array] = self["campaign"].predict(points)
        return moments

    def importance(self, *, total: bool = False) -> dict[str, float]:
        """How much each dimension matters; see `Campaign.importance`."""
        indices: dict[str, float] = self["campaign"].importance(total=total)
        return indices

    def __repr__(self) -> str:
        campaign: Campaign = self["campaign"]
        kind = "maximum" if campaign.maximize else "minimum"
        shares = sorted(campaign.importance().items(), key=lambda item: -item[1])
        counts = f"{len(campaign.failed)} failed, {len(campaign.pending)} pending"
        return "\n".join(
            [
                f"{kind}: {_measured_best(campaign)}",
                f"recommended: {_advice(campaign)}",
                f"importance: {', '.join(f'{name} {share:.2f}' for name, share in shares)}",
                f"calls: {self['nfev']}, {counts}; {self['message']}",
                f"campaign: {campaign!r}",
            ]
        )

    __str__ = __repr__


def shaped(space: Space, params: Mapping[str, Any], *, named: bool) -> Any:
    """A point in the form that a function takes: a dict, an array or a list."""
    if named:
        return dict(params)
    values = list(params.values())
    real = all(isinstance(kind, Real) for kind in space.dimensions.values())
    return np.array(values) if real else values


def _measured_best(campaign: Campaign) -> str:
    best = campaign.best
    return "none" if best is None else f"{in_short(best.value)} at {_listed(best.params)}"


def _advice(campaign: Campaign) -> str:
    best, advised = campaign.best, campaign.recommended
    if best is None or advised is None:
        return "none"
    mean, sd = (float(moment[0]) for moment in campaign.predict(advised))
    where = "the same point" if advised == best.params else _listed(advised)
    return f"{where}, where the mean is {in_short(mean)} +- {sd:.2g}"


def _listed(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {in_short(value)}" for name, value in params.items())
