"""Whether the values of a campaign have noise, if nobody has said so."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from gpbandits_env.agents.acquisitions.rules import Improvement
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.records import CampaignLog, Record
from gpbandits_env.agents.registry import settings_of
from gpbandits_env.arrays import Settings, whole
from gpbandits_env.errors import InvalidInput, shown

# The best point is evaluated again if the learned noise has more than 0.4% of the variance of the
# values, or 0.2% once there are three times the spread points. On BBOB in 5 dimensions, instance
# 12, it had 0.03% to 0.4% after 20 to 30 values without noise (the function 3: 0.7%), and 0.2% to
# 6% with noise of a tenth of the standard deviation of the function.
FEWEST_BEFORE_REPEAT, DOUBTFUL, LATER = 20, 4e-3, 2e-3


def sample_scale(dim: int, noisy: bool) -> float:
    """The default factor of the difference between posterior samples and the posterior mean.

    It falls as the largest difference of a sample grows, with the root of the dimension, so that
    the maximizers are not far from all data. Without noise it is at most 1/2; with noise, samples
    so near the mean stay too long where a value was lucky. Chosen on BBOB, instances 11 and 12.
    """
    return min(1.0 if noisy else 0.5, math.sqrt(5.0 / dim))


def replicates_of(noise: object) -> int | None:
    """The number in ``noise={"replicates": n}``; None if the noise is given in another way.

    Raises:
        InvalidInput: it is a dict of another form, or the number is below 2.
    """
    if not isinstance(noise, Mapping):
        return None
    if set(noise) != {"replicates"}:
        raise InvalidInput(
            f"noise as a dict must be {{'replicates': the number per value}}, got {shown(noise)}"
        )
    return whole(noise["replicates"], "noise['replicates']", 2)


def pooled(noise: Sequence[float | None], replicates: int) -> list[float | None]:
    """Standard errors of means of few replicates, shrunk towards a common one; None stays None.

    Each is known from d = n - 1 degrees of freedom. The variances have a scaled inverse chi-squared
    prior, which is estimated from all of them, so that s^2 becomes (d0 s0^2 + d s^2) / (d0 + d).

    Args:
        noise: the standard errors; one below 1% of their median counts as that.
        replicates: n, at least 2.
    Source: Smyth (2004), Linear models and empirical Bayes methods, Section 6.2.
    """
    known = np.array([np.nan if sd is None else sd for sd in noise])
    told = ~np.isnan(known)
    var, d = known[told] ** 2, replicates - 1
    if len(var) < 2 or not var.any():
        return list(noise)
    var = np.maximum(var, 1e-4 * np.median(var[var > 0.0]))
    logs = np.log(var) - digamma(d / 2.0) + math.log(d / 2.0)
    beyond = float(np.var(logs, ddof=1)) - float(polygamma(1, d / 2.0))
    if beyond <= 1e-6:  # they differ by no more than chance
        var[:] = var.mean()
    else:
        half = brentq(lambda log: float(polygamma(1, math.exp(log))) - beyond, -30.0, 15.0)
        half = math.exp(half)
        common = math.exp(float(logs.mean()) + float(digamma(half)) - math.log(half))
        var = (2.0 * half * common + d * var) / (2.0 * half + d)
    known[told] = np.sqrt(var)
    return [None if np.isnan(sd) else float(sd) for sd in known]


class NoiseSearch:
    """Finds out by one repeated evaluation whether there is noise, and sets the agent accordingly.

    With noise, EI is ``augmented`` and its ``incumbent`` is "sampled", and the ``scale`` of
    posterior samples is larger. It does so for an agent with one of these settings that keeps its
    data, if neither the noise, nor the model, nor one of them is given.

    Args:
        agent: the agent of the campaign.
        noise: the standard deviation of the noise, None if it is unknown, or the replicates.
        given: the settings of the agent that the user gave.
        n_initial: the number of spread suggestions.
        log: the evaluations of the campaign.

    Attributes:
        replicates: the number of replicates from which each told noise is known; None if it is
            known exactly.
    """

    def __init__(
        self, agent: GPAgent, noise: Any, given: Settings, n_initial: int, log: CampaignLog
    ) -> None:
        self._agent, self._n_initial, self._log = agent, n_initial, log
        self.replicates = replicates_of(noise)
        self._noise: float | None = noise if self.replicates is None else None
        own = given.keys() & {"augmented", "incumbent", "scale", "noise_var", "learn", "kernel"}
        known = self._noise is not None or bool(own) or agent.forgets
        closer = agent.search.scale < sample_scale(agent.problem.domain.dim, noisy=True)
        settings = settings_of(type(agent))
        self._draws = closer and "scale" in settings
        self._active = not known and (self._draws or "augmented" in settings)
        self._on_arms = agent.problem.domain.finite

    @property
    def is_due(self) -> bool:
        """Whether the best point should be evaluated again now."""
        refit, log = self._agent.refit, self._log
        repeated = log.n_points < len(log.records)
        if not self._active or self._on_arms or repeated or log.noisy or refit is None:
            return False
        rewards = [log.reward(record) for record in log.of("done")]
        if len(rewards) < max(FEWEST_BEFORE_REPEAT, 1.5 * self._n_initial):
            return False
        part = DOUBTFUL if len(rewards) < 3 * self._n_initial else LATER
        return refit.model.noise_var > part * float(np.var(rewards))

    def use(self) -> None:
        """Let the agent choose as it should with noise, if there is noise."""
        if not self._active:
            return
        if isinstance(rule := self._agent.rule, Improvement):
            incumbent = "sampled" if self._log.noisy else "posterior-mean"
            self._agent.rule = replace(rule, augmented=self._log.noisy, incumbent=incumbent)
        if self._draws:
            dim = self._agent.problem.domain.dim
            self._agent.search.scale = sample_scale(dim, self._log.noisy)

    def is_known(self, record: Record | None) -> bool:
        """Whether a repeated evaluation returned the same value, so that there is no noise.

        The agent does not learn such a value: with it, it would no longer learn any noise, but the
        noise also stands for what a smooth model does not explain.
        """
        if record is None or not self._active or self._on_arms or record.noise is not None:
            return False
        return record.value in self._log.earlier_values(record)

    @property
    def is_present(self) -> bool | None:
        """Whether a repeated evaluation would return another value; None if that is unknown.

        It is False where repeated ones returned the same value, even if a noise is stated.
        """
        if not self._agent.forgets and (self._noise == 0.0 or self._log.repeats_itself):
            return False
        noisy = self._log.noisy if self._noise is None else self._noise > 0.0
        return noisy or None
