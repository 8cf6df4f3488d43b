"""SW-GP-UCB: GP-UCB on a sliding window of the last rounds.

Paper: Zhou and Shroff (2021), "No-Regret Algorithms for Time-Varying Bayesian Optimization"; it
complements the two algorithms of bogunovic2016.
Assumes: what GP-UCB assumes, within the window.
Departures: 1. by default beta_t is that of the experiments of bogunovic2016; 2. the window of 50
rounds is this library's; the paper's follows from the variation of the function, which is unknown.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class SWGPUCB(GPAgent):
    """GP-UCB on the observations of the last ``window`` rounds.

    Cost: once the window is full, the posterior is computed again from its observations in each
    round.

    Args:
        window: the number of rounds W, at least 1.
        beta: see `GPUCB`; 0.8 log(4 t) by default.
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=LOG_TIME), window=50)
