"""core-v1: what is asked of agents, in 25 small problems. Frozen: a changed problem is core-v2.

All problems are synthetic, so that everybody has the data. What a problem tells its agents is part
of it: the kernel of a wrong model is that of the agents, not that of the function.
"""

from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

TRIALS, FEW = 30, 10
# What a problem can ask of an agent.
TAGS = {
    "smooth": "functions with derivatives of every order, or nearly",
    "rough": "functions with at most one derivative",
    "noisy": "noise of at least half the function's standard deviation",
    "wrong model": "the kernel that agents are told is not that of the function",
    "drift": "the function changes",
    "unknown drift": "the function changes, and agents are told nothing of it",
    "batch": "several actions per round",
    "context": "something is observed before each action",
    "delay": "rewards arrive late",
    "box": "actions are points of a box",
    "many dimensions": "20 dimensions or more",
    "long": "2000 rounds",
}


def _kernel(kind: str, lengthscale: float) -> Plain:
    return {"type": kind, "lengthscale": lengthscale}


def _on(coordinate: int, kernel: Plain) -> Plain:
    return {"type": "on", "coordinates": [coordinate], "kernel": kernel}


SE, MATERN32 = _kernel("se", 0.2), _kernel("matern32", 0.2)
SHORT, LONG = _kernel("matern52", 0.1), _kernel("matern52", 0.3)
PAIRS = {"type": "product", "factors": [_on(0, SE), _on(1, _kernel("se", 0.3))]}
PLANE, SMALL = [14, 14], [10, 10]
RANDOM_DELAY = {"least": 0, "most": 20, "lost": 0.2}
LITTLE, SOME, MUCH = 0.001, 0.025, 1.0
# The variance of the noise on a test function, relative to that of its values.
NEARLY_NONE = 1e-6
# Name, what it is, tags.
ABOUT = """
se | smooth functions, little noise | smooth
se-noisy | smooth functions, much noise | smooth, noisy
matern12 | functions without derivatives | rough
matern52 | functions with two derivatives | smooth
matern32-noisy | one derivative, much noise | rough, noisy
long | 2000 rounds on a line | rough, noisy, long
lengthscale-long | agents are told a lengthscale of 0.3; the true one is 0.1 | smooth, wrong model
lengthscale-short | agents are told a lengthscale of 0.1; the true one is 0.3 | smooth, wrong model
kernel | agents are told that functions are smooth; they have no derivative | rough, wrong model
drift-slow | a slow Markov drift of known rate | smooth, drift
drift-fast | a fast Markov drift of known rate | smooth, drift
rate | a Markov drift of unknown rate | smooth, drift, unknown drift
breaks | another function every 100 rounds on average | smooth, drift, unknown drift
season | a season of 50 rounds that agents do not know of | smooth, drift, unknown drift
batch-5 | 5 actions per round | smooth, batch
batch-20 | 20 actions per round, rough functions | rough, batch
context | 10 contexts with similar functions | smooth, context
delay | rewards arrive 10 rounds late | smooth, delay
delay-random | rewards arrive 0 to 20 rounds late, and one in five never | rough, delay
branin | Branin's function | smooth, box
ackley | Ackley's function in 4 dimensions | rough, box
hartmann | Hartmann's function in 6 dimensions | smooth, box
box-noisy | draws in a square, much noise | smooth, noisy, box
levy-20 | Levy's function in 20 dimensions | box, many dimensions
ellipsoid-100 | 100 dimensions, of which 10 matter | smooth, box, many dimensions
"""


def _problem(name: str, env: str, horizon: int, told: Any = None, **env_kwargs: Any) -> Scenario:
    """Declare a problem; ``told`` is the kernel that agents are told, if it is another one."""
    rows = ([part.strip() for part in row.split("|")] for row in ABOUT.strip().splitlines())
    title, tags = next((title, tags) for row, title, tags in rows if row == name)
    exact = env == "HighDim"
    return Scenario(
        id=f"core-v1/{name}",
        source="this library",
        title=title,
        env=f"gpbandits/{env}-v0",
        env_kwargs=env_kwargs,
        grid={"agents.kernel": (told,)} if told else {},
        horizon=horizon,
        trials=FEW if "box" in tags else TRIALS,
        agents=(AgentEntry("random", "random"),),
        metric="simple_regret" if exact else "average_regret",
        tags=tuple(tags.split(", ")),
    )


def _static(name: str, kernel: Plain, noise: float, horizon: int, **more: Any) -> Scenario:
    more = more if "box" in more else {"grid": PLANE, **more}
    return _problem(name, "StaticGP", horizon, kernel=kernel, noise_var=noise, **more)


def _drifting(name: str, kind: str, **drift: Any) -> Scenario:
    known = {"kernel": SE, "grid": SMALL, "noise_var": 0.01}
    return _problem(name, "Drifting", 300, drift={"type": kind, **drift}, **known)


def _box(
    name: str,
    function: str,
    dim: int,
    scale: tuple[float, float, float],
    horizon: int = 100,
    **more: Any,
) -> Scenario:
    """Declare a test function in a cube, at a place that is drawn at each reset.

    ``scale`` is the mean and the standard deviation of its values, which agents are told, and the
    lengthscale of their Matern kernel of smoothness 5/2.
    """
    mean, sd, ell = scale
    known = {"function": function, "dim": dim, "shift": True}
    model = {"kernel": _kernel("matern52", ell) | {"variance": sd**2}, "prior_mean": mean}
    return _problem(
        name, "HighDim", horizon, **known, **model, noise_var=NEARLY_NONE * sd**2, **more
    )


PROBLEMS = (
    # -- functions and noise ----------------------------------------------------------------------
    _static("se", SE, LITTLE, 100),
    _static("se-noisy", SE, MUCH, 400),
    _static("matern12", _kernel("matern12", 0.2), SOME, 200),
    _static("matern52", _kernel("matern52", 0.2), SOME, 200),
    _static("matern32-noisy", MATERN32, MUCH, 400),
    _static("long", MATERN32, MUCH, 2000, grid=[100]),
    # -- wrong models -----------------------------------------------------------------------------
    _static("lengthscale-long", SHORT, SOME, 200, told=LONG),
    _static("lengthscale-short", LONG, SOME, 200, told=SHORT),
    _static("kernel", _kernel("matern12", 0.3), SOME, 200, told=SE),
    # -- drift ------------------------------------------------------------------------------------
    _drifting("drift-slow", "markov", epsilon=0.003),
    _drifting("drift-fast", "markov", epsilon=0.03),
    _drifting("rate", "varying-markov", epsilons=[0.01], rounds=100),
    _drifting("breaks", "change-points", rate=0.01),
    _drifting("season", "seasonal", period=50.0, weights=[1.0, 0.5]),
    # -- batches, contexts, delays ----------------------------------------------------------------
    _static("batch-5", SE, SOME, 40, batch_size=5),
    _static("batch-20", MATERN32, SOME, 15, batch_size=20),
    _problem("context", "Contextual", 300, grid=[30], contexts=10, kernel=PAIRS, noise_var=SOME),
    _static("delay", SE, SOME, 120, grid=SMALL, delay=10),
    _static("delay-random", MATERN32, SOME, 120, grid=SMALL, delay=RANDOM_DELAY),
    # -- boxes ------------------------------------------------------------------------------------
    _box("branin", "branin", 2, (-100.0, 120.0, 0.7), 50),
    _box("ackley", "ackley", 4, (-21.0, 1.0, 0.5)),
    _box("hartmann", "hartmann-6", 6, (0.2, 0.5, 0.6)),
    _static("box-noisy", _kernel("se", 0.3), 0.25, 100, box=[[0.0] * 2, [1.0] * 2]),
    _box("levy-20", "levy", 20, (-400.0, 130.0, 2.0)),
    _box("ellipsoid-100", "hyper-ellipsoid", 100, (-1.3e5, 5e4, 5.0), 60, active=10),
)
