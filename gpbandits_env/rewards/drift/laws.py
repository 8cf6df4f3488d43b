"""`check_drift` tests whether a drift of your own satisfies the laws of drifts."""

import json

import numpy as np
from numpy.random import Generator

from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput, LawBroken
from gpbandits_env.laws import agree, keep_all
from gpbandits_env.rewards.drift.drift import DRIFTS, Drift, DriftSpec, Path, as_drift

# The covariance of four points, its factor, and a map from two coefficients to three points.
POINTS = np.linspace(0.0, 1.0, 4)
K = np.exp(-((POINTS[:, None] - POINTS) ** 2) / (2 * 0.3**2))
FACTOR = np.linalg.cholesky(K + 1e-12 * np.eye(4))
FEATURES = np.array([[1.0, 0.5], [-0.3, 2.0], [0.8, -1.1]])
PATHS = 2000


def check_drift(drift: DriftSpec, rounds: int = 30) -> None:
    """Test whether a drift satisfies all laws; each function of `LAWS` states one.

    If the drift claims to keep the marginal law GP(0, k), its covariance is tested by Monte Carlo,
    and its effect on values and on coefficients is compared. The test takes about half a second for
    30 rounds, and in proportion for others.

    Args:
        drift: a `Drift`, its dict, or a function ``step(f, fresh, t, rng) -> f_next``.
        rounds: the number of rounds, at least 10; more for a drift that does something later.
    Raises:
        LawBroken: a law fails; the message names it, what was found and what was expected.
        InvalidInput: the argument is not a drift, or there are too few rounds.
        UnknownName: there is no drift of the dict's type.
    """
    made = as_drift(drift)
    subject = made, whole(rounds, "rounds", 10)
    keep_all(LAWS, f"the drift {type(made).__name__}", "", type(made).__module__, *subject)


def shape(drift: Drift, rounds: int) -> None:
    """Every f_t is an array of finite numbers in the shape of a draw; the memory is a tuple."""
    rng = np.random.default_rng(0)
    memory = drift.start(lambda: _draw(rng, 1)[0])
    for t in range(1, rounds):
        if not isinstance(memory, tuple) or not all(isinstance(m, np.ndarray) for m in memory):
            raise LawBroken(f"the memory of round {t} must be a tuple of arrays, got {memory!r}")
        values = drift.values(memory, t)
        if np.shape(values) != POINTS.shape or not np.isfinite(values).all():
            raise LawBroken(f"f_{t} must be finite, of shape {POINTS.shape}, got {values!r}")
        memory = drift.step(memory, lambda: _draw(rng, 1)[0], t, rng)


def the_seed(drift: Drift, rounds: int) -> None:
    """A path depends only on its generator, streamed or drawn ahead; other generators differ."""
    streamed = _path(drift, 5)
    rows = [streamed.values.copy(), *(streamed.advance().copy() for _ in range(rounds - 1))]
    agree("a path drawn ahead, and the same path", _path(drift, 5).ahead(rounds), rows, rtol=0.0)
    if np.array_equal(_path(drift, 6).ahead(rounds), rows):
        raise LawBroken("two different generators give the same path")


def the_same_path_for_all_agents(drift: Drift, rounds: int) -> None:
    """Two paths that advance in turn equal the same paths alone: all state is in the memory."""
    paths = [_path(drift, 5), _path(drift, 7)]
    rows = np.array([[path.advance().copy() for path in paths] for _ in range(rounds)])
    for i, seed in enumerate((5, 7)):
        alone = _path(drift, seed).ahead(rounds + 1)[1:]
        agree("a path that advances with another, and alone", rows[:, i], alone, rtol=0.0)


def no_change_in_place(drift: Drift, rounds: int) -> None:
    """`step` changes neither the memory nor functions that were returned before."""
    rng = np.random.default_rng(3)
    memory = drift.start(lambda: _draw(rng, 1)[0])
    for t in range(1, rounds):
        values, kept = drift.values(memory, t), tuple(m.copy() for m in memory)
        before = values.copy()
        after = drift.step(memory, lambda: _draw(rng, 1)[0], t, rng)
        for old, copy in zip(memory, kept, strict=True):
            agree(f"the memory of round {t} after the step, and before", old, copy, rtol=0.0)
        drift.values(after, t + 1)
        agree(f"f_{t} after the step, and before", values, before, rtol=0.0)
        memory = after


def plain_dicts(drift: Drift, rounds: int) -> None:
    """A registered drift is equal after it is written as JSON and read back."""
    if type(drift) not in DRIFTS.members.values():
        return
    try:
        spec = json.loads(json.dumps(DRIFTS.to_dict(drift)))
        back = as_drift(spec)
    except InvalidInput:  # a part is no dataclass, or in no module
        return
    if back != drift:
        raise LawBroken(f"{spec} is read as {back!r}, which is not equal to {drift!r}")


def the_marginal(drift: Drift, rounds: int) -> None:
    """Every f_t has the mean and the covariance of a fresh draw, if the drift claims so."""
    if not drift.keeps_marginal:
        return
    paths = np.stack([_path(drift, seed).ahead(rounds) for seed in range(PATHS)])
    # The standard error of an entry of the covariance is at most sqrt(2 / PATHS). Errors of a
    # slow drift add up, so that the last round shows what the first ones do not.
    for t in (0, 3, 8, rounds - 1):
        mean, covariance = paths[:, t].mean(axis=0), paths[:, t].T @ paths[:, t] / PATHS
        for name, off, variance in (("mean", mean, 1.0), ("covariance", covariance - K, 2.0)):
            limit, worst = 4.5 * np.sqrt(variance / PATHS), np.abs(off).max()
            if not worst <= limit:
                raise LawBroken(
                    f"the {name} of f_{t + 1} differs from that of a draw by {worst:.3g} (chance "
                    f"explains {limit:.2g}); set keeps_marginal = False if this is intended"
                )


def linearity(drift: Drift, rounds: int) -> None:
    """A drift that keeps the law acts on the values Phi xi as on the coefficients xi."""
    if not drift.keeps_marginal:
        return

    def white(rng: Generator, size: int) -> Array:
        return rng.standard_normal((size, 2))

    for seed in range(10):
        coefficients = Path(drift, white, np.random.default_rng(seed))
        values = Path(drift, lambda *given: white(*given) @ FEATURES.T, np.random.default_rng(seed))
        off = np.abs(values.ahead(rounds) - coefficients.ahead(rounds) @ FEATURES.T).max()
        if not off <= 1e-9:
            raise LawBroken(
                f"drifting the values and drifting the coefficients differ by {off:.3g}: mix draws "
                "linearly, with weights that do not depend on them, or set keeps_marginal = False"
            )


LAWS = (
    *(shape, no_change_in_place, the_seed, the_same_path_for_all_agents, plain_dicts),
    *(the_marginal, linearity),
)


def _draw(rng: Generator, size: int) -> Array:
    return rng.standard_normal((size, 4)) @ FACTOR.T


def _path(drift: Drift, seed: int) -> Path:
    return Path(drift, _draw, np.random.default_rng(seed))
