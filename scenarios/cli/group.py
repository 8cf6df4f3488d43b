"""How the command line speaks of mistakes: exit code 2 and one line."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from gpbandits_env.errors import GPBanditsError

INTERRUPTED = 130


class Group(click.Group):
    """A group of commands whose errors are one line each, without a traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line; exit 2 on a user's mistake, 130 on Ctrl-C."""
        try:
            code = super().main(
                args,
                prog_name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(2)
        except click.ClickException as error:
            _fail(error.format_message(), error.exit_code)
        except click.Abort:
            _fail("interrupted", INTERRUPTED)
        except GPBanditsError as error:
            _fail(str(error), 2)
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


def _fail(message: str, code: int) -> None:
    click.echo("gpbandits: " + " ".join(message.split()), err=True)
    sys.exit(code)
