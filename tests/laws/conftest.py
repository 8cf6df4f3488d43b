"""Every registered agent, on arms, candidates and in a whole box, with settings to try it with."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

HERE = Path(__file__).parent
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
    "mini-gp-ucb": [{"ratio": 6.0, "learn": QUICK_LEARN}, {"ratio": 4.0, "window": 3}],
    "mini-ei": [{"ratio": 1.0, "standardize": True, "compress": 0.05}],
    "lb-gp-ucb": [{"epsilon": 0.1, "compress": 0.05}, {**NYSTROM, "window": 3}],
    "r-gp-ucb": [{"reset_every": 3}],
    "sw-gp-ucb": [{"window": 3}],
    "et-gp-ucb": [
        {"delta": 0.9, "longest": 5, "learn": QUICK_LEARN},
        {**NYSTROM, "compress": 0.05},
    ],
    "w-dbo": [{"alpha": 1.0, "batch": "hallucinate", "learn": QUICK_LEARN}, {"compress": 0.05}],
    "wgp-ucb": [{"discount": 0.7, "learn": QUICK_LEARN}, {"compress": 0.05}],
    "bma-gp-ucb": [{"epsilons": [0.0, 0.2], "trigger": 1.0, "learn": QUICK_LEARN}],
    "tv-gp-ucb": [{"learn": {"what": ["epsilon"], "every": 4, "window": 6}}, {"batch": "ts-rsr"}],
    "cub": [
        {"compress": 0.5},
        {"compress": {"alpha": 0.5}, "epsilon": 0.1, "horizon": 50},
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
PLACES = [("grid", 1), ("arms", 4), ("candidates", 4), ("box", 1), ("box", 3)]
# Those that say so when they are given a box, and when they are given arms.
ARMS_ONLY = {"genie"}
BOX_ONLY = {n for n in agents.names() if getattr(agent_class(n), "PARTS", Parts()).is_local}
# Those whose posterior needs arms, so that they choose among candidates in a box.
ON_CANDIDATES = {"wgp-ucb", "bma-gp-ucb"}
# What else an agent needs to be told of an environment that tells little.
NEEDED = {
    "tv-gp-ucb": {"epsilon": 0.05},
    "r-gp-ucb": {"reset_every": 4},
    "sre": {"rounds": 6},
}
# The laws hold whether or not a search finds the very maximum, and a chain its limit.
QUICK = {"candidates": 8, "starts": 2, "evaluations": 4, "sample_starts": 1}
QUICK_RULES = {
    "dpp-ts": {"batch": {"type": "dpp", "steps": 4}},
    "ts-rsr": {"batch": {"type": "ts-rsr", "redraws": 1}},
}


def label(value):
    name, given = value
    return "-".join([name.split("/")[-1], *(k for k in given if k != "readings")])


def plays(name, domain):
    """Whether an agent acts there."""
    if domain == "candidates":
        return name not in BOX_ONLY and "candidates" in agents.settings_of(name)
    return name not in (ARMS_ONLY if domain == "box" else BOX_ONLY)


def combinations():
    """The agents and places of the laws; what shares its code with another pair is slow.

    Fast are all agents on arms, one action or several, and with several actions among candidates
    and in a box; those of boxes with one as well; and all settings with several actions on arms.
    """
    for case in CASES:
        name, given = case
        for place in PLACES:
            if not plays(name, place[0]):
                continue
            fast = place == ("arms", 4) if given else place != ("box", 1) or name in BOX_ONLY
            yield pytest.param(
                (case, place),
                id=f"{label(case)}-{place[0]}-{place[1]}",
                marks=() if fast else pytest.mark.slow,
            )


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
        rule = {} if "batch" in given else QUICK_RULES.get(name, {})
        if name in ON_CANDIDATES or nystrom or "search" not in known:
            return rule | ({"candidates": 16} if "candidates" in known else {})
        return rule | {"search": QUICK}

    def refused(self, case, problem):
        """Whether the agent does not act there; then it says so when it is made."""
        name, given = case
        wrong, word = (ARMS_ONLY, "arms") if isinstance(problem.domain, Box) else (BOX_ONLY, "box")
        if name in wrong:
            with pytest.raises(InvalidInput, match=word):
                agents.make(name, problem, **{**NEEDED.get(name, {}), **given})
        return name in wrong

    def build(self, case, problem, domain="box", seed=3, **more):
        """The agent of a case."""
        name, given = case
        quick = {}
        if domain == "candidates":
            quick = {"candidates": 16}
        elif isinstance(problem.domain, Box):
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
            belief = agent.belief(agent.problem.domain.sample(np.random.default_rng(0), 9))
        return belief


class Run(Laws):
    """Eleven rounds of an agent, which several laws read: its actions, and copies of it.

    Attributes:
        played: the actions of all rounds.
        state: the snapshot after seven rounds, a multiple of no number of rounds after which an
            agent does something.
        end: the last snapshot.
        belief_at_end: what the agent believed then.
    """

    def __init__(self, case, place):
        self.case, self.domain = case, place[0]
        self.problem = self.problem_on(*place)
        agent = self.fresh()
        before = self.play(agent, 7)
        self.state = agent.snapshot()
        self._kept, self._middle = pickle.dumps(self.state), pickle.dumps(agent)
        self.played = np.concatenate([before, self.play(agent, 4)])
        self.end, self.belief_at_end = agent.snapshot(), self.belief(agent)
        self._last = pickle.dumps(agent)

    def fresh(self, seed=3):
        return self.build(self.case, self.problem, self.domain, seed)

    def kept(self):
        """The snapshot after seven rounds, as it was pickled then."""
        return pickle.loads(self._kept)

    def middle(self):
        """The agent as it was after seven rounds."""
        return pickle.loads(self._middle)

    def last(self):
        """The agent as it was after the last round."""
        return pickle.loads(self._last)

    def ends_alike(self, agent):
        """Whether an agent in the state after seven rounds goes on as this one did."""
        same_actions = np.array_equal(self.play(agent, 4), self.played[7:])
        same_state = self.same(agent.snapshot(), self.end)
        return same_actions and same_state and self.same(self.belief(agent), self.belief_at_end)


def policies(many=False):
    """Agents and homes of policies: all agents on arms and in a box, all settings on arms."""
    for case in CASES:
        name, given = case
        for home in ("arms", "box"):
            # No observation holds the function, which the genie is shown.
            if name == "genie" or not plays(name, home):
                continue
            # Many worlds share what an agent draws when it is made.
            if many and (name in BOX_ONLY or (home == "box" and "candidates" in Laws.quick(case))):
                continue
            marks = pytest.mark.slow if given and home == "box" else ()
            yield pytest.param((case, home), id=f"{label(case)}-{home}", marks=marks)


def pytest_collection_modifyitems(items):
    """Where it costs most, an agent's defaults are tried always and its settings if slow."""
    for item in items:
        if item.path.parent == HERE and hasattr(item, "callspec"):
            params = item.callspec.params
            costly = "world" in params or params.get("domain") in ("grid", "box")
            if costly and params.get("case", (0, 0))[1]:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def laws():
    return Laws()


@pytest.fixture(params=CASES, ids=label)
def case(request):
    return request.param


@pytest.fixture(params=agents.names())
def name(request):
    return request.param


@pytest.fixture(params=policies())
def policy(request):
    return request.param


@pytest.fixture(params=policies(many=True))
def policy_of_many(request):
    return request.param


@pytest.fixture(scope="session", params=combinations())
def run(request):
    return Run(*request.param)
