"""The settings by which an agent learns hyperparameters from its rewards; see `Learning`."""

from collections.abc import Sequence
from dataclasses import fields, replace

from gpbandits_env.arrays import Settings, flag, mapping
from gpbandits_env.errors import one_of
from gpbandits_env.gp.learning import Learning as Learning


def learning_for(
    spec: Learning | Settings | Sequence[str] | bool | None, standardize: bool
) -> Learning | None:
    """The settings ``learn`` and ``standardize`` of an agent; None for a fixed model.

    A spec is {"every": 10, "what": ["lengthscale"], ...}, only the list ``what``, True for the
    defaults, or None.

    Raises:
        InvalidInput: a number is out of range, or the spec has another type.
        UnknownName: `Learning` has no such field.
    """
    standardize = flag(standardize, "standardize")
    if spec is None or spec is False:
        return Learning(what=(), standardize=True) if standardize else None
    if isinstance(spec, Learning):
        return replace(spec, standardize=standardize)
    if isinstance(spec, Sequence) and not isinstance(spec, str):
        spec = {"what": tuple(spec)}
    given = mapping({} if spec is True else spec, "learn", "a dict, a list of names or true")
    known = [field.name for field in fields(Learning) if field.name != "standardize"]
    for name in given:
        one_of(name, known, "field of the setting 'learn'")
    return Learning(**{**given, "standardize": standardize})
