"""What a study was run with, in words: its environments, its agents' settings."""

from typing import Any

from gpbandits_env.scenarios.results.store import Store

# Longer values, such as a table of readings, are cut.
LONGEST = 160


def environments(store: Store) -> list[dict[str, str]]:
    """Each cell's environment as the study made it, its kernel, noise variance and batch size.

    What the cell changes (its point of the grid) is not in the call.
    """
    scenario = store.scenario
    problems, kernels = store.meta("problems") or [], store.meta("kernels") or []
    found = []
    for cell, point in enumerate(scenario["points"]):
        made = {**scenario["env_kwargs"], **point}
        kernel = kernels[cell] if cell < len(kernels) else made.get("kernel")
        said = {"environment": f"{scenario['env']}({words(scenario['env_kwargs'])})"}
        if kernel is not None:
            said["kernel"] = kernel if isinstance(kernel, str) else words(kernel)
        if cell < len(problems):
            # Where readings are replayed, the environment itself adds none or other noise.
            said["noise variance of the agents' model"] = f"{problems[cell]['noise_var']:.6g}"
            said["batch size"] = str(problems[cell]["batch_size"])
        if initial := scenario.get("initial"):
            said["before round 1"] = f"{initial['points']} random points are observed"
        found.append(said)
    return found


def agents(scenario: dict[str, Any]) -> list[list[str]]:
    """Of each agent of a study: its label, name, given settings, other settings in use, note."""
    rows = []
    for label, entry in scenario["agents"].items():
        given = entry["settings"]
        others = {
            name: value
            for name, value in entry.get("defaults", {}).items()
            if name not in given and value is not None and value is not False
        }
        rows.append([label, entry["agent"], words(given), words(others), entry["note"]])
    return rows


def words(values: dict[str, Any]) -> str:
    """Settings as they are written in a call."""
    return ", ".join(f"{name}={_short(value)}" for name, value in values.items())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
