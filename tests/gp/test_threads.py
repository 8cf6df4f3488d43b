"""BLAS threads are held to one inside, and given back."""

import sys
import threading

from threadpoolctl import threadpool_info, threadpool_limits

from gpbandits_env.gp import threads
from gpbandits_env.gp.threads import OneThread, one_blas_thread


def numpy_threads():
    return [
        item["num_threads"]
        for item in threadpool_info()
        if item["internal_api"] == "openblas" and "numpy" in item["filepath"]
    ]


def test_one_inside_and_as_before_outside():
    with threadpool_limits(2):
        before = numpy_threads()
        with OneThread():
            assert all(threads == 1 for threads in numpy_threads())
            with OneThread():
                assert all(threads == 1 for threads in numpy_threads())
            assert all(threads == 1 for threads in numpy_threads())
        assert numpy_threads() == before


def test_given_back_after_an_error():
    with threadpool_limits(2):
        before = numpy_threads()
        try:
            with OneThread():
                raise ValueError
        except ValueError:
            pass
        assert numpy_threads() == before


def test_one_until_the_last_thread_leaves():
    first_in, first_may_leave = threading.Event(), threading.Event()

    def first():
        with OneThread():
            first_in.set()
            first_may_leave.wait(20)

    with threadpool_limits(2):
        before = numpy_threads()
        thread = threading.Thread(target=first)
        thread.start()
        assert first_in.wait(20)
        with OneThread():
            first_may_leave.set()
            thread.join(20)
            assert all(threads == 1 for threads in numpy_threads())
        assert numpy_threads() == before


def test_threads_that_come_and_go_have_one_and_leave_it_as_it_was():
    """Many at once, which take turns at any moment."""
    wrong, interval = [], sys.getswitchinterval()

    def come_and_go():
        for _ in range(2000):
            with OneThread():
                if threads.blas_threads() != 1:
                    wrong.append(1)

    with threadpool_limits(2):
        before = numpy_threads()
        workers = [threading.Thread(target=come_and_go) for _ in range(4)]
        sys.setswitchinterval(1e-6)
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join(60)
        finally:
            sys.setswitchinterval(interval)
        assert not wrong
        assert numpy_threads() == before


def test_a_limit_within_a_limit_costs_nothing(monkeypatch):
    """So that caches may take it at every miss, also within a trial."""
    searches, usual = [], threads.ThreadpoolController
    monkeypatch.setattr(threads, "ThreadpoolController", lambda: searches.append(1) or usual())
    with threadpool_limits(2):
        before = numpy_threads()
        with one_blas_thread():
            with one_blas_thread():
                pass
            assert numpy_threads() == [1] * len(before)
        assert numpy_threads() == before
        assert len(searches) == 1
        with one_blas_thread():
            assert numpy_threads() == [1] * len(before)
    assert len(searches) == 2
