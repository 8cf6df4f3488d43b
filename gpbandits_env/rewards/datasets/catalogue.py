"""The list of data sets, how they are loaded, and how those with an address are downloaded."""

import inspect
from pathlib import Path

from gpbandits_env.arrays import Settings
from gpbandits_env.errors import InvalidInput, MissingData, all_known, one_of
from gpbandits_env.rewards.datasets.dataset import Dataset, data_folders, fetch
from gpbandits_env.rewards.datasets.gisette import GISETTE
from gpbandits_env.rewards.datasets.intel import INTEL, INTEL_RAW
from gpbandits_env.rewards.datasets.mnist import MNIST
from gpbandits_env.rewards.datasets.tables import Readings
from gpbandits_env.rewards.datasets.traffic import BAY, I880, WEEK, WHOLE

DATASETS: dict[str, Dataset] = {
    d.name: d for d in (INTEL, INTEL_RAW, WEEK, WHOLE, BAY, I880, MNIST, GISETTE)
}


def load(name: str, options: Settings | None = None) -> Readings:
    """The readings of a data set.

    Args:
        name: one of `DATASETS`.
        options: the options of its ``load``, e.g. ``{"every": 10}``.
    Raises:
        UnknownName: there is no such data set, or it has no such option.
        MissingData: the file is missing; the message says how to get it.
        InvalidInput: the file has another layout, an option is out of range, or the data set does
            not consist of sensor readings.
    """
    dataset = _dataset(name)
    if dataset.load is None:
        raise InvalidInput(f"the data set {name!r} is not readings of sensors: {dataset.summary}")
    _, *known = inspect.signature(dataset.load).parameters
    all_known(options or {}, known, f"option of the data set {name!r}")
    return dataset.load(dataset, **(options or {}))


def download(name: str) -> Path:
    """Download a data set from its public address to the first data folder, and check its digest.

    Raises:
        UnknownName: there is no such data set.
        MissingData: the data set has no public address, or the download failed.
        MissingExtra: the package pooch is not installed.
    """
    dataset = _dataset(name)
    if dataset.url is None:
        raise MissingData(f"{name} has no public address to download from. {dataset.how_to_get}")
    folder = data_folders()[0] / dataset.subfolder
    if dataset.several is not None:
        return dataset.several(folder)
    return fetch([dataset.url], dataset.checksum, folder)


def _dataset(name: str) -> Dataset:
    return DATASETS[one_of(name, DATASETS, "data set")]
