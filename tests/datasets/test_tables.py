import gzip

import numpy as np
import pytest

from gpbandits_env.datasets import check_table, read_table
from gpbandits_env.errors import InvalidInput, MissingData

TABLE = np.array([[1.0, 2.5, -3.0], [4.0, 5.0, 6.0]])
LINES = "1,2.5,-3\n4,5,6\n"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.npy", "t.npz"])
def test_every_kind_of_file_gives_the_same_table(tmp_path, name):
    path = tmp_path / name
    writers = {
        "t.csv": lambda: path.write_text(LINES),
        "t.csv.gz": lambda: path.write_bytes(gzip.compress(LINES.encode())),
        "t.npy": lambda: np.save(path, TABLE),
        "t.npz": lambda: np.savez(path, speeds=TABLE),
    }
    writers[name]()
    values, names = read_table(path)
    assert np.array_equal(values, TABLE)
    assert names is None


def test_names_in_the_first_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a",b,c\n' + LINES)
    assert read_table(path)[1] == ["a", "b", "c"]
    path.write_text("7,8,9\n" + LINES)  # names that are numbers
    assert len(read_table(path)[0]) == 3
    values, names = read_table(path, header=True)
    assert names == ["7", "8", "9"]
    assert np.array_equal(values, TABLE)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("1,2\n3,nan\n", "row 1, column 1"),
        ("1,2\n3,\n", "cannot read"),
        ("1,2\n3,4,5\n", "cannot read"),
        ("1,2\n3,x\n", "cannot read"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path, content, says):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=says) as caught:
        read_table(path)
    assert "t.csv" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MissingData, match="no file"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(InvalidInput, match=r"\.csv, \.csv\.gz"):
        read_table(tmp_path / "t.xlsx")
    np.savez(tmp_path / "two.npz", a=TABLE, b=TABLE)
    with pytest.raises(InvalidInput, match="must hold one"):
        read_table(tmp_path / "two.npz")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    with pytest.raises(InvalidInput, match="cannot read"):
        read_table(tmp_path / "objects.npy")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(LINES.encode())[:-9])
    with pytest.raises(InvalidInput, match="cannot read"):
        read_table(tmp_path / "cut.csv.gz")


def test_arrays_with_gaps_or_of_another_shape():
    with pytest.raises(
        InvalidInput, match=r"nan at row 0, column 2 \(counted from 0\), and 1 more"
    ):
        check_table([[1, 2, np.nan], [np.inf, 1, 1]], "readings")
    for bad in ([1.0, 2.0], np.zeros((0, 3)), [[1, 2], [3]], "text"):
        with pytest.raises(InvalidInput, match="readings must"):
            check_table(bad, "readings")
