"""Scenario files: what they declare, and errors that name the file and the key."""

import re
import tomllib
from dataclasses import replace

import gymnasium as gym
import pytest
from click.testing import CliRunner

from gpbandits_env import agents
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.errors import InvalidInput, MissingData
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.study.files import load, read, template
from gpbandits_env.scenarios.study.run import run_study

SMALL = """
id = "my/small"
horizon = 6
trials = 2
[environment]
id = "gpbandits/MarkovGP-v0"
grid = [5]
epsilon = 0.1
[[agents]]
agent = "tv-gp-ucb"
[[agents]]
label = "slow"
agent = "tv-gp-ucb"
settings = { epsilon = 0.01 }
"""


def needs_a_package(**_):
    raise ImportError("install no_such_package")


def written(folder, text):
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read(tmp_path):
    scenario = load(written(tmp_path, SMALL))
    assert (scenario.id, scenario.horizon, scenario.trials) == ("my/small", 6, 2)
    assert scenario.env_kwargs == {"grid": [5], "epsilon": 0.1}
    assert [(e.label, dict(e.settings)) for e in scenario.agents] == [
        ("tv-gp-ucb", {}),
        ("slow", {"epsilon": 0.01}),
    ]


def test_the_template_is_valid_and_says_its_name(tmp_path):
    text = template("mine.toml")
    assert "gpbandits run mine.toml" in text
    scenario = load(written(tmp_path, text))
    assert len(scenario.agents) == 5
    assert scenario.id == "my/mine"


IN_BOXES = {n for n in agents.names() if getattr(agent_class(n), "PARTS", Parts()).is_local}
IN_A_BOX = """
horizon = 4
trials = 2
initial = 3
[environment]
id = "gpbandits/HighDim-v0"
function = "ackley"
dim = 6
"""


@pytest.mark.parametrize("box", [False, True])
def test_every_agent_runs_in_a_scenario_of_ones_own(tmp_path, box, unplotted):
    needs = {"r-gp-ucb": "settings = { reset_every = 3 }"}
    names = [n for n in agents.names() if (n in IN_BOXES) == box]
    tables = [f'[[agents]]\nagent = "{n}"\n{needs.get(n, "")}' for n in names]
    text = (IN_A_BOX if box else SMALL[: SMALL.index("[[agents]]")]) + "\n".join(tables)
    path = written(tmp_path, text)
    result = CliRunner().invoke(
        main, ["run", str(path), "--jobs", "1", "--out", str(tmp_path / "all.sqlite")]
    )
    assert result.exit_code == 0, result.output
    assert all(name in result.output for name in names)


def test_a_grid_is_swept(tmp_path):
    text = SMALL + '\n[grid]\nepsilon = [0.1, 0.2]\n"agents.slow.epsilon" = [0.0, 0.5]\n'
    assert len(load(written(tmp_path, text)).cells()) == 4
    unquoted = (
        SMALL + "\n[grid]\nenvironment.epsilon = [0.1, 0.2]\nagents.slow.epsilon = [0.0, 0.5]\n"
    )
    assert load(written(tmp_path, unquoted)).cells() == load(written(tmp_path, text)).cells()
    # A setting of all agents may be a dict, as "agents.LABEL.NAME" is the setting of one.
    dicts = SMALL.replace("epsilon = 0.01", 'beta = { type = "finite" }')
    of_all = dicts + '[grid]\n"agents.beta.type" = ["finite"]\n"agents.slow.beta.scale" = [0.2]\n'
    assert len(read(tomllib.loads(of_all)).cells()) == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("horizon = 6", "horizon = 0", "horizon"),
        ("horizon = 6", 'horizon = "six"', "horizon must be a whole number"),
        ("horizon = 6", "", "horizon is missing"),
        ("horizon = 6", "horzion = 6", "'horzion'; did you mean 'horizon'"),
        ("epsilon = 0.1", "epsilon = 2", "environment.*epsilon must lie in"),
        ("epsilon = 0.1", "epsilom = 0.1", "environment.*epsilom.*did you mean 'epsilon'"),
        ("MarkovGP-v0", "MarkowGP-v0", "environment.id"),
        ("[environment]", "[enviroment]", "enviroment.*did you mean 'environment'"),
        ("0.01 }", "1.5 }", r"agents\[1\].settings.epsilon"),
        ("{ epsilon = 0.01", "{ epsilno = 0.01", r"agents\[1\].settings.epsilno"),
        ('"slow"', '"a,b"', r"agents\[1\].label"),
        ('"slow"', f'"{101 * "a"}"', "label must be one line of 1 to 100 characters"),
        ('"slow"', '"tv-gp-ucb"', "labels of the agents must differ"),
        ('agent = "tv-gp-ucb"\n[[', 'agent = "tv-gp-ucp"\n[[', r"agents\[0\].agent.*tv-gp-ucb"),
        ("grid = [5]", "grid = [5", "mine.toml"),
        ("epsilon = 0.1", 'kernel = { type = "see" }', "environment.kernel.*'se'"),
        ("epsilon = 0.1", "epsilon = 2026-01-01", "environment.*cannot be written as JSON"),
        (
            'label = "slow"',
            "beta = 2.0",
            r"no key of agents\[1\] named 'beta' \(known: .*settings = {}",
        ),
        ("horizon = 6", "noise_var = 1", r"'noise_var' \(.*environment belong in \[environment\]"),
        ('label = "slow"\n', "", "tv-gp-ucb; give each a label of its own"),
        ("epsilon = 0.1", "render_mode = []", "environment: render_mode must be a string"),
        ('id = "my/small"', 'id = " "', "id must be one line of text, got ' '"),
        (
            "0.01 }",
            '0.01 }\n[grid]\n"agents.slwo.epsilon" = [0.1]',
            "grid: agents.slwo.epsilon: no agent named 'slwo'; did you mean 'slow'",
        ),
        (
            "0.01 }",
            '0.01 }\n[grid]\n"agents.slow" = [0.1]',
            "grid: agents.slow: add a setting: agents.slow.beta",
        ),
        *(
            (
                "0.01 }",
                f'0.01 }}\n[grid]\n"{name}" = [0.1]',
                f"grid: {name}: a part of this name is empty",
            )
            for name in ("agents.nobody.", "agents.slow.", "agents..beta", "kernel.", ".noise_var")
        ),
    ],
)
def test_errors_name_the_file_and_the_key(tmp_path, old, new, says):
    assert old in SMALL
    with pytest.raises(
        InvalidInput, match=f"(?s)mine.toml.*{says}" if "mine" not in says else says
    ):
        load(written(tmp_path, SMALL.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        ('type = "theorem"', "no bound named 'theorem'"),
        ('type = "theorem1"\nmetrics = 1', "no field of the bound 'theorem1' named 'metrics'"),
        ('type = "theorem1"\nmetric = "cumulative_regret"', "no metric of this bound named 'cumu"),
        ('type = "theorem1"', "Theorem 1 is about one action per round"),
    ],
)
def test_errors_of_a_bound_name_the_file_and_its_place(tmp_path, bound, says):
    text = SMALL.replace("grid = [5]", "grid = [5]\nbatch_size = 2")
    text = text.replace("epsilon = 0.1", "epsilon = 0.0")
    bounds = f'[[bounds]]\ntype = "ren-theorem1"\n[[bounds]]\n{bound}\n'
    with pytest.raises(InvalidInput, match=rf"mine.toml: bounds\[1\]: .*{says}"):
        load(written(tmp_path, text + bounds))


def test_a_bound_that_does_not_cover_the_problem_leaves_no_results_file(tmp_path):
    scenario = replace(read(tomllib.loads(SMALL)), bounds=({"type": "theorem1"},))
    with pytest.raises(InvalidInput, match=r"bounds\[0\]: .* does not drift"):
        run_study(scenario, tmp_path / "a.sqlite", jobs=1, progress=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bound", ['type = "theorem1"', 'type = "bedi3.2"\nepsilon = 0.1'])
def test_no_bound_covers_a_drift_that_agents_are_not_told(tmp_path, bound):
    text = SMALL.replace("MarkovGP", "Drifting").replace("epsilon = 0.1", "drift = {DRIFT}")
    for drift in ('type = "change-points", rate = 0.1', 'type = "seasonal", period = 9.0'):
        declared = text.replace("DRIFT", drift) + f"[[bounds]]\n{bound}\n"
        with pytest.raises(InvalidInput, match=r"bounds\[0\]: no theorem covers a drift"):
            load(written(tmp_path, declared))


@pytest.mark.parametrize("entry_point", ["no_such_package:Env", needs_a_package])
def test_an_environment_that_needs_a_missing_package_is_named(tmp_path, monkeypatch, entry_point):
    monkeypatch.setattr(gym.envs.registration, "registry", {**gym.registry})
    gym.register("needs-more-v0", entry_point=entry_point)
    with pytest.raises(InvalidInput, match=r"mine.toml: environment.id: .*needs-more.*no_such_pac"):
        load(written(tmp_path, SMALL.replace("gpbandits/MarkovGP-v0", "needs-more-v0")))


@pytest.mark.parametrize("name", ["no_such_package:mine-v0", "json:one:mine-v0", ":mine-v0"])
def test_a_module_of_an_environment_that_is_missing_is_named(tmp_path, name):
    with pytest.raises(InvalidInput, match=r"mine.toml: environment.id: .*cannot be imported"):
        load(written(tmp_path, SMALL.replace("gpbandits/MarkovGP-v0", name)))


def test_a_drift_that_is_wrong_is_named(tmp_path):
    text = template("mine.toml").replace("epsilon = 0.005", "epsilon = 5")
    with pytest.raises(InvalidInput, match=r"mine.toml: environment.drift: epsilon must lie"):
        load(written(tmp_path, text))


def test_files_of_windows_are_read_or_refused_with_a_cure(tmp_path):
    path = written(tmp_path, "\ufeff" + SMALL.replace("\n", "\r\n"))
    assert load(path) == load(written(tmp_path, SMALL))
    path.write_text(SMALL, encoding="utf-16")
    with pytest.raises(InvalidInput, match=r"mine\.toml: save the file as UTF-8"):
        load(path)


def test_a_drift_that_is_a_function_is_refused_with_a_cure(tmp_path):
    drift = {"grid": [5], "drift": lambda f, fresh, t, rng: f}
    scenario = replace(read(tomllib.loads(SMALL)), env="gpbandits/Drifting-v0", env_kwargs=drift)
    with pytest.raises(InvalidInput, match=r"written as JSON: give a class .*'module:C"):
        run_study(scenario, tmp_path / "x.sqlite", jobs=1)


def test_no_agents_and_no_file(tmp_path):
    with pytest.raises(InvalidInput, match="agents"):
        read(tomllib.loads(SMALL[: SMALL.index("[[agents]]")]))
    with pytest.raises(MissingData, match="gpbandits new"):
        load(tmp_path / "none.toml")


def test_new_writes_a_file_once(tmp_path):
    path = tmp_path / "a.toml"
    run = CliRunner().invoke
    assert run(main, ["new", str(path)]).exit_code == 0
    assert load(path).id == "my/a"
    path.write_text("mine", encoding="utf-8")
    refused = run(main, ["new", str(path)])
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert path.read_text(encoding="utf-8") == "mine"
    assert run(main, ["new", str(path), "--force"]).exit_code == 0
    assert run(main, ["new", str(tmp_path / "a.yaml")]).exit_code == 2
    assert run(main, ["new", str(tmp_path / "no" / "a.toml")]).exit_code == 2
    assert run(main, ["new", str(tmp_path / "a\nb.toml")]).exit_code == 2
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("source", [[], ["--from", "bogunovic2016/se"]])
def test_commands_with_a_path_can_be_pasted_into_a_shell(tmp_path, source):
    path = tmp_path / "my scén 50%.toml"
    with pytest.raises(MissingData, match=re.escape(f"gpbandits new '{path}'")):
        load(path)
    said = CliRunner().invoke(main, ["new", str(path), *source]).output
    assert f"run it with: gpbandits run '{path}'\n" in said
    assert "`gpbandits run 'my scén 50%.toml'`" in path.read_text(encoding="utf-8")


def test_skipping_initial_points_and_panels_are_declared(tmp_path):
    text = "selective = true\ninitial = 3\ninitial_counts = true\nstore_actions = false\n" + SMALL
    text += '[[panels]]\ny = "model_order"\nx = "evaluations"\n'
    scenario = load(written(tmp_path, text))
    assert (scenario.selective, scenario.initial, scenario.initial_counts) == (True, 3, True)
    assert not scenario.store_actions
    assert [(p.y, p.x) for p in scenario.panels] == [("model_order", "evaluations")]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("selective = 1", "selective must be true or false, got 1"),
        ("initial = true", "initial must be a whole number, got True"),
        ('panels = "regret"', "panels must be a list"),
        ('panels = [{ y = "evaluations", x = [1] }]', r"panels\[0\].x must be a string"),
        ("openings = [0, 5]", r"mine.toml: openings: actions must lie in 0\.\.4, got \[0, 5\]"),
        ("panels = [1]", r"panels\[0\] must be a table"),
        ('panels = [{ y = "regrets" }]', r"panels\[0\]: no y axis named 'regrets'"),
        ('panels = [{ z = "x" }]', "key"),
    ],
)
def test_their_errors_name_them(tmp_path, line, says):
    with pytest.raises(InvalidInput, match=says):
        load(written(tmp_path, f"{line}\n{SMALL}"))


def test_readings_are_looked_for_in_the_folder_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    rows = "\n".join(f"{(3 * t) % 4},{(7 * t) % 5}" for t in range(24))
    (tmp_path / "data" / "sensors.csv").write_text(rows, encoding="utf-8")
    text = SMALL.replace("MarkovGP", "Replay").replace(
        "grid = [5]", 'readings = "data/sensors.csv"'
    )
    monkeypatch.chdir("/")
    scenario = load(written(tmp_path, text))
    assert scenario.env_kwargs["readings"] == str(tmp_path / "data" / "sensors.csv")
    swept = text + '[grid]\nreadings = ["data/sensors.csv"]\n'
    assert load(written(tmp_path, swept)).cells()[0].params["readings"].startswith(str(tmp_path))
    with pytest.raises(InvalidInput, match="intel-berkley"):
        load(written(tmp_path, text.replace("data/sensors.csv", "intel-berkley")))


IN_A_LIST = (
    SMALL.replace("MarkovGP", "Drifting")
    .replace('"tv-gp-ucb"', '"ei"')
    .replace(
        "epsilon = 0.1\n",
        """
[environment.drift]
type = "then"
drifts = [{ type = "markov", epsilon = 0.1 }, { type = "change-points", times = [3] }]
""",
        1,
    )
)


def test_a_grid_reaches_into_lists(tmp_path):
    grid = '[grid]\n"drift.drifts.0.epsilon" = [0.1, 0.2]\n'
    scenario = load(written(tmp_path, IN_A_LIST + grid))
    drifts = [cell.scenario.env_kwargs["drift"]["drifts"] for cell in scenario.cells()]
    assert [d[0]["epsilon"] for d in drifts] == [0.1, 0.2]
    assert [d[1]["times"] for d in drifts] == [[3], [3]]
    with pytest.raises(InvalidInput, match=r"drift\.drifts\.2\.epsilon: .* items 0 to 1"):
        load(written(tmp_path, IN_A_LIST + grid.replace("drifts.0", "drifts.2")))
