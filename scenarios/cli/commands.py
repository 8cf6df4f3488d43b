"""The commands, imported when needed. A user's mistake ends in one line and exit code 2.

The signals SIGTERM and SIGHUP are handled like Ctrl-C.
"""

import os
import signal
import stat
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

from gpbandits_env.errors import GPBanditsError, one_of

# A scheduler sends the first at its time limit; a closed terminal sends the second.
ALIKE = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

_received = signal.SIGINT
# The value of EX_SOFTWARE in BSD's sysexits.h.
UNFORESEEN = 70
# Name -> its place, "module.function". The overview imports no command, because most of them need
# SciPy, Gymnasium or matplotlib.
COMMANDS = {
    "run": "run.run",
    "report": "results.report",
    "plot": "results.plot",
    "export": "results.export",
    "compare": "compare.compare_command",
    "suite": "suite.suite",
    "claims": "claims.claims",
    "list": "listing.list_scenarios",
    "agents": "inventory.list_agents",
    "tasks": "inventory.list_tasks",
    "data": "inventory.data",
    "reference": "compare.reference",
    "new": "run.new",
    "diagnose": "diagnose.diagnose",
}


def exit_code() -> int:
    """128 plus the number of the last signal, which is the convention of shells."""
    return 128 + _received


def _stop(number: int, frame: FrameType | None) -> None:
    global _received
    _received = signal.Signals(number)
    for other in ALIKE:  # a second signal must not disturb the shutdown
        signal.signal(other, signal.SIG_IGN)
    for stream in (1, 2):
        with suppress(OSError):  # writing to a terminal that has closed raises an error
            if stat.S_ISCHR(os.fstat(stream).st_mode) and not os.isatty(stream):
                _discard(stream)
    raise KeyboardInterrupt


def _discard(stream: int) -> None:
    """Discard what is written to a stream from now on, and what it could not write."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream)
    os.close(nowhere)


def _open_closed() -> None:
    """Let streams lead nowhere that were closed before Python started, as by ``>&-``."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (until the exit)


@contextmanager
def _handlers(wanted: Mapping[signal.Signals, Any], instead_of: Any) -> Iterator[None]:
    """Use other handlers meanwhile, where the present ones are ``instead_of``."""
    main = threading.current_thread() is threading.main_thread()
    before = {n: signal.getsignal(n) for n in wanted} if main else {}
    changed = [number for number, handler in before.items() if handler == instead_of]
    for number in changed:
        signal.signal(number, wanted[number])
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])


class Group(click.Group):
    """The commands of `COMMANDS`. Each error that is foreseen is one line, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS and ctx.resilient_parsing:  # of a shell that completes a line
            return None
        place = COMMANDS[one_of(name, COMMANDS, "command", "'gpbandits --help' lists them")]
        module, _, function = place.partition(".")
        # Nothing has started yet: end at once, as an interrupted import has a traceback.
        stop, other = {signal.SIGINT: signal.SIG_DFL}, dict.fromkeys(ALIKE, signal.SIG_DFL)
        with _handlers(stop, signal.default_int_handler), _handlers(other, _stop):
            loaded = import_module(f"gpbandits_env.scenarios.cli.{module}")
        return getattr(loaded, function)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in COMMANDS])

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line. Exit with 2 on a user's mistake, and with 128 + n on signal n."""
        global _received
        _received = signal.SIGINT
        _open_closed()
        if isinstance(sys.stdout, TextIOWrapper):  # file names need not be valid text
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            # Raise KeyboardInterrupt once at these signals; ignored ones (nohup) stay ignored.
            with warnings.catch_warnings(), _handlers(dict.fromkeys(ALIKE, _stop), signal.SIG_DFL):
                warnings.showwarning = partial(_show, warnings.showwarning)
                code = super().main(*args, **options | {"standalone_mode": False})
                sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            _fail("give one of the commands listed above", 2)
        except click.ClickException as error:
            _fail(error.format_message(), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted", exit_code())
        except GPBanditsError as error:
            _fail(str(error), 2)
        except MemoryError:
            _fail("this needs more memory than is available", 2)
        except OSError as error:
            with suppress(OSError, ValueError):  # so that the exit does not try again
                _discard(sys.stdout.fileno())
            about = f"{error.filename}: " if error.filename else "standard output: "
            _fail(about + (error.strerror or str(error)), 2)
        except Exception as error:
            sys.excepthook(type(error), error, error.__traceback__)
            what = f"{type(error).__name__}: {error}"[:300]
            asked = "Please report it with this traceback, unless that ends in a module of your own"
            _fail(f"unexpected error, {what}. {asked}", UNFORESEEN)
        sys.exit(code)


def summary(name: str) -> str:
    """The first line of the help of a command, read from its source without importing it."""
    module, _, function = COMMANDS[name].partition(".")
    text = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    return text.partition(f"\ndef {function}(")[2].partition('"""')[2].partition("\n")[0]


def _show(others: Callable[..., None], message: object, category: type, *place: Any) -> None:
    """Print a warning to the user in one line; pass ``others``, such as deprecations, on."""
    if category is UserWarning:
        click.echo(f"gpbandits: warning: {message}", err=True)
    else:
        others(message, category, *place)


def _fail(message: str, code: int) -> NoReturn:
    words = " ".join(message.split()) or "the command cannot be run"
    click.echo(f"gpbandits: {words}", err=True)
    sys.exit(code)
