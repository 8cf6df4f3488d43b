"""`render`: the observations of an episode are recorded, and shown as text or drawn."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import Array, IntArray, Plain, Points, Settings
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.rewards.functions import Function

# A picture of a moving function shows the readings of so many rounds.
RECENT = 15
SIDE_BY_SIDE: Plain = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
METADATA: Plain = {**SIDE_BY_SIDE, "render_modes": ["human", "ansi", "rgb_array"]}


def check_render_mode(mode: str | None, metadata: Settings = METADATA) -> str | None:
    """The render mode, checked.

    Raises:
        UnknownName: there is no such mode.
    """
    return None if mode is None else one_of(mode, metadata["render_modes"], "render mode")


@dataclass(frozen=True)
class Seen:
    """The observations of a round: actions, noisy rewards (k,), regret of each action (k,)."""

    actions: Points
    rewards: Array
    regret: Array


@dataclass(frozen=True)
class Scene:
    """What is shown of an instance after some rounds: its current function and its regrets.

    ``seen`` contains the rounds that are shown, in order. ``agent`` is the attached agent, whose
    belief is shown, or None.
    """

    bandit: Bandit
    function: Function
    round: int
    cumulative: float
    simple: float
    seen: list[Seen]
    agent: Any = None

    @property
    def actions(self) -> Points:
        """All actions that are shown."""
        return np.concatenate([seen.actions for seen in self.seen])

    @property
    def rewards(self) -> Array:
        """All rewards that are shown."""
        return np.concatenate([seen.rewards for seen in self.seen])

    @property
    def regret(self) -> Array:
        """The regret of each action that is shown."""
        return np.concatenate([seen.regret for seen in self.seen])

    @property
    def rounds(self) -> IntArray:
        """The round of each action that is shown."""
        shown = np.arange(self.round - len(self.seen), self.round) + 1
        return np.repeat(shown, [len(seen.actions) for seen in self.seen])

    @property
    def best(self) -> Points:
        """The best action, as a batch of one."""
        return np.asarray(self.function.best_action)[None]

    def at(self, actions: Points) -> Array:
        """The positions at which actions are drawn: on the map if there is one."""
        if self.bandit.locations is not None:
            return self.bandit.locations[actions]
        return self.bandit.problem.domain.points(actions)

    def belief(self, points: Points | None = None) -> tuple[Array, Array] | None:
        """The agent's mean and standard deviation at the arms, or at points (n, d) of a box.

        It is None without an agent, or if the agent has no belief there (with candidates, the
        belief in a box exists only at these).
        """
        if self.agent is None:
            return None
        try:
            found = self.agent.belief() if points is None else self.agent.belief(points)
        except InvalidInput:
            return None
        return None if found is None else (np.asarray(found[0]), np.asarray(found[1]))


@dataclass
class Viewer:
    """Records the readings of one episode, and draws them."""

    bandit: Bandit
    mode: str
    seen: list[Seen] = field(default_factory=list)
    agent: Any = None
    window: "Display | None" = None

    def record(
        self,
        actions: Points,
        rewards: Array,
        regret: Array,
        observed: NDArray[np.bool_] | None = None,
    ) -> None:
        """Record the observations of a round; the arrays are copied."""
        kept = np.ones(len(actions), dtype=np.bool_) if observed is None else observed
        self.seen.append(Seen(actions[kept], rewards[kept], regret[kept]))
        if self.bandit.process.moves:
            # Readings of functions of much earlier rounds would be misleading.
            del self.seen[:-RECENT]

    def attach(self, agent: object) -> None:
        """Show this agent's belief; None shows none.

        Raises:
            InvalidInput: the agent has no ``belief``.
        """
        if agent is not None and not callable(getattr(agent, "belief", None)):
            raise InvalidInput(f"an attached agent needs belief() -> (mean, sd), got {agent!r}")
        self.agent = agent

    def draw(
        self, function: Function, round_: int, cumulative: float, simple: float
    ) -> str | NDArray[np.uint8] | None:
        """The scene as text ("ansi") or pixels (height, width, 3) ("rgb_array"), or in a window."""
        scene = Scene(self.bandit, function, round_, cumulative, simple, self.seen, self.agent)
        if self.mode == "ansi":
            return text(scene)
        if self.mode == "human":
            self.window = self.window or Display()
            self.window.show(scene, 1.0 / METADATA["render_fps"])
            return None
        from gpbandits_env.envs.drawing import picture

        return picture(scene)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self.window is not None:
            self.window.close()


class Display:
    """A window of matplotlib's current backend, opened when it first shows something.

    If the user closes it, the next round opens it again. Without a display nothing is shown.
    """

    def __init__(self) -> None:
        self._figure: Any = None

    def __reduce__(self) -> tuple[object, ...]:
        return Display, ()  # a copied environment opens its own window

    def show(self, scene: Scene, seconds: float) -> None:
        """Draw a scene, and process the window's events for ``seconds``."""
        from matplotlib import pyplot as plt

        from gpbandits_env.envs.drawing import FIGURE, draw

        figure = self._figure
        if figure is None or not plt.fignum_exists(figure.number):
            figure = self._figure = plt.figure(**FIGURE)
            plt.show(block=False)
        figure.clear()
        draw(figure, scene)
        figure.canvas.draw()
        figure.canvas.start_event_loop(seconds)

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._figure is not None:
            from matplotlib import pyplot as plt

            plt.close(self._figure)
            self._figure = None


def text(scene: Scene) -> str:
    """One line: the round, its actions and rewards, and the regret so far."""
    best = f"best {_action(scene.function.best_action)} worth {scene.function.optimum:.4g}"
    if not scene.seen:
        return f"round 0 | no action yet | {best}"
    last = scene.seen[-1]
    happened = [
        "actions " + " ".join(_action(action) for action in last.actions),
        "rewards " + " ".join(f"{r:.4g}" for r in last.rewards),
        "regret " + " ".join(f"{r:.4g}" for r in last.regret),
    ]
    return " | ".join(
        [
            f"round {scene.round}",
            *(happened if len(last.actions) else ["nothing observed"]),
            f"cumulative {scene.cumulative:.4g}",
            f"simple {scene.simple:.4g}",
            best,
        ]
    )


def _action(action: ArrayLike) -> str:
    if np.ndim(action) == 0:
        return str(np.asarray(action).item())
    return "(" + ", ".join(f"{x:.3g}" for x in np.asarray(action)) + ")"
