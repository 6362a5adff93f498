"""Tests of what the checks of assignment 08 share: `support` is found as it is in its checks."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "assignments" / "08_transformers" / "checks"))
