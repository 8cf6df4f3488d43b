"""Asynchronous calls, progress, time budgets, several callbacks, and a second run of one file."""

import logging
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Integer
from gpbandits_env.errors import InvalidInput

UNIT = [(0.0, 1.0)]


def bowl(x):
    return float((x[0] - 0.3) ** 2)


def test_a_free_worker_gets_the_next_point_at_once():
    """One call waits until six others are done: a batch of two would never end."""
    others, lock, count = threading.Event(), threading.Lock(), []

    def fun(x):
        with lock:
            count.append(x)
            first = len(count) == 1
        if first:
            assert others.wait(30)
        elif len(count) >= 7:
            others.set()
        return bowl(x)

    with ThreadPoolExecutor(2) as pool:
        found = agents.minimize(fun, UNIT, n_calls=8, seed=0, parallel=pool)
    assert found.nfev == 8
    assert not found.campaign.pending
    assert len(np.unique([x[0] for x in found.x_iters])) == 8


def test_running_calls_are_pending_when_the_next_point_is_chosen():
    barrier = threading.Barrier(3)
    with ThreadPoolExecutor(3) as pool:
        found = agents.minimize(
            lambda x: (barrier.wait(30) and 0.0) or bowl(x), UNIT,
            n_calls=6, n_initial=0, seed=0, parallel=pool,
        )  # fmt: skip
    first = sorted(x[0] for x in found.x_iters[:3])
    assert np.diff(first).min() > 0.1


def test_the_last_batch_is_smaller():
    calls = []
    found = agents.minimize(
        lambda x: calls.append(x) or bowl(x), UNIT, n_calls=7, n_initial=7, batch=3, parallel=map
    )
    assert found.nfev == len(calls) == 7
    assert not found.campaign.pending


def test_the_number_of_workers_may_be_of_numpy():
    with pytest.raises(InvalidInput, match="parallel must be at least 1"):
        agents.minimize(bowl, UNIT, n_calls=1, parallel=np.int64(0))


def test_a_worker_process_that_raises_or_dies_is_a_failed_call():
    here = os.getpid()

    def fun(x):  # of this module, which no worker can import
        assert os.getpid() != here
        if x[0] > 0.8:
            raise RuntimeError("too hot")
        if 0.6 < x[0] < 0.7:
            os._exit(1)
        return (x[0] - 0.3) ** 2

    found = agents.minimize(
        fun, UNIT, n_calls=5, seed=0, parallel=1, on_error="fail", x0=[[0.9], [0.65], [0.2]]
    )
    reasons = [record.reason for record in found.campaign.failed]
    assert reasons[0] == "RuntimeError('too hot')"
    assert "died" in reasons[1]
    assert len(reasons) == 2
    assert found.nfev == 5
    done = [record for record in found.campaign.records if record.status == "done"]
    assert [record.value for record in done] == [bowl([r.params["x0"]]) for r in done]


def test_an_exception_in_a_worker_ends_the_run_with_all_values():
    def fun(x):
        if x[0] == 0.9:
            raise RuntimeError("too hot")
        time.sleep(0.05)
        return bowl(x)

    with ThreadPoolExecutor(2) as pool, pytest.raises(RuntimeError, match="too hot") as caught:
        agents.minimize(fun, UNIT, n_calls=9, parallel=pool, x0=[[0.5], [0.9], [0.1]], seed=0)
    result = caught.value.result
    assert result.campaign.records[0].value == bowl([0.5])
    assert [record.params["x0"] for record in result.campaign.pending] == [0.9]


def test_a_time_budget_ends_the_run(monkeypatch):
    """Each call takes 0.1 s of a clock that stands still otherwise."""
    clock, lock = [100.0], threading.Lock()
    own = SimpleNamespace(monotonic=lambda: clock[0])
    monkeypatch.setattr("gpbandits_env.agents.optimize.run.time", own)

    def fun(x):
        with lock:
            clock[0] += 0.1
        return bowl(x)

    found = agents.minimize(fun, UNIT, n_calls=30, seed=0, timeout=0.35)
    assert found.nfev == 4
    assert "time budget of 0.35 s" in found.message
    with ThreadPoolExecutor(2) as pool:
        found = agents.minimize(fun, UNIT, n_calls=30, seed=0, timeout=0.35, parallel=pool)
    assert 4 <= found.nfev <= 5  # one that begins with the last of these
    assert not found.campaign.pending


def test_every_callback_is_called_and_any_of_them_stops_the_run():
    seen = []
    found = agents.minimize(
        bowl, UNIT, n_calls=9, seed=0,
        callback=[lambda r: r.nfev == 4, lambda r: seen.append(r.nfev)],
    )  # fmt: skip
    assert seen == [1, 2, 3, 4]
    assert found.message == "stopped by the callback"
    with ThreadPoolExecutor(2) as pool:
        found = agents.minimize(
            bowl, UNIT, n_calls=50, seed=0, parallel=pool, callback=lambda r: r.nfev >= 4
        )
    assert 4 <= found.nfev <= 6
    assert not found.campaign.pending


def test_callbacks_see_the_calls_that_run_when_the_run_is_to_end():
    """It is to end as soon as all combinations have begun."""
    seen = []
    with ThreadPoolExecutor(2) as pool:
        agents.minimize(
            bowl, [Integer(0, 3)], n_calls=9, seed=0, noise=0.0, parallel=pool,
            callback=lambda r: seen.append(r.nfev),
        )  # fmt: skip
    assert seen == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", [object, list])
def test_a_callback_that_counts_as_false_is_called(kind):
    class Recorder(kind):
        seen = 0

        def __len__(self):
            return 0

        def __call__(self, result):
            self.seen += 1

    recorder = Recorder()
    agents.minimize(bowl, UNIT, n_calls=3, seed=0, callback=recorder)
    assert recorder.seen == 3
    for wrong in (False, 0, ""):
        with pytest.raises(InvalidInput, match="callback must be a function"):
            agents.minimize(bowl, UNIT, n_calls=3, seed=0, callback=wrong)


def test_progress_and_log(capfd, caplog):
    def fun(x):
        return float("nan") if x[0] > 0.9 else bowl(x)

    with caplog.at_level(logging.INFO, logger="gpbandits_env.agents.optimize"):
        agents.minimize(fun, UNIT, n_calls=3, seed=0, x0=[[0.95]], verbose=True)
    assert "3/3" in capfd.readouterr().err
    levels = [record.levelname for record in caplog.records]
    assert levels == ["WARNING", "INFO", "INFO"]
    assert "call 1 of 3 failed at {'x0': 0.95}: the value was NaN" in caplog.messages[0]
    agents.minimize(fun, UNIT, n_calls=3, seed=0)
    assert capfd.readouterr().err == ""


def test_the_same_call_on_the_same_file_goes_on(tmp_path):
    calls = []

    def fun(x):
        calls.append(x[0])
        return bowl(x)

    def run(n_calls, file=None):
        return agents.minimize(
            fun, UNIT, n_calls=n_calls, n_initial=3, seed=3, file=file,
            x0=[[0.9], [0.5]], y0=[0.36, 0.04],
        )  # fmt: skip

    whole = run(9)
    calls.clear()
    part = run(4, tmp_path / "c.json")
    assert (part.nfev, len(calls)) == (4, 4)
    again = run(9, tmp_path / "c.json")
    assert (again.nfev, len(calls)) == (9, 9)
    np.testing.assert_array_equal(again.func_vals, whole.func_vals)
    assert run(9, tmp_path / "c.json").nfev == 9
    assert len(calls) == 9
    with pytest.raises(InvalidInput, match=r"another campaign.* its maximize is False, not True"):
        agents.maximize(fun, UNIT, n_calls=9, seed=3, file=tmp_path / "c.json")
    for x0, y0 in (([[0.9], [0.4]], [0.36, 0.04]), ([[0.9], [0.5]], [0.36, 0.05])):
        with pytest.raises(InvalidInput, match="other known points x0 or values y0"):
            agents.minimize(fun, UNIT, n_calls=9, file=tmp_path / "c.json", x0=x0, y0=y0)
    given = {"n_calls": 3, "file": tmp_path / "d.json", "x0": [[0.9], [0.5]], "y0": [np.nan, 0.04]}
    agents.minimize(fun, UNIT, **given)
    assert agents.minimize(fun, UNIT, **given).campaign.records[0].status == "failed"


def test_points_to_call_first_are_not_called_again(tmp_path):
    calls = []

    def fun(x):
        calls.append(x[0])
        return bowl(x)

    for n in (1, 4):
        found = agents.minimize(
            fun, UNIT, n_calls=n, seed=3, file=tmp_path / "c.json", x0=[[0.9], [0.5]]
        )
    assert calls[:2] == [0.9, 0.5]
    assert len(calls) == found.nfev == 4


@pytest.mark.parametrize("first", [1, 2, 3])
def test_repeated_points_to_call_first_are_called_as_often_in_two_runs(first, tmp_path):
    """Repetitions show the noise."""
    x0 = [[0.5], [0.5], [0.6], [0.5]]
    for n in (first, 4):
        found = agents.minimize(bowl, UNIT, n_calls=n, seed=0, file=tmp_path / "c.json", x0=x0)
    assert found.x_iters == x0


@pytest.mark.slow
def test_a_killed_asynchronous_run_repeats_what_was_interrupted(tmp_path):
    script = """
import os, sys, time
from concurrent.futures import ThreadPoolExecutor
from gpbandits_env import agents
def fun(x):
    time.sleep(0.02)
    done.append(x)
    if len(done) == 5 and sys.argv[1] == "kill":
        os.kill(os.getpid(), 9)
    return (x[0] - 0.3) ** 2
done = []
with ThreadPoolExecutor(3) as pool:
    found = agents.minimize(fun, [(0, 1)], n_calls=10, seed=0, file="c.json", parallel=pool)
print(found.nfev, len(found.campaign.pending), len(done))
"""

    def run(how):
        command = [sys.executable, "-c", script, how]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run("kill").returncode == -9
    waiting = Campaign.resume(tmp_path / "c.json").pending
    assert waiting
    again = run("go on")
    assert again.returncode == 0, again.stderr
    nfev, pending, done = map(int, again.stdout.split())
    assert (nfev, pending) == (10, 0)
    assert len(waiting) <= done < 10
    final = Campaign.resume(tmp_path / "c.json").records
    assert all(final[record.id].params == record.params for record in waiting)


@pytest.mark.parametrize(
    "failed",
    [
        np.float32("nan"),
        np.array(np.nan),
        np.array([np.nan]),
        np.inf,
        np.array(np.inf),
        np.ma.masked,
    ],
    ids=repr,
)
def test_a_failed_call_returns_no_pair(failed):
    """The same values mean a failure as without constraints and noise."""
    both = {"constraints": {"c": 1.0}, "noise": "returned"}
    for wanted in ({"constraints": {"c": 1.0}}, {"noise": "returned"}, both, {}):
        found = agents.minimize(lambda x: failed, UNIT, n_calls=2, seed=0, **wanted)
        assert len(found.campaign.failed) == 2
        with pytest.raises(InvalidInput, match="one number"):
            agents.minimize(lambda x: -np.inf, UNIT, n_calls=2, seed=0, **wanted)


@pytest.mark.parametrize("batch", [1, 2])
def test_the_time_is_that_of_a_clock(batch):
    """As a campaign that is told the same times."""
    temporal = {"type": "matern32", "lengthscale": 5.0}
    settings = {"seed": 0, "n_initial": 2, "temporal": temporal, "learn": False}
    ticks = iter(np.cumsum(np.random.default_rng(0).uniform(0.0, 4.0, 40)))
    read = []

    def now():
        read.append(float(next(ticks)))
        return read[-1]

    found = agents.minimize(bowl, UNIT, "ei", n_calls=8, batch=batch, time=now, **settings)
    campaign = agents.Campaign(UNIT, "ei", maximize=False, **settings)
    times = iter(read)
    for _ in range(8 // batch):
        for one in campaign.ask(batch, time=next(times)):
            campaign.tell(one, bowl([*one.params.values()]), time=next(times))
    assert found.campaign.records == campaign.records
    assert [record.time for record in campaign.records][-1] == read[-1]
    plain = agents.minimize(bowl, UNIT, "ei", n_calls=8, batch=batch, **settings)
    assert not np.array_equal(plain.x_iters, found.x_iters)
    with pytest.raises(InvalidInput, match="time must be a function"):
        agents.minimize(bowl, UNIT, n_calls=8, time=3.0)
    with pytest.raises(InvalidInput, match="what time returns must be a number, got None"):
        agents.minimize(bowl, UNIT, n_calls=8, time=lambda: None, **settings)
