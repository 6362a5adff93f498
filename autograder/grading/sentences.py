"""Sentences for what kept a check from being judged: a crash, a time-out, a failed import, a deadline, a fault of ours.

Each says what happened and what to look for, in words for a student. It does not cover missing functions and
unreadable results, whose sentences `autograder.student_error` makes where it meets them, and it decides no outcome.
"""

from __future__ import annotations

import re

from autograder.text import one_line

# What a signal most often means when student code dies of it.
_SIGNALS = {
    "SIGSEGV": "It crashed inside compiled code (segmentation fault). Look for ctypes, very deep recursion, "
    "and memory used beyond a tensor's end (as_strided, set_).",
    "SIGBUS": "It crashed inside compiled code (bus error). Look for memory used beyond its end.",
    "SIGABRT": "Compiled code gave up (SIGABRT), most often because memory ran out or was overwritten.",
    "SIGFPE": "It crashed inside compiled code (SIGFPE), most often in an integer division by zero.",
    "SIGILL": "It crashed inside compiled code (illegal instruction).",
    "SIGKILL": "The system stopped it (SIGKILL), most often because it used more memory than there is.",
    "SIGXCPU": "It used more processor time than a check may.",
    "SIGXFSZ": "It wrote a larger file than a check may.",
    "SIGSYS": "It asked the system for what a check may not do, such as a network connection or a new process.",
}


def crashed(how: str) -> str:
    """The worker died while it ran the student's code. `how` is "exited with status 0" or "killed by SIGSEGV (...)"."""
    signal = re.search(r"SIG[A-Z0-9]+", how)
    if signal is not None:
        why = _SIGNALS.get(signal.group(), f"Its process was ended by {signal.group()}.")
        return f"Your code did not return. {why}"
    if "files grew too large" in how:
        return "Your code wrote more into files than a check may, and was stopped. Keep results in memory."
    return (
        f"Your code ended its own process ({one_line(how, 80)}) and did not return. "
        "Look for exit(), quit() and os._exit(): a function has to return its result."
    )


def crashed_somehow() -> str:
    """As `crashed`, without how: student code that has seen a hidden case chooses its exit status."""
    return "Your code ended its own process and did not return, or crashed inside compiled code."


def answered_wrongly() -> str:
    """The worker sent bytes that are no answer: student code wrote where it should not."""
    return (
        "Your code wrote into the channel that carries its results, so nothing could be read from it. "
        "Look for writes to file descriptors that you did not open (os.write, os.dup2, os.fdopen)."
    )


def returned_too_much(megabytes: int) -> str:
    """All that came back in one check is more than any check asks for."""
    return f"Your code returned more than {megabytes} MB in one check. A function has to return what it is asked for."


def timed_out(kind: str, seconds: float) -> str:
    """The call took too long. `kind` is "cpu" (it computed all the while) or "wall" (it waited)."""
    if kind == "cpu":
        return (
            f"Your code computed for {seconds:g} s of processor time and was stopped. "
            "Look for a loop that never ends, and for Python loops where one tensor operation would do."
        )
    return (
        f"Your code did not return within {seconds:g} s, most of which it spent waiting, and was stopped. "
        "Look for input(), sleep() and whatever waits for a file, a network or another process."
    )


def import_failed(part: str, why: str) -> str:
    """The part does not import, so none of its checks was tried. `why` is one sentence, such as a StudentError's."""
    return (
        f"Importing {part}.py failed, so none of its checks could run: {why.rstrip('.')}. "
        f"Try `python -c 'import {part}'` in the folder of your file."
    )


def too_many_time_outs(function: str, times: int) -> str:
    """The rest of one function's checks is not tried after so many time-outs."""
    return f"Not run, because {function} has already been stopped for its time in {times} checks. Mend those first."


def deadline(seconds: float) -> str:
    """The total time of the submission was used up before this check."""
    return (
        f"Not run, because all checks together may take {seconds:g} s and that time was used up before this one. "
        "Look at the checks above that took long or were stopped."
    )


def broken() -> str:
    """The check or the grader failed: nothing that the student did."""
    return "This check failed on our side; it is not your fault. Its points are open until your course staff mends it."


def weighed_by_model(numbers: str) -> str:
    """Memory was judged, but not by the kernel's account. `numbers` are the checks, such as "5.1e, 5.1f"."""
    return (
        f"In {numbers} memory is judged by the allocation model alone: it follows torch's tensors, and nothing on this "
        "machine keeps a safe account of what the process took besides."
    )
