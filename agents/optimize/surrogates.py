"""What a campaign learns from its evaluations."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpbandits_env.agents.acquisitions import Feasibility
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.constraints import Slacks
from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.agents.optimize.failures import Failures
from gpbandits_env.agents.optimize.noise import NoiseSearch, pooled
from gpbandits_env.agents.optimize.records import CampaignLog, Record
from gpbandits_env.agents.optimize.space_agent import SpaceAgent
from gpbandits_env.arrays import Plain, State

# Once there is a model of failures, the variance is conditioned on this many failed points, the
# last ones. With none, 1 to 2 more of 60 evaluations fail; see `benchmarks/failures.py`.
LAST_FAILED = 64


class Surrogates:
    """The agent of a campaign, models of its constraints and failures, and whether there is noise.

    Args:
        agent: the agent of the campaign.
        log: its evaluations.
        noise: what finds out whether there is noise.
        failures: what failures come from; see `Campaign`.

    Attributes:
        in_space: the agent with named values as actions.
        slacks: the models of the constraints.
        failures: the model of success.
    """

    def __init__(self, agent: GPAgent, log: CampaignLog, noise: NoiseSearch, failures: str) -> None:
        self._log, self.in_space = log, SpaceAgent(log.space, agent)
        self.slacks = Slacks(log.space, agent, log.bounds)
        self.failures = Failures(log.space, agent, failures)
        self.noise, refit = noise, agent.refit
        learns = refit is not None and refit.learning.standardize
        self._standardizes = learns and not np.any(agent.problem.prior_mean)

    def next(self, context: Params | None) -> Plain | None:
        """The agent's choice of the next evaluation, given the pending and failed points.

        None if it would be a point of a box whose value is known or pending.
        """
        log, best = self._log, self._log.best
        if context is None and best is not None and self.noise.is_due:
            return dict(best.params)
        self.noise.use()
        pending, failed = log.of("pending"), self.failures.avoided(log.of("failed"))
        slacks, success = self.slacks.posteriors, self.failures.success
        around = [*pending, *(failed if success is None else failed[-LAST_FAILED:])]
        feasibility = Feasibility(slacks) if slacks else None
        if success is not None:
            points = [log.space.action(record.params) for record in failed]
            feasibility = Feasibility(slacks, success, np.array(points) if points else None)
        noisy = self.noise.is_present
        return self.in_space.next(len(log.records), around, feasibility, context, noisy)

    def tell(self, records: Sequence[Record], pace: float | None) -> None:
        """Observe values now, as a round that takes the time ``pace``, or as no round."""
        log, new = self._log, [record for record in records if not self.noise.is_known(record)]
        if new:
            self.in_space.tell(self._pooled(new), [log.reward(record) for record in new], pace)
        for record in records:
            log.told_at(record.id, log.now, pace)
        self.slacks.tell(records)
        if self._standardizes and log.moves_origin():
            self._learn_values_anew()

    def _pooled(self, new: Sequence[Record]) -> Sequence[Record]:
        """New records with their noise as the agent learns it; that of earlier ones changes too."""
        if self.noise.replicates is None:
            return new
        told = (record for record, _, _ in self._log.observed())
        before = [r for r in told if r is not None and not self.noise.is_known(r)]
        sds = pooled([record.noise for record in (*before, *new)], self.noise.replicates)
        known = np.array(sds[: len(before)], dtype=float)  # None becomes NaN
        self.in_space.agent.data.restate(known**2)
        return [replace(r, noise=sd) for r, sd in zip(new, sds[len(before) :], strict=True)]

    def learn_anew(self) -> None:
        """Forget all data, and observe those of the log with their times."""
        self._learn_values_anew()
        told = (record for record, _, _ in self._log.observed())
        self.slacks.learn_anew([record for record in told if record is not None])
        self.failures.learn_anew(self._log.records)

    def _learn_values_anew(self) -> None:
        told = self._log.observed()
        learned = [entry for entry in told if not self.noise.is_known(entry[0])]
        if self.noise.replicates is not None:
            sds = pooled([r.noise if r else None for r, _, _ in learned], self.noise.replicates)
            each = ((*entry, sd) for entry, sd in zip(learned, sds, strict=True))
            learned = [(r and replace(r, noise=sd), reward, one) for r, reward, one, sd in each]
        self.in_space.learn_anew(learned)

    def recommended(self) -> Record | None:
        """The record with the best posterior mean where constraints likely hold, or the best."""
        slacks = self.slacks.posteriors
        likely = Feasibility(slacks) if slacks else None
        return self.in_space.recommended(self._log.of("done"), likely) or self._log.best

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        own = {"slacks": self.slacks.snapshot(), "success": self.failures.snapshot()}
        return own | self.in_space.snapshot()

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot, which belongs to the log."""
        self.in_space.restore(state)
        self.slacks.restore(state["slacks"])
        self.failures.restore(state["success"])
