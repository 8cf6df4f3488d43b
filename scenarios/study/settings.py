"""Settings of a scenario given as text: `gpbandits run SCENARIO --set noise_var=0.1`."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.declare import plain
from gpbandits_env.scenarios.scenario import Scenario

# The fields of a scenario that can be set; all other names belong to the environment or an agent.
OWN = ("horizon", "initial", "initial_counts", "metric", "selective", "trials")
ENVIRONMENT = "environment."


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """The names and values of texts "NAME=VALUE", with values as in TOML.

    A value that is not TOML is a string, so that words need no quotes. "environment.epsilon" is the
    same as "epsilon".

    Raises:
        InvalidInput: a text has no name or no value, or a name is given twice.
    """
    found: dict[str, Any] = {}
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


def with_settings(scenario: Scenario, settings: Mapping[str, Any]) -> Scenario:
    """The scenario with other settings, each of which is listed as a departure.

    Args:
        scenario: the scenario to change.
        settings: name -> value: a field of `OWN`, an argument of the environment
            ("kernel.lengthscale"), a setting of every agent ("agents.epsilon") or of one
            ("agents.LABEL.epsilon"). The grid no longer sweeps a setting that is set.
    Raises:
        InvalidInput: a value does not fit, or a name is part of something that the grid sweeps.
    """
    if not settings:
        return scenario
    own = {name: value for name, value in settings.items() if name in OWN}
    inner = {name: value for name, value in settings.items() if name not in OWN}
    changed = replace(scenario, grid=_without(scenario.grid, settings), **own).changed(inner)
    notes = tuple(f"{name} is set to {plain(value)}" for name, value in settings.items())
    return replace(changed, departures=(*scenario.departures, *notes))


def _without(grid: Any, settings: Mapping[str, Any]) -> Any:
    """The grid without the names that are set."""
    table = isinstance(grid, Mapping)
    swept = dict.fromkeys(name for point in ([grid] if table else grid) for name in point)
    for name in settings:
        for other in swept:
            if name.startswith(f"{other}."):
                raise InvalidInput(f"--set {name}: the grid sweeps {other}, set that instead")
    if table:
        return {name: values for name, values in grid.items() if name not in settings}
    points = [{k: v for k, v in point.items() if k not in settings} for point in grid]
    distinct = [point for i, point in enumerate(points) if point and point not in points[:i]]
    return tuple(distinct)
