"""Measurements. What the checks of assignment 08 share (`support`) can be imported here as in its checks."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "assignments" / "08_transformers" / "checks"))
