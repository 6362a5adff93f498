"""`make bench`: every ratio of the benchmarks, measured now, as one table. Exit code 1 where a limit does not hold."""

from __future__ import annotations

import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"


def main() -> int:
    """Measure everything and print the table."""
    from benchmarks import boundary, memory, peers, tokens
    from benchmarks.measure import print_table

    rows = [*boundary.rows(), *peers.rows(), *tokens.rows(), *memory.rows()]
    print_table(rows)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
