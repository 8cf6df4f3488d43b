"""Searches, which find the best-scoring arms or points of a box."""

from typing import TypeAlias

import numpy as np

from gpbandits_env.agents.embeddings.embedding import BoxMap
from gpbandits_env.agents.search.box import Gradient
from gpbandits_env.agents.search.round import RoundCandidates
from gpbandits_env.agents.search.search import ArmSearch, PlacedArmSearch, Search, Within
from gpbandits_env.arrays import Settings, mapping
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.specs import Family

__all__ = ["SEARCHES", "ArmSearch", "Search", "SearchSpec", "Within", "gradient_for", "search_for"]

SEARCHES: Family[Gradient | RoundCandidates] = Family("search")
# A search, its settings as a dict, or its name; None means the default.
SearchSpec: TypeAlias = Settings | Search | str | None
SEARCHES.register("gradient")(Gradient)
SEARCHES.register("round")(RoundCandidates)


def search_for(
    domain: Domain,
    spec: SearchSpec,
    rng: np.random.Generator,
    through: BoxMap | None = None,
    actions: Domain | None = None,
) -> Search:
    """The search over the domain of a posterior.

    Args:
        domain: arms or a box.
        spec: for a box, a search, a type of `SEARCHES` ("gradient" or "round"), or a dict of a type
            and its settings. A dict without a type, or None, means "gradient".
        rng: the agent's generator, which draws candidates.
        through: if given, only the image of this map in the box is searched.
        actions: the domain of the actions, if that of the posterior has a context's coordinates
            too, which the search then fixes in each round.
    Raises:
        InvalidInput: settings are given on arms, or a setting is out of range.
        UnknownName: there is no such type or setting.
    """
    acting = domain if actions is None else actions
    if isinstance(spec, Search):
        search = spec
    elif isinstance(acting, Arms):
        if spec is not None:
            raise InvalidInput("search is for boxes, and all arms are scored anyway: leave it out")
        return ArmSearch(domain.size) if isinstance(domain, Arms) else PlacedArmSearch(acting)
    else:
        assert isinstance(domain, Box)
        search = _settings(spec).search(domain, rng, through)
    if actions is not None and not acting.finite:
        search.fix(domain, np.full(domain.dim, np.nan))  # raises an error early
    return search


def gradient_for(spec: SearchSpec, name: str) -> Gradient:
    """The settings of a gradient search, which alone follows lines.

    Raises:
        InvalidInput: another search is given, or a setting is out of range.
    """
    found = None if isinstance(spec, Search) else _settings(spec)
    if not isinstance(found, Gradient):
        raise InvalidInput(f"{name} does not support search={shown(spec)}: use 'gradient'")
    return found


def _settings(spec: Settings | str | None) -> Gradient | RoundCandidates:
    named = {} if spec is None else {"type": spec} if isinstance(spec, str) else spec
    given = {"type": "gradient", **mapping(named, "search", "a dict or the name of a type")}
    return SEARCHES.from_dict(given)
