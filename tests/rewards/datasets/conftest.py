import os
from pathlib import Path

import pytest


@pytest.fixture
def real_data():
    """The folder with the real files; the test is skipped where they are not."""
    folder = Path(os.environ.get("GPBANDITS_DATA", ""))
    if "GPBANDITS_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("the real data are not here: set GPBANDITS_DATA to their folder")
    return folder


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """An empty data folder, and no cache."""
    monkeypatch.setenv("GPBANDITS_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path
