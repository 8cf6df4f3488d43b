"""core-v1: what is asked of agents, in 25 small problems. Frozen: a changed problem is core-v2.

All problems are synthetic, so that everybody has the data. What a problem tells its agents is part
of it: the kernel of a wrong model is that of the agents, not that of the function.
"""

from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

TRIALS, FEW = 30, 10
AVERAGE, SIMPLE = "average_regret", "simple_regret"
# What a problem can ask of an agent.
TAGS = {
    "smooth": "functions with derivatives of every order, or nearly",
    "rough": "functions with at most one derivative",
    "noisy": "noise as large as the function",
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


SE, MATERN12 = _kernel("se", 0.2), _kernel("matern12", 0.2)
MATERN32, MATERN52 = _kernel("matern32", 0.2), _kernel("matern52", 0.2)
LINE, PLANE, SMALL = [100], [14, 14], [10, 10]
LITTLE, SOME, MUCH = 0.001, 0.025, 1.0
# The variance of the noise on a test function, relative to that of its values.
NEARLY_NONE = 1e-6


def _problem(
    name: str,
    title: str,
    tags: str,
    env: str,
    horizon: int,
    metric: str = AVERAGE,
    trials: int = TRIALS,
    told: Plain | None = None,
    **env_kwargs: Any,
) -> Scenario:
    """Declare a problem; ``told`` replaces what agents know of it."""
    return Scenario(
        id=f"core-v1/{name}",
        source="this library",
        title=title,
        env=f"gpbandits/{env}-v0",
        env_kwargs=env_kwargs,
        grid={f"agents.{key}": (value,) for key, value in (told or {}).items()},
        horizon=horizon,
        trials=trials,
        agents=(AgentEntry("random", "random"),),
        metric=metric,
        tags=tuple(tags.split(", ")),
    )


def _static(
    name: str, title: str, tags: str, kernel: Plain, noise: float, *, horizon: int, **more: Any
) -> Scenario:
    more.setdefault("grid", PLANE)
    return _problem(name, title, tags, "StaticGP", horizon, kernel=kernel, noise_var=noise, **more)


def _drifting(name: str, title: str, tags: str, drift: Plain, **more: Any) -> Scenario:
    more = {"kernel": SE, "grid": SMALL, "noise_var": 0.01, "horizon": 300, **more}
    return _problem(name, title, tags, "Drifting", drift=drift, **more)


def _markov(epsilon: float, told: bool = True) -> Plain:
    """A Markov drift, of which agents know the rate if they are ``told``."""
    kind = "markov" if told else "varying-markov"
    return {
        "type": kind,
        **({"epsilon": epsilon} if told else {"epsilons": [epsilon], "rounds": 100}),
    }


def _box(
    name: str,
    title: str,
    tags: str,
    function: str,
    dim: int,
    scale: tuple[float, float, float],
    *,
    horizon: int = 100,
    **more: Any,
) -> Scenario:
    """Declare a test function in a cube, at a place that is drawn at each reset.

    ``scale`` is the mean and the standard deviation of its values, which agents are told, and the
    lengthscale of their Matern kernel of smoothness 5/2.
    """
    mean, sd, lengthscale = scale
    return _problem(
        name,
        title,
        tags,
        "HighDim",
        horizon,
        SIMPLE,
        FEW,
        function=function,
        dim=dim,
        shift=True,
        kernel=_kernel("matern52", lengthscale) | {"variance": sd**2},
        prior_mean=mean,
        noise_var=NEARLY_NONE * sd**2,
        **more,
    )


PROBLEMS = (
    # -- functions and noise ----------------------------------------------------------------------
    _static("se", "smooth functions, little noise", "smooth", SE, LITTLE, horizon=100),
    _static("se-noisy", "smooth functions, much noise", "smooth, noisy", SE, MUCH, horizon=400),
    _static("matern12", "functions without derivatives", "rough", MATERN12, SOME, horizon=200),
    _static("matern52", "functions with two derivatives", "smooth", MATERN52, SOME, horizon=200),
    _static(
        "matern32-noisy", "one derivative, much noise", "rough, noisy", MATERN32, MUCH, horizon=400
    ),
    _static(
        "long",
        "2000 rounds on a line",
        "rough, noisy, long",
        MATERN32,
        MUCH,
        horizon=2000,
        grid=LINE,
    ),
    # -- wrong models -----------------------------------------------------------------------------
    _static(
        "lengthscale-long",
        "agents are told a lengthscale of 0.3, which is 0.1",
        "smooth, wrong model",
        _kernel("matern52", 0.1),
        SOME,
        horizon=200,
        told={"kernel": _kernel("matern52", 0.3)},
    ),
    _static(
        "lengthscale-short",
        "agents are told a lengthscale of 0.1, which is 0.3",
        "smooth, wrong model",
        _kernel("matern52", 0.3),
        SOME,
        horizon=200,
        told={"kernel": _kernel("matern52", 0.1)},
    ),
    _static(
        "kernel",
        "agents are told that functions are smooth, which have no derivative",
        "rough, wrong model",
        _kernel("matern12", 0.3),
        SOME,
        horizon=200,
        told={"kernel": SE},
    ),
    # -- functions that change --------------------------------------------------------------------
    _drifting("drift-slow", "a slow Markov drift of known rate", "smooth, drift", _markov(0.003)),
    _drifting("drift-fast", "a fast Markov drift of known rate", "smooth, drift", _markov(0.03)),
    _drifting(
        "rate",
        "a Markov drift of unknown rate",
        "smooth, drift, unknown drift",
        _markov(0.01, False),
    ),
    _drifting(
        "breaks",
        "another function every 100 rounds on average",
        "smooth, drift, unknown drift",
        {"type": "change-points", "rate": 0.01},
    ),
    _drifting(
        "season",
        "a season of 50 rounds that agents do not know of",
        "smooth, drift, unknown drift",
        {"type": "seasonal", "period": 50.0, "weights": [1.0, 0.5]},
    ),
    # -- batches, contexts, delays ----------------------------------------------------------------
    _static("batch-5", "5 actions per round", "smooth, batch", SE, SOME, horizon=40, batch_size=5),
    _static(
        "batch-20",
        "20 actions per round, rough functions",
        "rough, batch",
        MATERN32,
        SOME,
        horizon=15,
        batch_size=20,
    ),
    _problem(
        "context",
        "10 contexts with similar functions",
        "smooth, context",
        "Contextual",
        300,
        grid=[30],
        contexts=10,
        kernel={"type": "product", "factors": [_on(0, SE), _on(1, _kernel("se", 0.3))]},
        noise_var=SOME,
    ),
    _static(
        "delay",
        "rewards arrive 10 rounds late",
        "smooth, delay",
        SE,
        SOME,
        horizon=120,
        grid=SMALL,
        delay=10,
    ),
    _static(
        "delay-random",
        "rewards arrive 0 to 20 rounds late, and one in five never",
        "rough, delay",
        MATERN32,
        SOME,
        horizon=120,
        grid=SMALL,
        delay={"least": 0, "most": 20, "lost": 0.2},
    ),
    # -- boxes ------------------------------------------------------------------------------------
    _box(
        "branin", "Branin's function", "smooth, box", "branin", 2, (-100.0, 120.0, 0.7), horizon=50
    ),
    _box("ackley", "Ackley's function of 4", "rough, box", "ackley", 4, (-21.0, 1.0, 0.5)),
    _box("hartmann", "Hartmann's function of 6", "smooth, box", "hartmann-6", 6, (0.2, 0.5, 0.6)),
    _problem(
        "box-noisy",
        "draws in a square, much noise",
        "smooth, noisy, box",
        "StaticGP",
        100,
        trials=FEW,
        box=[[0.0, 0.0], [1.0, 1.0]],
        kernel=_kernel("se", 0.3),
        noise_var=0.25,
    ),
    _box(
        "levy-20",
        "Levy's function of 20",
        "box, many dimensions",
        "levy",
        20,
        (-400.0, 130.0, 2.0),
    ),
    _box(
        "ellipsoid-100",
        "100 dimensions, of which 10 matter",
        "smooth, box, many dimensions",
        "hyper-ellipsoid",
        100,
        (-1.3e5, 5e4, 5.0),
        active=10,
        horizon=60,
    ),
)
