"""The keyword arguments of environments, each declared once.

The fields of a declaration determine what `gym.make` and scenario files accept, the types that are
checked, the errors for wrong arguments, and the table in the documentation.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, get_args

from gpbandits_env.arrays import Settings
from gpbandits_env.domains import Arms, Box, domain_from_dict
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.rendering import METADATA
from gpbandits_env.envs.single import BanditEnv
from gpbandits_env.envs.vector import BanditVectorEnv
from gpbandits_env.errors import InvalidInput, all_known, unknown_argument
from gpbandits_env.gp.kernels import Kernel, kernel_from_dict
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.functions import RewardProcess
from gpbandits_env.specs import check_kind, kinds_of

Env = TypeVar("Env")


@dataclass(frozen=True, kw_only=True)
class Arguments(ABC):
    """The arguments of an environment.

    To add an environment, write a subclass, add ``Name = EntryPoint(NameArguments)`` and
    ``NameVector = Name.vector`` to its module, and a line to `registration.ENVIRONMENTS`.
    """

    def __post_init__(self) -> None:
        for name, kind in kinds_of(type(self)).items():
            if {Arms, Box} & {*get_args(kind)}:
                object.__setattr__(self, name, domain_from_dict(getattr(self, name)))
            check_kind(name, getattr(self, name), kind)

    @abstractmethod
    def bandit(self) -> Bandit:
        """The bandit that these arguments describe.

        Raises:
            InvalidInput: a value out of range, or arguments that exclude each other.
            UnknownName: an argument contains an unknown name.
        """

    def changed(self, changes: Settings) -> Bandit:
        """The bandit with some of these arguments changed.

        Raises:
            UnknownName: an argument that the environment does not have.
            InvalidInput: as `bandit`.
        """
        all_known(changes, ["draw", *(field.name for field in fields(self))], "reset option")
        made: Arguments = replace(self, **changes)
        return replace(made.bandit(), changed=self.changed)


@dataclass(frozen=True, kw_only=True)
class ModelArguments(Arguments):
    """A reward function, and the agents' model of it.

    Args:
        kernel: the kernel of draws, or that of the agents' model of a known function; or its plain
            dict.
        noise_var: the variance of the noise on a reward, at least 0.
        batch_size: the number of actions m in a round.
    """

    kernel: Settings | Kernel | None = None
    noise_var: float = 0.0
    batch_size: int = 1

    def covariance(self, default: Settings | Kernel) -> Kernel:
        """The kernel that is given, or the default."""
        return kernel_from_dict(default if self.kernel is None else self.kernel)

    def modelled(self, process: RewardProcess, kernel: Kernel, **known: Any) -> Bandit:
        """The bandit of a process; agents know the kernel, the noise variance and ``known``.

        Raises:
            InvalidInput: a value out of range, or the kernel is not one of these points.
        """
        given = {"noise_var": self.noise_var, "batch_size": self.batch_size, **known}
        problem = Problem(process.domain, kernel, **given)
        kernel.check_points(problem.joint.domain.span)
        return Bandit(problem, process, self.noise_var)


class EntryPoint:
    """Makes environments from keyword arguments, as an entry point of Gymnasium.

    A call makes a `BanditEnv`, and `vector` makes a `BanditVectorEnv`. Both accept the arguments of
    these classes and those that are declared.

    Args:
        arguments: the declaration.
    """

    metadata = METADATA  # Gymnasium reads the render modes here before it makes anything

    def __init__(self, arguments: type[Arguments]) -> None:
        self.arguments = arguments

    def __call__(self, *args: Any, **kwargs: Any) -> BanditEnv:
        """Make one environment.

        Raises:
            UnknownArgument: an argument that the environment does not have.
            InvalidInput, UnknownName: an argument is wrong.
        """
        return self._make(BanditEnv, args, kwargs)

    def vector(self, *args: Any, **kwargs: Any) -> BanditVectorEnv:
        """Make a vector environment of B instances; see `__call__`."""
        return self._make(BanditVectorEnv, args, kwargs)

    def _make(self, kind: Callable[..., Env], args: tuple[Any, ...], kwargs: Settings) -> Env:
        names = list(inspect.signature(kind).parameters)[1:]
        own = {key: value for key, value in kwargs.items() if key in names}
        given = {key: value for key, value in kwargs.items() if key not in names}
        if "autoreset_mode" in given:
            raise InvalidInput(
                "autoreset_mode is an argument of vector environments: Gymnasium's accept it in "
                "vector_kwargs={'autoreset_mode': gymnasium.vector.AutoresetMode.SAME_STEP}"
            )
        declared = [field.name for field in fields(self.arguments)]
        for key in given:
            if key not in declared:
                raise unknown_argument(key, [*declared, *names, "max_episode_steps"])
        return kind(self.arguments(**given).changed({}), *args, **own)
