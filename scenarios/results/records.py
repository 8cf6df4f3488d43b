"""The record of a trial: actions, rewards, regret and time of one agent in one instance."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array

# Asking, and asking what would be informative; telling; evaluating what was observed.
SECONDS_FIELDS = ("ask", "tell", "evaluate")
# The actions of a trial are not kept if they are more numbers, e.g. 500 points in 5000 dimensions.
MOST_ACTIONS = 250_000


@dataclass(frozen=True)
class TrialKey:
    """A trial: the cell of the grid, the label of the agent, the number of the instance."""

    cell: int
    agent: str
    trial: int

    def __str__(self) -> str:
        cell = f", cell {self.cell}" if self.cell else ""
        return f"agent {self.agent!r}, trial {self.trial}{cell}"


@dataclass(frozen=True)
class TrialRecord:
    """One agent in one environment instance, with the seeds of both.

    Args:
        key: the trial.
        world_seed: the seed of the environment's reset.
        agent_seed: the seed of the agent.
        rounds: arrays with one row per round:

            - actions: (T, m) arm indices, or (T, m, d) points; left out if not requested, too many,
              or if a clock ends the trial.
            - rewards: (T, m) noisy rewards as observed; 0 where an evaluation was skipped, and NaN
              for delayed rewards that did not arrive within the horizon.
            - values: (T, m) noiseless rewards.
            - regret: (T, m) optimum of the round minus value; with a clock's duration the mean over
              the time of a part, and the other arrays are those of the last round that ended with
              it.
            - optimum: (T,) the largest noiseless reward of the round.
            - model_order: (T,) data points in the agent's posterior after each round; 0 without
              one.
            - evaluations: (T,) evaluations spent up to and including each round, initial points
              too.

            With a clock that does not end the trial:

            - time: (T, 2) when the rewards hold and when they arrive, in units of the drift.
            - time_regret: (T,) the integral over time of the regret of the actions in force.

            If there are n initial points, with regret against the optimum of round 1:
            initial_actions, (n,) or (n, d), left out where actions are, and initial_rewards,
            initial_values and initial_regret, (n,).
        seconds: wall-clock times of `SECONDS_FIELDS`, (T,) each, which alone may differ between
            two runs (unless a clock measures the thinking).
    """

    key: TrialKey
    world_seed: int
    agent_seed: int
    rounds: Mapping[str, NDArray[Any]]
    seconds: Mapping[str, Array]


@dataclass(frozen=True)
class TrialFailure:
    """A trial that raised."""

    key: TrialKey
    error: str
    traceback: str


@dataclass
class Rounds:
    """The arrays of a trial while it runs, one row per round, of which there may be more."""

    horizon: int
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def put(self, t: int, **row: Any) -> None:
        """Set round ``t`` of each named array; the first row determines shapes and types."""
        for name, value in row.items():
            if name not in self.arrays:
                sample = np.asarray(value)
                kind = np.int64 if sample.dtype.kind in "iu" else np.float64
                self.arrays[name] = np.zeros((self.horizon, *sample.shape), kind)
            elif t == len(self.arrays[name]):  # the number of rounds was not known
                more = np.zeros_like(self.arrays[name])
                self.arrays[name] = np.concatenate([self.arrays[name], more])
            self.arrays[name][t] = value

    def until(self, t: int) -> dict[str, NDArray[Any]]:
        """The arrays of the first rounds."""
        return {name: array[:t] for name, array in self.arrays.items()}
