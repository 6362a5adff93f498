"""Draws the figures of the handout: `python assignments/08_transformers/drawings`, or `make figures`.

Each module beside this one is a drawing, with `draw()`, and becomes `figures/<name>.svg`. Every SVG carries a hash of
these sources, so that a stale figure is found without matplotlib: `--check` writes nothing and exits 1 when one is.
`--out FOLDER` writes elsewhere.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIGURES = HERE.parent / "figures"
SHARED = ("__main__", "canvas")


def sources() -> dict[str, str]:
    """For each drawing the hash of what it is made from: its module and what all share."""
    shared = b"".join((HERE / f"{name}.py").read_bytes() for name in SHARED)
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in SHARED)
    return {name: hashlib.sha256(shared + (HERE / f"{name}.py").read_bytes()).hexdigest() for name in names}


def stale() -> list[str]:
    """The figures that are not what these sources draw, lack, or are too many."""
    made = {path.stem: path.read_text(encoding="utf-8") for path in FIGURES.glob("*.svg")}
    known = sources()
    differs = {name for name, digest in known.items() if f"sources sha256 {digest}" not in made.get(name, "")}
    return sorted(differs | (made.keys() - known.keys()))


def write(folder: Path) -> None:
    """Draw every figure into `folder`; the same sources give the same bytes."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    matplotlib.rcParams.update({"svg.hashsalt": "softmark", "svg.fonttype": "none"})
    for name, digest in sources().items():
        figure = importlib.import_module(name).draw()
        about = {"Date": None, "Description": f"sources sha256 {digest}"}
        figure.savefig(folder / f"{name}.svg", metadata=about, facecolor="white", bbox_inches="tight", pad_inches=0.08)


def main(arguments: list[str]) -> int:
    """Draw, or say what is stale."""
    if arguments == ["--check"]:
        for name in stale():
            print(f"{FIGURES / name}.svg is stale: draw it anew with make figures")
        return 1 if stale() else 0
    write(Path(arguments[1]) if arguments[:1] == ["--out"] else FIGURES)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
