"""Recorded readings: Table-v0 and Replay-v0."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, Points, Settings, listed, mapping, numbers, positive, whole
from gpbandits_env.domains import Arms, Box, clock
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.declaration import Arguments, EntryPoint
from gpbandits_env.errors import InvalidInput, all_known, shown, unknown
from gpbandits_env.gp import kernels
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.problem import Problem
from gpbandits_env.rewards import datasets
from gpbandits_env.rewards.datasets import FILE_OPTIONS, Readings, is_file_name, read_table
from gpbandits_env.rewards.functions import ReplayProcess, RewardProcess, TableProcess
from gpbandits_env.seeding import stream

# bogunovic2016, Section 5.2: the noise variance is 5% of that of the signal.
NOISE_SHARE = 0.05


@dataclass(frozen=True, kw_only=True)
class TableArguments(Arguments):
    """A bandit on a table of readings: rows are times, columns are arms.

    Agents may know the first rows: their empirical covariance is the kernel, and their mean is the
    prior mean. Each of the other rows is a function; one is drawn uniformly at each reset.

    CHOICE (the papers do not say): the prior mean is the training mean of each arm, and no noise
    is added to a reading.

    Args:
        readings: (rows, n) numbers; or the path of a .csv, .csv.gz, .tsv, .txt, .npy or .npz
            file (see `datasets.read_table`); or the name of a data set ("intel-berkeley",
            "metr-la", ...); or `Readings`; or a data frame. The default, `example_readings`, is an
            invented table.
        dataset_options: options of the data set. Those of a file are "header", "time_column" (which
            is not an arm) and "gaps", e.g. {"time_column": "hour", "gaps": "interpolate"}, and for
            a text file those that `datasets.read_table` names.
        train_fraction: the share of rows for the covariance, between 0 and 1.
        minimise: whether the smallest reading is the best; rewards are then negated readings.
        noise_var: the variance of noise added to a reading.
        model_noise_var: the noise variance of the agents' model; by default noise_var, or 5% of
            the mean training variance if that is 0.
        common_mean: whether the prior mean is one number, the training mean of all arms, instead
            of one per arm.
        batch_size: the number of actions m in a round.
        contexts: what is observed before each action: {"clock": rows per day, "parts": 24}, the
            part of the day of a row, as points of the unit circle; or {"columns": [...]}, the
            columns of the table, by index or name, that are contexts and not arms. Each round is
            then another row, in an order that is drawn at each reset; the first row follows the
            last.
        context_kernel: the kernel of contexts, which multiplies that of the arms; by default
            squared exponential, of lengthscale 1 on a clock and half of the range of a column.
    Raises:
        InvalidInput: the table has gaps (the error says where), or a value is out of range.
        MissingData: the file or data set is missing; the message says how to get it.
        UnknownName: a data set, option or argument is unknown.
    Source: srinivas2010, Section 6; bogunovic2016, Section 5.2.
    """

    readings: ArrayLike | str | Path | Readings | None = None
    dataset_options: Settings | None = None
    train_fraction: float = 2 / 3
    minimise: bool = False
    noise_var: float = 0.0
    model_noise_var: float | None = None
    common_mean: bool = False
    batch_size: int = 1
    contexts: Settings | None = None
    context_kernel: Settings | Kernel | None = None
    in_order: ClassVar[bool] = False

    def bandit(self) -> Bandit:
        return self._recorded()

    def _process(self, arms: Arms, rows: Array, contexts: Points | None) -> RewardProcess:
        """The reward process of the rows that are not used for the covariance."""
        if contexts is None:
            return TableProcess(arms, rows)
        return ReplayProcess(arms, rows, contexts=contexts, repeat=True, shuffled=True)

    def _recorded(
        self, columns: Sequence[int | str] | None = None, epsilon: float | None = None
    ) -> Bandit:
        table, seen = _table(self.readings, self.dataset_options), None
        kept = None if columns is None else table.places(columns)
        if self.contexts is not None:
            seen = observed_contexts(self.contexts, table)
            given = range(table.values.shape[1]) if kept is None else kept
            kept = [j for j in given if j not in seen.columns]
        elif self.context_kernel is not None:
            raise InvalidInput("context_kernel needs contexts: state them, or leave it out")
        values, locations = table.values, table.locations
        if kept is not None:
            if not kept:
                raise InvalidInput("no column is left as an arm: the contexts take all")
            values, locations = values[:, kept], None if locations is None else locations[kept]
        train, test = split(-values if self.minimise else values, self.train_fraction)
        covariance = np.cov(train, rowvar=False).reshape(train.shape[1], -1)
        model_noise_var = self.model_noise_var
        if model_noise_var is None:
            share = NOISE_SHARE * float(covariance.trace()) / len(covariance)
            model_noise_var = self.noise_var or share
        arms = Arms(np.arange(float(train.shape[1])))
        problem = Problem(
            domain=arms,
            kernel=kernels.Empirical(covariance),
            noise_var=positive(model_noise_var, "model_noise_var", zero=True),
            batch_size=self.batch_size,
            prior_mean=train.mean(axis=None if self.common_mean else 0),
            epsilon=epsilon,
            history=train if self.in_order else None,
        )
        of_rows = None
        if seen is not None:
            problem = self._with_contexts(problem, seen)
            of_rows = split(seen.rows, self.train_fraction)[1]
        label = f"negated {table.unit}" if self.minimise and table.unit else table.unit
        return Bandit(problem, self._process(arms, test, of_rows), self.noise_var, label, locations)

    def _with_contexts(self, problem: Problem, seen: "ObservedContexts") -> Problem:
        """The problem on arms and contexts; the history has no contexts."""
        given, dim = self.context_kernel, seen.domain.dim
        own = seen.kernel if given is None else kernels.kernel_from_dict(given)
        context = kernels.OnCoordinates(tuple(range(1, 1 + dim)), own)
        kernel = kernels.Product((kernels.OnCoordinates((0,), problem.kernel), context))
        # With a box of contexts the posterior is in a box, where the prior mean is one number.
        mean = problem.prior_mean if seen.domain.finite else float(np.mean(problem.prior_mean))
        return replace(problem, kernel=kernel, contexts=seen.domain, history=None, prior_mean=mean)


@dataclass(frozen=True, kw_only=True)
class ReplayArguments(TableArguments):
    """A bandit on recorded readings: each round's function is the next row of the table.

    It is like `Table`, but the test rows are the functions of successive rounds. The episode is
    truncated at the end of the last row. Without contexts, agents may also know the training rows
    in their order, as the history before the first test row (`Problem.history`).

    Args:
        columns: the columns to keep as arms, by index or name; by default all.
        starts: the test rows at which an episode may begin, of which one is drawn uniformly; by
            default the first row.
        epsilon: the drift in the agents' model, e.g. as learned from the training rows.
        repeat: whether the first test row follows the last one, so that an episode has no end.
    Raises:
        InvalidInput: as for `Table`, or the table does not have the columns or starts.
    Source: bogunovic2016, Section 5.2.
    """

    columns: Sequence[int | str] | None = None
    starts: Sequence[int] = (0,)
    epsilon: float | None = None
    repeat: bool = False
    in_order: ClassVar[bool] = True

    def bandit(self) -> Bandit:
        return self._recorded(self.columns, self.epsilon)

    def _process(self, arms: Arms, rows: Array, contexts: Points | None) -> RewardProcess:
        return ReplayProcess(arms, rows, listed(self.starts, "starts"), contexts, self.repeat)


class ObservedContexts(NamedTuple):
    """The contexts of a table.

    Args:
        domain: their set.
        rows: the context of each row, (rows,) or (rows, q).
        kernel: their kernel by default.
        columns: the indices of the columns that are contexts.
    """

    domain: Arms | Box
    rows: Points
    kernel: Kernel
    columns: Sequence[int] = ()


def observed_contexts(spec: Settings, table: Readings) -> ObservedContexts:
    """The contexts for the argument ``contexts`` of `TableArguments`.

    Args:
        spec: the argument.
        table: the whole table.
    Raises:
        InvalidInput: the argument has another form, or a column does not exist or is constant.
        UnknownName: there is no column of that name.
    """
    if set(mapping(spec, "contexts")) == {"clock", "parts"}:
        day, parts = whole(spec["clock"], "clock", 2), whole(spec["parts"], "parts", 2)
        rows = np.arange(len(table.values)) % day * parts // day
        return ObservedContexts(clock(parts), rows, kernels.SquaredExponential(1.0))
    if set(spec) == {"columns"}:
        columns = table.places(spec["columns"])
        seen = table.values[:, columns]
        for column, readings in zip(columns, seen.T, strict=True):
            if np.ptp(readings) == 0.0:
                raise InvalidInput(f"column {column} (counted from 0) is constant: no context")
        domain = Box(seen.min(axis=0), seen.max(axis=0))
        ell = tuple((0.5 * (domain.high - domain.low)).tolist())
        return ObservedContexts(domain, seen, kernels.SquaredExponential(ell), columns)
    raise InvalidInput(
        'contexts must be {"clock": rows per day, "parts": parts of the day} or '
        f'{{"columns": indices or names}}, got {shown(spec)}'
    )


def example_readings() -> Array:
    """Invented readings (240, 8): hourly temperatures at eight places, in degrees Celsius.

    A daily wave of 5 degrees passes from place to place, 3 hours apart, so that the warmest place
    changes. Each reading has an error of 0.5 degrees. Every call returns the same readings.
    """
    hours, places = np.arange(240.0)[:, None], np.arange(8.0)
    wave = 5.0 * np.sin(2.0 * np.pi * (hours - 3.0 * places) / 24.0)
    errors = stream("gpbandits_env", "example readings").standard_normal((240, 8))
    return 20.0 + wave + 0.5 * errors


def split(values: Array, train_fraction: float) -> tuple[Array, Array]:
    """The first rows, for the covariance, and the others, for the test.

    Args:
        values: (rows, n).
        train_fraction: the share of the first rows, between 0 and 1; their number is rounded down.
    Raises:
        InvalidInput: there are fewer than two rows for the covariance, or none for the test.
    """
    share = positive(train_fraction, "train_fraction")
    # The small term keeps 2/3 of 7200 at 4800 in spite of rounding.
    rows = int(share * len(values) + 1e-9)
    if rows < 2 or rows >= len(values):
        raise InvalidInput(
            f"train_fraction={train_fraction} of {len(values)} rows leaves {rows} for the "
            f"covariance and {len(values) - rows} for the test; at least 2 and 1 are needed"
        )
    return values[:rows], values[rows:]


def _table(readings: ArrayLike | Path | Readings | None, options: Settings | None) -> Readings:
    options = mapping({} if options is None else options, "dataset_options")
    if readings is None:
        readings = example_readings()
    if isinstance(readings, str) and readings in datasets.DATASETS:
        readings, options = datasets.load(readings, options), {}
    if isinstance(readings, (str, Path)):
        return _file(readings, options)
    if options:
        raise InvalidInput("dataset_options belong to a named data set or a file")
    if isinstance(readings, Readings):
        return readings
    # A data frame of pandas or polars has names.
    names = tuple(map(str, getattr(readings, "columns", ())))
    try:
        values = numbers(readings, "readings")
    except InvalidInput:
        for name, column in zip(names, np.asarray(readings).T, strict=True) if names else ():
            try:
                numbers(column, f"column {name!r} of readings")
            except InvalidInput as error:
                cure = "make it the index, leave it out, or convert it by astype(float)"
                raise InvalidInput(f"{error}; {cure}") from None
        raise
    return Readings(values, names)


def _file(path: str | Path, options: Settings) -> Readings:
    text = str(path)
    if not is_file_name(text) and not os.path.exists(text):
        raise unknown("data set", text, datasets.DATASETS)
    all_known(options, FILE_OPTIONS, "option of a file of readings")
    table = read_table(path, **options)
    if np.isnan(table.values).any():
        raise InvalidInput(
            f"{path} has gaps: an environment needs them to be dropped or interpolated"
        )
    return Readings(table.values, table.names)


Table = EntryPoint(TableArguments)
TableVector = Table.vector
Replay = EntryPoint(ReplayArguments)
ReplayVector = Replay.vector
