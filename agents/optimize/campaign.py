"""A campaign: ask and tell as they are needed where evaluations are real.

Several asks before a tell, values that come back late or never, readings that were there before,
clock time, settings that are whole numbers or choices, a process that may be killed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.agents.agent import BROKEN
from gpbandits_env.agents.data.forgetting import Fade, Keep
from gpbandits_env.agents.optimize.asked import Asked
from gpbandits_env.agents.optimize.dimensions import number
from gpbandits_env.agents.optimize.file import FORMAT, CampaignFile
from gpbandits_env.agents.optimize.model import agent_for
from gpbandits_env.agents.optimize.records import (
    DONE,
    FAILED,
    PENDING,
    Record,
    Suggestion,
    measured,
)
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.search.starts import spread
from gpbandits_env.arrays import flag, listed, positive, whole
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.seeding import stream


class Campaign:
    """One agent, the evaluations asked of it, and what became of them.

    The first ``n_initial`` suggestions are spread over the space (a shifted Sobol sequence); then
    the agent chooses, as if all that is pending, and all that failed, had been observed already:
    the variance there is small and the mean as it was, so that new suggestions keep away.

    Args:
        space: the dimensions by name; see `Space`.
        agent: a registered agent with a Gaussian-process posterior.
        maximize: whether large values are good, or small ones.
        seed: of all that is random; drawn if not given.
        n_initial: spread suggestions before the agent chooses; 2 d + 2 if not given, half of the
            combinations at most.
        file: where the campaign is saved, now and at every change; `resume` goes on from there.
            There must be none yet.
        settings: of the agent, and kernel, noise_var, prior_mean. Unless they say otherwise the
            values are standardised, and where the kernel is not given and data do not fade it is
            learned: see `model.agent_for`.

    Attributes:
        agent: as it is now; its posterior is over ``space.domain``.
        records: all evaluations, by id.
        now: the time; without stamps, how many values were told.

    Raises:
        UnknownName: no such agent or setting.
        InvalidInput: an agent without a posterior, settings out of range, a file that is there
            already, or settings that a file cannot hold.
        StoreError: the file cannot be written. Where a later change cannot be saved, `ask`, `tell`
            and the like raise it too: the change is made, and is saved with the next; but never
            over what another process has written there.
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
        self._asked = Asked(self.agent, self.space)
        self._declared = {"agent": agent, "settings": settings}
        most = self.space.domain.size // 2 if isinstance(self.space.domain, Arms) else None
        count = 2 * self.space.dim + 2 if n_initial is None else whole(n_initial, "n_initial", 0)
        self.n_initial = count if most is None else min(count, most)
        self.records: list[Record] = []
        self.now = 0.0
        self._file: CampaignFile | None = None
        if file is not None:
            self._file = CampaignFile(file)
            self._file.refuse_old()
            self._save()

    def ask(self, n: int = 1, *, time: float | None = None) -> list[Suggestion]:
        """The next n suggestions; they are pending until they are told of or fail.

        Args:
            n: how many.
            time: when they will be evaluated, not before ``now``; data fade until then.
        """
        count = whole(n, "n")
        self._pass_until(self._time(time))
        asked = []
        for _ in range(count):
            self.records.append(Record(len(self.records), params := self._next()))
            asked.append(Suggestion(self.records[-1].id, dict(params)))
        self._save()
        return asked

    def tell(self, id: int, value: float, *, time: float | None = None) -> Record:
        """The value of a pending evaluation; NaN says that it failed.

        Args:
            id: of the suggestion.
            value: as measured; noisy, in any unit. NaN, or the infinity that is no best value
                (-inf when maximising, inf when minimising), says that it failed.
            time: when it was measured, not before ``now``. Data then fade by
                (1 - epsilon)^(dt / 2), if the agent's do; without a time, one unit passes.
        Raises:
            InvalidInput: nothing of that id is pending, a value that is no number or the other
                infinity, or a time before now; nothing has changed then.
        """
        record = self._pending(id)
        found = self._measured(value)
        if np.isnan(found):
            return self.fail(record.id, _no_value(value))
        when = self._time(time)
        self._learn(record, found, when)
        return self._close(replace(record, status=DONE, value=found, time=self.now))

    def fail(self, id: int, reason: str = "") -> Record:
        """A pending evaluation came to nothing: it is recorded, and teaches nothing.

        Raises:
            InvalidInput: nothing of that id is pending.
        """
        record = self._pending(id)
        return self._close(replace(record, status=FAILED, time=self.now, reason=str(reason)))

    def observe(
        self, params: Mapping[str, Any], value: float, *, time: float | None = None
    ) -> Record:
        """A value that was never asked for: what was known before, or found elsewhere.

        Args:
            params: the values by name, which are kept exactly.
            value: what was measured there; a failure as in `tell`.
            time: as in `tell`; without one, no time passes.
        Raises:
            InvalidInput: params out of the space, or as `tell`; nothing has changed then.
        """
        record = Record(len(self.records), self.space.check(params))
        found = self._measured(value)
        if np.isnan(found):
            self.records.append(record)
            return self.fail(record.id, _no_value(value))
        when = self._time(time)
        if when is None:
            self.agent.prior_data(self._asked.action(record), [self._sign * found])
        else:
            self._learn(record, found, when)
        self.records.append(record)
        return self._close(replace(record, status=DONE, value=found, time=self.now))

    def expect(self, params: Mapping[str, Any]) -> Suggestion:
        """Something that is being evaluated without having been asked for: pending from now on.

        Raises:
            InvalidInput: params out of the space.
        """
        known = self.space.check(params)
        self.records.append(Record(len(self.records), known))
        self._save()
        return Suggestion(self.records[-1].id, dict(known))

    @property
    def pending(self) -> list[Record]:
        """What was asked for and not yet told."""
        return [record for record in self.records if record.status == PENDING]

    @property
    def failed(self) -> list[Record]:
        """What came to nothing."""
        return [record for record in self.records if record.status == FAILED]

    @property
    def best(self) -> Record | None:
        """The evaluation of the best value so far; the values may be noisy."""
        done = [record for record in self.records if record.value is not None]
        return max(done, key=lambda r: self._sign * float(r.value or 0.0), default=None)

    @property
    def recommended(self) -> dict[str, Any] | None:
        """The parameters told of at which the agent now expects the best value."""
        told = self.agent.posterior.observed
        if not len(told):
            return None
        top = told[int(self.agent.posterior.mean_at_observed().argmax())]
        done = [record for record in self.records if record.value is not None]
        away = np.abs(self._asked.places(done) - top).reshape(len(done), -1).sum(axis=1)
        return dict(done[int(away.argmin())].params)

    def snapshot(self) -> dict[str, Any]:
        """All of it, as plain data with arrays."""
        return {
            "format": FORMAT,
            "space": self.space.to_dict(),
            **self._declared,
            "maximize": self.maximize,
            "seed": self._seed,
            "n_initial": self.n_initial,
            "records": [asdict(record) for record in self.records],
            "now": self.now,
            "state": self.agent.snapshot(),
            "asked": self._asked.snapshot(),
        }

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
    def resume(cls, file: str | Path) -> "Campaign":
        """Go on with the campaign in a file, and save it there; what was pending is pending.

        Raises:
            InvalidInput: no campaign is there, or something in it that no campaign writes.
        """
        source = CampaignFile(file)
        state = source.read()
        try:
            keys = ("space", "agent", "maximize", "seed", "n_initial")
            campaign = cls(**{key: state[key] for key in keys}, **state["settings"])
            whole(state["seed"], "seed", 0, None)  # None would be drawn anew
            whole(state["n_initial"], "n_initial", 0)
            campaign._restore(state)
        except BROKEN as error:
            raise InvalidInput(f"{source.path} holds no campaign: {shown(error)}") from error
        campaign._file = source
        return campaign

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.agent.restore(state["state"])
        self.now = positive(state["now"], "now", zero=True)
        for index, fields in enumerate(listed(state["records"], "records")):
            try:
                self.records.append(Record.restored(fields, index, self.space, self.now))
            except BROKEN as error:
                raise InvalidInput(f"record {index}: {shown(error)}") from None
        self._asked.restore(state.get("asked", []))
        if len(self.agent.posterior.observed) > sum(r.status == DONE for r in self.records):
            raise InvalidInput("records are missing: the agent was told of more")

    @property
    def _sign(self) -> float:
        return 1.0 if self.maximize else -1.0

    def _measured(self, value: Any) -> float:
        return measured(value, worst=-self._sign * np.inf)

    def _next(self) -> dict[str, Any]:
        """What is next: spread at first, then the agent's choice, away from what is on its way."""
        useful = sum(record.status != FAILED for record in self.records)
        if useful < self.n_initial:
            point = self.space.decode(self._spread(len(self.records)))
            return self.space.params(self.space.action(point))
        agent, around = self.agent, [r for r in self.records if r.status in (PENDING, FAILED)]
        agent.search.renew()
        try:
            if around:
                agent.posterior.hallucinate(self._asked.places(around))
            place = agent.choose()
            self._asked.note(len(self.records), place)
            return self.space.params(agent.action_map.actions(place)[0])
        finally:
            agent.posterior.rollback()

    def _spread(self, index: int) -> Any:
        cube = Box(np.zeros(self.space.dim), np.ones(self.space.dim))
        count = 1 << max(index, 7).bit_length()
        return spread(cube, count, stream("campaign", self._seed))[index]

    def _learn(self, record: Record, value: float, when: float | None) -> None:
        rewards = [self._sign * value]
        if when is None:
            self.agent.tell(self._asked.action(record), rewards)
            self.now += 1.0
            return
        self._pass_until(when)
        with _clock_stands(self.agent):
            self.agent.tell(self._asked.action(record), rewards)

    def _pass_until(self, when: float | None) -> None:
        """Correlations with the past are multiplied by (1 - epsilon)^(dt / 2)."""
        if when is None or when == self.now:
            return
        if isinstance(self.agent.forgetting, Fade):
            left = (1.0 - self.agent.forgetting.epsilon) ** (when - self.now)
            self.agent.fade(1.0 - left)
        self.now = when

    def _time(self, time: float | None) -> float | None:
        if time is None:
            return None
        when = number(time, "time")
        if when < self.now:
            raise InvalidInput(
                f"time must not be before the last one, {self.now}, got {when}; tell late values "
                "with the present time, or collect values and tell them in order"
            )
        return when

    def _pending(self, id: int) -> Record:
        index = whole(id, "id", 0)
        if index >= len(self.records) or self.records[index].status != PENDING:
            known = [record.id for record in self.pending]
            raise InvalidInput(f"nothing of id {index} is pending; pending are {shown(known)}")
        return self.records[index]

    def _close(self, record: Record) -> Record:
        self.records[record.id] = record
        self._save()
        return record

    def _save(self) -> None:
        if self._file is not None:
            self._file.write(self.snapshot())


def _no_value(value: Any) -> str:
    return "the value was NaN" if np.isnan(value) else "the value was infinite"


@contextmanager
def _clock_stands(agent: Any) -> Iterator[None]:
    """No round passes meanwhile: time is counted by the clock."""
    usual = agent.forgetting
    if not isinstance(usual, Fade):
        yield
        return
    still = agent.forgetting = Keep()
    try:
        yield
    finally:
        if agent.forgetting is still:
            agent.forgetting = usual
