"""`gpbandits new`."""

from pathlib import Path

import click

from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.scenarios.study.files import template


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default="my_scenario.toml")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def new(file: Path, force: bool) -> None:
    """Write a commented scenario FILE (TOML) to start from.

    \b
    Examples:
      gpbandits new
      gpbandits new drifting.toml && gpbandits run drifting.toml
    """
    if file.suffix != ".toml":
        raise InvalidInput(f"{file}: a scenario file ends in .toml")
    if file.exists() and not force:
        raise InvalidInput(f"{file} is there already; --force writes over it")
    try:
        file.write_text(template(file.name), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{file}: cannot be written: {error.strerror}") from None
    click.echo(f"wrote {file}; 'gpbandits run {file}' plays it")


COMMANDS = (new,)
