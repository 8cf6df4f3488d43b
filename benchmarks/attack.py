"""Attack the command line with damaged results files, command lines and scenario files.

    python benchmarks/attack.py --files 300 --commands 1000 --scenarios 1000

Each case is a command in a process of its own. It must end within 20 seconds, with exit code 0, 2
(refused), 130 (interrupted: after 8 seconds a command gets a Ctrl-C), or 1 if a trial failed. It
must print no traceback and, unless the exit code is 0, a message. What it prints of a damaged
results file must be what it prints of the sound one. The script ends with exit code 1 if a case
breaks a rule.
"""

import argparse
import contextlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib.figure  # noqa: F401 (imported once, before the processes are made)

import gpbandits_env
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.cli.commands import COMMANDS
from gpbandits_env.scenarios.study.files import template

LIMIT, CTRL_C, MEMORY = 20.0, 8.0, 6 * 2**30
ALLOWED = {0, 1, 2, 130}
SMALL = ["--trials", "2", "--horizon", "5", "--jobs", "1"]
BASES = [
    ["run", "srinivas2010/se-1d", *SMALL, "--agents", "random,ei", "--out", "n.sqlite"],
    ["run", "s.toml", *SMALL, "--out", "n.sqlite", "--seed", "3"],
    ["run", "srinivas2010/se-1d", *SMALL, "--out", "a.sqlite", "--fresh"],
    ["report", "a.sqlite", "--metric", "simple_regret", "--json"],
    ["report", "a.sqlite", "--html", "r.html"],
    ["plot", "a.sqlite", "--out", "p", "--log", "--agents", "ei"],
    ["export", "a.sqlite", "--out", "t.csv"],
    ["export", "a.sqlite", "--out", "t.parquet"],
    ["compare", "a.sqlite", "--metric", "average_regret", "--baseline", "random", "--json"],
    ["list", "srinivas2010/se-1d"],
    ["agents"],
    ["tasks"],
    ["data"],
    ["new", "fresh.toml", "--force"],
    ["diagnose", "d.csv", "--json"],
    ["reference", "srinivas2010/none"],
]
ODD = [
    *("", " ", "-", "--", "-1", "0", "nan", "inf", "1e400", "9" * 400, "x" * 5000, "../..", "/"),
    *("/dev/zero", "/dev/full", "/dev/null", "pipe", "a.sqlite", "s.toml", "d.csv", "none.toml"),
    *("--help", "--out", "--json", "--html", "--agents", "--trials", "--fresh"),
    *("é", "\udcff", "a\nb", "=cmd|'/C calc'!A0", "<b>", "$\\frac{$", "all", "*", "%s{0}", "1,2"),
    *("csv", "parquet", "ei,random", ",", "module:Class", "os:system", "--no-user-code"),
    *COMMANDS,
]
VALUES = [
    *("", "0", "-1", "1e308", "nan", "inf", "true", '""', '"x"', "[]", "{}", "[[1]]", "1_000_000"),
    *("9" * 400, "'os:system'", '"gpbandits/Static-v0"', "1979-05-27", "[1, 'a']", '"\\u0000"'),
    *("{ type = 'se' }", "{ type = 'none', x = 1 }", "[" * 3000, '"' + "x" * 10_000 + '"', "0x"),
]
KEEP = "srinivas2010/se-1d", *SMALL, "--agents", "random,ei"


@dataclass
class Outcome:
    """The end of a command: its exit code (negative: killed), its output, and its duration."""

    code: int
    out: bytes
    err: bytes
    seconds: float

    def broken(self) -> str:
        """The rule that the command broke; empty if none."""
        if self.seconds > LIMIT:
            return f"{self.seconds:.0f} s"
        if self.code not in ALLOWED:
            return f"exit code {self.code}"
        if self.code != 1 and b"Traceback" in self.err:
            return "a traceback"
        return "no message" if self.code and not self.err.strip() else ""


def call(args: list[str], folder: Path, ctrl_c: float = CTRL_C, limit: float = LIMIT) -> Outcome:
    """Run a command line in a process of its own, in a folder."""
    files = [folder.parent / "out", folder.parent / "err"]
    start, interrupted = time.monotonic(), False
    if (pid := os.fork()) == 0:
        _child(args, folder, files)
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        spent = time.monotonic() - start
        if done:
            break
        if spent > ctrl_c and not interrupted:
            os.kill(pid, signal.SIGINT)
            interrupted = True
        if spent > limit:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    out, err = (file.read_bytes() for file in files)
    return Outcome(os.waitstatus_to_exitcode(status), out, err, spent)


def _child(args: list[str], folder: Path, files: list[Path]) -> None:
    code = 99
    try:
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for number, file in enumerate(files, start=1):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["gpbandits", *args]
        main(args)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1 if end.code else 0
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


def prepare(folder: Path) -> None:
    """Make the files that commands name."""
    folder.mkdir(parents=True)
    (folder / "s.toml").write_text(template("s.toml"), encoding="utf-8")
    rows = [f"{i},{i % 7},{i % 5 + 0.5}" for i in range(20)]
    (folder / "d.csv").write_text("\n".join(["hour,a,b", *rows]), encoding="utf-8")
    os.mkfifo(folder / "pipe")
    made = call(["run", *KEEP, "--out", "a.sqlite"], folder, 300.0, 300.0)
    assert made.code == 0, made.err


def fresh(folder: Path) -> Path:
    """A copy of the prepared folder for one case."""
    work = folder.parent / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for file in folder.iterdir():
        if file.is_file():
            shutil.copy(file, work / file.name)
    os.mkfifo(work / "pipe")
    return work


def flipped(rng: random.Random, folder: Path, i: int) -> Iterator[tuple[str, Outcome]]:
    """A results file with a few changed bits or bytes, read in four ways."""
    data = bytearray((folder / "a.sqlite").read_bytes())
    places = [rng.randrange(len(data)) for _ in range(rng.choice([1, 1, 2, 8]))]
    for place in places:
        data[place] ^= 1 << rng.randrange(8) if rng.random() < 0.6 else rng.randrange(1, 256)
    (folder / "a.sqlite").write_bytes(data)
    args = [
        ["report", "a.sqlite"],
        ["export", "a.sqlite"],
        ["compare", "a.sqlite", "--json"],
        ["run", *KEEP, "--out", "a.sqlite"],
    ][i % 4]
    yield f"{' '.join(args[:2])} with changes at {places}", call(args, folder)


def commands(rng: random.Random, folder: Path, i: int) -> Iterator[tuple[str, Outcome]]:
    """A command line with words dropped, doubled, swapped and replaced."""
    args = list(rng.choice(BASES))
    for _ in range(rng.choice([1, 1, 2, 3])):
        place, how = rng.randrange(len(args) + 1), rng.randrange(5)
        if how == 0 and args:
            del args[place % len(args)]
        elif how == 1:
            args.insert(place, rng.choice(ODD))
        elif how == 2 and args:
            args[place % len(args)] = rng.choice(ODD)
        elif how == 3 and args:
            word = list(args[place % len(args)])
            rng.shuffle(word)
            args[place % len(args)] = "".join(word[: rng.randrange(1, 9)])
        else:
            rng.shuffle(args)
    yield repr(args)[:300], call(args, folder)


def scenarios(rng: random.Random, folder: Path, i: int) -> Iterator[tuple[str, Outcome]]:
    """A scenario file with lines and values dropped, doubled, swapped and replaced."""
    lines = (folder / "s.toml").read_text(encoding="utf-8").splitlines()
    said = []
    for _ in range(rng.choice([1, 1, 2, 4])):
        place, how = rng.randrange(len(lines)), rng.randrange(6)
        said.append(f"{how}: {lines[place][:60]!r}")
        if how == 0:
            del lines[place]
        elif how == 1:
            lines.insert(rng.randrange(len(lines)), lines[place])
        elif how in (2, 3) and "=" in lines[place]:
            lines[place] = f"{lines[place].partition('=')[0]}= {rng.choice(VALUES)}"
        elif how == 4:
            lines[place] = lines[place].lstrip("# ")
        else:
            j = rng.randrange(len(lines))
            lines[place], lines[j] = lines[j], lines[place]
    text = bytearray("\n".join(lines).encode())
    if rng.random() < 0.15:
        text[rng.randrange(len(text))] ^= 1 << rng.randrange(8)
    (folder / "s.toml").write_bytes(text)
    yield "; ".join(said), call(["run", "s.toml", *SMALL, "--out", "n.sqlite"], folder)


def attack(
    name: str,
    cases: Callable[..., Iterator[tuple[str, Outcome]]],
    count: int,
    given: argparse.Namespace,
) -> int:
    """Try some cases; print their counts and each broken rule; return the number of these."""
    codes: Counter[str] = Counter()
    slowest, wrong, end = 0.0, 0, time.monotonic() + 60.0 * given.minutes
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "base"
        prepare(folder)
        sound = {
            word: call([word, "a.sqlite", *more], fresh(folder), 300.0, 300.0).out
            for word, more in (("report", []), ("compare", ["--json"]))
        }
        done = 0
        for i in range(count):
            if time.monotonic() > end:
                break
            rng = random.Random(f"{given.seed} {name} {i}")
            for said, outcome in cases(rng, fresh(folder), i):
                done += 1
                fault = outcome.broken()
                word = said.split()[0]
                if name == "files" and word in sound and not fault and outcome.code == 0:
                    fault = "" if outcome.out == sound[word] else "other numbers, silently"
                codes[f"exit {outcome.code}"] += 1
                slowest = max(slowest, outcome.seconds)
                if fault:
                    wrong += 1
                    print(f"  {name} {i}: {fault}: {said}\n    {outcome.err[-600:]!r}", flush=True)
    counts = ", ".join(f"{n} {code}" for code, n in sorted(codes.items()))
    print(
        f"{name}: {done} cases: {counts}; slowest {slowest:.1f} s; {wrong} broke a rule", flush=True
    )
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--commands", type=int, default=1000)
    parser.add_argument("--scenarios", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=60.0, help="At most, of each attack.")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"gpbandits-env {gpbandits_env.__version__}, seed {arguments.seed}")
    found = [
        attack(name, cases, count, arguments)
        for name, cases, count in (
            ("files", flipped, arguments.files),
            ("commands", commands, arguments.commands),
            ("scenarios", scenarios, arguments.scenarios),
        )
        if count
    ]
    sys.exit(bool(sum(found)))
