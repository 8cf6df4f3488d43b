import sys

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, MissingExtra
from gpbandits_env.rewards import datasets


@pytest.fixture(autouse=True)
def fresh():
    datasets.load_boston.cache_clear()
    yield
    datasets.load_boston.cache_clear()


def test_the_table_of_the_package(data_folder):
    pytest.importorskip("mlxtend")
    properties, values = datasets.load_boston()
    assert properties.shape == (506, 13)
    assert values.mean() == pytest.approx(22.532806, abs=1e-6)
    assert properties[0, :3] == pytest.approx([0.00632, 18.0, 2.31])
    assert datasets.load_boston()[1] is values
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1


def test_a_file_in_the_data_folder_comes_first(data_folder):
    rows = np.arange(506 * 14, dtype=float).reshape(506, 14)
    np.savetxt(data_folder / "boston_housing.csv", rows, delimiter=",")
    assert datasets.load_boston()[1].tolist() == rows[:, 13].tolist()


@pytest.mark.parametrize("content", ["1,2\n3", "a,b\n", "1,2,3\n"])
def test_another_file_is_refused(data_folder, content):
    (data_folder / "boston_housing.csv").write_text(content)
    with pytest.raises(InvalidInput):
        datasets.load_boston()


def test_without_the_package_the_extra_is_named(data_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend", None)
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(MissingExtra, match=r"gpbandits-env\[digits\]"):
        datasets.load_boston()
