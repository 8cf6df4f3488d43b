"""Makes the generators of bad inputs, in the folder `fuzzing`, importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
