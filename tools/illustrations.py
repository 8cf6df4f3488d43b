"""`python -m tools.illustrations` draws docs/images/drift.gif, which the first pages show."""

from pathlib import Path

import click

from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.reporting.animation import animate

ROOT = Path(__file__).resolve().parent.parent
# The optimum of this instance jumps to another peak and back, and the agent follows.
SEED, ROUNDS = 26, 75
DRIFT = Scenario(
    id="illustrations/drift",
    source="this library",
    title="TV-GP-UCB on a drifting function",
    env="gpbandits/MarkovGP-v0",
    env_kwargs={
        "grid": [200],
        "epsilon": 0.02,
        "noise_var": 0.02,
        "kernel": {"type": "se", "lengthscale": 0.15},
    },
    agents=(AgentEntry("TV-GP-UCB", "tv-gp-ucb"),),
    horizon=ROUNDS,
    trials=1,
)


@click.command()
@click.option("--root", type=click.Path(path_type=Path), default=ROOT, help="The checkout.")
@click.option("--seed", type=int, default=SEED, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
def illustrations(root: Path, seed: int, rounds: int) -> None:
    """Draw the animation of the first pages; the same seed gives the same file."""
    target = root / "docs" / "images" / "drift.gif"
    animate(DRIFT, "TV-GP-UCB", target, rounds=rounds, seed=seed, frames_per_second=5)
    click.echo(f"{target}: {target.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    illustrations()
