"""Agents for which the acquisition is a setting: what they add is where to look."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions.rules import rule_named
from gpbandits_env.agents.acquisitions.schedules import Beta
from gpbandits_env.agents.action_map import ActionMap
from gpbandits_env.agents.batch import Batch
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import BoxPosterior
from gpbandits_env.problem import Problem


class AnyAcquisition(GPAgent):
    """An agent of a box that maximises an acquisition of the user's choice.

    Args:
        problem: where it acts and what it knows beforehand; its domain is a box.
        rng: its own randomness.
        action_map: as of `GPAgent`.
        acquisition: "ucb"; "ei" or "mpi", whose incumbent is the largest posterior mean at an
            observed point; or "ts", where each action maximises a posterior sample of its own
            (unless the setting batch says "dpp" or "ts-rsr").
        margin: of "ei" (0 when not given) and "mpi" (0.01), in reward units.
        beta: of "ucb".
        batch: a batch rule.
        parts: those of `GPAgent`.
    Raises:
        InvalidInput: a domain of arms.
        UnknownName: no such acquisition.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        action_map: ActionMap | None = None,
        *,
        acquisition: str = "ucb",
        margin: float | None = None,
        beta: Beta | None = None,
        batch: Batch | None = None,
        **parts: Any,
    ) -> None:
        if not isinstance(problem.domain, Box):
            raise InvalidInput(
                f"{type(self).__name__} looks for its actions in a box; the domain here is arms"
            )
        rule = rule_named(acquisition, self.default_beta() if beta is None else beta, margin)
        if batch is None:
            batch = "thompson" if rule is None else "hallucinate"
        action_map = ActionMap(problem) if action_map is None else action_map
        super().__init__(problem, rng, rule, action_map, batch=batch, **parts)

    def default_beta(self) -> Mapping[str, Any]:
        """Theorem 2 over 5, for the dimension and the sides of the box that is searched."""
        raise NotImplementedError

    @property
    def box_posterior(self) -> BoxPosterior:
        """The posterior, which is over a box."""
        assert isinstance(self.posterior, BoxPosterior)
        return self.posterior
