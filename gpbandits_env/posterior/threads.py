"""One BLAS thread for short calls.

A round takes some ten microseconds, as long as threads need to meet: with two it was measured up to
four times slower. The context manager of threadpoolctl costs as much as a round, so OpenBLAS is
called directly; other BLAS libraries are left alone.
"""

from collections.abc import Callable
from ctypes import c_int
from itertools import product
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


def _controls() -> tuple[Callable[[], int], Callable[[int], Any]]:
    """The two functions of NumPy's own OpenBLAS that get and set its number of threads."""
    found = ThreadpoolController().select(internal_api="openblas").lib_controllers
    # SciPy brings a second one, which is not used here.
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
_holders: list[None] = []  # one for each OneThread that is entered; the list's calls are atomic
_before = 1
# Whether there have ever been more: then one thread may be what a thread of Python holds meanwhile.
changed = False
_restoring = False
_lock = Lock()


class OneThread:
    """Context in which NumPy's OpenBLAS uses one thread; 0.3 to 1.2 microseconds.

    The number is that of the whole process. It is restored when no thread of Python holds it any
    more, so that one that leaves does not change what another one computes.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        global _before, changed
        _holders.append(None)
        if _restoring:
            with _lock:  # wait for it
                pass
        # From here on nobody restores: who would has yet to look at the holders.
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
