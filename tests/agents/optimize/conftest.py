"""A campaign with some values."""

import pytest

from gpbandits_env.agents.optimize import Campaign


@pytest.fixture
def begun():
    """A function that makes a campaign on the unit square, with n values of a paraboloid."""

    def make(n=6, **options):
        campaign = Campaign({"x": (0.0, 1.0), "y": (0.0, 1.0)}, seed=1, n_initial=4, **options)
        for _ in range(n):
            (suggestion,) = campaign.ask()
            campaign.tell(suggestion.id, -sum((v - 0.3) ** 2 for v in suggestion.params.values()))
        return campaign

    return make
