"""What is learned, when, and in whose units; on arms and in a box."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.data.columns import Data
from gpbandits_env.agents.data.keep import Since
from gpbandits_env.agents.data.refit import Refit
from gpbandits_env.agents.embeddings.action_map import ActionMap
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Linear, Matern52, SquaredExponential
from gpbandits_env.gp.learning import (
    HyperPriors,
    InputScaling,
    Learning,
    Observations,
    fit,
    learning_for,
)
from gpbandits_env.gp.learning import estimate as fits
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.problem import Problem

ARMS = Arms(np.random.default_rng(0).uniform([0, -3], [4, 9], (60, 2)))
BOX = Box([0.0, -3.0], [4.0, 9.0])


class Host:
    """What a refit needs of an agent: rounds, and data that all count."""

    def __init__(self, domain):
        self.domain, self.round, self.models = domain, 0, []
        self.data, self.keep = Data(domain), Since()

    def add(self, points, rewards):
        self.data.add(points, rewards, float(self.round), float(self.round))


def function(x):
    return 40 + 5 * np.sin(x[:, 0] * 2) + np.cos(x[:, 1] / 2)


def update(refit, host, known=0):
    """Whether the model changes when a round, or known data, are observed."""
    before = refit.model
    kind = "prior" if known else "round"
    refit.observe(SimpleNamespace(source=kind, round=host.round, rewards=range(known)), None)
    return refit.model is not before


def play(refit, host, rounds, m=2, seed=1):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        places = host.domain.sample(rng, m)
        y = function(host.domain.points(places)) + 0.1 * rng.standard_normal(m)
        host.round += 1
        host.add(places, y)
        if update(refit, host):
            model = refit.model
            host.models.append((model.kernel, model.noise_var, model.prior_mean))


def build(domain, prior_mean=0.0, noise_var=0.1, kernel=None, **settings):
    model, host = Model(kernel or Matern52(1.0), noise_var, prior_mean), Host(domain)
    mapped = ActionMap(Problem(domain, model.kernel, noise_var))
    return Refit(Learning(**settings), model, host.data, host.keep, mapped), host


@pytest.mark.parametrize("domain", [ARMS, BOX], ids=["arms", "box"])
def test_fits_every_k_rounds_from_the_first_that_has_data(domain):
    refit, host = build(domain, every=4, first=5)
    play(refit, host, 12)
    assert [record["round"] for record in refit.learned] == [3, 7, 11]
    assert [record["observations"] for record in refit.learned] == [6, 14, 22]
    assert len(host.models) == 3
    last = refit.learned[-1]
    kernel, noise_var, mean = host.models[-1]
    assert list(kernel.lengthscale) == last["lengthscale"]
    assert (kernel.variance, noise_var, mean) == (last["variance"], last["noise_var"], 0.0)


def test_after_a_reset_fits_come_when_they_came_before():
    refit, host = build(BOX, every=4, first=5)
    play(refit, host, 5)
    first = [record["round"] for record in refit.learned]
    refit.begin()
    host.data.clear()
    host.round = 0
    play(refit, host, 5)
    assert [record["round"] for record in refit.learned] == first == [3]


def test_what_is_learned_is_what_learn_finds():
    refit, host = build(BOX, every=100, first=30, starts=3, standardize=True)
    play(refit, host, 15)
    rng = np.random.default_rng(1)
    x, y = [], []
    for _ in range(15):
        x.append(BOX.sample(rng, 2))
        y.append(function(x[-1]) + 0.1 * rng.standard_normal(2))
    expected = fit(
        Model(Matern52(1.0).scaled(np.var(np.concatenate(y))), 0.1),
        Observations(np.concatenate(x), np.concatenate(y)),
        learn=["kernel", "noise_var", "mean"],
        priors=HyperPriors.default(InputScaling.of(BOX)),
        starts=3,
    ).model
    kernel, noise_var, mean = host.models[0]
    assert kernel.lengthscale == pytest.approx(expected.kernel.lengthscale, rel=1e-3)
    assert kernel.variance == pytest.approx(expected.kernel.variance, rel=1e-3)
    assert noise_var == pytest.approx(expected.noise_var, rel=1e-2)
    assert mean == pytest.approx(expected.prior_mean, rel=1e-3)


def test_a_refit_starts_where_the_last_one_ended():
    refit, host = build(BOX, every=1, starts=1, standardize=True)
    play(refit, host, 30)
    ell = np.array([record["lengthscale"] for record in refit.learned])
    assert np.abs(np.diff(np.log(ell[10:]), axis=0)).max() < 0.5


@pytest.mark.parametrize("what", [("lengthscale",), ("variance", "noise_var"), ("kernel",)])
def test_what_is_learned_starts_as_learned_before_and_the_rest_as_given(monkeypatch, what):
    started = []

    def recorded(model, *args, **settings):
        started.append(model)
        return fit(model, *args, **settings)

    monkeypatch.setattr(fits, "fit", recorded)
    refit, host = build(BOX, what=what, every=5, starts=1)
    play(refit, host, 10)
    first, second = started[-2], started[-1]
    before = host.models[-2][0]
    assert first.kernel == Matern52(1.0)
    assert second.kernel == before != first.kernel
    assert second.noise_var == host.models[-2][1]
    assert (second.noise_var == 0.1) == ("noise_var" not in what)


def test_standardise_alone_brings_the_given_model_to_the_units_of_the_rewards():
    refit, host = build(ARMS, what=(), standardize=True, every=1, first=6)
    play(refit, host, 8)
    kernel, noise_var, mean = host.models[-1]
    rng = np.random.default_rng(1)
    y = []
    for _ in range(8):
        y.append(function(ARMS.points(ARMS.sample(rng, 2))) + 0.1 * rng.standard_normal(2))
    assert mean == pytest.approx(np.mean(y))
    assert kernel.lengthscale == 1.0
    assert kernel.variance == pytest.approx(np.var(y))
    assert noise_var == pytest.approx(0.1 * np.var(y))


def test_standardised_model_is_the_model_of_standardised_rewards():
    """The same posterior, in other units."""
    refit, host = build(ARMS, what=(), standardize=True, every=100, first=16)
    play(refit, host, 8)
    arms, y = host.data.points, host.data.rewards
    ours = posterior_for(ARMS, *host.models[-1])
    ours.condition(arms, y)
    plain = posterior_for(ARMS, Matern52(1.0), 0.1)
    plain.condition(arms, (y - y.mean()) / y.std())
    assert ours.mean == pytest.approx(plain.mean * y.std() + y.mean(), abs=1e-8)
    assert ours.var == pytest.approx(plain.var * y.var(), abs=1e-8)


def test_a_prior_mean_per_arm_is_kept_and_moved():
    base = np.linspace(30, 50, ARMS.size)
    refit, host = build(ARMS, prior_mean=base, standardize=True, every=5)
    play(refit, host, 10)
    mean = host.models[-1][2]
    assert np.ptp(mean - base) < 1e-9
    assert mean[0] - base[0] == pytest.approx(refit.learned[-1]["mean"])
    kept, host = build(ARMS, prior_mean=base, every=5)
    play(kept, host, 10)
    assert np.array_equal(host.models[-1][2], base)


def test_only_what_is_named_moves():
    refit, host = build(BOX, what=("noise_var",), every=3)
    play(refit, host, 9)
    assert {model[0] for model in host.models} == {Matern52(1.0)}
    assert len({model[1] for model in host.models}) == len(host.models)
    ell, host = build(BOX, what=("lengthscale",), every=3, standardize=True)
    play(ell, host, 9)
    ratios = [noise / kernel.variance for kernel, noise, _ in host.models]
    assert ratios == pytest.approx([0.1] * len(ratios))


def test_the_oldest_observations_are_left_out():
    refit, host = build(BOX, every=5, last=12)
    play(refit, host, 20)
    assert max(record["observations"] for record in refit.learned) == 12


@pytest.mark.parametrize("what", [(), ("lengthscale", "noise_var")])
def test_a_fit_of_given_data_looks_at_the_last_of_them(what):
    rng = np.random.default_rng(3)
    x = BOX.sample(rng, 30)
    y = np.concatenate([np.full(18, 500.0), function(x[18:])])

    def fitted(x, y):
        refit, host = build(BOX, what=what, standardize=True, last=12)
        host.add(x, y)
        assert update(refit, host)
        assert refit.learned[0]["observations"] == 12
        return refit.model

    assert fitted(x, y) == fitted(x[18:], y[18:])


def test_resuming_a_snapshot_equals_never_stopping():
    refit, host = build(BOX, every=3, standardize=True)
    play(refit, host, 7)
    state, log = pickle.loads(pickle.dumps((refit.state(), host.data.state())))
    play(refit, host, 7, seed=9)
    other, twin = build(BOX, every=3, standardize=True)
    play(other, twin, 2)
    other.restore(state)
    twin.data.restore(log)
    twin.round = 7
    assert other.model.kernel == refit_kernel(state)
    play(other, twin, 7, seed=9)
    assert twin.models[-1] == host.models[-1]
    assert other.learned == refit.learned
    other.begin()
    assert other.learned == []
    assert (other.model.kernel, other.model.noise_var) == (Matern52(1.0), 0.1)


def refit_kernel(state):
    from gpbandits_env.gp.kernels import kernel_from_dict

    return kernel_from_dict(state["model"]["kernel"])


def test_a_stage_starts_with_the_given_model_and_fits_its_own_data():
    refit, host = build(ARMS, every=4, first=4, starts=1)
    play(refit, host, 7)
    given, learned = Model(Matern52(1.0), 0.1), refit.model
    host.keep.stage, host.keep.stages = host.round + 0.5, 1
    assert learned != given
    assert update(refit, host)
    assert (refit.model, refit.learned) == (given, [])
    assert not update(refit, host)
    play(refit, host, 3)
    assert [(one["round"], one["observations"]) for one in refit.learned] == [(9, 4)]


def test_a_fit_of_epsilon_uses_the_present_stage_only():
    refit, host = build(ARMS, every=2, what=("epsilon",), starts=1, window=30)
    play(refit, host, 4)
    host.keep.stage, host.keep.stages = host.round + 0.5, 1
    assert update(refit, host)
    play(refit, host, 4, seed=2)
    assert [(one["round"], one["observations"]) for one in refit.learned] == [(6, 4), (8, 8)]
    assert host.keep.first(9) == 4.5


def test_known_observations_count_as_rounds_since_the_last_fit():
    refit, host = build(ARMS, every=6, first=4, starts=1)
    play(refit, host, 3)
    assert not update(refit, host, known=4)
    assert update(refit, host, known=1)
    assert not update(refit, host, known=5)
    agent = agents.make("gp-ucb", Problem(ARMS, Matern52(1.0), 0.1), learn=refit.learning)
    agent.tell(np.arange(4), np.arange(4.0))
    for known, count in ((5, 1), (1, 2), (5, 2)):
        agent.prior_data(np.arange(known), np.arange(float(known)))
        assert len(agent.learned) == count


def test_a_restored_refit_remembers_every_count():
    refit, host = build(ARMS, every=6, first=4, starts=1)
    host.keep.stages = 1
    play(refit, host, 5)
    update(refit, host, known=1)
    other = Refit(refit.learning, refit._given, host.data, host.keep, refit._mapped)
    fresh = {name: value for name, value in vars(other).items() if isinstance(value, int | list)}
    other.restore(refit.state())
    for name, before in fresh.items():
        assert vars(other)[name] == vars(refit)[name] != before
    refit.learned[0]["round"] = 0
    assert other.learned[0]["round"] == 2


@pytest.mark.parametrize(("most", "doubled"), [(250, [96]), (95, [])])
def test_fits_become_fewer_and_shorter_as_the_data_grow(monkeypatch, most, doubled):
    monkeypatch.setattr("gpbandits_env.agents.data.refit.MOST_FRESH", most)
    starts = []
    real = fits.fit
    monkeypatch.setattr(fits, "fit", lambda *a, **k: (starts.append(k["starts"]), real(*a, **k))[1])
    refit, host = build(BOX, every=3, growth=0.25, what=("lengthscale", "noise_var"))
    play(refit, host, 60, m=2)
    seen = [record["observations"] for record in refit.learned]
    assert seen == [6, 12, 18, 24, 30, 38, 48, 60, 76, 96, 120]
    # All starts up to 50, and where not too many data have doubled since such a fit.
    fresh = [n for n, many in zip(seen, starts, strict=True) if many]
    assert fresh == [6, 12, 18, 24, 30, 38, 48, *doubled]
    state = pickle.loads(pickle.dumps(refit.state()))
    other, _ = build(BOX, every=3, growth=0.25, what=("lengthscale", "noise_var"))
    other.restore(state)
    size = host.data.size
    assert not other.due(99, size)  # rounds alone bring no fit
    assert not other.due(63, size + 6)
    assert other.due(76, size + 32)


def test_many_known_values_are_fitted_with_all_starts_first(monkeypatch):
    starts = []
    real = fits.fit
    monkeypatch.setattr(fits, "fit", lambda *a, **k: (starts.append(k["starts"]), real(*a, **k))[1])
    refit, host = build(BOX, every=3, growth=0.25, last=20)
    play(refit, host, 1, m=300)
    assert starts == [2]


def test_settings():
    assert learning_for(None, False) is None
    assert learning_for(False, False) is None
    assert learning_for(None, True).what == ()
    assert learning_for(True, False) == Learning()
    assert learning_for(["lengthscale"], True) == Learning(what=("lengthscale",), standardize=True)
    assert learning_for({"every": 3, "ard": True}, False) == Learning(every=3, ard=True)
    with pytest.raises(UnknownName, match="every"):
        learning_for({"evry": 3}, False)
    with pytest.raises(UnknownName, match="lengthscale"):
        build(BOX, what=["lengthscales"])
    assert learning_for({"ard": [0, 0, 1]}, False).ard == (0, 0, 1)
    for bad in ({"ard": [0, -1]}, {"ard": 2}, {"spread": 0.0}, {"growth": -0.1}):
        with pytest.raises(InvalidInput):
            learning_for(bad, False)
    with pytest.raises(InvalidInput, match="learn must be"):
        learning_for(3, False)
    with pytest.raises(UnknownName, match="variance"):
        build(BOX, kernel=Linear(), what=["lengthscale"])
    with pytest.raises(InvalidInput, match="without noise"):
        build(BOX, noise_var=0.0, what=("lengthscale",), kernel=SquaredExponential(1.0))


@pytest.mark.filterwarnings("ignore:the values vary by:UserWarning")
def test_a_model_of_numbers_beyond_those_of_a_kernel_is_not_taken():
    refit, host = build(BOX, what=(), standardize=True, every=1, kernel=Matern52(1.0, 1e20))
    play(refit, host, 5)
    before, count = refit.model, len(refit.learned)
    host.round += 1
    host.add(BOX.sample(np.random.default_rng(0), 1), np.array([1e150]))
    update(refit, host)
    assert refit.model is before
    assert len(refit.learned) == count
