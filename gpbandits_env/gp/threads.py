"""One BLAS thread: for short calls (`OneThread`), and for long ones (`one_blas_thread`).

The number of threads changes the last bits of a result. What a process keeps for later, in a cache
or an environment, is therefore computed by one thread, whoever asks for it first.

A round takes about ten microseconds, which is also the time that threads need to synchronize: with
two threads it was measured up to four times slower. The context manager of threadpoolctl costs as
much as a round, so `OneThread` calls OpenBLAS directly. Other BLAS libraries are not affected.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from ctypes import c_int
from itertools import product
from threading import Lock, local

from threadpoolctl import ThreadpoolController


def _controls() -> tuple[Callable[[], int], Callable[[int], object]]:
    """The two functions of NumPy's own OpenBLAS that get and set its number of threads."""
    found = ThreadpoolController().select(internal_api="openblas").lib_controllers
    # SciPy has its own OpenBLAS, which is not used here.
    for library in sorted(found, key=lambda item: "numpy" not in item.filepath):
        for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64")):
            get = getattr(library.dynlib, f"{prefix}openblas_get_num_threads{suffix}", None)
            put = getattr(library.dynlib, f"{prefix}openblas_set_num_threads{suffix}", None)
            if get and put:
                get.argtypes, get.restype = [], c_int
                put.argtypes, put.restype = [c_int], None
                return get, put
    return lambda: 1, lambda threads: None


blas_threads, _set_threads = _controls()
_holders: list[None] = []  # one entry per context that is entered; list calls are atomic
_before = 1
# Whether there was ever more than one BLAS thread: a number of one may then be temporary.
changed = False
_restoring = False
_lock = Lock()


class OneThread:
    """A context in which NumPy's OpenBLAS uses one thread; it costs 0.3 to 1.2 microseconds.

    The number of threads is that of the whole process. It is restored when the last Python thread
    leaves the context, so that a thread that leaves does not affect the others.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        global _before, changed
        _holders.append(None)
        if _restoring:
            with _lock:  # wait for the restore
                pass
        # From here on no thread restores: one that is about to will find a holder.
        threads = blas_threads()
        if threads > 1:
            _before, changed = threads, True
            _set_threads(1)

    def __exit__(self, *error: object) -> None:
        _holders.pop()
        if _before > 1 and not _holders:
            _restore()


def _restore() -> None:
    global _before, _restoring
    with _lock:
        _restoring = True  # before looking, so that who comes after the look waits
        if _before > 1 and not _holders:
            _set_threads(_before)
            _before = 1
        _restoring = False


_limit_lock = Lock()
_limited = 0
_limits = ExitStack()
_own = local()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread; finding the libraries takes about 2 ms.

    BLAS has one number of threads for the whole process, which is restored when the last user of
    the limit ends. OpenMP has a number for each Python thread. Inside, another such context of the
    same Python thread does nothing, and costs a microsecond.
    """
    global _limited
    if getattr(_own, "limited", False):
        yield
        return
    found = ThreadpoolController()
    # OneThread counts the users of the limit on NumPy's BLAS, including agents in other threads.
    with OneThread(), found.select(user_api="openmp").limit(limits=1):
        with _limit_lock:
            _limited += 1
            _limits.enter_context(found.select(user_api="blas").limit(limits=1))
        _own.limited = True
        try:
            yield
        finally:
            _own.limited = False
            with _limit_lock:
                _limited -= 1
                if not _limited:
                    _limits.close()
