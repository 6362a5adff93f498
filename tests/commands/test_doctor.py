"""`softmark doctor`, and what `softmark grade` does with what it finds."""

from __future__ import annotations

import json
import os

import msgspec
import pytest

from autograder.commands import doctor
from autograder.sandbox.required import NAMES, Finding
from tests.test_cli import one_sentence, softmark
from tests.tiny import REFERENCE, tiny_assignment


def test_the_doctor_tells_each_layer_and_exits_by_whether_grades_count(tmp_path):
    done = softmark("doctor", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert [layer["layer"] for layer in report["layers"]] == list(NAMES)
    assert report["grades_count"] == all(layer["on"] or not layer["required"] for layer in report["layers"])
    assert done.returncode == (0 if report["grades_count"] else 1)


def test_the_table_names_what_is_missing(monkeypatch, capsys):
    missing = Finding("seccomp", False, missing="libseccomp is not installed")
    monkeypatch.setattr(doctor, "_proved", lambda _: [Finding("limits", True, "tried"), missing])
    monkeypatch.setattr(doctor, "profile", lambda: "root")
    assert doctor.examine_machine(None, as_json=False) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "seccomp MISSING" in shown and "libseccomp is not installed" in shown
    assert "No grades that count here" in shown


def test_elsewhere_the_doctor_starts_nothing_and_says_no(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "profile", lambda: "elsewhere")
    assert doctor.examine_machine(None, as_json=True) == 1
    assert msgspec.json.decode(capsys.readouterr().out)["grades_count"] is False


def handed_in(tmp_path):
    folder = tmp_path / "handed_in" / "student_01"
    folder.mkdir(parents=True)
    (folder / "numbers_part.py").write_text(REFERENCE)
    return folder.parent


def test_a_grade_says_for_staff_which_layers_were_on(tmp_path):
    assignment = tiny_assignment(tmp_path)
    names = [] if os.geteuid() == 0 else ["--allow-missing", "hidden-material"]
    done = softmark("grade", assignment.folder, handed_in(tmp_path), "-o", tmp_path / "out", *names)
    assert done.returncode == 0, done.stderr
    grade = json.loads((tmp_path / "out" / "student_01" / "grade.json").read_bytes())
    shown = json.loads((tmp_path / "out" / "student_01" / "results.json").read_bytes())
    assert set(grade["sandbox"]) == {"profile", "user ids", *NAMES}
    assert shown["extra_data"]["sandbox"] == grade["sandbox"]
    assert grade["sandbox"]["limits"].startswith("on (")


def test_a_layer_that_does_not_exist_cannot_be_allowed_to_miss(tmp_path):
    assignment = tiny_assignment(tmp_path)
    done = softmark(
        "grade", assignment.folder, handed_in(tmp_path), "-o", tmp_path / "out", "--allow-missing", "firewall"
    )
    one_sentence(done, 2, "firewall", "seccomp")


@pytest.fixture
def without_seccomp(monkeypatch):
    """Sessions whose proofs find no seccomp."""
    from autograder.run import session

    def findings(self, assignments):
        return [Finding(name, name != "seccomp", "tried", "libseccomp is not installed") for name in NAMES]

    monkeypatch.setattr(session.Session, "findings", findings)


def test_a_required_layer_that_is_missing_stops_the_run_before_anything_is_graded(tmp_path, without_seccomp, session):
    from autograder.errors import SoftmarkError

    assignment = tiny_assignment(tmp_path)
    with pytest.raises(SoftmarkError, match="need the layer seccomp"):
        session.prove(assignment)
    session.prove(assignment, ["seccomp"])
    assert session.layers()["seccomp"] == "off (libseccomp is not installed), allowed by name"
