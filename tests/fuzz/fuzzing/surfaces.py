"""All that is fuzzed, and its share of the cases."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from fuzzing import beliefs, commands, declared, environments, learners, studies
from fuzzing.case import Case

Draw: TypeAlias = Callable[[np.random.Generator, Path], Case]


def plain(draw: Callable[[np.random.Generator], Case]) -> Draw:
    """Of a surface that needs no folder."""
    return lambda rng, _: draw(rng)


@dataclass(frozen=True)
class Surface:
    """One part of the public interface.

    Args:
        draw: a case from a generator; it may write in the folder.
        share: its cases out of `TOTAL`.
    """

    draw: Draw
    share: int


SURFACES = {
    "specs": Surface(plain(declared.spec_case), 1500),
    "functions": Surface(plain(declared.call_case), 1200),
    "environments made": Surface(plain(environments.make_case), 1200),
    "environments played": Surface(plain(environments.play_case), 1200),
    "agents made": Surface(plain(learners.make_case), 1200),
    "agents called": Surface(plain(learners.call_case), 1300),
    "posteriors made": Surface(plain(beliefs.make_case), 300),
    "posteriors called": Surface(plain(beliefs.call_case), 600),
    "scenarios": Surface(studies.scenario_case, 300),
    "scenario files read": Surface(studies.read_case, 300),
    "scenario files loaded": Surface(studies.toml_case, 300),
    "stores": Surface(studies.store_case, 300),
    "command lines": Surface(commands.command_case, 300),
}
TOTAL = sum(surface.share for surface in SURFACES.values())
