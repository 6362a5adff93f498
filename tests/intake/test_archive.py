"""A zip is read in memory; one that would do harm, or is none, is refused with a sentence."""

from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest

from autograder.errors import Unreadable
from autograder.intake import files
from autograder.intake.archive import read_zip
from autograder.intake.files import Collected
from tests.intake.handins import zipped


def members(data: bytes) -> dict[str, bytes]:
    collected = Collected("hw.zip")
    read_zip(data, "hw.zip", collected)
    return collected.files


def with_member(name: bytes, mode: int = 0, flags: int = 0) -> bytes:
    """A zip with one member of that name, byte for byte, of that Unix mode and with those flags."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        member = zipfile.ZipInfo("x" * len(name))
        member.external_attr = mode << 16
        archive.writestr(member, "x = 1\n")
    data = buffer.getvalue().replace(b"x" * len(name), name)
    return data.replace(struct.pack("<HH", 20, 0), struct.pack("<HH", 20, flags))


def named(*names: str) -> bytes:
    """A zip with empty members of those names, written as they stand."""
    return zipped(dict.fromkeys(names, b""))


def test_what_could_matter_is_read_from_whatever_folder() -> None:
    data = zipped({"hw8 final/attention.py": "x", "hw8 final/plot.png": "p", "notes.txt": "n"})
    assert members(data) == {"hw8 final/attention.py": b"x", "notes.txt": b"n"}


def test_the_shadows_of_macos_are_passed_over() -> None:
    data = zipped({"hw/attention.py": "x", "__MACOSX/hw/._attention.py": b"\0\5\x16\7", "hw/.DS_Store": b"\0"})
    assert members(data) == {"hw/attention.py": b"x"}


def test_paths_with_backslashes_are_paths() -> None:
    assert list(members(with_member(b"hw\\a.py"))) == ["hw/a.py"]


def test_utf8_names_without_the_flag_are_read_as_utf8() -> None:
    assert list(members(with_member("größe.py".encode()))) == ["größe.py"]


@pytest.mark.parametrize(
    "name", ["../a.py", "a/../../b.py", "/etc/x.py", "C:/x.py", "c:x.py", "..\\a.py", "__MACOSX/../a.py"]
)
def test_a_path_that_leads_out_is_refused(name: str) -> None:
    with pytest.raises(Unreadable, match=r"hw\.zip holds .*, a path that leads out of the archive"):
        members(named("attention.py", name))


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        (stat.S_IFLNK | 0o777, "a symbolic link"),
        (stat.S_IFIFO | 0o644, "a special file"),
        (stat.S_IFBLK, "a special file"),
    ],
)
def test_a_link_or_device_is_refused(mode: int, sentence: str) -> None:
    with pytest.raises(Unreadable, match=rf"hw\.zip holds {sentence} \(link\.py\)"):
        members(with_member(b"link.py", mode))


def test_a_bomb_is_refused_before_it_unpacks() -> None:
    with pytest.raises(Unreadable, match=r"hw\.zip is refused: b\.json would unpack to 15 MB"):
        members(zipped({"attention.py": "x", "b.json": b"0" * (15 << 20)}))


def test_many_members_that_are_large_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_TOTAL", 4 << 20)
    with pytest.raises(Unreadable, match="unpacks to more than 4 MB"):
        members(zipped({f"{number}.json": b"0" * (1 << 20) for number in range(5)}))


def test_a_size_that_lies_does_not_make_more_be_read() -> None:
    data = zipped({"attention.py": b"0" * 1000})
    lied = data.replace(struct.pack("<L", 1000), struct.pack("<L", 10))
    with pytest.raises(Unreadable, match="damaged zip"):
        members(lied)


def test_a_zip_in_a_zip_is_not_opened_here() -> None:
    assert list(members(zipped({"inner.zip": zipped({"attention.py": "x"})}))) == ["inner.zip"]


def test_a_password_is_a_sentence() -> None:
    with pytest.raises(Unreadable, match="protected by a password: hand it in without one"):
        members(with_member(b"secret.py", flags=1))


@pytest.mark.parametrize(("method", "name"), [(zipfile.ZIP_LZMA, "LZMA"), (zipfile.ZIP_BZIP2, "bzip2")])
def test_an_unusual_compression_is_named(method: int, name: str) -> None:
    with pytest.raises(Unreadable, match=f"compressed by {name}, which is not read: make an ordinary zip"):
        members(zipped({"attention.py": "x"}, method))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is an empty file"),
        (zipped({"attention.py": "x" * 999})[:100], "was cut off"),
        (zipped({"attention.py": "x" * 999})[:-5], "was cut off"),
        (b"hello", "is not a zip"),
        (b"Rar!\x1a\x07\x01\x00", "is a RAR archive, not a zip"),
        (b"7z\xbc\xaf\x27\x1c\0", "is a 7-Zip archive"),
        (b"\x1f\x8b\x08", "is a gzip archive"),
        (b"%PDF-1.7", "is a PDF"),
        (b"\n<!DOCTYPE html><html>", "is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
    ],
    ids=["empty", "cut early", "cut late", "text", "rar", "7-zip", "gzip", "pdf", "web page", "pointer"],
)
def test_what_is_no_zip_is_told_by_its_kind(data: bytes, sentence: str) -> None:
    with pytest.raises(Unreadable, match=rf"^hw\.zip {sentence}"):
        members(data)


def test_a_flipped_bit_is_damage() -> None:
    data = bytearray(zipped({"attention.py": bytes(range(256)) * 4}))
    data[80] ^= 0x40
    with pytest.raises(Unreadable, match="is a damaged zip"):
        members(bytes(data))


def test_a_list_of_members_that_is_too_long_is_not_looked_at() -> None:
    data = bytearray(named("attention.py"))
    data[-10:-6] = struct.pack("<L", 5 << 20)
    with pytest.raises(Unreadable, match="has 1 members: hand in only your own files"):
        members(bytes(data))


def test_the_later_of_two_members_of_one_name_is_kept_and_remembered() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("attention.py", "old")
        archive.writestr("attention.py", "new")
    collected = Collected("hw.zip")
    read_zip(buffer.getvalue(), "hw.zip", collected)
    assert (collected.files, collected.twice) == ({"attention.py": b"new"}, ["attention.py"])
