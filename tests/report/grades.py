"""Grades to render: small builders with every field that matters spelled out by the test that uses them."""

from __future__ import annotations

from typing import Any

from autograder.results import CheckResult, Explanation, Grade, PartPoints

EXPLANATION = Explanation(
    property="Each row of attention weights sums to 1.",
    case="scaled_dot_product_attention(float32 (5, 11), float32 (7, 11), float32 (7, 13))",
    expected="1.0",
    got="3.3166",
    cause="The scale is missing.",
    read="handout 2.3",
)


def check(number: str = "2.1", **fields: Any) -> CheckResult:
    """A check of part attention, worth 2 points, failed with all five lines, unless said otherwise."""
    defaults: dict[str, Any] = {
        "name": "test_rows_sum_to_one",
        "part": "attention",
        "title": "Rows sum to 1",
        "weight": 2.0,
        "score": 0.0,
        "outcome": "failed",
        "explanation": EXPLANATION,
    }
    return CheckResult(number=number, **{**defaults, **fields})


def passed(number: str = "2.1", **fields: Any) -> CheckResult:
    """A check that passed in full."""
    return check(number, **{"outcome": "passed", "score": 2.0, "explanation": None, **fields})


def grade(*checks: CheckResult, **fields: Any) -> Grade:
    """A grade of these checks, out of 22 points."""
    points = sum(each.score for each in checks)
    defaults: dict[str, Any] = {
        "submission": "student_03",
        "assignment": "08_transformers",
        "status": "graded",
        "points": points,
        "maximum": 22.0,
        "parts": (PartPoints(part="attention", number=2, points=points, maximum=22.0),),
    }
    return Grade(checks=checks, **{**defaults, **fields})


def ungraded(reason: str = "work.zip is no zip archive. Hand in a zip.", **fields: Any) -> Grade:
    """A grade of what nobody could read."""
    return grade(**{"status": "ungraded", "points": None, "parts": (), "reason": reason, **fields})
