"""The page on agents names only what there is."""

import re
from importlib import import_module

import pytest

from gpbandits_env import agents
from gpbandits_env.agents import algorithms
from gpbandits_env.agents.registry import OVERRIDES


def test_every_setting_it_names_of_other_libraries_is_one(root):
    text = (root / "docs" / "agents.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\|(.*)\|$", text, re.MULTILINE))
    for name in agents.adapter_names():
        settings = {*agents.settings_of(name), *OVERRIDES}
        assert set(re.findall(r"`(\w+)`", rows[name])) <= settings, name


@pytest.fixture
def agent_pages(root, monkeypatch):
    pytest.importorskip("griffe", reason="the extra 'docs' is not installed")
    monkeypatch.syspath_prepend(str(root / "tools" / "site"))
    return import_module("agent_pages")


def test_each_row_that_stands_there_is_of_an_agent_as_it_is(root, agent_pages):
    text = (root / "docs" / "agents.md").read_text("utf-8")
    marked = text.partition("<!-- agents -->")[2].partition("<!-- end -->")[0]
    rows = marked.strip().splitlines()
    assert len(rows) > 30
    assert set(rows) <= set(agent_pages.table().splitlines()), (
        "run: python tools/site/agent_pages.py"
    )


NEW = '''"""Timid.

Paper: none; an example.
Departures: those of `GPAgent`.
"""

from gpbandits_env.agents.acquisitions import LCB
from gpbandits_env.agents.gp_agent import GPAgent


class Timid(GPAgent):
    """The action of the largest lower confidence bound.

    Args:
        beta: as of `LCB`.
    """

    def __init__(self, problem, rng, *, beta=1.0, **parts):
        super().__init__(problem, rng, LCB(beta), **parts)
'''
ADD = """
from gpbandits_env.agents import algorithms, registry
algorithms.__path__.append({folder!r})
registry.AGENTS["timid"] = "algorithms.timid:Timid"
"""


def test_a_new_agent_is_one_file_and_one_line(root, agent_pages, reader, monkeypatch):
    """Its row, its page, its settings and its laws follow."""
    folder, add = str(reader.folder), ADD.format(folder=str(reader.folder))
    (reader.folder / "timid.py").write_text(NEW)
    monkeypatch.setattr(algorithms, "__path__", [*algorithms.__path__])
    monkeypatch.setitem(agents.registry.AGENTS, "timid", "algorithms.timid:Timid")
    monkeypatch.syspath_prepend(folder)
    exec(add)
    row = "| `timid` | The action of the largest lower confidence bound. | none | `beta` (1.0) |"
    assert row in agent_pages.table()
    assert "| `beta` | `1.0` | as of `LCB`. |" in agent_pages.pages()["agents/timid.md"]
    law = "test_agent_laws.py::test_the_seed_decides_everything_also_in_two_threads"
    run = ["-p", "no:cacheprovider", str(root / "tests" / "laws" / law), "-k", "timid"]
    (reader.folder / "laws.py").write_text(f"{add}\nimport pytest\nassert not pytest.main({run})\n")
    assert "4 passed" in reader.scripts("laws.py")
