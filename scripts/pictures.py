"""Makes the pictures of the README: `python scripts/pictures.py [feedback.html]`.

docs/pictures/boundary.svg is drawn here. With a page that `softmark grade` wrote, its screenshot goes to
docs/pictures/feedback.png, which needs Chromium.
"""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
WIDTH, HEIGHT = 860, 430
BOXES = (
    # left, top, width, height, title, lines
    (
        20,
        60,
        330,
        76,
        "1  read",
        ("folder, zip, notebook, export -> source files", "read as data in a process with limits"),
    ),
    (
        20,
        160,
        330,
        94,
        "3  check",
        (
            "pytest runs each check: visible, then hidden",
            "inputs are drawn; reference and tolerances",
            "stay on this side",
        ),
    ),
    (
        20,
        278,
        330,
        76,
        "5  tell",
        ("five lines: property, case, expected, got, cause", "cause from numbers and known mistakes"),
    ),
    (
        510,
        60,
        330,
        76,
        "2  fork server",
        ("torch is loaded, nothing secret is", "forks a worker for each check in milliseconds"),
    ),
    (
        510,
        160,
        330,
        94,
        "4  worker",
        (
            "imports the submission, answers calls",
            "own user id, no network, no files of ours,",
            "limits of CPU, memory and disk; then killed",
        ),
    ),
)
ARROWS = (
    # x1, y1, x2, y2, label, colour class
    (350, 98, 510, 98, "source files", "line"),
    (350, 186, 510, 186, "call: name, tensors", "line"),
    (510, 228, 350, 228, "data, or an exception", "line"),
    (675, 136, 675, 160, "", "line"),
    (185, 136, 185, 160, "", "line"),
    (185, 254, 185, 278, "", "line"),
    (185, 354, 185, 384, "", "line"),
)
STYLE = """
.ground { fill: #ffffff; } .box { fill: #f3f6fa; stroke: #5b6b7d; } .theirs { fill: #fdf3ec; stroke: #a8622a; }
text { fill: #1b1f24; font-family: sans-serif; font-size: 13px; } .title { font-size: 15px; font-weight: bold; }
.head { font-size: 14px; fill: #545c66; } .line { stroke: #1b1f24; stroke-width: 1.6; }
.border { stroke: #b3261e; stroke-width: 2; stroke-dasharray: 7 5; } .red { fill: #b3261e; }
@media (prefers-color-scheme: dark) {
.ground { fill: #15181c; } .box { fill: #1d2733; stroke: #8fa2b7; } .theirs { fill: #2c2118; stroke: #d99a66; }
text { fill: #e6e8eb; } .head { fill: #a5adb7; } .line { stroke: #e6e8eb; } .border { stroke: #ff9a92; }
.red { fill: #ff9a92; } }
"""


def boundary() -> str:
    """How a submission is graded across the boundary, as an SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'role="img" aria-labelledby="t"><title id="t">How a submission is graded: the grader reads and checks, a '
        "worker beyond the boundary runs the student's code, and only data comes back</title>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="line" d="M1 1 8 4 1 7" fill="none"/></marker></defs>',
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        _text(20, 32, "Grader: knows solutions and hidden checks, runs no student code", "head"),
        _text(510, 32, "Knows nothing, runs student code", "head"),
        '<line class="border" x1="430" y1="44" x2="430" y2="360"/>',
        _text(430, 378, "boundary: plain data and raw tensors, strictly decoded", "red", "middle"),
    ]
    for left, top, width, height, title, lines in BOXES:
        kind = "theirs" if left > 430 else "box"
        parts.append(f'<rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>')
        parts.append(_text(left + 12, top + 22, title, "title"))
        parts += [_text(left + 12, top + 42 + 18 * row, line) for row, line in enumerate(lines)]
    for x1, y1, x2, y2, label, kind in ARROWS:
        parts.append(f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" marker-end="url(#a)"/>')
        if label:
            width = 7 * len(label)
            middle = (x1 + x2) / 2
            parts.append(f'<rect class="ground" x="{middle - width / 2}" y="{y1 - 24}" width="{width}" height="17"/>')
            parts.append(_text(middle, y1 - 10, label, "", "middle"))
    parts.append(_text(20, 404, "grade.json (the record) -> results.json, feedback.html, grades.csv", "title"))
    return "\n".join([*parts, "</svg>\n"])


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{html.escape(text)}</text>'


def screenshot(page: Path, picture: Path, width: int = 900, height: int = 1000) -> None:
    """What a browser shows of a page, as PNG."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("A screenshot needs Chromium: install it (apt-get install chromium).")
    with tempfile.TemporaryDirectory() as profile:
        quiet = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking")
        size = (f"--window-size={width},{height}", f"--screenshot={picture}", f"--user-data-dir={profile}")
        subprocess.run([browser, *quiet, *size, page.resolve().as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "boundary.svg").write_text(boundary(), encoding="utf-8")
    if sys.argv[1:]:
        screenshot(Path(sys.argv[1]), PICTURES / "feedback.png")
