"""Whether workers can read what they need: tried with a worker, before the first grade.

A folder that is closed to other users (a clone below a home of mode 0700, say) would otherwise fail every submission in
silence. It opens nothing that is closed.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from autograder.errors import SoftmarkError
from autograder.sandbox.connection import Connection
from autograder.sandbox.launch import LIBRARIES, ForkServer
from autograder.sandbox.temporary import TemporaryFolder
from autograder.sandbox.worker import SetUpFailed
from autograder.worker.protocol.messages import Raised


def probe(server: ForkServer, folders: Sequence[str | os.PathLike[str]] = ()) -> None:
    """Have a worker read the standard library, the libraries and `folders`.

    Raises `SoftmarkError` that names the folder that is closed, `GraderError` when no worker starts at all.
    """
    wanted = [_standard_library(), *_libraries(), *(os.path.abspath(folder) for folder in folders)]
    with TemporaryFolder() as top, Connection(server) as connection:
        top.chmod(0o755)
        folder = str(top)
        worker = connection.spawn(folder, (), readable=(*wanted, folder))
        try:
            worker.wait_ready()
        except SetUpFailed as error:
            reply = error.reply
            if isinstance(reply, Raised) and "PermissionError" in reply.kinds and reply.message.startswith("/"):
                raise SoftmarkError(_sentence(reply.message), exit_code=1) from None
            raise
        finally:
            worker.close()
            connection.settle()


def _sentence(closed: str) -> str:
    kind = "folder" if os.path.isdir(closed) else "file"
    return (
        f"Workers cannot read {closed}: the {kind} is closed to other users. Open it (chmod o+rx {closed}), or set up "
        "the project again elsewhere with `umask 022` and a Python that every user can read."
    )


def _standard_library() -> str:
    return str(Path(os.__file__).resolve().parent)


def _libraries() -> list[str]:
    """A file of each library: its folder and all above must be open as well."""
    files: list[str] = []
    for name in LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            files.append(spec.origin)
    return files
