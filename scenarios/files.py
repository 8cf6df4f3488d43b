"""Scenarios of your own, declared in a TOML file.

Everything is tried before anything runs: the environment and every agent are made once at every
point of the grid. An error names the file and the key. Modules that a file names (an agent
"module:Class", an environment "module:gpbandits/Name-v0") are looked for beside it too.
"""

import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium as gym

from gpbandits_env import agents as learners
from gpbandits_env.agents.registry import is_own, own_class
from gpbandits_env.drift import as_drift
from gpbandits_env.errors import GPBanditsError, InvalidInput, MissingData, shown, unknown
from gpbandits_env.kernels import kernel_from_dict
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.folders import look_in
from gpbandits_env.scenarios.results.panels import Panel
from gpbandits_env.scenarios.scenario import AgentEntry, Cell, Picture, Scenario, label_of

TOP = (
    "id",
    "title",
    "source",
    "horizon",
    "trials",
    "metric",
    "environment",
    "agents",
    "grid",
    "selective",
    "initial",
    "initial_counts",
    "store_actions",
    "panels",
)
PANEL = {"y": str, "x": str, "band": str, "log": bool, "log_x": bool}
ENTRY = ("label", "agent", "settings", "note")
# Parts of an environment that are read by themselves first, so that an error can name them.
PARTS = {"kernel": kernel_from_dict, "drift": as_drift}


def load(path: Path) -> Scenario:
    """The scenario of a TOML file, checked.

    Raises:
        MissingData: there is no such file.
        InvalidInput: not TOML, or a key or value that does not fit; the message names it.
    """
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingData(f"{path}: no such file; 'gpbandits new {path}' writes one") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path}: {error}") from None
    look_in(str(path.resolve().parent))
    try:
        scenario = read(declared, path.stem)
        for cell in scenario.cells():
            _try(scenario.env, cell)
    except GPBanditsError as error:
        raise InvalidInput(f"{path}: {error}") from None
    return scenario


def find(name: str) -> Scenario | Picture:
    """The scenario of an id, or of a file whose name ends in .toml.

    Raises:
        UnknownName: no such id.
        MissingData: no such file.
        InvalidInput: the file declares no scenario; see `load`.
    """
    return load(Path(name)) if name.endswith(".toml") else registry.get(name)


def read(declared: Mapping[str, Any], name: str = "scenario") -> Scenario:
    """The scenario of a plain dict in the form of the files.

    Args:
        declared: the file's contents.
        name: names the scenario if it has no id.
    Raises:
        InvalidInput: a key that is missing, or a value of another type.
        UnknownName: a key that no file has.
    """
    if not isinstance(declared, Mapping):
        raise InvalidInput(f"a scenario is a dict, got {shown(declared)}")
    _known(declared, TOP, "")
    environment = _table(declared, "environment")
    kwargs = {key: value for key, value in environment.items() if key != "id"}
    entries = declared.get("agents")
    if not isinstance(entries, list) or not entries:
        raise InvalidInput("agents: at least one [[agents]] table is needed")
    return Scenario(
        id=_of(declared, "id", str, f"my/{name}"),
        source=_of(declared, "source", str, "a scenario file"),
        title=_of(declared, "title", str, name),
        env=_of(environment, "id", str, None, "environment."),
        env_kwargs=kwargs,
        agents=tuple(_entry(entry, i) for i, entry in enumerate(entries)),
        horizon=_of(declared, "horizon", int, None),
        trials=_of(declared, "trials", int, None),
        grid=_table(declared, "grid", {}),
        metric=_of(declared, "metric", str, "average_regret"),
        selective=_of(declared, "selective", bool, False),
        initial=_of(declared, "initial", int, 0),
        initial_counts=_of(declared, "initial_counts", bool, False),
        store_actions=_of(declared, "store_actions", bool, True),
        panels=tuple(_panel(p, i) for i, p in enumerate(_of(declared, "panels", list, []))),
    )


def _panel(panel: Any, place: int) -> Panel:
    where = f"panels[{place}]"
    if not isinstance(panel, Mapping):
        raise InvalidInput(f"{where} must be a table [[panels]], got {panel!r}")
    _known(panel, tuple(PANEL), f"{where}.")
    for key in ("y", *panel):
        _of(panel, key, PANEL[key], None, f"{where}.")
    try:
        return Panel(**panel)
    except GPBanditsError as error:
        raise _at(where, error) from None


def _entry(entry: Any, place: int) -> AgentEntry:
    where = f"agents[{place}]"
    if not isinstance(entry, Mapping):
        raise InvalidInput(f"{where} must be a table [[agents]], got {shown(entry)}")
    _known(entry, ENTRY, f"{where}.")
    name = _of(entry, "agent", str, None, f"{where}.")
    if is_own(name):
        try:
            own_class(name)
        except InvalidInput as error:
            raise _at(f"{where}.agent", error) from error
    elif name not in (known := learners.names() + learners.adapter_names()):
        raise _at(f"{where}.agent", unknown("agent", name, known))
    label = _of(entry, "label", str, label_of(name), f"{where}.")
    settings = _table(entry, "settings", {}, f"{where}.")
    try:
        return AgentEntry(label, name, settings, _of(entry, "note", str, "", f"{where}."))
    except InvalidInput as error:
        raise _at(f"{where}.label", error) from None


def _try(env_id: str, cell: Cell) -> None:
    """Make the environment and every agent of one point of the grid."""
    at = f" (at {dict(cell.params)})" if cell.params else ""
    _import_for(env_id)
    for key, parse in PARTS.items():
        if key in cell.env_kwargs:
            try:
                parse(cell.env_kwargs[key])
            except GPBanditsError as error:
                raise _at(f"environment.{key}{at}", error) from None
    try:
        env = gym.make(env_id, max_episode_steps=cell.horizon, **cell.made_with)
    except (GPBanditsError, gym.error.Error, TypeError) as error:
        where = "environment.id" if isinstance(error, gym.error.Error) else "environment"
        raise _at(f"{where}{at}", error) from None
    for place, entry in enumerate(cell.agents):
        try:
            learners.make(entry.agent, env, seed=0, **entry.settings)
        except (GPBanditsError, TypeError) as error:
            named = next((f".{key}" for key in entry.settings if key in str(error)), "")
            raise _at(f"agents[{place}].settings{named}{at}", error) from None


def _import_for(env_id: str) -> None:
    """Import the module of "module:gpbandits/Name-v0", which registers what the file names."""
    module, colon, _ = env_id.partition(":")
    if colon:
        try:
            import_module(module)
        except Exception as error:  # whatever the module itself raises
            problem = f"{module!r} cannot be imported: {type(error).__name__}: {error}"
            raise InvalidInput(f"environment.id: the module {problem}") from error


def _at(where: str, error: Exception) -> InvalidInput:
    return InvalidInput(f"{where}: {error}")


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise unknown("key", f"{where}{key}", [f"{where}{k}" for k in keys])


def _table(
    table: Mapping[str, Any], key: str, default: Any = None, where: str = ""
) -> dict[str, Any]:
    return dict(_of(table, key, Mapping, default, where))


def _of(table: Mapping[str, Any], key: str, kind: type[Any], default: Any, where: str = "") -> Any:
    names = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}
    value = table.get(key, default)
    if value is None:
        raise InvalidInput(f"{where}{key}: is missing")
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        raise InvalidInput(
            f"{where}{key}: must be {names.get(kind, 'a table')}, got {shown(value)}"
        )
    return value


TEMPLATE = """\
# A scenario of your own: `gpbandits run {name}` plays it.
# Every line may be changed; what a key means stands beside it.

title = "a drifting function with sudden breaks"
horizon = 200                   # rounds in a trial
trials = 6                      # independent worlds; all agents face the same ones

[environment]
id = "gpbandits/Drifting-v0"    # 'docs/environments.md' has all; arguments follow
grid = [25, 25]                 # arms: a grid on [0, 1]^2
noise_var = 0.01                # variance of the noise on a reward
batch_size = 1                  # actions a round

[environment.kernel]            # se, matern12, matern32, matern52, linear, sum, product, ...
type = "se"
lengthscale = 0.2

[environment.drift]             # how the function moves: 'docs/drift.md' has all
type = "then"                   # one after the other, every round:
drifts = [
    {{ type = "markov", epsilon = 0.005 }},         # a steady drift,
    {{ type = "change-points", times = [100] }},    # and one break
]

[[agents]]                      # 'gpbandits agents' lists them
agent = "gp-ucb"
settings = {{ beta = {{ type = "log", c1 = 0.8, c2 = 4.0 }} }}

[[agents]]
label = "tv-gp-ucb"             # its name in tables and plots
agent = "tv-gp-ucb"
settings = {{ epsilon = 0.01 }}

[[agents]]
agent = "r-gp-ucb"
settings = {{ reset_every = 50 }}

[[agents]]
label = "ei-fading"             # any agent with a posterior can let its data fade
agent = "ei"
settings = {{ epsilon = 0.01 }}

[[agents]]
agent = "random"

# initial = 10                  # above [environment]: random points that all agents are told first
# selective = true              # above [environment]: skip what an agent calls uninformative

# [[panels]]                    # what the plot shows; the regrets against rounds by default
# y = "simple_regret"           # or another metric, model_order, evaluations
# x = "seconds"                 # rounds, seconds, total_seconds, evaluations

# [grid]                        # a sweep: every combination is played
# noise_var = [0.01, 0.1]       # an argument of the environment
# "agents.tv-gp-ucb.epsilon" = [0.005, 0.01, 0.02]
"""


def template(name: str) -> str:
    """A commented scenario file that runs as it stands.

    Args:
        name: the file's name, for its first line.
    """
    return TEMPLATE.format(name=name)
