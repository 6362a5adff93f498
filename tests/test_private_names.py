"""Private names of torch's are taken away one by one: what is left works (docs/private-names.md lists them)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MEASURED = """
from autograder.worker.meters.measuring import measure
from autograder.worker.protocol.messages import Measure, Target
request = Measure(Target("f"), (None,), ((0, (4, 4), torch.float32),), grad=True)
print(type(measure(lambda x: (x @ x).sum(), request, "")).__name__)
"""
PACKED = """
from autograder.worker.protocol.messages import Returned
from autograder.worker.protocol.wire import decode_reply, encode
print(decode_reply(bytearray().join(encode(Returned(torch.ones(2))))).value.tolist())
"""


def printed(program: str) -> str:
    command = [sys.executable, "-c", f"import sys, torch\n{program}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    ("without", "program", "left"),
    [
        ("del torch.autograd.graph._engine_run_backward", MEASURED, "Measured"),
        ("sys.modules['torch.utils._python_dispatch'] = None", MEASURED, "Unmeasured"),
        ("sys.modules['torch._subclasses.fake_tensor'] = None", MEASURED, "Measured"),
        (
            "sys.modules['torch._subclasses.fake_tensor'] = None",
            MEASURED.replace("grad=True", "grad=True, fake=True"),
            "Unmeasured",
        ),
        ("del torch._C.DisableTorchFunction", PACKED, "[1.0, 1.0]"),
        (
            "torch.ops.mkldnn = object()",
            "from autograder.worker.forkserver import server; server._look_at_processor(); print('on')",
            "on",
        ),
    ],
)
def test_what_is_left_without_a_private_name_works(without: str, program: str, left: str) -> None:
    assert printed(without + program if program.startswith("\n") else f"{without}\n{program}") == left


def test_every_private_module_and_name_that_is_imported_is_listed() -> None:
    listed = (ROOT / "docs" / "private-names.md").read_text(encoding="utf-8")
    found: set[str] = set()
    for path in (ROOT / "autograder").rglob("*.py"):
        found.update(
            re.findall(r"^\s*from ((?:torch\.\S*\._|torch\._|_pytest)\S*) import", path.read_text(), re.MULTILINE)
        )
    assert found
    assert {name for name in found if name not in listed} == set()
