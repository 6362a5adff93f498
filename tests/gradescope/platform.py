"""What the platform lays out for a run, in a folder of a test's own: the unpacked zip, a submission, metadata."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.assignment.assignment import Assignment
from autograder.gradescope.layout import Layout
from autograder.gradescope.upload import contents_of

FIRST = 3


def metadata_of(
    people: int = 1,
    previous: int = 0,
    created_at: str = "2018-07-30T14:22:32.365935-07:00",
    due: str = "2018-07-31T23:00:00.000000-07:00",
) -> dict[str, Any]:
    """As documented, with so many people and earlier submissions."""
    return {
        "id": 123456,
        "created_at": created_at,
        "assignment": {
            "due_date": due,
            "group_size": 4 if people > 1 else None,
            "group_submission": people > 1,
            "id": 25828,
            "course_id": 1234,
            "late_due_date": None,
            "release_date": "2018-07-02T00:00:00.000000-07:00",
            "title": "Programming Assignment 1",
            "total_points": "20.0",
        },
        "submission_method": "upload",
        "users": [
            {"email": f"student_0{number}@example.com", "id": 1000 + number, "name": f"student_0{number}"}
            for number in range(FIRST, FIRST + people)
        ],
        "previous_submissions": [
            {
                "submission_time": f"2018-07-0{number + 3}T14:24:48.087023-07:00",
                "score": 1.5,
                "autograder_error": number == 0,
                **({"results": {"score": 1.5, "tests": [{"output": "PREVIOUS " * 50}]}} if number else {}),
            }
            for number in range(previous)
        ],
    }


def laid_out(folder: Path, assignment: Assignment, submission: Mapping[str, str]) -> Layout:
    """The zip of `assignment` unpacked, and these files as a submission."""
    layout = Layout(folder / "platform", folder / "platform" / "source")
    for name, data in contents_of(assignment).files.items():
        path = layout.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    layout.submission.mkdir()
    for name, text in submission.items():
        (layout.submission / name).write_text(text)
    return layout


def harness(layout: Layout, metadata: object = None, seconds: float = 300) -> subprocess.Popen[str]:
    """The harness as a process of its own, as `run_autograder` starts it."""
    if metadata is not None:
        layout.metadata.write_text(json.dumps(metadata))
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "autograder.gradescope.harness", str(layout.root)],
        env={**os.environ, "SOFTMARK_TIME_LIMIT": str(seconds)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
