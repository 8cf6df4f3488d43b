"""The only place that imports pandas, when it is needed."""

from typing import Any

from gpbandits_env.errors import require_extra


def pandas() -> Any:
    """The module pandas.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import pandas as module
    except ImportError:
        raise require_extra("pandas", "pandas") from None
    return module
