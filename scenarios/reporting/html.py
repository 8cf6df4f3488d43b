"""Results as one web page that contains everything: tables, plots and settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gpbandits_env.arrays import Plain
from gpbandits_env.display import counted
from gpbandits_env.scenarios.metrics import KNOWN
from gpbandits_env.scenarios.reporting.plots import figure
from gpbandits_env.scenarios.reporting.style import inline
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import words

# Longer values, such as a table of readings, are cut.
LONGEST = 160


def page(paths: Sequence[str | Path], metric: str | None = None) -> str:
    """The page of some results files, in their order, ranked by a metric or each by its own.

    With several studies, a summary of all of them comes first.
    """
    studies = [_study(Path(path), metric) for path in paths]
    return render(
        "page.html",
        title=f"{len(studies)} studies" if len(studies) > 1 else studies[0]["title"],
        studies=studies,
        call=_call,
        words=words,
        counted=counted,
    )


def render(name: str, **values: Any) -> str:
    """A page from its template in this folder."""
    templates = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # What stands before the document is the white space of imports.
    return templates.get_template(name).render(values).lstrip()


def _study(path: Path, metric: str | None) -> Plain:
    with Store.open(path) as store:
        found = report(store, metric)
        said = environments_of(store)
        # What all cells have in common is said once.
        common = {k: v for k, v in said[0].items() if all(other.get(k) == v for other in said)}
        return {
            "title": f"{found.scenario['id']}: {found.scenario['title']}",
            "found": found,
            "ranked_by": KNOWN[found.metric].title,
            "trials": max(agent.trials for cell in found.cells for agent in cell.agents),
            "common": common,
            "own": [{k: v for k, v in e.items() if k not in common} for e in said],
            # The settings in use that the study does not give.
            "others": {
                label: {
                    name: value
                    for name, value in entry.get("defaults", {}).items()
                    if name not in entry["settings"] and value is not None and value is not False
                }
                for label, entry in found.scenario["agents"].items()
            },
            "plot": inline(figure(store)),
            "versions": store.meta("versions"),
            "processor": store.meta("machine").get("processor", ""),
        }


def environments_of(store: Store) -> list[dict[str, str]]:
    """The environment of each cell: its call, kernel, noise variance and batch size.

    The call does not contain what the cell itself changes (its point of the grid).
    """
    scenario = store.scenario
    problems, kernels = store.meta("problems"), store.meta("kernels")
    found = []
    for cell, point in enumerate(scenario["points"]):
        made = {**scenario["env_kwargs"], **point}
        kernel = kernels[cell] if kernels else made.get("kernel")
        said = {"environment": f"{scenario['env']}({_call(scenario['env_kwargs'])})"}
        if kernel is not None:
            said["kernel"] = kernel if isinstance(kernel, str) else _call(kernel)
        # Where readings are replayed, the environment itself adds none or other noise.
        said["noise variance of the agents' model"] = f"{problems[cell]['noise_var']:.6g}"
        said["batch size"] = str(problems[cell]["batch_size"])
        if initial := scenario.get("initial"):
            said["before round 1"] = f"{initial['points']} random points are observed"
        found.append(said)
    return found


def _call(values: Plain) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in values.items())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
