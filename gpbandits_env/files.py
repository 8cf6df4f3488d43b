"""Safe reading and writing of files: an output is complete or absent, and never replaces an input.

Every output goes through `writing`: it is written to a temporary file in the same folder, which
then replaces the old file in a single step. Every input is checked first, because a pipe or a
device could block or never end.
"""

import gzip
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from gpbandits_env.errors import GPBanditsError, InvalidInput, StoreError, shown

# The kinds of output: the name used in messages, and the first bytes of such files. An existing
# file is replaced only by one of its kind. A text file is recognized by having no zero bytes.
KINDS: dict[str, tuple[str, tuple[bytes, ...]]] = {
    "png": ("a PNG picture", (b"\x89PNG",)),
    "svg": ("an SVG picture", (b"<?xml", b"<svg")),
    "html": ("a web page", (b"<!doctype html", b"<!DOCTYPE html")),
    "parquet": ("a Parquet table", (b"PAR1",)),
    "csv": ("an exported table", ()),
    "evidence": ("the values of trials", (b"PK\x03\x04",)),
    "campaign": ("a campaign", (b'{"format"',)),
    "text": ("a text file", ()),
}
# These columns are in every exported table, in this order.
EXPORTED = b"agent,trial,round,slot"
HEAD = 65_536
# Compressed files that unpack to more bytes are refused, because a small one may fill the memory.
MOST_UNPACKED = 2**28


def check_regular(path: Path, most: int | None = None) -> None:
    """Refuse a path that is not a regular file, without opening it. A missing file passes.

    Args:
        path: the file.
        most: the largest allowed size in bytes.
    Raises:
        InvalidInput: it is a folder, a pipe, a device or a socket, or it is too large.
        OSError: the file system cannot say what it is.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except ValueError as error:  # a zero byte in the name
        raise InvalidInput(f"{shown(str(path))}: {error}") from None
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(f"{path} is a folder, not a file: name a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is a pipe, a device or a socket; a regular file is needed")
    if most is not None and found.st_size > most:
        raise InvalidInput(f"{path} has {found.st_size} bytes; at most {most} are allowed")


def check_unpacked(path: Path, sizes: Iterable[int] | None = None) -> None:
    """Refuse a compressed file that unpacks to more than 2^28 bytes and more than its own size.

    Args:
        path: the file.
        sizes: the sizes of the files in it; by default it is a gzip file, which is unpacked once.
    Raises:
        InvalidInput: it is too large.
        OSError, EOFError, zlib.error: it is no gzip file.
    """
    most, total = max(MOST_UNPACKED, path.stat().st_size), 0
    with gzip.open(path) if sizes is None else BytesIO() as file:
        for size in sizes or map(len, iter(lambda: file.read(2**20), b"")):
            total += size
            if total > most:
                raise InvalidInput(
                    f"{path} unpacks to more than {most} bytes; if you trust it, unpack it first"
                )


def check_output(path: Path, kind: str, reads: Sequence[Path] = ()) -> None:
    """Refuse to write over an input, or over a file that is not of the kind to be written.

    Args:
        path: the file to write.
        kind: a key of `KINDS`.
        reads: the inputs; links are followed, and hard links count as the same file.
    Raises:
        InvalidInput: writing there would destroy another file; the message says which.
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
            f"{path} exists and is not {what}, so it was kept; remove it or give another name"
        )


@contextmanager
def writing(
    path: Path, kind: str, reads: Sequence[Path] = (), *, alone: bool = False
) -> Iterator[Path]:
    """Write a file in one step: yields a temporary file, which replaces the target on success.

    After an error the old file is unchanged, and no temporary file or new folder remains. Links are
    followed, and the permissions of an old file are kept.

    Args:
        path: the file to write, as for `check_output`; its folder is created.
        kind: a key of `KINDS`.
        reads: the inputs.
        alone: whether to wait until no other process writes this file, and let others wait. What
            the block reads of the old file is then what it replaces. The temporary file has the
            same name each time, so that the one that a killed process left is replaced.
    Raises:
        InvalidInput: see `check_output`.
        StoreError: the file cannot be written (disk full, no permission).
    """
    check_output(path, kind, reads)
    with _clear(path):
        target = path.resolve()
        made = [folder for folder in target.parents if not folder.exists()]
        own = sha256(os.fsencode(target.name)).hexdigest()[:16] if alone else secrets.token_hex(4)
        part = target.with_name(f".gpbandits-{own}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(13, "no permission to write to it")
            with _locked(part.with_suffix(".lock")) if alone else nullcontext():
                try:
                    yield part
                    _settle(part, target)
                finally:
                    with suppress(OSError):
                        part.unlink()
        except BaseException:
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()
            raise


def write_text(path: Path, text: str, kind: str, reads: Sequence[Path] = ()) -> Path:
    """Write a text in UTF-8 through `writing`, and return the path of the file."""
    with writing(path, kind, reads) as part:
        part.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock, which ends with the process at the latest; its file is removed afterwards."""
    while True:
        with path.open("ab") as file:
            _lock(file)
            try:
                if not _same_file(file, path):  # whoever had the lock has removed this file
                    continue
                try:
                    yield
                finally:
                    with suppress(OSError):  # Windows removes no open file, and uses it again
                        path.unlink()
                return
            finally:
                _unlock(file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

    def _unlock(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _unlock(file: BinaryIO) -> None:  # a forked child may have the file open too
        fcntl.flock(file, fcntl.LOCK_UN)


def _same_file(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _settle(part: Path, target: Path) -> None:
    """Flush the new file to disk, then move it over the old one."""
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
    except GPBanditsError:
        raise
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from None
