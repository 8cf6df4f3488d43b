"""Environments that are declared by how their world is built."""

from collections.abc import Callable
from typing import Any, ClassVar

from gpbandits_env.envs.base import BanditEnv
from gpbandits_env.envs.vector import BanditVectorEnv
from gpbandits_env.envs.world import World, build_world


class DeclaredEnv(BanditEnv):
    """An environment whose keyword arguments are those of ``builder``.

    To add one: a builder, this class and `DeclaredVectorEnv` with it, and a line of
    `registration.ENVIRONMENTS`.

    Args:
        render_mode: None, "ansi" or "rgb_array".
        selective: whether actions can be skipped; see `BanditEnv`.
        evaluate_skipped: whether skipped actions are evaluated for the regret.
        kwargs: the builder's.
    Raises:
        UnknownName: an argument that the builder does not have.
    """

    builder: ClassVar[Callable[..., World]]

    def __init__(
        self,
        render_mode: str | None = None,
        selective: bool = False,
        evaluate_skipped: bool = True,
        **kwargs: Any,
    ) -> None:
        world = build_world(type(self).builder, kwargs)
        super().__init__(world, render_mode, selective, evaluate_skipped)


class DeclaredVectorEnv(BanditVectorEnv):
    """B of them side by side.

    Args:
        num_envs: the number of worlds B.
        max_episode_steps: the horizon; None for no end.
        render_mode: None, "ansi" or "rgb_array".
        selective: whether actions can be skipped; see `BanditEnv`.
        evaluate_skipped: whether skipped actions are evaluated for the regret.
        kwargs: the builder's.
    """

    builder: ClassVar[Callable[..., World]]

    def __init__(
        self,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        selective: bool = False,
        evaluate_skipped: bool = True,
        **kwargs: Any,
    ) -> None:
        world = build_world(type(self).builder, kwargs)
        super().__init__(
            world, num_envs, max_episode_steps, render_mode, selective, evaluate_skipped
        )
