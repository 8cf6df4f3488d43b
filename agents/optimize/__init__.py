"""Agents outside an environment: named dimensions, campaigns, and a plain `minimize`.

campaign = Campaign({"rate": Real(1e-4, 1.0, log=True), "depth": Integer(1, 8)}, seed=0)
suggestion, = campaign.ask()
campaign.tell(suggestion.id, train(**suggestion.params))
"""

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.dimensions import Choice, Dimension, Integer, Real
from gpbandits_env.agents.optimize.minimize import maximize, minimize
from gpbandits_env.agents.optimize.records import Record, Suggestion
from gpbandits_env.agents.optimize.space import Space

__all__ = [
    "Campaign",
    "Choice",
    "Dimension",
    "Integer",
    "Real",
    "Record",
    "Space",
    "Suggestion",
    "maximize",
    "minimize",
]
