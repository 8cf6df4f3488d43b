"""What can be read from a campaign: its evaluations and its models."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.agents.optimize.importance import importance
from gpbandits_env.agents.optimize.records import CampaignLog, Record
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.optimize.surrogates import Surrogates
from gpbandits_env.arrays import Array, Plain, Settings, flag
from gpbandits_env.display import Displayed
from gpbandits_env.errors import InvalidInput, optional, shown


class CampaignView(Displayed):
    """The evaluations of a `Campaign`, and the posterior of its agent."""

    space: Space
    maximize: bool
    _log: CampaignLog
    _surrogates: Surrogates
    _declared: Plain

    def _facts(self) -> Settings:
        best, statuses = self.best, [record.status for record in self.records]
        return {
            "dimensions": ", ".join(self.space.dimensions),
            "agent": self._declared["agent"],
            "maximize": self.maximize,
            "done": statuses.count("done"),
            "pending": statuses.count("pending") or None,
            "failed": statuses.count("failed") or None,
            "best": None if best is None else best.value,
        }

    @property
    def records(self) -> list[Record]:
        """All evaluations; the index is the id."""
        return self._log.records

    @property
    def now(self) -> float:
        """The present time; without time stamps, the number of values reported by `tell`."""
        return self._log.now

    @property
    def pending(self) -> list[Record]:
        """The evaluations that have no value yet and have not failed."""
        return self._log.of("pending")

    @property
    def failed(self) -> list[Record]:
        """The evaluations that failed."""
        return self._log.of("failed")

    @property
    def best(self) -> Record | None:
        """The evaluation with the best value, possibly noisy, whose measured constraints hold."""
        return self._log.best

    @property
    def exhausted(self) -> bool:
        """Whether each of finitely many points was suggested, and no repeat would differ.

        A point that failed by chance counts only once it has a value.
        """
        log, noise, failures = self._log, self._surrogates.noise, self._surrogates.failures
        if not self.space.domain.finite:
            return False
        failed = failures.avoided(log.of("failed"))
        if failures.kind == "region" and self._cover(failed):
            return True
        # Repeats under a stated noise may agree by coincidence, which must not end a run.
        if noise.is_present is not False or self._declared["noise"]:
            return False
        return self._cover([*log.of("done"), *log.of("pending"), *failed])

    def _cover(self, records: Sequence[Record]) -> bool:
        """Whether records have all of finitely many points."""
        points = {self.space.key(record.params) for record in records}
        return len(points) >= len(self.space.domain.span)

    def feasible(self, record: Record) -> bool:
        """Whether an evaluation has a value and its measured constraints hold."""
        if not isinstance(record, Record):
            raise InvalidInput(f"feasible takes one of the records, got {shown(record)}")
        return self._log.feasible(record)

    @property
    def recommended(self) -> Plain | None:
        """The evaluated parameters with the best posterior mean, where constraints likely hold.

        If there are none, as when the agent has discarded its data, they are those of `best`, or
        None.
        """
        found = self._surrogates.recommended()
        return None if found is None else dict(found.params)

    def predict(self, points: Any) -> tuple[Array, Array]:
        """The posterior of the function, in the units of its values.

        Args:
            points: n points, each a dict by name or a list of values, or one such point; or a table
                of pandas or polars with a column for each dimension.
        Returns:
            The posterior mean and the standard deviation of the function, (n,) each, without the
            noise of a measured value.
        """
        mean, var = self._surrogates.in_space.moments(self.space.encode_all(points))
        return self._log.sign * mean + self._log.origin, np.sqrt(var)

    def predict_constraints(self, points: Any) -> dict[str, tuple[Array, Array]]:
        """The posterior mean and standard deviation (n,) of each constraint, as in `predict`."""
        return self._surrogates.slacks.predict(self.space.encode_all(points))

    def importance(self, *, total: bool = False) -> dict[str, float]:
        """How much each dimension matters: Sobol indices of the posterior mean, in [0, 1].

        They refer to values that are spread over the whole space (logarithmically where a dimension
        is logarithmic), and are 0 before the first value.

        Args:
            total: False for the first-order index, the share of the variance that a dimension
                explains alone; True for the total index, which adds its interactions.
        """
        in_space = self._surrogates.in_space
        return importance(self.space, lambda unit: in_space.moments(unit)[0], flag(total, "total"))

    def to_dataframe(self) -> Any:
        """All records as a table of pandas (extra ``tables``), one row per evaluation.

        The columns are id, the dimensions by name, the constraints by name, value, noise, status,
        time and reason. A dimension with the name of another column is called "params.<name>", and
        a constraint with the name of a column that is always there "constraints.<name>".

        Raises:
            MissingExtra: pandas is not installed.
        """
        rest, bounds = ("value", "noise", "status", "time", "reason"), self._log.bounds
        table: dict[str, list[Any]] = {"id": [record.id for record in self.records]}
        for name in self.space.dimensions:
            column = f"params.{name}" if name in ("id", *rest, *bounds) else name
            table[column] = [record.params[name] for record in self.records]
        for name in bounds:
            column = f"constraints.{name}" if name in ("id", *rest) else name
            table[column] = [record.constraints.get(name) for record in self.records]
        table |= {key: [getattr(record, key) for record in self.records] for key in rest}
        return optional("pandas", "tables").DataFrame(table)

    def recommend(self, context: Params) -> Plain:
        """The parameters with the best posterior mean in a context; nothing becomes pending.

        Args:
            context: as in `Campaign.ask`: "what is best at 30 degrees?"
        Raises:
            InvalidInput: the campaign has black-box constraints.
        """
        if self._log.bounds:
            raise InvalidInput(
                "recommend(context) does not consider black-box constraints: use ask(context=...), "
                "which does, or predict"
            )
        return self._surrogates.in_space.best_mean(self.check_context(context))

    def check_context(self, context: Params) -> Plain:
        """The values of a context, checked; see `Campaign.ask`."""
        self._surrogates.in_space.check_context()
        return self.space.check_context(context)
