"""Worker processes of this machine."""

import sys
import time
from types import SimpleNamespace

import pytest

from gpbandits_env.scenarios.results.records import TrialFailure
from gpbandits_env.scenarios.study import engine_local, engines, pool, runner


@pytest.fixture
def play(monkeypatch):
    """The results of tasks, in processes that know them by their names.

    These need not import the package, which takes a second.
    """

    def run(tasks):
        import os
        import time
        from multiprocessing.connection import Connection

        def half(connection, data):
            os.write(connection.fileno(), data[: len(data) // 2])
            os._exit(3)

        for task in tasks:
            if task.key == "slow":
                time.sleep(60.0)
            elif task.key == "poison":
                os._exit(3)
            elif task.key == "half":
                Connection._send = half  # what returns the results
        return tasks

    def played(*names):
        tasks = [SimpleNamespace(key=name) for name in names]
        with engines.opened(2) as workers:
            yield from (result for results in pool.results(tasks, workers) for result in results)

    monkeypatch.setattr(engine_local, "run_tasks", run)
    return played


def test_results_come_as_they_are_done_not_in_order(play):
    """The first task sleeps for a minute; the others are there long before."""
    psutil = pytest.importorskip("psutil")
    before = {child.pid for child in psutil.Process().children()}
    begun, found = time.monotonic(), play("slow", "first", "second")
    assert [next(found).key, next(found).key] == ["first", "second"]
    found.close()
    assert time.monotonic() - begun < 55  # and the sleeper is not waited for
    left = [child for child in psutil.Process().children() if child.pid not in before]
    assert all("tracker" in str(child.cmdline()) for child in left)


def test_short_tasks_are_given_by_the_dozen():
    queue = pool.Queue(300, engine_local.Processes(2))
    assert queue.take() == list(range(75))
    queue.put_back(range(50, 75))
    assert queue.take()[:30] == list(range(50, 80))
    assert len(pool.Queue(1000, engine_local.Processes(2)).take()) == pool.MOST
    end = pool.Queue(8, engine_local.Processes(2))
    assert [len(end.take()) for _ in range(7)] == [2, 1, 1, 1, 1, 1, 1]  # nobody waits at the end
    assert not end.gives(0)


def test_slow_tasks_after_a_quick_one_come_one_by_one(monkeypatch):
    """A portion ends when its time is over."""
    monkeypatch.setattr(runner, "_run_or_fail", lambda seconds: time.sleep(seconds) or seconds)
    tasks = [0.0, *[1.2 * runner.PORTION] * 6]
    with engines.opened(1) as here:
        assert list(pool.results(tasks, here)) == [tasks[:2], *([seconds] for seconds in tasks[2:])]


def test_what_a_process_died_of_is_played_one_by_one_and_given_up_in_the_end():
    queue = pool.Queue(12, engine_local.Processes(1))
    portion = queue.take()
    assert portion == [0, 1, 2, 3, 4, 5]
    assert not queue.died(portion)
    later = [queue.take() for _ in range(4)]
    while queue.gives(0):
        later.append(queue.take())
    assert later[-6:] == [[0], [1], [2], [3], [4], [5]]
    assert sorted(i for given in later for i in given) == list(range(12))
    given_up = [queue.died([2]) for _ in range(engine_local.REVIVALS + 1)]
    assert given_up == [False] * engine_local.REVIVALS + [True]


def test_only_what_dies_by_itself_waits_until_nothing_else_runs():
    """On a cluster that tells nothing of a death but the portion, as Dask does."""
    queue = pool.Queue(16, SimpleNamespace(slots=4, suspects=1, revivals=1))
    portion = queue.take()
    assert len(portion) == 2
    assert not queue.died(portion)
    while queue.take() != [15]:  # the others
        pass
    assert [queue.gives(running) for running in (3, 4)] == [True, False]
    assert [queue.take(), queue.take()] == [[0], [1]]  # at the same time
    assert not queue.died([0])
    assert not queue.gives(1)
    assert queue.gives(0)
    assert queue.take() == [0]
    assert queue.died([0])


def test_a_trial_that_kills_its_worker_fails_alone(play, one_worker, monkeypatch):
    """What was given with it is played once."""
    monkeypatch.setattr(engine_local, "REVIVALS", 1)
    taken = []
    take = pool.Queue.take
    monkeypatch.setattr(pool.Queue, "take", lambda self: taken.append(take(self)) or taken[-1])
    names = [*"abcdefgh", "poison", *"ijklmnopqrstuvwx"]
    found = list(play(*names))
    assert sorted(result.key for result in found) == sorted(names)
    (failure,) = [result for result in found if isinstance(result, TrialFailure)]
    assert failure.key == "poison"
    assert failure.error.startswith("WorkerDied: ")
    assert any(8 in portion and len(portion) > 1 for portion in taken)


@pytest.mark.timeout(60, method="thread")  # otherwise its end hangs too
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_worker_that_dies_while_it_returns_a_result_is_noticed(play, one_worker, monkeypatch):
    monkeypatch.setattr(engine_local, "REVIVALS", 0)
    failure, other = play("half", "other")
    assert (failure.key, other.key) == ("half", "other")
    assert failure.error.startswith("WorkerDied: ")
