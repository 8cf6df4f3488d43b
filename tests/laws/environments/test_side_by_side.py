"""Instances of every registered environment side by side are those of single environments."""

import numpy as np
from gymnasium.vector import AutoresetMode


def test_worlds_side_by_side_equal_single_ones(vector, actions_for, same, past_a_block, any_case):
    """Past the end of an episode, after which the next begins by itself."""
    ours, theirs = (
        vector(any_case, mode, max_episode_steps=past_a_block)
        for mode in ("vector_entry_point", "sync")
    )
    assert same(ours.reset(seed=10), theirs.reset(seed=10))
    for action in actions_for(ours.action_space, past_a_block + 5):
        assert same(ours.step(action), theirs.step(action))
    assert same(ours.reset(), theirs.reset())
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]


def test_worlds_that_begin_anew_in_the_same_step_equal_single_ones(
    vector, actions_for, same, any_case
):
    mode = AutoresetMode.SAME_STEP
    ours = vector(any_case, "vector_entry_point", max_episode_steps=3, autoreset_mode=mode)
    theirs = vector(any_case, "sync", max_episode_steps=3, vector_kwargs={"autoreset_mode": mode})
    assert same(ours.reset(seed=10), theirs.reset(seed=10))
    mask = np.array([True, False, True])
    for t, action in enumerate(actions_for(ours.action_space, 14)):
        assert same(ours.step(action), theirs.step(action))
        if t == 4:  # from here on the episodes end at different times
            options = {"reset_mask": mask}
            assert same(ours.reset(options=dict(options)), theirs.reset(options=dict(options)))


def test_partial_resets_equal_single_ones(vector, actions_for, same, any_case):
    # After three steps all episodes are over when some worlds are reset; later only some are.
    ours, theirs = (
        vector(any_case, mode, max_episode_steps=3) for mode in ("vector_entry_point", "sync")
    )
    ours.reset(seed=[3, 1, 4]), theirs.reset(seed=[3, 1, 4])
    rng = np.random.default_rng(0)
    for t, action in enumerate(actions_for(ours.action_space, 20)):
        assert same(ours.step(action), theirs.step(action))
        if t % 5 == 2:
            mask = rng.random(3) < 0.5
            mask[t % 3] = True
            seed = [t, t + 1, None] if t % 2 else None
            got = ours.reset(seed=seed, options={"reset_mask": mask.copy()})
            assert same(got, theirs.reset(seed=seed, options={"reset_mask": mask.copy()}))
