"""The scripts on the pages about other libraries run, each as it stands, in one folder."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
NEEDED = {
    "contexts.md": ("stable_baselines3",),
    "optimize.md": ("optuna",),
    "rl.md": ("stable_baselines3", "torchrl"),
}


@pytest.mark.usefixtures("little_search")
@pytest.mark.parametrize("page", NEEDED)
def test_the_scripts_of_the_page_run(page, tmp_path, monkeypatch):
    for module in NEEDED[page]:
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    scripts = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    assert len(scripts) >= 2
    for script in scripts:
        exec(script, {"__name__": "__main__"})
