"""Files, read and written with care: an output is there whole or not at all, and replaces no input.

Everything that is written goes through `writing`: to a file beside, which takes the place of the
old one in a single step. Everything that is read is checked first: a pipe or a device would block
or never end.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gpbandits_env.errors import GPBanditsError, InvalidInput, StoreError, shown

# The kinds of output: what a message calls one, and how its files begin. An output that exists is
# only replaced by another of its kind. Text of any content is told by having no zero bytes.
KINDS: dict[str, tuple[str, tuple[bytes, ...]]] = {
    "png": ("a PNG picture", (b"\x89PNG",)),
    "svg": ("an SVG picture", (b"<?xml", b"<svg")),
    "gif": ("a GIF animation", (b"GIF8",)),
    "html": ("a web page", (b"<!doctype html", b"<!DOCTYPE html")),
    "parquet": ("a Parquet table", (b"PAR1",)),
    "csv": ("an exported table", ()),
    "campaign": ("a campaign", (b'{"format"',)),
    "text": ("a text file", ()),
}
# These columns are in every exported table, in this order.
EXPORTED = b"agent,trial,round,slot"
HEAD = 65_536


def check_regular(path: Path, most: int | None = None) -> None:
    """Refuse what cannot be read as a file; it is not opened. What is not there passes.

    Args:
        path: the file.
        most: bytes that it may have.
    Raises:
        InvalidInput: a folder, a pipe, a device or a socket, or a file that is too large.
        OSError: the file system does not say what it is.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except ValueError as error:  # a zero byte in the name
        raise InvalidInput(f"{shown(str(path))}: {error}") from None
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(f"{path} is a folder, not a file")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is a pipe, a device or a socket; a regular file is needed")
    if most is not None and found.st_size > most:
        raise InvalidInput(f"{path} has {found.st_size} bytes; at most {most} are read")


def check_output(path: Path, kind: str, reads: Sequence[Path] = ()) -> None:
    """Refuse to write over an input, or over a file that is not of the kind to be written.

    Args:
        path: the file that is to be written.
        kind: a key of `KINDS`.
        reads: the inputs; links are followed, and hard links are the same file.
    Raises:
        InvalidInput: writing there would destroy something else; the message says what.
    """
    for source in reads:
        if _same(path, source):
            raise InvalidInput(
                f"writing {path} would destroy {source}, which is an input; give another name"
            )
    what, starts = KINDS[kind]
    with _clear(path):
        check_regular(path)
        if not path.exists():
            return
        with path.open("rb") as file:
            head = file.read(HEAD)
    first = head.partition(b"\n")[0]
    fits = head.startswith(starts) if starts else b"\0" not in head
    if head and not (fits and (kind != "csv" or EXPORTED in first)):
        raise InvalidInput(
            f"{path} exists and is not {what}: it is not replaced; remove it or give another name"
        )


@contextmanager
def writing(path: Path, kind: str, reads: Sequence[Path] = ()) -> Iterator[Path]:
    """Write a file in one step: yields a file beside it, which replaces it after all went well.

    After an error the old file is unchanged, and neither the file beside it nor a new folder is
    left. A link is followed; the permissions of an old file are kept.

    Args:
        path: the file to write, as of `check_output`; its folder is made.
        kind: a key of `KINDS`.
        reads: the inputs.
    Raises:
        InvalidInput: see `check_output`.
        StoreError: it cannot be written (disk full, no permission).
    """
    check_output(path, kind, reads)
    with _clear(path):
        target = path.resolve()
        made = [folder for folder in target.parents if not folder.exists()]
        part = target.with_name(f".gpbandits-{secrets.token_hex(4)}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(13, "no permission to write to it")
            yield part
            _settle(part, target)
        except BaseException:
            for remove in (part.unlink, *(folder.rmdir for folder in made)):
                with suppress(OSError):
                    remove()
            raise


def write_text(path: Path, text: str, kind: str, reads: Sequence[Path] = ()) -> Path:
    """Write a text in UTF-8 through `writing`, and return its file."""
    with writing(path, kind, reads) as part:
        part.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


def _settle(part: Path, target: Path) -> None:
    """Have the new file on the disk, and then in the place of the old one."""
    with part.open("r+b") as file:
        os.fsync(file.fileno())
    if target.exists():
        shutil.copymode(target, part)
    part.replace(target)


def _same(path: Path, source: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.resolve() == source.resolve() or path.samefile(source)
    return False


@contextmanager
def _clear(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, GPBanditsError):
            raise
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from None
