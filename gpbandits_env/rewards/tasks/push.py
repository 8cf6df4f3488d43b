"""Robot pushing: a hand pushes a disc on a table, and the disc should end at a goal.

Source: ren2024, Section 5 (`push-3d`, `push-4d`). The task, its constants and its engine are those
of Wang and Jegelka (2017).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from gpbandits_env.arrays import Array, finite_array
from gpbandits_env.errors import InvalidInput, optional
from gpbandits_env.rewards.tasks.task import TASKS, Axis, Best, Task, TaskEntry

# The units of Box2D: meters, kilograms, seconds.
TIME_STEP, ITERATIONS = 0.01, 10
REST = 100  # steps without control after the push
RADIUS, HALF = 1.0, (0.3, 1.0)  # of the disc; half of the sides of the hand
DISC = {"density": 0.05, "friction": 0.01, "max_force": 5.0, "max_torque": 2.0}
HAND = {"density": 0.1, "friction": 0.1, "max_force": 2.0, "max_torque": 2.0}
GAIN = 30.0  # the gain of the controller, per unit of mass
NOISE_SD = 0.1  # on each component of the hand's speed
TABLE = 5.0  # goals and initial positions of the hand lie in [-5, 5]^2
REACHED = 5.0  # the reward of the disc at its goal
# A push is good enough if it ends this close to the goal. Otherwise longer pushes are tried, from
# initial distances in these ranges.
CLOSE = 1e-3
OVERLAP, APART = (0.05, 1.25), (1.25, TABLE)
SHORTEST, TIMES = 1.0, (1.0, 29.9)
TRIES = [(0, OVERLAP), (-1, OVERLAP), (1, OVERLAP), *((more, APART) for more in range(0, 16, 3))]

Vector = tuple[float, float]


@cache
def engine() -> ModuleType:
    """The package Box2D.

    Raises:
        MissingExtra: the package is not installed.
    """
    with warnings.catch_warnings():
        # Newer Python versions warn about types that the wrapper generator of Box2D makes.
        warnings.simplefilter("ignore", DeprecationWarning)
        return optional("Box2D", "push")


def pushed(hand: Vector, angle: float, speed: Vector, steps: int) -> Vector:
    """Where the disc comes to rest, after a push in a Box2D simulation of its own; about 1 ms.

    There is no gravity: the table acts through friction joints to a static body at the origin.

    Args:
        hand: the initial position of the hand; the disc starts at the origin.
        angle: the angle of the hand, in radians.
        speed: the target speed of the controller.
        steps: the number of steps of pushing.
    """
    box2d = engine()
    simulation = box2d.b2World(gravity=(0.0, 0.0), doSleep=True)
    table = simulation.CreateStaticBody(position=(0.0, 0.0))
    round_, flat = _fixtures()
    disc = _body(simulation, table, round_, (0.0, 0.0), 0.0, DISC)
    robot = _body(simulation, table, flat, hand, angle, HAND)
    mass, step = robot.mass, simulation.Step
    gain = GAIN * mass
    for _ in range(steps):
        robot.ApplyTorque(-gain * robot.angularVelocity, True)
        now = robot.linearVelocity
        force = (gain * (speed[0] - now[0]), gain * (speed[1] - now[1]))
        robot.ApplyForce(force, robot.position, True)
        step(TIME_STEP, ITERATIONS, ITERATIONS)
    for _ in range(REST):
        step(TIME_STEP, ITERATIONS, ITERATIONS)
    x, y = disc.position
    return float(x), float(y)


@cache
def _fixtures() -> list[object]:
    """The fixtures of the disc and the hand; Box2D copies them into each simulation."""
    box2d = engine()
    disc, hand = box2d.b2CircleShape(radius=RADIUS), box2d.b2PolygonShape(box=HALF)
    return [
        box2d.b2FixtureDef(shape=shape, density=given["density"], friction=given["friction"])
        for shape, given in ((disc, DISC), (hand, HAND))
    ]


def _body(
    world: Any, table: object, fixture: object, place: Vector, angle: float, given: dict[str, float]
) -> Any:
    """A body on the table. Bodies that a friction joint connects do not collide."""
    body = world.CreateDynamicBody(position=place, angle=angle, fixtures=fixture)
    world.CreateFrictionJoint(
        bodyA=table, bodyB=body, maxForce=given["max_force"], maxTorque=given["max_torque"]
    )
    return body


@dataclass(frozen=True)
class Push(Task):
    """The reward 5 - |goal - final position of the disc|, for a push from (rx, ry) for t seconds.

    In three dimensions the hand has the angle arctan(ry / rx) and a speed of 5 towards the disc. In
    four dimensions the angle is chosen too, and the speed is 10. There are int(10 t) steps of
    pushing. The task has its own noise: N(0, 0.1^2) on each component of the speed, drawn once per
    evaluation.

    A hand that starts at the center of the disc has no direction and stays there.

    Args:
        turned: whether the angle is the fourth coordinate.
        goal: a fixed goal; by default it is drawn uniformly from [-5, 5]^2 at each reset.
    Raises:
        InvalidInput: the goal is not on the table.
    """

    turned: bool = False
    goal: Vector | None = None
    noise_inside: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.goal is not None:
            given = finite_array(self.goal, "goal")
            if given.shape != (2,) or np.abs(given).max() > TABLE:
                raise InvalidInput(f"goal must be a point of [-5, 5]^2, got {self.goal!r}")
            object.__setattr__(self, "goal", tuple(given.tolist()))

    @property
    def axes(self) -> tuple[Axis, ...]:
        axes = (Axis("rx", -TABLE, TABLE), Axis("ry", -TABLE, TABLE), Axis("t", 1.0, 30.0))
        return (*axes, Axis("angle", 0.0, 2.0 * np.pi)) if self.turned else axes

    def prepare(self) -> None:
        engine()

    def draw(self, rng: np.random.Generator) -> Array:
        """The goal, (2,)."""
        return rng.uniform(-TABLE, TABLE, size=2) if self.goal is None else np.array(self.goal)

    def values(self, points: Array, latent: Array) -> Array:
        return self._rewards(points, latent, np.zeros((len(points), 2)))

    def noisy(self, points: Array, latent: Array, rng: np.random.Generator) -> Array:
        return self._rewards(points, latent, NOISE_SD * rng.standard_normal((len(points), 2)))

    def best(self, latent: Array) -> Best:
        """The upper bound 5 of a disc at its goal, and a push that brings the disc there.

        The push goes straight through the disc to the goal, with the flat side of the hand ahead,
        from a distance found by bisection. Its shortfall is the accuracy: below 1e-3 for nearly
        every goal. Cost: about 25 pushes, once per goal.
        """
        action, value = _straight(self.turned, float(latent[0]), float(latent[1]))
        return Best(np.array(action), REACHED, REACHED - value)

    def _rewards(self, points: Array, goal: Array, noise: Array) -> Array:
        ends = [self.end(point, off) for point, off in zip(points, noise, strict=True)]
        return REACHED - np.linalg.norm(np.reshape(ends, (-1, 2)) - goal, axis=1)

    def end(self, point: Array, noise: Array) -> Vector:
        """The final position of the disc, for a point (d,) and the noise of the speed (2,)."""
        x, y, seconds = point[:3].tolist()
        distance = float(np.hypot(x, y))
        pace = (10.0 if self.turned else 5.0) / distance if distance else 0.0
        angle = float(point[3]) if self.turned else _arctan(y, x)
        speed = (float(noise[0]) - pace * x, float(noise[1]) - pace * y)
        return pushed((x, y), angle, speed, int(10.0 * seconds))


def _arctan(y: float, x: float) -> float:
    """arctan(y / x), in [-pi/2, pi/2]; the limit at x = 0, and 0 at the origin."""
    return float(np.arctan(y / x)) if x else float(np.sign(y)) * np.pi / 2.0


@lru_cache(maxsize=4096)
def _straight(turned: bool, x: float, y: float) -> tuple[tuple[float, ...], float]:
    """A push straight to the goal: its point, and its value."""
    task, goal = Push(turned), np.array([x, y])
    distance = float(np.hypot(x, y))
    ahead = goal / distance if distance else np.array([1.0, 0.0])
    angle = [_arctan(ahead[1], ahead[0]) % (2.0 * np.pi)] if turned else []

    def point(gap: float, seconds: float) -> Array:
        return np.array([*np.clip(-gap * ahead, -TABLE, TABLE), seconds, *angle])

    def overshoot(gap: float, seconds: float) -> float:
        return float(np.array(task.end(point(gap, seconds), np.zeros(2))) @ ahead) - distance

    # The time after which a push by a hand that overlaps the disc just reaches the goal. From there
    # the path of the disc is smooth in the gap; it would jump for a hand that flies up to the disc.
    pace, seconds = (0.806 if turned else 0.306), SHORTEST
    for _ in range(3):
        lacking = -overshoot(sum(OVERLAP) / 2.0, seconds)
        seconds = float(np.clip(0.1 * np.rint(10.0 * (seconds + lacking / pace)), *TIMES))
    best, value = point(TABLE, SHORTEST), REACHED - distance  # touches nothing
    for more, gaps in TRIES:
        time = float(np.clip(seconds + 0.1 * more, *TIMES)) + 0.05
        found = point(_root(partial(overshoot, seconds=time), *gaps), time)
        reached = float(task.values(found[None], goal)[0])
        if reached > value:
            best, value = found, reached
        if value >= REACHED - CLOSE:
            break
    return tuple(best.tolist()), value


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """The sign change of a nearly decreasing function, to 1e-5 of the interval; else an end."""
    for _ in range(17):
        middle = (low + high) / 2.0
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2.0


PLACE, ANGLE = "push a disc to a goal: place and time", "push a disc: place, time and angle"
TASKS["push-3d"] = TaskEntry(PLACE, partial(Push, False), "ren2024, Section 5")
TASKS["push-4d"] = TaskEntry(ANGLE, partial(Push, True), "ren2024, Section 5")
