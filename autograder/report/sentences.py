"""Sentences for people, made from the reasons in a grade: here, once, and nowhere else.

Each says what happened and what to look for, in words for a student. `plain` says it of a hidden check: nothing in it
was chosen by student code, which has seen the case.
"""

from __future__ import annotations

import msgspec

from autograder.results import (
    AnsweredWrongly,
    CalledBackTooMuch,
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
from autograder.worker.protocol.bans import LEFT_OUT

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


# What is said of a reason in any check. Nothing in braces may be chosen by student code, which has seen a hidden case.
_PLAIN: dict[type[Reason], str] = {
    Unreadable: "{function} returned something that no check can read.",
    WrongForm: "{function} returned something of another form than the handout asks for.",
    ReturnedObject: "{function} returned an object where a value is asked for.",
    NotHandedIn: "You handed in no {file}.",
    NotDefined: "{function} is not defined in {file}.",
    NotImplementedYet: "{function} is not implemented yet.",
    Crashed: "Your code ended its own process and did not return, or crashed inside compiled code.",
    AnsweredWrongly: "Your code wrote into the channel that carries its results, so nothing could be read from it. "
    "Look for writes to file descriptors that you did not open (os.write, os.dup2, os.fdopen).",
    ReturnedTooMuch: "Your code returned more than {megabytes} MB in one check. A function has to return what it is "
    "asked for.",
    CalledBackTooMuch: "Your code called a function that it was given more than {calls:,} times, or with more than "
    "{megabytes} MB in all, and was stopped.",
    GivenUp: "Not run, because {function} has already been stopped for its time in {times} checks. Fix those first.",
    DeadlinePassed: "Not run, because all checks together may take {seconds:g} s and that time was used up before this "
    "one. Look at the checks above that took long or were stopped.",
    Stopped: "Not run, because grading was stopped before this check.",
    Ours: "This check failed on our side; it is not your fault. Its points are open until your course staff fixes it.",
}
_TIMED_OUT = {
    "cpu": "Your code computed for {seconds:g} s of processor time and was stopped. "
    "Look for a loop that never ends, and for Python loops where one tensor operation would do.",
    "wall": "Your code did not return within {seconds:g} s, most of which it spent waiting, and was stopped. "
    "Look for input(), sleep() and whatever waits for a file, a network or another process.",
}


def plain(reason: Reason) -> str:
    """What happened, without anything that student code chose: what may be said of a hidden check."""
    if isinstance(reason, Raised):
        if reason.message.endswith(LEFT_OUT):
            return "Your code uses what this part leaves out, since writing it is the exercise (see the handout)."
        return f"Your code raised {builtin_kind(reason.kinds)}."
    if isinstance(reason, ImportFailed):  # a part is imported before it sees a case
        return sentence(reason)
    if isinstance(reason, WrongForm) and not reason.function:
        return "What your function returned has another form than the handout asks for."
    words = _TIMED_OUT[reason.of] if isinstance(reason, TimedOut) else _PLAIN[type(reason)]
    return words.format_map(msgspec.structs.asdict(reason))


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
        case WrongForm(why=why) if why:
            return f"{plain(reason)[:-1]}: {why}."
        case ReturnedObject(function=name, type_name=kind) if kind:
            return f"{name} returned a {kind[:100]} where a value is asked for."
        case NotDefined() if reason.near:
            return f"{plain(reason)} {near(reason)}"
        case Crashed(overfull=True):
            return "Your code wrote more into files than a check may, and was stopped. Keep results in memory."
        case Crashed(signal=signal) if signal:
            return f"Your code did not return. {_SIGNALS.get(signal, f'Its process was ended by {signal}.')}"
        case Crashed(status=status):
            return (
                f"Your code ended its own process (exit status {status}) and did not return. "
                "Look for exit(), quit() and os._exit(): a function has to return its result."
            )
        case ImportFailed(part=part, why=why):
            return (
                f"Importing {part}.py failed, so none of its checks could run: {sentence(why).rstrip('.')}. "
                f"Try `python -c 'import {part}'` in the folder of your file."
            )
        case _:
            return plain(reason)


def near(reason: NotDefined) -> str:
    """The name that is there in place of the one that is not; "" where none is like it."""
    return f"Did you mean {reason.near}, which is there?" if reason.near else ""


def weighed_by_model(numbers: str) -> str:
    """Memory was judged, but not by the kernel's account. `numbers` are the checks, such as "5.1e, 5.1f"."""
    return (
        f"In {numbers} memory is judged by the allocation model alone: it follows torch's tensors, and nothing on this "
        "machine keeps a safe account of what the process took besides."
    )


def unweighed(why: str) -> str:
    """Why the allocation model alone judged memory in a check, for staff; "" where it did not."""
    return f"memory is judged by the allocation model alone: of the kernel's account, {why}" if why else ""
