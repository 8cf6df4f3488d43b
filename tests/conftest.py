"""What all tests share: where real data are looked for."""

import os
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

# A folder of data beside the checkout is found without being named; else tests of real data skip.
if "GPBANDITS_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["GPBANDITS_DATA"] = str(BESIDE)
