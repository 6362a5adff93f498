"""Three kinds of data, one idea: text, an image and a series become rows of tokens."""

from __future__ import annotations

from canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    QUIET,
    RED,
    TEAL,
    VIOLET,
    YELLOW,
    Figure,
    arrow,
    blank,
    cell,
    frame,
    grid,
    say,
    title,
)

TOKENS = (BLUE, GREEN, ORANGE, VIOLET, RED, YELLOW)
"""The colour of each token by its number; what merges have joined is `TEAL`."""


def draw() -> Figure:
    """Each kind on a row: what it is, how it is cut, and which tokens it becomes."""
    figure, axis = blank(37, 15)
    _text(axis, 0.6)
    _image(axis, 5.2)
    _series(axis, 11.3)
    return figure


def _text(axis, y: float) -> None:
    title(axis, 0.3, y + 0.2, "text: bytes, joined by the merges of a training")
    for j, letter in enumerate("low␣lower"):
        cell(axis, 0.5 + j, y + 1.3, GREY, letter)
    say(axis, 0.5, y + 2.9, 'pre-tokens: "low" and "␣lower"', fontsize=7.5, color=QUIET)
    arrow(axis, (10.2, y + 1.8), (12.6, y + 1.8))
    say(axis, 11.4, y + 1.2, "o w", ha="center", fontsize=7.5, color=QUIET)
    x = 13.0
    for token, width in (("l", 1), ("ow", 2), ("␣", 1), ("l", 1), ("ow", 2), ("e", 1), ("r", 1)):
        _wide(axis, x, y + 1.3, width, TEAL if width > 1 else GREY, token)
        x += width
    arrow(axis, (22.7, y + 1.8), (25.1, y + 1.8))
    say(axis, 23.9, y + 1.2, "l ow", ha="center", fontsize=7.5, color=QUIET)
    x = 25.5
    for token, width in (("low", 3), ("␣", 1), ("low", 3), ("e", 1), ("r", 1)):
        _wide(axis, x, y + 1.3, width, TEAL if width > 1 else GREY, token)
        x += width
    say(axis, 25.5, y + 2.9, "5 tokens; ids from vocab", fontsize=7.5, color=QUIET)


def _image(axis, y: float) -> None:
    title(axis, 0.3, y + 0.2, "an image: patches, row by row")
    numbers = [[str(6 * i + j) for j in range(6)] for i in range(4)]
    patch_of = [[3 * (i // 2) + j // 2 for j in range(6)] for i in range(4)]
    grid(axis, 0.5, y + 1.0, [[TOKENS[patch] for patch in row] for row in patch_of], numbers)
    arrow(axis, (7.1, y + 3.0), (9.5, y + 3.0))
    say(axis, 8.3, y + 2.4, "patch 2", ha="center", fontsize=7.5, color=QUIET)
    for patch in range(6):
        pixels = [numbers[i][j] for i in range(4) for j in range(6) if patch_of[i][j] == patch]
        for j, pixel in enumerate(pixels):
            cell(axis, 10.0 + (patch % 3) * 5.5 + j, y + 1.3 + 2.0 * (patch // 3), TOKENS[patch], pixel)
        say(axis, 9.7 + (patch % 3) * 5.5, y + 1.0 + 2.0 * (patch // 3), f"token {patch}", fontsize=7, color=QUIET)
    say(
        axis,
        26.6,
        y + 2.6,
        "flattened as (row, column, channel);\nwith three channels the three numbers\nof a pixel stand side by side",
        fontsize=7.5,
        color=QUIET,
    )


def _series(axis, y: float) -> None:
    title(axis, 0.3, y + 0.2, "a series: windows of length 3, one every 2")
    for j in range(8):
        cell(axis, 0.5 + j, y + 1.3, GREY, str(j))
    arrow(axis, (9.1, y + 1.8), (11.5, y + 1.8))
    for index, colour in enumerate(TOKENS[:3]):
        for j in range(3):
            cell(axis, 12.0 + 4.5 * index + j, y + 1.3, colour, str(2 * index + j))
        say(axis, 12.0 + 4.5 * index, y + 2.7, f"token {index}", fontsize=7, color=QUIET)
    say(axis, 26.6, y + 1.8, "time 7 fills no window:\nit is dropped", fontsize=7.5, color=QUIET)


def _wide(axis, x: float, y: float, width: int, colour: str, text: str) -> None:
    frame(axis, x, y, width, 1, facecolor=colour, edgecolor=QUIET, linewidth=0.6)
    say(axis, x + width / 2, y + 0.52, text, ha="center", fontsize=8)
