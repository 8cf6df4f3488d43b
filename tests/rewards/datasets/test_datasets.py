import gzip
import sys

import numpy as np
import pytest
from scipy.io import savemat

from gpbandits_env.errors import InvalidInput, MissingData, MissingExtra, UnknownName
from gpbandits_env.rewards import datasets


@pytest.mark.parametrize("name", sorted(k for k, d in datasets.DATASETS.items() if d.load))
def test_missing_data_say_what_and_how(name, data_folder):
    with pytest.raises(MissingData) as caught:
        datasets.load(name)
    message = str(caught.value)
    assert datasets.DATASETS[name].files[0] in message
    assert str(data_folder) in message
    assert "GPBANDITS_DATA" in message
    assert {d.find() for d in datasets.DATASETS.values()} == {None}


def test_unknown_names_and_options_are_refused(data_folder):
    with pytest.raises(UnknownName, match="did you mean 'intel-berkeley'"):
        datasets.load("intel-berkley")
    with pytest.raises(UnknownName, match="did you mean 'every'"):
        datasets.load("intel-berkeley", {"evry": 10})
    with pytest.raises(InvalidInput, match="must divide"):
        datasets.load("intel-berkeley", {"every": 7})


def test_a_variable_that_names_no_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("GPBANDITS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InvalidInput, match="must name a folder"):
        datasets.load("metr-la")


def write_i880(folder, day=True, sensors=357, falling=False):
    speeds = np.random.default_rng(0).uniform(20, 70, size=(4, sensors))
    days = [[2], [2], [3], [1 if falling else 5]]
    table = np.hstack([days, speeds]) if day else speeds
    names = ["day"] * day + [f"s{i}" for i in range(sensors)]
    np.savetxt(folder / "i880.csv", table, "%.17g", ",", header=",".join(names), comments="")
    return speeds


def test_i880_in_the_documented_layout(data_folder):
    speeds = write_i880(data_folder)
    readings = datasets.load("i880")
    assert np.allclose(readings.values, speeds)
    assert readings.days.tolist() == [0, 0, 1, 2]
    assert readings.names[:2] == ("s0", "s1")
    (data_folder / "i880").mkdir()
    (data_folder / "i880.csv").rename(data_folder / "i880" / "i880.csv")
    assert np.allclose(datasets.load("i880").values, speeds)
    (data_folder / "i880" / "i880.csv").unlink()
    write_i880(data_folder, day=False)
    assert datasets.load("i880").days.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("how", "says"),
    [({"sensors": 356}, "357 sensors, got 356"), ({"falling": True}, "must not decrease")],
)
def test_i880_in_another_layout_is_refused(data_folder, how, says):
    write_i880(data_folder, **how)
    with pytest.raises(InvalidInput, match=says):
        datasets.load("i880")


def test_the_data_of_scenarios_need_no_pandas(data_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    speeds = write_i880(data_folder)
    assert datasets.load("i880").values.tobytes() == speeds.tobytes()
    head = b"773869,767541\n"
    (data_folder / "los_speed.csv.gz").write_bytes(gzip.compress(head + b"64.375,0.1\n3,4\n"))
    week = datasets.load("metr-la")
    assert (week.names, week.values.tolist()) == (("773869", "767541"), [[64.375, 0.1], [3.0, 4.0]])
    (data_folder / "METR-LA.csv").write_text(",7\n2012-03-02 05:50:00,1\n")
    full = datasets.load("metr-la-full")
    assert (full.names, full.values.tolist()) == (("7",), [[1.0]])


@pytest.mark.parametrize("name", ["intel-berkeley", "metr-la"])
def test_files_with_other_content_are_refused(name, data_folder):
    path = data_folder / datasets.DATASETS[name].files[-1]
    path.write_text("not, what\nit, should, be\n")
    with pytest.raises(InvalidInput, match=path.name):
        datasets.load(name)
    if path.suffix == ".mat":
        savemat(path, {"berkeley_data": {"data": np.zeros((3, 2)), "coords": np.zeros((2, 2))}})
        with pytest.raises(InvalidInput, match=r"\(7205, 46\), got \(3, 2\)"):
            datasets.load(name)


def test_a_long_series_with_times_and_missing_readings(data_folder):
    """The layout of METR-LA.csv: a time, then speeds; 0 where a sensor was silent."""
    times = np.datetime64("2012-03-02T05:50", "m") + np.arange(1200) * np.timedelta64(5, "m")
    speeds = np.stack([np.linspace(30, 60, 1200), np.linspace(60, 30, 1200)], axis=1)
    shown = speeds.copy()
    shown[5, 0] = shown[0, 1] = 0
    rows = [
        f"{str(t).replace('T', ' ')}:00,{a},{b}" for t, (a, b) in zip(times, shown, strict=True)
    ]
    (data_folder / "METR-LA.csv").write_text("\n".join([",7,9", *rows]) + "\n")
    readings = datasets.load("metr-la-full")
    assert readings.names == ("7", "9")
    assert np.allclose(readings.values[:, 0], speeds[:, 0])
    assert readings.values[0, 1] == pytest.approx(speeds[1, 1])
    assert readings.days[[0, 217, 218]].tolist() == [0, 0, 1]
    kept = datasets.load("metr-la-full", {"mornings": True, "working_days": True})
    hours = times.astype("datetime64[h]").astype(int) % 24
    assert (
        len(kept.values)
        == ((hours >= 6) & (hours < 11) & np.is_busday(times.astype("M8[D]"))).sum()
    )
    assert np.unique(kept.days).tolist() == [0, 3, 4]


def test_a_sensor_without_a_reading_is_refused(data_folder):
    (data_folder / "METR-LA.csv").write_text(",7\n2012-03-02 05:50:00,0\n")
    with pytest.raises(InvalidInput, match="has no reading"):
        datasets.load("metr-la-full")


@pytest.mark.parametrize("rows", ["7,9\n60,61\n", "time,7\n0.5,60\n1.5,61\n"])
def test_speeds_without_dates_are_refused(data_folder, rows):
    (data_folder / "METR-LA.csv").write_text(rows)
    with pytest.raises(InvalidInput, match="each row must begin with a date"):
        datasets.load("metr-la-full")


def test_downloads_need_an_address_and_pooch(data_folder, monkeypatch):
    with pytest.raises(MissingData, match="no public address"):
        datasets.download("i880")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtra, match=r"gpbandits-env\[data\]"):
        datasets.download("metr-la-full")


def test_a_download_lands_where_it_is_looked_for(data_folder, monkeypatch, tmp_path):
    import dataclasses
    import hashlib

    pytest.importorskip("pooch")
    there = tmp_path / "there.csv"
    there.write_text(",1,2\n2012-03-01 00:00:00,3,4\n")
    digest = "sha256:" + hashlib.sha256(there.read_bytes()).hexdigest()
    asked = []

    def retrieve(url, known_hash, fname, path):
        asked.append((url, known_hash))
        path.mkdir(parents=True, exist_ok=True)
        (path / fname).write_bytes(there.read_bytes())
        return str(path / fname)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    entry = dataclasses.replace(datasets.DATASETS["metr-la-full"], checksum=digest)
    monkeypatch.setitem(datasets.DATASETS, "metr-la-full", entry)
    path = datasets.download("metr-la-full")
    assert asked == [(entry.url, digest)]
    assert path in [d.find() for d in datasets.DATASETS.values()]
    assert datasets.load("metr-la-full").values.tolist() == [[3.0, 4.0]]


def test_readings_check_themselves():
    values = np.ones((2, 2))
    with pytest.raises(InvalidInput, match="row 1, column 0"):
        datasets.Readings(np.array([[1.0, 2.0], [np.nan, 1.0]]))
    with pytest.raises(InvalidInput, match="3 columns of readings need 3 names, got 2"):
        datasets.Readings(np.ones((2, 3)), ("a", "b"))
    for wrong in ({"locations": np.zeros((3, 2))}, {"days": np.zeros(3, int)}):
        with pytest.raises(InvalidInput, match=f"{next(iter(wrong))} must have shape"):
            datasets.Readings(values, **wrong)
