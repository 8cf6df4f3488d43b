"""Every agent chooses the same arms if all means and variances differ in their last digits."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.search.search import ArmSearch

# Far above what processors differ by after a few rounds, and far below a real difference.
LAST_DIGITS = 1e-12


class Rounded:
    """A posterior whose means and variances are rounded otherwise."""

    def __init__(self, posterior, rng):
        self._posterior = posterior
        self.mean, self.var, self._rng = self._other(rng, "mean"), self._other(rng, "var"), rng

    def _other(self, rng, name):
        given = getattr(self._posterior, name)
        return given * (1.0 + LAST_DIGITS * rng.standard_normal(len(given)))

    def sample(self, rng, size):
        drawn = self._posterior.sample(rng, size)
        return drawn * (1.0 + LAST_DIGITS * self._rng.standard_normal(drawn.shape))

    def __getattr__(self, name):
        return getattr(self._posterior, name)


def chosen(laws, case, rounds):
    name, given = case
    settings = laws.needed.get(name, {}) | given
    agent = agents.make(name, laws.problem_on("grid", 2), seed=3, **settings)
    found = []
    for t in range(rounds):
        actions = agent.ask()
        x = laws.domains["grid"].coordinates[actions]
        # Of both halves of the grid alike, so that symmetric arms stay tied in many rounds.
        agent.tell(actions, np.sin(3.0 * np.abs(x - 0.5).sum(axis=1) + 0.1 * t))
        laws.show(agent)
        found.append(actions)
    return np.array(found)


def test_the_last_digits_decide_no_action(laws, case, monkeypatch):
    if case[0] in laws.box_only:
        pytest.skip("acts in boxes only")
    plain = chosen(laws, case, 8)
    rng = np.random.default_rng(5)
    for name in ("best", "sampled"):
        method = getattr(ArmSearch, name)

        def rounded(self, *given, method=method, name=name, **more):
            at = 1 if name == "best" else 0
            given = [*given]
            given[at] = Rounded(given[at], rng)
            return method(self, *given, **more)

        monkeypatch.setattr(ArmSearch, name, rounded)
    assert np.array_equal(chosen(laws, case, 8), plain)
