"""User scenarios, declared in a TOML file.

Everything is checked before anything runs: the environment and every agent are made once at every
point of the grid. An error names the file and the key. Modules that a file names (an agent
"module:Class", an environment "module:gpbandits/Name-v0") are also looked for in its folder, and a
file of readings that it names is relative to its folder.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from gpbandits_env import agents
from gpbandits_env.agents.registry import agent_class, is_own
from gpbandits_env.datasets import is_file_name
from gpbandits_env.errors import GPBanditsError, InvalidInput, MissingData, one_of, shown
from gpbandits_env.files import check_regular
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.declare import check_keys
from gpbandits_env.scenarios.declare import read as read_table
from gpbandits_env.scenarios.findings.finding import FINDINGS, Finding
from gpbandits_env.scenarios.scenario import Picture, Scenario, label_of
from gpbandits_env.scenarios.study.rehearsal import rehearse
from gpbandits_env.scenarios.study.runner import look_in
from gpbandits_env.specs import user_code_is_refused

# The largest size of a scenario file.
MOST_BYTES = 2**22
# The keys of a file are the fields of a scenario, except that its environment is one table.
KEYS = ("environment", *(f.name for f in fields(Scenario) if not f.name.startswith("env")))


def load(path: Path) -> Scenario:
    """The scenario of a TOML file, checked.

    Raises:
        MissingData: the file does not exist.
        InvalidInput: it is not TOML, or a key or value does not fit; the message names it.
    """
    try:
        check_regular(path, MOST_BYTES)
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingData(f"{path}: no such file; 'gpbandits new {path}' writes one") from None
    except InvalidInput:
        raise
    except RecursionError:
        raise InvalidInput(f"{path}: nested too deeply to be read") from None
    except (OSError, ValueError) as error:  # not text, not TOML, or an invalid date or number
        raise InvalidInput(f"{path}: {error}") from None
    if not user_code_is_refused():
        look_in(str(path.resolve().parent))
    try:
        scenario = read(_placed(declared, path.resolve().parent), path.stem)
        for cell in scenario.cells():
            rehearse(cell)
    except GPBanditsError as error:
        raise InvalidInput(f"{path}: {error}") from None
    return scenario


def _placed(declared: Any, folder: Path) -> Any:
    """The plain dict of a file, with the paths in it relative to its own folder."""
    if not isinstance(declared, Mapping):
        return declared
    places = {key: _in(folder, declared.get(key)) for key in ("environment", "grid")}
    return {**declared, **{key: table for key, table in places.items() if table is not None}}


def _in(folder: Path, table: Any) -> Any:
    """A table, or a list of tables, with the full paths of files of readings."""
    if isinstance(table, list):
        return [_in(folder, item) for item in table]
    if not isinstance(table, Mapping) or "readings" not in table:
        return table
    return {**table, "readings": _full(folder, table["readings"])}


def _full(folder: Path, readings: Any) -> Any:
    if isinstance(readings, list):
        return [_full(folder, item) for item in readings]
    if isinstance(readings, str) and is_file_name(readings):
        return str(folder / Path(readings).expanduser())
    return readings


def find(name: str) -> Scenario | Picture:
    """The scenario of an id, or of a file whose name ends in .toml.

    Raises:
        UnknownName: there is no such id.
        MissingData: there is no such file.
        InvalidInput: the file declares no valid scenario; see `load`.
    """
    return load(Path(name)) if name.endswith(".toml") else registry.get(name)


def read(declared: Any, name: str = "scenario") -> Scenario:
    """The scenario of a plain dict with the keys of a file; ``name`` is used if it has no id.

    Raises:
        InvalidInput: a key is missing, or a value has the wrong type.
        UnknownName: a key is unknown.
    """
    if not isinstance(declared, Mapping):
        raise InvalidInput(f"a scenario must be a table, got {shown(declared)}")
    check_keys(declared, KEYS)
    table = {"id": f"my/{name}", "source": "a scenario file", "title": name, **declared}
    environment = table.pop("environment", None)
    if not isinstance(environment, Mapping) or not isinstance(environment.get("id"), str):
        raise InvalidInput(
            f"environment must be a table with an id in quotes, got {shown(environment)}"
        )
    table["env"] = environment["id"]
    table["env_kwargs"] = {key: value for key, value in environment.items() if key != "id"}
    for kind in ("agents", "alternatives"):
        if isinstance(entries := table.get(kind), list):
            table[kind] = [_entry(entry, f"{kind}[{i}]") for i, entry in enumerate(entries)]
    if (agents := table.get("agents")) is None or (isinstance(agents, list) and not agents):
        raise InvalidInput("agents: at least one [[agents]] table is needed")
    return read_table(Scenario, table, readers={Finding: FINDINGS.from_dict})


def _entry(entry: Any, where: str) -> Any:
    """The table of an existing agent, with a label."""
    name = entry.get("agent") if isinstance(entry, Mapping) else None
    if not isinstance(name, str):
        return entry
    try:
        if is_own(name):
            agent_class(name)
        else:
            one_of(name, agents.names() + agents.adapter_names(), "agent")
    except GPBanditsError as error:
        raise InvalidInput(f"{where}.agent: {error}") from error
    return {"label": label_of(name), **entry}


TEMPLATE = """\
# A scenario of your own: `gpbandits run {name}` runs it.
# You can change every line; the comments explain the keys.

title = "a drifting function with sudden breaks"
horizon = 200                   # rounds in a trial
trials = 6                      # independent environment instances, the same for all agents

[environment]
id = "gpbandits/Drifting-v0"    # see docs/environments.md; its arguments follow
grid = [25, 25]                 # arms: a grid on [0, 1]^2
noise_var = 0.01                # variance of the noise on a reward
batch_size = 1                  # actions per round

[environment.kernel]            # se, matern12, matern32, matern52, linear, sum, product, ...
type = "se"
lengthscale = 0.2

[environment.drift]             # how the function moves: see docs/drift.md
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
label = "ei-fading"             # any agent with a posterior can forget old data
agent = "ei"
settings = {{ epsilon = 0.01 }}

[[agents]]
agent = "random"

# initial = 10                  # above [environment]: random points that all agents observe first
# selective = true              # above [environment]: skip what an agent calls uninformative

# [[panels]]                    # what the plot shows; the regrets against rounds by default
# y = "simple_regret"           # or another metric, model_order, evaluations
# x = "seconds"                 # rounds, seconds, total_seconds, evaluations

# [grid]                        # a sweep: every combination is run
# noise_var = [0.01, 0.1]       # an argument of the environment
# "drift.drifts.0.epsilon" = [0.005, 0.05]      # a number is the place in a list, from 0
# "agents.tv-gp-ucb.epsilon" = [0.005, 0.01, 0.02]
"""


def template(name: str) -> str:
    """A commented scenario file with a name; it runs as it is."""
    return TEMPLATE.format(name=name)
