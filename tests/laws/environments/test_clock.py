"""With a clock the function moves by the time that passes, and the rest of a round is as before."""

import numpy as np


def test_rounds_of_one_unit_are_those_without_a_clock(make, actions_for, same, clocked):
    name, kwargs = clocked
    plain = {k: v for k, v in kwargs.items() if k != "clock"}
    ours = make((name, {**plain, "clock": {"thinking": 0.0}}))
    theirs = make((name, plain))
    (first, _), (other, _) = ours.reset(seed=3), theirs.reset(seed=3)
    assert first.pop("time").tolist() == [0.0, 0.0]
    assert same(first, other)
    for t, action in enumerate(actions_for(theirs.action_space, 6)):
        (seen, *ended, info), (other, *others, known) = ours.step(action), theirs.step(action)
        assert seen.pop("time").tolist() == [t, t + 1.0]
        info.pop("time_regret")
        assert same((seen, ended, info), (other, others, known))


def test_times_are_those_of_the_cost_model(make, actions_for, clocked):
    env = make(clocked)
    env.reset(seed=0)
    now, force, total = 0.0, None, 0.0
    for n, action in enumerate(actions_for(env.action_space, 5), 1):
        read, function = now + 0.5 + 0.01 * n, env.unwrapped.function
        if force is None:  # the first actions are in force from the start
            first = np.atleast_1d(action)
            force = (first, np.mean(function.optimum - function(first)), 0.0)
        observation, _, _, _, info = env.step(action)
        function = env.unwrapped.function
        after = np.mean(function.optimum - function(force[0]))
        total += 0.5 * (read - force[2]) * (force[1] + after)
        np.testing.assert_allclose(info["time_regret"], total, rtol=1e-12, atol=1e-12)
        force, now = (np.atleast_1d(action), np.mean(info["regret"]), read), read + 0.25
        np.testing.assert_allclose(observation["time"], [read, now], rtol=1e-14)
