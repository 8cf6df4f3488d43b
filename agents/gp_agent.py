"""An agent put together from a posterior, an acquisition, a search and a batch rule."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.base import Agent
from gpbandits_env.agents.batch import BatchRule, rule_for
from gpbandits_env.agents.candidates import Candidates
from gpbandits_env.agents.forgetting import forgetting_for
from gpbandits_env.agents.gate import Compression, gate_for
from gpbandits_env.agents.search import ArmSearch, Search
from gpbandits_env.arrays import Array, IntArray, finite_array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import ArmPosterior, NystromPosterior, posterior_on
from gpbandits_env.problem import Problem


class GPAgent(Agent):
    """Plays the arm of the best score, in batches by a rule.

    Departures of all such agents: 1. equal scores go to the lowest index (in the first round, under
    a constant prior, to arm 0 but for rounding); where every score is -inf, or 0 as a logarithm
    that has no more digits, to the largest posterior mean; 2. in a box they choose among
    ``candidates`` Sobol points, drawn once from the agent's generator, and can be told of no other
    points.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        back: the posterior's representation: "auto", "rows" or "coefficients".
        epsilon: if given, past data fade at this rate (see `forgetting`).
        reset_every: if given, all data are forgotten every so many rounds.
        window: if given, only so many last rounds count.
        compress: if given, only informative observations are let in (see `gate`): a rule as a dict,
            {"type": "constant", "epsilon": 1e-4} or {"type": "horizon", "alpha": 0.5}, or a number,
            which is a constant epsilon. What is rejected counts as a round and is forgotten; a
            window or a learner of epsilon sees only what was let in.
        qbar: if given, the belief is that of BKB: a Nystrom posterior whose dictionary is redrawn
            after each round from the whole history, each past point with probability
            min(1, qbar sigma~^2) (see `NystromPosterior`). It cannot fade.
        candidates: the number of points in a box.
        batch: how a batch is put together: a rule's name or dict (see `batch`); by default one
            action after the other by hallucinated variance.
    """

    DEFAULT_BATCH: str | Mapping[str, Any] = "hallucinate"

    posterior: ArmPosterior | NystromPosterior
    search: Search
    rule: BatchRule

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        back: str = "auto",
        epsilon: float | None = None,
        reset_every: int | None = None,
        window: int | None = None,
        compress: Mapping[str, Any] | Compression | float | None = None,
        qbar: float | None = None,
        candidates: int = 1024,
        batch: Mapping[str, Any] | BatchRule | str | None = None,
    ) -> None:
        super().__init__(problem, rng)
        self.forgetting = forgetting_for(
            {"epsilon": epsilon, "reset_every": reset_every, "window": window}
        )
        self.gate = gate_for(compress, problem)
        self._candidates = Candidates.of(problem.domain, candidates, rng)
        self.posterior = self._prior(back, qbar, epsilon)
        self.search = ArmSearch()
        self.rule = rule_for(self.DEFAULT_BATCH if batch is None else batch)
        self.rule.check(self)

    def _prior(
        self, back: str, qbar: float | None, epsilon: float | None
    ) -> ArmPosterior | NystromPosterior:
        """The posterior before any data."""
        problem, arms = self.problem, self._candidates.arms
        model = (arms, problem.kernel, problem.noise_var, problem.prior_mean)
        if qbar is None:
            return posterior_on(*model, back=back, horizon=problem.horizon)
        if back != "auto" or epsilon is not None:
            raise InvalidInput(
                f"with qbar the belief is a Nystrom posterior: it has no other back, and its data "
                f"cannot fade; leave out back and epsilon (got {back!r} and {epsilon!r})"
            )
        return NystromPosterior(*model, qbar=qbar)

    @abstractmethod
    def acquisition(self) -> Acquisition:
        """What scores the arms in this round."""

    def choose(self) -> NDArray[Any]:
        """The actions of this round in the posterior's terms, (m,) or (m, d)."""
        return self.rule.choose(self)

    def ask(self) -> NDArray[Any]:  # noqa: D102
        return self._candidates.actions(self.choose())

    def absorb(self, arms: ArrayLike, rewards: ArrayLike) -> tuple[IntArray, Array]:
        """Let the posterior learn what the gate lets in; checks first.

        Returns:
            The arms (k,) and rewards (k,) that were let in, fresh.
        """
        if not self.gate.open:
            arms, rewards = self._let_in(arms, rewards)
        self.posterior.update(arms, rewards)
        absorbed = np.array(arms, dtype=np.int64), np.array(rewards, dtype=np.float64)
        if isinstance(self.posterior, NystromPosterior) and len(absorbed[0]):
            self.posterior.redraw(self.rng)
        return absorbed

    def _let_in(self, arms: ArrayLike, rewards: ArrayLike) -> tuple[IntArray, Array]:
        indices = self.posterior.arms.check(arms)
        values = finite_array(rewards, "rewards", ndim=1)
        if len(values) != len(indices):
            raise InvalidInput(
                f"rewards must have shape ({len(indices)},), one per action, got {values.shape}"
            )
        passed = self.gate.passing(self.posterior, indices)
        return indices[passed], values[passed]

    def informative(self, actions: ArrayLike) -> NDArray[np.bool_]:  # noqa: D102
        arms = self.posterior.arms.check(self._candidates.indices(actions))
        return self.gate.passing(self.posterior, arms)

    def forget(self) -> None:
        """Back to the prior, in mid-episode."""
        self.posterior.forget()

    def tell(  # noqa: D102
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        super().tell(actions, rewards, observed)
        self.forgetting.after(self, *self._told)

    def _learn(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        self._told = self.absorb(self._candidates.indices(actions), rewards)

    def reset(self) -> None:  # noqa: D102
        super().reset()
        self.forgetting.reset()
        self.forget()

    def snapshot(self) -> dict[str, Any]:  # noqa: D102
        own = {"posterior": self.posterior.snapshot(), "forgetting": self.forgetting.snapshot()}
        return super().snapshot() | own | {"candidates": self._candidates.fingerprint}

    def _restore(self, state: Mapping[str, Any]) -> None:
        if state["candidates"] != self._candidates.fingerprint:
            raise InvalidInput("the agent of the snapshot has other candidate points: another seed")
        self.posterior.restore(state["posterior"])
        self.forgetting.restore(state["forgetting"])
        super()._restore(state)

    def belief(self) -> tuple[Array, Array]:
        """Posterior mean and standard deviation at the arms (or candidates), (n,) each, fresh."""
        return self.posterior.mean.copy(), self.posterior.sd

    @property
    def information_gain(self) -> float:
        """I(y; f) of what was told, in nats (srinivas2010, Lemma 5.3)."""
        return self.posterior.information_gain
