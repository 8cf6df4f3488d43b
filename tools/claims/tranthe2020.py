"""What decides the claims of tranthe2020 beside its curves."""

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.metrics import FLOOR
from gpbandits_env.scenarios.papers.tranthe2020 import HORIZON, INITIAL, SCENARIOS
from gpbandits_env.scenarios.results.store import Store

# The number of rounds whose mean is a level.
LAST = 20


def levels(store: Store, cell: int, label: str) -> dict[str, Array]:
    """The mean of log10(f(x*) - f(x_t)) over 20 rounds, (trials,): at the end and at half time."""
    regret = store.arrays(cell, label, "regret")
    logs = np.log10(np.maximum(regret.reshape(len(regret), -1), FLOOR))
    half = INITIAL + (HORIZON - INITIAL) // 2
    return {
        "log10_level": logs[:, -LAST:].mean(axis=1),
        "log10_level_half": logs[:, half - LAST : half].mean(axis=1),
    }


MEASURES = {s.id: (levels,) for s in SCENARIOS if s.horizon == HORIZON}
