"""Who may attend to whom: the masks of parts 2 and 5 as little tables."""

from __future__ import annotations

from canvas import DEEP_RED, EMPTY, GREEN, QUIET, Figure, blank, grid, say, title


def draw() -> Figure:
    """Five masks: causal (both ways of unequal lengths), padding, both, and a window."""
    figure, axis = blank(36.5, 10.8)
    causal_wide = [[j <= i + 2 for j in range(5)] for i in range(3)]
    causal_tall = [[j <= i - 2 for j in range(3)] for i in range(5)]
    padding = [[j < length for j in range(5)] for length in (2, 4)]
    both = [[j < 4 and j <= i for j in range(5)] for i in range(5)]
    window = [[0 <= i - j < 3 for j in range(6)] for i in range(6)]
    panels = (
        (1.6, "causal_mask(3, 5)", causal_wide, "query", "the last query stands\nat the last key"),
        (9.0, "causal_mask(5, 3)", causal_tall, "query", "two queries see nothing:\ntheir output is 0"),
        (15.6, "padding_mask([2, 4], 5)", padding, "sequence", "(B, 1, n): one row\nfor all queries"),
        (23.2, "padding & causal", both, "query", "the second sequence:\nfour tokens"),
        (30.2, "window of 3", window, "query", "part 5: the latest\nthree keys"),
    )
    for x, name, mask, rows, remark in panels:
        title(axis, x, 0.7, name)
        empty = [not any(row) for row in mask]
        grid(axis, x, 2.2, [[GREEN if may else EMPTY for may in row] for row in mask])
        for j in range(len(mask[0])):
            say(axis, x + j + 0.5, 1.75, str(j), ha="center", fontsize=7, color=QUIET)
        for i in range(len(mask)):
            said = {"ha": "right", "fontsize": 7, "color": DEEP_RED if empty[i] else QUIET}
            say(axis, x - 0.25, 2.7 + i, str(i), **said)
        say(axis, x - 1.0, 2.2 + len(mask) / 2, rows, rotation=90, ha="center", fontsize=7.5, color=QUIET)
        say(axis, x, 2.2 + len(mask) + 0.75, remark, va="top", fontsize=7.5)
    say(axis, 0.6, 10.4, "Columns are keys. Green is True: may attend.", fontsize=8, color=QUIET)
    return figure
