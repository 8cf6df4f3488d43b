"""The environment: one instance of a bandit, in rounds of m actions."""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils.seeding import np_random as seeded
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, Info, Plain, Points, mapping
from gpbandits_env.display import Displayed
from gpbandits_env.envs import rendering
from gpbandits_env.envs.bandit import Bandit, Observation, Space, for_episode
from gpbandits_env.envs.clock import ClockSpec
from gpbandits_env.envs.corruption import CorruptionSpec
from gpbandits_env.envs.delays import DelaySpec
from gpbandits_env.envs.episode import BoolArray, Episode, prior_data, split_action
from gpbandits_env.envs.interface import Interface
from gpbandits_env.errors import InvalidInput, NotReset
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.functions import Function
from gpbandits_env.rewards.regret import counted, instantaneous
from gpbandits_env.seeding import child


class BanditEnv(Interface, Displayed, gym.Env[Observation, Any]):
    """A bandit: each round takes m actions and returns their noisy rewards.

    `reset` draws a function (or a path of functions, if it drifts) and the noise from two separate
    streams that depend on the seed alone, so that every agent faces the same functions and the
    same noise. All actions of a round are evaluated on the same function.

    Observation: ``{"actions": (m,) arms or (m, d) points, "rewards": (m,), "round": (1,)}``
    of the last round; at round 0, zeros (in a box the low corner). The reward of a step is the sum
    of the m rewards. ``terminated`` stays False, and ``truncated`` too unless a recording or the
    ``duration`` of a clock ends: the horizon is Gymnasium's ``max_episode_steps``.

    Info of a step: ``noiseless_rewards`` (m,), their ``regret`` (m,), ``cumulative_regret``,
    ``simple_regret``, and ``optimum`` and ``best_action`` of the last round; see
    `gpbandits_env.rewards.regret`. The info of a reset is empty, or contains the ``parameters``
    that its options set.

    With one arm per round (m = 1) the action space is ``Discrete(n)``, and an action is the number
    of an arm or an array of one.

    Selective environments: an action is a pair (actions, observe), where observe is (m,) booleans;
    the space is a `Tuple`. An action that is not observed has reward 0; ``observed`` (m,) in the
    observation says which were. All actions count in the regret, and the functions and the noise
    continue as if all had been observed.

    Delays: with ``delay``, rewards arrive in later rounds; see `Delays`. The observation then shows
    the K = m (most + 1) actions of the last rounds, those of the latest round first; ``arrived``
    (K,) says whose rewards arrive now, and the other rewards are 0. The reward of a step is the sum
    of what arrives in it. The regret counts when an action is played. The info has ``delays`` (m,),
    the number of rounds by which each reward of the step will be late, -1 if it will not arrive.

    Corruption: with ``corruption``, an adversary changes rewards within a budget; see `Corruption`.
    Regret counts noiseless values. The info has ``corruption`` (m,), what was added to each reward.

    Clock: with ``clock``, time passes while an evaluation lasts and while the agent thinks, and the
    function moves by that time; see `Clock`. The observation has ``time`` (2,): the time at which
    its rewards hold, and the present, in units of the drift. The info has ``time_regret``, the
    integral over time of the regret of the actions in force, per action, up to the last rewards;
    the first actions count from the start.

    Contexts: if the problem has contexts, the observation has the ``context`` of the next round,
    (1,) or (1, q), also that of a reset. The regret is against the best action in the context of
    the round.

    Functions with noise inside have a method ``noisy(actions, rng) -> rewards``. Its rewards, drawn
    from a separate stream, replace the values, and the bandit's noise is added to them.

    Args:
        bandit: what is simulated.
        render_mode: None, "ansi" (a line of text), "rgb_array" (a picture), or "human" (a window,
            drawn at each reset and step).
        selective: whether actions can be skipped.
        delay: the number of rounds by which rewards are late, or a dict such as
            ``{"least": 2, "most": 20, "lost": 0.1}``; see `Delays`.
        corruption: the adversary that changes rewards, such as
            ``{"type": "clipping", "budget": 50.0}``; see `Corruption`.
        clock: how long evaluations and thinking take, a dict such as ``{"evaluation": 0.1,
            "thinking": "measured", "unit": 60}``; see `Clock`.

    Raises:
        InvalidInput: a delay, a corruption or a clock out of range, or a clock with a delay or
            contexts.
        UnknownName: there is no such render mode, corruption, or field of one of these.
    """

    metadata = rendering.METADATA
    observation_space: Space
    action_space: Space

    def __init__(
        self,
        bandit: Bandit,
        render_mode: str | None = None,
        selective: bool = False,
        delay: DelaySpec = None,
        corruption: CorruptionSpec = None,
        clock: ClockSpec = None,
    ) -> None:
        self.render_mode = rendering.check_render_mode(render_mode)
        super().__init__(bandit, None, selective, delay, corruption, clock)
        self.bandit, self._batch_size = bandit, bandit.problem.batch_size
        self._check = bandit.problem.domain.check
        self.action_space, self.observation_space = self._action_space(), self._observation_space()
        self._viewer = None if render_mode is None else rendering.Viewer(bandit, render_mode)
        self._episode: Episode | None = None
        self._round, self._cumulative, self._simple = 0, 0.0, float("inf")

    def _title(self) -> str:
        return type(self).__name__ if self.spec is None else self.spec.id

    def _facts(self) -> Plain:
        return self.problem._facts() | {"noise_var": self.bandit.noise_var, "round": self._round}

    def __str__(self) -> str:
        """The text that Gymnasium's wrappers show."""
        return f"<{self!r}>"

    @property
    def problem(self) -> Problem:
        """What an agent may know: the domain, the kernel, the noise, m and the horizon.

        It does not depend on the options of a reset.
        """
        return self._problem(None if self.spec is None else self.spec.max_episode_steps)

    @property
    def function(self) -> Function:
        """The function of the last round (of round 1 before the first step). Agents never see it.

        Raises:
            NotReset: before the first `reset`.
        """
        if self._episode is None:
            raise NotReset("the environment has no function yet: call reset() first")
        return self._episode.path.function

    @property
    def evaluation_seconds(self) -> float:
        """Wall-clock time spent on evaluating observed actions since `reset`, in seconds."""
        return self._episode.seconds if self._episode is not None else 0.0

    def prior_data(self, actions: ArrayLike, rng: np.random.Generator) -> tuple[Array, Array]:
        """Noisy rewards (k,) and noiseless values (k,) before round 1, for an agent's `prior_data`.

        The round, the regret and the noise of later rounds do not change.

        Args:
            actions: (k,) arms or (k, d) points.
            rng: the generator of the noise.
        Raises:
            NotReset: before the first `reset`.
            InvalidInput: wrong shape, type or range.
        """
        return prior_data(self.function, self._check(actions), self.bandit.noise_sd, rng)

    def reset(
        self, *, seed: int | None = None, options: Plain | None = None
    ) -> tuple[Observation, Info]:
        """Draw a new function and go back to round 0.

        Args:
            seed: determines everything random from here on; None continues with the generator.
            options: other values of the environment's arguments, for this episode, e.g.
                ``{"epsilon": 0.05}``; under "draw" a function that takes a generator and returns
                a dict of such values. The info of the reset has them under "parameters".
        Raises:
            UnknownName: an option is not an argument of the environment.
            InvalidInput: a value is out of range or does not fit the spaces; nothing has changed
                then.
            gymnasium.error.Error: the seed is negative or not a whole number.
        """
        bandit, parameters = self._bandit, Plain()
        given = mapping({} if options is None else options, "reset options")
        if given:
            rng = copy.deepcopy(self.np_random) if seed is None else seeded(seed)[0]
            bandit, parameters = for_episode(bandit, given, rng)
        super().reset(seed=seed)
        if given:
            self._np_random = rng  # which has drawn the parameters
        self._episode = Episode(bandit, self.np_random, self._corruption, self._clock)
        self.bandit = bandit
        self._noise.put(0, self._episode.noise, bandit.noise_sd)
        if self._late is not None:
            self._late.begin(0, child(self.np_random))
        self._round, self._cumulative, self._simple = 0, 0.0, float("inf")
        if self._viewer is not None:
            self._viewer.begin(bandit)
            self._refresh_window()
        m = self._batch_size
        observed = np.zeros(m, dtype=np.bool_) if self.selective else None
        info = {"parameters": copy.deepcopy(parameters)} if parameters else {}
        return self._observation(self._first, np.zeros(m), observed), info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Take m actions; see the class for what is returned.

        Args:
            action: (m,) arms, or the number of one arm if m = 1, or (m, d) points in a box; if
                selective a pair of these and (m,) booleans (or 0 and 1).
        Raises:
            NotReset: before the first `reset`, or after the last function of a recording.
            InvalidInput: wrong shape, type or range, or not finite; nothing has changed then.
        """
        episode = self._running()
        observed: BoolArray | None = None
        if self.selective:
            action, observed = split_action(action, (self._batch_size,))
        actions = self._check(action, self._batch_size)
        episode.reach(self._round + 1, actions)
        function = episode.path.function
        values = episode.values(actions, observed)
        regret = instantaneous(function.optimum, values)
        rewards, changes = episode.rewards(actions, values, self._noise.next(), observed)
        cumulative, simple = counted(self._cumulative, self._simple, regret)
        self._cumulative, self._simple = cumulative, simple
        self._round += 1
        if observed is not None:
            rewards[~observed] = 0.0
        if self._viewer is not None:
            context = episode.context(self._round)
            self._viewer.record(actions, rewards, regret, observed, context)
            self._refresh_window()
        best = function.best_action
        info = {
            "noiseless_rewards": values,
            "regret": regret,
            "cumulative_regret": cumulative,
            "simple_regret": simple,
            "optimum": function.optimum,
            "best_action": best if isinstance(best, int) else best.copy(),
        }
        if episode.corruption is not None:
            info["corruption"] = changes
        if self._late is not None:
            info["delays"] = self._late.add(actions, rewards, observed)
        over = self._round == episode.path.rounds
        if episode.timing is not None:
            info["time_regret"] = episode.played(actions, regret)
            over = episode.timing.over(episode.path.rounds)
        observation = self._observation(actions, rewards, observed)
        reward = float(np.add.reduce(observation["rewards"]))
        return observation, reward, False, over, info

    def _observation(
        self, actions: Points, rewards: Array, observed: BoolArray | None
    ) -> Observation:
        """The observation after a round, or before the first."""
        if self._late is None:
            observation = {"actions": actions.copy(), "rewards": rewards}
        else:
            observation = self._late.observation()
        observation["round"] = np.array([self._round])
        if observed is not None:
            observation["observed"] = observed.astype(np.int8)
        if self._episode is not None and self.bandit.problem.contexts is not None:
            observation["context"] = self._episode.path.context(self._round + 1)
        if self._episode is not None and self._episode.timing is not None:
            observation["time"] = self._episode.timing.shown()
        return observation

    def _running(self) -> Episode:
        """The episode, which is not over."""
        if self._episode is None:
            raise NotReset("step() was called before reset()")
        rounds, timing = self._episode.path.rounds, self._episode.timing
        if rounds is not None and (timing.past(rounds) if timing else self._round >= rounds):
            raise NotReset(
                f"the episode is over, because the recording ended after round {self._round}: call "
                "reset(), or make the environment with repeat=True, so that the first row follows "
                "the last"
            )
        return self._episode

    def attach(self, agent: object) -> None:
        """Show this agent's belief in pictures from now on; None shows none.

        Args:
            agent: an agent with ``belief()``, which returns the mean and the standard deviation at
                all arms, (n,) each, or with ``belief(points)`` for points (n, d) of a box.
        Raises:
            InvalidInput: the agent has no ``belief``, or the environment has no render mode.
        """
        if self._viewer is None:
            raise InvalidInput(
                "attach() needs an environment made with render_mode='rgb_array' or 'human'"
            )
        rendering.check_believes(agent)
        self._viewer.agent = agent

    def render(self) -> Any:
        """The last round as a line of text or a picture (height, width, 3) uint8, or in a window.

        In render mode "human" every `reset` and `step` calls it, and it returns nothing.
        """
        if self._viewer is None:
            gym.logger.warn(rendering.NO_MODE)
            return None
        return self._viewer.draw(self.function, self._round, self._cumulative, self._simple)

    def _refresh_window(self) -> None:
        """Show the round in the window, if that is the render mode."""
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Close the window of render mode "human"."""
        if self._viewer is not None:
            self._viewer.close()
