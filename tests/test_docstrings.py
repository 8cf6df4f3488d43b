"""Every public class, function and method says what it does, itself or by what it overrides."""

import importlib
import inspect
import pkgutil

import pytest

from gpbandits_env import agents, domains, scenarios

# Modules that need an extra, which may not be installed.
OPTIONAL = ("adapters", "engine_dask", "engine_ray", "optuna_sampler", "__main__")


def modules(path, prefix):
    for found in pkgutil.iter_modules(path, prefix):
        if not any(part in found.name for part in OPTIONAL):
            yield found.name
            if found.ispkg:
                yield from modules(importlib.import_module(found.name).__path__, f"{found.name}.")


CORE = [domains.__file__.rpartition("/")[0]]
MODULES = [
    *(name for name in modules(CORE, "gpbandits_env.") if name.count(".") > 0),
    *modules(agents.__path__, "gpbandits_env.agents."),
    *modules(scenarios.__path__, "gpbandits_env.scenarios."),
]


def public(owner):
    for title, member in vars(owner).items():
        if not title.startswith("_") and (inspect.isclass(member) or inspect.isfunction(member)):
            yield title, member


@pytest.mark.parametrize("name", sorted(set(MODULES)))
def test_public_names_have_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for title, member in public(module):
        if member.__module__ == name and not title.startswith("least_"):
            assert inspect.getdoc(member), title
            for method, _ in public(member) if inspect.isclass(member) else ():
                assert inspect.getdoc(getattr(member, method)), f"{title}.{method}"
