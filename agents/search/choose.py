"""Which search an agent gets."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.search.arms import ArmSearch
from gpbandits_env.agents.search.base import Search
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.errors import InvalidInput


def search_for(
    domain: Domain, spec: Mapping[str, Any] | str | None, rng: np.random.Generator
) -> Search:
    """The search over the domain of a belief.

    Args:
        domain: arms, or a box.
        spec: a type and settings as a dict, or a type's name: "gradient" (`BoxSearch`),
            "candidates" or "round" (`RoundSearch`); None for gradient. On arms there are none.
        rng: the agent's randomness, which draws where a box is looked at.
    Raises:
        InvalidInput: settings on arms, or out of range.
        UnknownName: no such setting.
    """
    if isinstance(domain, Arms):
        if spec is not None:
            raise InvalidInput("arms are all looked at: leave out search (it is for boxes)")
        return ArmSearch()
    from gpbandits_env.agents.search.box import box_search
    from gpbandits_env.agents.search.round import round_search

    spec = {} if spec is None else spec
    kind = spec.get("type") if isinstance(spec, Mapping) else spec
    rounds = isinstance(kind, str) and kind == "round"  # an array would be compared entry by entry
    return (round_search if rounds else box_search)(domain, spec, rng)
