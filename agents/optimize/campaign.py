"""A campaign: ask and tell for real evaluations, which survives the end of the process in a file.

`CampaignView` has what can be read from it: its evaluations, and the posterior of its agent.

Several suggestions may be pending at once, and values may arrive late or never. Some values may be
known in advance, and time may be clock time.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint

from gpbandits_env.agents.agent import BROKEN
from gpbandits_env.agents.optimize.constraints import linear_to_dict, split
from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.agents.optimize.file import CampaignFile
from gpbandits_env.agents.optimize.inputs import by_label, one_each
from gpbandits_env.agents.optimize.noise import NoiseSearch
from gpbandits_env.agents.optimize.records import CampaignLog, Limits, Record, Suggestion
from gpbandits_env.agents.optimize.space import Space, SpaceSpec
from gpbandits_env.agents.optimize.spread import n_initial_for, next_spread
from gpbandits_env.agents.optimize.surrogates import Surrogates
from gpbandits_env.agents.optimize.usual_agent import agent_for, check_settings
from gpbandits_env.agents.optimize.view import CampaignView
from gpbandits_env.arrays import Plain, Settings, State, flag, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.specs import described, no_user_code


class Campaign(CampaignView):
    """An agent, its suggestions and their results; see `CampaignView` for what it knows.

    Until there are ``n_initial`` evaluations, suggestions are spread over the space (a shifted
    Sobol sequence). Later ones are chosen by the agent. It conditions the variance on pending
    points and on the last failed ones and keeps the mean, so that new suggestions avoid these
    points. Once an evaluation has failed, scores are multiplied by the probability of success
    (`Failures`). While at least three values are known and all are equal, suggestions are spread
    further, unless the space is finite. If the noise is neither given nor negligible, the best
    point may be evaluated once more (`NoiseSearch`). Without noise no point is suggested again
    while others are left; suggestions are spread further instead.

    Args:
        space: the dimensions by name; see `Space`.
        agent: a registered agent with a Gaussian-process posterior.
        maximize: whether the largest value is best, or the smallest.
        seed: the seed of all randomness; by default it is drawn.
        n_initial: the number of evaluations, known, pending and failed ones included, before the
            agent chooses, at most half of the combinations; by default 2 d + 2 for d dimensions.
        noise: the standard deviation of the noise in the units of the values, at least 0; None to
            learn it. {"replicates": n} if values are means of n replicates that are told with their
            standard errors, which are then shrunk towards a common one (`noise.pooled`).
        constraints: a dict, a `LinearConstraint` of SciPy, or a list of them. Linear ones hold at
            every suggestion; see `Space`. The dict has the upper bounds of black-box constraints
            c(x) <= b by name, whose values are told with each value. Each has a model, the
            probability of feasibility multiplies the acquisition, and samples are maximized where
            sampled constraints hold.
        failures: what failures come from. "region": the place, so that a failed point fails again.
            "random": chance alone; a failed point may be chosen again at once. "auto": either, or
            both; the rate of failures by chance is learned, and a failed point is chosen again if
            its failure was likely by chance. See `Failures`.
        file: a new file in which the campaign is saved now and after every change; see `resume`.
        settings: the settings of the agent, and kernel, noise_var and prior_mean; for the defaults,
            and the unit cube on which a kernel acts, see `usual_agent.agent_for`.

    Attributes:
        space: the dimensions and the domain that they make.
        agent: the agent in its present state; without an embedding, its posterior is over
            ``space.domain``. Its rewards are values to be maximized, and their differences from the
            first one where their spread is below a thousandth of their size.
        maximize: as given.
        n_initial: the number in use.

    Raises:
        InvalidInput: the agent has no posterior, a setting is out of range, the file exists
            already, or a setting cannot be saved in a file. A method that raises it leaves the
            campaign unchanged.
        StoreError: the file cannot be written. Methods raise it too if a change cannot be saved.
            The change is kept in memory and saved with the next one, but a file that another
            process has written is never overwritten.
    """

    def __init__(
        self,
        space: SpaceSpec,
        agent: str = "ei",
        *,
        maximize: bool = True,
        seed: int | None = None,
        n_initial: int | None = None,
        noise: float | Settings | None = None,
        constraints: Any = None,
        failures: str = "auto",
        file: str | Path | None = None,
        **settings: Any,
    ) -> None:
        bounds, linear = split(constraints)
        self.space = Space(space, linear)
        if seed is None:
            seed = int(np.random.default_rng().integers(2**53))
        self._seed = whole(seed, "seed", 0, None)
        self.maximize = flag(maximize, "maximize")
        sd = None if isinstance(noise, Mapping) else noise
        own = [*signature(Campaign).parameters][:-1]
        check_settings("Campaign", [*own, "batch_size"], agent, settings)  # see `agent_for`
        self.agent = agent_for(self.space, agent, self._seed, settings, sd, robust=True)
        self.n_initial = n_initial_for(self.space, n_initial)
        self._log = CampaignLog(self.space, self.maximize, bounds)
        search = NoiseSearch(self.agent, noise, settings, self.n_initial, self._log)
        self._surrogates = Surrogates(self.agent, self._log, search, failures)
        self._declared: Plain = {
            "space": self.space.to_dict(),
            "agent": agent,
            "maximize": self.maximize,
            "seed": self._seed,
            "n_initial": self.n_initial,
            "noise": deepcopy(noise),
            "constraints": bounds,
            "failures": self._surrogates.failures.kind,
            "linear": [linear_to_dict(one) for one in self.space.linear],
            "settings": deepcopy(settings),
        }
        self._file: CampaignFile | None = None
        if file is not None:
            self._file = CampaignFile(file)
            self._file.refuse_old()
            self._save()

    def ask(
        self, n: int = 1, *, time: float | None = None, context: Params | None = None
    ) -> list[Suggestion]:
        """The next n suggestions, which are pending until they have a value or fail.

        Args:
            n: the number of suggestions.
            context: the values of some dimensions, which are observed and not chosen. Suggestions
                have these values, and the agent chooses the others for them.
            time: the time of their evaluation, not before ``now``. Correlations with past data
                decay until then.
        Raises:
            InvalidInput: the agent supports no context.
        """
        count = whole(n, "n")
        given = None if context is None else self.check_context(context)
        with self._unchanged_on_error():
            if time is not None:
                self._wait(time)
            records = [self._log.put(self._log.new(self._next(given))) for _ in range(count)]
        self._save()
        return [Suggestion(record.id, dict(record.params)) for record in records]

    def tell(
        self,
        id: int | Suggestion | Record,
        value: float,
        *,
        noise: float | None = None,
        constraints: Limits = None,
        time: float | None = None,
    ) -> Record:
        """Report the value of a pending evaluation.

        Args:
            id: the suggestion, or its id.
            value: the measured value, noisy and in any unit. NaN or the infinity of the worst
                value (-inf when maximizing, inf when minimizing) means that it failed.
            noise: the standard deviation of the noise of this value, if it is known and differs
                from that of others. Not with agents that forget, compress, or
                have a Nystrom posterior.
            constraints: the measured values of all constraints, if the campaign has any: by name,
                or in their order. NaN means that the evaluation failed.
            time: the time of the measurement, not before ``now``. If the agent has an epsilon,
                correlations with past data are multiplied by (1 - epsilon)^(dt / 2). Without a
                time, one unit passes, and none if the evaluation failed.
        Raises:
            InvalidInput: the value is no number or the other infinity, or the time is before now.
        """
        record = self._measured(self._log.pending(id), value, constraints, noise)
        return self._close([record], time, pace=1.0)[0]

    def fail(self, id: int | Suggestion | Record, reason: str = "") -> Record:
        """Record that a pending evaluation failed; the agent observes nothing."""
        record = replace(self._log.pending(id), status="failed", reason=str(reason))
        return self._close([record])[0]

    def observe(
        self,
        params: Params | Sequence[Any],
        value: float,
        *,
        noise: float | None = None,
        constraints: Limits = None,
        time: float | None = None,
    ) -> Record:
        """Report a value that was not suggested, for example one known in advance.

        Args:
            params: the parameters by name, as a row of a table, or in the order of the dimensions.
                They are kept exactly.
            value: as in `tell`.
            noise: as in `tell`.
            constraints: as in `tell`.
            time: as in `tell`; without one, no time passes.
        """
        record = self._log.new(self.space.check(params))
        return self._close([self._measured(record, value, constraints, noise)], time)[0]

    def observe_all(
        self, params: Any, values: Any, constraints: Any = None, noise: Any = None
    ) -> list[Record]:
        """Report many values that were not suggested; faster than one call of `observe` for each.

        Args:
            params: the points, as in `predict`.
            values: one value per evaluation, as in `tell`; no time passes.
            constraints: the values of the constraints for each evaluation, as in `tell`; or a
                table with a column for each.
            noise: the standard deviation of the noise of each value, as in `tell`; None or NaN
                where it is unknown.
        """
        given, start = self.space.check_all(params), len(self.records)
        told = one_each(values, "values", len(given))
        limits = one_each(by_label(constraints, self._log.bounds), "constraints", len(given))
        sds = one_each(noise, "noise", len(given))
        new = (Record(start + i, one) for i, one in enumerate(given))
        return self._close(list(map(self._measured, new, told, limits, sds)))

    def correct(
        self,
        id: int | Suggestion | Record,
        value: float,
        *,
        noise: float | None = None,
        constraints: Limits = None,
    ) -> Record:
        """Replace the value of an evaluation that is done or failed; the agent learns all anew.

        Its generator and the number of rounds stay as they are. The value of an evaluation that had
        failed counts as observed now. Cost: that of `observe_all`; or with an agent that forgets
        or whose search or rule depends on earlier rounds, that of telling all values.

        Args:
            id: the evaluation, its suggestion, or its id.
            value: the right value, as in `tell`; NaN means that the evaluation failed.
            noise: the standard deviation of its noise; by default the one told before.
            constraints: the right values of the constraints; by default those told before.
        """
        old = self._log.ended(id)
        if constraints is None and old.constraints:
            constraints = old.constraints
        noise = old.noise if noise is None else noise
        found = self._measured(replace(old, value=None, reason=""), value, constraints, noise)
        with self._unchanged_on_error():
            self._log.correct(found)
            self._surrogates.learn_anew()
        self._save()
        return found

    def expect(self, params: Params | Sequence[Any]) -> Suggestion:
        """Register an evaluation in progress that was not suggested, with params as in `observe`.

        It is pending from now on.
        """
        record = self._log.put(self._log.new(self.space.check(params)))
        self._save()
        return Suggestion(record.id, dict(record.params))

    def snapshot(self) -> State:
        """The state of the campaign and its arguments, as plain data with arrays."""
        own = {key: described(self._declared[key]) for key in ("noise", "settings")}
        return self._log.snapshot() | self._declared | own | self._surrogates.snapshot()

    def _restore(self, state: State, file: CampaignFile) -> None:
        """Continue from a file's snapshot; after an error of `BROKEN` the campaign is of no use."""
        for key, own in self._declared.items():
            if described(state[key]) != described(own):
                raise InvalidInput(f"its {key} is {shown(state[key])}, not {shown(own)}")
        for key in ("space", "constraints"):  # equal dicts may have different orders
            if list(state[key]) != list(self._declared[key]):
                order = ", ".join(state[key])
                raise InvalidInput(f"the order differs: give its {key} in the order {order}")
        self._log.restore(state)
        self._surrogates.restore(state)
        self._file = file

    def save(self, file: str | Path) -> None:
        """Write the campaign to a JSON file atomically: a kill leaves the old file or the new one.

        Raises:
            InvalidInput: an option or a setting cannot be saved as JSON.
            StoreError: the file cannot be written; or another process has written it, if it is the
                campaign's own.
        """
        target = CampaignFile(file)
        if self._file is not None and target.path == self._file.path:
            target = self._file
        target.write(self.snapshot())

    @classmethod
    def resume(cls, file: str | Path, *, trusted: bool = False) -> "Campaign":
        """Continue the campaign in a file, and save it there; pending evaluations stay pending.

        Args:
            file: the file of the campaign.
            trusted: whether your own agents and kernels ("module:Class") may be loaded, which runs
                the modules that the file names. A file from a stranger may name any module.
        Raises:
            InvalidInput: it names a module and is not trusted, or the file is damaged.
        """
        source, trusted = CampaignFile(file), flag(trusted, "trusted")
        state = source.read()
        keys = ("space", "agent", "maximize", "seed", "n_initial", "noise", "failures")
        cure = "if you trust this file, Campaign.resume(file, trusted=True) loads it"
        try:
            with nullcontext() if trusted else no_user_code(cure):
                linear = [LinearConstraint(**fields) for fields in state["linear"]]
                constraints = [state["constraints"], *linear]
                given = {key: state[key] for key in keys} | state["settings"]
                campaign = cls(**given, constraints=constraints)
                campaign._restore(state, source)
        except BROKEN as error:
            raise InvalidInput(f"{source.path} holds no campaign: {error}") from error
        return campaign

    @classmethod
    def open(
        cls, file: str | Path, space: SpaceSpec, agent: str = "ei", **arguments: Any
    ) -> "Campaign":
        """Continue the campaign in a file if it exists; otherwise start it, and save it there.

        Args:
            file: the file of the campaign.
            space: as in `Campaign`.
            agent: as in `Campaign`.
            arguments: the other arguments of `Campaign`. All must be those with which the file was
                made; a seed or an n_initial of None is that of the file.
        """
        source = CampaignFile(file)
        if not source.exists:
            return cls(space, agent, file=file, **arguments)
        state = source.read()
        for key in ("seed", "n_initial"):
            if arguments.get(key) is None:
                arguments[key] = state.get(key)
        campaign = cls(space, agent, **arguments)
        try:
            campaign._restore(state, source)
        except BROKEN as error:
            raise InvalidInput(
                f"{source.path} holds another campaign: {error}; continue it by "
                "Campaign.resume(file), or give another file, and the old values by observe_all"
            ) from error
        return campaign

    def _next(self, context: Params | None = None) -> Plain:
        """A spread point at first, and where the agent has no choice; then the agent's choice."""
        # While all values are equal, nothing says where to look.
        flat = self._log.flat and not self.space.domain.finite
        early = flat or len(self.records) < self.n_initial
        chosen = None if early else self._surrogates.next(context)
        return chosen or next_spread(self._log, self._seed, context or {})

    def _close(
        self, records: Sequence[Record], time: float | None = None, pace: float | None = None
    ) -> list[Record]:
        """Keep records that are done or failed; the models learn them, at a time as a round.

        Without a time, it is now, and they are a round that takes ``pace``, or none if it is None.
        """
        with self._unchanged_on_error():
            if time is not None:
                self._wait(time)
                pace = 0.0
            for record in records:
                self._log.put(replace(record, time=self.now))
            if done := [record for record in records if record.status == "done"]:
                self._surrogates.tell(done, pace)
            self._surrogates.failures.tell(records, self.records)
        self._save()
        if (penalty := self._log.penalty) is not None:
            warnings.warn(
                f"the value {penalty:g} came from several points, far from all other values: if it "
                "stands for a failed evaluation, give NaN instead, which hides no differences "
                "between the others from the model",
                stacklevel=3,
            )
        return [self.records[record.id] for record in records]

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Undo what was done if an error or an interrupt ends it: nobody receives the result."""
        before = self._log.mark(), self._surrogates.snapshot()
        try:
            yield
        except BaseException:
            self._log.return_to(before[0])
            self._surrogates.restore(before[1])
            raise

    def _wait(self, time: float) -> None:
        """Let time pass until then."""
        when = self._log.checked_time(time)
        self._surrogates.in_space.wait(when - self.now)
        self._log.told_at(None, when)

    def _measured(self, record: Record, value: Any, constraints: Any, noise: Any) -> Record:
        """The record with what was told; see `CampaignLog.measured`."""
        if noise is not None and not self.agent.takes_noise:
            raise InvalidInput(
                f"{self._declared['agent']!r} with these settings takes no noise of single values: "
                "use an agent that keeps all data in one model, such as ei, gp-ucb, ts or ts-rsr"
            )
        return self._log.measured(record, value, constraints, noise)

    def _save(self) -> None:
        if self._file is not None:
            self._file.write(self.snapshot())
