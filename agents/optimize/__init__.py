"""Optimization without an environment: named dimensions, campaigns, `minimize` and `maximize`.

campaign = Campaign({"rate": Real(1e-4, 1.0, log=True), "depth": Integer(1, 8)}, seed=0)
suggestion, = campaign.ask()
campaign.tell(suggestion, train(**suggestion.params))
"""

from gpbandits_env.agents.optimize.campaign import Campaign as Campaign
from gpbandits_env.agents.optimize.dimensions import Categorical as Categorical
from gpbandits_env.agents.optimize.dimensions import Choice as Choice
from gpbandits_env.agents.optimize.dimensions import Dimension as Dimension
from gpbandits_env.agents.optimize.dimensions import Integer as Integer
from gpbandits_env.agents.optimize.dimensions import Real as Real
from gpbandits_env.agents.optimize.minimize import maximize as maximize
from gpbandits_env.agents.optimize.minimize import minimize as minimize
from gpbandits_env.agents.optimize.records import Record as Record
from gpbandits_env.agents.optimize.records import Suggestion as Suggestion
from gpbandits_env.agents.optimize.space import Space as Space
from gpbandits_env.agents.optimize.view import CampaignView as CampaignView
