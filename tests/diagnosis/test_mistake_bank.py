"""The bank on disk: small, the same bytes every time, and without a right answer in it."""

from pathlib import Path

import msgspec
import pytest

from autograder.diagnosis.mistake_bank import Bank, BankWriter
from autograder.diagnosis.traces import CheckTrace, ItemTrace
from tests.diagnosis.traces_of import MISTAKES, bank, run, writer


def test_what_was_written_is_read(tmp_path: Path) -> None:
    (tmp_path / "bank").write_bytes(writer().to_bytes())
    assert Bank.load(tmp_path / "bank") == bank()


def test_the_bytes_do_not_depend_on_the_order_of_adding() -> None:
    assert writer().to_bytes() == writer(list(reversed(MISTAKES))).to_bytes()


def test_the_same_run_twice_gives_the_same_bytes() -> None:
    assert writer().to_bytes() == writer().to_bytes()


def test_a_bank_of_other_sources_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "bank").write_bytes(writer().to_bytes())
    assert Bank.load(tmp_path / "bank", "digest").mistakes
    assert not Bank.load(tmp_path / "bank", "another digest").mistakes


@pytest.mark.parametrize("content", [b"", b"\x00", b"no bank", msgspec.msgpack.encode({"format": 1})])
def test_a_file_that_is_no_bank_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bank").write_bytes(content)
    assert Bank.load(tmp_path / "bank") == Bank()


def test_no_file_is_an_empty_bank(tmp_path: Path) -> None:
    assert Bank.load(tmp_path / "bank") == Bank()


def test_another_format_is_an_empty_bank(tmp_path: Path) -> None:
    content = msgspec.msgpack.decode(writer().to_bytes())
    (tmp_path / "bank").write_bytes(msgspec.msgpack.encode({**content, "format": 2}))
    assert Bank.load(tmp_path / "bank") == Bank()


def test_a_value_that_is_the_references_is_not_kept() -> None:
    failure = bank().mistakes["too_precise"].checks["2.1"][0]
    assert failure is None or (failure.value is None and failure.earlier == ())


def test_what_passed_before_the_failure_is_not_kept_where_it_is_right() -> None:
    failure = bank().mistakes["axis_zero"].checks["1.1"][0]
    assert failure is not None and failure.value is not None and failure.earlier == ()


def test_a_wrong_value_that_passed_is_kept_with_its_place() -> None:
    reference = run({}, keep_all=True)
    values = run({"softmax": lambda x, dim: 2 * x}, only=["1.1"])[0].items[0].values * 2
    trace = CheckTrace("1.1", (ItemTrace(values, "mismatch out", True),))
    made = BankWriter(reference)
    made.add("odd", "Odd.", [trace])
    failure = made.bank().mistakes["odd"].checks["1.1"][0]
    assert failure is not None and [place for place, _ in failure.earlier] == [0]


def test_the_functions_of_a_mistake_are_those_that_it_defines() -> None:
    assert bank().mistakes["no_scale"].defines == ("scores",)


def test_a_bank_of_seven_mistakes_is_a_few_kilobytes() -> None:
    assert len(writer().to_bytes()) < 8_000
