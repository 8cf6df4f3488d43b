"""Agents: every algorithm of the papers under one ask/tell interface.

agent = agents.make("gp-ucb", env, seed=0)
actions = agent.ask()
agent.tell(actions, rewards)
"""

from gpbandits_env.agents.agent import Agent as Agent
from gpbandits_env.agents.gp_agent import GPAgent as GPAgent
from gpbandits_env.agents.laws import check_agent as check_agent
from gpbandits_env.agents.optimize.campaign import Campaign as Campaign
from gpbandits_env.agents.optimize.minimize import maximize as maximize
from gpbandits_env.agents.optimize.minimize import minimize as minimize
from gpbandits_env.agents.registry import adapter_names as adapter_names
from gpbandits_env.agents.registry import make as make
from gpbandits_env.agents.registry import names as names
from gpbandits_env.agents.registry import settings_of as settings_of
