"""The five lines of a failing check as labelled plain text, the same in the terminal and in results.json."""

from __future__ import annotations

from autograder.results import Explanation
from autograder.text import shown

_LABEL_WIDTH = 10
_FIELD_CHARACTERS = 1200
_FIELD_LINES = 12
_SIDE_BY_SIDE = 76


def labelled(explanation: Explanation) -> list[tuple[str, str]]:
    """Pairs of label and text, in the order in which they are shown; an empty line is left out.

    Expected and got stand side by side on one line where they are short, below each other where they are not. Every
    text is escaped and bounded (12 lines, 1,200 characters).
    """
    bound = bounded_lines(explanation)
    pairs = [("property", bound["property"]), ("case", bound["case"])]
    expected, got = bound["expected"], bound["got"]
    together = f"{expected}, got {got}"
    if expected and got and "\n" not in together and len(together) <= _SIDE_BY_SIDE:
        pairs.append(("expected", together))
    else:
        pairs += [("expected", expected), ("got", got)]
    pairs += [("cause", bound["cause"]), ("read", bound["read"])]
    return [(label, text) for label, text in pairs if text]


def bounded_lines(explanation: Explanation) -> dict[str, str]:
    """Each of the five lines by its name, escaped and bounded; "" where there is none."""
    return {
        name: shown(getattr(explanation, name), _FIELD_CHARACTERS, _FIELD_LINES).strip("\n")
        for name in Explanation.__struct_fields__
    }


def explanation_text(explanation: Explanation) -> str:
    """The labelled lines as plain text; what continues on a next line is indented and cannot pass for a label."""
    return "\n".join(
        f"{label:<{_LABEL_WIDTH}}" + text.replace("\n", "\n" + " " * _LABEL_WIDTH)
        for label, text in labelled(explanation)
    )


def printed_text(output: str, characters: int, lines: int | None = None) -> str:
    """What the student's code printed, under a heading, each line behind a bar: none can pass for one of ours."""
    at_the_end = (
        line.rstrip("\r").rpartition("\r")[2] for line in output.split("\n")
    )  # of a line written over, as a bar
    text = shown("\n".join(at_the_end), characters, lines).strip("\n")
    if not text.strip():
        return ""
    return "printed by the submission\n" + "\n".join(f"  | {line}" for line in text.split("\n"))
