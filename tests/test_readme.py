"""What the README and the manual say must run and be complete."""

import re
from importlib import import_module
from pathlib import Path

import gymnasium as gym
import pytest
from click.testing import CliRunner

import gpbandits_env.envs  # noqa: F401 (registers the environments and the families)
from gpbandits_env import agents
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import main
from gpbandits_env.specs import FAMILIES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_scripts_of_the_readme_run(capsys):
    scripts = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(scripts) == 5
    names: dict[str, object] = {}
    for script in scripts:
        exec(script, names)
    printed = capsys.readouterr().out
    assert "average regret" in printed
    assert "recommended" in printed
    assert names["agent"].ask().shape == (5, 6)  # hartmann-6


def test_the_agent_of_the_readme_gets_a_card(tmp_path, monkeypatch):
    (file,) = re.findall(r"<!-- file: my_agents.py -->\n```python\n(.*?)```", README, re.DOTALL)
    (command,) = re.findall(r"^gpbandits (suite .*)$", README, re.MULTILINE)
    (page,) = re.findall(r"`(results/\S+\.html)`", README)
    (tmp_path / "my_agents.py").write_text(file, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    part = ["--problem", "se", "--trials", "1", "--jobs", "1"]
    done = CliRunner().invoke(main, [*command.split(), *part])
    assert done.exit_code == 0, done.output
    assert Path(page.replace("core-v1-Mine", "core-v1-Mine-part")).is_file()


def test_the_first_script_is_a_dozen_lines():
    first = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    assert len([line for line in first.splitlines() if line.strip()]) <= 12


def test_pages_and_pictures_that_are_linked_exist():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    written = {ROOT / "docs" / f"results/{group}.md" for group in registry.GROUPS}  # with the site
    for page in pages:
        for link in re.findall(r"\]\(([^)#]+?)\)", page.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                there = (page.parent / link).exists() or page.parent / link in written
                assert there, f"{page.name} links to {link}"


def test_the_table_of_claims_is_that_of_the_kept_values(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "site"))
    page = import_module("paper_pages")
    present = page.filled(README, {"claims": page.table()})
    assert present == README, "run: python tools/site/paper_pages.py"
    rows = re.findall(r"^\| \[(\w+)\]\(docs/papers/.* \|$", README, re.MULTILINE)
    assert rows == list(registry.PAPERS)


@pytest.mark.parametrize("name", agents.names())
def test_every_agent_is_in_the_manual(name):
    assert f"`{name}`" in (ROOT / "docs/agents.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(n for n in gym.registry if n.startswith("gpbandits/")))
def test_every_environment_is_in_the_manual(name):
    assert f"## {name}" in (ROOT / "docs/environments.md").read_text(encoding="utf-8")
    assert f"`{name}`" in README


@pytest.mark.parametrize(
    "kind",
    [
        *("kernel", "temporal kernel", "drift", "motion", "corruption"),
        *("beta schedule", "batch rule", "search"),
    ],
)
def test_whatever_is_registered_is_in_the_manual(kind):
    manual = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    for name, member in FAMILIES[kind].members.items():
        ours = member.__module__.startswith("gpbandits_env.")  # other tests register their own
        assert not ours or f"`{name}`" in manual or f'"{name}"' in manual, name
