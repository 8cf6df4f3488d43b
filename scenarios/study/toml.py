"""A scenario written out as a TOML file, which declares the same experiment."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.declare import plain
from gpbandits_env.scenarios.findings import FINDINGS
from gpbandits_env.scenarios.scenario import IDENTITY, Scenario
from gpbandits_env.scenarios.study.files import read

BARE = re.compile(r"[A-Za-z0-9_-]+")
HEAD = """\
# {id}, written out by `gpbandits new --from {id}`: `gpbandits run {file}` runs it.
# The seeds of all trials depend on the id: with the same id, the results are the same.
"""


def as_toml(scenario: Scenario, file: str) -> str:
    """The text of a file of that name that declares the scenario."""
    lines = [HEAD.format(id=scenario.id, file=file)]
    for name, value in _entries(scenario).items():
        if not _is_table(value):
            lines.append(f"{_key(name)} = {_value(value, 0)}")
    for name, value in _entries(scenario).items():
        if _is_table(value):
            lines += _table(name, value)
    return "\n".join(lines) + "\n"


def differences(scenario: Scenario, text: str) -> list[str]:
    """The names of entries that determine the results and differ in the file."""
    back = _normal(read(tomllib.loads(text)).to_dict())
    here = _normal(scenario.to_dict())
    keys = (*IDENTITY, "agents", "trials", "metric")
    return [key for key in keys if here.get(key) != back.get(key)]


def _entries(scenario: Scenario) -> dict[str, Any]:
    """The keys of the file: the fields that are not at their defaults, as plain data."""
    found: dict[str, Any] = {}
    for field in fields(scenario):
        value = getattr(scenario, field.name)
        if field.name == "env":
            found["environment"] = {"id": value, **scenario.env_kwargs}
        elif field.name == "findings":
            found["findings"] = [FINDINGS.to_dict(finding) for finding in value]
        elif field.name != "env_kwargs" and (field.default is MISSING or value != field.default):
            found[field.name] = plain(value)
    return {name: value for name, value in found.items() if value not in ((), [], {})}


def _is_table(value: Any) -> bool:
    """Whether a value is written under a header: a table, or a list of tables."""
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _table(name: str, value: Any) -> Iterator[str]:
    header, tables = (
        (f"[{name}]", [value]) if isinstance(value, Mapping) else (f"[[{name}]]", value)
    )
    for table in tables:
        yield f"\n{header}"
        for key, item in table.items():
            if item is not None and item not in ("", {}, ()):
                yield f"{_key(key)} = {_value(item, 0)}"


def _value(value: Any, depth: int) -> str:
    """A value in TOML's notation."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        items = [f"{_key(k)} = {_value(v, depth + 1)}" for k, v in value.items() if v is not None]
        return f"{{ {', '.join(items)} }}" if items else "{}"
    if isinstance(value, Sequence):
        items = [_value(item, depth + 1) for item in value]
        line = f"[{', '.join(items)}]"
        if depth or len(line) < 88:
            return line
        return "\n".join(["[", *(f"    {item}," for item in items), "]"])
    if hasattr(value, "to_dict"):
        return _value(value.to_dict(), depth)
    if hasattr(value, "tolist"):
        return _value(value.tolist(), depth)
    raise InvalidInput(f"a scenario file cannot hold a {type(value).__name__}")


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _normal(value: Any) -> Any:
    """Plain JSON data."""
    return json.loads(json.dumps(value, default=lambda v: v.to_dict()))
