"""Acquisitions, which score points, and the rules that make one in each round."""

from gpbandits_env.agents.acquisitions.feasibility import Feasibility as Feasibility
from gpbandits_env.agents.acquisitions.functions import LCB as LCB
from gpbandits_env.agents.acquisitions.functions import UCB as UCB
from gpbandits_env.agents.acquisitions.functions import Acquisition as Acquisition
from gpbandits_env.agents.acquisitions.functions import LogEI as LogEI
from gpbandits_env.agents.acquisitions.functions import LogPI as LogPI
from gpbandits_env.agents.acquisitions.functions import Mean as Mean
from gpbandits_env.agents.acquisitions.functions import RegretToSigma as RegretToSigma
from gpbandits_env.agents.acquisitions.functions import Variance as Variance
from gpbandits_env.agents.acquisitions.functions import leader as leader
