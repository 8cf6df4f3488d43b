"""A user's own functions, in single and in vector environments."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from gpbandits_env.domains import Arms, Box
from gpbandits_env.envs import Bandit, BanditEnv, BanditVectorEnv
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.functions import (
    ArmFunction,
    Function,
    RewardPath,
    RewardProcess,
    StaticProcess,
)

ARMS = Arms.grid(5)
BOX = Box([0.0], [1.0])


class Slope(Function):
    """a x, on arms or in a box."""

    def __init__(self, slope, domain):
        self.slope, self.domain = slope, domain
        self.optimum, self.accuracy = slope, 0.0
        self.best_action = 4 if domain is ARMS else np.ones(1)

    def __call__(self, actions):
        return self.slope * self.domain.points(actions)[:, 0]


class NoisyArms(ArmFunction):
    """Values on arms, seen with noise of its own."""

    def noisy(self, actions, rng):
        return self(actions) + rng.standard_normal(len(actions))


class Doubled(ArmFunction):
    """Values on arms, worth twice as much."""

    def __init__(self, values):
        super().__init__(values)
        self.optimum *= 2

    def __call__(self, actions):
        return 2 * super().__call__(actions)


class Own(StaticProcess):
    """Draws of one of them."""

    def __init__(self, kind, domain):
        self.kind, self.domain = kind, domain

    def draw(self, rng):
        if self.kind is Slope:
            return Slope(1.0 + rng.random(), self.domain)
        return self.kind(rng.random(5))

    def bounds(self):
        return 0.0, 4.0


CASES = [(Slope, ARMS), (Slope, BOX), (NoisyArms, ARMS), (Doubled, ARMS)]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].__name__}-{type(case[1]).__name__}")
def bandit(request):
    process = Own(*request.param)
    problem = Problem(process.domain, SquaredExponential(0.5), 0.01, 3)
    return Bandit(problem, process, 0.01)


@pytest.mark.parametrize("selective", [False, True])
def test_side_by_side_they_are_as_they_are_alone(bandit, selective):
    many = BanditVectorEnv(bandit, 2, selective=selective)
    single = [BanditEnv(bandit, selective=selective) for _ in range(2)]
    rng = np.random.default_rng(0)

    def batch():
        actions = np.stack([bandit.problem.domain.sample(rng, 3) for _ in range(2)])
        return (actions, rng.random((2, 3)) < 0.5) if selective else actions

    def agree():
        for _ in range(8):
            actions = batch()
            observation, rewards, _, _, info = many.step(actions)
            for i, env in enumerate(single):
                own = (actions[0][i], actions[1][i]) if selective else actions[i]
                alone, reward, _, _, told = env.step(own)
                assert reward == rewards[i]
                assert np.array_equal(alone["rewards"], observation["rewards"][i])
                assert np.array_equal(told["noiseless_rewards"], info["noiseless_rewards"][i])
                assert np.array_equal(told["best_action"], info["best_action"][i])
                assert told["cumulative_regret"] == info["cumulative_regret"][i]

    many.reset(seed=3), [env.reset(seed=3 + i) for i, env in enumerate(single)]
    agree()
    many.reset(), [env.reset() for env in single]
    agree()
    # Copies go on alike, and know the functions by their own class.
    copies, actions = [pickle.loads(pickle.dumps(many)), copy.deepcopy(many)], batch()
    wanted = many.step(actions)
    assert all(data_equivalence(each.step(actions), wanted, exact=True) for each in copies)


@pytest.mark.parametrize("selective", [False, True])
def test_a_function_returns_one_value_per_action(selective):
    class Column(Slope):
        def __call__(self, actions):
            return super().__call__(actions)[:, None]

    class Columns(Own):
        def draw(self, rng):
            return Column(1.0, BOX)

    bandit = Bandit(Problem(BOX, SquaredExponential(0.5), 0.01, 3), Columns(Column, BOX), 0.01)
    env = BanditEnv(bandit, selective=selective)
    env.reset(seed=0)
    actions = np.full((3, 1), 0.5)
    with pytest.raises(InvalidInput, match=r"Column must return finite values of shape \((1|3),\)"):
        env.step((actions, [0, 0, 1]) if selective else actions)
    with pytest.raises(InvalidInput, match=r"Column must return finite values of shape \(3,\)"):
        env.prior_data(actions, np.random.default_rng(0))


@pytest.mark.parametrize("method", ["__call__", "noisy"])
def test_a_function_cannot_change_the_actions(method):
    class Shifts(Slope):
        def noisy(self, actions, rng):
            return self(actions)

    def shifting(self, actions, *rest):
        actions -= 0.1
        return Slope.__call__(self, actions)

    setattr(Shifts, method, shifting)

    class Draws(Own):
        def draw(self, rng):
            return Shifts(1.0, BOX)

    bandit = Bandit(Problem(BOX, SquaredExponential(0.5), 0.01, 3), Draws(Shifts, BOX), 0.01)
    env = BanditEnv(bandit)
    env.reset(seed=0)
    actions = np.full((3, 1), 0.5)
    with pytest.raises(ValueError, match="read-only"):
        env.step(actions)
    assert (actions == 0.5).all()


@pytest.mark.parametrize("make", [BanditEnv, lambda bandit: BanditVectorEnv(bandit, 2)])
def test_nan_of_a_function_is_an_error_that_names_it(make):
    class Undefined(Slope):
        def __call__(self, actions):
            return np.where(actions[:, 0] > 0.7, np.nan, super().__call__(actions))

    class Shaken(Slope):
        def noisy(self, actions, rng):
            return self(actions) + np.where(actions[:, 0] > 0.7, np.nan, 0.0)

    class Scalar(Slope):
        def noisy(self, actions, rng):
            return 0.5

    for kind, wrong in ((Undefined, 0.8), (Shaken, 0.8), (Scalar, 0.3)):

        class Draws(Own):
            def draw(self, rng, kind=kind):
                return kind(1.0, BOX)

        bandit = Bandit(Problem(BOX, SquaredExponential(0.5), 0.01, 3), Draws(kind, BOX), 0.01)
        env = make(bandit)
        env.reset(seed=0)
        actions = np.full(env.action_space.shape, 0.5)
        if kind is not Scalar:
            env.step(actions)
        actions[..., -1, 0] = wrong
        with pytest.raises(InvalidInput, match=f"function {kind.__name__} must return finite"):
            env.step(actions)
    for wrong in (np.nan, -np.inf):
        with pytest.raises(InvalidInput, match="on arms needs finite values"):
            ArmFunction(np.array([0.0, wrong, 1.0]))


def env_of(function, make=BanditEnv):
    class Draws(Own):
        def draw(self, rng):
            return function

    return make(Bandit(Problem(BOX, SquaredExponential(0.5), 0.01, 3), Draws(Slope, BOX), 0.01))


@pytest.mark.parametrize("make", [BanditEnv, lambda bandit: BanditVectorEnv(bandit, 1)])
def test_values_above_the_optimum_are_a_warning(make):
    function = Slope(1.0, BOX)
    for optimum, accuracy in ((1.0, 0.0), (0.7, 0.3), (1.0 - 1e-7, 0.0)):  # rounding is none
        function.optimum, function.accuracy = optimum, accuracy
        env = env_of(function, make)
        env.reset(seed=0)
        env.step(np.ones(env.action_space.shape))
    function.optimum = 0.9
    env = env_of(function, make)
    env.reset(seed=0)
    env.step(np.full(env.action_space.shape, 0.5))
    with pytest.warns(UserWarning, match="function Slope has values above its optimum, so"):
        env.step(np.ones(env.action_space.shape))


def test_a_function_that_moves_is_told_once():
    class Sinks(RewardPath):
        def __init__(self):
            self.advance()

        def advance(self, dt=1.0):
            self.function = Slope(1.0, BOX)
            self.function.optimum = getattr(self, "last", 0.9) - 0.1
            self.last = self.function.optimum

    class Sinking(RewardProcess):
        domain = BOX

        def begin(self, rng):
            return Sinks()

    env = BanditEnv(Bandit(Problem(BOX, SquaredExponential(0.5), 0.01), Sinking(), 0.01))
    env.reset(seed=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(4):
            env.step(np.ones(env.action_space.shape))
    assert len(told) == 1


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("optimum", np.nan, "optimum must be finite"),
        ("optimum", "1", "strings"),
        ("optimum", None, "no attribute 'optimum'"),
        ("accuracy", -1.0, "accuracy must be"),
        ("best_action", np.ones(3), r"shape \(m, 1\)"),
        ("best_action", [[1.0], [2.0, 3.0]], "inhomogeneous"),
        ("best_action", None, "no attribute 'best_action'"),
    ],
)
@pytest.mark.parametrize("make", [BanditEnv, lambda bandit: BanditVectorEnv(bandit, 1)])
def test_what_a_function_states_of_its_maximum_is_checked(make, name, value, words):
    function = Slope(1.0, BOX)
    if value is None:
        delattr(function, name)
    else:
        setattr(function, name, value)
    with pytest.raises(InvalidInput, match=f"function Slope must state its maximum.*{words}"):
        env_of(function, make).reset(seed=0)


@pytest.mark.parametrize("make", [BanditEnv, lambda bandit: BanditVectorEnv(bandit, 1)])
def test_a_function_is_derived_from_function(make):
    class Duck:
        optimum, accuracy, best_action = 1.0, 0.0, np.ones(1)

        def __call__(self, actions):
            return actions[:, 0]

    with pytest.raises(InvalidInput, match=r"function Duck must .* not derived from Function"):
        env_of(Duck(), make).reset(seed=0)


@pytest.mark.parametrize("values", [None, ["a", "b", "c"], np.ones(3) * 1j])
def test_values_are_numbers(monkeypatch, values):
    env = env_of(Slope(1.0, BOX))
    env.reset(seed=0)
    monkeypatch.setattr(Slope, "__call__", lambda self, actions: values)
    with pytest.raises(InvalidInput, match="values of the function Slope must be an array of num"):
        env.step(np.ones((3, 1)))


def test_the_problem_and_the_process_have_one_domain():
    with pytest.raises(InvalidInput, match=r"one domain, got Arms.* and Box"):
        Bandit(Problem(ARMS, SquaredExponential(0.5), 0.01), Own(Slope, BOX), 0.01)


class Rising(RewardPath):
    """The slope t in round t."""

    def __init__(self, kind, round_):
        self.kind, self.round, self.function = kind, round_, kind(float(round_), BOX)

    def advance(self):
        self.__init__(self.kind, self.round + 1)


class Rise(RewardProcess):
    domain = BOX

    def __init__(self, kind):
        self.kind = kind

    def begin(self, rng):
        return Rising(self.kind, 1)

    def bounds(self):
        return 0.0, 99.0


@pytest.mark.parametrize("kind", [BanditEnv, BanditVectorEnv])
def test_an_evaluation_that_fails_skips_no_function(kind):
    fails = []

    class Flaky(Slope):
        def __call__(self, actions):
            if fails:
                raise TimeoutError(fails.pop())
            return super().__call__(actions)

    bandit = Bandit(Problem(BOX, SquaredExponential(0.5), 0.01), Rise(Flaky), 0.01)
    env = kind(bandit)
    actions = np.ones(env.action_space.shape)
    env.reset(seed=0)
    env.step(actions)
    for failures in (1, 2):
        fails += ["the simulator is busy"] * failures
        for _ in range(failures):
            with pytest.raises(TimeoutError):
                env.step(actions)
    for each in (copy.deepcopy(env), env):
        assert [each.step(actions)[4]["noiseless_rewards"].item() for _ in range(2)] == [2.0, 3.0]
