"""Versions, processor and BLAS, on which a result depends besides its scenario."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import gpbandits_env

PACKAGES = ("numpy", "scipy", "gymnasium", "joblib")


def versions() -> dict[str, str]:
    """The versions of this library, of Python and of the packages that results depend on."""
    found = {"gpbandits-env": gpbandits_env.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # vendored without metadata
            found[name] = "unknown"
    return found


def machine() -> dict[str, Any]:
    """Processor and BLAS builds. Results are bit-identical only if these are the same."""
    blas = sorted(
        f"{lib['internal_api']} {lib['version']} {lib.get('architecture', '')}".strip()
        for lib in threadpool_info()
        if lib["user_api"] == "blas"
    )
    return {"system": platform.platform(), "processor": _processor(), "blas": blas}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
