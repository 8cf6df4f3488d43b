"""Scenarios as text: read from a TOML file, changed by ``--set NAME=VALUE``, and written out.

Everything is checked before anything runs: the environment and every agent are made once at every
point of the grid. An error names the file and the key. Modules that a file names (an agent
"module:Class", an environment "module:gpbandits/Name-v0") are also looked for in its folder, and a
file of readings that it names is relative to its folder.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from gpbandits_env import agents
from gpbandits_env.agents.registry import OVERRIDES, agent_class
from gpbandits_env.arrays import Plain, Settings, mapping
from gpbandits_env.errors import (
    GPBanditsError,
    InvalidInput,
    MissingData,
    UnknownName,
    one_of,
    shown,
    unknown,
)
from gpbandits_env.files import check_regular
from gpbandits_env.rewards.datasets import is_file_name
from gpbandits_env.scenarios import declare, registry
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario, label_of
from gpbandits_env.scenarios.study.rehearsal import rehearse
from gpbandits_env.scenarios.study.runner import look_in
from gpbandits_env.specs import user_code_is_refused

# The largest size of a scenario file.
MOST_BYTES = 2**22
# The keys of a file are the fields of a scenario, except that its environment is one table.
KEYS = ("environment", *(f.name for f in fields(Scenario) if not f.name.startswith("env")))
ENTRY = tuple(field.name for field in fields(AgentEntry))
# The fields of a scenario that can be set; all other names belong to the environment or an agent.
OWN = ("horizon", "initial", "initial_counts", "metric", "selective", "trials")
ENVIRONMENT = "environment."
QUOTED_KEY = re.compile(r'"([A-Za-z0-9_-]+)"(?= = )')
HEAD = """\
# {id}, written out by `gpbandits new --from {id}`: `gpbandits run {file}` runs it.
# The seeds of all trials depend on the id: with the same id, the results are the same.
"""


def load(path: Path) -> Scenario:
    """The scenario of a TOML file, checked; an error names the key."""
    try:
        check_regular(path, MOST_BYTES)
        declared = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        command = f"gpbandits new {shlex.quote(str(path))}"
        raise MissingData(f"{path}: no such file; this writes one: {command}") from None
    except InvalidInput:
        raise
    except RecursionError:
        raise InvalidInput(f"{path}: nested too deeply to be read") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: save the file as UTF-8 ({error})") from None
    except (OSError, ValueError) as error:  # not TOML, or an invalid date or number
        raise InvalidInput(f"{path}: {error}") from None
    look_for_modules(path.parent)
    try:
        for key in {"environment", "grid"} & declared.keys():
            declared[key] = _placed(declared[key], path.resolve().parent)
        scenario = read(declared, path.stem)
        for cell in scenario.cells():
            rehearse(cell, scenario.bounds)
    except GPBanditsError as error:
        raise InvalidInput(f"{path}: {error}") from None
    return scenario


def _placed(value: Any, folder: Path, name: str = "") -> Any:
    """A value of that name in a file, with the full paths of files of readings."""
    if isinstance(value, Mapping):
        return {key: _placed(item, folder, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_placed(item, folder, name) for item in value]
    if name == "readings" and isinstance(value, str) and is_file_name(value):
        return str(folder / Path(value).expanduser())
    return value


def find(name: str) -> Scenario:
    """The scenario of an id, or of a file whose name ends in .toml (see `load`).

    Modules of the user's own are also looked for in the folder of the file, or else in the current
    one.
    """
    if name.endswith(".toml"):
        return load(Path(name))
    look_for_modules()
    return registry.get(name)


def look_for_modules(folder: Path = Path()) -> None:
    """Find modules of the user's own in a folder, by default in the current one."""
    if not user_code_is_refused():
        look_in(str(folder.resolve()))


def read(declared: Any, name: str = "scenario") -> Scenario:
    """The scenario of a plain dict with the keys of a file; ``name`` is used if it has no id."""
    for key in mapping(declared, "a scenario", "a table"):
        one_of(key, KEYS, "key", more="arguments of the environment belong in [environment]")
    table = {"id": f"my/{name}", "source": "a scenario file", "title": name, **declared}
    words = "a table with an id in quotes"
    environment = mapping(table.pop("environment", None), "environment", words)
    table["env"] = environment.get("id")
    if not isinstance(table["env"], str):
        raise InvalidInput(f"environment must be {words}, got {shown(environment)}")
    table["env_kwargs"] = {key: value for key, value in environment.items() if key != "id"}
    for kind in ("agents", "alternatives"):
        if isinstance(entries := table.get(kind), list):
            table[kind] = [_entry(entry, f"{kind}[{i}]") for i, entry in enumerate(entries)]
    if isinstance(table.get("grid"), Mapping):
        table["grid"] = _joined(table["grid"])
    scenario = declare.read(Scenario, table)
    _check_labels(scenario, dict.fromkeys(chain.from_iterable(scenario.points())), "grid: ")
    return scenario


def _joined(grid: Settings) -> Plain:
    """A grid whose names have dots; TOML reads such names without quotes as tables in tables.

    As with ``--set``, "environment.epsilon" is the same as "epsilon".
    """
    found, left = Plain(), list(grid.items())
    while left:
        name, values = left.pop(0)
        if isinstance(values, Mapping):
            left[:0] = [(f"{name}.{key}", inner) for key, inner in values.items()]
        else:
            found[str(name).removeprefix(ENVIRONMENT)] = values
    return found


def _entry(entry: Any, where: str) -> Any:
    for key in entry if isinstance(entry, Mapping) else ():
        one_of(key, ENTRY, f"key of {where}", more="settings of the agent belong in settings = {}")
    name = entry.get("agent") if isinstance(entry, Mapping) else None
    if not isinstance(name, str):
        return entry
    try:
        agent_class(name)
    except GPBanditsError as error:
        raise InvalidInput(f"{where}.agent: {error}") from error
    return {"label": label_of(name), **entry}


def template(name: str) -> str:
    """A commented scenario file with a name; it runs as it is."""
    text = files("gpbandits_env.scenarios").joinpath("study/template.toml").read_text("utf-8")
    return text.replace("{name}", shlex.quote(name))


def parse_settings(texts: Sequence[str]) -> Plain:
    """The names and values of texts "NAME=VALUE", with values as in TOML.

    A value that is not TOML is a string, so that words need no quotes. "environment.epsilon" is the
    same as "epsilon".

    Raises:
        InvalidInput: a text has no name or no value, or a name is given twice.
    """
    found: Plain = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        name = name.removeprefix(ENVIRONMENT)
        if "" in name.split(".") or name == "agents" or not value:
            raise InvalidInput(f"--set needs NAME=VALUE, e.g. noise_var=0.1, got {text!r}")
        if name in found:
            raise InvalidInput(f"--set {name} is given twice")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
        except RecursionError:
            raise InvalidInput(f"--set {name}: its value is nested too deeply") from None
    return found


def with_settings(scenario: Scenario, settings: Settings) -> Scenario:
    """The scenario with other settings, each of which is listed as a departure.

    Args:
        scenario: the scenario to change.
        settings: name -> value: a field of `OWN`, an argument of the environment
            ("kernel.lengthscale"), a setting of every agent ("agents.epsilon") or of one
            ("agents.LABEL.epsilon"). The grid no longer sweeps a setting that is set.
    Raises:
        InvalidInput: a value does not fit, a name is part of something that the grid sweeps, or it
            is a setting of an agent that is left out.
        UnknownName: there is no agent of some label.
    """
    if not settings:
        return scenario
    left_out = {e.label for e in scenario.alternatives}
    for name in settings:
        match name.split(".", 2):
            case ["agents", label, _] if label in left_out:
                chosen = ", ".join(e.label for e in scenario.agents)
                raise InvalidInput(
                    f"--set {name}: the agent {label!r} is not among those that run: {chosen}"
                )
    _check_labels(scenario, settings, "--set ")
    own = {name: value for name, value in settings.items() if name in OWN}
    inner = {name: value for name, value in settings.items() if name not in OWN}
    changed = replace(scenario, grid=_without(scenario.points(), settings), **own).changed(inner)
    notes = tuple(f"{name} is set to {declare.plain(value)}" for name, value in settings.items())
    return replace(changed, departures=(*scenario.departures, *notes))


def _check_labels(scenario: Scenario, names: Iterable[str], start: str) -> None:
    """Raise an error if a name "agents.LABEL.NAME" has the label of no agent, or lacks a part."""
    labels = [e.label for e in (*scenario.agents, *scenario.alternatives)]
    for name in names:
        if "" in name.split("."):
            raise InvalidInput(f"{start}{name}: a part of this name is empty")
        head, label, setting = (*name.split(".", 2), "", "")[:3]
        bare = label in labels and not setting
        no_label = label not in labels and setting
        if head == "agents" and (bare or no_label):
            # "agents.kernel.lengthscale" has no label: it is a setting of every agent.
            of_all = (agents.settings_of(e.agent) for e in scenario.agents)
            if not any(label in known for known in (OVERRIDES, *of_all)):
                why = f"add a setting: {name}.beta" if bare else unknown("agent", label, labels)
                raise UnknownName(f"{start}{name}: {why}")


def _without(points: Sequence[Plain], settings: Settings) -> tuple[Plain, ...]:
    """The points of a grid that no longer sweeps some settings."""
    swept = dict.fromkeys(name for point in points for name in point)
    for name in settings:
        for other in swept:
            if name.startswith(f"{other}."):
                raise InvalidInput(f"--set {name}: the grid sweeps {other}, set that instead")
    left = [{k: v for k, v in point.items() if k not in settings} for point in points]
    return tuple(point for i, point in enumerate(left) if point and point not in left[:i])


def as_toml(scenario: Scenario, file: str) -> str:
    """The text of a file of that name that declares the scenario."""
    entries = json.loads(
        declare.as_json(_entries(scenario)),
        object_hook=lambda table: {k: v for k, v in table.items() if v is not None},
    )
    top, tables = Plain(), list[tuple[str, Settings]]()
    for name, value in entries.items():
        if isinstance(value, dict):
            tables.append((f"[{name}]", value))
        elif isinstance(value, list) and isinstance(value[0], dict):
            tables += [(f"[[{name}]]", item) for item in value]
        else:
            top[name] = value
    text = HEAD.format(id=scenario.id, file=shlex.quote(file))
    for header, table in [("", top), *tables]:
        lines = (_line(key, item) for key, item in table.items() if item not in ("", {}))
        text += "\n".join([header, *lines, ""]) + "\n"
    return text.rstrip() + "\n"


def _entries(scenario: Scenario) -> Plain:
    """The keys of the file: the fields that are not at their defaults."""
    found: Plain = {}
    for field in fields(scenario):
        value = getattr(scenario, field.name)
        if field.name == "env":
            found["environment"] = {"id": value, **scenario.env_kwargs}
        elif field.name != "env_kwargs" and (field.default is MISSING or value != field.default):
            found[field.name] = value
    return {name: value for name, value in found.items() if value not in ((), [], {})}


def _line(key: str, value: Any) -> str:
    start, line = toml_value({key: 0})[1:-2], toml_value(value)
    if len(line) > 87 and isinstance(value, list):
        line = "\n".join(["[", *(f"    {toml_value(item)}," for item in value), "]"])
    return start + line


def toml_value(value: Any) -> str:
    """Plain JSON data in TOML's notation, which differs in the keys."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", " = "))
    return QUOTED_KEY.sub(r"\1", text)
