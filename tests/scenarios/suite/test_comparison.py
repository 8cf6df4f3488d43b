"""Comparisons over scenarios, against worked examples and brute force."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.results import evidence
from gpbandits_env.scenarios.results.statistics import LIMITS, holm
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study.run import run_study
from gpbandits_env.scenarios.suite import comparison
from gpbandits_env.scenarios.suite.archive import archived
from gpbandits_env.scenarios.suite.card import SHARES, card
from gpbandits_env.scenarios.suite.comparison import gather
from gpbandits_env.scenarios.suite.rows import Row

CARD = ("core-v1/se", "core-v1/kernel")
REGRETS = {
    "easy": {"a": np.array([0.0, 1.0, 2.0, 3.0]), "b": np.array([2.0, 3.0, 4.0, 5.0])},
    "hard": {"a": np.array([10.0, 30.0]), "b": np.array([20.0, 20.0])},
}


def compare(regrets, *args, **kwargs):
    """The comparison of agents by their regret after a single round."""
    one = np.array([1])
    rows = [
        Row(agent, id, one, regret[:, None], np.nan, "")
        for id, runs in regrets.items()
        for agent, regret in runs.items()
    ]
    return comparison.compare({(row.agent, row.problem): row for row in rows}, *args, **kwargs)


def last(field):
    """Problem -> agent -> the regret of its trials after the last round."""
    found = {}
    for (agent, id), row in field.items():
        found.setdefault(id, {})[agent] = row.regret[:, -1]
    return found


def test_scores_of_a_worked_example():
    found = compare(REGRETS, resamples=50)
    by_label = {s.label: s for s in found.agents}
    # In "easy" the means are 1.5 and 3.5, and the scores -.75, -.25, .25, .75, each an eighth of
    # all; in "hard" the means are equal: both scores are 0, each a quarter, and the middle half.
    assert by_label["a"].score.value == pytest.approx(0.0)
    assert [row[:4] for row in found.standings()[1]] == [
        ["a", "2", "1.25", "2"],
        ["b", "2", "1.75", "1"],
    ]
    assert found.agents[0].label == "a"


def test_probability_of_improvement_is_that_of_all_pairs():
    found = compare(REGRETS, resamples=50)
    wins = []
    for runs in REGRETS.values():
        below = [(x < y) + 0.5 * (x == y) for x in runs["a"] for y in runs["b"]]
        wins.append(np.mean(below))
    assert found.improvement["a"]["b"].value == pytest.approx(np.mean(wins))
    assert found.improvement["b"]["a"].value == pytest.approx(1.0 - np.mean(wins))


def test_agents_of_different_numbers_of_trials():
    runs = {"a": np.array([1.0, 4.0, 4.0]), "b": np.array([2.0, 4.0, 5.0, 6.0, 0.0])}
    below = [(x < y) + 0.5 * (x == y) for x in runs["a"] for y in runs["b"]]
    found = compare({"w": runs}, resamples=10).improvement
    assert found["a"]["b"].value == pytest.approx(np.mean(below))
    assert found["b"]["a"].value == pytest.approx(1.0 - np.mean(below))


def test_intervals_of_improvement_are_those_of_both_agents_trials():
    """Against one regret the share of others below it is binomial when they are drawn anew."""
    k, below = 40, 12
    runs = {"one": np.array([1.0]), "many": np.repeat([0.0, 2.0], [below, k - below])}
    found = compare({"w": runs}, resamples=20_000).improvement
    share = stats.binom(k, below / k).ppf([0.025, 0.975]) / k
    assert (found["many"]["one"].low, found["many"]["one"].high) == pytest.approx(share)
    other = found["one"]["many"]
    assert (other.low, other.high) == pytest.approx(1.0 - share[::-1])
    # Of two trials all four draws are as likely, the last twice too.
    two = compare({"w": {"a": np.array([0.0, 2.0]), "b": np.array([1.0])}}, resamples=500)
    assert (two.improvement["a"]["b"].low, two.improvement["a"]["b"].high) == (0.0, 1.0)


def test_the_middle_half_of_the_scores_counts():
    """Eight runs, two of them failures: a quarter is left out at either end, drawn anew or not."""
    x = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -100.0, -200.0])
    runs = {"zero": np.zeros(8), "one": np.ones(8), "x": 1.0 - x}
    regrets = {"w": runs}
    found = next(s for s in compare(regrets, resamples=20_000).agents if s.label == "x").score
    worst = runs["x"].mean()  # the scores' 1, and "zero" their 0
    assert found.value == pytest.approx((1.0 - np.array([0.1, 0.2, 0.3, 0.4])).mean() / worst)
    drawn = np.random.default_rng(9).choice(runs["x"], (20_000, 8)) / worst
    middle = np.sort(drawn, axis=1)[:, 2:-2].mean(axis=1)
    low, high = np.quantile(middle, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02 * (high - low))


def test_views_before_the_last_round():
    rounds = np.array([1, 3, 6, 12])
    falling = np.array([[8.0, 4.0, 2.0, 1.0], [8.0, 4.0, 4.0, 3.0]])
    level = np.full((2, 4), 8.0)
    field = {
        (k, "w"): Row(k, "w", rounds, v, np.nan, "") for k, v in (("a", falling), ("b", level))
    }
    found = comparison.compare(field, resamples=2)
    # Scores go from 2, the mean of a after the last round, to 8, that of b.
    at = dict(zip(SHARES, found.anytime["a"], strict=True))
    for share, regret in ((1 / 12, 8.0), (3 / 12, 4.0), (5 / 12, 4.0), (0.5, 3.0), (1.0, 2.0)):
        assert at[share] == pytest.approx((regret - 2.0) / 6.0)
    assert set(found.anytime["b"]) == {1.0}
    goals = 8.0 * (2.0 / 8.0) ** (np.arange(1, 21) / 20)
    for index, now in enumerate(found.rounds):
        seen = [curve[sum(rounds <= now) - 1 :].max() for curve in falling]
        want = np.mean([most <= goal * (1 + 1e-12) for most in seen for goal in goals])
        assert found.runtimes["a"][index] == pytest.approx(want)
    assert found.runtimes["b"][-1] == 0.0


def test_scores_against_a_reference():
    runs = {
        name: each | {"genie": np.array([low]), "random": np.array([low + 20.0])}
        for (name, each), low in zip(REGRETS.items(), (0.0, 10.0), strict=True)
    }
    found = compare(runs, resamples=50)
    assert "0 for the oracle (or the best agent) and 1 for random, lower is better" in found.method
    easy, hard = REGRETS["easy"]["a"] / 20.0, (REGRETS["hard"]["a"] - 10.0) / 20.0
    agent = next(s for s in found.agents if s.label == "a")
    # Both scenarios weigh the same: each trial of "hard" stands for two.
    both = np.sort(np.concatenate([easy, hard.repeat(2)]))
    assert agent.score.value == pytest.approx(both[2:-2].mean())
    shares = [(each <= LIMITS[:, None]).mean(axis=1) for each in (easy, hard)]
    assert np.allclose(found.profiles["a"][0], np.mean(shares, axis=0))


def test_a_comparison_has_the_scores_of_a_card():
    rows = {key: row for key, row in archived("core-v1").items() if key[1] in CARD}
    of = card(rows, "gp-ucb", resamples=2)
    played = [agent.label for agent in of.agents if agent.problems == len(CARD)]
    regrets = {id: {a: rows[a, id].regret[:, -1] for a in played} for id in CARD}
    found = compare(regrets, resamples=2)
    assert "0 for the oracle (or the best agent) and 1 for random, lower" in found.method
    on_card = {agent.label: agent.score.value for agent in of.agents if agent.label in played}
    assert {a.label: a.score.value for a in found.agents} == pytest.approx(on_card)


def test_random_that_is_no_worse_than_the_best_agent_is_not_score_1():
    runs = {"random": np.full(7, 1.0), "a": np.full(7, 2.0), "b": np.full(7, 4.0)}
    fine = {"random": np.full(7, 4.0), "a": np.full(7, 2.0), "b": np.full(7, 3.0)}
    found = compare({"odd": runs, "fine": fine}, resamples=2)
    assert [found.scales["odd"].zero, found.scales["odd"].one] == [1.0, 4.0]
    (note,) = found.notes
    assert note == "score 1 is the worst agent where random is no worse than the best one: odd"
    assert not compare({"fine": fine}, resamples=2).notes


def test_an_oracle_that_is_no_better_than_random_is_not_score_0():
    """A drift may leave nothing of what it knows. The scores would all be 0, or turned round."""
    regrets = {"a": 0.5, "b": 0.75, "random": 1.0, "genie": 1.0}
    for genie in (1.0, 1.25):
        means = regrets | {"genie": genie}
        found = compare({"x": {k: np.full(9, mean) for k, mean in means.items()}}, resamples=10)
        scores = {a.label: a.score.value for a in found.agents}
        assert scores == {"a": 0.0, "b": 0.5, "random": 1.0, "genie": 2.0 * genie - 1.0}
        (note,) = found.notes
        assert note == "score 0 is the best agent where genie is no better than score 1: x"


@pytest.mark.slow
def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(100):
        # The mean of "zero" and "one" is exact, so that the scores are the regrets.
        runs = {"zero": np.zeros(40), "one": np.ones(40), "x": rng.normal(0.5, 0.2, 40)}
        found = next(s for s in compare({"w": runs}, resamples=200).agents if s.label == "x").score
        covered += found.low <= 0.5 <= found.high
    assert 85 <= covered <= 100


def test_intervals_are_the_same_whenever_they_are_computed():
    once, again = (compare(REGRETS, resamples=50).to_dict() for _ in range(2))
    assert once == again


SUITE = [
    Scenario(
        id=f"test/{arms}",
        source="a test",
        title="small",
        env="gpbandits/StaticGP-v0",
        env_kwargs={"grid": [arms]},
        agents=tuple(AgentEntry(n, n) for n in ("gp-ucb", "random", third)),
        horizon=15,
        trials=4,
    )
    for arms, third in ((20, "ei"), (30, "ts"))
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    paths = [folder / f"{i}.sqlite" for i in range(2)]
    for scenario, path in zip(SUITE, paths, strict=True):
        run_study(scenario, path, jobs=1, progress=False)
    return paths


def test_notes_on_the_numbers_of_trials():
    assert not any("no spread" in note for note in compare(REGRETS, resamples=10).notes)
    one = {k: v[:1] for k, v in REGRETS["hard"].items()}
    assert any("no spread" in note for note in compare({"w": one}, resamples=10).notes)


@pytest.mark.parametrize(("agents", "needed"), [("ab", 6), ("abc", 7)])
def test_trials_that_are_too_few_for_any_test_are_noted(agents, needed):
    """One agent has the lower regret in all trials."""
    for trials in (needed - 1, needed):
        regrets = {agent: np.arange(trials) + k for k, agent in enumerate(agents)}
        found = compare({"w": regrets}, resamples=10)
        few = f"{trials} paired trials cannot show a difference at 5%, however large, in "
        said = [note for note in found.notes if note.startswith(few)]
        assert len(said) == (trials < needed) == all(not test.better for test in found.tests)
        assert all(note.endswith(f"needs at least {needed}") for note in said)


def test_trials_that_not_all_agents_have_run_are_told():
    curve = np.array([1.0])
    runs = {"a": dict.fromkeys(range(3), curve), "b": dict.fromkeys((0, 2), curve)}
    source = comparison.Source(np.array([1]), runs)
    with pytest.warns(UserWarning, match="only 2 of 3 trials of x count: not all"):
        found = comparison._in_common({"x": [source]}, None)
    assert [row.trials for row in found.values()] == [2, 2]


def test_nothing_is_given_twice(files):
    with pytest.raises(InvalidInput, match="is given twice"):
        gather([files[0], files[0].parent / "." / files[0].name], "simple_regret")
    with pytest.raises(InvalidInput, match="agent gp-ucb is given twice"):
        gather(files, "simple_regret", ["gp-ucb", "gp-ucb"])


def test_agents_in_common_are_compared(files, tmp_path):
    regrets = last(gather(files, "average_regret"))
    assert {tuple(runs) for runs in regrets.values()} == {("gp-ucb", "random")}
    copies = [shutil.copy(files[0], tmp_path / f"{i}.sqlite") for i in range(2)]
    again = last(gather([files[0], *copies], "simple_regret"))
    assert set(again) == {"test/20", "test/20 (2)", "test/20 (3)"}


def test_files_of_one_study_with_other_agents_are_joined(tmp_path):
    paths = [tmp_path / f"{name}.sqlite" for name in ("gp-ucb", "random")]
    for path in paths:
        run_study(SUITE[0].select([path.stem]), path, jobs=1, progress=False)
    (found,) = last(gather(paths, "average_regret")).values()
    assert {k: len(v) for k, v in found.items()} == {"gp-ucb": 4, "random": 4}
    run_study(SUITE[0].select(["random"]), paths[1], jobs=1, seed=1, fresh=True, progress=False)
    with pytest.raises(InvalidInput, match="at least two agents that all files have, got none"):
        gather(paths, "average_regret")


def test_files_of_several_seeds_are_joined_by_seed(tmp_path):
    paths = [tmp_path / f"{name}{seed}.sqlite" for name in ("gp-ucb", "random") for seed in (0, 1)]
    for path in paths:
        chosen = SUITE[0].select([path.stem[:-1]])
        run_study(chosen, path, jobs=1, seed=int(path.stem[-1]), progress=False)
    found = last(gather(paths, "average_regret"))
    for name, of_seed in (("test/20", paths[::2]), ("test/20 (2)", paths[1::2])):
        (alone,) = last(gather(of_seed, "average_regret")).values()
        np.testing.assert_equal(found.pop(name), alone)
    assert not found


def test_a_swept_horizon_is_that_of_each_cell(tmp_path):
    swept = replace(SUITE[0], grid={"horizon": (10, 40)})
    outcome = run_study(swept, tmp_path / "x.sqlite", jobs=1, progress=False)
    result, field = outcome.report(), gather([outcome.path], "average_regret")
    for cell in result.cells:
        for agent in ("gp-ucb", "random"):
            row = field[agent, f"test/20 horizon={cell.params['horizon']}"]
            (said,) = (a.mean["average_regret"] for a in cell.agents if a.label == agent)
            assert row.rounds[-1] == cell.params["horizon"]
            assert row.regret[:, -1].mean() == pytest.approx(said)
    assert "4 trials of 10 to 40 rounds" in str(result)


def test_scores_of_agents_that_do_not_differ_are_noted():
    same = np.random.default_rng(0).normal(size=(2, 20))
    (note,) = compare({"w": {"a": same[0], "b": same[1]}}, resamples=10).notes
    assert "no agent differs" in note


@pytest.mark.parametrize(
    ("agents", "error", "words"),
    [
        (["gp-ucb", "ei"], InvalidInput, "at least two agents"),
        (["gp-ucb", "ebi"], UnknownName, "did you mean 'ei'"),
    ],
)
def test_agents_that_cannot_be_compared(files, agents, error, words):
    with pytest.raises(error, match=words):
        gather(files, "average_regret", agents)


def test_the_command(files, tmp_path):
    names = [str(f) for f in files]
    run = CliRunner().invoke(main, ["compare", *names, "--out", str(tmp_path / "all")])
    assert run.exit_code == 0, run.output
    assert "probability that the agent of the row beats the agent of the column" in run.output
    assert (tmp_path / "all.png").stat().st_size > 10_000
    run = CliRunner().invoke(main, ["compare", *names, "--json", "--baseline", "random"])
    plain = json.loads(run.output)
    assert {s["label"] for s in plain["agents"]} == {"gp-ucb", "random"}
    share, low, high = np.array(plain["profiles"]["gp-ucb"])
    assert len(plain["profile_scores"]) == len(share)
    assert (low <= high).all()
    assert plain["anytime"].keys() == plain["runtimes"].keys() == {"gp-ucb", "random"}
    assert len(plain["anytime"]["gp-ucb"]) == len(plain["shares"])


@pytest.mark.parametrize("name", ["nobody", ""])
def test_an_unknown_baseline_ends_with_code_2(files, name):
    run = CliRunner().invoke(main, ["compare", str(files[0]), "--baseline", name])
    assert run.exit_code == 2
    assert f"no agent in these files named {name!r}" in run.output


def test_agents_are_tested_trial_by_trial():
    rng = np.random.default_rng(0)
    worlds = rng.exponential(size=30)
    runs = {"a": worlds, "b": worlds + 0.1 + 0.05 * rng.random(30), "c": worlds.copy()}
    found = {(t.a, t.b): t for t in compare({"w": runs}, resamples=10).tests}
    normal = {"method": "asymptotic", "correction": False}
    p = [
        1.0 if a + b == "ac" else stats.wilcoxon(runs[a] - runs[b], **normal).pvalue
        for a, b in found
    ]
    assert [t.p for t in found.values()] == pytest.approx(holm(p))
    assert {pair: t.better for pair, t in found.items()} == {
        ("a", "b"): "a",
        ("a", "c"): "",
        ("c", "b"): "c",
    }
    found = compare({"w": runs}, baseline="b", resamples=10)
    assert {(t.a, t.b) for t in found.tests} == {("b", "a"), ("b", "c")}
    assert found.sentence == (
        "On 1 problem, b has lower regret than none of 2 agents, higher regret than 2, and no "
        "clear difference from none, paired over 30 trials (Holm, 5%)."
    )


@pytest.mark.slow
def test_agents_that_do_not_differ_are_seldom_told_apart():
    """Trials that are shuffled between labels: few experiments have any pair below 5%."""
    rng, false = np.random.default_rng(1), 0
    for _ in range(100):
        worlds = rng.exponential(size=(12, 1)) + rng.exponential(size=(12, 7))
        runs = {str(k): column for k, column in enumerate(worlds.T)}
        false += any(t.better for t in compare({"w": runs}, resamples=2).tests)
    assert false <= 8


def kept_of(path, folder):
    """The evidence in a results file, saved and loaded."""
    (folder / "reference").mkdir()
    with Store.open(path) as store:
        evidence.save(evidence.gather(store), folder / "reference/test.npz")
    return evidence.load("test", folder)


def test_kept_trials_of_a_reference_stand_beside_own_ones(monkeypatch, files, tmp_path):
    kept = kept_of(files[0], tmp_path)
    monkeypatch.setattr(evidence, "load", lambda id: kept if id == "test/20" else None)
    alone = last(gather(["reference:test/20"], "average_regret"))
    field = gather([files[0], "reference:test/20"], "average_regret")
    both = last(field)
    assert list(both) == list(alone) == ["test/20"]
    for label, runs in both["test/20"].items():
        np.testing.assert_array_equal(runs, alone["test/20"][label])
    row = field["ei", "test/20"]
    np.testing.assert_array_equal(row.rounds, kept.rounds)
    np.testing.assert_array_equal(row.regret, kept.curve(0, "ei", "average_regret"))
    other = replace(kept, study={"seed": 7})
    monkeypatch.setattr(evidence, "load", lambda id: other if id == "test/20" else None)
    with pytest.raises(InvalidInput, match=r"has seed 0, and the reference results .* have 7"):
        gather([files[0], "reference:test/20"], "average_regret")
    for id in ("srinivas2010/traffic-i880", "core-v1/se"):
        with pytest.raises(InvalidInput, match=r"are kept: run the scenario, or .* suite run"):
            gather([f"reference:{id}"], "average_regret")
    with pytest.raises(UnknownName, match=r"no scenario named .*did you mean 'srinivas2010/se-1d'"):
        gather(["reference:srinivas2010/se1d"], "average_regret")


def test_results_of_another_environment_do_not_join_a_reference(monkeypatch, files):
    with Store.open(files[0]) as store:
        kept = evidence.gather(store)
    monkeypatch.setattr(evidence, "load", lambda id: kept)
    other = SUITE[0].changed({"noise_var": 0.5})
    monkeypatch.setattr(registry, "scenarios", lambda: {"test/20": other})
    with pytest.raises(InvalidInput, match=r"has env_kwargs.noise_var .* test/20 have 0.5: run it"):
        gather([files[0], "reference:test/20"], "average_regret")
    monkeypatch.setattr(registry, "scenarios", lambda: {"test/20": SUITE[0]})
    assert gather([files[0], "reference:test/20"], "average_regret")


def test_trials_of_one_unit_count_once(monkeypatch, files, tmp_path):
    """Trials 0 and 2 replay one day, trials 1 and 3 another: there are two of them, not four."""
    kept = kept_of(files[0], tmp_path)
    units = np.array([5, 9, 5, 9])
    monkeypatch.setattr(evidence, "load", lambda id: replace(kept, units={0: units}))
    for paths in (["reference:test/20"], [files[0], "reference:test/20"]):
        for label, found in last(gather(paths, "average_regret"))["test/20"].items():
            values = kept.curve(0, label, "average_regret")[:, -1]
            np.testing.assert_allclose(found, [values[[0, 2]].mean(), values[[1, 3]].mean()])


def test_the_table_for_a_paper(files):
    run = CliRunner().invoke(main, ["compare", *map(str, files), "--latex", "--baseline", "gp-ucb"])
    assert run.output.count(r"\\") == 3
    for word in (r"\toprule", "gp-ucb &", "2 problems", "paired over 8 trials", r"\end{table}"):
        assert word in run.output


def test_a_picture_of_references_alone_stands_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(main, ["compare", "reference:context/product"])
    assert run.exit_code == 0, run.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["comparison.png", "comparison.svg"]
