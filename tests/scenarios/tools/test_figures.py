"""The figures of the documentation; batches of several sizes."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.scenarios.papers import ren2024
from gpbandits_env.scenarios.results import references
from gpbandits_env.scenarios.results.store import Store
from tools import figures


@pytest.fixture
def store(run, tiny):
    scenario = replace(
        tiny,
        grid={"batch_size": (4, 1, 2)},
        findings=(),
        alternatives=(),
        agents=tiny.agents[:1],
        metric="simple_regret",
    )
    with Store.open(run("b.sqlite", scenario).path) as opened:
        yield opened


def test_all_sizes_face_the_same_functions(store):
    optima = [store.arrays(cell, "gp-ucb", "optimum") for cell in range(3)]
    np.testing.assert_array_equal(optima[0], optima[1])
    np.testing.assert_array_equal(optima[0], optima[2])


def test_the_figure(store, tmp_path):
    assert figures.sweeps_batches(store.scenario)
    (file,) = figures.draw(store, tmp_path / "batches")
    assert file.stat().st_size > 10_000


def test_other_scenarios_are_drawn_as_ever(run):
    with Store.open(run().path) as opened:
        assert not figures.sweeps_batches(opened.scenario)


def test_larger_batches_end_lower_for_every_rule():
    """In the results that are kept, which a slow test plays again."""
    cells = references.load("ren2024/batches")["cells"]
    assert [cell["params"]["batch_size"] for cell in cells] == list(ren2024.BATCHES)
    for rule in ren2024.PAPERS:
        means = [cell["agents"][rule]["simple_regret"][0] for cell in cells]
        assert all(b < a for a, b in itertools.pairwise(means)), rule
