"""Real data sets, which are read from disk and repaired as documented, but not shipped.

Files are searched for in the folder named by the environment variable ``GPBANDITS_DATA`` and in its
subfolders ``intel_berkeley_46``, ``metr_la_week``, ``i880``, ``mnist``, ``gisette`` and ``boston``.
"""

from gpbandits_env.rewards.datasets.boston import load_boston as load_boston
from gpbandits_env.rewards.datasets.catalogue import DATASETS as DATASETS
from gpbandits_env.rewards.datasets.catalogue import download as download
from gpbandits_env.rewards.datasets.catalogue import load as load
from gpbandits_env.rewards.datasets.dataset import Dataset as Dataset
from gpbandits_env.rewards.datasets.gisette import load_gisette as load_gisette
from gpbandits_env.rewards.datasets.mnist import Digits as Digits
from gpbandits_env.rewards.datasets.mnist import load_digits as load_digits
from gpbandits_env.rewards.datasets.tables import FILE_OPTIONS as FILE_OPTIONS
from gpbandits_env.rewards.datasets.tables import Readings as Readings
from gpbandits_env.rewards.datasets.tables import check_table as check_table
from gpbandits_env.rewards.datasets.tables import hours as hours
from gpbandits_env.rewards.datasets.tables import is_file_name as is_file_name
from gpbandits_env.rewards.datasets.tables import read_table as read_table
