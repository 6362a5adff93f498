"""The zip: what is in it and what is not, the same bytes again, and the sentence where there can be none."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from autograder.assignment.assignment import load_assignment
from autograder.commands.package import package_command
from autograder.diagnosis.mistake_bank import BankWriter
from autograder.errors import SoftmarkError
from autograder.gradescope.upload import RUNTIME, SCRIPTS, contents_of
from autograder.grading.known_mistakes import is_stale, load_bank, made_from
from autograder.zip_file import zipped
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def transformers() -> dict[str, bytes]:
    return contents_of(load_assignment(PROJECT / "assignments/08_transformers")).files


def test_the_same_files_give_the_same_bytes_whenever_they_were_touched(tmp_path, transformers):
    assignment = tiny_assignment(tmp_path)
    first = zipped(contents_of(assignment).files)
    for path in assignment.folder.rglob("*"):
        path.touch()
    (assignment.folder / "checks/__pycache__").mkdir(exist_ok=True)
    (assignment.folder / "checks/__pycache__/test_numbers_part.cpython-311.pyc").write_bytes(b"0")
    assert zipped(contents_of(assignment).files) == first
    backwards = dict(reversed(transformers.items()))
    assert zipped(backwards) == zipped(transformers)


def test_it_is_small_and_holds_what_grading_needs_and_no_mistakes(transformers):
    assert len(zipped(transformers)) < 3_000_000
    assert {"setup.sh", "run_autograder", "requirements.txt", "torch.txt", "package.json"} <= transformers.keys()
    course = "course/{}/08_transformers/{}"
    for kind, name in [("assignments", "checks/hidden/key"), ("assignments", "checks/hidden/test_tokens.py")]:
        assert course.format(kind, name) in transformers
    for name in ("attention.py", "order_rope.safetensors"):
        assert course.format("solutions", name) in transformers
    (wheel,) = (data for name, data in transformers.items() if re.fullmatch(r"softmark-.*\.whl", name))
    packed = zipfile.ZipFile(io.BytesIO(wheel)).namelist()
    assert "autograder/worker/forkserver/server.py" in packed and not any(name.startswith("tests") for name in packed)
    assert not [name for name in transformers if re.match(r"course/.*/(mistakes|variants)/", name)]


def test_scripts_lie_at_the_root_with_line_feeds_and_may_be_run(transformers):
    with zipfile.ZipFile(io.BytesIO(zipped(transformers))) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        assert all(entry.date_time == (1980, 1, 1, 0, 0, 0) and entry.create_system == 3 for entry in entries.values())
        for name in SCRIPTS:
            assert entries[name].external_attr >> 16 & 0o777 == 0o755
            data = archive.read(name)
            assert data.startswith(b"#!/usr/bin/env bash\n") and b"\r" not in data and b"@" + b"TIME_LIMIT@" not in data
        assert entries["torch.txt"].external_attr >> 16 & 0o777 == 0o644


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_bash(name):
    done = subprocess.run(["bash", "-n", RUNTIME / name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_time_limit_is_written_into_the_script(tmp_path):
    files = contents_of(tiny_assignment(tmp_path), 1200).files
    assert b"SOFTMARK_TIME_LIMIT:-1200}" in files["run_autograder"]


def test_the_mistake_bank_is_as_current_there_as_here_though_mistakes_stay_behind(tmp_path):
    here = tiny_assignment(tmp_path)
    mistakes = here.solutions / "mistakes" / "numbers_part"
    mistakes.mkdir(parents=True)
    (mistakes / "thrice.py").write_text('"""Three times."""\n\nCAUGHT_BY = ["1.1"]\n')
    writer = BankWriter((), made_from(here))
    writer.add("thrice", "Three times.", ())
    (here.solutions / "bank.msgpack").write_bytes(writer.to_bytes())
    contents = contents_of(here)
    for name, data in contents.files.items():
        path = tmp_path / "there" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    there = load_assignment(tmp_path / "there/course/assignments/tiny")
    assert not (there.solutions / "mistakes").exists()
    assert not is_stale(there) and not contents.notes
    assert list(load_bank(there).mistakes) == ["thrice"]


def test_a_bank_that_is_stale_stays_behind_and_that_is_said(tmp_path):
    assignment = tiny_assignment(tmp_path)
    (assignment.solutions / "bank.msgpack").write_bytes(BankWriter((), "something else").to_bytes())
    contents = contents_of(assignment)
    assert not [name for name in contents.files if name.endswith("bank.msgpack")]
    assert "softmark validate" in contents.notes[0]


def test_the_instructor_is_told_what_hidden_checks_and_long_limits_mean(tmp_path):
    hidden = ONE_CHECK.replace('"1.1"', '"1.2"').replace("@weight(2)", '@weight(1)\n@visibility("after_due_date")')
    assignment = tiny_assignment(tmp_path, hidden=hidden, points=3, limits="total_seconds = 900")
    notes = contents_of(assignment, 600).notes
    assert "no total score before the due date" in notes[0] and "1.2" in notes[0]
    assert "900" in notes[1] and "540" in notes[1] and "--time-limit" in notes[1]
    assert not contents_of(tiny_assignment(tmp_path / "other"), 600).notes


# ------------------------------------------------------------------ what is installed there


def pins(python: str = "") -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in (RUNTIME / "requirements.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line.partition("  #")[0])
            environment = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": "linux"}
            if not python or requirement.marker is None or requirement.marker.evaluate(environment):
                found.setdefault(requirement.name.lower().replace("_", "-"), set()).add(str(requirement.specifier))
    return found


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
def test_everything_that_softmark_and_torch_need_is_pinned_once_for_each_python(python):
    pinned = pins(python)
    assert all(len(versions) == 1 and next(iter(versions)).startswith("==") for versions in pinned.values())
    environment = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": "linux", "extra": ""}
    for line in [*(requires("softmark") or []), *(requires("torch") or [])]:
        need = Requirement(line)
        if need.name == "torch" or "nvidia" in need.name or "cuda" in need.name or need.name == "triton":
            continue
        if need.marker is None or need.marker.evaluate(environment):
            version = next(iter(pinned[need.name.lower().replace("_", "-")])).removeprefix("==")
            assert need.specifier.contains(Version(version)), line


def test_the_list_is_made_from_what_it_says_it_is_made_from():
    wanted = re.findall(r"^([A-Za-z][\w-]*)", (RUNTIME / "requirements.in").read_text(), re.MULTILINE)
    assert {name.lower() for name in wanted} <= pins().keys()


def test_torch_is_the_one_that_the_checks_are_proved_with():
    pinned = re.search(r"^torch==\S+$", (PROJECT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned and pinned[0] in (RUNTIME / "torch.txt").read_text().splitlines()


def test_libraries_of_an_assignment_come_in_the_version_that_is_installed_here(tmp_path):
    assignment = tiny_assignment(tmp_path, limits="")
    manifest = assignment.folder / "assignment.toml"
    text = manifest.read_text()
    manifest.write_text('libraries = ["regex", "hypothesis"]\n' + text)
    lines = contents_of(load_assignment(assignment.folder)).files["requirements.txt"].decode().splitlines()
    assert re.fullmatch(r"hypothesis==[\d.]+", lines[-1])
    assert not [line for line in lines[-2:] if line.startswith("regex")]
    manifest.write_text('libraries = ["nowhere_to_be_found"]\n' + text)
    with pytest.raises(SoftmarkError, match="nowhere_to_be_found, which is not installed here"):
        contents_of(load_assignment(assignment.folder))


# ------------------------------------------------------------------ refusals


def broken(assignment, what: str) -> None:
    check = assignment.folder / "checks" / "test_numbers_part.py"
    if what == "check":
        check.write_text(check.read_text() + "\nimport nowhere\n")
    elif what == "syntax":
        check.write_text("def test_(:\n")
    elif what == "import":
        check.write_text(check.read_text() + "\nimport hypothesis\n")
    elif what == "reference":
        (assignment.solutions / "numbers_part.py").write_text("raise ValueError('half written')\n")
    elif what == "no reference":
        (assignment.solutions / "numbers_part.py").unlink()
    elif what == "points":
        check.write_text(check.read_text().replace("@weight(2)", "@weight(5)"))


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("check", "nowhere"),
        ("syntax", "test_numbers_part.py"),
        ("reference", r"numbers_part\.py, line 1: the reference cannot be imported \(ValueError: half written\)"),
        ("no reference", "numbers_part.py"),
        ("import", "it imports hypothesis, which nothing installs on Gradescope"),
        ("points", "add up to 5"),
    ],
)
def test_an_assignment_that_does_not_load_is_not_packed(tmp_path, what, words):
    assignment = tiny_assignment(tmp_path)
    broken(assignment, what)
    with pytest.raises(SoftmarkError, match=words):
        package_command(assignment.folder, tmp_path / "a.zip", 600, [])
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.parametrize(
    ("out", "seconds", "missing", "words"),
    [
        ("a.tar", 600, [], "does not end in .zip"),
        ("no/such/a.zip", 600, [], "There is no folder"),
        ("folder.zip", 600, [], "is a folder"),
        ("assignments/tiny/a.zip", 600, [], "would be packed the next time"),
        ("a.zip", 5, [], "--time-limit"),
        ("a.zip", float("nan"), [], "--time-limit"),
        ("a.zip", 600, ["firewall"], "firewall"),
    ],
)
def test_a_wrong_call_is_one_sentence(tmp_path, out, seconds, missing, words):
    assignment = tiny_assignment(tmp_path)
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(SoftmarkError, match=words):
        package_command(assignment.folder, tmp_path / out, seconds, missing)


def test_the_command_says_what_it_wrote_and_that_it_is_to_be_kept_closed(tmp_path):
    out = tmp_path / "tiny.zip"
    command = [sys.executable, "-m", "autograder.cli", "package", str(tiny_assignment(tmp_path).folder), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "keep it closed" in done.stdout and str(out) in done.stdout
    assert out.stat().st_mode & 0o077 == 0
    assert zipfile.is_zipfile(out)
    assert REFERENCE.encode() == zipfile.ZipFile(out).read("course/solutions/tiny/numbers_part.py")
