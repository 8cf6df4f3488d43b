"""Worker processes of this machine."""

import ast
import inspect
import time
import warnings

from joblib.externals.loky import process_executor

from gpbandits_env.scenarios.results.records import TrialFailure, TrialKey
from gpbandits_env.scenarios.study import engine_local, engines, pool
from gpbandits_env.scenarios.study.run import plan


def test_results_come_as_they_are_done_not_in_order(odd):
    """The first task sleeps for a minute; the others are there long before."""
    tasks = plan(odd("Slow").cells(), odd("Slow").trials, 0)
    labels = [task.key.agent for task in tasks]
    assert labels == ["odd", "quick", "odd", "quick"]
    begun = time.monotonic()
    with engines.results([tasks[0], tasks[1], tasks[3]], 2) as stream:
        found = [record.key for _ in range(2) for record in next(stream)]
    assert found == [tasks[1].key, tasks[3].key]
    assert time.monotonic() - begun < 55  # and the sleeper is not waited for


def test_short_tasks_are_given_by_the_dozen():
    queue = pool.Queue(1000, engine_local.Processes(2))
    assert queue.take() == [0]  # nobody knows yet how long they take
    queue.done_in(0.01)
    assert queue.take() == list(range(1, 11))
    queue.done_in(0.0)
    assert len(queue.take()) == 20  # about 5 ms a task
    queue.done_in(1e-9)
    for _ in range(20):
        queue.done_in(1e-9)
    assert len(queue.take()) == pool.MOST
    queue.done_in(3.0)
    assert len(queue.take()) == 1
    end = pool.Queue(8, engine_local.Processes(2))
    end.done_in(1e-6)
    assert [len(end.take()) for _ in range(7)] == [2, 1, 1, 1, 1, 1, 1]  # nobody waits at the end
    assert not end.gives(0)


def test_what_a_process_died_of_is_played_one_by_one_and_given_up_in_the_end():
    queue = pool.Queue(12, engine_local.Processes(1))
    queue.done_in(0.02)
    portion = queue.take()
    assert portion == [0, 1, 2, 3, 4]
    assert not queue.died(portion)
    later = [queue.take() for _ in range(7)]
    while queue.gives(0):
        later.append(queue.take())
    assert later[-5:] == [[0], [1], [2], [3], [4]]
    assert sorted(i for given in later for i in given) == list(range(12))
    given_up = [queue.died([2]) for _ in range(engine_local.REVIVALS + 1)]
    assert given_up == [False] * engine_local.REVIVALS + [True]


def test_the_warning_of_a_process_that_ends_while_it_is_given_a_task_ends_no_thread():
    said = next(
        word.value
        for word in ast.walk(ast.parse(inspect.getsource(process_executor)))
        if isinstance(word, ast.Constant) and str(word.value).startswith("A worker stopped")
    )
    warnings.simplefilter("error")
    engine_local.Processes(1)
    warnings.warn(said, UserWarning, stacklevel=1)


def test_idle_processes_end_and_the_next_task_has_a_new_one(odd, monkeypatch):
    monkeypatch.setattr(engine_local, "IDLE", 1.0)
    processes, task = engine_local.Processes(1), plan(odd("Slow").cells(), odd("Slow").trials, 0)[1]
    try:
        assert processes.result(processes.submit([task]))[0][0].key == task.key
        deadline = time.monotonic() + 20
        while processes._pools[0]._processes and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not processes._pools[0]._processes
        assert processes.result(processes.submit([task]))[0][0].key == task.key
    finally:
        processes.end()


def test_what_was_given_with_a_trial_that_kills_its_worker_is_played_once(
    odd, one_worker, monkeypatch
):
    monkeypatch.setattr(engine_local, "REVIVALS", 1)
    monkeypatch.setattr(pool, "PORTION", 10.0)
    taken = []
    take = pool.Queue.take
    monkeypatch.setattr(pool.Queue, "take", lambda self: taken.append(take(self)) or taken[-1])
    study = odd("Poison", trials=24)
    every = plan(study.cells(), study.trials, 0)
    quick = [task for task in every if task.key.agent == "quick"]
    (poison,) = [task for task in every if task.key == TrialKey(0, "odd", 0)]
    tasks = [*quick[:8], poison, *quick[8:]]
    with engines.results(tasks, 2) as stream:
        found = [result for results in stream for result in results]
    assert sorted(str(result.key) for result in found) == sorted(str(task.key) for task in tasks)
    assert [str(f.key) for f in found if isinstance(f, TrialFailure)] == [str(poison.key)]
    assert any(8 in portion and len(portion) > 1 for portion in taken)
