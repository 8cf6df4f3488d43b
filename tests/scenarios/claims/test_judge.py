"""Missing runs make no verdict better, and say nothing in other readings."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpbandits_env.errors import UnknownName
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims import yardsticks
from gpbandits_env.scenarios.claims.claim import Check, Claim, Reading
from gpbandits_env.scenarios.claims.judge import (
    VERDICTS,
    Judged,
    Verdict,
    by_paper,
    combined,
    counted_outcomes,
    judge,
    not_run,
    robust,
)
from gpbandits_env.scenarios.results import evidence

KEPT, ABSENT = "bogunovic2016/se", "bogunovic2016/matern52"


def claim(not_run=0, yardstick="level", **check):
    words = dict.fromkeys(("where", "says", "judged", "yardstick"), "")
    checks = (Check(yardstick=yardstick, a=("tv-gp-ucb",), b=("r-gp-ucb",), **check),)
    return Claim(id="bogunovic2016/made", scenarios=(), check=checks, not_run=not_run, **words)


def without_absent(id):
    return None if id == ABSENT else evidence.load(id)


def test_a_scenario_that_was_not_run_has_as_many_parts_as_a_run():
    cells = len(registry.get(ABSENT).points())
    assert cells > 1
    verdict = judge(claim(scenario=(ABSENT,)), None, without_absent)
    assert [p.outcome for p in verdict.checks[0].parts] == ["undecided"] * cells
    some = judge(claim(scenario=(ABSENT,), cells=({"epsilon": 0.01},)), None, without_absent)
    assert [p.units for p in some.checks[0].parts] == [0]


def test_a_computation_that_was_not_run_has_a_part_for_each_pair():
    check = Check(yardstick="better", computed="bogunovic2016/absent", a=("x", "y"), b=("y", "z"))
    made = claim(scenario=(KEPT,))
    verdict = judge(Claim(**{**vars(made), "check": (check,)}))
    assert [p.what.partition(" (")[0] for p in verdict.checks[0].parts] == [
        "x against y",
        "x against z",
        "y against z",
    ]


def test_an_agent_without_a_published_value_is_told():
    made = claim(yardstick="published", value={"ei": 1.0}, scenario=(KEPT,))
    with pytest.raises(UnknownName, match="no published value of an agent named 'tv-gp-ucb'"):
        judge(made)


def test_parts_without_a_check_are_undecided():
    found = [judge(claim(n, "better", scenario=(KEPT,))).verdict for n in (0, 2)]
    assert found == ["holds", "in part"]
    assert (
        judge(Claim(**{**vars(claim(2, scenario=(KEPT,))), "check": ()})).verdict
        == "cannot be judged"
    )


def test_checks_that_count_together_make_one_part_of_each_cell_the_worst_of_theirs():
    ends = (0.0, 1e9)  # of which each value of the first lies on the wrong side
    each = [{"yardstick": "mean", "below": end, "together": "x"} for end in ends]
    checks = [Check(scenario=(KEPT,), a=("tv-gp-ucb",), **c) for c in each]
    alone, both = (
        Claim(**{**vars(claim(scenario=(KEPT,))), "check": tuple(c)})
        for c in ([replace(c, together="") for c in checks], checks)
    )
    verdicts = [judge(of) for of in (alone, both)]
    assert [v.verdict for v in verdicts] == ["in part", "does not hold"]
    cells = len(registry.get(KEPT).points())
    assert counted_outcomes(alone, verdicts[0].checks) == {
        "fails": cells,
        "holds": cells,
        "undecided": 0,
    }
    assert counted_outcomes(both, verdicts[1].checks) == {"fails": cells, "undecided": 0}
    assert "others on 'x'" in verdicts[1].checks[0].notes[0]
    apart = [checks[0], replace(checks[1], together="y")]
    assert judge(replace(both, check=tuple(apart))).verdict == "in part"


def test_a_reading_that_was_not_run_is_left_out():
    reading = Reading("other", "", scenarios={KEPT: ABSENT})
    both = claim(scenario=(KEPT, "bogunovic2016/mismatch-eps"))
    assert judge(both, reading, without_absent) is None
    assert not_run(reading, both, without_absent) == [ABSENT]
    assert not_run(reading, claim(scenario=("bogunovic2016/mismatch-n",)), without_absent) == []


def test_a_reading_replaces_computations_too():
    names = ["compressed/dense example ucb"]
    check = Check(yardstick="better", computed="bedi2022/clock", a=names, b=["one"])
    timed = Claim("a/b", "", "", "", "better", (), check=(check,))
    other = Reading("entropy", "", computed={"bedi2022/clock": "bedi2022/clock-entropy"})
    main, under = (judge(timed, reading).checks[0] for reading in (None, other))
    assert main.parts[0].numbers != under.parts[0].numbers
    absent = Reading("absent", "", computed={"bedi2022/clock": "bedi2022/clock-absent"})
    assert judge(timed, absent) is None
    assert not_run(absent, timed) == ["bedi2022/clock-absent"]


def test_a_reading_that_cannot_be_judged_says_nothing():
    holds, part, fails, open_ = (Verdict(v, ()) for v in VERDICTS)
    assert robust(holds, {"a": open_}) == "one reading"
    assert robust(holds, {"a": open_, "b": holds}) == "robust"
    assert robust(holds, {"a": open_, "b": part}) == "depends on: b"
    assert robust(open_, {"a": open_, "b": fails}) == "does not hold under b"


@pytest.mark.parametrize(("units", "quantile"), [(2, 6.314), (3, 2.920), (11, 1.812)])
def test_intervals_have_the_quantiles_of_student_s_table(units, quantile):
    low, high = yardsticks.interval(1.0, 2.0, units)
    assert (low, high) == pytest.approx((1.0 - 2.0 * quantile, 1.0 + 2.0 * quantile), abs=2e-3)


@pytest.mark.parametrize(
    ("before", "noise", "verdict"),
    [(-1.0, 0.3, "holds"), (0.0, 3.0, "in part"), (1.0, 0.3, "in part")],
)
def test_what_holds_at_the_last_of_several_rounds_alone_holds_in_part(before, noise, verdict):
    """Before, a is better than b, which is which is not known, or a is worse."""
    wave = np.tile([-0.3, 0.3], 5)
    first = noise / 0.3 * wave
    curves = {"tv-gp-ucb": np.stack([5.0 + before + first, 4.0 + wave], axis=1)}
    curves["r-gp-ucb"] = np.stack([5.0 - first, 5.0 + wave / 2.0], axis=1)
    found = SimpleNamespace(points=[{}], units={}, rounds=np.array([5, 10]))
    found.curve = lambda cell, label, metric: curves[label]
    made = claim(yardstick="better", scenario=(KEPT,), at=(0.5, 1.0))
    assert judge(made, None, lambda id: found).verdict == verdict


@pytest.mark.parametrize(
    ("paper", "parts", "outcome"),
    [
        ("srinivas2010", {"fails": 1, "undecided": 3}, "fails"),
        ("srinivas2010", {"holds": 1, "undecided": 3}, "in part"),
        ("srinivas2010", {"in part": 1, "fails": 3}, "in part"),
        ("bedi2022", {"holds": 2, "fails": 2}, "in part"),
        ("bedi2022", {"holds": 1, "in part": 1, "undecided": 1, "fails": 1}, "undecided"),
        ("tranthe2020", {"holds": 9, "undecided": 1}, "holds"),
        ("tranthe2020", {"holds": 9, "fails": 1}, "in part"),
        ("tranthe2020", {"holds": 2, "fails": 2}, "fails"),
        ("tranthe2020", {"holds": 2, "undecided": 2}, "in part"),
        ("ren2024", {"holds": 2, "fails": 2}, "fails"),
        ("ren2024", {"in part": 2}, "in part"),
        ("ren2024", {"holds": 2, "undecided": 2}, "in part"),
        ("ren2024", {"holds": 1, "undecided": 2}, "undecided"),
    ],
)
def test_the_rule_of_each_paper_at_its_borders(paper, parts, outcome):
    """As docs/claims.md states them."""
    assert by_paper(paper, Counter(parts)) == outcome


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (("holds", "holds", "fails", "undecided"), "holds"),
        (("holds", "fails", "fails", "in part"), "does not hold"),
        (("holds", "fails", "in part", "in part"), "in part"),
        (("undecided", "fails", "undecided", "in part"), "in part"),
        (("undecided", "undecided", "undecided", "in part"), "cannot be judged"),
    ],
)
def test_a_rule_of_a_claim_s_own_at_its_borders(outcomes, verdict):
    """Half of the parts must hold, and otherwise half of them fail."""
    made = claim(scenario=(KEPT,))
    made = Claim(**{**vars(made), "rule": {"holds": 0.5, "fails": 0.5}})
    assert combined(made, [Judged(made.check[0], (), outcomes)], "bogunovic2016") == verdict
