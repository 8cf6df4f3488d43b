"""gpbandits/Replay-v0: a recorded table played row by row."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from gpbandits_env.arrays import listed
from gpbandits_env.datasets import Readings
from gpbandits_env.envs.declared import DeclaredEnv, DeclaredVectorEnv
from gpbandits_env.envs.table import recorded_world
from gpbandits_env.envs.world import World
from gpbandits_env.functions import ReplaySource


def replay_world(
    readings: ArrayLike | str | Path | Readings,
    dataset_options: Mapping[str, Any] | None = None,
    train_fraction: float = 2 / 3,
    minimise: bool = False,
    noise_var: float = 0.0,
    model_noise_var: float | None = None,
    batch_size: int = 1,
    columns: tuple[int, ...] | None = None,
    starts: tuple[int, ...] = (0,),
    epsilon: float | None = None,
) -> World:
    """The world of `Replay`; see there for the arguments."""
    return recorded_world(
        lambda arms, test: ReplaySource(arms, test, listed(starts, "starts")),
        readings,
        dataset_options,
        train_fraction,
        minimise,
        noise_var,
        model_noise_var,
        batch_size,
        columns,
        epsilon,
    )


class Replay(DeclaredEnv):
    """A bandit on recorded readings: each round plays the next row of the table.

    As `Table`, but the rows for play are the functions of successive rounds; after the last one
    comes the first again.

    Args:
        readings: see `Table`.
        render_mode: None, "ansi" or "rgb_array".
        kwargs: the other arguments of `Table`, and
            columns: the arms to keep, by index; all when not given.
            starts: rows (of those for play) that an episode may begin at, one drawn uniformly;
                the first when not given.
            epsilon: the drift that learners are told, e.g. as learned from the training rows.
    Raises:
        InvalidInput: as `Table`, or columns or starts that the table does not have.
    Source: bogunovic2016, Section 5.2.
    """

    builder = staticmethod(replay_world)


class ReplayVector(DeclaredVectorEnv):
    """B of `Replay` side by side; see there and `BanditVectorEnv`."""

    builder = staticmethod(replay_world)
