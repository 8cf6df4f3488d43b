"""The genie, the paper's oracle: it is shown the whole function of the round before.

Paper: bogunovic2016, Appendix F, the lower bound Omega(T epsilon) that no algorithm can beat.
Assumes: f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}, so that the maximizer of f_{t-1}
has the largest conditional mean; the noise and epsilon do not matter.
Departures: 1. in round 1, where it knows nothing, it draws an arm at random; 2. ties go to the
lowest index; 3. all actions of a batch are the same.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from gpbandits_env.agents.agent import Agent
from gpbandits_env.arrays import IntArray, finite_array
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


class Genie(Agent):
    r"""The maximizer of f_{t-1}, which its caller must `reveal`; `tell` teaches it nothing.

    .. math:: x_t = \arg\max_x f_{t-1}(x)

    It is a yardstick: only what runs a trial, and so knows the truth, can use it. It acts on arms;
    the model does not matter.

    Raises:
        InvalidInput: the domain is a box.
    Source: bogunovic2016, Appendix F.
    """

    def __init__(self, problem: Problem, rng: Generator) -> None:
        super().__init__(problem, rng)
        if not isinstance(problem.domain, Arms):
            raise InvalidInput("the genie acts on arms: make the environment a grid or arms")
        self._size = problem.domain.size
        # The round after which the function was revealed, and its maximizer.
        self._shown: tuple[int, int] | None = None

    def reveal(self, values: ArrayLike) -> None:
        """Show the function of the last round, without noise.

        Args:
            values: (n,) f_{t-1} at all arms.
        Raises:
            InvalidInput: another shape, or values that are not finite; nothing has changed then.
        """
        function = finite_array(values, "values", ndim=1)
        if function.shape != (self._size,):
            raise InvalidInput(f"values must have shape ({self._size},), got {function.shape}")
        self._shown = (self.round, int(function.argmax()))

    def ask(self) -> IntArray:
        """The maximizer of f_{t-1}, m times.

        Raises:
            InvalidInput: the last round's function has not been revealed.
        """
        if self.round == 0:
            arm = int(self.rng.integers(self._size))
        elif self._shown is None or self._shown[0] != self.round:
            raise InvalidInput(
                f"the genie was not shown the function of round {self.round}: call reveal(values) "
                "after each tell(); 'gpbandits run' does"
            )
        else:
            arm = self._shown[1]
        return np.full(self.batch_size, arm)

    def reset(self) -> None:
        super().reset()
        self._shown = None

    def snapshot(self) -> dict[str, Any]:
        return super().snapshot() | {"shown": self._shown}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        shown = state["shown"]
        self._shown = None if shown is None else (int(shown[0]), int(shown[1]))
