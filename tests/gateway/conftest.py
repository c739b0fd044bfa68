"""The gateway's tests use the same world of real processes as the market's."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "market"))
