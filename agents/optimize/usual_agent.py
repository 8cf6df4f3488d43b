"""The agent of a space by its name: its default model, and what it learns by default."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

from gpbandits_env.agents.acquisitions.schedules import LEARNED, THEOREM_1, THEOREM_OVER_5
from gpbandits_env.agents.embeddings.action_map import CandidateMap
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.noise import sample_scale
from gpbandits_env.agents.optimize.space import MOST_ARMS, Space
from gpbandits_env.agents.registry import OVERRIDES, agent_class, make, settings_of
from gpbandits_env.arrays import Plain, Settings, positive, whole
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.gp.kernels import Kernel, Matern52, kernel_from_dict
from gpbandits_env.gp.learning import learning_for
from gpbandits_env.problem import Problem

# The defaults on the unit cube, for values of variance 1.
LENGTHSCALE, NOISE_VAR = 0.3, 1e-4
# A fixed kernel whose lengthscales are all beyond these is hardly meant for the unit cube: it is
# that of a linear function, or of noise.
SHORTEST, LONGEST = 1e-3, 10.0
# A fit after three values, or after growth by 5% if that is more.
LEARN: Settings = {"every": 3, "growth": 0.05}
# The logarithms of d lengthscales differ from the common one by this in the sum of squares, unless
# the data say otherwise: by 1 each in 5 dimensions, by 0.5 in 20. Chosen on BBOB, instances 11
# and 12.
DIFFERENCES = 5.0
# In spaces with choices samples are as drawn, and beta is larger: no gradient leads to an option,
# and narrow bounds never try most of them. Chosen on the mixed space of
# `benchmarks/hard_objectives.py`, seeds 10 to 15.
AMONG_CHOICES = 6.0
# Where data age, epsilon is learned with one lengthscale, from the last 150 values.
FADING: Settings = {"every": 5, "window": 150}


def check_settings(call: str, own: Sequence[str], agent: str, settings: Settings) -> None:
    """Raise an error for settings that neither a call nor its agent has."""
    known = ({*settings_of(agent), *OVERRIDES} - {"batch_size"}) | {*own}
    for key in settings:
        if key not in known:
            raise unknown(f"argument of {call}", key, known)


def agent_for(
    space: Space,
    name: str,
    seed: int,
    settings: Settings,
    noise: float | None = None,
    robust: bool = False,
) -> GPAgent:
    """Make an agent over a space, with noise of a known standard deviation if one is given.

    A kernel that is given acts on the unit cube: each dimension is scaled to [0, 1], a logarithmic
    one by its logarithm, and a choice has a coordinate for each option. If ``robust``, the
    default model winsorizes rewards that are far from most others.

    By default, the kernel is Matern-5/2 with lengthscale 0.3 sqrt(d) on the unit cube and variance
    1, the noise has variance 1e-4, and values are standardized once there are five; the model of
    fewer is that of values with mean 0 and variance 1. The lengthscales (one per dimension), the
    variance and the noise variance are then learned at every third value, and less often above 60
    values, unless a kernel is given. With a window or resets, the model is that of the
    data in the window. Where data age by an epsilon, it is learned too, from the value that is
    given, with one lengthscale; ``temporal`` stays as given. Where an agent's own beta_t is that of
    a theorem, beta is 2.
    The ``scale`` of an agent that draws posterior samples is `sample_scale`. In spaces with
    choices, that beta is 6, and ``scale`` is 1. If the noise is given and not 0, EI is
    ``augmented`` and its ``incumbent`` is "sampled"; see `noise` too. An agent with an incumbent
    takes the posterior means of pending evaluations for their values (``batch="believer"``). Its
    search takes ends of ascents that are level with the best candidate (`Search.takes_level`).

    Raises:
        UnknownName: there is no such agent or setting.
        InvalidInput: the agent has no posterior, or accepts observations only at its own candidates
            although the space is continuous; or a setting is out of range.
    """
    cls = agent_class(name)
    if not issubclass(cls, GPAgent):
        raise InvalidInput(
            f"a campaign needs an agent with a Gaussian-process posterior, because of pending "
            f"points; {name!r} has none: use ei, gp-ucb, ts, ..."
        )
    if "batch_size" in settings:
        raise InvalidInput("leave out batch_size: ask(n) returns any number of suggestions")
    given = {"standardize": True, **settings}
    problem = Problem(space.domain, Matern52(LENGTHSCALE * math.sqrt(space.dim)), NOISE_VAR)
    if "kernel" in given and not given.get("learn"):
        _warn_of_units(kernel_from_dict(given["kernel"]))
    usual = "learn" not in given and "kernel" not in given
    if usual:
        given["learn"] = _usual_learning(space, cls, given, robust)
    noisy = noise is not None and positive(noise, "noise", zero=True) > 0.0
    given = _exploration(space, name, noisy) | given
    if noise is not None:
        given |= _with_noise(noise, given)
    agent = make(name, problem, seed=seed, **given)
    assert isinstance(agent, GPAgent)
    agent.search.takes_level = True  # the kept results of scenarios are those without it
    # The options of a choice share a lengthscale. An embedding, which only the agent knows, has
    # other coordinates.
    refit, mapped = agent.refit, agent.action_map
    if usual and refit is not None and refit.learning.ard and mapped.inner.domain == space.domain:
        refit.learn_by(replace(refit.learning, ard=space.groups))
    if isinstance(mapped, CandidateMap):
        raise InvalidInput(
            f"{name!r} with these settings cannot run a campaign in this space: it accepts "
            "observations only at its own candidates, but the points of a campaign may lie "
            "anywhere; use an agent that accepts any point (ei, gp-ucb, ts, ...), without "
            "candidates and a Nystrom posterior, or a space of at most "
            f"{MOST_ARMS} combinations"
        )
    return agent


def _warn_of_units(kernel: Kernel) -> None:
    """Warn if the lengthscales of a fixed kernel are hardly meant for the unit cube."""
    found = [value for name, value in kernel.parameters().items() if "lengthscale" in name]
    if found and (min(found) > LONGEST or max(found) < SHORTEST):
        warnings.warn(
            f"the kernel acts on dimensions scaled to [0, 1], where all of its lengthscales "
            f"{shown(found)} are extreme: divide each by high - low of its dimension, or let "
            "learn=True fit them",
            stacklevel=3,
        )


def _exploration(space: Space, name: str, noisy: bool) -> Plain:
    """The defaults of the settings that say how far an agent explores."""
    known = settings_of(name)
    found: Plain = {}
    choices = not all(dimension.ordered for dimension in space.dimensions.values())
    if known.get("beta", ...) in (None, THEOREM_OVER_5, THEOREM_1):
        found["beta"] = AMONG_CHOICES if choices else LEARNED
    if "scale" in known and not choices:
        found["scale"] = sample_scale(len(space.dimensions), noisy)
    if "augmented" in known and noisy:
        found |= {"augmented": True, "incumbent": "sampled"}
    # Pending points whose mean is above the incumbent would otherwise be chosen again.
    if "incumbent" in known and known["batch"] is None:
        found["batch"] = "believer"
    return found


def _usual_learning(space: Space, cls: type[GPAgent], given: Settings, robust: bool) -> Plain:
    """What is learned by default, and when."""
    what = ["lengthscale", "variance"] + ["noise_var"] * ("noise_var" not in given)
    moving = given.get("temporal") is not None or cls.PARTS.temporal is not None
    drifts = cls.assumes_drift and cls.PARTS.keep is None  # w-dbo has another model of time
    if not moving and (drifts or given.get("epsilon") is not None):
        return {**FADING, "what": [*what, "epsilon"]}
    spread = math.sqrt(min(3.0, DIFFERENCES / len(space.dimensions)))
    learn = {**LEARN, "what": what, "ard": True, "spread": spread, "robust": robust}
    for name in ("window", "reset_every"):
        if given.get(name) is not None:
            learn["last"] = max(2, whole(given[name], name))
    return learn


def _with_noise(noise: float, given: Settings) -> Plain:
    """The settings for noise of a known standard deviation, in the units of the values."""
    learning = learning_for(given.get("learn"), given["standardize"])
    if "noise_var" in given:
        raise InvalidInput("give noise or noise_var, not both: noise is a standard deviation")
    if learning is None:
        return {"noise_var": noise**2}
    kept = tuple(name for name in learning.what if name != "noise_var")
    return {"noise_var": noise**2, "learn": replace(learning, what=kept, known_noise=True)}
