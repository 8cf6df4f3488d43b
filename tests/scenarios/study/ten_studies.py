"""Ten small studies as users write them. As a script: run them and print the digests of the files.

python ten_studies.py ENGINE=ADDRESS JOBS FOLDER [NAME ...]
"""

import json
import sys
from pathlib import Path

from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study import run_study
from gpbandits_env.scenarios.study.engines import Engine

MATERN = {"type": "matern52", "lengthscale": 0.2}
ROUGH = {"type": "matern32", "lengthscale": 0.1}
SE = {"type": "se", "lengthscale": 0.3}
PAIRS = {
    "type": "product",
    "factors": [
        {"type": "on", "coordinates": [0], "kernel": MATERN},
        {"type": "on", "coordinates": [1], "kernel": SE},
    ],
}
SQUARE = [[0.0, 0.0], [1.0, 1.0]]
LATE = {"least": 1, "most": 4, "lost": 0.1}
BREAK = {"type": "change-points", "times": [8]}
# name: environment, its arguments, horizon, agents
STUDIES = {
    "grid": ("StaticGP", {"grid": [12, 12], "kernel": MATERN}, 20, "gp-ucb ei ts"),
    "drift": (
        *("MarkovGP", {"grid": [12, 12], "kernel": MATERN, "epsilon": 0.05}),
        *(20, "tv-gp-ucb r-gp-ucb bma-gp-ucb"),
    ),
    "break": (
        *("Drifting", {"grid": [15, 15], "kernel": MATERN, "drift": BREAK}),
        *(20, "gp-ucb ei ts"),
    ),
    "line": ("StaticGP", {"grid": [300], "kernel": ROUGH}, 15, "gp-ucb ts-rsr"),
    "batch": (
        *("StaticGP", {"grid": [30, 30], "kernel": MATERN, "batch_size": 3}),
        *(12, "gp-ucb ts"),
    ),
    "box": ("StaticGP", {"box": SQUARE, "kernel": MATERN}, 10, "gp-ucb ei random"),
    "batch in a box": (
        *("StaticGP", {"box": SQUARE, "kernel": SE, "batch_size": 2}),
        *(6, "ts-rsr qei"),
    ),
    "contexts": ("Contextual", {"grid": [20], "contexts": 8, "kernel": PAIRS}, 20, "gp-ucb ei ts"),
    "any context": (
        *("Contextual", {"grid": [12], "contexts": {"box": [[0.0], [1.0]]}, "kernel": PAIRS}),
        *(10, "gp-ucb"),
    ),
    "late": ("StaticGP", {"grid": [12, 12], "kernel": MATERN, "delay": LATE}, 20, "gp-ucb ei ts"),
}


def digest(name, engine, jobs, folder):
    """Run a study and return the digest of its file."""
    env, arguments, horizon, agents = STUDIES[name]
    scenario = Scenario(
        id=f"own/{name}",
        source="a test",
        title=name,
        env=f"gpbandits/{env}-v0",
        env_kwargs=arguments,
        agents=tuple(AgentEntry(agent, agent) for agent in agents.split()),
        horizon=horizon,
        trials=3,
    )
    path = Path(folder) / f"{name} {jobs}.sqlite"
    kind, _, address = engine.partition("=")
    where = Engine(kind, address or None)
    outcome = run_study(scenario, path, jobs=jobs, engine=where, progress=False)
    assert outcome.done == outcome.total, outcome.failures
    with Store.open(path) as store:
        return store.digest()


if __name__ == "__main__":
    engine, jobs, folder, *names = sys.argv[1:]
    print(json.dumps({name: digest(name, engine, int(jobs), folder) for name in names or STUDIES}))
