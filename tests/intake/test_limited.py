"""Reading in a process with limits: what it answers, and that nothing it meets is the grader's end."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from autograder.errors import Unreadable
from autograder.intake import files, limited
from autograder.intake.limited import LimitReached, in_limited_process
from tests.intake.handins import SOFTMAX, hand_in, read, zipped

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are no such limits")


def test_an_answer_comes_whole_and_from_another_process() -> None:
    assert in_limited_process(lambda: b"%d" % os.getpid() + b"x" * 3_000_000) != b"%d" % os.getpid() + b"x" * 3_000_000
    assert in_limited_process(lambda: b"") == b""


@pytest.mark.parametrize("body", ["memory", "computing", "dying", "raising", "too much"])
def test_a_process_that_gives_no_answer_is_a_limit(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "CPU_SECONDS", 1)
    monkeypatch.setattr(limited, "MEMORY", 64 << 20)
    monkeypatch.setattr(limited, "LARGEST_ANSWER", 1 << 20)

    def work() -> bytes:
        if body == "memory":
            return bytes(200 << 20)
        if body == "too much":
            return bytes(3 << 20)
        if body == "dying":
            os._exit(0)
        if body == "raising":
            raise ValueError
        while True:
            pass

    with pytest.raises(LimitReached):
        in_limited_process(work)


def test_a_submission_beyond_the_limits_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "MEMORY", 32 << 20)
    path = tmp_path / "hw.zip"
    path.write_bytes(zipped({"attention.py": SOFTMAX, **{f"{i}.txt": os.urandom(4 << 20) for i in range(12)}}))
    with pytest.raises(Unreadable, match=r"^hw\.zip could not be read within the limits of time and memory"):
        read(path)


def test_many_zips_beside_code_are_opened_until_they_are_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.intake.submission.LARGEST_TOTAL", 3 << 20)
    monkeypatch.setattr(files, "LARGEST_TOTAL", 3 << 20)
    opened: list[bytes] = []
    inner = zipped({"big.txt": bytes(1 << 20)})
    home = hand_in(tmp_path, {"attention.py": SOFTMAX, **{f"{i}.zip": inner for i in range(20)}})
    monkeypatch.setattr(limited, "in_limited_process", lambda work: work())
    monkeypatch.setattr("autograder.intake.submission.in_limited_process", lambda work: work())
    from autograder.intake import submission

    read_zip = submission.read_zip
    monkeypatch.setattr(submission, "read_zip", lambda data, *rest: (opened.append(data), read_zip(data, *rest)))
    assert read(home).files == {"attention.py": SOFTMAX.encode()}
    assert 3 <= len(opened) <= 5


def test_a_file_whose_name_is_no_text_stands_in_no_ones_way(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"attention.py": SOFTMAX})
    for name in (b"\xff.pt", b"\xff.py", b"a\nb.pt", b"\xff"):
        try:
            (tmp_path / "student_01" / os.fsdecode(name)).write_bytes(b"x")
        except OSError:
            pytest.skip("this file system takes no such names")
    tree = read(home)
    assert tree.files["attention.py"] == SOFTMAX.encode()
    for note in tree.notes:
        note.encode()
