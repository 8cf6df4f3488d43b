"""Numbers in the documentation are those of the kept values."""

import json
import re
from fnmatch import fnmatchcase
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.declare import plain
from gpbandits_env.scenarios.registry import GROUPS
from gpbandits_env.scenarios.results import evidence
from tools.site.kept_numbers import MARK, filled

# Benchmarks have numbers of their own, of the files in benchmarks/results.
OTHER_NUMBERS = {"benchmarks.md", "bibliography.md"}
SCENARIO = re.compile(rf"`?\b({'|'.join(GROUPS)})/([a-z\d*@-]+)")
PAPER = re.compile(rf"\b({'|'.join(registry.PAPERS)})\b")
# What is no statement of an outcome: code, formulas, addresses, places in a paper, versions.
ELSEWHERE = re.compile(
    r"^```.*?^```|<!-- agents -->.*?<!-- end -->"
    r"|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)|<!--.*?-->"
    r"|(?:eqs?\.|Section|Theorem|Appendix|Lemma|Fig\.|Table|pandas|Python) \(?[A-Z]?\.?[\d.]+\)?",
    re.DOTALL | re.MULTILINE,
)
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?(?![\w.]*\d)")


@pytest.mark.parametrize("group", GROUPS)
def test_a_page_of_means_says_what_the_reference_files_say(group, root, monkeypatch):
    """Each scenario that has a file, with each number of each agent."""
    monkeypatch.syspath_prepend(str(root / "tools" / "site"))
    results = import_module("scenario_pages").results
    _, *sections = re.split(rf"^## (?={group}/)", results()[f"results/{group}.md"], flags=re.M)
    found = {section.partition("\n")[0]: section for section in sections}
    folder = root / "scenarios" / "reference"
    files = (folder / group).glob("*.npz")
    assert {file.relative_to(folder).with_suffix("").as_posix() for file in files} == found.keys()
    for id, section in found.items():
        kept = evidence.load(id, root / "scenarios")
        rows = re.findall(r"^\| (\S+) \| (.*± .*) \| .*\|$", section, re.M)
        agents = [of for of in kept.values if of[2] == "average_regret"]
        assert [label for label, _ in rows] == [label for _, label, _ in agents], id
        for (label, row), (cell, *_) in zip(rows, agents, strict=True):
            assert set(row.split(" | ")) <= set(numbers_in(kept, cell, label)), (id, label)


def numbers_in(kept, cell, label):
    """The mean of each metric over the trials after the last round, ± its standard error."""
    average = kept.values[cell, label, "average_regret"][:, -1].astype(float)
    last = [average, average * kept.rounds[-1] * kept.batch.get(cell, 1)]
    if (simple := kept.values.get((cell, label, "simple_regret"))) is not None:
        least = simple[:, -1].astype(float)
        last += [least, np.log10(np.maximum(least, 1e-12))]
    for values in last:
        spread = np.ptp(values) and values.std(ddof=1) / np.sqrt(len(values))
        yield f"{values.mean():.4g} ± {spread:.2g}"


def written(root):
    """The pages that are written by hand, and in which results may be told."""
    found = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [path for path in found if path.name not in OTHER_NUMBERS]


def test_numbers_of_results_are_those_that_are_kept(root):
    marked = 0
    for path in written(root):
        text = path.read_text("utf-8")
        marked += len(MARK.findall(text))
        assert filled(text, comments=True) == text, "run: python tools/site/kept_numbers.py"
    assert marked > 50


def test_a_number_is_filled_in_and_its_comment_goes():
    kept = "0.8<!-- bogunovic2016/temperature tv-gp-ucb -->"
    assert filled(f"a regret of 9.9{kept[3:]}.") == "a regret of 0.8."
    assert filled(f"9.9{kept[3:]}", comments=True) == kept
    with pytest.raises(ValueError, match="no results"):
        filled("9.9<!-- bogunovic2016/nothing gp-ucb -->")


def numbers_of(value):
    """All numbers of a declaration, and those in its strings."""
    return {float(n) for n in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", json.dumps(value))}


def declared(section):
    """The numbers in the declarations of the scenarios and papers that a section names."""
    ids = {f"{group}/{name}" for group, name in SCENARIO.findall(section)}
    ids |= {f"{group}/*" for group in PAPER.findall(section)}
    found = set()
    for s in registry.scenarios().values():
        if any(fnmatchcase(s.id, id) for id in ids):
            found |= numbers_of([plain(s.env_kwargs), plain(s.points()), s.horizon, s.trials])
            found |= numbers_of([plain(e.settings) for e in (*s.agents, *s.alternatives)])
    return found


def free_numbers(text):
    """The decimal numbers that a page states by hand where it tells of a scenario or a paper."""
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        if SCENARIO.search(section) or PAPER.search(section):
            known = declared(section)
            said = ELSEWHERE.sub("", MARK.sub("", section))
            yield from (n for n in DECIMAL.findall(said) if float(n) not in known)


def test_no_outcome_is_written_by_hand(root):
    found = {str(p): list(free_numbers(p.read_text("utf-8"))) for p in written(root)}
    assert {path: numbers for path, numbers in found.items() if numbers} == {}


def test_an_outcome_that_is_written_by_hand_is_found():
    said = "# A\n\nOn `srinivas2010/se-1d` with a noise variance of 0.025 the regret is {}.\n"
    assert list(free_numbers(said.format("0.0137"))) == ["0.0137"]
    assert list(free_numbers(said.format("`0.0137`, see Section 6.1"))) == []
    assert list(free_numbers(said.format("1.3<!-- srinivas2010/se-1d ei -->"))) == []


def test_how_often_few_units_are_beyond_two_standard_errors_by_chance(root):
    page = " ".join((root / "docs" / "claims.md").read_text(encoding="utf-8").split())
    two, four, ten, twenty = (f"{2.0 * stats.t.sf(2.0, n - 1):.0%}" for n in (2, 4, 10, 20))
    assert (
        f"{two} of cases with 2 units, {four} with 4, {ten} with 10, and {twenty} with 20" in page
    )


def test_the_page_of_tranthe2020_says_that_the_moved_maxima_were_not_run(root):
    page = (root / "docs" / "papers" / "tranthe2020.md").read_text(encoding="utf-8")
    moved = [id for id in registry.scenarios() if id.endswith("@shifted")]
    kept = [id for id in moved if evidence.load(id) is not None]
    assert len(moved) == 3
    assert ("(`@shifted`) have not been run" in page) == (not kept)
