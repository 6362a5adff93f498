"""Gradescope's results.json as typed, strict structs: what the platform documents, and nothing else.

`read_results` checks a file: it refuses unknown fields, wrong types, values that are not finite and texts that the
platform would cut off.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

from autograder.results import Visibility

TextFormat = Literal["text", "html", "simple_format", "md", "ansi"]

# The platform cuts each text, and the file as a whole, beyond this.
PLATFORM_CHARACTERS = 100_000


class PlatformTest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of `tests`. `score` and `max_score` are points; `number` orders the entries on the page."""

    score: float
    max_score: float
    status: Literal["passed", "failed"]
    name: str
    number: str
    output: str
    output_format: TextFormat = "text"
    name_format: TextFormat = "text"
    visibility: Visibility = "visible"
    tags: tuple[str, ...] = ()
    extra_data: dict[str, Any] = {}

    def __post_init__(self) -> None:
        _points(self.score, self.max_score or math.inf, f"test {self.number}")  # 0: a bonus, on top of all
        if len(self.output) > PLATFORM_CHARACTERS:
            raise ValueError(f"test {self.number}: an output of {len(self.output)} characters would be cut")


class LeaderboardColumn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of `leaderboard`."""

    name: str
    value: float | str
    order: Literal["asc", "desc"] = "desc"

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"leaderboard column {self.name!r}: {self.value} is not finite")


class Results(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file. `score` overrides the sum of the tests' scores; `execution_time` is in seconds."""

    score: float
    execution_time: float
    output: str
    tests: tuple[PlatformTest, ...]
    output_format: TextFormat = "text"
    test_output_format: TextFormat = "text"
    test_name_format: TextFormat = "text"
    visibility: Visibility = "visible"
    stdout_visibility: Visibility = "hidden"
    leaderboard: tuple[LeaderboardColumn, ...] = ()
    extra_data: dict[str, Any] = {}

    def __post_init__(self) -> None:
        _points(self.score, math.inf, "the submission")
        if not (math.isfinite(self.execution_time) and self.execution_time >= 0.0):
            raise ValueError(f"an execution time of {self.execution_time} s is none")
        numbers = [test.number for test in self.tests]
        if len(set(numbers)) != len(numbers):
            raise ValueError("two tests have the same number")
        characters = len(self.output) + sum(len(test.output) for test in self.tests)
        if characters > PLATFORM_CHARACTERS:
            raise ValueError(f"outputs of {characters} characters in all would be cut")


def _points(score: float, maximum: float, whose: str) -> None:
    if not (math.isfinite(score) and 0.0 <= score <= maximum):
        raise ValueError(f"{whose}: a score of {score} is not in [0, {maximum}]")


def read_results(data: bytes) -> Results:
    """Read a results.json. Raises `msgspec.DecodeError` for anything that the platform would not take."""
    return msgspec.json.decode(data, type=Results, strict=True)
