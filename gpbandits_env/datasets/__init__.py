"""Real data sets: read from disk, repaired as documented, never shipped.

Files are looked for in the folder that the environment variable ``GPBANDITS_DATA`` names, and in
its subfolders ``intel_berkeley_46``, ``metr_la_week``, ``i880``, ``mnist``, ``gisette`` and
``boston``.
"""

from gpbandits_env.datasets.boston import Housing, load_boston
from gpbandits_env.datasets.catalogue import DATASETS, Status, download, load, status
from gpbandits_env.datasets.dataset import VARIABLE, Dataset, data_folders
from gpbandits_env.datasets.files import TableFile, hours, read_table
from gpbandits_env.datasets.gisette import Patterns, load_gisette
from gpbandits_env.datasets.mnist import Digits, load_digits
from gpbandits_env.datasets.tables import Readings, check_table

__all__ = [
    "DATASETS",
    "VARIABLE",
    "Dataset",
    "Digits",
    "Housing",
    "Patterns",
    "Readings",
    "Status",
    "TableFile",
    "check_table",
    "data_folders",
    "download",
    "hours",
    "load",
    "load_boston",
    "load_digits",
    "load_gisette",
    "read_table",
    "status",
]
