"""What a release needs fits together: versions, dependencies, the paper and its references."""

import re
import tomllib

import pytest

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


def test_the_recipe_has_the_dependencies_of_the_package(root, project):
    recipe = (root / "recipe" / "meta.yaml").read_text("utf-8")
    run = re.search(r"  run:\n((?:    - .*\n)*)", recipe)[1]
    listed = {line.strip(" -").replace(" ", "") for line in run.splitlines()}
    needed = {need.replace("matplotlib>", "matplotlib-base>") for need in project["dependencies"]}
    assert listed == needed | {f"python{project['requires-python']}"}


def test_the_metadata_are_complete(root, project):
    wanted = {"name", "version", "description", "readme", "requires-python", "license", "authors"}
    assert wanted | {"keywords", "classifiers"} <= set(project)
    minor = [c for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert len(minor) == 3
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
