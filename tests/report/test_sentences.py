"""What a student reads when a check could not be judged."""

from typing import Any, get_args

import msgspec
import pytest

from autograder.report.sentences import plain, sentence
from autograder.results import (
    AnsweredWrongly,
    Crashed,
    DeadlinePassed,
    GivenUp,
    ImportFailed,
    NotDefined,
    Ours,
    Raised,
    Reason,
    ReturnedObject,
    TimedOut,
    Unreadable,
    WrongForm,
)

SEEN = "SEEN-41"
FIELDS = {
    "calls": 10_000,
    "megabytes": 1,
    "times": 3,
    "seconds": 1.0,
    "of": "wall",
    "why": "",
    "error": "e",
    "part": "a",
    "file": "a.py",
}


@pytest.mark.parametrize("kind", get_args(Reason), ids=lambda kind: kind.__name__)
def test_each_reason_has_its_sentence(kind: type[Any]) -> None:
    fields = {**FIELDS, "function": "softmax", "type_name": "Mask", "why": Raised() if kind is ImportFailed else ""}
    reason = kind(**{name: fields[name] for name in kind.__struct_fields__ if name in fields})
    assert all(said[0].isupper() or said.startswith("softmax") for said in (sentence(reason), plain(reason)))
    assert not {"{", "}"} & {*sentence(reason), *plain(reason)}


CHOSEN: list[Reason] = [
    Raised(function="f", kinds=(SEEN, "LookupError"), message=SEEN, frames=SEEN),
    Unreadable(function="f", type_name=SEEN, where=SEEN, why=SEEN),
    WrongForm(function="f", why=SEEN),
    ReturnedObject(function="f", type_name=SEEN),
    NotDefined(function="f", file="a.py", near=SEEN),
    Crashed(function="f", status=41),
]


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (Crashed(), "os._exit()"),
        (Crashed(status=3), "exit status 3"),
        (Crashed(signal="SIGSEGV"), "segmentation fault"),
        (Crashed(signal="SIGKILL"), "memory"),
        (Crashed(signal="SIGABRT"), "memory"),
        (Crashed(signal="SIGSYS"), "network connection"),
        (Crashed(signal="SIGUSR1"), "SIGUSR1"),
        (Crashed(signal="SIGKILL", overfull=True), "files"),
        (AnsweredWrongly(), "file descriptors"),
    ],
)
def test_a_crash_names_what_to_look_for(reason: Reason, word: str) -> None:
    assert word in sentence(reason)


@pytest.mark.parametrize("reason", CHOSEN, ids=lambda reason: type(reason).__name__)
def test_what_student_code_chose_is_told_of_visible_checks_alone(reason: Reason) -> None:
    assert "41" in sentence(reason) and "41" not in plain(reason)


def test_a_time_out_in_computing_says_how_long_and_speaks_of_loops() -> None:
    said = sentence(TimedOut(of="cpu", seconds=10.0))
    assert "10 s of processor time" in said and "loop" in said


def test_a_time_out_in_waiting_says_how_long_and_speaks_of_input() -> None:
    said = sentence(TimedOut(of="wall", seconds=40.0))
    assert "40 s" in said and "input()" in said


def test_a_failed_import_names_the_file_and_the_reason() -> None:
    why = Raised(kinds=("SyntaxError",), message="invalid syntax (attention.py, line 3).")
    said = sentence(ImportFailed(part="attention", why=why))
    assert "Importing attention.py failed" in said and "line 3)." in said and ".." not in said


def test_a_name_that_is_near_is_told() -> None:
    said = sentence(NotDefined(function="mask", file="attention.py", near="masks"))
    assert said == "mask is not defined in attention.py. Did you mean masks, which is there?"


def test_checks_given_up_after_time_outs_name_the_function_and_the_number() -> None:
    assert "softmax has already been stopped for its time in 3 checks" in sentence(GivenUp(function="softmax", times=3))


def test_the_deadline_names_its_seconds() -> None:
    assert "540 s" in sentence(DeadlinePassed(seconds=540.0))


def test_a_fault_of_ours_is_said_not_to_be_the_students() -> None:
    said = sentence(Ours(error="KeyError: 'x'", where="test_a.py, line 5"))
    assert "not your fault" in said and "KeyError" not in said


@pytest.mark.parametrize("reason", CHOSEN, ids=lambda reason: type(reason).__name__)
def test_a_reason_is_read_back_as_it_was_written(reason: Reason) -> None:
    assert msgspec.json.decode(msgspec.json.encode(reason), type=Reason) == reason
