"""The genie, the oracle of bogunovic2016: it sees the whole function of the previous round.

Paper: bogunovic2016, Appendix F, the lower bound Omega(T epsilon) that no algorithm can beat.
Assumes: f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}, so that the maximizer of f_{t-1}
has the largest conditional mean. The noise variance and epsilon have no effect.
Departures: 1. in round 1, when no function has been revealed, it draws an arm at random; 2. ties go
to the lowest index; 3. all actions of a batch are the same.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from gpbandits_env.agents.agent import Agent
from gpbandits_env.arrays import IntArray, State, finite_array, leading
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


class Genie(Agent):
    r"""The maximizer of f_{t-1}, which the caller must `reveal`; `tell` has no effect on it.

    .. math:: x_t = \arg\max_x f_{t-1}(x)

    It is a reference, not an algorithm: only code that knows the true function can use it. The
    domain must be arms. The model has no effect.

    Raises:
        InvalidInput: the domain is a box.
    Source: bogunovic2016, Appendix F.
    """

    def __init__(self, problem: Problem, rng: Generator) -> None:
        super().__init__(problem, rng)
        if not problem.domain.finite:
            raise InvalidInput(
                "the genie needs a finite set of arms, got a box: make the environment with a grid "
                "or with arms"
            )
        self._size = len(problem.domain.span)
        # The round whose function was revealed, and the maximizer of that function.
        self._revealed: tuple[int, int] | None = None

    def reveal(self, values: ArrayLike) -> None:
        """Reveal the function of the last round, without noise.

        Args:
            values: f_{t-1} at all arms, (n,).
        Raises:
            InvalidInput: the shape is wrong or a value is not finite. The agent is unchanged.
        """
        function = finite_array(values, "values", ndim=1)
        if function.shape != (self._size,):
            raise InvalidInput(f"values must have shape ({self._size},), got {function.shape}")
        self._revealed = (self.round, int(leading(function)))

    def ask(self) -> IntArray:
        """The maximizer of f_{t-1}, m times.

        Raises:
            InvalidInput: the last round's function has not been revealed.
        """
        if self.round == 0:
            arm = int(self.rng.integers(self._size))
        elif self._revealed is None or self._revealed[0] != self.round:
            raise InvalidInput(
                f"the function of round {self.round} was not revealed to the genie: call "
                "reveal(values) after each tell(), as 'gpbandits run' does"
            )
        else:
            arm = self._revealed[1]
        return np.full(self.batch_size, arm)

    def reset(self) -> None:
        super().reset()
        self._revealed = None

    def snapshot(self) -> State:
        return super().snapshot() | {"revealed": self._revealed}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        revealed = state["revealed"]
        self._revealed = None if revealed is None else (int(revealed[0]), int(revealed[1]))
