"""qEI as the authors' code of ren2024 has it, for the scenarios ``ren2024/*@code``."""

import numpy as np

from gpbandits_env.agents.acquisitions import LogEI
from gpbandits_env.agents.algorithms.qei import QEI
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.search.round import RoundSearch, adam, slope_of
from gpbandits_env.arrays import Points
from gpbandits_env.domains import Box
from gpbandits_env.gp.posterior import BoxPosterior


class MixedScales(GPAgent):
    r"""The kriging believer of the authors' public code (`_expected_improvement_fantasized`).

    The first action of a batch maximizes EI under the posterior of standardized rewards, over the
    candidates. For the others the code conditions a posterior anew, on the rewards as they are
    together with the believed rewards, the first of which is standardized. The incumbent of the
    whole batch is the best observed reward, standardized. So from the second action on, EI compares
    two scales, unless rewards have mean 0 and variance 1.

    It needs standardize=True and search={"type": "round"}.
    """

    PARTS = QEI.PARTS

    def choose(self) -> Points:
        now, search, posterior = self.next_round(), self.search, self.posterior
        assert isinstance(search, RoundSearch)
        settings = search.settings
        candidates, mean, var = search.candidates_of(posterior)
        shift = float(posterior.prior_mean)
        # The model of the problem is that of standardized rewards.
        variances = [k.diagonal(candidates[:1])[0] for k in (posterior.kernel, self.problem.kernel)]
        scale = float(np.sqrt(variances[0] / variances[1]))
        best = LogEI((now.best_reward - shift) / scale)
        first = int(np.argmax(best.score((mean - shift) / scale, var / scale**2)))
        actions, believed = [candidates[first : first + 1]], (mean[first] - shift) / scale
        mixed = self._as_they_are()
        kernel, box = mixed.kernel, search.box
        k = kernel(candidates, mixed.conditioned)
        mean, var = mixed.mean_at(candidates), mixed.var_at(candidates)
        while len(actions) < now.m:
            last = actions[-1]
            surprise = believed - float(mixed.mean_at(last)[0])
            mixed.condition(last, np.array([believed]))
            # The last row of the whitening matrix gives what one more observation changes.
            row = mixed.predictor.white[-1]
            k = np.hstack([k, kernel(candidates, last)])
            change = k @ row
            mean, var = mean + change * row[-1] * surprise, np.maximum(var - change**2, 0.0)
            actions.append(candidates[[int(np.argmax(best.score(mean, var)))]])
            if settings.refine:
                slope, ways = slope_of(best, mixed), (settings.refine, settings.rate)
                actions[-1] = adam(slope, actions[-1], box.low, box.high, *ways)[0]
            believed = float(mixed.mean_at(actions[-1])[0])
        return np.concatenate(actions)

    def _as_they_are(self) -> BoxPosterior:
        """The posterior of rewards that are not standardized, under the problem's model."""
        given = self.problem
        assert isinstance(given.domain, Box)
        mixed = BoxPosterior(given.domain, given.kernel, given.noise_var)
        mixed.condition(self.data.points, self.data.rewards)
        return mixed
