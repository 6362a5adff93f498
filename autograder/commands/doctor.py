"""`softmark doctor`: which layers of the sandbox are on here, how that was proved, and what is missing.

It tries every layer with throw-away workers, as a grading run does before its first submission. It changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.run.session import Session
from autograder.sandbox.required import LAYERS, PROFILES, Finding, Profile, profile, required


class LayerReport(msgspec.Struct, frozen=True, kw_only=True):
    """One layer, for machines."""

    layer: str
    on: bool
    required: bool
    keeps_out: str
    proof: str
    missing: str


class MachineReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `softmark doctor --json` prints. `grades_count` says that no required layer is missing."""

    profile: str
    grades_count: bool
    layers: tuple[LayerReport, ...]


def examine_machine(folder: Path | None, as_json: bool) -> int:
    """Prove every layer, print the table, and return 1 where grades that count would be refused.

    Args:
        folder: the assignment whose solutions and hidden checks are tried; None for all in ./assignments, or, where
            there are none, a closed folder made for the purpose.
        as_json: print a `MachineReport` in JSON.
    """
    here = profile()
    findings = _without_linux() if here == "elsewhere" else _proved(_assignments(folder))
    report = report_of(findings, here)
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        _print(report, Console())
    return 0 if report.grades_count else 1


def report_of(findings: Sequence[Finding], here: Profile) -> MachineReport:
    """The findings, each with whether grades that count need the layer."""
    keeps_out = {layer.name: layer.keeps_out for layer in LAYERS}
    layers = tuple(
        LayerReport(
            layer=finding.layer,
            on=finding.on,
            required=required(finding.layer, here),
            keeps_out=keeps_out[finding.layer],
            proof=finding.proof,
            missing=finding.missing,
        )
        for finding in findings
    )
    counts = here != "elsewhere" and all(layer.on or not layer.required for layer in layers)
    return MachineReport(profile=PROFILES[here], grades_count=counts, layers=layers)


def _assignments(folder: Path | None) -> list[Assignment]:
    if folder is not None:
        return [load_assignment(folder)]
    return [load_assignment(path.parent) for path in sorted(Path("assignments").glob("*/assignment.toml"))]


def _proved(assignments: Sequence[Assignment]) -> list[Finding]:
    with Session() as session:
        session.wait_ready()
        return session.findings(assignments)


def _without_linux() -> list[Finding]:
    return [Finding(layer.name, False, missing="it takes Linux") for layer in LAYERS]


def _print(report: MachineReport, console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("layer", "", "keeps out", "how we know, or what is missing"):
        table.add_column(column, overflow="fold")
    for layer in report.layers:
        state = "on" if layer.on else "MISSING" if layer.required else "off"
        said = layer.proof if layer.on else layer.missing
        table.add_row(layer.layer, state, layer.keeps_out, Text(said))
    console.print(table)
    verdict = "Grades count here." if report.grades_count else "No grades that count here: softmark grade refuses."
    console.print(Text(f"\nYou are {report.profile}. {verdict}"))
