"""Values that nobody should pass, and good arguments made bad in one place."""

import copy
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import Matern52

# Sizes so large that nothing can be allocated for them: a refusal costs no memory.
HUGE = (10**18, 2**63 - 1, 2**63, -(2**63), 10**30, 10**400)


class Opaque:
    """An object that is nothing to us."""


class Stubborn:
    """An object that looks like a sequence and will not be converted."""

    def __float__(self) -> float:
        raise TypeError("no number")

    def __len__(self) -> int:
        return 3

    def __array__(self, *_: object, **__: object) -> Any:
        raise ValueError("no array")

    def __bool__(self) -> bool:
        raise ValueError("neither true nor false")


def nested(depth: int) -> Any:
    """Lists in lists."""
    value: Any = 1.0
    for _ in range(depth):
        value = [value]
    return value


def nested_dict(depth: int, key: str = "kernel") -> Any:
    """Dicts in dicts, each with a type."""
    value: Any = {"type": "se", "lengthscale": 1.0}
    for _ in range(depth):
        value = {"type": "sum", "terms": [value], key: value}
    return value


def _loop() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


NUMBERS: tuple[Callable[[], Any], ...] = (
    *(lambda v=v: v for v in HUGE),
    lambda: 0,
    lambda: -1,
    lambda: -3.5,
    lambda: 0.5,
    lambda: 1e308,
    lambda: -1e308,
    lambda: 5e-324,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: float("-inf"),
    lambda: True,
    lambda: False,
    lambda: 1 + 2j,
    lambda: Decimal("0.1"),
    lambda: Decimal("NaN"),
    lambda: Fraction(1, 3),
    lambda: np.float64("nan"),
    lambda: np.float16(0.1),
    lambda: np.int8(-1),
    lambda: np.bool_(True),
    lambda: np.datetime64("2020-01-01"),
)
TEXTS: tuple[Callable[[], Any], ...] = (
    lambda: "",
    lambda: "x",
    lambda: "0.1",
    lambda: "3",
    lambda: "nan",
    lambda: "é\u202e\U0001f600",
    lambda: "a\x00b",
    lambda: "\ud800",
    lambda: "x" * 5000,
    lambda: "../../x",
    lambda: b"",
    lambda: b"\xff\xfe",
    lambda: bytearray(b"ab"),
    lambda: Path("x"),
)
OBJECTS: tuple[Callable[[], Any], ...] = (
    lambda: None,
    Opaque,
    Stubborn,
    lambda: Opaque,
    lambda: int,
    lambda: len,
    lambda: lambda *_: 1.0,
    lambda: Ellipsis,
    lambda: NotImplemented,
    lambda: range(3),
    lambda: slice(3),
    lambda: Matern52(0.5),
    lambda: Arms.grid((2, 2)),
    lambda: Box([0.0], [1.0]),
)
CONTAINERS: tuple[Callable[[], Any], ...] = (
    list,
    tuple,
    dict,
    set,
    lambda: [None],
    lambda: [float("nan")],
    lambda: [[1.0], [2.0, 3.0]],
    lambda: [[]],
    lambda: [1, "a"],
    lambda: {"type": "x"},
    lambda: {"type": None},
    lambda: {"type": []},
    lambda: {1: 2},
    lambda: {None: None},
    lambda: {"a": {"b": {}}},
    lambda: {1, 2},
    lambda: nested(70),
    lambda: nested(3000),
    lambda: nested_dict(4),
    lambda: nested_dict(1500),
    _loop,
)
ARRAYS: tuple[Callable[[], Any], ...] = (
    lambda: np.zeros(0),
    lambda: np.zeros((3, 0)),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.array(5),
    lambda: np.array(float("nan")),
    lambda: np.array([1.0, np.inf]),
    lambda: np.array([-1, 0]),
    lambda: np.array([2**63], dtype=np.uint64),
    lambda: np.array(["a", "b"]),
    lambda: np.array([None, 1.0], dtype=object),
    lambda: np.array([Opaque()], dtype=object),
    lambda: np.array([10**400], dtype=object),
    lambda: np.array([1 + 1j]),
    lambda: np.array(["2020-01-01"], dtype="M8[D]"),
    lambda: np.zeros(2, dtype=[("a", float), ("b", int)]),
    lambda: np.array([True, False]),
    lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    lambda: np.array([3.0, 1e308]),
)
KINDS = (NUMBERS, NUMBERS, TEXTS, OBJECTS, CONTAINERS, ARRAYS)


def pick(rng: np.random.Generator, options: Any) -> Any:
    """One of them."""
    return options[int(rng.integers(len(options)))]


def bad_value(rng: np.random.Generator) -> Any:
    """Any bad value, fresh."""
    return pick(rng, pick(rng, KINDS))()


def near_miss(rng: np.random.Generator, name: str) -> str:
    """A name with a slip of the pen."""
    place = int(rng.integers(len(name) + 1))
    slips = (
        lambda: name.upper() if name.upper() != name else name + "s",
        lambda: name + " ",
        lambda: name[:place] + "q" + name[place:],
        lambda: name[:place] + name[place + 1 :] if place < len(name) else name + name,
        lambda: name[::-1] + "-",
        lambda: name + "\n",
    )
    return str(pick(rng, slips)())


FLAWS: tuple[Callable[[np.ndarray[Any, Any]], Any], ...] = (
    lambda a: a[None],
    lambda a: a[:-1] if a.ndim else a[None, None],
    lambda a: np.concatenate([a, a[:1]]) if a.ndim else np.stack([a, a]),
    lambda a: a.astype(str),
    lambda a: a.astype(complex),
    lambda a: a.T if a.ndim > 1 and a.shape[0] != a.shape[1] else a.reshape(-1, 1),
    lambda a: a.reshape(-1)[0] if a.size else None,
    lambda a: np.full(a.shape, None),
    lambda a: a[..., :0],
)


def bent_array(rng: np.random.Generator, array: np.ndarray[Any, Any]) -> Any:
    """An array with a wrong shape, type or entry."""
    if not array.size or array.dtype.kind not in "fiub" or rng.random() < 0.7:
        return pick(rng, FLAWS)(array.copy())
    spot = int(rng.integers(array.size))
    if array.dtype.kind == "i" and rng.random() < 0.5:
        bent = array.astype(np.int64)
        bent.flat[spot] = pick(rng, (-1, 10**6, 2**62))
        return bent
    bent = array.astype(float)
    bent.flat[spot] = pick(rng, (np.nan, np.inf, -np.inf, 1e300, -1e300, 0.5, 10.0**19))
    return bent


def mutated(rng: np.random.Generator, value: Any, depth: int = 0) -> Any:
    """The value with one thing wrong somewhere inside it, or something else altogether."""
    inside = depth < 6 and rng.random() < 0.6
    if isinstance(value, Mapping) and inside:
        return _mutated_mapping(rng, value, depth)
    if isinstance(value, (list, tuple)) and value and inside:
        items = list(value)
        place = int(rng.integers(len(items)))
        action = rng.random()
        if action < 0.15:
            items.append(copy.copy(items[place]))
        elif action < 0.3:
            del items[place]
        else:
            items[place] = mutated(rng, items[place], depth + 1)
        return type(value)(items) if type(value) in (list, tuple) else items
    if isinstance(value, np.ndarray) and rng.random() < 0.75:
        return bent_array(rng, value)
    if isinstance(value, str) and value and rng.random() < 0.5:
        return near_miss(rng, value)
    if isinstance(value, (int, float)) and rng.random() < 0.4:
        return pick(rng, NUMBERS)()
    return bad_value(rng)


def _mutated_mapping(rng: np.random.Generator, value: Mapping[Any, Any], depth: int) -> Any:
    spoilt = dict(value)
    action = rng.random()
    if not spoilt or action < 0.12:
        key = near_miss(rng, str(pick(rng, list(spoilt)))) if spoilt else "x"
        spoilt[key] = spoilt.get(key[:-1], bad_value(rng))
        return spoilt
    key = pick(rng, list(spoilt))
    if action < 0.2:
        del spoilt[key]
    elif action < 0.24:
        spoilt[pick(rng, (1, None, ("a",), 1.5, b"x"))] = spoilt.pop(key)
    else:
        spoilt[key] = mutated(rng, spoilt[key], depth + 1)
    return spoilt
