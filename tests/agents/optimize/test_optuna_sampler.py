"""Our agents inside Optuna's studies, with the real library."""

import numpy as np
import pytest

from gpbandits_env.errors import GPBanditsError, InvalidInput, UnknownName

optuna = pytest.importorskip("optuna")
from gpbandits_env.agents.optimize import Campaign, optuna_sampler  # noqa: E402
from gpbandits_env.agents.optimize.optuna_sampler import GPBanditsSampler, _Parameter  # noqa: E402
from gpbandits_env.gp.kernels import Matern52  # noqa: E402


@pytest.fixture(autouse=True)
def _quiet():
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def objective(trial):
    x = trial.suggest_float("x", -5.0, 10.0)
    y = trial.suggest_float("y", 0.0, 15.0, step=0.5)
    n = trial.suggest_int("n", 1, 64, log=True)
    even = trial.suggest_int("even", 0, 10, step=2)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    if trial.number == 11:
        raise optuna.TrialPruned
    if trial.number == 12:
        return float("nan")
    return (
        ((x - 1) ** 2 + (y - 3) ** 2) / 10
        + np.log2(n / 8) ** 2
        + (even - 4) ** 2 / 4
        + (kind is not None)
    )


@pytest.mark.parametrize(("agent", "direction"), [("ei", "minimize"), ("ts", "maximize")])
def test_a_study_of_all_kinds_of_parameters(agent, direction):
    sign = 1 if direction == "minimize" else -1
    study = optuna.create_study(direction=direction, sampler=GPBanditsSampler(agent, seed=0))
    study.optimize(lambda trial: sign * objective(trial), n_trials=20)
    random = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(0))
    random.optimize(lambda trial: sign * objective(trial), n_trials=20)
    assert sign * study.best_value < 0.5 * sign * random.best_value
    for trial in study.trials:
        assert trial.params["even"] % 2 == 0
        assert trial.params["y"] * 2 == round(trial.params["y"] * 2)


def test_running_trials_repel():
    # Its choice depends on nothing else: without repulsion all would be one point.
    study = optuna.create_study(sampler=GPBanditsSampler("max-variance", seed=0, n_initial=4))
    study.optimize(lambda t: np.sin(20 * t.suggest_float("x", 0, 1)), n_trials=6)
    asked = [study.ask({"x": optuna.distributions.FloatDistribution(0, 1)}) for _ in range(4)]
    points = sorted(t.params["x"] for t in asked)
    assert np.diff(points).min() > 1e-3


def test_all_trials_are_learned_from():
    """A sphere is found as well as by `minimize`; from the first five trials it was not."""
    center = np.array([0.2, -0.3, 0.4, 0.1, -0.25])

    def sphere(trial):
        x = [trial.suggest_float(f"x{i}", -1, 1) for i in range(5)]
        return float(((x - center) ** 2).sum())

    study = optuna.create_study(sampler=GPBanditsSampler(seed=0))
    study.optimize(sphere, n_trials=22)
    assert study.best_value < 2e-3


@pytest.mark.parametrize(
    ("agent", "settings"),
    [("gp-ucb", {"window": 4}), ("ei", {"epsilon": 0.1}), ("turbo", {"n_initial": 2})],
)
def test_trials_are_rounds_to_agents_to_which_rounds_matter(agent, settings, monkeypatch):
    model = {"kernel": Matern52(0.3), "noise_var": 1e-4, "learn": {"every": 3}} | settings
    passed, tell = [], optuna_sampler._tell
    monkeypatch.setattr(optuna_sampler, "_tell", lambda c, *a: (passed.append(c), tell(c, *a)))
    sampler = GPBanditsSampler(agent, seed=0, **model)
    study = optuna.create_study(sampler=sampler)
    space = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    study.optimize(lambda t: sum(t.suggest_float(n, 0, 1) ** 2 for n in space), n_trials=13)
    ours, rounds = passed[-1].agent, Campaign(space, agent, maximize=False, **model)
    for trial in study.trials[:12]:
        rounds.tell(rounds.expect(trial.params), trial.value)
    assert ours.round == rounds.agent.round == 12
    assert np.array_equal(ours.posterior.observed, rounds.agent.posterior.observed)
    assert len(ours.learned) == len(rounds.agent.learned) > 0
    if agent == "turbo":
        assert ours.search.length == rounds.agent.search.length


def test_the_seed_decides():
    def values(seed):
        study = optuna.create_study(sampler=GPBanditsSampler(seed=seed, n_initial=3))
        study.optimize(lambda t: (t.suggest_float("x", 0, 1) - 0.3) ** 2, n_trials=8)
        return [t.value for t in study.trials]

    assert values(0) == values(0)
    assert values(0) != values(1)


def test_several_objectives_and_agents_without_a_posterior_are_refused():
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=GPBanditsSampler())
    with pytest.raises(InvalidInput, match="one objective"):
        study.optimize(lambda t: (t.suggest_float("x", 0, 1), 0.0), n_trials=2)
    with pytest.raises(InvalidInput, match="posterior"):
        GPBanditsSampler("random")


@pytest.mark.parametrize(
    ("agent", "settings"),
    [
        ("ei", {"unheard": 1}), ("ei", {"batch_size": 2}), ("ei", {"seed": "a"}),
        ("ei", {"seed": -1}), ("ei", {"noise_var": -1.0}), ("ei", {"kernel": {"type": "soft"}}),
        ("ei", {"maximize": True}), ("ei", {"file": "x.json"}), ("r-gp-ucb", {}), ("sre", {}),
        ("optuna", {}), ("nope", {}), ("ei", {"constraints": {"c": 1.0}}),
    ],
)  # fmt: skip
def test_settings_are_checked_when_the_sampler_is_made(agent, settings):
    with pytest.raises(GPBanditsError):
        GPBanditsSampler(agent, **settings)
    with pytest.raises(UnknownName, match="no argument of GPBanditsSampler named 'n_inital'"):
        GPBanditsSampler(n_inital=3)


def test_settings_for_some_parameters_are_taken_and_checked_when_these_are_known():
    """In the second trial: the first shows which parameters there are."""
    three = {"kernel": {"type": "se", "lengthscale": [0.2, 0.3, 0.4]}}
    for settings in ({"agent": "bkb-ei"}, three):
        study = optuna.create_study(sampler=GPBanditsSampler(**settings, seed=0, n_initial=8))
        with pytest.raises(InvalidInput):
            study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=8)
        assert len(study.trials) == 2
    few = optuna.create_study(sampler=GPBanditsSampler("bkb-ei", seed=0, n_initial=3))
    few.optimize(lambda t: t.suggest_int("n", 0, 20), n_trials=6)
    assert len(few.trials) == 6


@pytest.mark.parametrize("agent", ["rembo", "hesbo"])
def test_agents_of_embeddings_play_whole_numbers(agent):
    study = optuna.create_study(sampler=GPBanditsSampler(agent, seed=0, n_initial=3, learn=False))
    study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_int("n", 1, 9000), n_trials=5)
    assert all(isinstance(trial.params["n"], int) for trial in study.trials)


@pytest.mark.parametrize("value", [1e200, float("inf")])
def test_values_beyond_reckoning_count_as_failed_with_a_warning(value):
    def fun(trial):
        x = trial.suggest_float("x", 0, 1)
        return value if trial.number == 4 else (x - 0.3) ** 2

    study = optuna.create_study(sampler=GPBanditsSampler(seed=0, n_initial=3))
    with pytest.warns(UserWarning, match="trial 4 counts as failed"):
        study.optimize(fun, n_trials=8)
    assert len(study.trials) == 8
    assert study.best_value < 1.0


@pytest.mark.parametrize("low", [0, 1, -20])
def test_all_values_of_a_range_with_a_step_can_be_suggested(low):
    """Also 1.2 of the range from 0.1 to 1.2, although 0.1 + 11 * 0.1 is larger."""
    for count in range(1, 100):
        own = optuna.distributions.FloatDistribution(low / 10, (low + count) / 10, step=0.1)
        parameter = _Parameter.of(own)
        values = [parameter.outside(n) for n in parameter.dimension.values()]
        assert all(map(own._contains, values))
        assert values == pytest.approx([(low + n) / 10 for n in range(count + 1)])


@pytest.mark.parametrize("told", ["constraints_func", "set_constraint"])
def test_constraints_of_a_study_are_learned(told):
    """The minimum where x + y >= 1 is 0.5; random trials of the same number are far from it."""
    if told == "set_constraint" and not hasattr(optuna.trial.Trial, "set_constraint"):
        pytest.skip("from Optuna 5 on")

    def objective(trial):
        x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
        if told == "set_constraint":
            trial.set_constraint("sum", 1.0 - x - y)
        else:
            trial.set_user_attr("slack", [1.0 - x - y])
        return x**2 + y**2

    own = {"constraints_func": lambda trial: trial.user_attrs["slack"]}
    settings = own if told == "constraints_func" else {}
    study = optuna.create_study(sampler=GPBanditsSampler(seed=0, n_initial=5, **settings))
    study.optimize(objective, n_trials=25)
    best = study.best_trial
    assert best.params["x"] + best.params["y"] >= 1.0
    assert 0.5 - 1e-9 <= best.value < 0.55


def test_an_option_that_is_not_a_number_is_learned_too():
    """It was suggested for ever, because its trials were not found among the options."""
    study = optuna.create_study(sampler=GPBanditsSampler(seed=1, n_initial=4))
    nan, seen = float("nan"), []

    def objective(trial):
        seen.append(trial.suggest_categorical("c", [nan, 1.0, 2.0]))
        return float(seen[-1] != 1.0)

    study.optimize(objective, n_trials=12)
    assert study.best_value == 0.0
    assert seen.count(1.0) > 3


@pytest.mark.parametrize(
    "suggest",
    [
        lambda trial: trial.suggest_float("width", 0.0, 1e200),
        lambda trial: trial.suggest_int("width", 0, 2**60),
        lambda trial: trial.suggest_float("width", 0.0, 1e18, step=0.5),
    ],
)
def test_a_parameter_beyond_the_limits_is_named(suggest):
    study = optuna.create_study(sampler=GPBanditsSampler(seed=0))
    with pytest.raises(InvalidInput, match=r"^the parameter 'width': .* at most 1"):
        study.optimize(lambda trial: 0.0 * suggest(trial), n_trials=2)
