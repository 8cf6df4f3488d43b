"""One BLAS thread for short calls.

A round takes some ten microseconds, as long as threads need to meet: with two it was measured up to
four times slower. The context manager of threadpoolctl costs as much as a round, so OpenBLAS is
called directly; other BLAS libraries are left alone.
"""

from collections.abc import Callable
from ctypes import c_int
from itertools import product
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


class OneThread:
    """Context in which NumPy's OpenBLAS uses one thread; about 0.4 microseconds."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = blas_threads()
        if self._before > 1:
            _set_threads(1)

    def __exit__(self, *error: object) -> None:
        if self._before > 1:
            _set_threads(self._before)
