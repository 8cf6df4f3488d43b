"""The code blocks of a page, run in order as a reader would."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:<!-- ([a-z]+)(?:: (\S+))? -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
# Each reading is done in a fork of a process that has imported everything: what it registers and
# imports is gone at its end, and it need not wait for the imports. Whether scripts run does not
# depend on how well a box is searched or how many trials a study has. Its trials run as a worker
# process receives them, but in this process, because a worker would have to import everything.
SKIM = """
import gc, json, os, pickle, runpy, sys
import matplotlib.pyplot, scipy.stats
from contextlib import suppress
from pathlib import Path
from joblib.externals.loky.cloudpickle_wrapper import dumps
from gpbandits_env import agents, envs
from gpbandits_env.agents.search.box import Gradient
from gpbandits_env.scenarios import study
from gpbandits_env.scenarios.reporting import plots
from gpbandits_env.scenarios.study import engine_local
from gpbandits_env.scenarios.study.files import load
with suppress(ImportError):
    import pandas

class Received(engine_local.Here):
    def submit(self, tasks):
        return super().submit(pickle.loads(dumps(tasks)))

    def close(self):
        pass

engine_local.Processes = lambda jobs: Received()
run = study.run_study
study.run_study = lambda scenario, *args, **more: run(scenario.select(trials=2), *args, **more)
Gradient.__init__.__defaults__ = (2, 32, 40, 1, True)
gc.freeze()
for line in sys.stdin:
    folder, *scripts = json.loads(line)
    if (pid := os.fork()) == 0:
        break
    print(os.waitpid(pid, 0)[1], flush=True)
else:
    sys.exit()
os.chdir(folder)
said = os.open("said.txt", os.O_CREAT | os.O_WRONLY)
os.dup2(said, 1)
os.dup2(said, 2)
sys.path.insert(0, "")
for script in scripts:
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
        skimmer: a process that runs `SKIM`.
    """

    folder: Path
    programs: Path = Path(sys.executable).parent
    skimmer: subprocess.Popen | None = None

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
        """All of it but the commands: scripts run, scenario files are tried."""
        scripts = []
        for what, name, language, text in BLOCK.findall(page.read_text("utf-8")):
            if what in ("file", "append"):
                self._write(name, text, what == "append")
            elif language == "python":
                scripts.append(f"block{len(scripts)}.py")
                self._write(scripts[-1], text)
            elif language == "sh":
                scripts += re.findall(r"^python (\w+\.py)$", text, re.MULTILINE)
        return self.scripts(*scripts)

    def scripts(self, *names):
        """Run scripts of the folder, one after the other; returns what was printed."""
        self.skimmer.stdin.write(json.dumps([str(self.folder), *names]) + "\n")
        self.skimmer.stdin.flush()
        status = self.skimmer.stdout.readline()
        said = (self.folder / "said.txt").read_text("utf-8")
        assert status == "0\n", said
        return said

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


@pytest.fixture(scope="session")
def skimmer():
    if not hasattr(os, "fork"):
        pytest.skip("it needs fork")
    command = [sys.executable, "-W", "ignore:FigureCanvasAgg is non-interactive", "-c", SKIM]
    env = {**os.environ, "MPLBACKEND": "Agg"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture(scope="session")
def reader_of(skimmer):
    """Who reads in a folder."""
    return lambda folder: Reader(folder, skimmer=skimmer)


@pytest.fixture
def reader(tmp_path, reader_of):
    return reader_of(tmp_path)


@pytest.fixture(scope="session")
def root():
    return ROOT
