"""The structure that docs/architecture.md describes: one meaning per name, shallow, no cycles."""

import ast
import inspect
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from gpbandits_env import agents
from gpbandits_env.agents.registry import agent_class

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(
    path
    for folder in ("gpbandits_env", "agents", "scenarios")
    for path in ROOT.glob(f"{folder}/**/*.py")
)
# Composition roots, functions whose arguments users see in their editor, and a command.
MANY_PARAMETERS = {"GPAgent.__init__", "MSUCB.__init__", "minimize", "maximize", "run", "run_suite"}


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] != "gpbandits_env":
        parts = ("gpbandits_env", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def parsed():
    """{module: its syntax tree}; not at import, where every worker of the tests would do it."""
    return {module_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def test_a_class_name_has_one_meaning():
    found = defaultdict(set)
    for module, tree in parsed().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(module)
    assert {name: sorted(where) for name, where in found.items() if len(where) > 1} == {}


@pytest.mark.parametrize("name", agents.names())
def test_an_algorithm_is_at_most_two_levels_below_agent(name):
    ours = [c for c in agent_class(name).__mro__ if issubclass(c, agents.Agent)]
    assert ours[-1] is agents.Agent
    assert len(ours) == 2 or (len(ours) == 3 and ours[1] is agents.GPAgent), ours


def test_functions_have_at_most_ten_parameters():
    long = {}
    for module, tree in parsed().items():
        for owner in [tree, *(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef))]:
            prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
            for node in owner.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    given = node.args
                    names = [*given.posonlyargs, *given.args, *given.kwonlyargs]
                    count = sum(one.arg not in ("self", "cls") for one in names)
                    if count > 10 and prefix + node.name not in MANY_PARAMETERS:
                        long[f"{module}.{prefix}{node.name}"] = count
    assert long == {}


def imports_of(module, tree):
    """The modules of ours that a file imports anywhere: in functions and for types, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in parsed() else node.module for name in names]
        else:
            continue
        yield from (name for name in names if name in parsed() and name != module)


def test_no_module_imports_itself_by_way_of_others():
    graph = {module: set(imports_of(module, tree)) for module, tree in parsed().items()}
    done, path = set(), []

    def visit(module):
        if module in path:
            pytest.fail(" -> ".join([*path[path.index(module) :], module]))
        if module not in done:
            path.append(module)
            for other in sorted(graph[module]):
                visit(other)
            done.add(path.pop())

    for module in graph:
        visit(module)


@pytest.mark.parametrize("folder", ["agents", "scenarios"])
def test_a_folder_shows_at_most_fifteen_entries(folder):
    entries = [p.name for p in (ROOT / folder).iterdir() if p.name != "__pycache__"]
    assert len(entries) <= 15, sorted(entries)


def test_gp_agents_take_every_part_as_a_setting():
    parts = inspect.signature(agents.GPAgent.__init__).parameters.values()
    given = {p.name for p in parts if p.kind is p.KEYWORD_ONLY}
    assert given <= set(agents.settings_of("gp-ucb"))
