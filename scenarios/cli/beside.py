"""`gpbandits beside`."""

from pathlib import Path

import click

from gpbandits_env.scenarios.reporting.beside import counts, gather, lines
from gpbandits_env.scenarios.reporting.tables import aligned


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--agent", default="ts-rsr", show_default=True, help="The paper's own agent.")
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
def beside(files: tuple[Path, ...], agent: str, markdown: bool) -> None:
    """Print the results of FILES beside the paper's own table, with ranks.

    \b
    Examples:
      gpbandits beside results/ren2024-*.sqlite
      gpbandits beside results/ren2024-*.sqlite --markdown > table.md
    """
    rows = gather(files)
    head, *body = lines(rows)
    click.echo("Simple regret at the last round: mean (standard deviation) [rank].\n")
    if markdown:
        rule = ["---", "---", *["---:"] * (len(head) - 2)]
        shown = ["| " + " | ".join(words) + " |" for words in (head, rule, *body)]
    else:
        shown = aligned([head, *body])
    click.echo("\n".join(shown))
    click.echo(f"\n{counts(rows, agent)}.")


COMMANDS = (beside,)
