"""The data sets there are, where they were found, and how to get those that were not."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpbandits_env.datasets import gisette, i880, intel, intel_raw, metr_la, mnist
from gpbandits_env.datasets.fetch import fetch
from gpbandits_env.datasets.locate import data_folders, find
from gpbandits_env.datasets.readings import Readings
from gpbandits_env.errors import InvalidInput, MissingData, unknown

ZENODO = "https://zenodo.org/records/5724362/files/"


@dataclass(frozen=True)
class Dataset:
    """A data set that this library can read.

    Args:
        name: under which an environment asks for it.
        summary: one line.
        files: what its file may be called.
        subfolder: of the data folder, where it may be.
        load: reads it; keyword arguments are its options. None if it is not readings of sensors.
        how_to_get: a sentence for who does not have it.
        url: its public address, if there is one.
        checksum: "algorithm:digest" of what is there.
        several: fetches it into a folder where it is more than one file.
    """

    name: str
    summary: str
    files: tuple[str, ...]
    subfolder: str
    load: Callable[..., Readings] | None
    how_to_get: str
    url: str | None = None
    checksum: str | None = None
    several: Callable[[Path], Path] | None = None


@dataclass(frozen=True)
class Status:
    """Whether a data set is there: its file, or None and a sentence on how to get it."""

    name: str
    summary: str
    path: Path | None
    how_to_get: str


DATASETS: dict[str, Dataset] = {
    d.name: d
    for d in (
        Dataset(
            "intel-berkeley",
            "temperature, 46 sensors, 5 days, 1 or 10 minutes (srinivas2010, bogunovic2016)",
            intel.FILES,
            intel.SUBFOLDER,
            intel.load_intel,
            intel.HOW_TO_GET,
        ),
        Dataset(
            "intel-berkeley-raw",
            "temperature, the same 46 sensors, five weeks of raw messages (34 MB packed)",
            intel_raw.FILES,
            intel_raw.SUBFOLDER,
            intel_raw.load_intel_raw,
            intel_raw.HOW_TO_GET,
            intel_raw.URL,
        ),
        Dataset(
            "metr-la",
            "highway speed, Los Angeles, 207 sensors, one week (stand-in for i880)",
            metr_la.WEEK,
            metr_la.SUBFOLDER,
            metr_la.load_metr_la,
            metr_la.HOW_TO_GET_WEEK,
        ),
        Dataset(
            "metr-la-full",
            "highway speed, Los Angeles, 207 sensors, four months (72 MB)",
            metr_la.WHOLE,
            metr_la.SUBFOLDER,
            metr_la.load_full,
            "Get it with gpbandits_env.datasets.download('metr-la-full').",
            ZENODO + "METR-LA.csv",
            "sha256:8d67a35472db1719d7d4be851f2bf64cb21d9c52577c8a6b4b873d43205af381",
        ),
        Dataset(
            "pems-bay",
            "highway speed, San Francisco Bay, 325 sensors, six months",
            metr_la.BAY,
            metr_la.SUBFOLDER,
            metr_la.load_bay,
            "Get it with gpbandits_env.datasets.download('pems-bay').",
            ZENODO + "PEMS-BAY.csv",
            "md5:c8dea58987a5882e946217c22fdb8256",
        ),
        Dataset(
            "i880",
            "highway speed, I-880 South, 357 sensors, one month (srinivas2010, bogunovic2016)",
            i880.FILES,
            i880.SUBFOLDER,
            i880.load_i880,
            i880.HOW_TO_GET,
        ),
        Dataset(
            "mnist",
            "70,000 handwritten digits (bedi2022); see `load_digits`",
            mnist.FILES,
            mnist.SUBFOLDER,
            None,
            mnist.HOW_TO_GET,
            mnist.ADDRESSES[0],
            several=mnist.download_mnist,
        ),
        Dataset(
            "gisette",
            "6,000 fours and nines, 5,000 features (tranthe2020); see `load_gisette`",
            gisette.FILES,
            gisette.SUBFOLDER,
            None,
            gisette.HOW_TO_GET,
            gisette.URL,
            several=gisette.download_gisette,
        ),
    )
}


def load(name: str, options: Mapping[str, Any] | None = None) -> Readings:
    """The readings of a data set.

    Args:
        name: one of `DATASETS`.
        options: the keyword arguments of its ``load``, e.g. ``{"every": 10}``.
    Raises:
        UnknownName: no such data set, or no such option.
        MissingData: its file is not there; the message says how to get it.
        InvalidInput: the file has another layout, an option is out of range, or the data set is
            no readings of sensors.
    """
    dataset = _dataset(name)
    if dataset.load is None:
        raise InvalidInput(f"the data set {name!r} is not readings of sensors: {dataset.summary}")
    known = inspect.signature(dataset.load).parameters
    for key in options or {}:
        if key not in known:
            raise unknown(f"option of the data set {name!r}", key, known)
    return dataset.load(**(options or {}))


def status() -> list[Status]:
    """Every data set, where its file was found, and how to get it if it was not.

    Raises:
        InvalidInput: ``GPBANDITS_DATA`` does not name a folder.
    """
    return [
        Status(d.name, d.summary, find(d.files, d.subfolder), d.how_to_get)
        for d in DATASETS.values()
    ]


def download(name: str) -> Path:
    """Fetch a data set from its public address into the first data folder, checked by its digest.

    Raises:
        UnknownName: no such data set.
        MissingData: it has no public address, or the download failed.
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
    if not isinstance(name, str) or name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return DATASETS[name]
