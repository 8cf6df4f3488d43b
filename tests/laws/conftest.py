"""Every registered agent, on arms, candidates and in a whole box, with settings to try it with."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import SquaredExponential
from gpbandits_env.problem import Problem

NYSTROM = {"posterior": {"type": "nystrom", "qbar": 3.0}}
QUICK_LEARN = {"every": 3, "starts": 1, "first": 4}
SEASON = {"type": "quasi-periodic", "period": 4.0, "harmonics": 1, "epsilon": 0.1}
# Settings to try an agent with, beside its defaults; a new agent is tried with its defaults.
VARIANTS = {
    "gp-ucb": [
        {"beta": {"type": "rkhs", "norm_bound": 1.0, "scale": 1e-3}, "posterior": "rows"},
        {"learn": QUICK_LEARN, "standardize": True},
        {"batch": {"type": "initialised", "rounds": 2, "then": {"type": "boltzmann"}}, "window": 3},
    ],
    "ei": [{"incumbent": "observed"}, {"epsilon": 0.1}, {"standardize": True, "compress": 0.05}],
    "mpi": [{"reset_every": 4}, {"temporal": SEASON, "learn": QUICK_LEARN}],
    "ts": [
        {"window": 3},
        {"temporal": {"type": "wiener", "rate": 0.1}, "compress": 0.05},
        {"epsilon": 0.1},
        NYSTROM,
    ],
    "bucb": [{"rho": 2.0, "compress": 0.05, "window": 3}],
    "ucbpe": [{"batch": {"type": "explore", "region": False}, "epsilon": 0.1}],
    "sp": [{"reset_every": 4, "learn": QUICK_LEARN}],
    "qei": [{"incumbent": "observed", "window": 3}, {"incumbent": "max-mean", "compress": 0.05}],
    "dpp-ts": [{"batch": {"type": "dpp", "steps": 4}, "epsilon": 0.1}],
    "ts-rsr": [
        {"epsilon": 0.1},
        {"learn": QUICK_LEARN, "standardize": True},
        NYSTROM,
    ],
    "r-gp-ucb": [{"reset_every": 3}],
    "sw-gp-ucb": [{"window": 3}],
    "et-gp-ucb": [{"delta": 0.9, "learn": QUICK_LEARN}, {**NYSTROM, "compress": 0.05}],
    "wgp-ucb": [{"discount": 0.7, "learn": QUICK_LEARN}, {"compress": 0.05}],
    "bob-gp-ucb": [{"block": 5, "learn": QUICK_LEARN, "standardize": True}],
    "bma-gp-ucb": [{"epsilons": [0.0, 0.2], "trigger": 1.0, "learn": QUICK_LEARN}],
    "tv-gp-ucb": [{"learn_every": 4, "learn_window": 6}, {"batch": "ts-rsr"}],
    "cub": [
        {"compress": 0.5},
        {"compress": {"type": "horizon", "alpha": 0.5, "horizon": 50}, "epsilon": 0.1},
    ],
    "cei": [{"compress": 0.5, "window": 3}],
    "cmpi": [{"compress": 0.5, "reset_every": 4}],
    "bkb-ucb": [{"posterior": {"type": "nystrom", "qbar": 0.5}}],
    "bkb-ei": [{"compress": 0.5, "window": 3}],
    "bkb-mpi": [{"posterior": {"type": "nystrom", "qbar": 1.5}, "reset_every": 4}],
    "ms-ucb": [
        {"d": 1, "n0": 3, "alpha": 1.0, "learn": True, "acquisition": "ei"},
        {"d": 0, "n0": 5, "reset_every": 4},
        {"d": 1, "epsilon": 0.1, "acquisition": "ts"},
    ],
    "dropout-ucb": [
        {"d": 1, "fill": "copy", "learn": {"every": 3}, "standardize": True},
        {"d": 1, "fill": "random", "window": 3, "batch": "explore"},
    ],
    "line-bo": [
        {"directions": "ascent", "rounds_per_line": 2, "learn": ["noise_var"]},
        {"directions": "coordinate", "epsilon": 0.1, "acquisition": "mpi"},
    ],
    "rembo": [{"d": 1, "acquisition": "ei"}, {"d": 2, "kernel_on": "x", "learn": True}],
    "hesbo": [{"d": 1, "epsilon": 0.1}, {"d": 2, "standardize": True}],
    "sre": [{"d": 1, "stages": 3, "rounds": 3, "learn": {"every": 2}}],
    "turbo": [
        {"n_initial": 3, "candidates": 20, "learn": {"every": 2, "ard": True}, "standardize": True},
        {"n_initial": 1, "acquisition": "ei", "epsilon": 0.1},
    ],
}
CASES = [(name, given) for name in agents.names() for given in [{}, *VARIANTS.get(name, [])]]
BOX = Box([-1.0, 0.0], [1.0, 3.0])
DOMAINS = {
    "grid": Arms.grid((4, 5)),
    "arms": Arms(np.random.default_rng(0).uniform(size=(12, 3))),
    "candidates": BOX,
    "box": BOX,
}
# A domain and a batch size.
PLACES = [("grid", 1), ("arms", 4), ("candidates", 4), ("box", 1), ("box", 4)]
# Those that say so when they are given a box, and when they are given arms.
ARMS_ONLY = {"genie"}
BOX_ONLY = {"ms-ucb", "dropout-ucb", "line-bo", "rembo", "hesbo", "sre", "turbo"}
# Those whose posterior needs arms, so that they choose among candidates in a box.
ON_CANDIDATES = {"wgp-ucb", "ui-tvbo", "bma-gp-ucb"}
# What else an agent needs to be told of an environment that tells little.
NEEDED = {
    "tv-gp-ucb": {"epsilon": 0.05},
    "r-gp-ucb": {"reset_every": 4},
    "sre": {"rounds": 6},
}
# The laws hold whether or not a search finds the very maximum.
QUICK = {"candidates": 8, "starts": 2, "evaluations": 8, "sample_starts": 1}


def label(value):
    name, given = value
    return "-".join([name.split("/")[-1], *(k for k in given if k != "readings")])


class Laws:
    """How agents are made and played with in the laws."""

    rounds = 11
    domains, cases, box_only, needed = DOMAINS, CASES, BOX_ONLY, NEEDED
    on_candidates = ON_CANDIDATES
    label = staticmethod(label)

    @staticmethod
    def problem_on(domain, batch_size=1):
        told = {"batch_size": batch_size, "horizon": 50, "prior_mean": 0.2, "epsilon": 0.05}
        told["max_delay"] = 6
        return Problem(DOMAINS[domain], SquaredExponential(0.3), 0.05, **told)

    @staticmethod
    def quick(case, dim=2):
        """Settings with which an agent searches little of a whole box."""
        name, given = case
        if name == "ms-ucb" and given.get("d", 5) < dim:
            return {"candidates": 8, "refine": 2, "evaluations": 12}
        if name == "turbo":
            return {"candidates": 16} if "candidates" not in given else {}
        known = agents.settings_of(name)
        nystrom = isinstance(given.get("posterior", known.get("posterior")), dict)
        nystrom = nystrom or "temporal" in given
        if name in ON_CANDIDATES or nystrom or "search" not in known:
            return {"candidates": 16} if "candidates" in known else {}
        return {"search": QUICK}

    def build(self, case, problem, domain="box", seed=3, **more):
        """The agent of a case; those for arms alone are not tried in a box, nor the other way."""
        name, given = case
        known, box = agents.settings_of(name), isinstance(problem.domain, Box)
        wrong, word = (ARMS_ONLY, "arms") if box else (BOX_ONLY, "box")
        if name in wrong:
            with pytest.raises(InvalidInput, match=word):
                agents.make(name, problem, **{**NEEDED.get(name, {}), **given})
            pytest.skip(f"{name} plays only {word}")
        quick = {}
        if box and domain == "candidates":
            if name in BOX_ONLY or "candidates" not in known:
                pytest.skip(f"{name} takes no candidates")
            quick = {"candidates": 16}
        elif box:
            quick = self.quick(case, problem.domain.dim)
            if given.get("posterior") == "rows":
                with pytest.raises(InvalidInput, match="must be 'auto'"):
                    agents.make(name, problem, **given, **quick)
                given = {key: value for key, value in given.items() if key != "posterior"}
        return agents.make(name, problem, seed=seed, **given, **quick, **more)

    @staticmethod
    def draws(agent, name):
        """Whether it answers differently when it is asked twice."""
        drawing = {"ts", "sp", "dpp-ts", "ts-rsr", "random", "rexp3"}
        sampling = getattr(agent, "rule", True) is None
        rule = type(getattr(agent, "batch", None)).__name__
        random_rule = rule in {"Boltzmann", "Initialised", "RegretToSigmaRatio"}
        # A search of a box draws its candidates.
        search = type(getattr(agent, "search", None)).__name__
        return name in drawing or sampling or random_rule or search not in ("ArmSearch", "NoneType")

    @staticmethod
    def truth(actions, t):
        """A function that moves, at arms or points."""
        values = np.asarray(actions, float).reshape(len(actions), -1)
        return np.sin(values.sum(axis=1) + 0.1 * t)

    def teach(self, agent, actions, rewards):
        """One round's rewards; the genie is shown the function too."""
        agent.tell(actions, rewards)
        self.show(agent)

    def show(self, agent):
        if hasattr(agent, "reveal"):
            agent.reveal(self.truth(np.arange(agent.problem.domain.size), agent.round))

    def play(self, agent, rounds=rounds):
        played = []
        for _ in range(rounds):
            actions = agent.ask()
            self.teach(agent, actions, self.truth(actions, agent.round))
            played.append(actions)
        return np.array(played)

    def same(self, a, b):
        """Equal to the bit, whatever is nested in what."""
        if type(a) is not type(b):
            return False
        if isinstance(a, dict):
            return list(a) == list(b) and all(self.same(a[key], b[key]) for key in a)
        if isinstance(a, (list, tuple)):
            return len(a) == len(b) and all(self.same(x, y) for x, y in zip(a, b, strict=True))
        if isinstance(a, np.ndarray):
            return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        return a == b

    @staticmethod
    def belief(agent):
        """At all arms, or at some points of the box; None of an agent without."""
        belief = agent.belief()
        if belief is None and isinstance(agent, agents.GPAgent):
            belief = agent.belief(agent.action_map.inner.domain.sample(np.random.default_rng(0), 9))
        return belief

    def beliefs_agree(self, one, other):
        return self.same(self.belief(one), self.belief(other))


def pytest_collection_modifyitems(items):
    """Where it costs most, an agent's defaults are tried always and its variants if slow."""
    for item in items:
        given = getattr(item, "callspec", None)
        given = given.params if given else {}
        if not item.path.name.startswith("test_agent") or not given.get("case", (0, 0))[1]:
            continue
        worlds = item.path.name == "test_agent_worlds.py" and given.get("home") != "arms"
        where = given.get("place", (given.get("domain"), 0))
        if worlds or where[0] in ("candidates", "box"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def laws():
    return Laws()


@pytest.fixture(params=CASES, ids=label)
def case(request):
    return request.param


@pytest.fixture(params=PLACES, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def place(request):
    return request.param


@pytest.fixture
def problem(place):
    return Laws.problem_on(*place)


@pytest.fixture
def fresh(case, place, problem):
    """Makes the agent of this case and place, as often as wanted."""

    def make(**more):
        return Laws().build(case, problem, place[0], **more)

    return make
