"""An agent put together from a posterior, an acquisition, a search and a batch rule."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.base import Agent
from gpbandits_env.agents.batch import BatchRule, rule_for
from gpbandits_env.agents.candidates import Places, places_of
from gpbandits_env.agents.forgetting import forgetting_for
from gpbandits_env.agents.gate import Compression, gate_for
from gpbandits_env.agents.history import History
from gpbandits_env.agents.refit import Model, Refit, learning_for
from gpbandits_env.agents.search import Search, search_for
from gpbandits_env.arrays import Array, finite_array
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.kernels import Kernel
from gpbandits_env.posterior import ArmPosterior, BoxPosterior, NystromPosterior, posterior_on
from gpbandits_env.problem import Problem

Posterior: TypeAlias = ArmPosterior | NystromPosterior | BoxPosterior
# A Nystrom posterior lives on arms: in a box it is given so many points.
NYSTROM_CANDIDATES = 1024


class GPAgent(Agent):
    """Plays the action of the best score, in batches by a rule.

    Departures of all such agents: 1. equal scores go to the lowest index (in the first round, under
    a constant prior, to arm 0 but for rounding); where every score is -inf, or 0 as a logarithm
    that has no more digits, to the largest posterior mean; 2. in a box the search is local, from
    many starts; with ``candidates`` it is exact over so many Sobol points, drawn once from the
    agent's generator, and the agent can be told of no other points.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        back: the posterior's representation on arms: "auto", "rows" or "coefficients".
        epsilon: if given, past data fade at this rate (see `forgetting`).
        reset_every: if given, all data are forgotten every so many rounds.
        window: if given, only so many last rounds count.
        compress: if given, only informative observations are let in (see `gate`): a rule as a dict,
            {"type": "constant", "epsilon": 1e-4} or {"type": "horizon", "alpha": 0.5}, or a number,
            which is a constant epsilon. What is rejected counts as a round and is forgotten; a
            window or a learner of epsilon sees only what was let in.
        qbar: if given, the belief is that of BKB: a Nystrom posterior whose dictionary is redrawn
            after each round from the whole history, each past point with probability
            min(1, qbar sigma~^2) (see `NystromPosterior`). It cannot fade, and in a box it lives on
            candidates, 1024 if their number is not given.
        candidates: in a box, the number of points to choose among; by default all of the box is
            searched.
        search: how a box is searched, as a dict (see `search`).
        batch: how a batch is put together: a rule's name or dict (see `batch`); by default one
            action after the other by hallucinated variance.
        learn: if given, hyper-parameters are learned from the rewards every so many rounds:
            {"every": 10, "what": ["lengthscale", "variance", "noise_var"], ...}, or true (see
            `refit.Learning`); `learned` lists what was.
        standardise: whether rewards are of unknown mean and scale: the model is then that of the
            problem for rewards of mean 0 and variance 1.

    Attributes:
        duplicates: how many actions it learned of repeated another one of the same round.
    """

    DEFAULT_BATCH: str | Mapping[str, Any] = "hallucinate"
    # Whether it has no acquisition of its own, because it draws samples of the function.
    samples: bool = False

    posterior: Posterior
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
        candidates: int | None = None,
        search: Mapping[str, Any] | str | None = None,
        batch: Mapping[str, Any] | BatchRule | str | None = None,
        learn: Mapping[str, Any] | Sequence[str] | bool | None = None,
        standardise: bool = False,
    ) -> None:
        super().__init__(problem, rng)
        self.duplicates = 0
        self._back, self._qbar, self._epsilon = back, qbar, epsilon
        self._compress = compress
        self._history = History()
        self.forgetting = forgetting_for(
            {"epsilon": epsilon, "reset_every": reset_every, "window": window}
        )
        self.gate = gate_for(compress, problem)
        if qbar is not None and candidates is None:
            candidates = NYSTROM_CANDIDATES
        self.places = self._belief_lives(candidates)
        self.posterior = self._prior(self._given)
        learning = learning_for(learn, standardise)
        self.refit = None if learning is None else Refit(learning, problem, self.places.domain)
        self.search = search_for(self.places.domain, search, rng)
        self.rule = rule_for(self.DEFAULT_BATCH if batch is None else batch)
        self.rule.check(self)

    def _belief_lives(self, candidates: int | None) -> Places:
        """The domain of the posterior; an embedding has another one than the problem."""
        return places_of(self.problem.domain, candidates, self.rng)

    @property
    def _given(self) -> Model:
        problem = self.problem
        return Model(problem.kernel, problem.noise_var, problem.prior_mean)

    def _prior(self, of: Model) -> Posterior:
        """The posterior of a model before any data."""
        domain = self.places.domain
        back, qbar, epsilon = self._back, self._qbar, self._epsilon
        if isinstance(domain, Box):
            if not isinstance(back, str) or back != "auto":
                raise InvalidInput(
                    f"in a box the posterior has one representation, got {shown(back)}"
                )
            assert not isinstance(of.prior_mean, np.ndarray)
            return BoxPosterior(domain, of.kernel, of.noise_var, of.prior_mean)
        assert isinstance(domain, Arms)
        model = (domain, of.kernel, of.noise_var, of.prior_mean)
        if qbar is None:
            return posterior_on(*model, representation=back, horizon=self.problem.horizon)
        if not isinstance(back, str) or back != "auto" or epsilon is not None:
            raise InvalidInput(
                "with qbar the belief is a Nystrom posterior: it has no other back, and its data "
                "cannot fade; leave out back and epsilon"
            )
        return NystromPosterior(*model, qbar=qbar, rng=self.rng)

    @abstractmethod
    def acquisition(self) -> Acquisition:
        """What scores the actions in this round."""

    def choose(self) -> NDArray[Any]:
        """The actions of this round in the posterior's terms, (m,) or (m, d)."""
        return self.rule.choose(self)

    def ask(self) -> NDArray[Any]:
        self.search.renew()
        return self.places.actions(self.choose())

    def absorb(self, places: ArrayLike, rewards: ArrayLike) -> tuple[NDArray[Any], Array]:
        """Let the posterior learn what the gate lets in; checks first.

        Args:
            places: (k,) arms or (k, d) points of the belief's domain.
            rewards: (k,).

        Returns:
            The places (k',) or (k', d) and rewards (k',) that were let in, fresh.
        """
        if not self.gate.open:
            places, rewards = self._let_in(places, rewards)
        self.posterior.condition(places, rewards)
        kind = np.float64 if isinstance(self.places.domain, Box) else np.int64
        absorbed = np.array(places, dtype=kind), np.array(rewards, dtype=np.float64)
        if self.refit is not None and kind is np.int64:
            self._history.add(*absorbed)
        return absorbed

    def _let_in(self, places: ArrayLike, rewards: ArrayLike) -> tuple[NDArray[Any], Array]:
        checked = self.places.domain.check(places)
        values = finite_array(rewards, "rewards", ndim=1)
        if len(values) != len(checked):
            raise InvalidInput(
                f"rewards must have shape ({len(checked)},), one per action, got {values.shape}"
            )
        passed = self.gate.passing(self.posterior, checked)
        return checked[passed], values[passed]

    def informative(self, actions: ArrayLike) -> NDArray[np.bool_]:
        places = self.places.domain.check(self.places.indices(actions))
        return self.gate.passing(self.posterior, places)

    def fade(self, epsilon: float) -> None:
        """A round passes: past data lose correlation by sqrt(1 - epsilon)."""
        self.posterior.advance(epsilon)
        self._history.faded(epsilon)

    def replace_model(self, kernel: Kernel, noise_var: float, prior_mean: float | Array) -> None:
        """Believe in another model of the same data; the gate and the search go with it.

        Args:
            kernel: in the units of the belief's domain.
            noise_var: in reward units squared.
            prior_mean: a number, or (n,) one an arm.
        """
        self.gate = gate_for(self._compress, self.problem.replaced(noise_var=noise_var))
        if isinstance(self.posterior, BoxPosterior):
            assert not isinstance(prior_mean, np.ndarray)
            self.posterior.replace_model(kernel, noise_var, prior_mean)
            return
        fresh = self._prior(Model(kernel, noise_var, prior_mean))
        assert not isinstance(fresh, BoxPosterior)
        fresh.replay(self._history.log)
        self.posterior = fresh

    @property
    def learned(self) -> list[dict[str, Any]]:
        """What was learned of the model, one dict a fit; see `refit.Refit`."""
        return [] if self.refit is None else self.refit.learned

    def forget(self) -> None:
        """Back to the prior, in mid-episode."""
        self.posterior.forget()
        self._history.clear()

    def tell(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        super().tell(actions, rewards, observed)
        self.duplicates += repeats(self._told[0])
        self.forgetting.after(self, *self._told)
        if self.refit is not None:
            self.refit.told(self, *self._told)

    def prior_data(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        super().prior_data(actions, rewards)
        self.forgetting.before(*self._told)
        if self.refit is not None:
            self.refit.told(self, *self._told)

    def _learn(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        self._told = self.absorb(self.places.indices(actions), rewards)

    def reset(self) -> None:
        super().reset()
        self.duplicates = 0
        self.forgetting.reset()
        self.forget()
        if self.refit is not None:
            self.refit.reset(self)

    def snapshot(self) -> dict[str, Any]:
        own = {"posterior": self.posterior.snapshot(), "forgetting": self.forgetting.snapshot()}
        own |= {"candidates": self.places.fingerprint, "duplicates": self.duplicates}
        if self.refit is not None:
            own |= {"history": self._history.snapshot(), "refit": self.refit.snapshot()}
        return super().snapshot() | own

    def _restore(self, state: Mapping[str, Any]) -> None:
        if state["candidates"] != self.places.fingerprint:
            raise InvalidInput("the agent of the snapshot has other candidate points: another seed")
        if self.refit is not None:
            self._history.restore(state["history"])
            self.refit.restore(self, state["refit"])
        self.posterior.restore(state["posterior"])
        self.forgetting.restore(state["forgetting"])
        self.duplicates = int(state["duplicates"])
        super()._restore(state)

    def belief(self, points: ArrayLike | None = None) -> tuple[Array, Array] | None:
        """Posterior mean and standard deviation, (n,) each, fresh.

        Args:
            points: (n, d) points of a box; on arms (or candidates) leave it out: it is all of them.
        Returns:
            None where points are needed and were not given.
        Raises:
            InvalidInput: points on arms, or outside the box.
        """
        posterior = self.posterior
        if not isinstance(posterior, BoxPosterior):
            if points is not None:
                raise InvalidInput("this agent believes something of arms: leave out the points")
            return posterior.mean.copy(), posterior.sd
        if points is None:
            return None
        mean, var = posterior.moments(self.places.domain.check(points))
        return mean, np.sqrt(var)

    @property
    def information_gain(self) -> float:
        """I(y; f) of what was told, in nats (srinivas2010, Lemma 5.3)."""
        return self.posterior.information_gain


def repeats(places: NDArray[Any]) -> int:
    """How many of some places (k,) or (k, d) are the same as one before."""
    return len(places) - len(np.unique(places, axis=0)) if len(places) > 1 else 0
