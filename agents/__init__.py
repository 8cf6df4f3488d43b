"""The agents: every algorithm of the papers under one ask/tell interface.

agent = agents.make("gp-ucb", env, seed=0)
actions = agent.ask()
agent.tell(actions, rewards)
"""

from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.check import check_agent
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.minimize import maximize, minimize
from gpbandits_env.agents.registry import adapter_names, make, names, settings_of

__all__ = [
    "Agent",
    "Campaign",
    "GPAgent",
    "adapter_names",
    "check_agent",
    "make",
    "maximize",
    "minimize",
    "names",
    "settings_of",
]
