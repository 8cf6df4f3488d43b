"""The card: worked examples, independent computations, and a null experiment."""

import re
from dataclasses import replace
from html import unescape
from itertools import combinations
from shutil import which
from subprocess import run

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy import stats

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.scenarios.results.statistics import LIMITS
from gpbandits_env.scenarios.suite import suites
from gpbandits_env.scenarios.suite.archive import archived
from gpbandits_env.scenarios.suite.card import card, duration
from gpbandits_env.scenarios.suite.card_figure import single_figures
from gpbandits_env.scenarios.suite.card_page import latex, page, save_card
from gpbandits_env.scenarios.suite.rows import Row, log_spaced
from gpbandits_env.scenarios.suite.scores import scales_of, standings

HORIZONS = {"made/flat": 50, "made/hard": 200, "made/box": 30}
SCALES = {"made/flat": 1.0, "made/hard": 1e4, "made/box": 1e-3}
TAGS = {"made/flat": ("smooth",), "made/hard": ("smooth", "noisy"), "made/box": ("box",)}
TRIALS = {"made/flat": 30, "made/hard": 30, "made/box": 10}


def made(levels, problems=tuple(HORIZONS), seed=0, seconds=1e-3):
    """Rows in which the regret of an agent falls from 1 to its level, at the scale of a problem."""
    rng, field = np.random.default_rng(seed), {}
    for id in problems:
        rounds, trials = log_spaced(HORIZONS[id]), TRIALS[id]
        instance = rng.lognormal(0.0, 0.3, (trials, 1))
        for agent, level in levels.items():
            noise = rng.lognormal(0.0, 0.3, (trials, 1))
            curve = level + (1.0 - level) / rounds
            regret = SCALES[id] * instance * (level > 0) * noise * curve
            field[agent, id] = Row(agent, id, rounds, regret, seconds, "abc", version="0.1")
    return field


LEVELS = {"genie": 0.0, "random": 1.0, "good": 0.2, "mine": 0.4, "twin": 0.4, "poor": 0.7}


@pytest.fixture(scope="module")
def field():
    return made(LEVELS)


@pytest.fixture(scope="module")
def found(field):
    return card(field, "mine", TAGS, resamples=200)


def test_the_sentence_counts_agents_that_differ(found):
    assert found.sentence == (
        "On 3 problems of made, mine has lower regret than 2 of 4 agents, higher regret than 1, "
        "and no clear difference from 1, paired over 70 trials (Holm, 5%)."
    )
    assert {t.b: t.better for t in found.tests} == {
        "good": "good",
        "twin": "",
        "poor": "mine",
        "random": "mine",
    }


def test_a_score_is_the_middle_mean_of_regret_relative_to_random(found, field):
    scores = [
        field["mine", id].regret[:, -1] / field["random", id].regret[:, -1].mean() for id in TRIALS
    ]
    alike = np.sort(np.concatenate([s.repeat(30 // len(s)) for s in scores]))
    # A quarter of 90 is 22.5: the values at the quartiles count half.
    middle = (alike[23:67].sum() + 0.5 * (alike[22] + alike[67])) / 45
    assert found.own.score.value == pytest.approx(middle)
    assert found.own.score.low < middle < found.own.score.high
    assert [a.label for a in found.agents][:2] == ["genie", "good"]
    score, count = found.tags["smooth"]
    assert count == 2
    assert score.value == pytest.approx(found.own.tags["smooth"])
    assert found.tags["box"][1] == 1


def test_the_newcomer_changes_no_score_of_another(field):
    best = {k: row for k, row in field.items() if k[0] not in ("genie", "good")}
    scales = scales_of(best, "mine")
    with_mine = {s.label: s for s in standings(best, TAGS, scales=scales, resamples=20)}
    without = {k: row for k, row in best.items() if k[0] != "mine"}
    for standing in standings(without, TAGS, resamples=20):
        assert standing == with_mine[standing.label]


def test_random_and_the_oracle_set_the_scale_also_as_newcomers(field):
    assert scales_of(field, "random") == scales_of(field, "genie") == scales_of(field)


def test_the_time_of_an_agent_is_a_geometric_mean_over_problems():
    slow = made(LEVELS, ("made/flat",), seconds=1e-1)
    fast = made(LEVELS, ("made/hard",), seconds=1e-5)
    for standing in standings(slow | fast, resamples=20):
        assert standing.seconds == pytest.approx(1e-3)


def test_performance_profiles_are_shares_of_trials(found, field):
    share = found.profiles["mine"][0]
    for limit in (20, 60, 100):
        below = [
            np.mean(field["mine", id].regret[:, -1] <= LIMITS[limit] * mean)
            for id in TRIALS
            for mean in [field["random", id].regret[:, -1].mean()]
        ]
        assert share[limit] == pytest.approx(np.mean(below))
    assert (found.profiles["mine"][1] <= share).all()
    assert (share <= found.profiles["mine"][2]).all()


def test_runtime_profiles_agree_with_a_count(found, field):
    """The targets of a problem go from random's to the best agent's mean, the genie apart."""
    for index in (0, len(found.rounds) // 2, -1):
        shares = []
        for id, trials in TRIALS.items():
            top = field["random", id].regret[:, -1].mean()
            best = field["good", id].regret[:, -1].mean()
            hits = 0
            for k in range(1, 21):
                target = top * (best / top) ** (k / 20) * (1 + 1e-12)
                for curve in field["mine", id].regret:
                    now = sum(field["mine", id].rounds <= found.rounds[index]) - 1
                    hits += all(curve[now:] <= target)
            shares.append(hits / (20 * trials))
        assert found.runtimes["mine"][index] == pytest.approx(np.mean(shares))
    assert (np.diff(found.runtimes["mine"]) >= 0.0).all()
    assert found.runtimes["good"][-1] > found.runtimes["mine"][-1] > found.runtimes["random"][-1]


def test_an_agent_against_itself_is_no_difference(field):
    alone = {k: row for k, row in field.items() if k[0] == "good"}
    both = alone | {("again", id): replace(row, agent="again") for (_, id), row in alone.items()}
    found = card(both, "again", resamples=20)
    assert "made, again has no clear difference from good, paired over" in found.sentence
    assert found.tests[0].p == 1.0
    many = field | {k: row for k, row in both.items() if k[0] == "again"}
    assert {t.b: t.better for t in card(many, "again", resamples=20).tests}["good"] == ""


def test_a_field_of_one_agent_or_one_problem():
    alone = card(made({"mine": 0.5}), "mine", TAGS, resamples=20)
    assert alone.sentence == "There is no agent to compare mine with."
    assert (alone.scales, alone.ranking, alone.tests) == ({}, None, ())
    assert any("have no scores" in note for note in alone.notes)
    assert "nan" not in str(alone)
    one = card(made(LEVELS, ["made/box"]), "mine", TAGS, resamples=20)
    assert one.tags.keys() == {"box"}
    assert one.ranking is None
    assert "paired over 10 trials" in one.sentence
    assert any("two problems" in note for note in one.notes)
    with pytest.raises(UnknownName, match="nobody"):
        card(made(LEVELS), "nobody")
    with pytest.raises(UnknownName, match="mine"):
        card({}, "mine")


def test_without_a_newcomer_every_pair_with_a_problem_in_common_is_tested(tmp_path):
    apart = {("good", "made/box"), ("twin", "made/flat"), ("twin", "made/hard")}
    field = {k: v for k, v in made(LEVELS).items() if k not in apart}
    found = card(field, "", TAGS, resamples=20)
    labels = ("random", "good", "mine", "twin", "poor")
    pairs = {frozenset(pair) for pair in combinations(labels, 2)} - {frozenset(("good", "twin"))}
    assert {frozenset((t.a, t.b)) for t in found.tests} == pairs
    assert found.profiles.keys() == LEVELS.keys()
    assert "lower regret by paired trials" in str(found)
    assert len(save_card(found, tmp_path / "all")) == 5


def test_absent_rows_are_stated():
    gone = {("poor", "made/hard"), ("mine", "made/flat"), ("genie", "made/box")}
    field = {k: row for k, row in made(LEVELS).items() if k not in gone}
    field |= made({"elsewhere": 0.5}, ["made/flat"])
    found = card(field, "mine", TAGS, resamples=20)
    said = "\n".join(found.notes)
    for words in (
        "mine has no row on made/flat",
        "for want of an oracle, on made/box",
        "not compared: elsewhere",
        "fewer than its 2 problems: poor (1)",
        "without rows on all their problems: poor, elsewhere",
    ):
        assert words in said
    assert "of 4 agents" in found.sentence
    assert "paired over 10 to 40 trials" in found.sentence
    assert set(found.ranking.problems) == {"made/hard", "made/box"}
    assert [row[0] for row in found.tables()["problems"][1]] == ["made/hard", "made/box"]


def test_trials_are_paired_by_their_number():
    field = made(LEVELS)
    short = {
        k: replace(row, regret=row.regret[:5]) if k[0] == "mine" else row
        for k, row in field.items()
    }
    assert "paired over 15 trials" in card(short, "mine", resamples=20).sentence
    cut = {
        k: replace(row, regret=row.regret[:5]) if k[0] in ("mine", "good") else row
        for k, row in field.items()
    }
    p = {t.b: t.effect for t in card(short, "mine", resamples=20).tests}
    assert p["good"] == {t.b: t.effect for t in card(cut, "mine", resamples=20).tests}["good"]
    # A regret that is larger by a thousandth in every trial: instances differ by far more.
    close = {
        ("close", id): replace(row, agent="close", regret=1.001 * row.regret)
        for (agent, id), row in field.items()
        if agent == "mine"
    }
    (against,) = (t for t in card(field | close, "mine", resamples=20).tests if t.b == "close")
    assert against.effect == pytest.approx(1.0)


def test_rows_of_other_problems_are_refused(field):
    id = "made/hard"
    for other in (
        replace(field["mine", id], frozen="other"),
        replace(field["mine", id], rounds=field["mine", id].rounds + 1),
    ):
        with pytest.raises(InvalidInput, match="made/hard are of different problems"):
            card(field | {("mine", id): other}, "mine")


def test_scales_without_random_or_oracle(field):
    some = {k: row for k, row in field.items() if k[0] in ("good", "poor", "mine")}
    scale = scales_of(some, "mine")["made/hard"]
    assert (scale.oracle, scale.random) == (False, False)
    means = [field[k, "made/hard"].regret[:, -1].mean() for k in ("good", "poor")]
    assert [scale.zero, scale.one] == pytest.approx(means)


def test_the_text_has_every_agent_problem_and_tag(found, field):
    said = " ".join(str(found).split())
    for word in (
        *LEVELS,
        *HORIZONS,
        "smooth",
        "noisy",
        "Friedman",
        "Holm",
        "made, gpbandits-env 0.1;",
        "mean rank 2.67 (place 3 of 5 agents).",
        "and -1 if it has the lower one",
        "among the agents that play the problem",
    ):
        assert word in said
    assert re.search(r"\n  good .* lower than mine ", str(found))
    assert re.search(r"\n  poor .* higher than mine ", str(found))
    assert max(map(len, str(found).splitlines())) <= 100
    assert "Archived trials keep the version" not in said
    older = {
        key: replace(row, version="0.0") if key[0] == "good" else row for key, row in field.items()
    }
    both = " ".join(str(card(older, "mine", TAGS, resamples=20)).split())
    versions = "made, gpbandits-env 0.0, 0.1; 3 problems."
    assert f"{versions} Archived trials keep the version" in both
    assert len({line.rstrip() for line in str(found).splitlines()}) >= 20
    assert [duration(s) for s in (1.3e-5, 2.14e-3, 0.1504, 12.34)] == [
        "13 us",
        "2.1 ms",
        "150 ms",
        "12.3 s",
    ]


def test_a_card_is_a_page_a_picture_and_a_table(found, tmp_path):
    files = save_card(found, tmp_path / "made" / "mine")
    assert [f.name for f in files] == [
        f"mine.{kind}" for kind in ("html", "txt", "tex", "png", "svg")
    ]
    shown = files[0].read_text("utf-8")
    assert not re.search(r'(?:src|href)="(?!#)', shown)
    text = unescape(re.sub(r"<[^>]+>", " ", shown))
    assert shown.startswith("<!doctype html>")
    for word in (found.sentence, "Critical differences", "Runtime profiles", *LEVELS, *HORIZONS):
        assert word in text
    assert shown.count("<svg") == 5
    assert files[1].read_text("utf-8") == f"{found}\n"
    assert files[3].stat().st_size > 50_000
    table = files[2].read_text("utf-8")
    assert table.count(r" \\") == 1 + len(LEVELS)
    for word in (
        found.sentence.replace("%", r"\%"),
        "made, gpbandits-env 0.1",
        "3 problems",
        "signed ranks",
        r"\label{tab:card-mine}",
        "and $-$1 if it has the lower one",
        "< 0.001 & lower & 1 ms".replace("<", r"\textless{}"),
        "against that of mine.",
    ):
        assert word in table
    assert "<" not in table  # which LaTeX's usual fonts print as another character
    assert r"\textless{} 0.001" in table
    assert "& $-$" in table
    assert r"& p (Holm) & regret & per round \\" in table
    assert not re.search(r"[ &]-\d", table)
    assert shown.count('<tr class="own"><td>mine</td>') == 1


@pytest.mark.skipif(not which("pdflatex"), reason="needs pdflatex")
def test_the_table_of_all_agents_fits_on_a_page(tmp_path):
    found = latex(card(archived("core-v1"), "bma-gp-ucb", resamples=20))
    start = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    (tmp_path / "card.tex").write_text(f"{start}\n{found}\n\\end{{document}}\n")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "card.tex"]
    done = run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 page," in done.stdout
    assert "Overfull" not in done.stdout
    assert "too large" not in done.stdout


def test_names_beside_points_do_not_cover_each_other(field):
    close = {"good": 1.0, "mine": 1.05, "twin": 1.1, "poor": 0.9, "random": 1.0, "genie": 1.0}
    rows = {key: replace(row, seconds=1e-3 * close[key[0]]) for key, row in field.items()}
    rows |= {(a, id): replace(rows["mine", id], agent=a) for a in ("x", "y") for id in HORIZONS}
    drawn = single_figures(card(rows, "mine", TAGS, resamples=20))["score against time"]
    FigureCanvasAgg(drawn).draw()
    axes = drawn.axes[0]
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert {"mine", "good", "random"} <= set(boxes)
    assert not [(a, b) for a, b in combinations(boxes, 2) if boxes[a].overlaps(boxes[b])]


def test_a_card_without_scores_has_no_pictures(tmp_path):
    alone = card(made({"_mi$ne": 0.5}), "_mi$ne", TAGS, resamples=20)
    assert "no agent to compare" in page(alone)
    assert r"\_mi\$ne &" in latex(alone)
    assert len(save_card(alone, tmp_path / "alone")) == 5
    few = card(made(LEVELS, ["made/box"]), "mine", TAGS, resamples=20)
    assert page(few).count("<svg") == 3


def null_field(rng):
    """20 labels on 6 problems, whose trials are shuffled among the labels."""
    field, rounds = {}, np.array([1, 100])
    for problem in range(6):
        trials = 30 if problem < 4 else 10
        # Some of the twenty are far better than others before they are shuffled.
        values = rng.exponential(size=(trials, 1)) * rng.lognormal(
            np.linspace(-2, 2, 20), 0.5, (trials, 20)
        )
        values = rng.permuted(values, axis=1) * 10.0**problem
        for k in range(20):
            regret = np.stack([values[:, k]] * 2, axis=1)
            field[str(k), f"null/{problem}"] = Row(
                str(k), f"null/{problem}", rounds, regret, 1e-3, ""
            )
    return field


def false_statements(fields):
    """How many cards of a null experiment name an agent that differs, and how many a group."""
    found = [card(field, "0", resamples=2) for field in fields]
    sentences = sum(any(t.better for t in one.tests) for one in found)
    ranks = [one.ranking for one in found]
    groups = sum(not r.groups or len(r.groups[0]) < len(r.agents) for r in ranks)
    return sentences, groups


def test_a_null_experiment_seldom_says_that_agents_differ():
    rng = np.random.default_rng(0)
    most = stats.binom(200, 0.05).ppf(0.975)
    sentences, groups = false_statements(null_field(rng) for _ in range(200))
    assert sentences <= most
    assert groups <= most


def permuted_archive(rng):
    """The archived trials of twenty agents, exchanged between labels within each trial."""
    known = archived("core-v1")
    problems = [id for id in suites.problems("core-v1") if len(known["random", id].digests) == 30]
    every = {agent for agent, _ in known}
    agents = sorted(a for a in every if all((a, id) in known for id in problems))
    field = {}
    for id in problems:
        rows = [known[agent, id] for agent in agents[:20]]
        ends = rng.permuted(np.stack([row.regret[:, -1] for row in rows]), axis=0)
        for k, (row, end) in enumerate(zip(rows, ends, strict=True)):
            curve, rounds = np.stack([end] * 2, axis=1), row.rounds[[0, -1]]
            field[str(k), id] = replace(row, agent=str(k), rounds=rounds, regret=curve)
    return field


@pytest.mark.slow
def test_archived_trials_under_exchanged_labels_seldom_differ():
    rng = np.random.default_rng(0)
    most = stats.binom(200, 0.05).ppf(0.975)
    sentences, groups = false_statements(permuted_archive(rng) for _ in range(200))
    assert sentences <= most
    assert groups <= most
