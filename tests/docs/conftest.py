"""The code blocks of a page, run in order as a reader would."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:<!-- ([a-z]+)(?:: (\S+))? -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
SKIM = """
import runpy, sys
from pathlib import Path
from gpbandits_env.scenarios.study.files import load
sys.path.insert(0, "")
for script in sys.argv[1:]:
    runpy.run_path(script, run_name="__main__")
    print(script, "ran")
for file in Path().glob("*.toml"):
    print(file, len(load(file).agents), "agents")
"""


@dataclass
class Reader:
    """Somebody who follows a page literally, in order.

    Attributes:
        folder: where files are written and commands run.
        programs: the folder of python and gpbandits; of another one, PYTHONPATH is left out.
    """

    folder: Path
    programs: Path = Path(sys.executable).parent

    def follow(self, page, install=False):
        """Write the page's files and run its blocks; returns what was printed."""
        said = []
        for what, name, language, text in BLOCK.findall(page.read_text("utf-8")):
            if what in ("file", "append"):
                self._write(name, text, what == "append")
            elif language == "python":
                self._write("block.py", text)
                said.append(self.run("python", "block.py"))
            elif language == "sh" and (install or what != "install"):
                said.append(self.run("bash", "-e", "-c", text))
        return "".join(said)

    def skim(self, page):
        """All of it but the commands, in one process: scripts run, scenario files are tried."""
        scripts = []
        for what, name, language, text in BLOCK.findall(page.read_text("utf-8")):
            if what in ("file", "append"):
                self._write(name, text, what == "append")
            elif language == "python":
                scripts.append(f"block{len(scripts)}.py")
                self._write(scripts[-1], text)
            elif language == "sh":
                scripts += re.findall(r"^python (\w+\.py)$", text, re.MULTILINE)
        return self.run("python", "-c", SKIM, *scripts)

    def _write(self, name, text, append=False):
        with (self.folder / name).open("a" if append else "w", encoding="utf-8") as file:
            file.write(f"\n{text}" if append else text)

    def run(self, *command):
        own = self.programs == Path(sys.executable).parent
        env = {k: v for k, v in os.environ.items() if own or k != "PYTHONPATH"}
        env |= {"PATH": f"{self.programs}{os.pathsep}{env['PATH']}", "MPLBACKEND": "Agg"}
        done = subprocess.run(
            command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=280
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture
def reader(tmp_path):
    return Reader(tmp_path)


@pytest.fixture(scope="session")
def root():
    return ROOT
