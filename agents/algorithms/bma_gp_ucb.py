"""BMA-GP-UCB: GP-UCB that averages models of the drift by how well they predict.

Paper: none; this library's own, for drift of unknown rate. It joins parts of several papers:
TV-GP-UCB (bogunovic2016) at several rates, the event trigger of Brunzema et al. (2025) with a
simpler bound, and the fixed-share weights of Herbster and Warmuth (1998).
Assumes: noise of known variance, and a function that drifts at one of the rates, or changes at
once, or does both in turn.
Departures: 1. ties (see `leader`) go to the lowest index; 2. in a box it chooses among candidate
points.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import USUAL_CANDIDATES, Parts
from gpbandits_env.arrays import Array, listed, share
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import ArmPosterior, DriftHypothesis, MixturePosterior, Posterior
from gpbandits_env.problem import Problem

EPSILONS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)


class BMAGPUCB(GPAgent):
    """GP-UCB under a mixture of posteriors, one for each rate of the drift; it is told no rate.

    The weights of the rates follow the density with which each predicted the rewards. The static
    one (epsilon = 0) starts again where a reward is far from its prediction, which finds change
    points. See `MixturePosterior`.

    Cost: that of one `TVGPUCB` per rate.

    Args:
        epsilons: the Markov rates, each in [0, 1].
        switching: the share of the weight that is spread evenly over the rates in every round.
        trigger: the number of standard deviations by which a reward must differ from its prediction
            for the static model to start again.
        beta: see `GPUCB`; 4 by default.
        candidates: in a box, the number of points to choose among.
    Attributes:
        weights: (K,) the weights of the rates, which sum to 1.
    Raises:
        InvalidInput: a number is out of range, there are no rates, or a Nystrom posterior is
            chosen.
    """

    PARTS = Parts(
        acquisition=partial(ConfidenceBound, beta=4.0),
        keep=partial(Keep),
        candidates=USUAL_CANDIDATES,
    )

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        epsilons: Sequence[float] = EPSILONS,
        switching: float = 0.001,
        trigger: float = 4.0,
        **settings: Any,
    ) -> None:
        self.epsilons = [share(epsilon, "epsilon") for epsilon in listed(epsilons, "epsilons")]
        self._switching, self._trigger = switching, trigger
        super().__init__(problem, rng, **settings)

    @property
    def weights(self) -> Array:
        weights: Array = self.posterior.weights
        return weights

    def _prior(self, model: Model) -> Posterior:
        if self.composed.kind["type"] == "nystrom":
            raise InvalidInput("bma-gp-ucb needs an exact posterior: leave out posterior='nystrom'")
        found = []
        for epsilon in self.epsilons:
            posterior = super()._prior(model)
            if not isinstance(posterior, ArmPosterior):
                raise InvalidInput(
                    "bma-gp-ucb needs arms or candidates: with contexts, a finite set of them"
                )
            found.append(DriftHypothesis(posterior, epsilon, None if epsilon else self._trigger))
        return MixturePosterior(found, self._switching)
