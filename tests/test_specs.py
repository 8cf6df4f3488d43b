"""Declared things as plain dicts."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.specs import FAMILIES, Family

SHAPES: Family = Family("shape")


@SHAPES.register("dot")
@dataclass(frozen=True)
class Dot:
    name: str = ""
    at: tuple[float, ...] = ()
    filled: bool = True
    note: float | None = None


@SHAPES.register("group")
@dataclass(frozen=True)
class Group:
    members: tuple
    scale: float = 1.0


@dataclass(frozen=True)
class Stranger:
    name: str = ""


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
DOTS = st.builds(
    Dot, st.text(max_size=5), st.lists(NUMBERS, max_size=4).map(tuple), st.booleans(), NUMBERS
)
TREES = st.recursive(
    DOTS, lambda inner: st.builds(Group, st.lists(inner, max_size=3).map(tuple), NUMBERS)
)


@given(TREES)
def test_round_trip_through_json(member):
    spec = SHAPES.to_dict(member)
    assert SHAPES.from_dict(spec) == member
    assert SHAPES.from_dict(json.loads(json.dumps(spec))) == member


def test_the_dict_is_plain():
    group = Group((Dot("a", (1.0,)), Dot()), 2.0)
    dot = {"type": "dot", "name": "", "at": [], "filled": True, "note": None}
    first = {"type": "dot", "name": "a", "at": [1.0], "filled": True, "note": None}
    assert SHAPES.to_dict(group) == {"type": "group", "members": [first, dot], "scale": 2.0}


def test_arrays_and_numpy_scalars_become_plain():
    spec = SHAPES.to_dict(Dot(at=np.array([1.0, 2.0]), note=np.float64(3.0)))
    assert json.loads(json.dumps(spec))["at"] == [1.0, 2.0]
    assert type(spec["note"]) is float


def test_a_member_passes_through():
    dot = Dot("b")
    assert SHAPES.from_dict(dot) is dot


def test_defaults_fill_in():
    assert SHAPES.from_dict({"type": "dot"}) == Dot()


def test_unknown_type_and_field_get_suggestions():
    with pytest.raises(UnknownName, match="no shape named 'dott'; did you mean 'dot'"):
        SHAPES.from_dict({"type": "dott"})
    with pytest.raises(UnknownName, match=r"field of the shape 'dot'.*did you mean 'name'"):
        SHAPES.from_dict({"type": "dot", "nam": "x"})
    with pytest.raises(UnknownName, match="no shape named 'dott'"):
        SHAPES.from_dict({"type": "group", "members": [{"type": "dott"}]})


@pytest.mark.parametrize("spec", [{}, {"name": "a"}, {"type": "group"}, "dot", None, 3, Stranger()])
def test_what_is_no_spec_is_refused(spec):
    with pytest.raises(InvalidInput):
        SHAPES.from_dict(spec)


@pytest.mark.parametrize("kind", [["dot"], {"a": 1}, 3, None])
def test_a_type_that_is_no_name_is_refused(kind):
    with pytest.raises(UnknownName):
        SHAPES.from_dict({"type": kind})


def test_a_cell_of_a_notebook_that_is_run_again_replaces_what_it_registered():
    family = Family("blob")  # another name: the last family of a name is the one that counts
    cell = "@family.register('blob')\n@dataclass(frozen=True)\nclass Blob:\n    size: int = {}\n"
    for size in (1, 2):
        exec(cell.format(size), {"family": family, "dataclass": dataclass, "__name__": "__main__"})
        assert family.from_dict({"type": "blob"}).size == size


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="'dot' is registered twice"):
        SHAPES.register("dot")(type("Dot", (), {"__module__": "elsewhere"}))
    assert SHAPES.members["dot"] is Dot


def test_a_field_of_another_family_is_read_by_that_family():
    @dataclass(frozen=True)
    class Ink:
        pass

    inks: Family = Family("ink", Ink)

    @inks.register("dot")
    @dataclass(frozen=True)
    class Blot(Ink):
        depth: float = 1.0

    @SHAPES.register("inked")
    @dataclass(frozen=True)
    class Inked:
        ink: Ink

    try:
        spec = {"type": "inked", "ink": {"type": "dot", "depth": 2.0}}
        made = SHAPES.from_dict(spec)
        assert made == Inked(Blot(2.0))
        assert SHAPES.to_dict(made) == spec
    finally:
        del FAMILIES["ink"], SHAPES.members["inked"]


def test_a_class_in_place_of_an_object_is_refused_with_what_to_give():
    with pytest.raises(InvalidInput, match=r"a shape must be .* give an object, Dot\(\.\.\.\)"):
        SHAPES.from_dict(Dot)
    with pytest.raises(InvalidInput, match=r"got 'dot': write \{'type': 'dot', \.\.\.\}"):
        SHAPES.from_dict("dot")
