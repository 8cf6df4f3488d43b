"""What papers print: final figures to lay ours beside."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A row of a paper's table.

    Args:
        means: agent -> mean simple regret at the last round.
        deviations: agent -> its standard deviation over the runs.
    """

    means: Mapping[str, float]
    deviations: Mapping[str, float]

    def rank(self, agent: str) -> int:
        """1 for the smallest mean."""
        return 1 + sum(mean < self.means[agent] for mean in self.means.values())


_AGENTS = ("dpp-ts", "bucb", "ucbpe", "sp", "ts", "qei", "ts-rsr")
# Problem: unit, means, standard deviations, in the order of _AGENTS. Source: ren2024, Tables 1-4.
_REN2024: dict[str, tuple[float, tuple[float, ...], tuple[float, ...]]] = {
    "rbf-2d": (
        1e-2,
        (6.1, 5.1, 11.8, 12.7, 8.9, 29.8, 3.8),
        (11.4, 11.3, 16.8, 18.6, 14.6, 26.1, 10.0),
    ),
    "rbf-3d": (
        1e-2,
        (5.8, 36.0, 48.9, 12.4, 3.0, 29.8, 1.9),
        (9.1, 29.5, 35.5, 20.6, 6.8, 54.2, 3.6),
    ),
    "ackley-2d": (
        1e-3,
        (2.2, 2.3, 8.3, 3.5, 4.3, 10.4, 1.7),
        (1.6, 1.1, 5.4, 1.8, 3.1, 3.5, 1.1),
    ),
    "rosenbrock-2d": (
        1e-3,
        (6.2, 22.7, 207.1, 69.0, 3.9, 12.1, 2.0),
        (7.2, 24.1, 165.9, 61.1, 1.7, 7.3, 1.6),
    ),
    "bird-2d": (
        1e-4,
        (0.4, 7.1, 763.3, 1.4, 0.3, 1.4, 0.7),
        (1.0, 7.2, 1782.0, 1.0, 0.0, 2.0, 1.0),
    ),
    "ackley-3d": (
        1e-2,
        (3.9, 50.1, 158.7, 104.2, 18.0, 45.6, 1.2),
        (4.0, 71.7, 113.3, 97.3, 38.3, 55.6, 0.6),
    ),
    "hartmann-6d": (
        1e-2,
        (11.1, 4.78, 8.3, 4.0, 5.9, 1.9, 1.6),
        (9.4, 4.9, 6.5, 8.0, 9.5, 5.5, 4.7),
    ),
    "griewank-8d": (
        1e-2,
        (14.0, 5.2, 14.3, 15.5, 14.9, 11.0, 3.1),
        (5.0, 1.8, 4.8, 8.9, 4.3, 4.1, 1.7),
    ),
    "michalewicz-10d": (
        1.0,
        (5.4, 5.4, 5.8, 4.8, 5.5, 5.0, 4.4),
        (0.8, 1.1, 0.7, 0.8, 0.7, 0.7, 0.7),
    ),
    "boston": (
        1e-1,
        (7.6, 6.6, 9.9, 11.1, 11.4, 7.8, 4.9),
        (3.4, 3.5, 4.3, 5.6, 4.8, 4.5, 2.5),
    ),
    "push-3d": (
        1e-2,
        (31.0, 12.6, 18.9, 18.6, 39.2, 27.1, 8.1),
        (20.1, 5.0, 6.3, 19.2, 22.3, 38.7, 5.5),
    ),
    "push-4d": (
        1e-1,
        (3.5, 2.6, 3.5, 5.5, 3.8, 5.2, 1.9),
        (2.5, 1.9, 2.3, 5.6, 2.4, 7.6, 1.3),
    ),
}


def _scaled(unit: float, numbers: tuple[float, ...]) -> dict[str, float]:
    return {agent: unit * number for agent, number in zip(_AGENTS, numbers, strict=True)}


REN2024 = {
    name: Published(_scaled(unit, means), _scaled(unit, deviations))
    for name, (unit, means, deviations) in _REN2024.items()
}

# Paper -> problem -> what it prints.
TABLES: dict[str, dict[str, Published]] = {"ren2024": REN2024}
