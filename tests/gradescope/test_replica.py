"""The package in a replica of the platform: built by `setup.sh`, then run as root under Docker's default profile, with
half a processor, 768 MB and no network.

`make test` builds the image once, with the warm-up, and grades a few submissions with it, all in one test: tests of one
module may run in two processes, and an image is the work of a minute. `make soak` builds it with the course assignment
and grades more, the perfect one among them within five minutes and 700 MB.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.assignment.assignment import load_assignment
from autograder.gradescope.upload import contents_of
from autograder.report.gradescope_schema import Results
from autograder.zip_file import zipped
from tests.gradescope.platform import metadata_of
from tests.gradescope.replica import PROJECT, Replica, Run, impossible, scratch, torch_index
from tests.hostile.soak import SOAK
from tests.tiny import REFERENCE, tiny_assignment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SAMPLES = PROJECT / "tests" / "submissions"
WARMUP, TRANSFORMERS = (PROJECT / "assignments" / name for name in ("00_warmup", "08_transformers"))
FEW = ["student_24_wrong_scale", "student_51_notebook_cut_off.ipynb"]
MORE = [
    "student_01_einsum",
    "student_09_megabyte_of_prints",
    "student_17_zip_from_macos.zip",
    "student_20_sleeps",
    "student_35_syntax_error",
    "student_39_memory_bomb",
    "student_40_exits_in_a_call",
    "student_42_forged_results",
    "student_49_empty_folder",
    "student_58_leaves_processes_behind",
    "student_59_shadows_and_plugins.zip",
]
PERFECT = "student_60_all_six_parts"
soak = pytest.mark.skipif(not SOAK, reason="in make soak")
_impossible = impossible()
pytestmark = [
    pytest.mark.skipif(bool(_impossible), reason=_impossible),
    pytest.mark.timeout(3000 if SOAK else 1500),
]


def packed(folder: Path, assignment: Path) -> Path:
    """The zip of an assignment."""
    out = folder / f"{assignment.name}.zip"
    out.write_bytes(zipped(contents_of(load_assignment(assignment)).files))
    return out


@pytest.fixture(scope="module")
def replica() -> Iterator[Replica]:
    """The image that the course assignment makes."""
    with scratch() as folder:
        replica = Replica(folder)
        assert_built(replica, TRANSFORMERS)
        yield replica


def assert_built(replica: Replica, assignment: Path) -> None:
    """Build the image: the reference gets full marks in it, and what workers must not read is closed."""
    index = torch_index()
    if index is None:
        pytest.skip("the packages that setup.sh installs cannot be had here")
    built = replica.build(packed(replica.folder, assignment), index)
    assert built.status == 0, built.output[-4000:]
    maximum = load_assignment(assignment).maximum
    assert f"gets {maximum:g} of {maximum:g} points" in built.output
    assert built.output.rstrip().endswith("softmark: ready")
    assert not [path for path in (replica.autograder / "source").rglob("*") if path.lstat().st_mode & 0o077]


def checked(run: Run) -> Results:
    """What holds of every run, whatever was handed in: the schema, the exit status, the limits, the sandbox."""
    assert run.status == 0, run.output[-4000:]
    results = run.results
    assert results.extra_data["run"]["tries"] == 1, run.output[-4000:]
    if results.tests:
        assert results.extra_data["sandbox"]["profile"] == "root"
        assert results.extra_data["sandbox"]["seccomp"].startswith("on")
        assert results.extra_data["sandbox"]["hidden-material"].startswith("on")
    if not run.limited.startswith("not limited"):
        assert (results.extra_data["run"]["processors"], results.extra_data["run"]["threads"]) == (0.5, 1)
        assert run.ended_for_memory == 0
    return results


def assert_worth(replica: Replica, name: str) -> None:
    """A sample submission, handed in by two after two others, gets what it must get everywhere."""
    expected = tomllib.loads((SAMPLES / "expected.toml").read_text())[Path(name).stem]
    results = checked(replica.run(SAMPLES / name, metadata_of(people=2, previous=2)))
    assert results.score == expected.get("points", 0), results.extra_data
    assert results.extra_data["status"] == expected.get("status", "graded")
    said = results.output + "".join(test.output for test in results.tests)
    assert not [text for text in expected.get("says", []) if text not in said]
    assert results.extra_data["run"]["people"] == 2
    assert results.extra_data["run"]["previous submissions"] == 2


def assert_late_pays(replica: Replica, folder: Path) -> None:
    """A late hand-in of an assignment with a late policy, whose time zone a small image may not know by itself."""
    assignment = tiny_assignment(folder).folder
    manifest = assignment / "assignment.toml"
    policy = '[late]\nper = "day"\npenalty_percent = 10\ntimezone = "Europe/Zurich"\n'
    manifest.write_text(f"{manifest.read_text()}\n{policy}")
    replica.unpack(packed(folder, assignment))
    (folder / "numbers_part.py").write_text(REFERENCE)
    late = metadata_of(created_at="2018-08-02T09:00:00.000000-07:00")
    results = checked(replica.run(folder / "numbers_part.py", late))
    assert (results.score, results.tests[0].score) == (1.6, 2.0)
    assert "each costs 10 %" in results.output


def assert_results_without_environment(replica: Replica) -> None:
    """Where not even Python starts there are results."""
    home = replica.root / "opt" / "softmark"
    home.rename(home.with_name("elsewhere"))
    try:
        run = replica.run(SAMPLES / "student_49_empty_folder", metadata_of())
    finally:
        home.with_name("elsewhere").rename(home)
    assert run.status == 0
    assert run.results.score == 0 and "not a grade" in run.results.output


@pytest.mark.skipif(SOAK, reason="the tests below do more")
def test_the_package_is_built_and_grades_on_the_platform(tmp_path):
    with scratch() as folder:
        replica = Replica(folder)
        assert_built(replica, WARMUP)
        assert_results_without_environment(replica)
        assert_late_pays(replica, tmp_path)
        replica.unpack(packed(folder, TRANSFORMERS))
        for name in FEW:
            assert_worth(replica, name)


@soak
@pytest.mark.parametrize("name", FEW + MORE)
def test_a_sample_submission_gets_what_it_is_worth(replica, name):
    assert_worth(replica, name)


@soak
def test_the_perfect_submission_takes_five_minutes_and_700_megabytes_at_most(replica):
    run = replica.run(SAMPLES / PERFECT, metadata_of(), seconds=300)
    assert checked(run).score == 100
    print(
        f"{PERFECT}: {run.seconds:.0f} s ({run.cpu_seconds:.0f} s of computing), {run.peak / 1e6:.0f} MB at the peak, "
        f"{run.limited}",
        file=sys.stderr,
    )
    print("\n".join(f"  {size / 1e6:6.1f} MB {who}" for who, size in run.shares.items()), file=sys.stderr)
    assert run.peak < 700e6


@soak
def test_what_outlives_its_time_ends_in_results_of_ours(replica, tmp_path):
    """The platform would overwrite what there is, had it to stop the run."""
    part = load_assignment(TRANSFORMERS).part("attention")
    asleep = "".join(f"def {name}(*_, **__):\n    time.sleep(600)\n" for name in part.functions)
    (tmp_path / "attention.py").write_text(f"import time\n{asleep}")
    environment = {"SOFTMARK_TIME_LIMIT": "120"}
    results = checked(replica.run(tmp_path / "attention.py", seconds=120, environment=environment))
    outcomes = {test.extra_data["outcome"] for test in results.tests}
    assert {"timed_out", "not_run"} <= outcomes


@soak
def test_late_work_and_a_missing_environment(tmp_path):
    with scratch() as folder:
        replica = Replica(folder)
        assert_built(replica, WARMUP)
        assert_late_pays(replica, tmp_path)
        assert_results_without_environment(replica)
