import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from gpbandits_env.gp.samplers import MatrixFactor
from gpbandits_env.gp.samplers.choose import SamplerCache


def factor(numbers):
    return MatrixFactor(np.ones((numbers, 1)), 0.0)


@pytest.fixture
def cache():
    return SamplerCache(most_bytes=800, most_entries=3)


def test_a_key_is_made_once(cache):
    made = [cache.get("a", lambda: factor(10)) for _ in range(3)]
    assert made[0] is made[1] is made[2]
    assert cache.nbytes == 80


def test_whoever_comes_first_it_is_made_by_one_blas_thread(cache):
    def threads():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    with threadpool_limits(2):
        before, found = threads(), []
        cache.get("a", lambda: found.append(threads()))
        assert found == [{1}]
        assert threads() == before != {1}


def test_none_is_kept_too(cache):
    calls = []
    for _ in range(2):
        assert cache.get("a", lambda: calls.append(1)) is None
    assert len(calls) == 1


def test_the_least_recently_used_goes_first_when_bytes_run_out(cache):
    a = cache.get("a", lambda: factor(40))
    b = cache.get("b", lambda: factor(40))
    assert cache.get("a", lambda: factor(40)) is a
    cache.get("c", lambda: factor(40))
    assert cache.nbytes == 640
    assert cache.get("a", lambda: factor(40)) is a
    assert cache.get("b", lambda: factor(40)) is not b


def test_there_are_no_more_entries_than_allowed(cache):
    for key in range(10):
        cache.get(key, lambda: factor(1))
    assert len(cache) == 3
    assert cache.nbytes == 24


def test_what_is_too_large_is_made_anew_and_evicts_nothing(cache):
    a = cache.get("a", lambda: factor(1))
    large = cache.get("b", lambda: factor(101))
    assert cache.get("b", lambda: factor(101)) is not large
    assert cache.get("a", lambda: factor(1)) is a


def test_an_error_keeps_nothing(cache):
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 / 0)
    assert len(cache) == 0
    assert cache.get("a", lambda: factor(2)).size == 2


def test_many_threads_leave_a_sound_count(cache):
    def work(i):
        return cache.get(i % 7, lambda: factor(30)).size

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(400))) == {30}
    assert cache.nbytes == 240 * len(cache) <= 800


def test_samplers_from_pickles_are_of_the_same_size():
    assert pickle.loads(pickle.dumps(factor(5))).nbytes == factor(5).nbytes == 40
