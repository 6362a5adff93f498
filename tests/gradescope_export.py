"""Writes an export as Gradescope does: a folder a submission, and a dump by Ruby's Psych with what real ones hold.

The traps come from real exports: bare `...` lines, a quote that closes in column 0, SIDs that look octal, groups,
history. The submissions are copies of the samples, so that they must get the samples' grades.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import NamedTuple

SAMPLES = Path(__file__).parent / "submissions"

NOBODY = "  :submitters: []\n"
RESULTS = """\
  :results:
    score: {score}
    execution_time: 3.25
    tests:
    - name: '2.1 Rows sum to 1'
      number: '2.1'
      score: 0.0
      max_score: 2.0
      output: 'expected: 1.0

        got: 3.3166

'
      visibility: after_published
    - name: "\\e[31m2.2\\e[0m \\u202E"
      score: {score}
      output: "first\\n...\\nlast\\n"
    stdout_visibility: hidden
    extra_data:
      submission_409190001:
        :submitters:
        - :name: Nobody
"""
HISTORY = """\
  :history:
  - :id: 40919{number:04d}1
    :created_at: 2026-04-25 23:59:59.000000000 Z
    :score: 1.0
    :status: processed
    :results:
      score: 1.0
      tests: []
  - :id: 40919{number:04d}2
    :created_at: 2026-04-26 08:00:00.500000000 Z
    :score:
    :status: failed
    :results:
"""


class Exported(NamedTuple):
    """One submission of the export. `people` are names and SIDs as they stand in the file (None: there is none)."""

    number: int
    sample: str
    people: tuple[tuple[str, str | None], ...]
    history: bool = False
    listed: bool = True


SUBMISSIONS = (
    Exported(1, "student_01_einsum", (("Student One", "'0123456789'"),), history=True),
    Exported(2, "student_07_notebook_with_training.ipynb", (("Student Two", "0222"), ("Student Three", "00017"))),
    Exported(3, "student_17_zip_from_macos.zip", (("Student Four", "3031234567"),), history=True),
    Exported(4, "student_16_renamed", (("Student 'Five'", None),)),
    Exported(5, "student_15_utf16", (("Yes", "1e5"),)),
    Exported(6, "student_24_wrong_scale", (("Größe, 変換", "0x1F"), ("'~'", "1_000"), ("Student Eight", "~"))),
    Exported(7, "student_49_empty_folder", (("Student Nine", "'7'"),)),
    Exported(8, "student_14_crlf_and_bom", ()),
    Exported(9, "student_36_missing_function", (("Student Ten", "''"),), listed=False),
    Exported(10, "", (("Student Eleven", "'11'"),)),
    Exported(11, "", ()),
)


def metadata(submissions: tuple[Exported, ...]) -> str:
    """`submission_metadata.yml`, with a bare `...` after every third entry."""
    entries: list[str] = []
    for place, one in enumerate(one for one in submissions if one.listed):
        people = "  :submitters:\n" if one.people else NOBODY
        for name, sid in one.people:
            shown = "'" + name.replace("'", "''") + "'" if name.startswith(("'", "~")) or ", " in name else name
            people += f"  - :name: {shown}\n"
            people += f"    :sid: {sid}\n" if sid is not None else ""
            people += f"    :email: student_{one.number:02d}@example.edu\n"
        entries.append(
            f"{_folder(one)}:\n{people}  :id: {_folder(one).removeprefix('submission_')}\n"
            f"  :created_at: 2026-04-26 17:34:{one.number:02d}.861687000 Z\n  :score: 2.0\n  :status: processed\n"
            + RESULTS.format(score=2.0)
            + (HISTORY.format(number=one.number) if one.history else "  :history: []\n")
            + ("...\n" if place % 3 == 2 else "")
        )
    return "---\n" + "".join(entries)


def write_export(folder: Path, submissions: tuple[Exported, ...] = SUBMISSIONS) -> None:
    """Write the export. Gradescope unpacks zips, so a sample that is one is unpacked."""
    folder.mkdir(parents=True)
    (folder / "submission_metadata.yml").write_text(metadata(submissions), encoding="utf-8", newline="\n")
    (folder / "__MACOSX").mkdir()
    (folder / "__MACOSX" / "._submission_metadata.yml").write_bytes(b"\0\5\x16\7")
    for one in submissions:
        sample = SAMPLES / one.sample
        if not one.sample:
            continue
        if sample.is_dir():
            shutil.copytree(sample, folder / _folder(one), dirs_exist_ok=True)
        elif sample.suffix == ".zip":
            with zipfile.ZipFile(sample) as archive:
                archive.extractall(folder / _folder(one))
        else:
            (folder / _folder(one)).mkdir()
            shutil.copy(sample, folder / _folder(one) / "hw8.ipynb")


def _folder(one: Exported) -> str:
    return f"submission_40919{one.number:04d}"
