"""Acquisitions, which score points, and the rules that make one in each round."""

from gpbandits_env.agents.acquisitions.feasibility import Feasibility
from gpbandits_env.agents.acquisitions.functions import (
    LCB,
    UCB,
    Acquisition,
    LogEI,
    LogPI,
    Mean,
    RegretToSigma,
    Variance,
    leader,
)

__all__ = [
    "LCB",
    "UCB",
    "Acquisition",
    "Feasibility",
    "LogEI",
    "LogPI",
    "Mean",
    "RegretToSigma",
    "Variance",
    "leader",
]
