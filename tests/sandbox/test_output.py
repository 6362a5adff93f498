"""What student code prints: kept, bounded, and in nobody's way."""

from __future__ import annotations

import os
from typing import Any

import pytest

from autograder.sandbox.deaths import WorkerDied
from autograder.sandbox.worker import _CHUNK, _MOST_BLOCKS, KEPT_OUTPUT
from tests.sandbox.conftest import call, value


def test_what_is_printed_is_kept(start: Any) -> None:
    source = "import sys\ndef prints():\n    print('one')\n    print('two', file=sys.stderr)\n    return 3"
    worker = start(source)
    assert value(call(worker, "prints")) == 3
    assert worker.output == "one\ntwo\n"
    worker.close()
    assert worker.output == "one\ntwo\n"


def test_what_was_printed_before_a_crash_is_kept(start: Any) -> None:
    worker = start("import os\ndef prints():\n    print('before the end')\n    os._exit(0)")
    with pytest.raises(WorkerDied):
        call(worker, "prints")
    assert worker.output == "before the end\n"


def test_a_flood_of_prints_is_counted_not_kept_and_blocks_nothing(start: Any) -> None:
    worker = start("def prints():\n    for _ in range(100_000):\n        print('x' * 9)\n    return 1")
    for _ in range(3):
        assert value(call(worker, "prints", cpu=5)) == 1
    kept, _, rest = worker.output.partition("\n[")
    assert len(kept) == KEPT_OUTPUT
    assert rest == "2,990,000 more bytes]"


def test_a_flood_from_native_code_blocks_nothing(start: Any) -> None:
    worker = start(
        "import os\ndef prints():\n    for _ in range(200):\n        os.write(2, b'y' * 50_000)\n    return 1"
    )
    assert value(call(worker, "prints")) == 1
    assert worker.output.endswith("[9,990,000 more bytes]")


def test_bytes_that_are_no_text_are_shown_as_such(start: Any) -> None:
    worker = start("import os\ndef prints():\n    os.write(1, b'\\xff\\xfe')\n    print('\\ud800')\n    return 1")
    assert value(call(worker, "prints")) == 1
    assert worker.output == "\ufffd\ufffd\\ud800\n"


def test_a_writer_that_is_as_fast_as_the_reader_is_read_a_few_blocks_at_a_time(start: Any) -> None:
    """/dev/zero stands for it: there is always more to be read."""
    worker = start("def one():\n    return 1")
    zeros = os.open("/dev/zero", os.O_RDONLY)
    os.dup2(zeros, worker._output)
    os.close(zeros)
    worker._drain()
    assert worker._printed == _MOST_BLOCKS * _CHUNK
    assert len(worker._kept) == KEPT_OUTPUT
