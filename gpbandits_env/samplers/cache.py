"""The samplers used last, so that the trials of a process share them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeVar

from gpbandits_env.samplers.base import Sampler

S = TypeVar("S", bound=Sampler | None)


class SamplerCache:
    """The samplers used last, by key, within limits of bytes and entries; for any thread.

    Two threads that miss at once both make the sampler; what is made for one key is always equal.
    A sampler of more than ``most_bytes`` is made anew each time.
    """

    def __init__(self, most_bytes: int, most_entries: int) -> None:
        self.most_bytes, self.most_entries = most_bytes, most_entries
        self._lock = Lock()
        self.clear()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, make: Callable[[], S]) -> S:
        """The sampler under the key, made now if it is not kept. Errors pass, and keep nothing."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]  # type: ignore[return-value]
        made = make()
        with self._lock:
            if key not in self._kept and _size(made) <= self.most_bytes:
                self._kept[key] = made
                self.nbytes += _size(made)
            while self.nbytes > self.most_bytes or len(self._kept) > self.most_entries:
                self.nbytes -= _size(self._kept.popitem(last=False)[1])
        return made

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept: OrderedDict[Hashable, Sampler | None] = OrderedDict()
            self.nbytes = 0


def _size(sampler: Sampler | None) -> int:
    return 0 if sampler is None else sampler.nbytes
