"""The numbers of results in hand-written pages, each with a comment that says where it is kept.

    an average regret of 0.29<!-- srinivas2010/se-1d ei/observed --> after 1000 rounds

The comment names a scenario, an agent, and the metric if it is not the average regret; "#1" after
the scenario is its second cell. A number with ± has the standard error. `python
tools/site/kept_numbers.py` writes the present numbers into the pages.
"""

import re
from functools import cache, partial
from pathlib import Path

from gpbandits_env.scenarios.results import evidence

ROOT = Path(__file__).parents[2]
load = cache(evidence.load)
MARK = re.compile(
    r"(-?\d+(?:\.\d+)?)( ± \d+(?:\.\d+)?)?"
    r"<!-- (?P<id>\w+/[^\s#]+)(?:#(?P<cell>\d+))? (?P<agent>\S+)(?: (?P<metric>\w+))? -->"
)


def filled(text: str, comments: bool = False) -> str:
    """The page with the numbers of the reference files, and with the comments if wanted."""
    return MARK.sub(partial(_number, comments=comments), text)


def _number(found: re.Match[str], comments: bool) -> str:
    kept = load(found["id"])
    if kept is None:
        raise ValueError(f"{found[0]}: no results of this scenario are kept")
    shown = (found[1], found[2] or "")
    cell, metric = int(found["cell"] or 0), found["metric"] or "average_regret"
    values = kept.summary(cell, found["agent"], metric)
    digits = [len(number.partition(".")[2]) for number in shown]
    number = f"{values[0]:.{digits[0]}f}"
    number += f" ± {values[1]:.{digits[1]}f}" if shown[1] else ""
    return number + (f"<!--{found[0].partition('<!--')[2]}" if comments else "")


if __name__ == "__main__":
    for path in (ROOT / "docs").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        if (changed := filled(text, comments=True)) != text:
            path.write_text(changed, encoding="utf-8")
