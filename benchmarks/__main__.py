"""`make bench`: every ratio of the benchmarks, measured now, table by table. Exit code 1 where a limit does not hold.

Ten seeds of part 6 and 300 draws of part 3 make it a quarter of an hour; `python -m benchmarks --seeds 3 --draws 30` is
half of that. The other graders get environments of their own in build/peers, once.
"""

from __future__ import annotations

import argparse
import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"


def main() -> int:
    """Measure everything and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure everything.")
    parser.add_argument("--seeds", type=int, default=10, help="of part 6's training; half a minute each")
    parser.add_argument("--draws", type=int, default=300, help="of part 3's bounds")
    chosen = parser.parse_args()

    import torch

    torch.set_num_threads(1)
    from benchmarks import a_class, boundary, memory, order, positions, together, tokens, whole
    from benchmarks.measure import print_table
    from benchmarks.peers import rounds

    holds = True
    for title, measure in (
        ("Grading", boundary.rows),
        ("A class", a_class.rows),
        ("A class, beside other graders", rounds.rows),
        ("A perfect submission, and a slow one", whole.rows),
        ("Tokens", tokens.rows),
        ("Memory", memory.rows),
        ("Memory of all that grades", together.rows),
        ("Positions: rounding bounds", lambda: positions.rows(chosen.draws)),
        ("Order: thresholds of training", lambda: order.rows(chosen.seeds)),
    ):
        rows = measure()
        print(f"\n{title}", flush=True)
        print_table(rows)
        holds = holds and all(row.holds for row in rows)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
