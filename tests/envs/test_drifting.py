"""Worlds that move: their laws by moments, what they tell a learner, and where they refuse."""

from itertools import product

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import GPBanditsError, InvalidInput
from gpbandits_env.gp.kernels import ConstantKernel, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.temporal import MarkovTime, Matern32Time, TermsInTime
from gpbandits_env.rewards.drift import Drift, TemporalDrift
from gpbandits_env.rewards.functions import (
    MOTIONS,
    TEST_FUNCTIONS,
    DriftProcess,
    Motion,
    gp_on,
)

SAMPLERS = {
    "kronecker": ([4, 3], SquaredExponential(0.5)),
    "lowrank": ([12], SquaredExponential(0.5)),
    "dense": ([4, 3], Matern52(0.5)),
}


def functions(env, seed, rounds):
    env.reset(seed=seed)
    seen = [env.unwrapped.function.values]
    action = np.zeros(env.unwrapped.problem.batch_size, dtype=int)
    env.step(action)
    for _ in range(rounds - 1):
        env.step(action)
        seen.append(env.unwrapped.function.values)
    return np.stack(seen)


def beginnings(env, trials, rounds):
    """The first functions of so many episodes, without the rounds that are played in them."""
    process = env.unwrapped.bandit.process
    found = np.empty((trials, rounds, env.unwrapped.problem.domain.size))
    for seed in range(trials):
        path = process.begin(np.random.default_rng(seed))
        for t in range(rounds):
            found[seed, t] = path.function.values
            path.advance()
    return found


@pytest.mark.parametrize(("grid", "kernel"), SAMPLERS.values(), ids=SAMPLERS)
def test_covariance_over_space_and_time(grid, kernel):
    """Cov(f_t(x), f_{t+j}(z)) = (1 - eps)^(j/2) k(x, z), whichever way the draws are made."""
    eps, trials = 0.2, 1500
    env = gym.make("gpbandits/MarkovGP-v0", epsilon=eps, grid=grid, kernel=kernel)
    paths = beginnings(env, trials, 4)
    points = env.unwrapped.problem.domain.coordinates
    gram = kernel(points)
    for j in range(4):
        estimate = paths[:, 0].T @ paths[:, j] / trials
        np.testing.assert_allclose(
            estimate, (1 - eps) ** (j / 2) * gram, atol=5 * np.sqrt(2 / trials)
        )


def test_matern_worlds_keep_their_law(monkeypatch):
    monkeypatch.setattr("gpbandits_env.rewards.drift.drift.BLOCK", 3)  # no more are looked at
    env = gym.make(
        "gpbandits/MarkovGP-v0",
        epsilon=0.5,
        grid=[40, 40],
        kernel={"type": "matern52", "lengthscale": 0.2},
    )
    arms = np.array([0, 1, 45, 820, 1599])
    paths = beginnings(env, 800, 2)[:, :, arms]
    gram = Matern52(0.2)(env.unwrapped.problem.domain.coordinates[arms])
    np.testing.assert_allclose(paths[:, 1].T @ paths[:, 1] / 800, gram, atol=5 * np.sqrt(2 / 800))
    across = paths[:, 0].T @ paths[:, 1] / 800
    np.testing.assert_allclose(across, np.sqrt(0.5) * gram, atol=5 * np.sqrt(2 / 800))


def test_a_box_drifts_too():
    env = gym.make("gpbandits/MarkovGP-v0", epsilon=0.3, box=([0.0], [1.0]))
    env.reset(seed=0)
    first = env.unwrapped.function
    grid = np.linspace(0, 1, 2001)[:, None]
    for _ in range(4):
        _, _, _, _, info = env.step(np.array([[0.5]]))
        function = env.unwrapped.function
        assert function(grid).max() <= info["optimum"] + function.accuracy
        assert info["regret"][0] == info["optimum"] - function(np.array([[0.5]]))[0]
    assert not np.allclose(first(grid), function(grid))


def test_actions_never_touch_the_path():
    env = gym.make("gpbandits/MarkovGP-v0", epsilon=0.1, grid=[20], batch_size=3)
    runs = []
    for choice in (0, 19):
        env.reset(seed=4)
        infos = [env.step(np.full(3, choice))[-1] for _ in range(30)]
        runs.append([(i["optimum"], i["best_action"]) for i in infos])
    assert runs[0] == runs[1]


def test_all_actions_of_a_round_see_one_function():
    env = gym.make("gpbandits/MarkovGP-v0", epsilon=0.9, grid=[20], batch_size=4)
    env.reset(seed=4)
    for _ in range(5):
        info = env.step(np.array([3, 3, 3, 3]))[-1]
        assert len(set(info["noiseless_rewards"].tolist())) == 1


def test_epsilon_0_is_a_static_world():
    path = functions(gym.make("gpbandits/MarkovGP-v0", epsilon=0.0, grid=[10]), 0, 6)
    assert (path == path[0]).all()


def test_a_learner_is_told_epsilon_where_there_is_one():
    assert gym.make("gpbandits/MarkovGP-v0", epsilon=0.2).unwrapped.problem.epsilon == 0.2
    seasons = {"type": "seasonal", "period": 9}
    assert gym.make("gpbandits/Drifting-v0", drift=seasons).unwrapped.problem.epsilon is None
    told = gym.make("gpbandits/Drifting-v0", drift=seasons, epsilon=0.05)
    assert told.unwrapped.problem.epsilon == 0.05
    assert gym.make("gpbandits/StaticGP-v0").unwrapped.problem.epsilon is None


def test_a_users_function_and_class_drive_a_world():
    def every_third(f, fresh, t, rng):
        return fresh() if t % 3 == 0 else f

    path = functions(gym.make("gpbandits/Drifting-v0", drift=every_third, grid=[8]), 1, 9)
    changed = [t + 1 for t in range(1, 9) if not np.array_equal(path[t], path[t - 1])]
    assert changed == [4, 7]

    class Flip(Drift):
        def step(self, memory, fresh, t, rng):
            return (-memory[0],)

    path = functions(gym.make("gpbandits/Drifting-v0", drift=Flip(), grid=[8]), 1, 3)
    np.testing.assert_array_equal(path[1], -path[0])


@pytest.mark.parametrize(
    ("function", "motion"),
    # A line has no plane to turn in.
    sorted(set(product(TEST_FUNCTIONS, MOTIONS.members)) - {("example", "turn")}),
)
def test_a_moving_optimum_is_where_it_is_said_to_be(function, motion):
    spec = {"type": motion, "period": 12}
    spec |= {} if motion == "turn" else {"factor": 1.1} if motion == "stretch" else {"radius": 0.1}
    env = gym.make("gpbandits/Drifting-v0", function=function, motion=spec)
    scattered = env.unwrapped.problem.domain.sample(np.random.default_rng(0), 4000)
    env.reset(seed=3)
    places = []
    for _ in range(13):
        info = env.step(scattered[:1])[-1]
        best = info["best_action"]
        places.append(best)
        truth = env.unwrapped.function
        assert truth(best[None])[0] == pytest.approx(info["optimum"], abs=1e-9)
        assert truth(scattered).max() <= info["optimum"] + 1e-9
    np.testing.assert_allclose(places[12], places[0], atol=1e-9)
    moves = np.abs(np.diff(places, axis=0)).max()
    still = {"turn", "stretch"} if not places[0].any() else set()  # the maximum is at the centre
    assert moves > 1e-3 or motion in still


@pytest.mark.parametrize("function", TEST_FUNCTIONS)
def test_a_function_moves_on_arms(function):
    """The arms stand still; the best of them is exact in every round."""
    spec = {"type": "line", "period": 12, "radius": 0.1}
    dim = TEST_FUNCTIONS[function].dim or 2
    box = TEST_FUNCTIONS[function].box(dim)
    arms = box.sample(np.random.default_rng(1), 300)
    env = gym.make("gpbandits/Drifting-v0", function=function, motion=spec, arms=arms)
    path = functions(env, 2, 13)
    assert np.isfinite(path).all()
    assert path.max() <= TEST_FUNCTIONS[function].peak(dim)
    assert not np.isclose(path[0], path[5]).all()
    np.testing.assert_allclose(path[12], path[0], rtol=1e-9, atol=1e-6)


def test_a_motion_of_your_own_needs_no_registration():
    class Mirror(Motion):
        period, room = 2.0, 1.0

        def onto(self, u, phase):
            return u if phase < 0.5 else -u

        back = onto

    env = gym.make("gpbandits/Drifting-v0", function="rosenbrock", motion=Mirror())
    env.reset(seed=0)
    places = [env.step(np.zeros((1, 2)))[-1]["best_action"] for _ in range(3)]
    assert np.array_equal(places[0], places[2])
    assert not np.array_equal(places[0], places[1])


def test_the_grid_of_a_function_covers_its_usual_box():
    def made(**more):
        env = gym.make("gpbandits/Drifting-v0", function="camelback", grid=(7, 5), **more)
        return env.unwrapped.problem

    assert made().domain == Arms.grid((7, 5), [-3.0, -2.0], [3.0, 2.0])
    assert made(low=0.0, high=1.0).domain == Arms.grid((7, 5))
    assert made().kernel == Matern32((0.2 * 6.0, 0.2 * 4.0))
    with pytest.raises(InvalidInput, match="3 lengthscales"):
        made(kernel={"type": "se", "lengthscale": [1.0, 1.0, 1.0]})


def test_a_replay_plays_the_rows_in_order_and_with_repeat_again():
    table = np.random.default_rng(0).normal(size=(12, 4))
    env = gym.make("gpbandits/Replay-v0", readings=table, train_fraction=0.5, repeat=True)
    path = functions(env, 0, 8)
    np.testing.assert_array_equal(path, np.concatenate([table[6:], table[6:8]]))
    some = gym.make("gpbandits/Replay-v0", readings=table, columns=[3, 1], starts=[2])
    assert some.unwrapped.problem.domain.size == 2
    np.testing.assert_array_equal(functions(some, 0, 2), table[10:12][:, [3, 1]])
    ends = gym.make("gpbandits/Replay-v0", readings=table, starts=[1, 0, 2]).unwrapped
    assert ends.problem.horizon == 2  # of the shortest episode


@pytest.mark.parametrize(
    ("name", "kwargs", "says"),
    [
        ("MarkovGP", {"epsilon": 1.2}, r"\[0, 1\]"),
        ("MarkovGP", {"epsilom": 0.2}, "epsilon"),
        ("Drifting", {"drift": {"type": "markow"}}, "markov"),
        ("Drifting", {"drift": 3}, "drift"),
        ("Drifting", {"motion": {"type": "orbit"}}, "test function"),
        ("Drifting", {"function": "ackley", "drift": {"type": "markov", "epsilon": 0.1}}, "motion"),
        ("Drifting", {"function": "akley"}, "ackley"),
        ("Drifting", {"function": "camelback", "dim": 3}, "'camelback' has 2 dimensions, not 3"),
        *(
            (
                "Drifting",
                {"function": "camelback", **given},
                "has 2 dimensions, not 3: .* grid, arms",
            )
            for given in ({"grid": (3, 3, 3)}, {"arms": Arms.grid((3, 3, 3))})
        ),
        ("Drifting", {"function": "ackley", "grid": (3, 3), "dim": 4}, "2 dimensions here, not 4"),
        ("Drifting", {"function": "ackley", "grid": 3, "dim": 2}, "has 1 dimension here, not 2"),
        ("Drifting", {"function": "ackley", "grid": []}, "grid needs at least one axis"),
        ("Drifting", {"function": "ackley", "dim": 1, "motion": {"type": "turn"}}, "2 dimensions"),
        (
            "Drifting",
            {"function": "rosenbrock", "motion": {"type": "orbit", "radius": 0.9}},
            "outside of its box at",
        ),
        ("Drifting", {"function": "ackley", "motion": {"type": "orbit", "radius": 1.5}}, "below 1"),
        ("Replay", {"readings": np.eye(9), "columns": [9]}, "at most 8"),
        ("Replay", {"readings": np.eye(9), "columns": [1, 1]}, "twice"),
        ("Replay", {"readings": np.eye(9), "starts": [5]}, "starts"),
    ],
)
def test_bad_worlds_are_refused(name, kwargs, says):
    with pytest.raises(GPBanditsError, match=says):
        gym.make(f"gpbandits/{name}-v0", **kwargs)


def test_agents_know_the_temporal_kernel_of_the_drift():
    kernel = {"type": "quasi-periodic", "period": 12.0, "harmonics": 2, "epsilon": 0.01}
    drift = {"type": "temporal", "kernel": kernel}
    env = gym.make("gpbandits/Drifting-v0", grid=20, drift=drift)
    problem = env.unwrapped.problem
    assert problem.temporal.to_dict() == kernel | {"lengthscale": 1.0}
    assert problem.epsilon is None
    rows = functions(env, 3, 20)
    assert np.abs(rows[12] - rows[0]).max() < np.abs(rows[6] - rows[0]).max()
    told = gym.make("gpbandits/Drifting-v0", grid=20, drift=drift, epsilon=0.1).unwrapped.problem
    assert (told.epsilon, told.temporal) == (0.1, None)


@pytest.mark.parametrize("domain", [Arms.grid(4), Box([0.0], [1.0])], ids=["arms", "box"])
def test_each_term_in_space_has_a_path_of_its_own(domain):
    """A slow function and a fast shift that all points share, against the covariance."""
    kernel = SquaredExponential(0.4) + ConstantKernel(0.5)
    slow, fast = Matern32Time(6.0), MarkovTime(0.4)
    process = DriftProcess(gp_on(domain, kernel), TemporalDrift(TermsInTime((slow, fast))))
    assert process.drift.keeps_marginal
    points = np.linspace(0.0, 1.0, 4)[:, None]
    rng, rows = np.random.default_rng(0), []
    for _ in range(2500 if domain.finite else 400):
        path = process.begin(rng)
        at = [path.function(np.arange(4) if domain.finite else points)]
        for dt in (1.0, 2.5):
            path.advance(dt)
            at.append(path.function(np.arange(4) if domain.finite else points))
        rows.append(np.concatenate(at))
    times = np.array([0.0, 1.0, 3.5])
    expected = np.kron(slow(times, times), SquaredExponential(0.4)(points))
    expected += np.kron(fast(times, times), np.full((4, 4), 0.5))
    var = expected.diagonal()
    spread = np.sqrt((np.outer(var, var) + expected**2) / len(rows))
    assert (np.abs(np.cov(np.array(rows).T) - expected) <= 5.0 * spread).all()


def test_a_shift_of_all_arms_is_known_to_agents_and_no_part_of_a_blend():
    terms = {"type": "terms", "kernels": [{"type": "static"}, {"type": "markov", "epsilon": 0.3}]}
    kernel = {"type": "sum", "terms": [{"type": "se", "lengthscale": 0.3}, {"type": "constant"}]}
    drift = {"type": "temporal", "kernel": terms}
    env = gym.make("gpbandits/Drifting-v0", grid=20, kernel=kernel, drift=drift)
    assert env.unwrapped.problem.temporal.to_dict() == terms
    rows = functions(env, 4, 20)
    assert np.ptp(np.diff(rows, axis=0), axis=1).max() < 1e-9 < np.abs(np.diff(rows, axis=0)).min()
    with pytest.raises(InvalidInput, match="one for each term of a sum"):
        gym.make("gpbandits/Drifting-v0", grid=20, drift=drift)
    blend = {"type": "blend", "drifts": [drift, {"type": "markov", "epsilon": 0.1}]}
    env = gym.make("gpbandits/Drifting-v0", grid=20, kernel=kernel, drift=blend)
    with pytest.raises(InvalidInput, match="not a part of another"):
        env.reset(seed=0)


@pytest.mark.parametrize("law", [{"epsilon": 0.2}, {"temporal": Matern32Time(5.0)}])
def test_a_drift_of_ones_own_tells_agents_what_is_known(law):
    class Untold(Drift):
        def step(self, memory, fresh, t, rng):
            return memory

    class Told(Untold):
        known = law

    problem = gym.make("gpbandits/Drifting-v0", drift=Untold()).unwrapped.problem
    assert (problem.epsilon, problem.temporal) == (None, None)
    problem = gym.make("gpbandits/Drifting-v0", drift=Told()).unwrapped.problem
    assert (problem.epsilon, problem.temporal) == (law.get("epsilon"), law.get("temporal"))
    problem = gym.make("gpbandits/Drifting-v0", drift=Told(), epsilon=0.5).unwrapped.problem
    assert (problem.epsilon, problem.temporal) == (0.5, None)
