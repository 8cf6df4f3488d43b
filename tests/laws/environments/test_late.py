"""Every registered environment with rewards that arrive late or never."""

import numpy as np


def test_late_rewards_are_those_of_the_plain_environment(make, actions_for, same, delayed):
    """They arrive when the info says so, in the slot of their round; the regret does not wait."""
    name, kwargs = delayed
    ours, theirs = make(delayed), make((name, {k: v for k, v in kwargs.items() if k != "delay"}))
    ours.reset(seed=16), theirs.reset(seed=16)
    due, m, lost, seen = {}, 2, 0, set()
    for t, action in enumerate(actions_for(ours.action_space, 40)):
        got, reward, _, _, info = ours.step(action)
        full, *_, full_info = theirs.step(action)
        delays = info.pop("delays")
        assert same(info, full_info)
        seen |= set(delays.tolist())
        for i, delay in enumerate(delays.tolist()):
            lost += delay < 0
            if delay >= 0:
                due.setdefault(t + delay, {})[delay * m + i] = action[i], full["rewards"][i]
        expected = due.get(t, {})
        assert np.flatnonzero(got["arrived"]).tolist() == sorted(expected)
        for slot, (played, value) in expected.items():
            assert np.array_equal(got["actions"][slot], played)
            assert got["rewards"][slot] == value
        assert not got["rewards"][got["arrived"] == 0].any()
        assert reward == np.add.reduce(got["rewards"])
    assert 0 < lost < 40
    assert seen == {-1, 0, 1, 2, 3}
