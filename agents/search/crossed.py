"""What ends of several climbs are worth together: coordinates of the best exchanged for others'.

In many dimensions an acquisition has very many local maxima, most of them at ends of most sides of
the box; climbs from ten starts reach ten of them. What is better than all ten often lies between
them: with a few of its coordinates from another end the best one improves, again and again. That
asks for values only, and of few points at a time.

Source: Storn & Price (1997), "Differential evolution", for the binomial crossover and the greedy
selection; departures: 1. what is crossed are points, not differences; 2. only the best is changed.
"""

from collections.abc import Callable

import numpy as np

from gpbandits_env.arrays import Array

# Rounds of exchange, and points looked at in each.
ROUNDS, EACH = 16, 32
# It ends after so many rounds that together gain less than a part of the value.
PATIENCE, TOLERANCE = 4, 1e-8
# The largest part of the coordinates that is exchanged; the smallest is one of them.
MOST_EXCHANGED = 0.5


def crossed(
    score: Callable[[Array], Array],
    ends: Array,
    values: Array,
    rng: np.random.Generator,
) -> tuple[Array, float]:
    """A point whose coordinates are those of the ends, and its value: never below the best's.

    Args:
        score: of points (k, d): (k,), to be maximised.
        ends: (n, d).
        values: (n,) their scores.
        rng: draws what is exchanged.
    """
    n, d = ends.shape
    top = int(values.argmax())
    best, value = ends[top], values.item(top)
    smallest = min(1.0 / d, MOST_EXCHANGED)
    parts = np.exp(rng.uniform(np.log(smallest), np.log(MOST_EXCHANGED), (ROUNDS, EACH, 1)))
    others = rng.integers(n, size=(ROUNDS, EACH))
    before = [-np.inf] * PATIENCE
    for part, other in zip(parts, others, strict=True):
        if value - before.pop(0) <= TOLERANCE * abs(value):
            break
        before.append(value)
        trials = np.where(rng.random((EACH, d)) < part, ends[other], best)
        found = score(trials)
        first = int(found.argmax())
        if found[first] > value:
            best, value = trials[first], found.item(first)
    return best, value
