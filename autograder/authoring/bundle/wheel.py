"""Softmark as a wheel, made of the files that are running: the same bytes for the same files.

The format is that of the binary distribution format (PyPA specifications, version 1.0). No build tool is asked, so that
an instructor who installed Softmark with pip can release an assignment, too.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import distribution
from pathlib import Path

import autograder
from autograder.assignment.leftovers import meant_files
from autograder.zip_file import zipped

_WHEEL = "Wheel-Version: 1.0\nGenerator: softmark\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

_IN_A_CHECKOUT = {"METADATA": "PKG-INFO", "entry_points.txt": "entry_points.txt"}
"""Where setuptools keeps the same beside the sources."""


def wheel() -> tuple[str, bytes]:
    """The name of the wheel's file, and its content."""
    made, package = distribution("softmark"), Path(autograder.__file__).parent
    info = f"softmark-{made.version}.dist-info"
    files = {f"autograder/{path.relative_to(package).as_posix()}": path.read_bytes() for path in meant_files(package)}
    files["softmark.py"] = (package.parent / "softmark.py").read_bytes()
    files[f"{info}/WHEEL"] = _WHEEL.encode()
    for name in ("METADATA", "entry_points.txt"):
        files[f"{info}/{name}"] = (made.read_text(name) or made.read_text(_IN_A_CHECKOUT[name]) or "").encode()
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in sorted(files.items()))
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    return f"softmark-{made.version}-py3-none-any.whl", zipped(files)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
