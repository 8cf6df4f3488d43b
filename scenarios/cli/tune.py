"""`gpbandits tune`."""

import json
from dataclasses import asdict

import click

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.scenario import Scenario
from gpbandits_env.scenarios.study.tuning import tune as learn


@click.command()
@click.argument("scenario")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tune(scenario: str, as_json: bool) -> None:
    """Learn epsilon and the block length N from the training rows of SCENARIO.

    Epsilon by marginal likelihood, N by cross-validation over the training days: what the paper
    did before it played the other days. For scenarios that replay recorded readings.

    \b
    Examples:
      gpbandits tune bogunovic2016/temperature
      gpbandits tune bogunovic2016/traffic --json
    """
    found = registry.get(scenario)
    if not isinstance(found, Scenario):
        raise InvalidInput(f"{scenario} only draws: there is nothing to tune")
    result = learn(found)
    plain = asdict(result) | {"block": result.block}
    click.echo(json.dumps(plain, indent=2) if as_json else result.text())


COMMANDS = (tune,)
