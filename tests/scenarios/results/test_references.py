from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner

from gpbandits_env.errors import MissingData, StoreError
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.metrics import KNOWN
from gpbandits_env.scenarios.results import evidence, references
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.results.records import TrialKey
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import run as study
from gpbandits_env.scenarios.study.runner import make_env

KEPT = [s for s in registry.scenarios().values() if evidence.load(s.id)]
METRICS = ("average_regret", "simple_regret")


@pytest.fixture
def kept(stored):
    with Store.open(stored) as store:
        return evidence.gather(store)


def moved(kept, label, by):
    """The same, with the last simple regret of an agent in the second cell moved."""
    values = kept.curve(1, label, "simple_regret").copy()
    values[:, -1] += by
    return replace(kept, values=kept.values | {(1, label, "simple_regret"): values})


def test_a_reference_has_what_a_report_has(kept, stored, tmp_path):
    """The means and their standard errors, also of the kept digits of the values."""
    (tmp_path / "reference").mkdir()
    evidence.save(kept, tmp_path / "reference" / "tiny.npz")
    again = evidence.load("tiny", tmp_path)
    assert evidence.load("none", tmp_path) is None
    with Store.open(stored) as store:
        shown = report(store)
    for found in (kept, again):
        assert found.study == kept.study
        assert (found.study["digest"], found.study["seed"]) == (shown.digest, 0)
        assert (found.trials, found.horizon) == (4, 12)
        for cell in shown.cells:
            assert found.labels(cell.index) == [agent.label for agent in cell.agents]
            for agent in cell.agents:
                for name in KNOWN.keys() & agent.mean.keys():
                    expected = agent.mean[name], agent.se[name]
                    given = found.summary(cell.index, agent.label, name)
                    error = 2.0**-15 * expected[0] + 1e-9  # that of each kept value
                    assert given == pytest.approx(expected, rel=1e-4, abs=error)


@pytest.mark.parametrize(
    ("content", "error"),
    [(lambda whole: whole[:-9], "BadZipFile"), (lambda _: b"", "EOFError"), (None, "KeyError")],
)
def test_a_damaged_file_and_one_of_another_version_are_told(kept, tmp_path, content, error):
    file = tmp_path / "reference" / "tiny.npz"
    evidence.save(kept, file)
    if content:
        file.write_bytes(content(file.read_bytes()))
    else:
        evidence.write_arrays(file, {"rounds": [1]}, values=np.zeros((3, 1), np.uint8))
    says = rf"tiny\.npz is not a file of kept values.*{error}.* 'python -m tools.reference tiny'"
    with pytest.raises(StoreError, match=says):
        evidence.load("tiny", tmp_path)


def test_a_moved_mean_is_told(kept):
    assert references.compare(kept, kept, METRICS) == []
    _, se = kept.summary(1, "ei", "simple_regret")
    assert references.compare(kept, moved(kept, "ei", 3.99 * np.sqrt(2) * se), METRICS) == []
    (deviation,) = references.compare(kept, moved(kept, "ei", 4.01 * np.sqrt(2) * se), METRICS)
    assert "ei, simple_regret, {'noise_var': 0.1}" in deviation
    level = moved(kept, "ei", 2.0 - kept.curve(1, "ei", "simple_regret")[:, -1])
    assert references.compare(level, moved(level, "ei", 1e-5), METRICS) == []
    assert len(references.compare(level, moved(level, "ei", 3e-4), METRICS)) == 1


def test_an_agent_that_the_scenario_no_longer_has_is_told(kept):
    left = replace(kept, values={k: v for k, v in kept.values.items() if k[1] != "ei"})
    told = references.compare(kept, left, METRICS)
    assert told
    assert all(line.startswith("ei, ") and ": nan, reference" in line for line in told)
    said = ": the scenario no longer has this agent"
    first, second = (f", {point}" if point else "" for point in kept.points)
    assert evidence.differences(kept, left) == [f"ei{first}{said}", f"ei{second}{said}"]
    once = replace(kept, values={k: v for k, v in kept.values.items() if k[:2] != (1, "ei")})
    assert evidence.differences(kept, once) == [f"ei{second}{said}"]


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (lambda kept: kept, 0, "bit-identical"),
        (lambda kept: moved(kept, "ei", 100.0), 1, "differs: ei, simple_regret"),
        (
            lambda kept: replace(kept, rounds=kept.rounds * 2),
            1,
            "differs: horizon: 12, reference 24",
        ),
        (lambda kept: replace(kept, points=[{}, {"a": 1}]), 1, "differs: cells"),
        (
            lambda kept: replace(kept, study=kept.study | {"seed": 7}),
            1,
            "differs: seed: 0, reference 7",
        ),
    ],
)
def test_the_check_fails_where_the_kept_values_are_others(kept, monkeypatch, change, code, says):
    """Also if the digest that is kept beside them is that of this run."""
    monkeypatch.setattr(evidence, "load", lambda id: change(kept))
    monkeypatch.setattr("gpbandits_env.scenarios.cli.compare.run_again", lambda *_: kept)
    result = CliRunner().invoke(main, ["reference", "srinivas2010/se-1d"])
    assert (result.exit_code, says in result.output) == (code, True), result.output


def test_few_trials_may_lie_close_together_by_chance(kept):
    mean, se = kept.summary(1, "ei", "simple_regret")
    few = replace(kept, values={k: v[:1] for k, v in kept.values.items()})
    for of in product((0, 1), kept.labels(0), METRICS):  # the trial is like the mean
        few.values[of] = np.full((1, len(kept.rounds)), kept.summary(*of)[0])
    few.values[1, "ei", "simple_regret"][:] = mean + 3.9 * np.sqrt(1 + 4) * se
    assert references.compare(kept, few, METRICS) == []
    few.values[1, "ei", "simple_regret"][:] = mean + 4.1 * np.sqrt(1 + 4) * se
    assert len(references.compare(kept, few, METRICS)) == 1


def test_other_conditions_are_told(kept):
    assert references.conditions(kept, kept) == []
    machine = {"machine": {"blas": ["openblas 0.3 Other"], "processor": "Other"}}
    few = {k: v[:2] for k, v in kept.values.items()}
    other = replace(kept, values=few, study=kept.study | machine)
    blas, processor, trials = sorted(references.conditions(kept, other))
    assert blas.endswith("and this run openblas 0.3 Other")
    assert processor.endswith("and this run Other")
    assert trials == "the reference has trials 4, and this run 2"


def test_the_papers_scenarios_have_references_of_their_size():
    assert {s.id for s in KEPT} >= {"srinivas2010/se-1d", "srinivas2010/temperature"}
    for scenario in KEPT:
        kept = evidence.load(scenario.id)
        assert (kept.trials, kept.horizon) == (scenario.trials, scenario.horizon)
        labels = {e.label for e in (*scenario.agents, *scenario.alternatives)}
        assert all(set(kept.labels(cell)) == labels for cell in range(len(kept.points)))
        batches = [cell.scenario.env_kwargs.get("batch_size", 1) for cell in scenario.cells()]
        assert kept.batch == {i: m for i, m in enumerate(batches) if m > 1}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore:the kernel .* is too rough for an exact filter")
@pytest.mark.parametrize("scenario", KEPT, ids=lambda s: s.id)
def test_a_trial_has_the_values_that_are_kept(scenario):
    try:
        make_env(scenario.env, scenario.env_kwargs, scenario.horizon)
    except MissingData as missing:
        pytest.skip(str(missing))
    says = CliRunner().invoke(main, ["reference", scenario.id, "--trials", "1"]).output
    same = "the values of 1 trial are those of the reference" in says
    # On another processor, rounding may change the course of a trial, also with the same code of
    # BLAS, whose blocks follow the caches: at most a tenth of its values then lie beyond 4 standard
    # errors, because the values of trials are skewed.
    elsewhere = "the reference has BLAS" in says or "the reference has processor" in says
    moved, beyond = says.count("1 of 1 trials"), says.count("differs: ")
    assert same or (elsewhere and beyond <= 0.1 * moved), says


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


def test_the_more_trials_the_fewer_rounds_are_kept():
    quarters, powers = [250, 500, 750, 1000], [1, 4, 12, 43, 152]
    assert evidence.rounds_kept(1000, 501).tolist() == quarters
    assert evidence.rounds_kept(1000, 26).tolist() == powers + quarters
    every = evidence.rounds_kept(1000, 25)
    assert len(every) == 23
    assert {*powers, *quarters, 2, 83, 534, 917} < {*every.tolist()}
    for id in ("srinivas2010/temperature", "srinivas2010/se-1d", "bedi2022/example"):
        kept = evidence.load(id)
        np.testing.assert_array_equal(kept.rounds, evidence.rounds_kept(kept.horizon, kept.trials))


def test_a_trial_that_differs_is_told(stored):
    with Store.open(stored) as store:
        kept, now = evidence.gather(store), evidence.gather(store)
    assert evidence.differences(kept, now) == []
    now.values[1, "ei", "average_regret"][2, -1] *= 1.0 + 1e-6
    assert evidence.differences(kept, now) == []
    now.values[1, "ei", "average_regret"][2, -1] *= 1.0 + 1e-3
    told = "ei, average_regret, {'noise_var': 0.1}: 1 of 4 trials, the first being 2"
    assert evidence.differences(kept, now) == [told]
    kept.values[0, "ei", "simple_regret"][0, -1] = np.nan
    now.values[0, "ei", "simple_regret"][0, -1] = np.nan
    assert evidence.differences(kept, now) == [told]
    del kept.values[0, "ei", "simple_regret"]
    assert evidence.differences(kept, now) == ["ei, simple_regret: no values are kept", told]


def test_only_the_trials_before_a_missing_one_are_evidence(run, tiny, monkeypatch):
    whole, missing = study.plan, (TrialKey(1, "ei", 2), TrialKey(1, "random", 0))
    monkeypatch.setattr(study, "plan", lambda *a: [t for t in whole(*a) if t.key not in missing])
    with Store.open(run().path) as store:
        kept = evidence.gather(store)
        every = curves_of(store, 1, "ei", "average_regret")
    assert kept.labels(1) == ["gp-ucb", "ei"]
    assert len(every) == 3
    found = kept.curve(1, "ei", "average_regret")
    np.testing.assert_allclose(found, every[:2, kept.rounds - 1], rtol=1e-6)
    assert len(kept.curve(1, "gp-ucb", "average_regret")) == 4
    assert kept.trials == 2


def test_a_processor_without_some_instructions_is_another(monkeypatch):
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES", raising=False)
    whole = references.machine()
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "AVX2")
    assert references.machine()["processor"] == f"{whole['processor']} without AVX2"
