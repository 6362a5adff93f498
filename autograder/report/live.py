"""Results in the terminal as they come: what fails at once, what several checks share once, the rest in sums."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.text import Text

from autograder.report.console import check_block, together_block
from autograder.report.lines import printed_text
from autograder.report.table import points_text
from autograder.report.view import check_view, together
from autograder.results import CheckResult
from autograder.text import one_line

_WORDS = {"missing": "not implemented yet", "timed_out": "timed out", "not_run": "not run"}


class Live:
    """Prints each result when it is there. `output`: what passing code prints, too."""

    def __init__(self, console: Console, *, output: bool = False) -> None:
        self._console, self._output = console, output
        self._said: set[str] = set()
        self._results: list[CheckResult] = []

    def see(self, check: CheckResult) -> None:
        """One check has run."""
        self._results.append(check)
        common = together(check)
        if common is not None:
            if common.sentence not in self._said:
                self._said.add(common.sentence)
                self._console.print(*together_block(common))
        elif check.outcome != "passed":
            self._console.print(check_block(check_view(check)))
        elif self._output and check.output.strip():
            self._console.print(Text(f"{one_line(check.number, 20)} printed:"))
            self._console.print(Text(printed_text(check.output, 4_000, 60), style="dim"))

    def sums(self) -> None:
        """A line a part: how many checks passed, and what became of the others."""
        parts = dict.fromkeys(check.part for check in self._results)
        width = max((len(part) for part in parts), default=0)
        for part in parts:
            checks = [check for check in self._results if check.part == part]
            counts = Counter(
                _WORDS.get(c.outcome, c.outcome) if c.counted or c.outcome == "passed" else "bonus not there yet"
                for c in checks
            )
            said = [f"{counts.pop('passed', 0)} of {len(checks)} passed"] + [
                f"{n} {word}" for word, n in counts.items()
            ]
            earned, most = sum(c.score for c in checks if not c.extra), sum(check.counted for check in checks)
            points = f"{points_text(earned)} of {points_text(most)} points"
            self._console.print(Text(f"{one_line(part):<{width}}  {', '.join(said)}; {points}"))
