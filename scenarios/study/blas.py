"""Limits linear algebra to one thread per trial, in whichever Python thread it runs."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

from threadpoolctl import ThreadpoolController

from gpbandits_env.posterior.threads import OneThread

_lock = Lock()
_holders = 0
_limits = ExitStack()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread; finding the libraries takes about 2 ms.

    BLAS has one number of threads for the whole process, which is restored when the last user of
    the limit ends. OpenMP has a number for each Python thread.
    """
    found = ThreadpoolController()
    blas, openmp = (found.select(user_api=kind) for kind in ("blas", "openmp"))
    # OneThread counts the users of the limit on NumPy's BLAS, including agents in other threads.
    with OneThread(), _held(blas), openmp.limit(limits=1):
        yield


@contextmanager
def _held(blas: ThreadpoolController) -> Iterator[None]:
    global _holders
    with _lock:
        _holders += 1
        _limits.enter_context(blas.limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if not _holders:
                _limits.close()
