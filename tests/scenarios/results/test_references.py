import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from gpbandits_env.errors import MissingData
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.results import evidence, references
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study.runner import make_env

KEPT = [s for s in registry.scenarios().values() if references.load(s.id)]


@pytest.fixture
def kept(stored):
    with Store.open(stored) as store:
        return references.to_reference(report(store))


def test_a_reference_has_every_agent(kept):
    assert kept["trials"] == 4
    assert [list(cell["agents"]) for cell in kept["cells"]] == [["gp-ucb", "ei", "random"]] * 2
    mean, se = kept["cells"][0]["agents"]["ei"]["average_regret"]
    assert mean > 0
    assert se > 0


def test_a_kept_file_is_loaded(kept, tmp_path):
    path = tmp_path / "reference" / "test" / "tiny.json"
    path.parent.mkdir(parents=True)
    path.write_text(references.compact(kept))
    assert references.load("test/tiny", tmp_path) == json.loads(json.dumps(kept))
    assert references.load("test/none", tmp_path) is None


def test_kept_numbers_have_the_digits_asked_for():
    kept = {"a": [[1.0 / 3.0, 1e-9 / 3.0], [7, 1.0, float("nan")]], "b": "],["}
    text = references.compact(kept, 10)
    assert text == '{"a":[[0.3333333333,3.333333333e-10],\n[7,1.0,NaN]],\n"b":"],["}\n'


def test_a_moved_mean_is_told(kept):
    assert references.compare(kept, kept) == []
    moved = json.loads(json.dumps(kept))
    entry = moved["cells"][1]["agents"]["ei"]["simple_regret"]
    mean, se = entry
    entry[0] = mean + 3.99 * np.sqrt(2) * se
    assert references.compare(kept, moved) == []
    entry[0] = mean + 4.01 * np.sqrt(2) * se
    (deviation,) = references.compare(kept, moved)
    entry[:] = 2.0, 0.0
    nearly = json.loads(json.dumps(moved))
    nearly["cells"][1]["agents"]["ei"]["simple_regret"][0] = 2.0 + 1e-9
    assert references.compare(moved, nearly) == []
    nearly["cells"][1]["agents"]["ei"]["simple_regret"][0] = 2.0 + 1e-8
    assert len(references.compare(moved, nearly)) == 1
    assert "ei, simple_regret, {'noise_var': 0.1}" in deviation


def test_an_agent_that_the_scenario_no_longer_has_is_told(kept, stored):
    fewer = json.loads(json.dumps(kept))
    for cell in fewer["cells"]:
        del cell["agents"]["ei"]
    told = references.compare(kept, fewer)
    assert told
    assert all(line.startswith("ei, ") and ": nan, reference" in line for line in told)
    with Store.open(stored) as store:
        values = evidence.gather(store)
    left = replace(values, values={k: v for k, v in values.values.items() if k[1] != "ei"})
    assert evidence.differences(values, left) == ["ei: the scenario no longer has this agent"]


def test_few_trials_may_lie_close_together_by_chance(kept):
    few = json.loads(json.dumps(kept)) | {"trials": 1}
    entry = few["cells"][1]["agents"]["ei"]["simple_regret"]
    mean, se = entry
    entry[:] = mean + 3.9 * np.sqrt(1 + 4) * se, float("nan")
    assert references.compare(kept, few) == []
    entry[0] = mean + 4.1 * np.sqrt(1 + 4) * se
    assert len(references.compare(kept, few)) == 1


def test_other_conditions_are_told(kept):
    assert references.conditions(kept, kept) == []
    moved = json.loads(json.dumps(kept)) | {"trials": 2}
    moved["machine"]["blas"] = ["openblas 0.3 Other"]
    blas, trials = sorted(references.conditions(kept, moved))
    assert blas.endswith("and this run openblas 0.3 Other")
    assert trials == "the reference has trials 4, and this run 2"


def test_the_papers_scenarios_have_references_of_their_size():
    assert {s.id for s in KEPT} >= {"srinivas2010/se-1d", "srinivas2010/temperature"}
    for scenario in KEPT:
        kept = references.load(scenario.id)
        assert (kept["trials"], kept["horizon"]) == (scenario.trials, scenario.horizon)
        labels = {e.label for e in (*scenario.agents, *scenario.alternatives)}
        assert all(set(cell["agents"]) == labels for cell in kept["cells"])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("scenario", KEPT, ids=lambda s: s.id)
def test_a_trial_has_the_values_that_are_kept(scenario):
    try:
        make_env(scenario.env, scenario.env_kwargs, scenario.horizon)
    except MissingData as missing:
        pytest.skip(str(missing))
    result = CliRunner().invoke(main, ["reference", scenario.id, "--check", "--trials", "1"])
    assert "the values of 1 trial are those of the reference" in result.output, result.output


def test_cumulative_regret_is_that_of_all_actions_of_a_batch(run, tiny, tmp_path):
    scenario = replace(tiny, grid={"batch_size": (1, 3)})
    with Store.open(run(scenario=scenario).path) as store:
        kept = evidence.gather(store)
        (tmp_path / "reference").mkdir()
        evidence.save(kept, tmp_path / "reference" / "own.npz")
        for of in (kept, evidence.load("own", tmp_path)):
            for cell in (0, 1):
                whole = store.arrays(cell, "ei", "regret").sum(axis=2).cumsum(axis=1)
                found = of.curve(cell, "ei", "cumulative_regret")
                np.testing.assert_allclose(found, whole[:, kept.rounds - 1], rtol=1e-4)


@pytest.mark.parametrize("scenario", KEPT, ids=lambda s: s.id)
def test_the_kept_values_have_the_kept_means(scenario):
    kept, values = references.load(scenario.id), evidence.load(scenario.id)
    for i, cell in enumerate(kept["cells"]):
        for label, metrics in cell["agents"].items():
            for name, (mean, _) in metrics.items():
                if name != "simple_regret" or not kept["optimum_moves"]:
                    found = values.curve(i, label, name)[:, -1].mean()
                    assert found == pytest.approx(mean, rel=5e-4, abs=1e-9)


def test_a_trial_that_differs_is_told(stored):
    with Store.open(stored) as store:
        kept, now = evidence.gather(store), evidence.gather(store)
    assert evidence.differences(kept, now) == []
    now.values[1, "ei", "average_regret"][2, -1] *= 1.0 + 1e-6
    now.values[1, "ei", "seconds"][:] *= 2.0
    assert evidence.differences(kept, now) == []
    now.values[1, "ei", "average_regret"][2, -1] *= 1.0 + 1e-3
    told = "ei, average_regret, {'noise_var': 0.1}: 1 of 4 trials, the first being 2"
    assert evidence.differences(kept, now) == [told]
    kept.values[0, "ei", "simple_regret"][0, -1] = np.nan
    now.values[0, "ei", "simple_regret"][0, -1] = np.nan
    assert evidence.differences(kept, now) == [told]
    del kept.values[0, "ei", "simple_regret"]
    assert evidence.differences(kept, now) == ["ei, simple_regret: no values are kept", told]


def test_a_processor_without_some_instructions_is_another(monkeypatch):
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES", raising=False)
    whole = references.machine()
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "AVX2")
    assert references.machine()["processor"] == f"{whole['processor']} without AVX2"
