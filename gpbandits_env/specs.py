"""Declared objects as plain dicts {"type": name, field: value, ...}, for JSON and TOML.

A family (kernels, schedules, ...) is a `Family`; its members are frozen dataclasses registered
under a type name. `to_dict` and `from_dict` round-trip.
"""

from abc import ABC
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from types import ModuleType, UnionType
from typing import Any, ClassVar, Generic, Self, TypeGuard, TypeVar, get_args, get_type_hints

import numpy as np

from gpbandits_env.arrays import Plain, Settings, mapping, positive
from gpbandits_env.errors import InvalidInput, all_known, shown, unknown

T = TypeVar("T")

# The advice in the error that refuses user code; empty where user code is loaded.
_CURE: ContextVar[str] = ContextVar("cure", default="")


PLAIN: dict[object, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a string"),
    bool: ((bool, np.bool_), "true or false"),
    int: ((int, np.integer), "a whole number"),
    float: ((float, int, np.floating, np.integer), "a number"),
}


@cache
def kinds_of(cls: type) -> dict[str, Any]:
    """The declared types of the fields of a dataclass."""
    return get_type_hints(cls)


def check_kind(name: str, value: object, kind: object) -> None:
    """Check that a value is a string, a number, ... as declared; other types are not checked.

    Raises:
        InvalidInput: the value has another type.
    """
    options = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if value is None and type(None) in options:
        return
    options = tuple(option for option in options if option is not type(None))
    if any(option not in PLAIN for option in options):
        return
    # Python counts a bool as a number; here it is none.
    fit = [o for o in options if o is bool or not isinstance(value, (bool, np.bool_))]
    if not any(isinstance(value, PLAIN[option][0]) for option in fit):
        words = " or ".join(PLAIN[option][1] for option in options)
        words = f"{name} must be {words}, got {shown(value)}"
        if isinstance(value, type) and str in options:
            words += f": name it as '{value.__module__}:{value.__qualname__}'"
        raise InvalidInput(words)


def arguments(
    cls: type, table: Settings, start: str, key: str, convert: Callable[[str, Any, Any], object]
) -> Plain:
    """The arguments of a dataclass in a table of plain data, whose keys are the names of fields.

    Args:
        cls: the dataclass; any other class has no arguments.
        table: the table.
        start: how error messages about a field begin.
        key: what a key is, for the error about an unknown one.
        convert: makes the argument from the name, the plain value and the type of a field, and
            checks it.
    Raises:
        InvalidInput: a key is missing.
        UnknownName: a key is unknown.
    """
    known = {field.name: field for field in fields(cls)} if is_dataclass(cls) else {}
    all_known(table, known, key)
    for name, field in known.items():
        if name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise InvalidInput(f"{start}{name} is missing")
    kinds = kinds_of(cls)
    return {name: convert(name, value, kinds[name]) for name, value in table.items()}


@contextmanager
def no_user_code(cure: str) -> Iterator[None]:
    """Within this context, a name like "module:Class" is refused and imports nothing.

    It is for files from untrusted sources, because importing a module runs its code. The refusal
    applies to the current thread.

    Args:
        cure: what the error advises a user who trusts the file to do.
    """
    before = _CURE.set(cure)
    try:
        yield
    finally:
        _CURE.reset(before)


def user_code_is_refused() -> bool:
    """Whether `no_user_code` is in force."""
    return bool(_CURE.get())


def user_module(module: str, where: str) -> ModuleType:
    """Import the module of a name like "module:Class"; nothing else imports user code.

    Raises:
        InvalidInput: it cannot be imported, or `no_user_code` is in force; ``where`` begins it.
    """
    if cure := _CURE.get():
        raise InvalidInput(f"{where}: code of the module {module!r} is not loaded; {cure}")
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:  # the module may raise anything
        cure = ""
        absent = isinstance(error, ModuleNotFoundError) and module.startswith(error.name or ".")
        if absent or module.startswith("."):  # such as the path of a file
            cure = (
                "; it must be installed or in the current folder, where 'mine' is the file mine.py"
            )
        said = f"cannot be imported: {type(error).__name__}: {error}{cure}"
        raise InvalidInput(f"{where}: the module {module!r} {said}") from error


def class_named(name: str, base: type[T], kind: str) -> type[T]:
    """The user's class that "module:Class" names; InvalidInput unless it derives from ``base``."""
    module, _, cls = name.partition(":")
    loaded = user_module(module, f"{kind} {name!r}")
    inside, file = vars(loaded), getattr(loaded, "__file__", None)
    found = inside.get(cls)
    if not isinstance(found, type) or not issubclass(found, base):
        own = [k for k, v in inside.items() if getattr(v, "__module__", "") == module]
        suits = [k for k in own if isinstance(inside[k], type) and issubclass(inside[k], base)]
        but = f", but {', '.join(suits)}" if suits else ""
        raise InvalidInput(
            f"{kind} {name!r}: the module {module!r}{f' ({file})' if file else ''} has no class "
            f"{cls!r} derived from {base.__name__}{but}; name it as 'module:Class'"
        )
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise InvalidInput(f"{kind} {name!r}: the class does not define {', '.join(missing)}")
    return found


# All families, by kind.
FAMILIES: "dict[str, Family[Any]]" = {}


class Family(Generic[T]):
    """The members of one kind, by type name.

    If a base class is given, subclasses need not be registered: their name is "module:Class".
    """

    def __init__(self, kind: str, base: type[T] | None = None) -> None:
        self.kind, self.base = kind, base
        self.members: dict[str, type[T]] = {}
        FAMILIES[kind] = self

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator that registers a frozen dataclass under a type name.

        A module that is run again (a notebook cell) replaces what it registered before.
        """

        def add(cls: type[T]) -> type[T]:
            if name in self.members and self.members[name].__module__ != cls.__module__:
                raise ValueError(f"{self.kind} {name!r} is registered twice")
            self.members[name] = cls
            cls.type_name = name  # type: ignore[attr-defined]
            return cls

        return add

    def to_dict(self, member: T) -> Plain:
        """The plain dict of a member; nested members become dicts too.

        A field that is not compared (``compare=False``) is a remark and is left out.

        Raises:
            InvalidInput: the member or a nested one is not a dataclass.
        """
        cls = type(member)
        if not is_dataclass(member):
            raise InvalidInput(f"the {self.kind} {cls.__name__} has no dict: make it a dataclass")
        kept = [f.name for f in fields(member) if f.compare]
        own = {name: described(getattr(member, name)) for name in kept}
        # A subclass of a registered class has its own name.
        return {"type": vars(cls).get("type_name", f"{cls.__module__}:{cls.__qualname__}"), **own}

    def from_dict(self, spec: "Settings | T") -> T:
        """The member that a dict describes; a member passes through unchanged.

        Raises:
            InvalidInput: the dict has no "type", lacks fields, or is nested too deeply.
            UnknownName: there is no such type, or the type has no such field.
        """
        try:
            return self._read(spec)
        except RecursionError:
            raise InvalidInput(f"a {self.kind} is nested too deeply to be read") from None

    def _read(self, spec: "Settings | T") -> T:
        if not isinstance(spec, Mapping):
            if self._holds(spec):
                return spec
            cure = f": give an object, {spec.__name__}(...)" if isinstance(spec, type) else ""
            if isinstance(spec, str):
                cure = f": write {{'type': {shown(spec)}, ...}}"
            raise InvalidInput(
                f"a {self.kind} must be a dict with a 'type', got {shown(spec)}{cure}"
            )
        if "type" not in spec:
            raise InvalidInput(f"a {self.kind} needs a 'type': one of {sorted(self.members)}")
        cls, what = self._class(spec["type"]), f"{self.kind} {spec['type']!r}"

        def convert(name: str, value: Any, kind: Any) -> object:
            made = self._family_of(kind)._member(value)
            check_kind(f"{what}: {name}", made, kind)
            return made

        own = {key: value for key, value in spec.items() if key != "type"}
        given = arguments(cls, own, f"{what}: ", f"field of the {what}", convert)
        try:
            return cls(**given)
        except TypeError as error:
            raise InvalidInput(f"{what}: {error}") from None

    def _class(self, name: object) -> type[T]:
        if isinstance(name, str):
            if name in self.members:
                return self.members[name]
            if ":" in name and self.base is not None:
                return class_named(name, self.base, self.kind)
        own = "" if self.base is None else "your own as module:Class"
        raise unknown(self.kind, name, self.members, more=own)

    def _holds(self, value: object) -> TypeGuard[T]:
        own = self.base is not None and isinstance(value, self.base)
        return own or type(value) in self.members.values()

    def _family_of(self, kind: object) -> "Family[Any]":
        """The family of a field that is declared as the base class of another family."""
        others = (f for f in FAMILIES.values() if f.base is not None and f.base is kind)
        return next(others, self)

    def _member(self, value: object) -> object:
        if isinstance(value, Mapping) and "type" in value:
            return self._read(value)
        if isinstance(value, (tuple, list)):
            return tuple(self._member(item) for item in value)
        return value


def described(value: object) -> object:
    """A value in plain data: members of families become dicts, also within lists and dicts."""
    for family in FAMILIES.values():
        if family._holds(value):
            return family.to_dict(value)
    if isinstance(value, Mapping):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [described(item) for item in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


class OnlyFields:
    """A base of frozen dataclasses, whose attributes are the fields that the class declares."""

    def __setattr__(self, name: str, value: object) -> None:
        # The class of a user without the decorator. Two that differ in it would be equal.
        cls = type(self).__name__
        raise InvalidInput(
            f"{cls} sets {name}, which is no field: leave out its __init__, write "
            f"@dataclass(frozen=True) above the class and '{name}: float' (or its type) inside"
        )


@dataclass(frozen=True)
class Parametric(OnlyFields, ABC):
    """A declaration with hyper-parameters: its float fields, and those of the parts in its fields.

    Attributes:
        type_name: its name in dicts; "module:Class" for a class of your own.
        fixed: the fields that are not hyper-parameters.
    """

    type_name: ClassVar[str]
    fixed: ClassVar[tuple[str, ...]] = ()
    _kind: ClassVar[str]

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        cls.type_name = f"{cls.__module__}:{cls.__qualname__}"

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self) if kinds_of(type(self))[f.name] is float):
            object.__setattr__(self, name, self._parameter(getattr(self, name), name))

    @staticmethod
    def _parameter(value: float, name: str) -> float:
        """A hyper-parameter, checked: by default a number above 0."""
        return positive(value, name)

    def to_dict(self) -> Plain:
        """A plain dict for JSON that the `from_dict` of its family reads back."""
        return FAMILIES[self._kind].to_dict(self)

    def parameters(self) -> dict[str, float]:
        """The hyper-parameters that may be learned: float fields that are not `fixed`.

        Numbers within tuples and parts have flat names: "lengthscale.0", "terms.1.variance".
        """
        own = (f.name for f in fields(self) if f.name not in self.fixed)
        return dict(pair for name in own for pair in _numbers(name, getattr(self, name)))

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        """The same with some hyper-parameters replaced; the others keep their values.

        Raises:
            UnknownName: a name that `parameters` does not list.
            InvalidInput: a value that is out of range.
        """
        mapping(values, f"the parameters of a {self._kind}")
        kind = f"parameter of the {self._kind} {self.type_name!r}"
        all_known(values, self.parameters(), kind)
        touched = {name.partition(".")[0] for name in values}
        return replace(self, **{own: _filled(own, getattr(self, own), values) for own in touched})


def _numbers(name: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, Parametric):
        yield from ((f"{name}.{own}", number) for own, number in value.parameters().items())
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from _numbers(f"{name}.{i}", item)
    elif isinstance(value, float):
        yield name, value


def _filled(name: str, value: object, new: Mapping[str, float]) -> object:
    """The value of a field, with the numbers replaced that ``new`` names."""
    if isinstance(value, Parametric):
        own = {p: new[key] for p in value.parameters() if (key := f"{name}.{p}") in new}
        return value.with_parameters(own)
    if isinstance(value, tuple):
        return tuple(_filled(f"{name}.{i}", item, new) for i, item in enumerate(value))
    return new.get(name, value)
