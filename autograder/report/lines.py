"""The five lines of a failing check as labelled plain text, the same in the terminal and in results.json.

What is said of a hidden check is decided here, once: its property, its cause and where to read, never a case, a
number, or what the student's code printed (which may be the hidden case). It decides neither what went wrong nor how
it looks on a screen.
"""

from __future__ import annotations

import re

from autograder.grading.sentences import broken
from autograder.results import CheckResult, Explanation, Grade
from autograder.text import shown

_LABEL_WIDTH = 10
_FIELD_CHARACTERS = 1200
_FIELD_LINES = 12
_SIDE_BY_SIDE = 76
_FOLDERS = re.compile(r"(?<![\w.:/])/(?:[^/\s'\"]+/)+")


def is_hidden(check: CheckResult) -> bool:
    """Whether students may see no more of this check than its property and the likely cause."""
    return check.hidden or check.visibility == "hidden"


def for_students(check: CheckResult) -> Explanation | None:
    """The explanation as far as a student may see it; None where there is nothing to explain."""
    if check.outcome == "broken":
        return Explanation(property=check.title, cause=broken())
    if check.explanation is None or not is_hidden(check):
        return check.explanation
    told = check.explanation
    return Explanation(property=told.property, cause=told.cause, read=told.read)


def printed_for_students(check: CheckResult) -> str:
    """What the student's code printed, as far as a student may see it."""
    return "" if is_hidden(check) else check.output


def reason_for_students(grade: Grade) -> str:
    """Why nobody could grade it, without the folders of the machine: the name of what was handed in is enough."""
    before, name, after = grade.reason.partition("/" + grade.submission)
    reason = name[1:] + after if name and ": " not in before else grade.reason
    return _FOLDERS.sub("", reason)


def labelled(explanation: Explanation) -> list[tuple[str, str]]:
    """Pairs of label and text, in the order in which they are shown; an empty line is left out.

    Expected and got stand side by side on one line where they are short, below each other where they are not. Every
    text is escaped and bounded (12 lines, 1,200 characters).
    """
    bound = {
        name: shown(getattr(explanation, name), _FIELD_CHARACTERS, _FIELD_LINES).strip("\n")
        for name in Explanation.__struct_fields__
    }
    pairs = [("property", bound["property"]), ("case", bound["case"])]
    expected, got = bound["expected"], bound["got"]
    together = f"{expected}, got {got}"
    if expected and got and "\n" not in together and len(together) <= _SIDE_BY_SIDE:
        pairs.append(("expected", together))
    else:
        pairs += [("expected", expected), ("got", got)]
    pairs += [("cause", bound["cause"]), ("read", bound["read"])]
    return [(label, text) for label, text in pairs if text]


def explanation_text(explanation: Explanation) -> str:
    """The labelled lines as plain text; what continues on a next line is indented and cannot pass for a label."""
    return "\n".join(
        f"{label:<{_LABEL_WIDTH}}" + text.replace("\n", "\n" + " " * _LABEL_WIDTH)
        for label, text in labelled(explanation)
    )


def printed_text(output: str, characters: int, lines: int | None = None) -> str:
    """What the student's code printed, under a heading, each line behind a bar: none can pass for one of ours."""
    text = shown(output, characters, lines).strip("\n")
    if not text.strip():
        return ""
    return "printed by the submission\n" + "\n".join(f"  | {line}" for line in text.split("\n"))
