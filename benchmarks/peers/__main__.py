"""`python -m benchmarks.peers`: medians of several rounds, and how many times as long each takes as Softmark."""

from __future__ import annotations

import argparse
import sys

from benchmarks.peers.rounds import ROUNDS, measured, print_rounds


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of all graders in turn")
    chosen = parser.parse_args()
    print_rounds(measured(chosen.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
