"""Every registered agent with a posterior takes a temporal kernel, or says why it does not."""

import pytest

from gpbandits_env import agents
from gpbandits_env.errors import GPBanditsError
from gpbandits_env.gp.temporal import temporal_from_dict

SEASON = {"type": "quasi-periodic", "period": 4.0, "harmonics": 1, "epsilon": 0.1}
SHIFT = {"type": "terms", "kernels": [SEASON, {"type": "markov", "epsilon": 0.3}]}
SUM = {"type": "sum", "terms": [{"type": "se", "lengthscale": 0.3}, {"type": "constant"}]}
# Those that do not, and words of the reason.
REFUSED = {
    "r-gp-ucb": "reset_every and temporal",
    "sw-gp-ucb": "window and temporal",
    **dict.fromkeys(("random", "rexp3", "genie"), "no setting .* 'temporal'"),
    **dict.fromkeys(("et-gp-ucb", "bma-gp-ucb"), "rule of its own"),
    "wgp-ucb": "temporal and discount",
    "ui-tvbo": "temporal of its own",
    "w-dbo": "Matern 3/2",
    **dict.fromkeys(("bkb-ucb", "bkb-ei", "bkb-mpi"), "Nystrom .* does not support temporal"),
}


@pytest.mark.parametrize("name", agents.names())
def test_an_agent_takes_a_temporal_kernel_or_names_the_reason(laws, name):
    problem = laws.problem_on("box" if name in laws.box_only else "grid", batch_size=2)
    needed = {} if name == "tv-gp-ucb" else laws.needed.get(name, {})
    if name in REFUSED:
        with pytest.raises(GPBanditsError, match=REFUSED[name]):
            agents.make(name, problem, seed=0, temporal=SEASON, **needed)
        return
    for temporal in (SEASON, SHIFT):
        given = {"kernel": SUM} if temporal is SHIFT else {}
        agent = agents.make(name, problem, seed=0, temporal=temporal, **needed, **given)
        laws.play(agent, 3)
        assert agent.posterior.temporal == temporal_from_dict(temporal)
        assert agent.posterior.size > 0
