"""One property times every registered agent: what it plays, and what it learns."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput


def test_actions_are_fit_for_the_environment(run):
    space = run.problem.domain.action_space(run.problem.batch_size)
    for actions in run.played:
        assert actions in space
    agent = run.middle()
    asked = agent.ask()
    asked[:] = 0
    assert agent.ask() in space


def test_the_seed_decides_everything_also_in_two_threads(run, short_turns):
    def played(seed):
        return run.play(run.fresh(seed), 5)

    alone = played(4)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(played, (3, 4))
    assert np.array_equal(one, run.played[:5])
    assert np.array_equal(other, alone)


@pytest.mark.parametrize("name", ["ts", "sp", "dpp-ts", "ts-rsr", "random", "rexp3"])
def test_another_seed_draws_other_actions(laws, name):
    problem = laws.problem_on("arms", 4)
    played = {laws.play(laws.build((name, {}), problem, seed=seed)).tobytes() for seed in range(4)}
    assert len(played) == 4


def test_asking_teaches_nothing(run):
    name = run.case[0]
    for rounds, agent in ((0, run.fresh()), (7, run.middle())):
        drawing = run.draws(agent, name)
        before, belief = agent.snapshot(), run.belief(agent)
        first, second = agent.ask(), agent.ask()
        after = agent.snapshot()
        if not drawing and not (name == "genie" and rounds == 0):
            assert np.array_equal(first, second)
            assert run.same(after["rng"], before["rng"])
        assert run.same({**after, "rng": None}, {**before, "rng": None})
        assert run.same(run.belief(agent), belief)


def test_a_choice_that_fails_teaches_nothing(run, monkeypatch):
    """Whatever was hallucinated for the batch is gone when the search raises in its midst."""
    agent = run.middle()
    if not isinstance(agent, agents.GPAgent):
        return
    before, belief = agent.snapshot(), run.belief(agent)
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
    assert run.same({**agent.snapshot(), "rng": None}, {**before, "rng": None})
    assert run.same(run.belief(agent), belief)


def test_reset_returns_to_the_prior(run):
    agent, new = run.last(), run.fresh()
    prior = new.snapshot()
    agent.reset()
    assert run.same({**agent.snapshot(), "rng": None}, {**prior, "rng": None})
    assert run.same(run.belief(agent), run.belief(new))
    agent.rng.bit_generator.state = prior["rng"]
    assert np.array_equal(run.play(agent, 6), run.played[:6])


def test_what_was_not_observed_teaches_nothing(run):
    """But the round counts; and what is informative can be asked for without a trace."""
    one, other = run.middle(), run.middle()
    for t in range(3):
        asked = one.ask()
        assert np.array_equal(other.ask(), asked)
        before = one.snapshot()
        wanted = one.informative(asked)
        assert (wanted.shape, wanted.dtype) == ((len(asked),), np.bool_)
        assert run.same(one.snapshot(), before)
        actions = np.concatenate([asked, run.played[0]])  # two at least
        observed = np.arange(len(actions)) != t % len(actions)
        rewards = run.truth(actions, t)
        other.tell(actions[observed], rewards[observed])
        one.tell(actions, np.where(observed, rewards, np.nan), observed=observed)
        for agent in (one, other):
            run.show(agent)
        assert run.same(one.snapshot(), other.snapshot())
    one.tell(asked, np.full(len(asked), np.nan), observed=np.zeros(len(asked), bool))
    assert one.round == 11
    with pytest.raises(InvalidInput):
        one.informative([[9.9, 9.9]] if isinstance(run.problem.domain, Box) else [99])


def test_what_was_known_before_counts_no_round(run):
    agent, other = run.fresh(), run.fresh()
    actions = np.concatenate(run.played[:3])
    before = agent.snapshot()
    for wrong in ([np.nan] * len(actions), [0.5] * (len(actions) + 1)):
        with pytest.raises(InvalidInput):
            agent.prior_data(actions, wrong)
    for wrong in (np.ones(len(actions)), np.zeros(len(actions) + 1)):  # no past rounds, too many
        with pytest.raises(InvalidInput, match="rounds must"):
            agent.prior_data(actions, run.truth(actions, 0), rounds=wrong)
    assert run.same(agent.snapshot(), before)
    for one in (agent, other):
        one.prior_data(actions, run.truth(actions, 0))
        one.prior_data(actions[:1], run.truth(actions[:1], 0), rounds=[-2.0])
        assert one.round == 0
        assert getattr(one, "duplicates", 0) == 0
    if isinstance(agent, agents.GPAgent) and not agent.compression.epsilon:
        assert agent.posterior.size > 0
    assert np.array_equal(run.play(agent, 4), run.play(other, 4))
    assert run.same(agent.snapshot(), other.snapshot())


def test_repeats_within_a_batch_are_counted(run):
    agent = run.fresh()
    if not isinstance(agent, agents.GPAgent) or agent.compression.epsilon:
        return  # it does not look at its data twice, or may drop repeats
    first, *others = np.unique(np.concatenate([agent.ask() for _ in range(3)]), axis=0)
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


def test_the_belief_is_one_of_means_and_deviations(run):
    agent, belief = run.last(), run.belief_at_end
    if belief is None:
        assert not isinstance(agent, agents.GPAgent)
        return
    count = 9 if agent.belief() is None else agent.posterior.arms.size
    for part in belief:
        assert part.shape == (count,)
        assert np.isfinite(part).all()
    assert (belief[1] >= 0).all()


def test_an_agent_says_where_it_does_not_act(laws, name):
    assert laws.refused((name, {}), laws.problem_on("arms")) == (name in laws.box_only)
    assert laws.refused((name, {}), laws.problem_on("box")) == (name == "genie")
