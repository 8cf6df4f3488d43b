"""Every call of ours on the page for people who come from other libraries runs."""

import re

import pytest

ROW = re.compile(r"^\| (?!-|there|wish)(.*) \|$", re.MULTILINE)
CALL = re.compile(r"`([^`]+)`")


def test_every_call_of_ours_runs(root, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    page = (root / "docs" / "coming-from.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    given, calls = {}, 0
    exec("\n".join(blocks), given)
    for section in page.split("\n## ")[1:]:
        for row in ROW.findall(section):
            ours = row.split(" | ")[1].strip()
            for call in CALL.findall(ours):
                exec(call, given)
                calls += 1
    assert calls >= 45


def test_what_is_missing_is_said(root):
    page = (root / "docs" / "coming-from.md").read_text("utf-8")
    assert page.count("| missing") >= 5


def test_the_models_of_botorch_that_it_names_are_in_it(root):
    botorch = pytest.importorskip("botorch")
    page = (root / "docs" / "coming-from.md").read_text("utf-8")
    named = re.findall(r"`(\w+GP)\(X, Y", page)
    assert len(named) == 2
    assert [name for name in named if not hasattr(botorch.models, name)] == []
