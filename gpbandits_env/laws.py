"""What the checks of your own kernels, drifts and agents share: each law is a function."""

from collections.abc import Callable, Iterable
from traceback import extract_tb, walk_tb

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.errors import GPBanditsError, LawBroken


def keep_all(
    laws: Iterable[Callable[..., None]], name: str, where: str, module: str, *subject: object
) -> None:
    """Call the laws with a subject; an error names the law and the last line in the module.

    Raises:
        LawBroken: a law raised an error; the code of a user may raise any.
    """
    for law in laws:
        try:
            law(*subject)
        except Exception as broken:
            found = broken if isinstance(broken, GPBanditsError) else repr(broken)
            where = f"{where}: {found}{_line(broken, module)}"
            raise LawBroken(f"{name} breaks the law of {law.__name__}{where}") from broken


def _line(error: Exception, module: str) -> str:
    """The last line in a module on the way to an error; empty if there is none."""
    places = (place.f_globals.get("__name__") for place, _ in walk_tb(error.__traceback__))
    frames = zip(places, extract_tb(error.__traceback__), strict=True)
    own = [frame for place, frame in frames if place == module]
    return f" ({own[-1].filename}, line {own[-1].lineno}: {own[-1].line})" if own else ""


def agree(
    what: str, found: ArrayLike, wanted: ArrayLike, rtol: float = 1e-12, size: float = 0.0
) -> None:
    """Raise unless two arrays agree to within ``rtol`` of their entries plus ``rtol`` of a size."""
    got, want = np.asarray(found), np.asarray(wanted)
    if got.shape != want.shape:
        raise LawBroken(f"{what}: the shape is {got.shape}, expected {want.shape}")
    off = np.abs(got - want) - rtol * (np.abs(want) + (size or float(np.abs(want).max(initial=0))))
    if not (off <= 0.0).all():
        at = np.unravel_index(int(np.nan_to_num(off, nan=np.inf).argmax()), off.shape)
        raise LawBroken(f"{what}: {got[at]:.9g} at {tuple(map(int, at))}, expected {want[at]:.9g}")
