"""Bad inputs to every public part: each ends in a documented way and changes nothing.

1,000 by default; all 10,000 by ``pytest -m slow tests/fuzz``. A case is made by a generator seeded
with its surface and number, so a failure names what is needed to see it again.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fuzzing.case import ACCEPTED, REFUSED, Case, is_documented, judge
from fuzzing.surfaces import SURFACES, TOTAL

SEED = 2026
# One case in so many is tried by default.
PART = 10
# At least this share of the cases must be bad indeed.
REALLY_BAD = 0.6
SHOWN = 5


def tried(name: str, cases: range, folder: Path) -> Counter[str]:
    """The verdicts on some cases of a surface; fails with the first few that went wrong."""
    place = list(SURFACES).index(name)
    verdicts: Counter[str] = Counter()
    wrong = []
    for i in cases:
        case = SURFACES[name].draw(np.random.default_rng([SEED, place, i]), folder)
        try:
            verdicts[judge(case)] += 1
        except AssertionError as error:
            wrong.append(f"case {i}: {error}\n    {error.__cause__!r}"[:1500])
    if wrong:
        pytest.fail(f"{len(wrong)} cases of {name!r}:\n" + "\n".join(wrong[:SHOWN]))
    return verdicts


@pytest.mark.parametrize("name", SURFACES)
def test_bad_input_is_refused_and_changes_nothing(name, tmp_path):
    verdicts = tried(name, range(SURFACES[name].share // PART), tmp_path)
    assert verdicts[REFUSED] >= REALLY_BAD * verdicts.total(), verdicts


def test_the_manual_says_how_many_are_tried_by_default():
    page = Path(__file__).parents[2] / "docs" / "errors.md"
    assert PART == 10
    assert "One in ten of these inputs" in page.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_thousand_bad_inputs(tmp_path):
    assert TOTAL == 10_000
    total: Counter[str] = Counter()
    for name, surface in SURFACES.items():
        (folder := tmp_path / name).mkdir()
        verdicts = tried(name, range(surface.share), folder)
        print(f"{name:<24} {verdicts[REFUSED]:>6} refused {verdicts[ACCEPTED]:>6} accepted")
        total += verdicts
    print(f"{'all':<24} {total[REFUSED]:>6} refused {total[ACCEPTED]:>6} accepted")
    assert total[REFUSED] >= REALLY_BAD * total.total()


def test_the_judge_sees_an_undocumented_error():
    with pytest.raises(AssertionError, match="raised IndexError"):
        judge(Case("a list", 3, lambda: [][3]))


def test_the_judge_sees_a_change():
    seen = []

    def call():
        seen.append(1)
        raise_documented()

    with pytest.raises(AssertionError, match="changed something"):
        judge(Case("a call", None, call, lambda: list(seen)))


def test_the_judge_sees_what_fails_later():
    with pytest.raises(AssertionError, match="accepted, but then raised ZeroDivisionError"):
        judge(Case("a call", None, lambda: 0, use=lambda made: 1 / made))


def test_a_type_error_from_within_is_not_documented():
    with pytest.raises(TypeError) as caught:
        sorted([1, "a"])
    assert not is_documented(caught.value)


def raise_documented():
    from gpbandits_env.errors import InvalidInput

    raise InvalidInput("no")
