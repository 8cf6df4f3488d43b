"""One property times every registered agent: what it plays, and what it learns."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput


def test_actions_are_fit_for_the_environment(laws, fresh, problem):
    agent = fresh()
    space = problem.domain.action_space(problem.batch_size)
    for actions in laws.play(agent):
        assert actions in space
    asked = agent.ask()
    asked[:] = 0
    assert agent.ask() in space


def test_the_seed_decides_everything(laws, fresh):
    one, other = fresh(), fresh()
    assert np.array_equal(laws.play(one, 5), laws.play(other, 5))
    assert laws.same(one.snapshot(), other.snapshot())


@pytest.mark.parametrize("name", ["ts", "sp", "dpp-ts", "ts-rsr", "random", "rexp3"])
def test_another_seed_draws_other_actions(laws, name):
    problem = laws.problem_on("arms", 4)
    played = {laws.play(laws.build((name, {}), problem, seed=seed)).tobytes() for seed in range(4)}
    assert len(played) == 4


def test_asking_teaches_nothing(laws, case, fresh):
    agent = fresh()
    drawing = laws.draws(agent, case[0])
    for rounds in (0, 1, 4):
        laws.play(agent, rounds)
        before, belief = agent.snapshot(), laws.belief(agent)
        first, second = agent.ask(), agent.ask()
        after = agent.snapshot()
        if not drawing and not (case[0] == "genie" and rounds == 0):
            assert np.array_equal(first, second)
            assert laws.same(after["rng"], before["rng"])
        assert laws.same({**after, "rng": None}, {**before, "rng": None})
        assert laws.same(laws.belief(agent), belief)


def test_a_choice_that_fails_teaches_nothing(laws, fresh, monkeypatch):
    """Whatever was hallucinated for the batch is gone when the search raises in its midst."""
    agent = fresh()
    if not isinstance(agent, agents.GPAgent):
        pytest.skip("it has no search")
    laws.play(agent, 3)
    before, belief = agent.snapshot(), laws.belief(agent)
    calls = []

    def broken(*args, **kwargs):
        calls.append(args)
        if len(calls) > agent.batch_size // 2:
            raise RuntimeError("the search broke down")
        return best(*args, **kwargs)

    best = agent.search.best
    monkeypatch.setattr(agent.search, "best", broken)
    try:
        agent.ask()
    except RuntimeError:
        assert len(calls) > agent.batch_size // 2
    assert laws.same({**agent.snapshot(), "rng": None}, {**before, "rng": None})
    assert laws.same(laws.belief(agent), belief)


def test_reset_returns_to_the_prior(laws, fresh):
    agent = fresh()
    prior, belief = agent.snapshot(), laws.belief(agent)
    played = laws.play(agent)
    agent.reset()
    assert laws.same({**agent.snapshot(), "rng": None}, {**prior, "rng": None})
    assert laws.same(laws.belief(agent), belief)
    agent.rng.bit_generator.state = prior["rng"]
    assert np.array_equal(laws.play(agent, 6), played[:6])


@pytest.mark.parametrize("domain", ["grid", "candidates", "box"])
def test_what_was_not_observed_teaches_nothing(laws, case, domain):
    """But the round counts; and what is informative can be asked for without a trace."""
    problem = laws.problem_on(domain, 4)
    one, other = (laws.build(case, problem, domain) for _ in range(2))
    nothing = np.zeros(4, bool)
    rounds = 7
    for t in range(rounds):
        actions = one.ask()
        assert np.array_equal(other.ask(), actions)
        before = one.snapshot()
        wanted = one.informative(actions)
        assert (wanted.shape, wanted.dtype) == ((4,), np.bool_)
        assert laws.same(one.snapshot(), before)
        observed = np.arange(4) != t % 4
        rewards = laws.truth(actions, t)
        other.tell(actions[observed], rewards[observed])
        one.tell(actions, np.where(observed, rewards, np.nan), observed=observed)
        for agent in (one, other):
            laws.show(agent)
        assert laws.same(one.snapshot(), other.snapshot())
    one.tell(actions, np.full(4, np.nan), observed=nothing)
    assert one.round == rounds + 1
    with pytest.raises(InvalidInput):
        one.informative([[9.9, 9.9]] if isinstance(problem.domain, Box) else [99])


def test_what_was_known_before_counts_no_round(laws, fresh):
    agent, other = fresh(), fresh()
    actions, again = (np.concatenate([one.ask() for _ in range(3)]) for one in (agent, other))
    assert np.array_equal(actions, again)
    before = agent.snapshot()
    for wrong in ([np.nan] * len(actions), [0.5] * (len(actions) + 1)):
        with pytest.raises(InvalidInput):
            agent.prior_data(actions, wrong)
    assert laws.same(agent.snapshot(), before)
    for one in (agent, other):
        one.prior_data(actions, laws.truth(actions, 0))
        assert one.round == 0
        assert getattr(one, "duplicates", 0) == 0
    if isinstance(agent, agents.GPAgent) and agent.compression.off:
        assert agent.posterior.size > 0
    assert np.array_equal(laws.play(agent, 4), laws.play(other, 4))
    assert laws.same(agent.snapshot(), other.snapshot())


def test_repeats_within_a_batch_are_counted(laws, fresh):
    agent = fresh()
    if not isinstance(agent, agents.GPAgent):
        pytest.skip("it does not look at its data twice")
    if not agent.compression.off:
        pytest.skip("compression may drop repeats")
    first, *others = np.unique(np.concatenate([agent.ask() for _ in range(9)]), axis=0)
    second = others[0] if others else first
    agent.tell(np.array([first, second, first, first]), [0.1, 0.2, 0.3, 0.4])
    expected = 2 if others else 3
    assert agent.duplicates == expected
    agent.tell(np.array([first]), [0.1])
    assert agent.duplicates == expected
    state = agent.snapshot()
    agent.reset()
    assert agent.duplicates == 0
    agent.restore(state)
    assert agent.duplicates == expected


def test_the_belief_is_one_of_means_and_deviations(laws, fresh):
    agent = fresh()
    laws.play(agent, 6)
    belief = laws.belief(agent)
    if belief is None:
        assert not isinstance(agent, agents.GPAgent)
        return
    count = 9 if agent.belief() is None else agent.posterior.arms.size
    for part in belief:
        assert part.shape == (count,)
        assert np.isfinite(part).all()
    assert (belief[1] >= 0).all()
