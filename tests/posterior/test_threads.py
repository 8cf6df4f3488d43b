"""BLAS threads are held to one inside, and given back."""

from threadpoolctl import threadpool_info, threadpool_limits

from gpbandits_env.posterior.threads import OneThread


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
