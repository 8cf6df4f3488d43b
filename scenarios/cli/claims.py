"""`gpbandits claims`: what the papers say, and whether it holds here."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import click

from gpbandits_env.display import aligned
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims.claim import Claim, Paper, paper
from gpbandits_env.scenarios.claims.judge import VERDICTS, Loader, Verdict, counts, judge, robust
from gpbandits_env.scenarios.results import evidence
from gpbandits_env.scenarios.results.store import Store


@click.command("claims")
@click.argument("name", metavar="[PAPER | CLAIM]", default="")
@click.option(
    "--results",
    "files",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="Judge by these results files in place of the kept values of their scenarios.",
)
def claims(name: str, files: tuple[Path, ...]) -> None:
    """Judge the claims of the papers by the kept values of trials, or by your own results.

    \b
    Examples:
      gpbandits claims
      gpbandits claims srinivas2010
      gpbandits claims srinivas2010/scaled-beta-better --results results/se-1d.sqlite
    """
    own, read = _own(files), set[str]()

    @cache
    def load(id: str) -> evidence.Evidence | None:
        read.add(id)
        return own.get(id) or evidence.load(id)

    lines = _judgement(name, load)
    if unread := sorted(own.keys() - read):
        raise InvalidInput(
            f"no check of {name or 'any paper'} reads results of {unread[0]!r}: --results takes "
            "those of the scenarios of the paper or the claim"
        )
    click.echo("\n".join(lines))


def _judgement(name: str, load: Loader) -> list[str]:
    """The lines on all papers, on one of them, or on one claim."""
    group, _, short = name.partition("/")
    if not name:
        rows = [["paper", "claims", *VERDICTS, "robust"]]
        for of in map(paper, registry.GROUPS):
            found = counts([judged(claim, of, load) for claim in of.claims])
            rows.append([of.paper, *map(str, found)])
        return aligned(rows)
    of = paper(one_of(group, registry.GROUPS, "paper", "'gpbandits claims' lists them"))
    if not short:
        rows = [["claim", "verdict", "readings"]]
        for claim in of.claims:
            main, others = judged(claim, of, load)
            rows.append([claim.id, main.verdict, robust(main, others)])
        return aligned(rows)
    known = {claim.id: claim for claim in of.claims}
    claim = known[one_of(name, known, "claim", f"'gpbandits claims {group}' lists them")]
    return _lines(claim, *judged(claim, of, load))


def judged(claim: Claim, of: Paper, load: Loader) -> tuple[Verdict, dict[str, Verdict]]:
    """The verdict in the main reading, and those in the other readings of which there are data."""
    main = judge(claim, None, load)
    assert main is not None
    others = {r.name: verdict for r in of.readings if (verdict := judge(claim, r, load))}
    return main, others


def _own(files: tuple[Path, ...]) -> dict[str, evidence.Evidence]:
    """The values in results files, by the ids of their scenarios."""
    own = {}
    for file in files:
        with Store.open(file) as store:
            id, seed, trials = (store.scenario[key] for key in ("id", "seed", "trials"))
            kept = evidence.load(id)
            # With the same seed a trial replays the same day as the kept one of its number.
            units = kept.units if kept and kept.study["seed"] == seed else {}
            units = {cell: of[:trials] for cell, of in units.items() if len(of) >= trials}
            own[id] = replace(evidence.gather(store), units=units)
    return own


def _lines(claim: Claim, main: Verdict, others: dict[str, Verdict]) -> list[str]:
    lines = [
        claim.id,
        f"place    {claim.where}",
        f"claim    {claim.says}",
        f"verdict  {main.verdict} ({robust(main, others)})",
        *(f"         {name}: {other.verdict}" for name, other in others.items()),
        *([f"departs  {' '.join(claim.departs.split())}"] if claim.departs else []),
        *([f"needs    {claim.needs}"] if claim.needs else []),
    ]
    for check in main.checks:
        what = check.check.what or check.check.metric
        lines += ["", f"{check.check.yardstick}: {'; '.join((what, *check.notes))}"]
        for part in check.parts:
            lines.append(f"  {part.outcome:<9} {': '.join(filter(None, (part.what, str(part))))}")
    return lines
