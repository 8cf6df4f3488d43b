"""Agents for which the acquisition is a setting: what they add is where to look."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions import UCB, Acquisition, LogEI, LogPI, Mean
from gpbandits_env.agents.candidates import Places
from gpbandits_env.agents.gp_ucb import GPUCB
from gpbandits_env.arrays import positive
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.posterior import BoxPosterior
from gpbandits_env.problem import Problem

# By name, from beta, the incumbent and the margin; and the usual margin, in reward units.
ACQUISITIONS: dict[str, tuple[Callable[[float, float, float], Acquisition], float]] = {
    "ucb": (lambda beta, incumbent, margin: UCB(beta), 0.0),
    "ei": (lambda beta, incumbent, margin: LogEI(incumbent, margin), 0.0),
    "mpi": (lambda beta, incumbent, margin: LogPI(incumbent, margin), 0.01),
    "ts": (lambda beta, incumbent, margin: Mean(), 0.0),
}


class AnyAcquisition(GPUCB):
    """An agent of a box that maximises an acquisition of the user's choice.

    Args:
        problem: where it acts and what it knows beforehand; its domain is a box.
        rng: its own randomness.
        acquisition: "ucb"; "ei" or "mpi", whose incumbent is the largest posterior mean at a point
            told of; or "ts", where each action maximises a posterior sample of its own (unless the
            setting batch says "dpp" or "ts-rsr").
        margin: of "ei" (0 when not given) and "mpi" (0.01), in reward units.
        settings: those of `GPUCB`.
    Raises:
        InvalidInput: a domain of arms; candidates or qbar, which would make it one.
        UnknownName: no such acquisition.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        acquisition: str = "ucb",
        margin: float | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(problem.domain, Box):
            raise InvalidInput(
                f"{type(self).__name__} looks for its actions in a box; the domain here is arms"
            )
        if not isinstance(acquisition, str) or acquisition not in ACQUISITIONS:
            raise unknown("acquisition", acquisition, ACQUISITIONS)
        self._kind, self.samples = acquisition, acquisition == "ts"
        if self.samples and settings.get("batch") is None:
            settings["batch"] = "thompson"
        usual = ACQUISITIONS[acquisition][1]
        self._margin = usual if margin is None else positive(margin, "margin", zero=True)
        super().__init__(problem, rng, **settings)

    def _belief_lives(self, candidates: int | None) -> Places:
        if candidates is not None:
            raise InvalidInput(
                f"{type(self).__name__} believes something of a whole box: leave out candidates "
                "and qbar"
            )
        return super()._belief_lives(None)

    def default_beta(self, on_arms: bool) -> Mapping[str, Any]:
        """Theorem 2 over 5, for the dimension and the sides of the box that is searched."""
        box = self.places.domain
        assert isinstance(box, Box)
        side = float((box.high - box.low).max())
        return {"type": "continuous", "scale": 0.2, "dim": box.dim, "r": side}

    def acquisition(self) -> Acquisition:
        return self.acquisition_under(self.posterior)

    def acquisition_under(self, posterior: Any) -> Acquisition:
        """The acquisition of this round, for a belief of the agent's."""
        told = posterior.mean_at_observed()  # nothing where all has faded
        incumbent = float(told.max() if len(told) else posterior.prior_mean)
        return ACQUISITIONS[self._kind][0](self.beta, incumbent, self._margin)

    @property
    def box_posterior(self) -> BoxPosterior:
        """The belief, which is one in a box."""
        assert isinstance(self.posterior, BoxPosterior)
        return self.posterior
