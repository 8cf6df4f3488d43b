"""`gpbandits animate`."""

from pathlib import Path

import click

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.cli.group import no_user_code_option
from gpbandits_env.scenarios.reporting.animation import animate as draw
from gpbandits_env.scenarios.scenario import Picture
from gpbandits_env.scenarios.study.files import find


@click.command()
@click.argument("scenario")
@click.option("--agent", required=True, help="A label of the scenario, or the name of an agent.")
@click.option("--rounds", type=click.IntRange(1), default=60, show_default=True, help="Frames.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Base seed.")
@click.option(
    "--fps", type=click.IntRange(1, 50), default=5, show_default=True, help="Frames per second."
)
@click.option("--out", type=click.Path(path_type=Path), help="GIF file to write.")
@no_user_code_option
def animate(scenario: str, agent: str, rounds: int, seed: int, fps: int, out: Path | None) -> None:
    """Animate an agent in the first environment instance of SCENARIO, as a GIF file.

    \b
    Examples:
      gpbandits animate bogunovic2016/se --agent tv-gp-ucb
      gpbandits animate my_scenario.toml --agent r-gp-ucb --rounds 120 --out r.gif
    """
    found = find(scenario)
    if isinstance(found, Picture):
        raise InvalidInput(f"{scenario} is an illustration: it has no agents to animate")
    path = out or Path(f"{found.id}-{agent}".replace("/", "-") + ".gif")
    click.echo(f"animation  {draw(found, agent, path, rounds, seed, fps)}")
