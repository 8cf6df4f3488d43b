"""Files that were written before version 2 of the format, when names were other ones."""

import json
from pathlib import Path

import pytest

from gpbandits_env.agents.optimize import Campaign

# By agent: the "file" of a campaign, and what it asked for "then", both by the code of that time.
OLD = json.loads((Path(__file__).parent / "data" / "format_1.json").read_text(encoding="utf-8"))


def value(params):
    return float(sum(-((v - 0.3) ** 2) for v in params.values() if isinstance(v, float)))


@pytest.mark.parametrize("agent", OLD)
def test_a_campaign_of_format_1_resumes_as_if_nothing_had_been_renamed(agent, tmp_path):
    file = tmp_path / "campaign.json"
    file.write_text(json.dumps(OLD[agent]["file"]), encoding="utf-8")
    campaign = Campaign.resume(file)
    assert campaign.maximize == (agent != "ei")
    (pending,) = campaign.pending
    then = []
    for _ in range(3):
        one, other = campaign.ask(2)
        then += [one.params, other.params]
        campaign.tell(other.id, value(other.params))
        campaign = Campaign.resume(file)
    campaign.tell(pending.id, 0.5)
    then += [campaign.ask()[0].params, campaign.recommended]
    for params, expected in zip(then, OLD[agent]["then"], strict=True):
        assert params == pytest.approx(expected, abs=1e-6)
