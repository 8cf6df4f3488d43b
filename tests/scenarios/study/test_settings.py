"""Settings by `--set`, and scenarios of papers written out as files."""

import tomllib
from dataclasses import replace

import pytest
from click.testing import CliRunner

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study.files import (
    as_toml,
    parse_settings,
    read,
    with_settings,
)
from gpbandits_env.scenarios.study.runner import make_env

SE = registry.get("bogunovic2016/se")


def test_values_are_written_as_in_toml_and_words_need_no_quotes():
    given = ["noise_var=0.1", "environment.epsilon = 1e-2", "grid=[5, 5]", "kernel.type=matern52"]
    assert parse_settings(given) == {
        "noise_var": 0.1,
        "epsilon": 0.01,
        "grid": [5, 5],
        "kernel.type": "matern52",
    }


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["noise_var"], "needs NAME=VALUE"),
        (["=3"], "needs NAME=VALUE"),
        (["agents.=3"], "needs NAME=VALUE"),
        (["agents=3"], "needs NAME=VALUE"),
        (["grid=" + "[" * 5000], "nested too deeply"),
        (["epsilon=1", "environment.epsilon=2"], "epsilon is given twice"),
    ],
)
def test_what_is_no_setting_is_refused(texts, says):
    with pytest.raises(InvalidInput, match=says):
        parse_settings(texts)


def test_settings_reach_the_environment_the_agents_and_the_scenario():
    settings = {"noise_var": 0.1, "kernel.lengthscale": 0.3, "horizon": 7, "initial": 2}
    settings |= {"agents.reset_every": 9, "agents.tv-gp-ucb.epsilon": 0.5}
    changed = with_settings(SE, settings)
    assert changed.env_kwargs["noise_var"] == 0.1
    assert changed.env_kwargs["kernel"] == {"type": "se", "lengthscale": 0.3}
    assert (changed.horizon, changed.initial) == (7, 2)
    found = {e.label: dict(e.settings) for e in changed.agents}
    assert found["tv-gp-ucb"]["epsilon"] == 0.5
    assert all(own["reset_every"] == 9 for own in found.values())
    assert "epsilon" not in found["gp-ucb"]
    assert "noise_var is set to 0.1" in changed.departures
    assert SE.env_kwargs["kernel"]["lengthscale"] == 0.2  # the paper's stays as it is
    assert with_settings(SE, {}) is SE


def test_a_setting_of_an_agent_that_does_not_run_is_refused():
    chosen = SE.select(["random"])
    with pytest.raises(InvalidInput, match="'tv-gp-ucb' is not among those that run: random"):
        with_settings(chosen, {"agents.tv-gp-ucb.epsilon": 0.5})
    assert with_settings(chosen, {"agents.noise_var": 0.5}).agents[0].settings == {"noise_var": 0.5}


def test_what_is_set_is_swept_no_longer():
    assert len(SE.cells()) == 3
    one = with_settings(SE, {"epsilon": 0.02})
    assert [cell.scenario.env_kwargs["epsilon"] for cell in one.cells()] == [0.02]
    points = replace(SE, grid=({}, {"kernel.variance": 2.0, "noise_var": 0.02}))
    assert not isinstance(points.grid, dict)
    fewer = with_settings(points, {"noise_var": 1.0})
    assert all("noise_var" not in point for point in fewer.points())
    with pytest.raises(InvalidInput, match="the grid sweeps epsilon"):
        with_settings(SE, {"epsilon.most": 1})


@pytest.fixture
def cli(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(main, [str(a) for a in args])


SMALL = ("--trials", "2", "--horizon", "6", "--jobs", "1")


def test_a_run_with_settings_has_a_file_of_its_own(cli, tmp_path, unplotted):
    more = ("--set", "grid=[6, 6]", "--set", "environment.epsilon=0.02")
    result = cli("run", "bogunovic2016/se", *SMALL, *more)
    assert result.exit_code == 0, result.output
    (path,) = (tmp_path / "results").glob("*.sqlite")
    assert path.name == "bogunovic2016-se-grid=_6_6_-environment.epsilon=0.02.sqlite"
    with Store.open(path) as store:
        assert store.scenario["env_kwargs"]["epsilon"] == 0.02
        assert store.scenario["points"] == [{}]


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("nois_var=1", "did you mean 'noise_var'"),
        ("horizn=3", "--set also takes horizon, initial,"),
        ("max_episode_steps=3", "max_episode_steps is the horizon of the scenario"),
        ("agents.gp-ucb.betta=1", "settings.betta"),
        ("agents.gpucb.beta=1", "no agent named 'gpucb'; did you mean 'gp-ucb'"),
        ("horizon=many", "horizon must be a whole number"),
        ("noise_var=abc", "noise_var must be a number, got 'abc'"),
    ],
)
def test_a_wrong_setting_is_one_line_and_exit_code_2(cli, setting, says):
    result = cli("run", "bogunovic2016/se", *SMALL, "--set", setting)
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_horizon_longer_than_a_recording_is_refused_unless_it_repeats():
    made = {"readings": [[0.0, 1.0], [1.0, 0.5], [0.5, 0.0], [0.2, 0.9], [0.4, 0.1]]}
    with pytest.raises(InvalidInput, match=r"horizon is 3, but .* after 2 rounds: .*repeat=True"):
        make_env("gpbandits/Replay-v0", made, 3)
    make_env("gpbandits/Replay-v0", made, 2)
    make_env("gpbandits/Replay-v0", made | {"repeat": True}, 3)


@pytest.mark.parametrize("scenario", registry.scenarios().values(), ids=lambda s: s.id)
def test_every_scenario_is_the_same_when_it_is_read_back(scenario):
    text = as_toml(scenario, "x.toml")
    back = read(tomllib.loads(text))
    assert back.to_dict() == scenario.to_dict()
    assert [e.label for e in back.alternatives] == [e.label for e in scenario.alternatives]


def test_a_scenario_that_is_written_out_has_the_same_digest(cli, unplotted):
    wrote = cli("new", "se.toml", "--from", "bogunovic2016/se")
    assert wrote.exit_code == 0, wrote.output
    assert "its results are those of bogunovic2016/se" in wrote.output
    digests = []
    for name in ("bogunovic2016/se", "se.toml"):
        done = cli("run", name, *SMALL, "--set", "grid=[6, 6]", "--out", f"{len(digests)}.sqlite")
        assert done.exit_code == 0, done.output
        digests += [line for line in done.output.splitlines() if line.startswith("digest")]
    assert len(digests) == 2
    assert digests[0] == digests[1]
