"""The raw reader on a small file with every defect of the real one."""

import gzip

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, MissingData
from gpbandits_env.rewards.datasets import load
from gpbandits_env.rewards.datasets.intel import LABELS


def line(day, minute, mote, temperature, voltage=2.6):
    clock = f"2004-03-{day:02d} {minute // 60:02d}:{minute % 60:02d}:59.12345"
    return f"{clock} 3 {mote} {temperature} 37.1 43.2 {voltage}\n"


def two_days():
    """Every mote every 30 minutes: 20 degrees, a degree more per 240 minutes, a tenth per mote."""
    return [
        line(day, minute, int(mote), 20 + minute / 240 + 0.1 * i)
        for day in (1, 2)
        for minute in range(0, 1440, 30)
        for i, mote in enumerate(LABELS)
    ]


@pytest.fixture
def read(tmp_path, monkeypatch):
    """A function that makes the table of a file of these lines."""
    monkeypatch.setenv("GPBANDITS_DATA", str(tmp_path))

    def table(lines, **options):
        (tmp_path / "data.txt").write_text("".join(lines))
        return load("intel-berkeley-raw", options)

    return table


def test_a_clean_file_becomes_a_table(read):
    readings = read(two_days(), every=60)
    assert readings.values.shape == (48, 46)
    assert readings.days.tolist() == [0] * 24 + [1] * 24
    # The mean of the readings at :00 and :30.
    assert readings.values[0, 0] == pytest.approx(20 + 15 / 240)
    assert readings.values[25, 3] == pytest.approx(20 + 75 / 240 + 0.3)


def test_defects_are_left_out(read):
    bad = [
        "\n",
        "2004-03-01 00:00:01.1 2\n",
        "2004-03-01 00:00:01.1 2 1 hot 37 45 2.6\n",
        "2004-03-41 00:00:01.1 2 1 20 37 45 2.6\n",
        line(1, 0, 5, 20.0),
        line(1, 0, 77, 20.0),
        line(1, 0, 1, 122.153, 2.5),
        line(1, 0, 1, -40.0, 2.5),
        line(1, 0, 1, 35.0, 2.1),
        line(1, 0, 1, "nan"),
    ]
    clean = read(two_days(), every=60)
    readings = read([*two_days()[:100], *bad, *two_days()[100:]], every=60)
    np.testing.assert_array_equal(readings.values, clean.values)


def test_short_gaps_are_interpolated_and_days_with_long_ones_left_out(read):
    mote = LABELS[2]
    kept = [
        text
        for text in two_days()
        if not (
            text.split()[3] == mote
            and (
                ("03-01" in text and "08:" <= text.split()[1] < "10:")
                or ("03-02" in text and "08:" <= text.split()[1] < "14:")
            )
        )
    ]
    readings = read(kept, every=60)
    assert len(readings.values) == 24
    clean = read(two_days(), every=60)
    np.testing.assert_allclose(readings.values, clean.values[:24], atol=1e-12)
    both = read(kept, every=60, longest_gap=600)
    assert len(both.values) == 48


def test_lines_in_any_order_give_the_same_table(read):
    lines = two_days()
    mixed = [lines[i] for i in np.random.default_rng(0).permutation(len(lines))]
    a, b = read(lines, every=30), read(mixed, every=30)
    np.testing.assert_allclose(a.values, b.values, atol=1e-12)


@pytest.mark.parametrize(
    ("lines", "options", "says"),
    [
        ([], {}, "no valid reading"),
        (two_days()[:60], {}, "longest_gap"),
        (two_days(), {"every": 7}, "divide a day"),
        ([], {"every": 60, "days": 0}, "days"),  # before the file is read
        (two_days(), {"every": 60, "longest_gap": 120.0}, "longest_gap must be a whole number"),
        (two_days(), {"every": 60, "longest_gap": -1}, "longest_gap"),
    ],
)
def test_what_cannot_be_read_is_refused(read, lines, options, says):
    with pytest.raises(InvalidInput, match=says):
        read(lines, **options)


def test_it_is_found_plain_or_packed(tmp_path, monkeypatch):
    monkeypatch.setenv("GPBANDITS_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(MissingData, match=r"data\.txt\.gz"):
        load("intel-berkeley-raw")
    text = "".join(two_days())
    (tmp_path / "data.txt.gz").write_bytes(gzip.compress(text.encode()))
    packed = load("intel-berkeley-raw", {"every": 60, "days": 1})
    assert packed.values.shape == (24, 46)
    (tmp_path / "data.txt").write_text(text)
    np.testing.assert_array_equal(
        load("intel-berkeley-raw", {"every": 60}).values[:24], packed.values
    )
    (tmp_path / "data.txt").unlink()
    (tmp_path / "data.txt.gz").write_bytes(gzip.compress(text.encode())[:2000])
    with pytest.raises(InvalidInput, match="cannot be read"):
        load("intel-berkeley-raw", {"every": 60})
