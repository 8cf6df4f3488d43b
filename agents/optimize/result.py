"""What `minimize` and `maximize` return."""

from typing import Any, Self

import numpy as np
from scipy.optimize import OptimizeResult

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.arrays import Array
from gpbandits_env.display import in_short


class OptimizationResult(OptimizeResult):
    """The result of an optimization: SciPy's `OptimizeResult` with the campaign and its model.

    Attributes:
        x: the best evaluated point whose constraints hold, in the form that the function takes;
            None if there is none.
        fun: its value, or NaN.
        x_iters: all points in order, including those known beforehand.
        func_vals: their values, (n,); NaN for failed calls and for those that have not ended.
        nfev: the number of calls that have ended.
        success: whether there is such a point.
        message: why the run ended.
        campaign: the `Campaign`, which can continue.
        agent: its agent.
    """

    campaign: Campaign

    @classmethod
    def of(cls, campaign: Campaign, nfev: int, message: str) -> Self:
        """The result of a campaign after ``nfev`` calls."""
        space, best, records = campaign.space, campaign.best, campaign.records
        made: Any = cls  # a dict; SciPy declares no fields
        return made(
            x=None if best is None else space.shaped(best.params),
            fun=np.nan if best is None else best.value,
            x_iters=[space.shaped(record.params) for record in records],
            func_vals=np.array([np.nan if r.value is None else r.value for r in records]),
            nfev=nfev,
            success=best is not None,
            message=message,
            agent=campaign.agent,
            campaign=campaign,
        )

    @property
    def recommended(self) -> Any:
        """The evaluated point with the best posterior mean, in the form of x; see `Campaign`."""
        params = self.campaign.recommended
        return None if params is None else self.campaign.space.shaped(params)

    def recommend(self, context: Params) -> Any:
        """The point with the best posterior mean in a context, in the form of x; see `Campaign`."""
        return self.campaign.space.shaped(self.campaign.recommend(context))

    def predict(self, points: object) -> tuple[Array, Array]:
        """Posterior mean and standard deviation at points; see `Campaign.predict`."""
        return self.campaign.predict(points)

    def importance(self, *, total: bool = False) -> dict[str, float]:
        """How much each dimension matters; see `Campaign.importance`."""
        return self.campaign.importance(total=total)

    def __repr__(self) -> str:
        campaign, best, advised = self.campaign, self.campaign.best, self.campaign.recommended
        found = advice = "none"
        if best is not None and advised is not None:
            mean, sd = (float(moment[0]) for moment in campaign.predict(advised))
            found = f"{in_short(best.value)} at {_listed(best.params)}"
            where = "the same point" if advised == best.params else _listed(advised)
            advice = f"{where}, where the mean is {in_short(mean)} +- {sd:.2g}"
        elif not np.isnan(self["func_vals"]).all():
            found = "none, because every value violates a constraint"
        shares = sorted(campaign.importance().items(), key=lambda item: -item[1])
        return (
            f"{'maximum' if campaign.maximize else 'minimum'}: {found}\n"
            f"recommended: {advice}\n"
            f"importance: {', '.join(f'{name} {share:.2f}' for name, share in shares)}\n"
            f"calls: {self['nfev']}, {len(campaign.failed)} failed, "
            f"{len(campaign.pending)} pending; {self['message']}\n"
            f"campaign: {campaign!r}"
        )

    __str__ = __repr__


def _listed(params: Params) -> str:
    return ", ".join(f"{name} = {in_short(value)}" for name, value in params.items())
