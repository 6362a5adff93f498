"""Writing a zip: the same bytes for the same files, whenever and wherever it is made."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Mapping
from io import BytesIO

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the first that a zip can tell
_UNIX = 3


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip with these files in the order of their names, dated 1980-01-01. What begins with #! may be run."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _FIRST_DAY)
            entry.create_system = _UNIX
            mode = 0o755 if files[name].startswith(b"#!") else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()
