"""Every registered agent on problems with contexts: it uses them, or says that it does not."""

import pickle

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import OnCoordinates, SquaredExponential

# The actions' kernels, and those with a factor for the effect of the context.
PLAIN = {
    "arms": OnCoordinates((0, 1, 2), SquaredExponential(0.3)),
    **dict.fromkeys(("grid", "box"), OnCoordinates((0, 1), SquaredExponential(0.3))),
}
JOINT = {
    place: kernel * OnCoordinates((len(kernel.coordinates),), SquaredExponential(0.5))
    for place, kernel in PLAIN.items()
}
CONTEXTS = {"finite": Arms.grid(3), "box": Box([0.0], [1.0])}


def build(laws, case, domain, contexts, kernel, **more):
    """The agent of a case with contexts, or None if it says why it has none."""
    name, given = case
    problem = laws.problem_on(domain, 2).replaced(contexts=contexts, kernel=kernel)
    bad = not agent_class(name).uses_contexts or name in laws.box_only
    known = agents.settings_of(name)
    bad = bad or given.get("incumbent", known.get("incumbent")) == "observed"
    needs_arms = isinstance(given.get("posterior", known.get("posterior")), dict)
    needs_arms = needs_arms or name in laws.on_candidates
    if isinstance(contexts, Box):  # the posterior is in a box
        bad = bad or needs_arms
    if isinstance(contexts, Box) or (domain == "box" and not needs_arms):
        given = {k: v for k, v in given.items() if k != "posterior" or v != "rows"}
    quick = laws.quick((name, given)) if domain == "box" else {}
    if bad:
        with pytest.raises(InvalidInput, match=r"context|incumbent|posterior|box"):
            agents.make(name, problem, **given, **quick)
        return None
    return agents.make(name, problem, seed=3, **given, **quick, **more)


def play(laws, agent, rounds, contexts=(0,)):
    """A few rounds; the value of an action depends on the context."""
    chosen = []
    for t in range(rounds):
        context = contexts[agent.round % len(contexts)]
        actions = agent.ask(context=context) if agent.uses_contexts else agent.ask()
        agent.tell(actions, laws.truth(actions, t) + float(np.sum(context)))
        chosen.append(actions)
    return np.array(chosen)


@pytest.mark.parametrize("domain", ["grid", "arms"])
def test_with_a_single_context_it_is_the_agent_without(laws, case, domain):
    if "learn" in case[1]:
        return  # the priors of a fit depend on the number of coordinates
    kernel = PLAIN[domain]
    agent = build(laws, case, domain, Arms(np.array([0.4])), kernel)
    if agent is None:
        return
    name, given = case
    plain = agents.make(name, laws.problem_on(domain, 2).replaced(kernel=kernel), seed=3, **given)
    got = play(laws, agent, 7)
    wanted = []
    for t in range(7):
        actions = plain.ask()
        plain.tell(actions, laws.truth(actions, t))
        wanted.append(actions)
    assert np.array_equal(got, np.array(wanted))


@pytest.mark.parametrize(
    ("domain", "kind"),
    [
        ("arms", "finite"),
        ("grid", "box"),
        *(pytest.param("box", kind, marks=pytest.mark.slow) for kind in CONTEXTS),
    ],
)
def test_a_snapshot_in_mid_round_resumes(laws, case, domain, kind):
    contexts = [0, 2, 1] if kind == "finite" else [[0.1], [0.9], [0.5]]
    agent = build(laws, case, domain, CONTEXTS[kind], JOINT[domain])
    if agent is None:
        return
    fresh = build(laws, case, domain, CONTEXTS[kind], JOINT[domain])
    fresh.restore(agent.snapshot())  # before the first context
    assert fresh.context is None
    play(laws, agent, 4, contexts)
    agent.ask(context=contexts[1])
    state = pickle.loads(pickle.dumps(agent.snapshot()))
    twin = build(laws, case, domain, CONTEXTS[kind], JOINT[domain])
    twin.restore(state)
    # The context of the round that was asked for is known.
    actions = agent.ask()
    assert np.array_equal(actions, twin.ask())
    for each in (agent, twin):
        each.tell(actions, laws.truth(actions, 0))
    assert np.array_equal(play(laws, agent, 3, contexts), play(laws, twin, 3, contexts))


def test_what_is_no_context_and_bad_data_of_a_good_one_change_nothing(laws, case):
    agent = build(laws, case, "arms", CONTEXTS["finite"], JOINT["arms"])
    if agent is None:
        return
    if isinstance(agent, agents.GPAgent):
        with pytest.raises(InvalidInput, match="context"):
            agent.ask()
    play(laws, agent, 2, [0, 1])
    before, good = agent.snapshot(), agent.problem.domain.sample(np.random.default_rng(0), 2)

    def refused(call, *given, context=2):
        with pytest.raises(InvalidInput):
            call(*given, context=context)
        assert laws.same(agent.snapshot(), before)

    for wrong in (3, -1, 0.5, "x", [[0]], [0, 1]):
        refused(agent.ask, context=wrong)
        refused(agent.tell, good, [0.0, 0.0], context=wrong)
    for actions in ([99, 0], [], "x", None):
        refused(agent.tell, actions, [0.0, 0.0])
        refused(agent.prior_data, actions, [0.0, 0.0])
        refused(agent.expect, actions)
    for rewards in ([0.0], [0.0, np.nan], "x"):
        refused(agent.tell, good, rewards)
        refused(agent.prior_data, good, rewards)
    for mask in ([True], [2, 3]):
        refused(agent.tell, good, [0.0, 0.0], mask)
        refused(agent.expect, good, mask)
    agent.tell(good, [0.0, 0.0], context=2)
    assert agent.context == [2]
