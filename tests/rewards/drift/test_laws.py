"""`check_drift` names the law that a drift breaks."""

from dataclasses import dataclass

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, LawBroken, UnknownName
from gpbandits_env.rewards.drift import DRIFTS, Blend, Drift, MarkovDrift, as_drift, check_drift


class Half(Drift):
    """A steady Markov drift; each broken one below changes a thing."""

    def step(self, memory, fresh, t, rng):
        return (np.sqrt(0.5) * memory[0] + np.sqrt(0.5) * fresh(),)


class ListMemory(Half):
    def step(self, memory, fresh, t, rng):
        return list(super().step(memory, fresh, t, rng))


class Shorter(Half):
    def values(self, memory, t):
        return memory[0][: 4 - t // 20]


class Infinite(Half):
    keeps_marginal = False

    def values(self, memory, t):
        return memory[0] / (0.0 if t > 25 else 1.0)


class GlobalChance(Half):
    def step(self, memory, fresh, t, rng):
        return (fresh(),) if np.random.random() < 0.5 else memory  # noqa: NPY002


class Constant(Half):
    keeps_marginal = False

    def start(self, fresh):
        return (np.ones(4),)

    def step(self, memory, fresh, t, rng):
        return memory


class Remembers(Half):
    """Keeps its last function outside its memory."""

    last = None

    def step(self, memory, fresh, t, rng):
        before = memory[0] if self.last is None or t == 1 else self.last
        self.last = np.sqrt(0.5) * before + np.sqrt(0.5) * fresh()
        return (self.last,)


class InPlace(Drift):
    def start(self, fresh):
        return fresh(), np.zeros(1)

    def step(self, memory, fresh, t, rng):
        memory[1][0] += 1.0
        return memory


class Counts(Half):
    """Its rounds are counted outside its memory."""

    rounds = 0

    def start(self, fresh):
        self.rounds = 0
        return super().start(fresh)

    def step(self, memory, fresh, t, rng):
        self.rounds += 1
        return (fresh(),) if self.rounds % 20 == 0 else memory


@dataclass(frozen=True)
class Forgetful(Half):
    """Does not read back as it was written."""

    rate: float = 0.5

    def __post_init__(self):
        object.__setattr__(self, "rate", 0.9 * self.rate)


class Shrinks(Half):
    def step(self, memory, fresh, t, rng):
        return (0.9 * memory[0],)


class Grows(Half):
    """A slow drift whose variance grows."""

    def step(self, memory, fresh, t, rng):
        return (memory[0] + 0.1 * fresh(),)


class AddsInPlace(Half):
    def step(self, memory, fresh, t, rng):
        f = memory[0]
        f += fresh()
        return (f,)


class Sorted(Half):
    """Keeps the covariance, not the mean."""

    def step(self, memory, fresh, t, rng):
        return (memory[0] if memory[0][0] > 0.0 else -memory[0],)


class Flipped(Half):
    """Keeps the marginal law, but turns by what was drawn: wrong for coefficients."""

    def step(self, memory, fresh, t, rng):
        return (np.sqrt(0.5) * memory[0] + np.copysign(np.sqrt(0.5), memory[0][0]) * fresh(),)


BROKEN = {
    "shape": (ListMemory, Shorter, Infinite),
    "the_seed": (GlobalChance, Constant),
    "the_same_path_for_all_agents": (Remembers, Counts),
    "no_change_in_place": (InPlace, AddsInPlace),
    "the_marginal": (Shrinks, Sorted, Grows),
    "linearity": (Flipped,),
}


@pytest.mark.parametrize(
    ("law", "broken"), [(law, kind) for law, kinds in BROKEN.items() for kind in kinds]
)
def test_the_law_that_is_broken_is_named(law, broken):
    says = pytest.raises(LawBroken, match=rf"{broken.__name__} breaks the law of {law}:")
    with np.errstate(divide="ignore", invalid="ignore"), says:
        check_drift(broken())


def test_a_registered_drift_must_read_back(monkeypatch):
    monkeypatch.setattr(DRIFTS, "members", dict(DRIFTS.members))
    DRIFTS.register("forgetful")(Forgetful)
    with pytest.raises(LawBroken, match=r"Forgetful breaks the law of plain_dicts: .*0\.45"):
        check_drift(Forgetful())


def test_what_keeps_the_laws_passes():
    check_drift(Half())
    check_drift({"type": "markov", "epsilon": 0.2})
    check_drift(lambda f, fresh, t, rng: fresh() if t % 3 == 0 else f)
    check_drift(lambda f, fresh, t, rng: np.tanh(f))  # which claims nothing
    check_drift(Blend((Half(), MarkovDrift(0.2))))  # which cannot be written as JSON
    assert as_drift(MarkovDrift(0.1)).keeps_marginal


def test_what_is_no_drift_is_refused():
    with pytest.raises(InvalidInput, match="drift"):
        check_drift(7)
    with pytest.raises(UnknownName, match="markov"):
        check_drift({"type": "markow"})
    with pytest.raises(LawBroken, match=r"the law of shape: .*of shape \(4,\)"):
        check_drift(lambda f, fresh, t, rng: f[:2])


@dataclass(frozen=True)
class Late(Half):
    """A drift that is wrong after round 60."""

    def step(self, memory, fresh, t, rng):
        memory = super().step(memory, fresh, t, rng)
        return memory if t < 60 else (memory[0] * np.nan,)


def test_a_drift_may_be_tried_for_more_rounds():
    check_drift(Late())
    with pytest.raises(LawBroken, match=r"Late breaks the law of shape.*f_61 must be finite"):
        check_drift(Late(), rounds=70)
    with pytest.raises(InvalidInput, match="rounds must be at least 10"):
        check_drift(Late(), rounds=9)
