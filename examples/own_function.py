"""Minimize a function of your own: by one call, by ask and tell, and in an Optuna study.

Run: python examples/own_function.py (the last part needs the extra optuna)
"""

import math

from gpbandits_env import Campaign, Choice, Integer, Real, agents
from gpbandits_env.errors import MissingExtra


def loss(rate, depth, kind):
    return math.log10(rate / 0.02) ** 2 + (depth - 7) ** 2 / 20 + (kind != "relu")


space = {
    "rate": Real(1e-4, 1.0, log=True),
    "depth": Integer(1, 16),
    "kind": Choice(("relu", "tanh", "gelu")),
}
found = agents.minimize(lambda p: loss(**p), space, n_calls=40, seed=0)
print("minimize", found.x, f"{found.fun:.4f}")

campaign = Campaign(space, "gp-ucb", maximize=False, seed=0)
for _ in range(12):
    workers = campaign.ask(3)  # three at a time; each keeps away from the others
    for suggestion in reversed(workers):  # they come back in any order
        if suggestion.id == 7:
            campaign.fail(suggestion, "out of memory")
        else:
            campaign.tell(suggestion, loss(**suggestion.params))
print("campaign", campaign.best.params, f"{campaign.best.value:.4f}")

try:
    from gpbandits_env.agents.optimize.optuna_sampler import GPBanditsSampler
except MissingExtra as missing:
    print(missing)
else:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=GPBanditsSampler("ei", seed=0))
    study.optimize(
        lambda t: loss(
            t.suggest_float("rate", 1e-4, 1.0, log=True),
            t.suggest_int("depth", 1, 16),
            t.suggest_categorical("kind", ["relu", "tanh", "gelu"]),
        ),
        n_trials=30,
    )
    print("optuna  ", study.best_params, f"{study.best_value:.4f}")
