"""Computations of claims: those that are not long still give the arrays that are kept of them."""

import json
from pathlib import Path

import numpy as np
import pytest

from gpbandits_env.errors import MissingData
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.declare import with_digits
from gpbandits_env.scenarios.results import evidence
from tools.claims import named, peaks, table

REFERENCE = Path(__file__).parents[3] / "scenarios" / "reference"
KEPT = {
    (file.parts[-3], file.stem): json.loads(np.load(file)["about"].tobytes())
    for file in sorted(REFERENCE.glob("*/computed/*.npz"))
}
SHORT = [
    pytest.param(*of, id="/".join(of), marks=pytest.mark.slow if found["seconds"] > 1.0 else ())
    for of, found in KEPT.items()
    if found["seconds"] <= 20.0 and of[1] != "covering-room"
]


def test_what_is_kept_is_of_a_computation():
    for paper, name in KEPT:
        assert name in table(paper, "COMPUTATIONS"), f"{paper}/{name}"


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("paper", "name"), SHORT)
def test_a_computation_gives_the_arrays_that_are_kept(paper, name):
    """Between kinds of processors they differ by 1e-5 at most. Clock times differ in each run."""
    try:
        found = table(paper, "COMPUTATIONS")[name]()
    except MissingData as error:
        pytest.skip(str(error))
    kept = KEPT[paper, name]["values"]
    assert set(found) == set(kept)
    for key, values in found.items():
        assert np.shape(np.atleast_1d(values)) == np.shape(kept[key]), key
        if name != "seconds-of-a-batch":
            np.testing.assert_allclose(np.atleast_1d(values), kept[key], 1e-4, 1e-9, err_msg=key)


@pytest.mark.parametrize(
    "name", ["spread", "improvement", "over-problems", "redraws", "batch-sizes"]
)
def test_what_follows_from_kept_trials_was_made_after_them(name):
    """If not: `python -m tools.claims ren2024/NAME`."""
    for key, values in table("ren2024", "COMPUTATIONS")[name]().items():
        np.testing.assert_allclose(values, KEPT["ren2024", name]["values"][key], rtol=1e-6)


def test_trials_that_replay_the_same_rows_are_one_unit():
    replays = [s.id for s in registry.scenarios().values() if s.env == "gpbandits/Replay-v0"]
    found = {id: evidence.load(id) for id in replays}
    assert len(replays) > 4
    for id, kept in found.items():
        for cell in range(len(kept.points)) if kept else ():
            assert set(kept.units.get(cell, ())) == {0}, id


def test_names_are_those_of_the_functions():
    def lower_bound():
        return {}

    assert named(lower_bound) == {"lower-bound": lower_bound}
    assert all(table(paper, "COMPUTATIONS") for paper in registry.PAPERS)


def test_numbers_are_kept_with_ten_digits():
    kept = {"a": [[1.0 / 3.0, 1e-9 / 3.0], [7, 1.0]], "b": "],["}
    short = {"a": [[0.3333333333, 3.333333333e-10], [7, 1.0]], "b": "],["}
    assert with_digits(kept, 10) == short


def test_the_peak_of_a_parabola_lies_between_points_and_never_beyond_the_ends():
    x = np.linspace(0.0, 1.0, 11)[:, None]
    centres = np.array([0.33, 0.5, 0.76])
    assert peaks(2.0 - (x - centres) ** 2) == pytest.approx(np.full(3, 2.0))
    assert peaks(2.0 - (x - np.array([-0.4, 1.2])) ** 2) == pytest.approx([1.84, 1.96])
    assert peaks(5.0 - (np.arange(7.0) - 3.2) ** 2) == pytest.approx(5.0)
    assert peaks(np.arange(7.0)) == 6.0
