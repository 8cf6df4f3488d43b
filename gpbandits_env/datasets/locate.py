"""Where data files are."""

import os
from collections.abc import Sequence
from pathlib import Path

from gpbandits_env.errors import InvalidInput, MissingData

VARIABLE = "GPBANDITS_DATA"


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
    for folder in data_folders():
        for name in names:
            for path in (folder / name, folder / subfolder / name):
                if path.is_file():
                    return path
    return None


def locate(names: Sequence[str], subfolder: str, how_to_get: str) -> Path:
    """The first of the files that exists, or an error that says how to get it.

    Args:
        names: what the file may be called.
        subfolder: the subfolder it may be in.
        how_to_get: a sentence for the error.
    Raises:
        MissingData: none of them exists.
        InvalidInput: ``GPBANDITS_DATA`` does not name a folder.
    """
    path = find(names, subfolder)
    if path is None:
        where = " and ".join(str(folder) for folder in data_folders())
        unset = "" if os.environ.get(VARIABLE) else f" ({VARIABLE} is not set)"
        raise MissingData(
            f"the data file {' or '.join(names)} is missing: looked in {where}{unset}, and in the "
            f"subfolder {subfolder} there. {how_to_get} Then set {VARIABLE} to the folder it is in."
        )
    return path
