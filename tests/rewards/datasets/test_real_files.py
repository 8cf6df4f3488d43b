"""Against the real files, where they are; every number here was read off them by hand."""

import numpy as np
import pytest

from gpbandits_env.rewards import datasets


def test_intel_every_minute(real_data):
    readings = datasets.load("intel-berkeley")
    assert readings.values.shape == (7200, 46)
    assert readings.locations.shape == (46, 2)
    assert readings.unit == "°C"
    assert np.bincount(readings.days).tolist() == [1440] * 5
    # The outlier lay in the third day (rows of 1441 in the file, of 1440 here).
    row = 4278 - 2
    assert readings.values[row, 6] == pytest.approx((20.9681177 + 20.92653907) / 2, abs=1e-5)
    assert readings.values.min() > 10


def test_intel_every_ten_minutes(real_data):
    every = datasets.load("intel-berkeley").values
    readings = datasets.load("intel-berkeley", {"every": 10})
    assert readings.values.shape == (720, 46)
    assert np.array_equal(readings.values, every[::10])
    assert round(readings.values.min(), 1) == 15.0
    assert round(readings.values.max(), 1) == 37.5
    eigenvalues = np.linalg.eigvalsh(np.cov(readings.values.T))
    assert eigenvalues[0] == pytest.approx(0.003, abs=0.001)
    assert eigenvalues[-1] == pytest.approx(385, abs=1)


def test_intel_sensors_stand_where_the_map_says(real_data):
    readings = datasets.load("intel-berkeley", {"every": 10})
    table = np.loadtxt(real_data / "intel_berkeley_46" / "mote_locs_54.txt")
    where = {str(int(i)): (x, y) for i, x, y in table}
    assert [where[i] for i in readings.names] == [tuple(p) for p in readings.locations]


def test_the_map_of_metr_la_has_true_distances(real_data):
    """Against the haversine formula on the coordinates in the file."""
    week = datasets.load("metr-la")
    table = np.loadtxt(
        real_data / "metr_la_week" / "graph_sensor_locations.csv", delimiter=",", skiprows=1
    )
    where = {str(int(sensor)): np.radians((north, east)) for _, sensor, north, east in table}
    points = np.array([where[label] for label in week.names])
    assert np.degrees(points[0]).tolist() == pytest.approx([34.15497, -118.31829])
    north, east = points[1:].T
    half = np.sin((north - points[0, 0]) / 2) ** 2
    half += np.cos(north) * np.cos(points[0, 0]) * np.sin((east - points[0, 1]) / 2) ** 2
    true = 2 * 6371.0 * np.arcsin(np.sqrt(half))
    drawn = np.linalg.norm(week.locations[1:] - week.locations[0], axis=1)
    np.testing.assert_allclose(drawn, true, rtol=2e-3)


def test_metr_la_week_and_its_mornings(real_data):
    week = datasets.load("metr-la")
    assert week.values.shape == (2016, 207)
    assert week.values[0, :3].tolist() == [64.375, 67.625, 67.125]
    assert week.names[:2] == ("773869", "767541")
    mornings = datasets.load("metr-la", {"mornings": True})
    rows = np.concatenate([288 * d + np.arange(72, 132) for d in range(7)])
    assert np.array_equal(mornings.values, week.values[rows])
    working = datasets.load("metr-la", {"mornings": True, "working_days": True})
    # 1 March 2012 was a Thursday: days 2 and 3 are the weekend.
    assert np.unique(working.days).tolist() == [0, 1, 4, 5, 6]
    assert np.array_equal(working.values, mornings.values[~np.isin(mornings.days, [2, 3])])


def test_status_says_where_each_was_found(real_data):
    found = {name: d.find() for name, d in datasets.DATASETS.items()}
    assert found["intel-berkeley"] == real_data / "intel_berkeley_46" / "berkeley_data.mat"
    assert found["metr-la"] == real_data / "metr_la_week" / "los_speed.csv.gz"
