"""The proofs find a layer that does not hold, the probes stop a run, SECURITY.md shows the table that is in use."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.errors import SoftmarkError
from autograder.sandbox import required
from autograder.sandbox.connection import Connection, wait_ready
from autograder.sandbox.launch import ForkServer
from autograder.sandbox.probes import first_look, proofs
from autograder.sandbox.probes.proofs import cage, probe
from autograder.sandbox.required import NAMES, Finding
from tests.sandbox.conftest import LIMITS

ROOT = os.geteuid() == 0


@pytest.fixture
def missing(server: ForkServer) -> set[str]:
    return set(wait_ready(server).missing)


@pytest.fixture
def folder_of_secrets() -> Iterator[Path]:
    """Closed as a whole, with files in it that are open by name."""
    with tempfile.TemporaryDirectory(prefix="softmark-test-") as folder:
        (Path(folder) / "solution.py").write_text("answer = 42\n")
        (Path(folder) / "solution.py").chmod(0o644)
        yield Path(folder)


def found(findings: list[Finding]) -> dict[str, bool]:
    return {finding.layer: finding.on for finding in findings}


def test_every_layer_of_this_machine_is_proved(server: ForkServer, missing: set[str], folder_of_secrets: Path) -> None:
    findings = proofs.prove(server, required.profile(), [folder_of_secrets])
    off = missing if ROOT else missing | {"user-id"}
    off |= {"namespaces"} if server.without_namespaces else set()
    off |= {"control-group"} if server.group.missing else set()
    off |= {"memory-account"} if "seccomp" in missing else set()
    if not ROOT and "landlock" in missing:
        off |= {"hidden-material"}
    assert found(findings) == {name: name not in off for name in NAMES}
    assert all(finding.proof for finding in findings if finding.on)
    assert all(finding.missing for finding in findings if not finding.on)


def test_a_layer_that_is_not_put_on_is_found_to_be_missing(server: ForkServer) -> None:
    bare = replace(LIMITS, without=("seccomp", "landlock"))
    with Connection(server) as connection, cage() as folder:
        with probe(connection, folder, bare) as worker:
            landlock = proofs._landlock(worker, folder.parent)
        with probe(connection, folder, bare) as worker:
            seccomp = proofs._seccomp(worker)
    assert (seccomp.on, landlock.on) == (False, False)
    assert "open a socket and make a process" in seccomp.missing
    assert "read a file that is open to all" in landlock.missing


def test_an_account_that_can_be_forged_is_none(server: ForkServer) -> None:
    bare = replace(LIMITS, without=("seccomp",))
    with Connection(server) as connection, cage() as folder, probe(connection, folder, bare) as worker:
        finding = proofs._memory_account(worker)
    assert not finding.on and "takes seccomp" in finding.missing


def test_limits_that_are_too_wide_are_found(server: ForkServer) -> None:
    wide = replace(LIMITS, memory_bytes=0, scratch_bytes=64 << 20)
    with Connection(server) as connection, cage() as folder, probe(connection, folder, wide) as worker:
        finding = proofs._limits(worker)
    assert finding.missing == "a worker could map twice its memory and write a file of twice its size"


@pytest.mark.skipif(not ROOT, reason="an ordinary user's workers have its own rights")
def test_hidden_material_that_is_open_is_found_where_only_its_mode_closes_it(
    server: ForkServer, folder_of_secrets: Path
) -> None:
    with Connection(server) as connection, cage() as folder:

        def proof() -> Finding:
            off = Finding("namespaces", False)
            return proofs._hidden(connection, folder, ("landlock", "seccomp"), [folder_of_secrets], off)

        assert "closed to other users (0700)" in proof().proof
        folder_of_secrets.chmod(0o711)  # nobody can list it, but its files can be opened by name
        assert "by Landlock alone" in proof().proof


def test_a_probe_that_succeeds_stops_the_run_and_says_what_it_could_do(
    server: ForkServer, open_folder: Path, missing: set[str]
) -> None:
    (open_folder / "solution.py").write_text("answer = 42\n")
    bare = replace(LIMITS, without=("seccomp", "landlock"))
    with pytest.raises(SoftmarkError, match="student code could read what is in") as caught:
        first_look.send(server, bare, [open_folder], [], [])
    assert caught.value.exit_code == 1
    with pytest.raises(SoftmarkError, match=r"student code could (open a network connection|signal|write)"):
        first_look.send(server, bare, [], [], [])
    first_look.send(server, bare, [], [], ["seccomp", "landlock", "user-id"])


def test_no_probe_succeeds_on_a_machine_with_every_layer(
    server: ForkServer, missing: set[str], folder_of_secrets: Path
) -> None:
    if missing:
        pytest.skip("this machine lacks a layer")
    first_look.send(server, LIMITS, [folder_of_secrets], [folder_of_secrets], [])


# ------------------------------------------------------------------ what is required


def with_off(*names: str) -> list[Finding]:
    return [Finding(name, name not in names, "tried", "not there") for name in NAMES]


@pytest.mark.parametrize(
    ("here", "off"), [("root", "seccomp"), ("root", "user-id"), ("root", "quota"), ("user", "landlock")]
)
def test_a_required_layer_that_is_missing_is_refused_in_one_sentence_and_allowed_by_name(here: str, off: str) -> None:
    with pytest.raises(SoftmarkError) as caught:
        required.refuse_missing(with_off(off), here, ["environment"])
    assert f"need the layer {off}" in str(caught.value) and f"--allow-missing {off}" in str(caught.value)
    assert caught.value.exit_code == 1
    required.refuse_missing(with_off(off), here, [off])


@pytest.mark.parametrize(("here", "off"), [("root", "landlock"), ("user", "user-id")])
def test_a_layer_that_is_not_required_may_be_missing(here: str, off: str) -> None:
    required.refuse_missing(with_off(off), here, [])


def test_elsewhere_nothing_counts_whatever_is_allowed() -> None:
    with pytest.raises(SoftmarkError, match="need Linux"):
        required.refuse_missing(with_off(), "elsewhere", NAMES)


def test_a_name_that_is_no_layer_is_a_wrong_call() -> None:
    with pytest.raises(SoftmarkError, match="Unknown layer 'secomp'") as caught:
        required.refuse_unknown(["seccomp", "secomp"])
    assert caught.value.exit_code == 2


def test_the_table_in_the_security_notes_is_the_one_in_use() -> None:
    notes = Path(__file__).parents[3] / "SECURITY.md"
    assert markdown_table() in notes.read_text(encoding="utf-8")


def markdown_table() -> str:
    """The layers by profile, as SECURITY.md shows them."""
    lines = ["| layer | keeps out | root | ordinary user | elsewhere |", "|---|---|---|---|---|"]
    for layer in required.LAYERS:
        cells = [
            "required" if here in layer.required else layer.where if here in layer.possible else "-"
            for here in required.PROFILES
        ]
        lines.append(f"| `{layer.name}` | {layer.keeps_out} | {' | '.join(cells)} |")
    return "\n".join(lines)
