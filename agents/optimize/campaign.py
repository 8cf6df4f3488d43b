"""A campaign: ask and tell where evaluations are real.

Several asks may come before a tell, values may come late or never, some may be known before, time
may be clock time, settings may be whole numbers or choices, and the process may be killed.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.agents.agent import BROKEN
from gpbandits_env.agents.optimize.dimensions import number
from gpbandits_env.agents.optimize.file import FORMAT, CampaignFile
from gpbandits_env.agents.optimize.records import Record, RecordStatus, Suggestion, measured
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.optimize.space_agent import SpaceAgent, agent_for
from gpbandits_env.agents.search.candidates import spread
from gpbandits_env.arrays import flag, listed, positive, whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.seeding import stream
from gpbandits_env.specs import no_user_code


def initial_for(space: Space) -> int:
    """How many suggestions are spread over a space of d dimensions by default: 2 d + 2."""
    return 2 * len(space.dimensions) + 2


class Campaign:
    """One agent, its suggestions, and what became of them.

    The first ``n_initial`` suggestions are spread over the space (a shifted Sobol sequence). Then
    the agent chooses as if everything pending or failed had been observed already: the variance
    there is small and the mean unchanged, so that new suggestions keep away.

    Args:
        space: the dimensions by name; see `Space`.
        agent: a registered agent with a Gaussian-process posterior.
        maximize: whether large values are good, or small ones.
        seed: of all that is random; drawn if not given.
        n_initial: spread suggestions before the agent chooses, failed ones too; 2 d + 2 for d
            dimensions if not given, half of the combinations at most.
        file: a new file, where the campaign is saved now and at every change; see `resume`.
        settings: of the agent, and kernel, noise_var, prior_mean; for the defaults see
            `space_agent.agent_for`.

    Attributes:
        agent: in its present state; its posterior is over ``space.domain``.
        records: all evaluations, by id.
        now: the time; without stamps, how many values were observed.

    Raises:
        UnknownName: no such agent or setting.
        InvalidInput: an agent without a posterior, settings out of range, a file that exists
            already, or settings that a file cannot hold.
        StoreError: the file cannot be written. Methods raise it too where their change cannot be
            saved: the change is made, and is saved with the next one, but never over what another
            process has written there.
    """

    def __init__(
        self,
        space: Mapping[str, Any] | Sequence[Any] | Space,
        agent: str = "ei",
        *,
        maximize: bool = True,
        seed: int | None = None,
        n_initial: int | None = None,
        file: str | Path | None = None,
        **settings: Any,
    ) -> None:
        self.space = Space(space)
        if seed is None:
            seed = int(np.random.default_rng().integers(2**53))
        self._seed = whole(seed, "seed", 0, None)
        self.maximize = flag(maximize, "maximize")
        self.agent = agent_for(self.space, agent, self._seed, settings)
        self._in_space = SpaceAgent(self.space, self.agent)
        count = initial_for(self.space) if n_initial is None else whole(n_initial, "n_initial", 0)
        domain = self.space.domain
        self.n_initial = min(count, domain.size // 2) if isinstance(domain, Arms) else count
        self._declared = {
            "space": self.space.to_dict(),
            "agent": agent,
            "maximize": self.maximize,
            "seed": self._seed,
            "n_initial": self.n_initial,
            "settings": settings,
        }
        self.records: list[Record] = []
        self.now = 0.0
        self._file: CampaignFile | None = None
        if file is not None:
            self._file = CampaignFile(file)
            self._file.refuse_old()
            self._save()

    def ask(self, n: int = 1, *, time: float | None = None) -> list[Suggestion]:
        """The next n suggestions; they are pending until their value is given or they fail.

        Args:
            n: how many.
            time: when they will be evaluated, not before ``now``; data fade until then.
        """
        count = whole(n, "n")
        if time is not None:
            when = self._time(time)
            self._in_space.wait(when - self.now)
            self.now = when
        suggestions = []
        for _ in range(count):
            self.records.append(Record(len(self.records), params := self._next()))
            suggestions.append(Suggestion(self.records[-1].id, dict(params)))
        self._save()
        return suggestions

    def tell(self, id: int, value: float, *, time: float | None = None) -> Record:
        """The value of a pending evaluation; NaN says that it failed.

        Args:
            id: of the suggestion.
            value: as measured; noisy, in any unit. NaN, or the infinity that is no best value
                (-inf when maximizing, inf when minimizing), says that it failed.
            time: when it was measured, not before ``now``; if the agent's data fade, they fade by
                (1 - epsilon)^(dt / 2). Without a time, one unit passes.
        Raises:
            InvalidInput: nothing of that id is pending, a value that is no number or the other
                infinity, or a time before now; nothing has changed then.
        """
        return self._close(self._pending(id), value, time, counts=True)

    def fail(self, id: int, reason: str = "") -> Record:
        """A pending evaluation failed: that is recorded, and the agent learns nothing.

        Raises:
            InvalidInput: nothing of that id is pending.
        """
        record = self._pending(id)
        return self._put(replace(record, status="failed", time=self.now, reason=str(reason)))

    def observe(
        self, params: Mapping[str, Any], value: float, *, time: float | None = None
    ) -> Record:
        """A value that was not suggested: known before, or found elsewhere.

        Args:
            params: the values by name, which are kept exactly.
            value: as in `tell`.
            time: as in `tell`; without one, no time passes.
        Raises:
            InvalidInput: params out of the space, or as `tell`; nothing has changed then.
        """
        return self._close(Record(len(self.records), self.space.check(params)), value, time)

    def observe_all(
        self, params: Sequence[Mapping[str, Any]], values: Sequence[float]
    ) -> list[Record]:
        """Many values that were not suggested, learned together: faster than one by one.

        Args:
            params: the values by name of each evaluation.
            values: one value each, as in `tell`; no time passes.
        Raises:
            InvalidInput: not as many values as params, or as `observe`; nothing has changed then.
        """
        given, told = listed(params, "params"), listed(values, "values")
        if len(given) != len(told):
            raise InvalidInput(f"observe_all needs one value each: {len(told)} for {len(given)}")
        start = len(self.records)
        records = [
            self._measured(Record(start + i, self.space.check(one), time=self.now), value)
            for i, (one, value) in enumerate(zip(given, told, strict=True))
        ]
        if done := [record for record in records if record.value is not None]:
            self._in_space.tell_known(done, [self._sign * float(r.value or 0.0) for r in done])
        self.records += records
        self._save()
        return records

    def expect(self, params: Mapping[str, Any]) -> Suggestion:
        """Something that is being evaluated without having been suggested: pending from now on.

        Raises:
            InvalidInput: params out of the space.
        """
        record = self._put(Record(len(self.records), self.space.check(params)))
        return Suggestion(record.id, dict(record.params))

    @property
    def pending(self) -> list[Record]:
        """The suggestions that have no value yet and have not failed."""
        return self._records_of("pending")

    @property
    def failed(self) -> list[Record]:
        """The evaluations that failed."""
        return self._records_of("failed")

    @property
    def best(self) -> Record | None:
        """The evaluation of the best value so far; the values may be noisy."""
        done = self._records_of("done")
        return max(done, key=lambda r: self._sign * float(r.value or 0.0), default=None)

    @property
    def recommended(self) -> dict[str, Any] | None:
        """The evaluated parameters at which the agent now expects the best value."""
        found = self._in_space.recommended(self._records_of("done"))
        return None if found is None else dict(found.params)

    def snapshot(self) -> dict[str, Any]:
        """The whole campaign, what was declared too, as plain data with arrays."""
        records = [asdict(record) for record in self.records]
        own = {"format": FORMAT, "records": records, "now": self.now}
        return own | self._declared | self._in_space.snapshot()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a snapshot of a campaign that was declared like this one.

        Raises:
            InvalidInput: something in it that no campaign writes; nothing has changed then.
        """
        before = self._in_space.snapshot()
        try:
            if {key: state[key] for key in self._declared} != self._declared:
                raise InvalidInput("another campaign was declared")
            now = positive(state["now"], "now", zero=True)
            records = [
                Record.restored(fields, index, self.space, now)
                for index, fields in enumerate(listed(state["records"], "records"))
            ]
            self._in_space.restore(state)
            if len(self.agent.posterior.observed) > sum(r.status == "done" for r in records):
                raise InvalidInput("records are missing: the agent observed more")
        except BROKEN as error:
            self._in_space.restore(before)
            raise InvalidInput(f"not a snapshot of this campaign: {error}") from error
        self.now, self.records = now, records

    def save(self, file: str | Path) -> None:
        """Write the campaign to a JSON file, in one step: a kill leaves the old one or the new.

        Raises:
            InvalidInput: options or settings that JSON cannot hold.
            StoreError: the file cannot be written, or it is the campaign's own and another process
                has written there.
        """
        other = CampaignFile(file)
        own = self._file is not None and other.path == self._file.path
        (self._file if own and self._file else other).write(self.snapshot())

    @classmethod
    def resume(cls, file: str | Path, *, trusted: bool = False) -> "Campaign":
        """Go on with the campaign in a file, and save it there; what was pending is pending.

        Args:
            file: of the campaign.
            trusted: whether an agent or a kernel of your own ("module:Class") may be loaded, which
                runs the module that the file names. Files of strangers may name any module.
        Raises:
            InvalidInput: no campaign is there, something in it that no campaign writes, or code
                of a module in a file that is not trusted.
        """
        source = CampaignFile(file)
        state = source.read()
        keys = ("space", "agent", "maximize", "seed", "n_initial")
        cure = "if you trust this file, Campaign.resume(file, trusted=True) loads it"
        try:
            with nullcontext() if flag(trusted, "trusted") else no_user_code(cure):
                campaign = cls(**{key: state[key] for key in keys}, **state["settings"])
                campaign.restore(state)
        except BROKEN as error:
            raise InvalidInput(f"{source.path} holds no campaign: {error}") from error
        campaign._file = source
        return campaign

    def _records_of(self, status: RecordStatus) -> list[Record]:
        return [record for record in self.records if record.status == status]

    @property
    def _sign(self) -> float:
        return 1.0 if self.maximize else -1.0

    def _next(self) -> dict[str, Any]:
        """Spread at first; then the agent's choice, away from what is pending or failed."""
        if len(self.records) < self.n_initial:
            point = self.space.decode(self._spread(len(self.records)))
            return self.space.params(self.space.action(point))
        around = [r for r in self.records if r.status in ("pending", "failed")]
        return self._in_space.next(len(self.records), around)

    def _spread(self, index: int) -> Any:
        count = 1 << max(index, 7).bit_length()
        return spread(self.space.cube, count, stream("campaign", self._seed))[index]

    def _close(
        self, record: Record, value: float, time: float | None, *, counts: bool = False
    ) -> Record:
        """Check a value, learn it unless it says that the evaluation failed, and record it."""
        closed = self._measured(record, value)
        if closed.value is None:
            return self._put(replace(closed, time=self.now))
        reward = self._sign * closed.value
        if time is None:
            self._in_space.tell(record, reward, counts=counts)
            self.now += 1.0 if counts else 0.0
        else:
            when = self._time(time)
            self._in_space.tell_after(when - self.now, record, reward)
            self.now = when
        return self._put(replace(closed, time=self.now))

    def _measured(self, record: Record, value: float) -> Record:
        """The record with its value, or failed if the value says so."""
        found = measured(value, worst=-self._sign * np.inf)
        if not np.isnan(found):
            return replace(record, status="done", value=found)
        reason = "the value was NaN" if np.isnan(value) else "the value was infinite"
        return replace(record, status="failed", reason=reason)

    def _time(self, time: float) -> float:
        when = number(time, "time")
        if when < self.now:
            raise InvalidInput(
                f"time must not be before the last one, {self.now}, got {when}; give late values "
                "the present time, or collect values and give them in order"
            )
        return when

    def _pending(self, id: int) -> Record:
        index = whole(id, "id", 0)
        if index >= len(self.records) or self.records[index].status != "pending":
            known = [record.id for record in self.pending]
            raise InvalidInput(f"nothing of id {index} is pending; pending are {shown(known)}")
        return self.records[index]

    def _put(self, record: Record) -> Record:
        self.records[record.id :] = [record, *self.records[record.id + 1 :]]
        self._save()
        return record

    def _save(self) -> None:
        if self._file is not None:
            self._file.write(self.snapshot())
