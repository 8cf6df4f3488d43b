"""An agent over a space of named values, and its default model."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpbandits_env.agents.acquisitions import Feasibility, Mean
from gpbandits_env.agents.acquisitions.schedules import LEARNED, THEOREM_1, THEOREM_OVER_5
from gpbandits_env.agents.data.learning import learning_for
from gpbandits_env.agents.embeddings.action_map import CandidateMap
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.agents.optimize.noise import sample_scale
from gpbandits_env.agents.optimize.records import Record
from gpbandits_env.agents.optimize.space import MOST_ARMS, Space
from gpbandits_env.agents.registry import OVERRIDES, agent_class, make, settings_of
from gpbandits_env.arrays import Array, Plain, Points, Settings, State, leading, positive, whole
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.gp.kernels import Kernel, Matern52, kernel_from_dict
from gpbandits_env.gp.kernels.kernel import Lengthscale
from gpbandits_env.problem import Problem

# The defaults on the unit cube, for values of variance 1.
LENGTHSCALE, NOISE_VAR = 0.3, 1e-4
# A fixed kernel whose lengthscales are all beyond these is hardly meant for the unit cube: it is
# that of a linear function, or of noise.
SHORTEST, LONGEST = 1e-3, 10.0
# A fit after three values, or after growth by 5% if that is more.
LEARN: Settings = {"every": 3, "growth": 0.05}
# The logarithms of d lengthscales differ from the common one by this in the sum of squares, unless
# the data say otherwise: by 1 each in 5 dimensions, by 0.5 in 20. Chosen on BBOB, instances 11
# and 12.
DIFFERENCES = 5.0
# In spaces with choices samples are as drawn, and beta is larger: no gradient leads to an option,
# and narrow bounds never try most of them. Chosen on the mixed space of
# `benchmarks/hard_objectives.py`, seeds 10 to 15.
AMONG_CHOICES = 6.0
# Points of the unit cube that differ by less in each coordinate are the same.
EQUAL = 1e-9
# Where data age, epsilon is learned with one lengthscale, from the last 150 values.
FADING: Settings = {"every": 5, "window": 150}

# Names of the same arguments in other libraries.
ELSEWHERE = {
    **dict.fromkeys(("n_trials", "n_iter", "maxiter", "max_evals", "budget"), "n_calls"),
    **dict.fromkeys(("n_initial_points", "n_random_starts", "init_points"), "n_initial"),
    **dict.fromkeys(("random_state", "rng", "random_seed"), "seed"),
    **dict.fromkeys(("acq_func", "acquisition_function", "sampler", "method"), "agent"),
    **dict.fromkeys(("n_jobs", "workers"), "parallel"),
    **dict.fromkeys(("dimensions", "pbounds", "space"), "bounds"),
    **dict.fromkeys(("func", "objective"), "fun"),
    "callbacks": "callback",
    "batch_size": "batch",
}


class SpaceAgent:
    """An agent whose actions are named values.

    The posterior of an agent with an embedding is on a small box. Several points of that box may
    represent the same point of the space, and suggestions are rounded for integers and choices. A
    value is therefore observed at the point of the small box that the agent had chosen, which is
    kept for each evaluation.
    """

    def __init__(self, space: Space, agent: GPAgent) -> None:
        self.space, self.agent = space, agent
        self._elsewhere = agent.action_map.inner.domain != space.domain
        self._points: dict[int, tuple[int, Points]] = {}

    def next(
        self,
        id: int,
        around: Sequence[Record],
        feasibility: Feasibility | None = None,
        repeat: bool = True,
        context: Params | None = None,
        *,
        again: bool = False,
    ) -> Plain | None:
        """The values of evaluation ``id``, given the pending and failed points, and some values.

        With a feasibility, scores are multiplied by it. Arms that should not be chosen again are
        chosen only if no other is left. In a box nothing prevents that an agent chooses such a
        point, for example in a corner; the result is None then. With a feasibility it is the
        candidate of largest variance among those that are feasible with probability 1/2.

        Args:
            id: the number of the evaluation.
            around: the pending and failed evaluations; at least the last ones.
            feasibility: the probability that constraints hold and that evaluations succeed.
            repeat: whether points with values may be chosen again.
            context: the values of some dimensions.
            again: whether the points of ``around`` may be chosen again.
        """
        agent = self.agent
        search, points = agent.search, self._points_of(around) if around else None
        search.renew()
        if context:
            search.fix(self.space.domain, self.space.partly(context))
        search.feasibility = feasibility
        known = agent.posterior.observed[: 0 if repeat else None]
        if points is not None and not again:
            known = np.concatenate([known, points])
        try:
            if points is not None:
                agent.posterior.hallucinate(points)
            point = self._choose(known)
        finally:
            agent.posterior.rollback()
            search.feasibility = None
            search.excluded = None
            if context:
                search.fix(self.space.domain, None)
        if point is None:
            return None
        if self._elsewhere:
            self._points[id] = agent.action_map.fingerprint, np.array(point)
        return self.space.params(agent.action_map.actions(point)[0]) | dict(context or {})

    def _choose(self, known: Points) -> Points | None:
        """The agent's choice, (1,) or (1, d), which is none of the known points; see `next`."""
        agent, search = self.agent, self.agent.search
        if agent.action_map.inner.domain.finite:
            search.excluded = known if len(known) else None
            return agent.choose()
        point = agent.choose()
        if not _is_among(known, point):
            return point
        if search.feasibility is None:
            return None
        # Spread points, which are asked instead of None, do not consider the feasibility.
        options, _, var = search.candidates_of(agent.posterior)
        var[~search.feasibility.likely(options)] = 0.0
        point = options[leading(var)[None]]
        return point if var.any() and not _is_among(known, point) else None

    def check_context(self) -> None:
        """Raise `InvalidInput` if the agent cannot fix some of the values."""
        agent = self.agent
        whole = agent.action_map.belief_domain == agent.problem.domain
        if agent.composed.is_local or not whole or self._elsewhere:
            raise InvalidInput(
                f"{type(agent).__name__} searches lines, subspaces or candidates of its own "
                "and supports no context: use ei, gp-ucb, ts, ..."
            )
        if self.space.linear and not self.space.domain.finite:
            raise InvalidInput(
                "linear constraints are not supported together with a context, because a search "
                "that fixes coordinates does not move along them: state them as upper bounds by "
                "name, constraints={'name': bound}, or use a space without real dimensions"
            )

    def best_mean(self, context: Params) -> Plain:
        """The values with the largest posterior mean among those that agree with the context."""
        agent, search = self.agent, self.agent.search
        search.renew()
        search.fix(self.space.domain, self.space.partly(context))
        try:
            point = search.best(Mean(), agent.posterior)
        finally:
            search.fix(self.space.domain, None)
        return self.space.params(agent.action_map.actions(point)[0]) | dict(context)

    def tell(
        self, records: Sequence[Record], rewards: Sequence[float], *, counts: bool = False
    ) -> None:
        """Observe rewards together: prior data, or if they count, those of a round."""
        learn = self.agent.tell if counts else self.agent.prior_data
        noise_var = [np.nan if r.noise is None else r.noise**2 for r in records]
        told = {} if np.isnan(noise_var).all() else {"noise_var": noise_var}
        learn(self._actions(records), rewards, **told)

    def learn_anew(self, told: Sequence[tuple[Record | None, float, float | None]]) -> None:
        """Forget all data, and observe these; the number of rounds stays.

        Args:
            told: in order, each a record, its reward, and the time that passed before it: 0 for
                prior data, None for one round after it. Without a record, only time passes.
        """
        agent, rounds = self.agent, self.agent.round
        agent.reset()
        if not agent.forgets:
            if known := [(record, reward) for record, reward, _ in told if record is not None]:
                self.tell([record for record, _ in known], [reward for _, reward in known])
        else:
            for record, reward, elapsed in told:
                if record is None:
                    self.wait(elapsed or 0.0)
                elif elapsed:
                    self.tell_after(elapsed, record, reward)
                else:
                    self.tell([record], [reward], counts=elapsed is None)
        agent.round = rounds

    def tell_after(self, elapsed: float, record: Record, reward: float) -> None:
        """Observe a reward after some time; the round itself takes no time."""
        self.wait(elapsed)
        self.agent.pace = 0.0
        try:
            self.tell([record], [reward], counts=True)
        finally:
            self.agent.pace = 1.0

    def wait(self, elapsed: float) -> None:
        """Let time pass; see `GPAgent.wait`."""
        if elapsed:
            self.agent.wait(elapsed)

    def recommended(
        self, records: Sequence[Record], feasibility: Feasibility | None = None
    ) -> Record | None:
        """The record with the largest posterior mean among those with values.

        With a feasibility, only points where each constraint likely holds are considered.
        """
        posterior = self.agent.posterior
        observed, mean = posterior.observed, posterior.mean_at_observed()
        if feasibility is not None:
            likely = feasibility.likely(observed)
            observed, mean = observed[likely], mean[likely]
        if not len(observed):
            return None
        top = observed[leading(mean)]
        away = np.abs(self._points_of(records) - top).reshape(len(records), -1).sum(axis=1)
        return records[int(away.argmin())]

    def moments(self, unit: Array) -> tuple[Array, Array]:
        """Posterior mean and variance (n,) at points (n, d) of the unit cube that stand for values.

        They are those of the rewards, which are to be maximized.
        """
        actions = unit
        if self.space.domain.finite:
            actions = np.array([self.space.nearest(one) for one in unit], dtype=np.int64)
        mean, var = self.agent.posterior.moments(self.agent.action_map.points(actions))
        if self.agent.refit is None or self.agent.refit.winsorizer is None:
            return mean, var
        mean, slope = self.agent.refit.winsorizer.undone(mean)
        return mean, var * slope**2

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        points = [[id, of, point.copy()] for id, (of, point) in self._points.items()]
        return {"state": self.agent.snapshot(), "points": points}

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        self.agent.restore(state["state"])
        domain = self.agent.action_map.inner.domain
        self._points = {
            whole(id, "id", 0): (whole(of, "fingerprint", 0), domain.check(point, 1))
            for id, of, point in state["points"]
        }

    def _actions(self, records: Sequence[Record]) -> Points:
        """The agent's actions for records, which it observes at the points that it had chosen."""
        actions = np.array([self.space.action(record.params) for record in records])
        if self._elsewhere:
            points = [self._point(record) for record in records]
            own = [point is not None for point in points]
            chosen = [self.agent.posterior.observed[:0], *(p for p in points if p is not None)]
            # Also with none, so that the map does not remember earlier ones.
            actions[own] = self.agent.action_map.actions(np.concatenate(chosen))
        return actions

    def _points_of(self, records: Sequence[Record]) -> Points:
        """The points of records in the posterior's domain, (n,) arms or (n, d) points; n >= 1."""
        actions = np.array([self.space.action(record.params) for record in records])
        found = self.agent.action_map.points(self.agent.problem.domain.check(actions))
        for i, record in enumerate(records if self._elsewhere else ()):
            if (point := self._point(record)) is not None:
                found[i] = point[0]
        return found

    def _point(self, record: Record) -> Points | None:
        of, point = self._points.get(record.id, (None, None))
        return point if of == self.agent.action_map.fingerprint else None


def _is_among(known: Points, point: Points) -> bool:
    """Whether a point (1, d) is one of the known ones (n, d)."""
    return bool(len(known)) and bool(np.abs(known - point).max(axis=1).min() < EQUAL)


def check_settings(call: str, own: Sequence[str], agent: str, settings: Settings) -> None:
    """Raise an error for settings that neither a call nor its agent has."""
    known = ({*settings_of(agent), *OVERRIDES} - {"batch_size"}) | {*own}
    for key in settings:
        if key not in known:
            raise unknown(f"argument of {call}", key, known, meant=ELSEWHERE.get(key))


def agent_for(
    space: Space,
    name: str,
    seed: int,
    settings: Settings,
    noise: float | None = None,
    robust: bool = False,
) -> GPAgent:
    """Make an agent over a space, with noise of a known standard deviation if one is given.

    A kernel that is given acts on the unit cube: each dimension is scaled to [0, 1], a logarithmic
    one by its logarithm, and a choice has a coordinate for each option. If it is robust, what is
    learned by default draws in rewards far from most others.

    By default, the kernel is Matern-5/2 with lengthscale 0.3 sqrt(d) on the unit cube and variance
    1, the noise has variance 1e-4, and values are standardized. The lengthscales (one per
    dimension), the variance and the noise variance are learned at every third value, and less often
    above 60 values, unless a kernel is given. With a window or resets, the model is that of the
    data in the window. Where data age by an epsilon, it is learned too, from the value that is
    given, with one lengthscale; ``temporal`` stays as given. Where an agent's own beta_t is that of
    a theorem, beta is 2.
    The ``scale`` of an agent that draws posterior samples is `sample_scale`. In spaces with
    choices, that beta is 6, and ``scale`` is 1. If the noise is given and not 0, EI is
    ``augmented`` and its ``incumbent`` is "sampled"; see `noise` too.

    Raises:
        UnknownName: there is no such agent or setting.
        InvalidInput: the agent has no posterior, or accepts observations only at its own candidates
            although the space is continuous; or a setting is out of range.
    """
    cls = agent_class(name)
    if not issubclass(cls, GPAgent):
        raise InvalidInput(
            f"a campaign needs an agent with a Gaussian-process posterior, because of pending "
            f"points; {name!r} has none: use ei, gp-ucb, ts, ..."
        )
    if "batch_size" in settings:
        raise InvalidInput("leave out batch_size: ask(n) returns any number of suggestions")
    given = {"standardize": True, **settings}
    problem = Problem(space.domain, Matern52(LENGTHSCALE * math.sqrt(space.dim)), NOISE_VAR)
    if "kernel" in given and not given.get("learn"):
        _warn_of_units(kernel_from_dict(given["kernel"]))
    usual = "learn" not in given and "kernel" not in given
    if usual:
        given["learn"] = _usual_learning(space, cls, given, robust)
    given = _exploration(space, name, bool(noise)) | given
    if noise is not None:
        given |= _with_noise(positive(noise, "noise", zero=True), given)
    agent = make(name, problem, seed=seed, **given)
    assert isinstance(agent, GPAgent)
    # The options of a choice share a lengthscale. An embedding, which only the agent knows, has
    # other coordinates.
    refit, mapped = agent.refit, agent.action_map
    if usual and refit is not None and refit.learning.ard and mapped.inner.domain == space.domain:
        refit.learn_by(replace(refit.learning, ard=space.groups))
    if isinstance(mapped, CandidateMap):
        raise InvalidInput(
            f"{name!r} with these settings cannot run a campaign in this space: it accepts "
            "observations only at its own candidates, but the points of a campaign may lie "
            "anywhere; use an agent that accepts any point (ei, gp-ucb, ts, ...), without "
            "candidates and a Nystrom posterior, or a space of at most "
            f"{MOST_ARMS} combinations"
        )
    return agent


def _warn_of_units(kernel: Kernel) -> None:
    """Warn if the lengthscales of a fixed kernel are hardly meant for the unit cube."""
    found: list[float] = []

    def noted(lengthscale: Lengthscale) -> Lengthscale:
        found.extend(np.ravel(lengthscale).tolist())
        return lengthscale

    kernel.with_lengthscale(noted)
    if found and (min(found) > LONGEST or max(found) < SHORTEST):
        warnings.warn(
            f"the kernel acts on dimensions scaled to [0, 1], where all of its lengthscales "
            f"{shown(found)} are extreme: divide each by high - low of its dimension, or let "
            "learn=True fit them",
            stacklevel=3,
        )


def _exploration(space: Space, name: str, noisy: bool) -> Plain:
    """The defaults of the settings that say how far an agent explores."""
    known = settings_of(name)
    found: Plain = {}
    choices = not all(dimension.ordered for dimension in space.dimensions.values())
    if known.get("beta", ...) in (None, THEOREM_OVER_5, THEOREM_1):
        found["beta"] = AMONG_CHOICES if choices else LEARNED
    if "scale" in known and not choices:
        found["scale"] = sample_scale(len(space.dimensions), noisy)
    if "augmented" in known and noisy:
        found |= {"augmented": True, "incumbent": "sampled"}
    return found


def _usual_learning(space: Space, cls: type[GPAgent], given: Settings, robust: bool) -> Plain:
    """What is learned by default, and when."""
    what = ["lengthscale", "variance"] + ["noise_var"] * ("noise_var" not in given)
    moving = given.get("temporal") is not None or cls.PARTS.temporal is not None
    if not moving and (cls.assumes_drift or given.get("epsilon") is not None):
        return {**FADING, "what": [*what, "epsilon"]}
    spread = math.sqrt(min(3.0, DIFFERENCES / len(space.dimensions)))
    learn = {**LEARN, "what": what, "ard": True, "spread": spread}
    learn["robust"] = robust
    for name in ("window", "reset_every"):
        if given.get(name) is not None:
            learn["last"] = max(2, whole(given[name], name))
    return learn


def _with_noise(noise: float, given: Settings) -> Plain:
    """The settings for noise of a known standard deviation, in the units of the values."""
    learning = learning_for(given.get("learn"), given["standardize"])
    if "noise_var" in given:
        raise InvalidInput("give noise or noise_var, not both: noise is a standard deviation")
    if learning is None:
        return {"noise_var": noise**2}
    kept = tuple(name for name in learning.what if name != "noise_var")
    return {"noise_var": noise**2, "learn": replace(learning, what=kept, known_noise=True)}
