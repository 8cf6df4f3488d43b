"""What a release needs fits together: versions, dependencies, the paper and its references."""

import re
import tomllib
from importlib import import_module

import pytest
import yaml
from jinja2 import Template

import gpbandits_env


@pytest.fixture
def root(request):
    return request.config.rootpath


@pytest.fixture
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_version_is_the_same_everywhere(root, project):
    version = project["version"]
    assert gpbandits_env.__version__ == version
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text("utf-8")
    assert f'version = "{version}"' in (root / "recipe" / "meta.yaml").read_text("utf-8")
    assert f"\n## {version} (" in (root / "CHANGELOG.md").read_text("utf-8")


def test_the_recipe_is_that_of_the_package(root, project):
    text = (root / "recipe" / "meta.yaml").read_text("utf-8")
    recipe = yaml.safe_load(Template(text).render(PYTHON="python"))
    assert recipe["package"] == {"name": project["name"], "version": project["version"]}
    listed = {need.replace(" ", "") for need in recipe["requirements"]["run"]}
    needed = {need.replace("matplotlib>", "matplotlib-base>") for need in project["dependencies"]}
    assert listed == needed | {f"python{project['requires-python']}"}
    (command,) = project["scripts"].items()
    assert recipe["build"]["entry_points"] == [" = ".join(command)]
    built = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    assert set(built) < {need.replace(" ", "") for need in recipe["requirements"]["host"]}
    assert (root / "recipe" / recipe["source"]["path"] / recipe["about"]["license_file"]).is_file()
    for module in recipe["test"]["imports"]:
        import_module(module)


def test_the_metadata_are_complete(root, project):
    wanted = {"name", "version", "description", "readme", "requires-python", "license", "authors"}
    assert wanted | {"keywords", "classifiers"} <= set(project)
    minor = [c for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert len(minor) == 5
    for name in ("CONTRIBUTING", "CODE_OF_CONDUCT", "SECURITY", "RELEASING"):
        text = (root / f"{name}.md").read_text("utf-8")
        for link in re.findall(r"\]\((?!http)([^)#]+)", text):
            assert (root / link).exists(), link


def test_the_paper_has_its_references_and_figures(root):
    paper, bib = ((root / name).read_text("utf-8") for name in ("paper.md", "paper.bib"))
    cited = set(re.findall(r"@([a-z]+\d*)", paper))
    assert cited == set(re.findall(r"@\w+\{(\w+),", bib))
    figures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", paper)
    assert len(figures) == 2
    assert all((root / figure).is_file() for figure in figures)
