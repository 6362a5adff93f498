"""A session: what its fork server imports for all workers, so that no part pays for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.run.session import Session, late_modules
from autograder.worker.protocol.messages import Call, Returned, Target
from tests.tiny import tiny_assignment

LOADED = "import sys\n\ndef loaded(name):\n    return name in sys.modules\n"


def is_loaded(session: Session, assignment, folder: Path, name: str) -> bool:
    spawning = session.spawn_from(assignment)(folder)
    worker = spawning()
    reply = worker.request(Call(Target("loaded", "numbers_part"), (name,)), cpu_seconds=10, wall_seconds=60)
    worker.close()
    session.settle()
    assert isinstance(reply, Returned)
    return reply.value


@pytest.fixture
def folder(open_folder: Path) -> Path:
    (open_folder / "numbers_part.py").write_text(LOADED)
    return open_folder


def test_libraries_of_the_manifest_are_imported_once_before_any_part(session, tmp_path, folder):
    without = tiny_assignment(tmp_path / "without")
    named = tiny_assignment(tmp_path / "named")
    with_library = type(named)(**{**{f: getattr(named, f) for f in named.__struct_fields__}, "libraries": ("wave",)})
    assert not is_loaded(session, without, folder, "wave")
    assert is_loaded(session, with_library, folder, "wave")


@pytest.mark.parametrize(
    ("source", "late"),
    [
        ("from torch.utils.checkpoint import checkpoint\n", ["torch._dynamo"]),
        ("import torch\n\n@torch.compile\ndef f(x):\n    return x\n", []),
        ("import torch\n\ndef f(x):\n    return torch.softmax(x, 0)\n", []),
    ],
)
def test_what_torch_imports_late_is_told_by_the_words_of_a_source(tmp_path, source, late):
    (tmp_path / "part.py").write_text(source)
    assert late_modules(tmp_path) == late


def test_what_torch_imports_late_is_there_for_the_part_that_needs_it(session, tmp_path, folder):
    (folder / "numbers_part.py").write_text(f"{LOADED}# checkpoint\n")
    assert is_loaded(session, tiny_assignment(tmp_path), folder, "torch._dynamo")


def test_a_forked_grader_has_a_line_of_its_own_to_the_fork_server(session):
    ours = session.connected()
    pid = os.fork()
    if not pid:
        os._exit(session.connected() is ours)
    assert os.waitpid(pid, 0)[1] == 0
    assert session.connected() is ours
