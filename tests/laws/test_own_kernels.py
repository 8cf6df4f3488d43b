"""Kernels of one's own, of some ten lines each, in every place: nothing knows their class."""

import json
from dataclasses import dataclass, field
from functools import partial

import gymnasium as gym
import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Kernel, Linear, Stationary, check_kernel, kernel_from_dict
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.gp.samplers import (
    circulant_sampler,
    dense_factor,
    kronecker_factor,
    low_rank_factor,
)
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.functions import GPOnBox


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """v (1 + r^2 / (2 alpha))^-alpha: squared exponentials of Gamma distributed precisions."""

    alpha: float = field(default=2.0, kw_only=True)

    def profile(self, r):
        return (1.0 + r**2 / (2.0 * self.alpha)) ** -self.alpha

    def slope(self, r):
        return (1.0 + r**2 / (2.0 * self.alpha)) ** (-self.alpha - 1.0)

    def spectral_scales(self, rng, count):
        return np.sqrt(rng.gamma(self.alpha, 1.0 / self.alpha, size=(count, 1)))


@dataclass(frozen=True)
class Periodic(Kernel):
    """v exp(-2 sum_j sin^2(pi (x_j - z_j) / p) / l^2): stationary, and a product over axes."""

    period: float = 0.4
    width: float = 1.5
    variance: float = 1.0
    is_stationary = True

    def __call__(self, x, z=None):
        lag = x[:, None] - (x if z is None else z)
        angles = np.sin(np.pi * lag / self.period) ** 2
        return self.variance * np.exp(-2.0 * angles.sum(axis=2) / self.width**2)

    def diagonal(self, x):
        return np.full(len(x), self.variance)

    def gradient(self, x, z):
        turns = np.sin(2.0 * np.pi * (x[:, None] - z) / self.period)
        return self(x, z)[:, :, None] * turns * (-2.0 * np.pi / self.period / self.width**2)

    def axis_kernels(self, dim):
        return (self, *(Periodic(self.period, self.width) for _ in range(dim - 1)))


@dataclass(frozen=True)
class Quadratic(Kernel):
    """(c + x.z)^2 / 10: a random parabola, neither stationary nor a product over axes."""

    offset: float = 0.5
    variance: float = 0.1

    def __call__(self, x, z=None):
        return self.variance * (self.offset + x @ (x if z is None else z).T) ** 2

    def diagonal(self, x):
        return self.variance * (self.offset + (x * x).sum(axis=1)) ** 2

    def gradient(self, x, z):
        return 2.0 * self.variance * (self.offset + x @ z.T)[:, :, None] * z


KERNELS = {
    "rational quadratic": RationalQuadratic(0.3, 1.2),
    "of two lengthscales": RationalQuadratic((0.3, 0.8), alpha=0.7),
    "periodic": Periodic(),
    "quadratic": Quadratic(),
    "a sum and product": RationalQuadratic(0.4) * Periodic() + 0.1 * Linear(),
}
# In two dimensions draws in a box need frequencies or a product over axes.
IN_BOXES = ["rational quadratic", "of two lengthscales", "periodic"]
QUICK = {"every": 3, "starts": 1, "first": 4}
LOW = {"candidates": 8, "starts": 2, "evaluations": 4, "sample_starts": 1}
ENVIRONMENTS = {
    "arms": {"grid": (25, 4)},
    "large grid": {"grid": (40, 40)},
    "box": {"box": [[0.0, 0.0], [1.0, 2.0]]},
}


@pytest.mark.parametrize("name", KERNELS)
def test_it_keeps_all_laws(name):
    check_kernel(KERNELS[name])


@pytest.mark.parametrize("name", KERNELS)
def test_it_is_named_by_its_module_and_class(name):
    kernel = KERNELS[name]
    spec = json.loads(json.dumps(kernel.to_dict()))
    assert f"{__name__}:" in json.dumps(spec)
    assert kernel_from_dict(spec) == kernel


@pytest.mark.parametrize(
    ("kind", "place"), [("MarkovGP", "arms"), ("StaticGP", "large grid"), ("MarkovGP", "box")]
)
@pytest.mark.parametrize("name", KERNELS)
def test_environments_draw_it(name, place, kind):
    drift = {"epsilon": 0.1} if kind == "MarkovGP" else {}
    made = {**ENVIRONMENTS[place], **drift, "kernel": KERNELS[name].to_dict(), "batch_size": 2}
    if place == "box" and name not in IN_BOXES:
        with pytest.raises(InvalidInput, match=r"has no .*spectral density"):
            gym.make(f"gpbandits/{kind}-v0", **made)
        return
    env = gym.make(f"gpbandits/{kind}-v0", **made)
    env.reset(seed=1)
    for _ in range(2):
        *_, info = env.step(env.action_space.sample())
        assert info["cumulative_regret"] >= 0.0


@pytest.mark.parametrize("agent", ["ei", "ts-rsr"])
@pytest.mark.parametrize("place", ["arms", "box"])
@pytest.mark.parametrize("name", KERNELS)
def test_agents_model_with_it(laws, name, place, agent):
    domain = Arms.grid((25, 4)) if place == "arms" else Box([0.0, 0.0], [1.0, 2.0])
    problem = Problem(domain, KERNELS[name], 0.1, batch_size=2)
    search = {"search": LOW} if place == "box" else {}
    if place == "box" and name not in IN_BOXES and agent == "ts-rsr":
        with pytest.raises(InvalidInput, match=r"has no .*spectral density"):
            agents.make(agent, problem, seed=0)
        return
    for settings in ({"epsilon": 0.05}, {"learn": QUICK, "standardize": True}):
        laws.play(agents.make(agent, problem, seed=0, **search, **settings), 4)


def test_a_kernel_of_values_alone_is_modelled_on_arms_and_says_what_a_box_needs():
    class Values(Quadratic):
        gradient = Kernel.gradient

    box = Box([0.0, 0.0], [1.0, 1.0])
    on_arms, in_box = (
        agents.make("gp-ucb", Problem(domain, Values(), 0.1), seed=0)
        for domain in (Arms.grid((5, 5)), box)
    )
    on_arms.tell(on_arms.ask(), [0.3])
    assert on_arms.ask().shape == (1,)
    in_box.tell(box.low[None], [0.3])
    with pytest.raises(InvalidInput, match=r"has no gradient.*implement its method"):
        in_box.ask()


@pytest.mark.parametrize(("name", "own"), [("periodic", "width"), ("rational quadratic", "alpha")])
def test_its_own_hyper_parameters_are_learned(name, own):
    truth = KERNELS[name]
    env = gym.make("gpbandits/StaticGP-v0", grid=(200,), kernel=truth, noise_var=1e-2)
    kernel = truth.with_parameters({own: 3.0 * truth.parameters()[own]})
    learn = {"what": [own], "first": 60, "every": 60}
    agent = agents.make("max-variance", env, seed=0, kernel=kernel, learn=learn)
    env.reset(seed=1)
    for _ in range(60):
        actions = agent.ask()
        agent.tell(actions, env.step(actions)[0]["rewards"])
    (record,) = agent.learned
    assert record["variance"] == pytest.approx(truth.variance)
    assert record[own] < kernel.parameters()[own]


@pytest.mark.parametrize("learn", [True, ["epsilon"]])
def test_a_kernel_that_cannot_be_scaled_is_not_learned_and_says_why(learn):
    """Every fit would fail, and the agent would keep its model."""

    @dataclass(frozen=True)
    class Manhattan(Kernel):
        scale: float = 1.0

        def __call__(self, x, z=None):
            z = x if z is None else z
            return np.exp(-np.abs(x[:, None] - z).sum(axis=-1) / self.scale)

        def diagonal(self, x):
            return np.ones(len(x))

    problem = Problem(Arms.grid((5, 5)), Manhattan(0.5), 0.1)
    agents.make("gp-ucb", problem, seed=0).ask()
    with pytest.raises(InvalidInput, match="no field 'variance' to multiply: give it one"):
        agents.make("gp-ucb", problem, seed=0, learn=learn)


@pytest.mark.parametrize("kind", ["dense", "lowrank", "kronecker", "circulant"])
@pytest.mark.parametrize("name", ["rational quadratic", "periodic", "quadratic"])
def test_grids_use_what_it_says(name, kind):
    # Half a period: beyond, a periodic covariance fits no torus that is not its own.
    shape = (12, 1) if name == "rational quadratic" else (6, 5)
    grid, kernel = Arms.grid(shape, high=0.2), KERNELS[name]
    make = {
        "dense": dense_factor,
        "lowrank": partial(low_rank_factor, max_rank=grid.size),
        "kronecker": kronecker_factor,
        "circulant": circulant_sampler,
    }
    sampler = make[kind](grid, kernel)
    if sampler is None:
        fits = {"circulant": kernel.is_stationary, "kronecker": kernel.axis_kernels(2)}
        assert not fits[kind]
        return
    phi = sampler(np.eye(sampler.rank)).T
    gap = np.abs(phi @ phi.T - kernel(grid.coordinates)).max()
    assert gap <= sampler.error + 1e-13 <= 1e-11


def test_without_its_spectral_sampler_a_box_says_what_to_implement():
    class Plain(RationalQuadratic):
        def spectral_scales(self, rng, count):
            return None

    box = Box([0.0, 0.0], [1.0, 1.0])
    with pytest.raises(InvalidInput, match=r"implement its method spectral_scales"):
        GPOnBox(box, Plain(0.3))
    assert BoxPosterior(box, Plain(0.3), 0.1).moments(np.zeros((1, 2)))[1] == 1.0


def test_a_lengthscale_per_coordinate_is_refused_where_there_is_none():
    problem = Problem(Box([0.0, 0.0], [1.0, 2.0]), Periodic(), 0.1)
    with pytest.raises(InvalidInput, match="omit ard"):
        agents.make("ei", problem, learn={"ard": True})
    agents.make("ei", problem, learn={"what": ["noise_var"], "ard": True})
