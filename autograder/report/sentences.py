"""Sentences for people, made from the reasons in a grade: here, once, and nowhere else.

Each says what happened and what to look for, in words for a student. `plain` says it of a hidden check: nothing in it
was chosen by student code, which has seen the case.
"""

from __future__ import annotations

from autograder.results import (
    AnsweredWrongly,
    Crashed,
    DeadlinePassed,
    GivenUp,
    ImportFailed,
    NotDefined,
    NotHandedIn,
    NotImplementedYet,
    Ours,
    Raised,
    Reason,
    ReturnedObject,
    ReturnedTooMuch,
    Stopped,
    TimedOut,
    Unreadable,
    WrongForm,
)
from autograder.student_error import builtin_kind

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


def sentence(reason: Reason) -> str:
    """What happened, in words for the student of a visible check."""
    match reason:
        case Raised():
            return reason.line
        case Unreadable(function=name, type_name=kind, where=where, why=why):
            return (
                f"{name} returned a {kind}{f' at result{where}' if where else ''}{f' ({why})' if why else ''}; a check "
                "can read tensors, numbers, strings, bytes, None, and lists, tuples and dicts of them."
            )
        case WrongForm(function=name, why=why) if why:
            return f"{plain(reason)[:-1]}: {why}."
        case ReturnedObject(function=name, type_name=kind):
            return f"{name} returned {f'a {kind[:100]}' if kind else 'an object'} where a value is asked for."
        case NotDefined(near=other) if other:
            return f"{plain(reason)} {near(reason)}"
        case Crashed():
            return _crashed(reason)
        case ImportFailed(part=part, why=why):
            return (
                f"Importing {part}.py failed, so none of its checks could run: {sentence(why).rstrip('.')}. "
                f"Try `python -c 'import {part}'` in the folder of your file."
            )
        case _:
            return plain(reason)


def plain(reason: Reason) -> str:
    """What happened, without anything that student code chose: what may be said of a hidden check."""
    match reason:
        case Raised(kinds=kinds):
            return f"Your code raised {builtin_kind(kinds)}."
        case Unreadable(function=name):
            return f"{name} returned something that no check can read."
        case WrongForm(function=name) if name:
            return f"{name} returned something of another form than the handout asks for."
        case WrongForm():
            return "What your function returned has another form than the handout asks for."
        case ReturnedObject(function=name):
            return f"{name} returned an object where a value is asked for."
        case NotHandedIn(file=file):
            return f"You handed in no {file}."
        case NotDefined(function=name, file=file):
            return f"{name} is not defined in {file}."
        case NotImplementedYet(function=name):
            return f"{name} is not implemented yet."
        case Crashed():  # student code that has seen a hidden case chooses its exit status
            return "Your code ended its own process and did not return, or crashed inside compiled code."
        case AnsweredWrongly():
            return (
                "Your code wrote into the channel that carries its results, so nothing could be read from it. "
                "Look for writes to file descriptors that you did not open (os.write, os.dup2, os.fdopen)."
            )
        case ReturnedTooMuch(megabytes=most):
            return (
                f"Your code returned more than {most} MB in one check. A function has to return what it is asked for."
            )
        case TimedOut(of="cpu", seconds=seconds):
            return (
                f"Your code computed for {seconds:g} s of processor time and was stopped. "
                "Look for a loop that never ends, and for Python loops where one tensor operation would do."
            )
        case TimedOut(seconds=seconds):
            return (
                f"Your code did not return within {seconds:g} s, most of which it spent waiting, and was stopped. "
                "Look for input(), sleep() and whatever waits for a file, a network or another process."
            )
        case GivenUp(function=name, times=times):
            return f"Not run, because {name} has already been stopped for its time in {times} checks. Fix those first."
        case ImportFailed():
            return sentence(reason)
        case DeadlinePassed(seconds=seconds):
            return (
                f"Not run, because all checks together may take {seconds:g} s and that time was used up before this "
                "one. Look at the checks above that took long or were stopped."
            )
        case Stopped():
            return "Not run, because grading was stopped before this check."
        case Ours():
            return (
                "This check failed on our side; it is not your fault. Its points are open until your course staff "
                "fixes it."
            )


def near(reason: NotDefined) -> str:
    """The name that is there in place of the one that is not; "" where none is like it."""
    return f"Did you mean {reason.near}, which is there?" if reason.near else ""


def _crashed(reason: Crashed) -> str:
    if reason.overfull:
        return "Your code wrote more into files than a check may, and was stopped. Keep results in memory."
    if reason.signal:
        why = _SIGNALS.get(reason.signal, f"Its process was ended by {reason.signal}.")
        return f"Your code did not return. {why}"
    return (
        f"Your code ended its own process (exit status {reason.status}) and did not return. "
        "Look for exit(), quit() and os._exit(): a function has to return its result."
    )


def weighed_by_model(numbers: str) -> str:
    """Memory was judged, but not by the kernel's account. `numbers` are the checks, such as "5.1e, 5.1f"."""
    return (
        f"In {numbers} memory is judged by the allocation model alone: it follows torch's tensors, and nothing on this "
        "machine keeps a safe account of what the process took besides."
    )


def unweighed(why: str) -> str:
    """Why the allocation model alone judged memory in a check, for staff; "" where it did not."""
    return f"memory is judged by the allocation model alone: of the kernel's account, {why}" if why else ""
