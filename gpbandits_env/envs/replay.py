"""gpbandits/Replay-v0: a recorded table played row by row."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from gpbandits_env.datasets import Readings
from gpbandits_env.envs.base import BanditEnv
from gpbandits_env.envs.table import recorded_world
from gpbandits_env.envs.vector import BanditVectorEnv
from gpbandits_env.envs.world import World, build_world
from gpbandits_env.functions import ReplaySource


class Replay(BanditEnv):
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

    def __init__(
        self,
        readings: ArrayLike | str | Path | Readings,
        render_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(build_world(replay_world, {"readings": readings, **kwargs}), render_mode)


class ReplayVector(BanditVectorEnv):
    """B replays of one table side by side; see `Replay` and `BanditVectorEnv`.

    Args:
        readings: see `Table`.
        num_envs: the number of worlds B.
        max_episode_steps: the horizon; None for no end.
        render_mode: None, "ansi" or "rgb_array".
        kwargs: the other arguments of `Replay`.
    """

    def __init__(
        self,
        readings: ArrayLike | str | Path | Readings,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        world = build_world(replay_world, {"readings": readings, **kwargs})
        super().__init__(world, num_envs, max_episode_steps, render_mode)


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
        lambda arms, test: ReplaySource(arms, test, tuple(starts)),
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
