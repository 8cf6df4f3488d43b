"""The agents by name. To add one, write its file and add one line to the table."""

import inspect
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.arrays import Plain, whole
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.gp.kernels import kernel_from_dict
from gpbandits_env.problem import Problem
from gpbandits_env.specs import class_named

AGENTS = {
    "gp-ucb": "algorithms.gp_ucb:GPUCB",
    "ei": "algorithms.ei:EI",
    "mpi": "algorithms.mpi:MPI",
    "max-mean": "algorithms.max_mean:MaxMean",
    "max-variance": "algorithms.max_variance:MaxVariance",
    "ts": "algorithms.ts:ThompsonSampling",
    "bucb": "algorithms.bucb:BUCB",
    "ucbpe": "algorithms.ucbpe:UCBPE",
    "sp": "algorithms.sp:StochasticPolicy",
    "qei": "algorithms.qei:QEI",
    "dpp-ts": "algorithms.dpp_ts:DPPTS",
    "ts-rsr": "algorithms.ts_rsr:TSRSR",
    "random": "algorithms.random:RandomAgent",
    "mini-gp-ucb": "algorithms.mini:MiniGPUCB",
    "mini-ei": "algorithms.mini:MiniEI",
    "lb-gp-ucb": "algorithms.lb_gp_ucb:LBGPUCB",
    "r-gp-ucb": "algorithms.r_gp_ucb:RGPUCB",
    "tv-gp-ucb": "algorithms.tv_gp_ucb:TVGPUCB",
    "sw-gp-ucb": "algorithms.sw_gp_ucb:SWGPUCB",
    "et-gp-ucb": "algorithms.et_gp_ucb:ETGPUCB",
    "wgp-ucb": "algorithms.wgp_ucb:WGPUCB",
    "ui-tvbo": "algorithms.ui_tvbo:UITVBO",
    "w-dbo": "algorithms.w_dbo:WDBO",
    "bma-gp-ucb": "algorithms.bma_gp_ucb:BMAGPUCB",
    "rexp3": "algorithms.rexp3:RExp3",
    "genie": "algorithms.genie:Genie",
    "cub": "algorithms.compressed:CUB",
    "cei": "algorithms.compressed:CEI",
    "cmpi": "algorithms.compressed:CMPI",
    "bkb-ucb": "algorithms.bkb:BKBUCB",
    "bkb-ei": "algorithms.bkb:BKBEI",
    "bkb-mpi": "algorithms.bkb:BKBMPI",
    "ms-ucb": "algorithms.ms_ucb:MSUCB",
    "dropout-ucb": "algorithms.dropout_ucb:DropoutUCB",
    "line-bo": "algorithms.line_bo:LineBO",
    "rembo": "algorithms.rembo:REMBO",
    "hesbo": "algorithms.hesbo:HeSBO",
    "sre": "algorithms.sre:SRE",
    "turbo": "algorithms.turbo:TuRBO",
}

# Optimizers of other libraries; each needs the extra of the same name.
ADAPTERS = {
    "botorch": "adapters.botorch:BoTorch",
    "optuna": "adapters.optuna:OptunaSampler",
}

# For an unknown name.
HINT = "'gpbandits agents' lists them, and your own is 'module:Class'"

# For a constructor of the user's own that does not fit.
CURE = "write 'def __init__(self, problem, rng, *, ...)' and 'super().__init__(problem, rng)'"

# Settings with these names replace the problem's own values before the agent is made.
OVERRIDES = ("kernel", "noise_var", "prior_mean", "batch_size", "horizon", "max_norm", "max_delay")


def names() -> tuple[str, ...]:
    """The names of this library's agents; `make` also accepts those of `adapter_names`."""
    return tuple(AGENTS)


def adapter_names() -> tuple[str, ...]:
    """The names of other libraries' optimizers; each needs the extra of the same name."""
    return tuple(ADAPTERS)


def is_own(name: object) -> bool:
    """Whether a name has the form "module:Class", and is not that of a registered agent."""
    return isinstance(name, str) and ":" in name


def agent_class(name: str | type[Agent]) -> type[Agent]:
    """The class of a registered agent, or of your own: "module:Class" or the class itself.

    Raises:
        UnknownName: no agent has that name.
        InvalidInput: the module does not exist or has no such agent, or the class is not derived
            from `Agent` or does not implement all of its methods.
    """
    if isinstance(name, type):
        if not issubclass(name, Agent) or inspect.isabstract(name):
            raise InvalidInput(
                f"{name.__qualname__} is not an agent: derive it from Agent and implement all of "
                "its abstract methods"
            )
        return name
    if is_own(name):
        return class_named(name, Agent, "agent")  # type: ignore[type-abstract]
    known = AGENTS | ADAPTERS
    module, cls = known[one_of(name, known, "agent", HINT)].split(":")
    return getattr(import_module(f"gpbandits_env.agents.{module}"), cls)


def settings_of(name: str | type[Agent]) -> Plain:
    """The settings of an agent with their defaults, without those in `OVERRIDES`."""
    agent = agent_class(name)
    found: Plain = dict(agent.PARTS.settings) if issubclass(agent, GPAgent) else {}
    for cls in reversed(agent.__mro__):
        if own := cls.__dict__.get("__init__"):
            found |= _keywords(own)
    return found


@lru_cache(maxsize=256)
def _keywords(function: Callable[..., object]) -> Plain:
    """The arguments that can only be given by name, with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def make(
    name: str | type[Agent],
    env_or_problem: object,
    *,
    seed: int | np.random.Generator | None = None,
    **settings: Any,
) -> Agent:
    """Make an agent for an environment or for a problem.

    Args:
        name: a registered name (`names` lists them), or your own agent as a class or as
            "module:Class".
        env_or_problem: a gpbandits environment, wrapped or not; a vector of them (ours,
            Gymnasium's `SyncVectorEnv` and `AsyncVectorEnv`, or stable-baselines3's); or a
            `Problem`.
        seed: the seed of the agent's generator, or the generator.
        settings: the agent's settings. In addition, kernel, noise_var, prior_mean, batch_size,
            horizon, max_norm and max_delay replace the problem's own values (a mismatched model).
    Raises:
        UnknownName: there is no such agent, or it has no such setting.
        InvalidInput: a setting is out of range, the second argument is neither an environment nor a
            problem, or the constructor of an agent of your own lacks something.
    """
    cls = agent_class(name)
    known = settings_of(name)
    shown_name = name if isinstance(name, str) else name.__qualname__
    for key in settings:
        one_of(key, [*known, *OVERRIDES], f"setting of the agent {shown_name!r}")
    own = {key: value for key, value in settings.items() if key not in OVERRIDES}
    problem = _problem(env_or_problem, {k: v for k, v in settings.items() if k not in own})
    if not isinstance(seed, np.random.Generator):
        seed = np.random.default_rng(None if seed is None else whole(seed, "seed", 0, None))
    try:
        made = cls(problem, seed, **own)
    except TypeError as error:
        if error.__traceback__ and error.__traceback__.tb_next:  # the constructor raised it
            raise
        raise InvalidInput(f"the agent {shown_name!r} cannot be made, {error}: {CURE}") from error
    if not hasattr(made, "_policy"):
        raise InvalidInput(f"the agent {shown_name!r} does not call Agent's constructor: {CURE}")
    return made


def _problem(source: object, overrides: Plain) -> Problem:
    problem, spec = source, getattr(source, "spec", None)
    inner = getattr(source, "unwrapped", None)
    outer_space, space = (getattr(each, "action_space", None) for each in (source, inner))
    if inner is not None and outer_space != space:
        raise InvalidInput(
            "an agent chooses the environment's own actions: make it for the environment without "
            "the wrapper that alters them, such as RescaleAction, and step that"
        )
    if not isinstance(source, Problem):
        problem = getattr(inner, "problem", None)
    if hasattr(inner, "num_envs"):
        spec = None  # which has the registered horizon; our vector environments know their own
    # Gymnasium's wrappers of vector environments have no `get_attr`.
    of_each = getattr(source, "get_attr", getattr(inner, "get_attr", None))
    if problem is None and callable(of_each):
        problem, spec = _of_instances(of_each)
    if not isinstance(problem, Problem):
        got = type(source).__name__ + (": give a member of it" if hasattr(inner, "members") else "")
        raise InvalidInput(f"an agent needs a gpbandits environment or a Problem, got {got}")
    # Gymnasium keeps the horizon in the spec of the outer wrapper; a bare environment has none.
    horizon = getattr(spec, "max_episode_steps", None)
    if horizon is not None and (problem.horizon is None or horizon < problem.horizon):
        problem = problem.replaced(horizon=horizon)
    if "kernel" in overrides:
        overrides["kernel"] = kernel_from_dict(overrides["kernel"])
        overrides["reward_sd"] = None  # it was that of the problem's own kernel
    return problem.replaced(**overrides)


def _of_instances(of_each: Callable[[str], Any]) -> tuple[Problem | None, object]:
    """The problem and the spec of the first instance of a vector environment, if it has one."""
    try:
        problems, specs = of_each("problem"), of_each("spec")
    except AttributeError:
        return None, None
    first = problems[0]
    for other in problems[1:]:
        if (other.domain, other.batch_size) != (first.domain, first.batch_size):
            raise InvalidInput(
                "the instances of the vector environment have different arms or boxes: make one "
                "agent per instance"
            )
    return first, specs[0]
