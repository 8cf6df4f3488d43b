"""The two pages of each paper: verdicts with the numbers that decide, and all parts of claims.

`python tools/site/paper_pages.py` writes the table of the README, for readers of the checkout.
"""

import re
from collections import Counter
from math import isfinite, log10

import illustrations
from marked import filled
from scenario_pages import ROOT, citation, concerned, group_of, literal, made, pictures, verdicts

from gpbandits_env.display import counted
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims import judge
from gpbandits_env.scenarios.claims.claim import Check, Claim, Reading, paper
from gpbandits_env.scenarios.claims.judge import VERDICTS, CheckPart, Verdict
from gpbandits_env.scenarios.claims.yardsticks import FAILS, HOLDS, PART, UNDECIDED
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.results import evidence

HEAD = ["claims", "hold", "in part", "do not hold", "cannot be judged", "robust"]
# Of an undecided claim the undecided parts are shown first, and of any other those that fail.
FIRST = {VERDICTS[3]: (UNDECIDED, PART, FAILS, HOLDS)}
NAMED = 3  # scenarios that a claim names
MAIN = 3  # figures on the first page of a paper
MARKER = "<!-- the site puts the list here -->"
COLOURS = ("#2e7d32", "#f9a825", "#c62828", "#9e9e9e")


def counts(group: str) -> list[int]:
    """What `judge.counts` counts, for a paper."""
    return judge.counts([(main, others) for _, main, others in verdicts(group)])


def other_rules() -> list[list[str | int]]:
    """The verdicts on all claims of the papers if the rule of one paper judged them.

    One row per rule: whose it is, how many claims have each verdict, and how many another one.
    """
    found = [each for group in registry.PAPERS for each in verdicts(group)]
    rows: dict[tuple[str, ...], list[str]] = {}
    for group in registry.PAPERS:
        by_it = tuple(judge.combined(claim, main.checks, group) for claim, main, _ in found)
        rows.setdefault(by_it, []).append(group)
    own = [main.verdict for _, main, _ in found]
    lines = [["that of each paper", *map(own.count, VERDICTS), 0]]
    for by_it, groups in rows.items():
        other = sum(a != b for a, b in zip(by_it, own, strict=True))
        lines.append([f"that of {' and '.join(groups)}", *map(by_it.count, VERDICTS), other])
    return lines


def table() -> str:
    """The table of the README: the present counts of the five papers."""
    rows = [[f"[{g}](docs/papers/{g}.md)", *counts(g)] for g in registry.PAPERS]
    return markdown(["paper", *HEAD], rows, right=range(1, 7))


def overview() -> str:
    """The generated part of docs/claims.md: counts with a bar for each paper, and all claims."""
    return made.get_template("claims.md").render(
        head=HEAD, groups=registry.GROUPS, verdicts_by_rule=other_rules()
    )


def page(group: str, frame: str) -> str:
    """The first page of a paper; what its file says after the marker is on the second page."""
    return frame.partition(MARKER)[0] + _page("paper.md", group)


def parts() -> dict[str, str]:
    """The source of every second page: claims part by part, the main reading, other figures."""
    return {f"papers/{group}-parts.md": _page("parts.md", group) for group in registry.GROUPS}


def _page(template: str, group: str) -> str:
    _, *by_verdict, steady = counts(group)
    frame = (ROOT / "docs" / "papers" / f"{group}.md").read_text(encoding="utf-8")
    return made.get_template(template).render(
        group=group,
        title=frame.partition("\n")[0].removeprefix("# "),
        rest=frame.partition(MARKER)[2].strip(),
        paper=paper(group),
        found=verdicts(group),
        steady=steady,
        citation=" ".join(citation(group)),
        counted=", ".join(f"{v} {n}" for n, v in zip(by_verdict, VERDICTS, strict=True) if n),
        pictures=_pictures(group, frame),
    )


def _pictures(group: str, frame: str) -> list[str]:
    """The figures of a paper; those of the scenarios that most claims concern come first."""
    uses = Counter(id for claim, *_ in verdicts(group) for id in concerned(claim))
    base = [id for id in registry.scenarios() if group_of(id) == group and "@" not in id]
    base.sort(key=lambda id: -uses[id])
    shown = [f"[{p}](../scenarios/{id}.md)" for id in base for p in pictures(id, "../")]
    # Those of other readings stand on the pages of their scenarios, and others may in the frame.
    for name in illustrations.FIGURES:
        if name.startswith(f"{group}-") and name not in frame:
            shown.append(f"![{name}](../results/{name}.png)")
    return shown


def paragraphs(text: str) -> str:
    """Text of a file: a line that ends with a sentence and early, or is long, ends a paragraph."""
    ended = re.sub(r"^(.{,94}\.|.{130,})$", "\\1\n", text.strip(), flags=re.MULTILINE)
    return "\n\n".join(literal(block) for block in re.split(r"\n\s*\n", ended))


def changes(reading: str, group: str) -> tuple[int, int]:
    """How many claims a reading judges, and how many of the verdicts are others."""
    found = [(main, others[reading]) for _, main, others in verdicts(group) if reading in others]
    told = [pair for pair in found if pair[1].verdict != VERDICTS[3]]
    return len(found), sum(main.verdict != other.verdict for main, other in told)


def not_run(reading: Reading) -> str:
    """The scenarios of a reading that were not run, and with it the claims that need them."""
    return ", ".join(f"`{id}`" for id in reading.scenarios.values() if evidence.load(id) is None)


def deciding(claim: Claim, main: Verdict) -> str:
    """How many parts hold, and the part that decides with its numbers and units."""
    judged = [j for j in main.checks if not j.check.reported]
    outcomes = judge.counted_outcomes(claim, judged)
    parts = [part for j in judged for part in j.parts if part.numbers]
    if not parts:
        return "not run" if judged else "reported, not counted" if main.checks else "no data"
    order = FIRST.get(main.verdict, (FAILS, PART, UNDECIDED, HOLDS))
    part = min(parts, key=lambda p: order.index(p.outcome))
    held = f"{outcomes[HOLDS]} of {counted(outcomes.total(), 'part')} hold. "
    return f"{held if outcomes.total() > 1 else ''}{where(part)}: {literal(str(part))}"


def where(part: CheckPart) -> str:
    """What a part compares, without the name of the paper."""
    return literal(re.sub(r"\b[a-z]+\d{4}/", "", part.what))


def commands(claim: Claim) -> str:
    """Links to the pages of scenarios, which have their commands, and computations by name."""
    ids = concerned(claim)
    links = [f"[{id.partition('/')[2]}](../scenarios/{id}.md)" for id in ids[:NAMED]]
    links += [f"{len(ids) - NAMED} more"] if len(ids) > NAMED else []
    computed = dict.fromkeys(check.computed.partition("/")[2] for check in claim.check)
    return ", ".join([*links, *(f"`{name}`" for name in computed if name)])


# -- Small plots ----------------------------------------------------------------------------------


def plotted(judged: judge.Judged) -> list[tuple[CheckPart, str]]:
    """Each part of a check with its interval and the limits as SVG; all share one axis."""
    spans = [span(judged.check, part) for part in judged.parts]
    limits = [x for x in judged.check.ends(judged.check.yardstick) if x is not None]
    known = [*limits, *(x for found in spans if found for x in found)]
    plots = [drawn(found, known, limits) if found else "" for found in spans]
    return list(zip(judged.parts, plots, strict=True))


def span(check: Check, part: CheckPart) -> tuple[float, float, float] | None:
    """The interval of a part and its middle; of "better", that of the ratio a / b."""
    n = part.numbers
    if check.yardstick == "better" and n and n["b"] > 0.0 and not check.logarithmic:
        low, middle, high = (1.0 + (n["difference"] + k * n["SE"]) / n["b"] for k in (-2, 0, 2))
        return low, middle, high
    middle = next((n[k] for k in ("ratio", "slope", "mean", "share") if k in n), None)
    if middle is None or not all(map(isfinite, (n["low"], n["high"]))):
        return None
    return n["low"], middle, n["high"]


def drawn(span: tuple[float, float, float], known: list[float], limits: list[float]) -> str:
    """An interval with its middle as SVG, and dashed limits; logarithmic where all are positive."""
    scale = log10 if min(known) > 0.0 else float
    low, high = scale(min(known)), scale(max(known))
    x = [f"{4 + 112 * (scale(v) - low) / ((high - low) or 1.0):.1f}" for v in (*span, *limits)]
    return made.get_template("interval.svg").render(x=x[:3], limits=x[3:])


def bar(group: str) -> str:
    """A bar of the verdicts of a paper."""
    total, *numbers, _ = counts(group)
    looks = zip(numbers, VERDICTS, COLOURS, strict=True)
    return made.get_template("bar.svg").render(total=total, looks=looks)


made.filters |= {f.__name__: f for f in (paragraphs, where)}
made.filters["bold"] = lambda verdict: f"**{verdict}**" if verdict == VERDICTS[2] else verdict
made.globals |= {f.__name__: f for f in (counts, verdicts, judge.robust, bar, deciding, commands)}
made.globals |= {"plotted": plotted, "changes": changes, "not_run": not_run, "MAIN": MAIN}

if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text("utf-8"), {"claims": table()}), encoding="utf-8")
