"""All verdicts once more, from docs/claims.md: with NumPy, and nothing of the claims' engine.

Of the library only the registry is used, for the cells of scenarios that were not run.

`python tests/scenarios/claims/recompute.py [PAPER]` prints them. `verdicts(folder, paper)` is for
tests; the folder has claims/PAPER.toml and reference/.
"""

import json
import math
import sys
import tomllib
from collections import Counter
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from statistics import NormalDist

import numpy as np

from gpbandits_env.scenarios import registry

FOLDER = Path(__file__).parents[3] / "scenarios"
HOLDS, PART, FAILS, OPEN = "holds", "in part", "fails", "undecided"
FLOOR = 1e-12  # of a simple regret whose logarithm is taken


# -- Quantiles and intervals ----------------------------------------------------------------------


def student(degrees):
    """The 95% quantile of Student's distribution, by Simpson's rule and bisection."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    scale /= math.sqrt(degrees * math.pi)

    def above_half(x):
        grid = np.linspace(0.0, x, 2001)
        density = scale * (1.0 + grid**2 / degrees) ** (-(degrees + 1) / 2)
        weights = np.ones(2001)
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
        return float(weights @ density) * x / 2000 / 3

    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if above_half(middle) < 0.45 else (low, middle)
    return low


QUANTILES = {}


def half(values):
    """Half the length of the 90% interval of a mean of independent values."""
    n = len(values)
    if n not in QUANTILES:
        QUANTILES[n] = student(n - 1)
    return QUANTILES[n] * se(values)


def se(values):
    if np.all(values == values[0]):
        return 0.0
    centred = values - values.mean()
    return math.sqrt(float(centred @ centred) / (len(values) - 1) / len(values))


def ratio_ends(a, b, logarithmic):
    if logarithmic:
        d = a - b
        return 10.0 ** (d.mean() - half(d)), 10.0 ** (d.mean() + half(d))
    if a.mean() <= 0.0 or b.mean() <= 0.0:
        value = 1.0 if a.mean() == b.mean() else (math.inf if b.mean() <= 0.0 else 0.0)
        return value, value
    width = half(a / a.mean() - b / b.mean())
    ratio = a.mean() / b.mean()
    return ratio * math.exp(-width), ratio * math.exp(width)


def placed(low, high, least=None, most=None):
    """Where an interval lies: inside the limits, outside, or across one of them."""
    least, most = (-math.inf if least is None else least), (math.inf if most is None else most)
    if least < low and high < most:
        return HOLDS
    return FAILS if high < least or low > most else OPEN


# -- Yardsticks: values of units, (units,) --------------------------------------------------------


def better(a, b, check):
    d = a - b
    is_level = level(a, b, check) == HOLDS or (a == b).all()
    if d.mean() < -2 * se(d):
        return PART if check.get("clearly") and is_level else HOLDS
    return FAILS if d.mean() > 2 * se(d) or is_level or check.get("strict") else OPEN


def level(a, b, check):
    if (a == b).all():
        return OPEN
    factor = check.get("factor", 1.5)
    ends = ratio_ends(a, b, check["logarithmic"])
    return placed(*ends, None if check.get("one_sided") else 1 / factor, factor)


def best(a, others, check):
    lowest = min(others, key=lambda values: values.mean())
    if a.mean() <= lowest.mean():
        return HOLDS
    factor = check.get("factor", 1.5 if check["logarithmic"] else 1.25)
    return placed(*ratio_ends(a, lowest, check["logarithmic"]), None, factor)


def published(a, value, check):
    factor = check.get("factor", 2.0)
    return placed((a.mean() - half(a)) / value, (a.mean() + half(a)) / value, 1 / factor, factor)


def mean(a, check):
    return placed(a.mean() - half(a), a.mean() + half(a), check.get("above"), check.get("below"))


def share(a, check):
    n, z = len(a), NormalDist().inv_cdf(0.95)
    p = float((a != 0).sum()) / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    width = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return placed(centre - width, centre + width, check.get("at_least"), check.get("at_most"))


def limit(a, check):
    most, least = check.get("at_most", math.inf), check.get("at_least", -math.inf)
    inside = ((a <= most) | np.isclose(a, most, 1e-9, 0)) & (
        (a >= least) | np.isclose(a, least, 1e-9, 0)
    )
    return HOLDS if inside.all() else FAILS


def slope(curves, x, check):
    means = curves.mean(axis=0)
    curves, x, means = curves[:, means > 0], np.log(x[means > 0]), means[means > 0]
    if len(x) < 2 or len(curves) < 2:
        return OPEN
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    value, width = weights @ np.log(means), half((curves / means) @ weights)
    return placed(value - width, value + width, check.get("above"), check.get("below"))


def measured(check, a, others, label):
    """The outcome of a check at one round: a and the others are (units,)."""
    name = check["yardstick"]
    if len(a) < 2 and name != "limit":
        return OPEN
    if name == "best":
        return best(a, others, check)
    if name == "published":
        value = check["value"]
        return published(a, value[label] if isinstance(value, dict) else value, check)
    if name in ("better", "level"):
        return {"better": better, "level": level}[name](a, others[0], check)
    return {"mean": mean, "share": share, "limit": limit}[name](
        a - others[0] if others else a, check
    )


# -- Data -----------------------------------------------------------------------------------------


def by_unit(values, units):
    return np.stack([values[units == unit].mean(axis=0) for unit in sorted(set(units.tolist()))])


@cache
class Kept:
    """The kept values of one scenario."""

    def __init__(self, file):
        with np.load(file) as arrays:
            about = json.loads(bytes(arrays["about"]))
            low, middle, high = arrays["values"].astype("<u4")
        numbers = (((high << 16) + (middle << 8) + low) << 9).view("<f4")  # 15 significant bits
        self.points, self.rounds = about["points"], np.array(about["rounds"])
        self.units = {int(cell): np.array(of) for cell, of in about["units"].items()}
        self.batch = about["batch"]
        self.arrays, start = {}, 0
        for cell, label, name, shape in about["values"]:
            end = start + math.prod(shape)
            self.arrays[cell, label, name] = numbers[start:end].reshape(shape)
            start = end

    def values(self, cell, label, check):
        """Values by unit, or None if they are not kept: (units, rounds) or (units,)."""
        metric = check.get("metric", "average_regret")
        of = {"cumulative_regret": "average_regret", "log10_simple_regret": "simple_regret"}
        key = cell, label, of.get(metric, metric)
        if key not in self.arrays:
            return None
        values = self.arrays[key].astype(float)
        if metric == "cumulative_regret":
            values = values * self.rounds * self.batch.get(str(cell), 1)
        if metric == "log10_simple_regret":
            values = np.log10(np.where(values < FLOOR, FLOOR, values))
        values = values[: check.get("trials")]
        return by_unit(values, self.units.get(cell, np.arange(len(values)))[: len(values)])


def groups(check):
    """Each agent with those that one part compares it with."""
    rivals = check.get("b", [])
    for a in check.get("a", []):
        others = [b for b in rivals if b != a]
        if check["yardstick"] == "best" or not rivals:
            yield a, others
        else:
            yield from ((a, [b]) for b in others)


def scenario_outcomes(check, folder):
    for id in check["scenario"]:
        file = folder / "reference" / f"{id}.npz"
        kept = Kept(file) if file.is_file() else None
        cells = check.get("cells", [])
        for cell, point in enumerate(kept.points if kept else registry.get(id).points()):
            chosen = not cells or any(all(point.get(k) == c[k] for k in c) for c in cells)
            for a, others in groups(check) if chosen else ():
                values = [kept and kept.values(cell, label, check) for label in (a, *others)]
                if any(v is None for v in values):
                    yield OPEN, 0, (id, cell)
                else:
                    yield over_rounds(check, values, kept.rounds, a), len(values[0]), (id, cell)


def over_rounds(check, values, rounds, label):
    """The outcome of one part over the rounds at which it is measured."""
    if check["yardstick"] == "slope":
        late = rounds >= check.get("since", 0.5) * rounds[-1]
        return slope(values[0][:, late], rounds[late].astype(float), check)
    if values[0].ndim == 1:
        return measured(check, values[0], values[1:], label)
    found = []
    for fraction in check.get("at", [1.0]):
        (column,) = np.flatnonzero(rounds == math.ceil(fraction * int(rounds[-1])))
        own, *others = (v[:, column] if v.ndim == 2 else v for v in values)
        found.append(measured(check, own, others, label))
    before = found[:-1]
    return PART if found[-1] == HOLDS and before and HOLDS not in before else found[-1]


def computed_outcomes(check, folder):
    group, name = check["computed"].split("/")
    file = folder / "reference" / group / "computed" / f"{name}.npz"
    if not file.is_file():
        yield from ((OPEN, 0) for _ in groups(check))
        return
    kept = json.loads(np.load(file)["about"].tobytes())["values"]
    arrays = {key: np.atleast_1d(np.array(value, float)) for key, value in kept.items()}

    def matching(key):
        return [n for p in check.get(key, []) for n in arrays if fnmatchcase(n, p)]

    for a in matching("a"):
        rivals, values = [b for b in matching("b") if b != a], arrays[a]
        if check["yardstick"] == "slope":
            outcome = slope(np.atleast_2d(values), arrays[check["x"]], check)
            yield outcome, len(values)
        elif check["yardstick"] == "best" or not rivals:
            yield measured(check, values, [arrays[b] for b in rivals], a), len(values)
        else:
            for b in rivals:
                yield measured(check, values, [arrays[b]], a), len(values)


# -- Verdicts -------------------------------------------------------------------------------------


def combined(outcomes, rule):
    """One outcome of several parts, by shares."""
    n, of = len(outcomes), Counter(outcomes)
    if of[HOLDS] >= rule["holds"] * n:
        return HOLDS
    if of[FAILS] >= rule["fails"] * n:
        return FAILS
    return OPEN if of[OPEN] > n / 2 else PART


def verdict(paper, outcomes, rule):
    """The verdict by the rule of a claim, or of its paper."""
    named = {HOLDS: "holds", PART: "in part", FAILS: "does not hold", OPEN: "cannot be judged"}
    n, of = len(outcomes), Counter(outcomes)
    if n == 0:
        return named[OPEN]
    if rule:
        return named[combined(outcomes, rule)]
    orders = {
        "bedi2022": (
            (HOLDS, of[HOLDS] == n),
            (PART, 2 * of[HOLDS] >= n),
            (FAILS, 2 * of[FAILS] > n),
            (OPEN, True),
        ),
        "tranthe2020": (
            (HOLDS, of[HOLDS] >= 0.9 * n and not of[FAILS]),
            (FAILS, 2 * of[FAILS] >= n),
            (OPEN, 2 * of[OPEN] > n),
            (PART, True),
        ),
        "ren2024": (
            (OPEN, 2 * of[OPEN] > n),
            (FAILS, of[FAILS] > 0 and of[FAILS] >= of[HOLDS]),
            (HOLDS, of[HOLDS] == n),
            (PART, True),
        ),
    }
    usual = (
        (HOLDS, of[HOLDS] == n),
        (FAILS, of[FAILS] > 0 and of[HOLDS] + of[PART] == 0),
        (OPEN, of[OPEN] == n),
        (PART, True),
    )
    return next(named[name] for name, is_so in orders.get(paper, usual) if is_so)


def claim_verdict(claim, checks, folder):
    """The verdict on a claim by these checks, and how many units each check has."""
    counted, limited, sizes = [OPEN] * claim.get("not_run", 0), False, []
    together = {}
    for check in checks:
        check["logarithmic"] = check.get("metric", "").startswith("log10")
        make = computed_outcomes if "computed" in check else scenario_outcomes
        parts = list(make(check, folder)) or [(OPEN, 0)]
        outcomes = [outcome for outcome, *_ in parts]
        sizes.append(max(units for _, units, *_ in parts))
        if check.get("parts") == "one":
            outcomes = [combined(outcomes, check.get("rule", {"holds": 1.0, "fails": 0.5}))]
        if check.get("only_limits"):
            limited |= FAILS in outcomes
        elif check.get("together") and not check.get("reported"):
            for outcome, (*_, where) in zip(outcomes, parts, strict=False):
                by_cell = "scenario" in check and check.get("parts") != "one"
                key = check["together"], where if by_cell else None
                together[key] = [*together.get(key, []), outcome]
        elif not check.get("reported"):
            counted += outcomes
    order = [FAILS, OPEN, PART, HOLDS]
    counted += [min(of, key=order.index) for of in together.values()]
    found = verdict(claim["id"].partition("/")[0], counted, claim.get("rule"))
    return ("in part" if limited and found == "holds" else found), sizes


def under(reading, check):
    """A check under another reading."""
    if "computed" in check:
        name = check["computed"]
        return check | {"computed": reading.get("computed", {}).get(name, name)}
    labels, ids = reading.get("agents", {}), reading.get("scenarios", {})
    new = dict(check)
    for key, swap in (("a", labels), ("b", labels), ("scenario", ids)):
        if key in new:
            new[key] = [swap.get(name, name) for name in new[key]]
    if isinstance(check.get("value"), dict):
        new["value"] = {labels.get(name, name): v for name, v in check["value"].items()}
    if "trials" in reading and (not ids or set(ids) & set(check["scenario"])):
        new["trials"] = reading["trials"]
    return new


def verdicts(folder, paper):
    """Claim -> {"": the verdict in the main reading, name: that under another reading}."""
    table = tomllib.loads((folder / "claims" / f"{paper}.toml").read_text("utf-8"))
    found = {}
    for claim in table["claims"]:
        checks = claim.get("check", [])
        found[claim["id"]] = {"": claim_verdict(claim, [dict(c) for c in checks], folder)[0]}
        for reading in table.get("readings", []):
            news = [under(reading, check) for check in checks]
            other = [new != old for new, old in zip(news, checks, strict=True)]
            said, sizes = claim_verdict(claim, news, folder)
            ids = {id for check in checks for id in check.get("scenario", [])}
            put = [new for old, new in reading.get("scenarios", {}).items() if old in ids]
            names = {check["computed"] for check in checks if "computed" in check}
            made = [new for old, new in reading.get("computed", {}).items() if old in names]
            put += [new.replace("/", "/computed/") for new in made]
            if not all((folder / "reference" / f"{id}.npz").is_file() for id in put):
                continue
            if any(is_other and size for is_other, size in zip(other, sizes, strict=True)):
                found[claim["id"]][reading["name"]] = said
    return found


if __name__ == "__main__":
    names = sys.argv[1:] or [file.stem for file in sorted((FOLDER / "claims").glob("*.toml"))]
    for paper in names:
        for id, said in verdicts(FOLDER, paper).items():
            others = "; ".join(f"{name}: {v}" for name, v in said.items() if name)
            print(f"{id}: {said['']}" + (f" ({others})" if others else ""))
