"""What environments, agents and problems show in a terminal and in a notebook."""

import subprocess
import sys
import threading

import gymnasium as gym
import numpy as np
import pytest

from gpbandits_env import Arms, Box, agents
from gpbandits_env.agents.optimize import Campaign, Choice
from gpbandits_env.display import counted, html_table, in_short, progress_bar
from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.study import run_study


@pytest.fixture
def env():
    env = gym.make("gpbandits/MarkovGP-v0", grid=(6, 7), epsilon=0.02, batch_size=2)
    env.reset(seed=0)
    return env


def test_an_environment_says_what_it_is(env):
    shown = repr(env.unwrapped)
    assert shown.startswith("gpbandits/MarkovGP-v0(domain=Arms(size=42, dim=2, grid=6 x 7)")
    for words in ("SquaredExponential(lengthscale=0.2", "noise_var=0.01", "batch_size=2"):
        assert words in shown
    assert shown in str(env)  # within its wrappers
    assert "<td" in env.unwrapped._repr_html_()


@pytest.mark.parametrize("name", ["tv-gp-ucb", "random"])
def test_an_agent_says_how_much_it_has_learned(env, name):
    agent = agents.make(name, env, seed=0)
    agent.tell(agent.ask(), [0.1, 0.2])
    assert "batch_size=2, round=1" in repr(agent)
    assert ("n_observations=2" in repr(agent)) == (name != "random")
    assert repr(agent).startswith(type(agent).__name__)
    assert "SquaredExponential" in agent._repr_html_()


@pytest.mark.parametrize("name", ["gp-ucb", "bkb-ucb", "bma-gp-ucb"])
def test_a_posterior_says_what_it_is_and_how_many_observations_it_has(env, name):
    agent = agents.make(name, env, seed=0)
    agent.tell([3, 4], [0.1, 0.2])
    shown = repr(agent.posterior)
    assert shown.startswith(f"{type(agent.posterior).__name__}(domain=Arms(size=42, dim=2, ")
    assert shown.endswith("noise_var=0.01, size=2)")


def test_long_values_are_short():
    box = Box(np.zeros(5000), np.ones(5000))
    assert repr(box) == "Box(dim=5000, low=0, high=1)"
    assert repr(Box([0, 1], [2, 3])) == "Box(dim=2, low=[0, 1], high=[2, 3])"
    assert repr(Arms(np.arange(9.0))) == "Arms(size=9, dim=1)"
    assert in_short(np.arange(9.0)) == "9 numbers from 0 to 8"
    problem = agents.make("ei", gym.make("gpbandits/Table-v0")).problem
    assert len(repr(problem)) < 400


def test_a_space_and_the_agent_of_a_campaign_are_short():
    campaign = Campaign({f"c{i}": Choice(("a", "b", "c")) for i in range(9)})
    assert repr(campaign.space).startswith("Space(c0=Choice(options=('a', 'b', 'c')), c1=")
    assert repr(campaign.agent).startswith("EI(domain=Cube(dim=27, low=0, high=1), kernel=")


def test_html_is_escaped():
    assert "<script>" not in html_table(["<script>"], [["a", "<script>"]], "<script>")


def test_a_count_of_one_is_singular():
    assert [counted(n, "trial") for n in (0, 1, 2)] == ["0 trials", "1 trial", "2 trials"]


def test_printed_results_have_numbers(tmp_path):
    scenario = get("srinivas2010/se-1d").select(trials=2, horizon=5)
    outcome = run_study(scenario, tmp_path / "few.sqlite", jobs=1, progress=False)
    report = outcome.report()
    for shown in (str(report), str(outcome)):
        for agent in report.cells[0].agents:
            assert f"{agent.label} " in shown
            assert agent.words("average_regret") in shown
    assert repr(report).startswith("Report(scenario=srinivas2010/se-1d, agents=gp-ucb, ei, ")


FIGURES = """
import sys
from gpbandits_env import minimize
from gpbandits_env.agents.optimize import plots
found = minimize(lambda x: x[0] ** 2, [(0, 1)], n_calls=5, seed=0)
for figure in (plots.convergence(found), plots.slices(found)):
    assert figure._repr_png_().startswith(b"\\x89PNG")
assert "matplotlib.pyplot" not in sys.modules
"""


def test_a_notebook_shows_figures_without_pyplot():
    subprocess.run([sys.executable, "-c", FIGURES], check=True)


def test_all_progress_bars_share_one_thread():
    progress_bar(total=3, disable=True).close()
    before = threading.active_count()
    for _ in range(3):
        progress_bar(total=3, disable=True).close()
    assert threading.active_count() == before


@pytest.mark.skipif(sys.platform == "win32", reason="semaphores of Windows have no names")
def test_a_killed_process_leaves_no_semaphore_of_its_bar():
    """With the way to start processes that is the default from Python 3.14 on."""
    code = (
        "import multiprocessing, os\n"
        "from gpbandits_env.display import progress_bar\n"
        "multiprocessing.set_start_method('spawn')\n"
        "progress_bar(total=3, disable=True)\n"
        "os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
