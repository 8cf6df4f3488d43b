"""Why a paper's finding does not hold here: which section of docs/differences.md says it.

A row that no rule meets has no known reason, and the page says so.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Findings of some scenarios, and the heading under which the reason stands.

    Args:
        scenario: a regular expression that a scenario's id begins with.
        statement: one that occurs in the finding's statement.
        heading: of docs/differences.md.
    """

    scenario: str
    statement: str
    heading: str


# The first that fits counts.
REASONS = (
    Reason("srinivas2010/traffic", "^mpi ", "What a paper does not say"),
    Reason("bogunovic2016/(se|matern52)", "gp-ucb below r-gp-ucb at round", "Figures read by eye"),
    Reason("bogunovic2016/(traffic|temperature)", "standard errors", "Statistical power"),
    Reason("bedi2022/", "takes less time", "Faster linear algebra"),
    Reason("bedi2022/", "model order of bkb-.* grows", "BKB's dictionaries"),
    Reason("bedi2022/.*-literal", "settles", "A gate that cannot close yet"),
    Reason("bedi2022/", "settles", "A gate that closes arm by arm"),
    Reason("bedi2022/rosenbrock", "comes close", "What a closed gate costs"),
    Reason("tranthe2020/(ackley|levy|hyper-ellipsoid)", "ms-ucb", "Subspaces that confine"),
    Reason("tranthe2020/dimension", "ms-ucb", "Subspaces that confine"),
    Reason("ren2024/rbf", "times the paper's", "Means that few runs decide"),
)
UNKNOWN = "not known"


def reason(scenario: str, statement: str) -> str:
    """The heading for a finding that does not hold; "not known" where there is none."""
    fitting = (
        r.heading
        for r in REASONS
        if re.match(r.scenario, scenario) and re.search(r.statement, statement)
    )
    return next(fitting, UNKNOWN)


def anchor(heading: str) -> str:
    """The heading's anchor in the built page."""
    return re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-")
