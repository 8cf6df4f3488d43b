"""The pages of the papers and of their claims: verdicts, the numbers that decide, and all parts.

`python tools/site/paper_pages.py` writes the table of the README, for readers of the checkout.
"""

import re
from collections import Counter
from collections.abc import Iterator
from math import isfinite, log10

from scenario_pages import (
    ROOT,
    citation,
    concerned,
    group_of,
    literal,
    pictures,
    verdicts,
)

from gpbandits_env.display import counted
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims import yardsticks
from gpbandits_env.scenarios.claims.judge import (
    VERDICTS,
    Check,
    Claim,
    Judged,
    Part,
    Verdict,
    paper,
    robust,
)
from gpbandits_env.scenarios.claims.yardsticks import FAILS, HOLDS, PART, UNDECIDED
from gpbandits_env.scenarios.reporting.tables import markdown

TABLE = re.compile(r"(?<=<!-- claims -->\n\n).*?(?=\n*<!-- end -->)", re.DOTALL)
HEAD = ["paper", "claims", "hold", "in part", "do not hold", "cannot be judged", "robust"]
# Of an undecided claim the undecided parts are shown first, and of any other those that fail.
FIRST = {VERDICTS[3]: (UNDECIDED, PART, FAILS, HOLDS)}
OPEN, NAMED = 3, 3  # figures that are not folded, and scenarios that a row names
COLOURS = ("#2e7d32", "#f9a825", "#c62828", "#9e9e9e")
WIDE, HIGH = 120, 14


def counts(group: str) -> list[int]:
    """How many claims there are, how many have each verdict, and how many are robust."""
    found = verdicts(group)
    of = Counter(main.verdict for _, main, _ in found)
    steady = sum(robust(main, others) == "robust" for _, main, others in found)
    return [len(found), *(of[v] for v in VERDICTS), steady]


def table(folder: str = "docs/") -> str:
    """The counts of the five papers, with links to their pages."""
    rows = [[f"[{g}]({folder}papers/{g}.md)", *counts(g)] for g in registry.PAPERS]
    return markdown(HEAD, rows, right=range(1, len(HEAD)))


def with_table(text: str) -> str:
    """The README with the present table."""
    assert TABLE.search(text), "README.md has a place for the table"
    return TABLE.sub(lambda _: table(), text)


def pages(written: set[str]) -> dict[str, str]:
    """The source of the page of each group that has none in docs/papers."""
    titles = {group: says[0].upper() + says[1:] for group, says in registry.GROUPS.items()}
    found = {f"papers/{group}.md": f"# {says}\n\n{MARKER}\n" for group, says in titles.items()}
    return {uri: text for uri, text in found.items() if uri not in written}


MARKER = "<!-- the site puts the list here -->"


def overview() -> str:
    """The generated part of docs/claims.md: counts with a bar for each paper, and all claims."""
    rows, claims = [], []
    for group in registry.GROUPS:
        numbers = counts(group)
        rows.append([f"[{group}](papers/{group}.md)", *numbers, _bar(numbers[1:-1])])
        for claim, main, others in verdicts(group):
            says = f"[{literal(claim.says)}](papers/{group}.md#{_short(claim)})"
            claims.append([group, says, _bold(main.verdict), robust(main, others)])
    head = ["paper", "claim", "verdict", "readings"]
    return "\n\n".join(
        [
            markdown([*HEAD, ""], rows, right=range(1, len(HEAD))),
            "## All claims",
            markdown(head, claims),
        ]
    )


def page(group: str) -> str:
    """The generated part of a paper's page."""
    found, of = verdicts(group), paper(group)
    total, *by_verdict, steady = counts(group)
    said = ", ".join(f"{v} {n}" for n, v in zip(by_verdict, VERDICTS, strict=True) if n)
    parts = [
        *citation(group),
        f"Verdicts on {counted(total, 'claim')}: {said}. Robust, which means the same in every "
        f"reading that was run, are {steady}. [What the verdicts mean](../claims.md). [All means](../results/{group}.md).",
        "## Claims",
        markdown(["claim", "verdict", "what decides", "run"], [_row(*each) for each in found]),
        "### Claim by claim",
        *(_claim(*each, group) for each in found),
        *_figures(group),
        "## What the paper leaves open",
        folded("The reading by which the claims are judged", _paragraphs(of.main)),
    ]
    if of.readings:
        rows = [[r.name, literal(r.says), *_changes(r.name, group)] for r in of.readings]
        head = ["other reading", "what it says", "claims judged", "other verdicts"]
        parts.append(folded("Other readings under which claims are judged", markdown(head, rows)))
    if of.without_data:
        lines = "\n".join(f"- {literal(says)}" for says in of.without_data)
        parts.append(folded("Other readings of which there are no data", lines))
    if of.errata:
        rows = [[literal(e[key]) for key in ("where", "says", "should")] for e in of.errata]
        errata = markdown(["where", "the paper says", "it should say"], rows)
        parts += ["## Errata", folded("Where the paper's text is in error", errata)]
    return "\n\n".join(parts)


def folded(summary: str, text: str) -> str:
    """Text that a reader unfolds."""
    return f"<details markdown>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def _short(claim: Claim) -> str:
    return claim.id.partition("/")[2]


def _bold(verdict: str) -> str:
    return f"**{verdict}**" if verdict == VERDICTS[2] else verdict


def _paragraphs(text: str) -> str:
    """Text as it stands in a file: lines that end a sentence early, or are long, end a paragraph."""
    ended = re.sub(r"^(.{,94}\.|.{130,})$", "\\1\n", text.strip(), flags=re.MULTILINE)
    return "\n\n".join(literal(block) for block in re.split(r"\n\s*\n", ended))


def _changes(reading: str, group: str) -> tuple[int, int]:
    """How many claims a reading judges, and how many of the verdicts are others."""
    found = [(main, others[reading]) for _, main, others in verdicts(group) if reading in others]
    return len(found), sum(main.verdict != other.verdict for main, other in found)


def _figures(group: str) -> Iterator[str]:
    """The plots of the experiments, first of those by which most claims are judged."""
    uses = Counter(id for claim, *_ in verdicts(group) for id in concerned(claim))
    base = [id for id in registry.scenarios() if group_of(id) == group and "@" not in id]
    base.sort(key=lambda id: -uses[id])
    shown = [f"[{p}](../scenarios/{id}.md)" for id in base for p in pictures(id, "../results/")]
    if shown:
        yield from ("## Figures", *shown[:OPEN])
    if shown[OPEN:]:
        more = "\n\n".join(shown[OPEN:])
        yield folded(f"{counted(len(shown) - OPEN, 'more figure')}", more)


# -- One claim ------------------------------------------------------------------------------------


def _row(claim: Claim, main: Verdict, others: dict[str, Verdict]) -> list[str]:
    """A row of the table of claims."""
    says = f"[{literal(claim.says)}](#{_short(claim)}) <small>{literal(claim.where)}</small>"
    verdict = f"{_bold(main.verdict)}<br>{robust(main, others)}"
    return [says, verdict, _deciding(main), _commands(claim)]


def _deciding(main: Verdict) -> str:
    """How many parts hold, and the part that decides with its numbers and units."""
    judged = [j for j in main.checks if not j.check.reported]
    outcomes = Counter(outcome for j in judged for outcome in j.outcomes)
    parts = [part for j in judged for part in j.parts if part.numbers]
    if not parts:
        return "not run" if main.checks else "no data"
    order = FIRST.get(main.verdict, (FAILS, PART, UNDECIDED, HOLDS))
    part = min(parts, key=lambda p: order.index(p.outcome))
    held = f"{outcomes[HOLDS]} of {counted(outcomes.total(), 'part')} hold. "
    return f"{held if outcomes.total() > 1 else ''}{_where(part)}: {figures(part)}"


def _where(part: Part) -> str:
    """What a part compares, without the name of the paper."""
    return literal(re.sub(r"\b[a-z]+\d{4}/", "", part.what))


def figures(part: Part) -> str:
    """The numbers of a part, an interval in brackets, and the number of independent units."""
    of = {name: f"{value:.3g}" for name, value in part.numbers.items()}
    ends = [of.pop(name) for name in ("low", "high") if name in of]
    if "b" in of:
        of = {"means": f"{of.pop('a')} and {of.pop('b')}"} | of
    words = [f"{'mean' if name == 'a' else literal(name)} {value}" for name, value in of.items()]
    interval = f" ({' to '.join(ends)})" if ends else ""
    return f"{', '.join(words)}{interval}; {counted(part.units, 'unit')}"


def _commands(claim: Claim) -> str:
    """Links to the pages of scenarios, which have their commands, and computations by name."""
    ids = concerned(claim)
    links = [f"[{id.partition('/')[2]}](../scenarios/{id}.md)" for id in ids[:NAMED]]
    links += [f"{len(ids) - NAMED} more"] if len(ids) > NAMED else []
    links += [f"`{name}`" for name in dict.fromkeys(map(_computed, claim.check)) if name]
    return ", ".join(links)


def _computed(check: Check) -> str:
    return check.computed.partition("/")[2]


def _claim(claim: Claim, main: Verdict, others: dict[str, Verdict], group: str) -> str:
    """A claim, folded: how it is judged, what it needs, and each part of each check."""
    said = f"{literal(claim.says)} ({literal(claim.where)})\n{{: #{_short(claim)} }}"
    parts = [said, f"**How it is judged.** {_paragraphs(claim.judged)}"]
    for title, text in (("Departures", claim.departs), ("What it needs", claim.needs)):
        parts += [f"**{title}.** {_paragraphs(text)}"] if text else []
    if others:
        under = "; ".join(f"{name}: {other.verdict}" for name, other in others.items())
        parts.append(f"**Under other readings.** {under}.")
    for judged in main.checks:
        parts += _check(judged)
    parts.append(f"```sh\ngpbandits claims {group}/{_short(claim)}\n```")
    return folded(f"{_short(claim)}: {main.verdict}", "\n\n".join(parts))


def _check(judged: Judged) -> list[str]:
    """What a check compares, and a table of its parts."""
    check = judged.check
    said = [f"**{check.yardstick}**: {literal(check.what or check.metric)}"]
    at = ", ".join(f"{fraction:g}" for fraction in check.at)
    said += [f"at {at} of the rounds"] if check.at != (1.0,) else []
    said += ["reported, not counted"] if check.reported else []
    said += ["a failure limits the verdict to in part"] if check.only_limits else []
    said += [f"all parts make one: {judged.outcomes[0]}"] if check.parts == "one" else []
    spans = [span(check, part) for part in judged.parts]
    known = [x for s in spans if s for x in s]
    limits = [x for x in bounds(check) if known]
    plots = [drawn(s, [*known, *limits], limits) if s else "" for s in spans]
    rows = [
        [_where(part), plot, part.outcome, figures(part) if part.numbers else ""]
        for part, plot in zip(judged.parts, plots, strict=True)
    ]
    return ["; ".join(said) + ".", markdown(["part", "", "outcome", "numbers"], rows)]


# -- Small plots ----------------------------------------------------------------------------------


def span(check: Check, part: Part) -> tuple[float, float, float] | None:
    """The interval of a part and its middle; of "better", that of the ratio a / b."""
    n = part.numbers
    if check.yardstick == "better" and n and n["b"] > 0.0 and not check.logarithmic:
        low, middle, high = (1.0 + (n["difference"] + k * n["SE"]) / n["b"] for k in (-2, 0, 2))
        return low, middle, high
    middle = next((n[k] for k in ("ratio", "slope", "mean", "share") if k in n), None)
    if middle is None or not all(map(isfinite, (n["low"], n["high"]))):
        return None
    return n["low"], middle, n["high"]


def bounds(check: Check) -> list[float]:
    """The limits against which a check holds its intervals."""
    if check.yardstick == "better":
        return [1.0]
    standard = {
        "level": yardsticks.LEVEL,
        "best": yardsticks.LEVEL if check.logarithmic else yardsticks.BEST,
        "published": yardsticks.PUBLISHED,
    }
    if check.yardstick in standard:
        factor = check.factor or standard[check.yardstick]
        two = check.yardstick != "best" and not check.one_sided
        return [1.0 / factor, factor] if two else [factor]
    found = (check.above, check.below, check.at_least, check.at_most)
    return [limit for limit in found if limit is not None]


def drawn(span: tuple[float, float, float], known: list[float], limits: list[float]) -> str:
    """An interval with its middle as SVG, on an axis that all parts of a check share.

    Dashed lines are limits. The axis is logarithmic where all values are positive.
    """
    scale = log10 if min(known) > 0.0 else float
    low, high = scale(min(known)), scale(max(known))

    def x(value: float) -> str:
        return f"{4 + (WIDE - 8) * (scale(value) - low) / ((high - low) or 1.0):.1f}"

    middle = HIGH // 2
    dashed = "".join(
        f'<line x1="{x(v)}" x2="{x(v)}" y1="0" y2="{HIGH}" stroke="#c62828" stroke-dasharray="2"/>'
        for v in limits
    )
    left, centre, right = map(x, span)
    return (
        f'<svg width="{WIDE}" height="{HIGH}" stroke="currentColor">{dashed}'
        f'<line x1="{left}" x2="{right}" y1="{middle}" y2="{middle}"/>'
        f'<circle cx="{centre}" cy="{middle}" r="2.5" fill="currentColor"/></svg>'
    )


def _bar(numbers: list[int]) -> str:
    """A bar of the verdicts of a paper."""
    start, drawn = 0.0, ""
    for number, verdict, colour in zip(numbers, VERDICTS, COLOURS, strict=True):
        width = WIDE * number / max(sum(numbers), 1)
        looks = f'x="{start:.1f}" width="{width:.1f}" height="{HIGH}" fill="{colour}"'
        drawn += f"<rect {looks}><title>{number} {verdict}</title></rect>"
        start += width
    return f'<svg width="{WIDE}" height="{HIGH}">{drawn}</svg>'


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")
