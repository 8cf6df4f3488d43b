"""The computations on real data that decide claims of bogunovic2016, Section 5.2.

Units are blocks of rounds on the temperatures, where one recording is replayed, and random draws of
50 sensors on the traffic.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import rankdata, sem

from gpbandits_env import Empirical, Problem
from gpbandits_env.arrays import Array, IntArray, Settings
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.papers import bogunovic2016
from gpbandits_env.scenarios.scenario import AgentEntry
from gpbandits_env.scenarios.study.runner import make_agent, make_env
from gpbandits_env.seeding import seed_for, stream
from tools.claims import Arrays, columns
from tools.tuning import block_of, epsilon_of, play, training_rows

SEEDS = 50


def log_ratio(a: Array, b: Array) -> Array:
    """Per unit, the logarithm of the ratio of the means plus that unit's part in it.

    The mean is the logarithm of the ratio, with the standard error of the delta method.
    """
    return a / a.mean() - b / b.mean() + np.log(a.mean() / b.mean())


def difference(a: Array, b: Array) -> Array:
    """Values whose mean and standard error are those of mean(a) - mean(b), of unpaired units."""
    n = len(a) + len(b)
    parts = (n / len(a) * (a - a.mean()), -n / len(b) * (b - b.mean()))
    return np.concatenate(parts) + a.mean() - b.mean()


# -- Temperatures ----------------------------------------------------------------------------------


@one_blas_thread()
def temperature() -> Arrays:
    """Regret on the last two days of temperatures by blocks of 36 and of 12 rounds: Fig. 3(a).

    "by 36": the mean regret per block, for random and RExp3 over 50 seeds. "to": logarithms of
    ratios, see `log_ratio`. RExp3 has the limits of the training days, and the variation of the
    scenario or ("measured") that of the training days.
    """
    found = registry.get("bogunovic2016/temperature")
    problem, rows = _replayed(found.env_kwargs, found.horizon)
    train, _ = training_rows(found)
    entries = {e.label: e for e in (*found.agents, *found.alternatives)}
    low, high = float(train.min()), float(train.max())
    moved = np.abs(np.diff(train, axis=0)).max(axis=1).mean() * len(rows) / (high - low)
    limits = {"low": low, "high": high}
    chosen = {label: entries[label] for label in ("tv-gp-ucb", "r-gp-ucb", "gp-ucb", "random")}
    # A kernel that is 0 between different arms.
    apart = {"kernel": Empirical(np.diag(problem.kernel.diagonal(problem.domain.span)))}
    tv = entries["tv-gp-ucb"]
    chosen["temporal"] = replace(tv, settings={**tv.settings, **apart})
    chosen["rexp3"] = replace(entries["rexp3"], settings=limits)
    chosen["rexp3 measured"] = replace(entries["rexp3"], settings={**limits, "variation": moved})
    regret = {
        label: np.stack([
            play(make_agent(entry, problem, seed_for(found.id, label, i)), rows)[1]
            for i in range(SEEDS if label.startswith(("random", "rexp3")) else 1)
        ])
        for label, entry in chosen.items()
    }  # fmt: skip
    by_36, by_12 = (
        {label: values.mean(axis=0).reshape(-1, n).mean(axis=1) for label, values in regret.items()}
        for n in (36, 12)
    )
    pairs = [(a, "random") for a in ("tv-gp-ucb", "r-gp-ucb")]
    pairs += [(a, "tv-gp-ucb") for a in ("gp-ucb", "temporal")]
    arrays = {f"{label} by 36": values for label, values in by_36.items()}
    arrays |= {f"{a} to {b}": log_ratio(by_36[a], by_36[b]) for a, b in pairs}
    return arrays | _decays(regret, by_12) | _over_time(by_36, regret)


def _decays(regret: Arrays, by_12: Arrays) -> Arrays:
    """GP-UCB does well for 48 rounds, and is barely better than random over the last 96."""
    first = {label: values[:, :48].mean(axis=1) for label, values in regret.items()}
    lowest, gp_ucb = min(first[u] for u in ("tv-gp-ucb", "r-gp-ucb", "gp-ucb")), by_12["gp-ucb"]
    return {
        "first 48: gp-ucb to the lowest": first["gp-ucb"] / lowest,
        "first 48: gp-ucb": np.repeat(first["gp-ucb"], SEEDS),
        "first 48: random": first["random"],
        "last 96: gp-ucb to random": log_ratio(gp_ucb[-8:], by_12["random"][-8:]),
        "last 96: gp-ucb less its first 48": difference(gp_ucb[-8:], gp_ucb[:4]),
    }


def slope(y: Array, x: Array) -> Array:
    """Values whose mean is the slope of y on x, and whose error is that of resampled pairs."""
    x = x - x.mean()
    value = (x @ y) / (x @ x)
    return value + len(x) * x * (y - y.mean() - value * x) / (x @ x)


def _over_time(by_36: Arrays, regret: Arrays) -> Arrays:
    """How GP-UCB and R-GP-UCB change against TV-GP-UCB over the blocks of 36 rounds."""
    tv, t = by_36["tv-gp-ucb"], np.arange(1, 289)
    ratio, gap = by_36["gp-ucb"] / tv, by_36["r-gp-ucb"] - tv
    starts = np.arange(0.0, 36.0 * len(gap), 36.0)
    average = np.cumsum(regret["r-gp-ucb"][0] - regret["tv-gp-ucb"][0]) / t
    kept = t[35::12]
    return {
        "staleness": slope(np.log(ratio), np.log(starts + 18.0)),
        "gap: slope": slope(gap, starts),
        "gap: second half less first": difference(gap[4:], gap[:4]),
        "gap: slope of the average regret": np.polyfit(kept, average[35::12], 1)[:1],
    }


def _replayed(env_kwargs: Settings, horizon: int) -> tuple[Problem, Array]:
    """What the agents know, and the rows that are replayed from the first test row on."""
    env: Any = make_env("gpbandits/Replay-v0", env_kwargs, horizon).unwrapped
    return env.problem, env.bandit.process.table[:horizon]


# -- Traffic ---------------------------------------------------------------------------------------

SENSORS, TRAFFIC_DRAWS, OPENINGS, MORNING = 207, 60, 20, 60
BLOCKS = (10, 15, 20, 28, 42)
# An event is a fall of a standard deviation of the signal, of whose variance the noise is 5%. The
# imposed one is twice as large, at the fractions 20/84, 40/84 and 60/84 of a morning.
FALL, EVENTS, WAIT = 10.0, (14, 29, 43), 20


@one_blas_thread()
def traffic_draws() -> Arrays:
    """Regret on the two test mornings of METR-LA over 60 random draws of 50 of its 207 sensors.

    All arrays have one value per draw, which is the mean over 20 first sensors drawn from the 50,
    except those of "day", which have one per draw and morning.
    """
    found = columns([_draw(draw) for draw in range(TRAFFIC_DRAWS)])
    by_day = {key: found.pop(key) for key in list(found) if key.startswith("day")}
    found["tv-gp-ucb to random"] = log_ratio(found["tv-gp-ucb"], found["random"])
    for n in BLOCKS:
        lead = found[f"r-gp-ucb {n}"] - found["gp-ucb"]
        upper = [part.mean() + 2.0 * sem(part) for part in (lead[::2], lead[1::2], lead)]
        found |= {f"both halves {n}": max(upper[:2]), f"all draws {n}": upper[2]}
    ranks = [rankdata(by_day[key]) for key in ("day gain", "day turnover")]
    scores = [(r - r.mean()) / r.std() for r in ranks]
    found["rank correlation"] = (scores[0] * scores[1]).reshape(by_day["day gain"].shape).mean(1)
    found["share of days lower"] = (by_day["day gain"] > 0.0).mean(axis=1)
    gain, error, ratio = (by_day[key].ravel() for key in ("day gain", "day error", "day ratio"))
    found["gp-ucb better"] = gain < -2.0 * error
    found["ratio where no gain"] = ratio[gain <= 2.0 * error]
    found["day 1 gain"], found["day 2 gain"] = by_day["day gain"].T
    # A free run without an event says nothing about events.
    events = [key for key in found if key.startswith("event")]
    met = np.isfinite([found[key] for key in events]).all(axis=0)
    return found | {key: found[key][met] for key in events}


def _draw(draw: int) -> dict[str, Any]:
    """The results of one draw of sensors."""
    rng = stream("bogunovic2016/traffic-draws", draw)
    columns = tuple(int(c) for c in np.sort(rng.choice(SENSORS, 50, replace=False)))
    openings = rng.choice(50, OPENINGS, replace=False).tolist()
    given = {**bogunovic2016.TRAFFIC, "columns": columns}
    problem, rows = _replayed(given, 2 * MORNING)
    mornings = rows.reshape(2, MORNING, -1)
    tv, gp_ucb = bogunovic2016.TRAFFIC_AGENTS
    entries = {"tv-gp-ucb": tv, "gp-ucb": gp_ucb, "random": bogunovic2016.RANDOM}
    for n in BLOCKS:
        settings = {**gp_ucb.settings, "reset_every": n}
        entries[f"r-gp-ucb {n}"] = AgentEntry("r", "r-gp-ucb", settings)
    runs = {
        label: [
            [play(make_agent(entry, problem, first), morning, [first]) for first in openings]
            for morning in mornings
        ]
        for label, entry in entries.items()
    }
    regret = {k: np.array([[r for _, r in day] for day in days]) for k, days in runs.items()}
    found: dict[str, Any] = {label: values.mean() for label, values in regret.items()}
    per_day = {label: values.mean(axis=2) for label, values in regret.items()}
    gains = per_day["gp-ucb"] - per_day["tv-gp-ucb"]
    found["day gain"] = gains.mean(axis=1)
    found["day error"] = [sem(day) for day in gains]
    found["day ratio"] = per_day["tv-gp-ucb"].mean(axis=1) / per_day["gp-ucb"].mean(axis=1)
    found["day turnover"] = [_turnover(morning) for morning in mornings]
    for label in ("tv-gp-ucb", "gp-ucb"):
        at, rest = _events(runs[label], mornings)
        found[f"event {label}"], found[f"event {label}, other rounds"] = at, rest
    waits = [
        _waits((tv, gp_ucb), problem, morning, event, first)
        for morning in mornings
        for event in EVENTS
        for first in openings[:4]
    ]
    found["recovery tv-gp-ucb"], found["recovery gp-ucb"] = np.mean(waits, axis=0)
    return found


def _turnover(morning: Array) -> float:
    """One minus the overlap of the five fastest sensors of the first and of the last hour."""
    first, last = (
        set(np.argsort(part.mean(axis=0))[-5:]) for part in (morning[:12], morning[-12:])
    )
    return 1.0 - len(first & last) / 5.0


def _events(runs: Any, mornings: Array) -> tuple[float, float]:
    """The mean regret where a kept sensor falls by `FALL`, and in the other rounds."""
    arms, regret = (np.array([[run[i] for run in day] for day in runs]) for i in (0, 1))
    speeds = np.take_along_axis(mornings[:, None], arms[..., None], axis=3)[..., 0]
    event = np.zeros(arms.shape, bool)
    event[..., 1:] = (np.diff(arms) == 0) & (np.diff(speeds) <= -FALL)
    at = regret[event]
    return (float(at.mean()) if len(at) else np.nan), float(regret[~event].mean())


def _waits(
    pair: tuple[AgentEntry, AgentEntry], problem: Problem, morning: Array, event: int, first: int
) -> Array:
    """Rounds until each agent has recovered from an imposed fall, after the same history.

    The history is that of each agent in turn. The sensor that it chose most often in the last five
    rounds is slower by twice `FALL` from the event on.
    """
    waits = []
    for source in pair:
        arms, regret = play(make_agent(source, problem, first), morning[:event], [first])
        fallen = morning.copy()
        fallen[event:, np.bincount(arms[-5:]).argmax()] -= 2.0 * FALL
        waits.append([_wait(e, problem, fallen, arms, regret[-1]) for e in pair])
    return np.mean(waits, axis=0)


def _wait(entry: AgentEntry, problem: Problem, rows: Array, arms: IntArray, before: float) -> int:
    """Rounds until regret is within a quarter of its jump above ``before``, at most `WAIT`."""
    agent, past = make_agent(entry, problem, 0), len(arms)
    regret = play(agent, rows[: past + WAIT], arms.tolist())[1][past:]
    jump = max(regret[0] - before, 0.0)
    recovered = regret <= before + 0.25 * jump
    return int(recovered.argmax()) if recovered.any() else len(regret)


# -- What is learned before the runs ---------------------------------------------------------------


def learned() -> Arrays:
    """Epsilon by marginal likelihood and N by cross-validation on the training days."""
    warm, traffic = (registry.get(f"bogunovic2016/{s}") for s in ("temperature", "traffic"))
    return {
        "temperature epsilon": epsilon_of(warm),
        "temperature N": block_of(warm),
        "traffic epsilon": epsilon_of(traffic),
    }
