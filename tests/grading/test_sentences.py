"""What a student reads when a check could not be judged."""

import pytest

from autograder.grading import sentences


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ("exited with status 0", "os._exit()"),
        ("killed by SIGSEGV (segmentation fault)", "segmentation fault"),
        ("killed by SIGKILL", "memory"),
        ("killed by SIGABRT (aborted)", "memory"),
        ("killed by SIGSYS (bad system call)", "network connection"),
        ("killed by SIGUSR1", "SIGUSR1"),
    ],
)
def test_a_crash_names_what_to_look_for(how: str, word: str) -> None:
    assert word in sentences.crashed(how)


def test_an_exit_status_is_told() -> None:
    assert "exited with status 3" in sentences.crashed("exited with status 3")


def test_a_crash_description_cannot_forge() -> None:
    assert "\x1b" not in sentences.crashed("exited\x1b[2J")


def test_a_time_out_in_computing_says_how_long_and_speaks_of_loops() -> None:
    sentence = sentences.timed_out("cpu", 10.0)
    assert "10 s of processor time" in sentence and "loop" in sentence


def test_a_time_out_in_waiting_says_how_long_and_speaks_of_input() -> None:
    sentence = sentences.timed_out("wall", 40.0)
    assert "40 s" in sentence and "input()" in sentence


def test_a_failed_import_names_the_file_and_the_reason() -> None:
    sentence = sentences.import_failed("attention", "SyntaxError: invalid syntax (attention.py, line 3).")
    assert "attention.py" in sentence and "line 3)." in sentence and ".." not in sentence


def test_checks_given_up_after_time_outs_name_the_function_and_the_number() -> None:
    assert "softmax has already been stopped for its time in 3 checks" in sentences.too_many_time_outs("softmax", 3)


def test_the_deadline_names_its_seconds() -> None:
    assert "540 s" in sentences.deadline(540.0)


def test_a_fault_of_ours_is_said_not_to_be_the_students() -> None:
    assert "not your fault" in sentences.broken()
