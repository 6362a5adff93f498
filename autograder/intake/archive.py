"""A zip -> the files in it that could matter, read in memory and within bounds.

Nothing is ever extracted to disk here, so no member's name decides where anything is written; archives that try are
refused all the same, since no honest program makes them. Other archive formats are recognised only to be named.
"""

from __future__ import annotations

import contextlib
import io
import re
import stat
import struct
import zipfile
import zlib
from pathlib import PurePosixPath

from autograder.errors import Unreadable
from autograder.intake.files import DEEPEST, LARGEST_OTHER, MEGABYTE, Collected, is_junk, is_plain_name

LARGEST_DIRECTORY = 4 * MEGABYTE
"""Of the list of members: some 40,000 names."""
HIGHEST_RATIO = 200
"""Of unpacked to packed size. Source code reaches 10, zeros 1,000."""
RATIO_FROM = 8 * MEGABYTE
READ_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
OTHER_METHODS = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz", 98: "PPMd"}
OTHER_FORMATS = (
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x1f\x8b", "a gzip archive (.tar.gz)"),
    (b"BZh91AY", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"%PDF", "a PDF"),
    (b"{\\rtf", "a document of a word processor"),
    (b"\x7fELF", "a compiled program"),
    *(
        (b"<" + tag, "a web page, perhaps the log-in page of the site it was downloaded from")
        for tag in (b"!DOCTYPE", b"html", b"head", b"body", b"meta", b"script", b"!--", b"?xml")
    ),
    (b"version https://git-lfs", "a Git LFS pointer (git lfs pull gets the file itself)"),
)
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    OSError,
    NotImplementedError,
)


def read_zip(data: bytes, shown: str, collected: Collected, prefix: str = "") -> None:
    """Read what matters in a zip into `collected`, under `prefix`. `shown` names the archive in sentences.

    Raises:
        Unreadable: damaged, encrypted, of another format, with paths that leave it, with links, or too large.
    """
    _refuse_other_formats(data, shown)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(member, _path_of(member, shown)) for member in archive.infolist()]
            _refuse_bomb([(member, path) for member, path in members if not is_junk(path)], shown)
            for member, path in members:
                if not path or member.is_dir() or is_junk(path):
                    continue
                if path.count("/") < DEEPEST and is_plain_name(path):
                    _read_member(archive, member, path, shown, collected, prefix)
    except DAMAGED as error:
        raise Unreadable(f"{shown} is a damaged zip ({error}): make it anew and hand it in again.") from error


def _read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str, shown: str, collected: Collected, prefix: str
) -> None:
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        kind = "a symbolic link" if stat.S_ISLNK(mode) else "a special file"
        raise Unreadable(f"{shown} holds {kind} ({path}), which is not followed: put the file itself into the zip.")
    if not collected.wants(prefix + path, member.file_size):
        return
    if member.flag_bits & 0x1:
        raise Unreadable(f"{shown} is protected by a password: hand it in without one.")
    if member.compress_type not in READ_METHODS:
        method = OTHER_METHODS.get(member.compress_type, f"method {member.compress_type}")
        raise Unreadable(f"{shown} is compressed by {method}, which is not read: make an ordinary zip (deflate).")
    with archive.open(member) as file:
        data = file.read(LARGEST_OTHER + 1)
    collected.add(prefix + path, data)


def _path_of(member: zipfile.ZipInfo, shown: str) -> str:
    """The member's path with `/`. Raises `Unreadable` for one that would lead out of the archive."""
    name = member.filename
    if not member.flag_bits & 0x800:  # not declared UTF-8: zipfile read it as cp437, macOS and others wrote UTF-8
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    name = name.replace("\\", "/")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in name.split("/"):
        raise Unreadable(
            f"{shown} holds {name!r}, a path that leads out of the archive: make an ordinary zip of your files."
        )
    return "/".join(piece for piece in name.split("/") if piece not in ("", "."))


def _refuse_other_formats(data: bytes, shown: str) -> None:
    """What is no zip, or one whose list of members is too long to be looked at, is said before zipfile reads it."""
    head = data[:64].lstrip(b"\xef\xbb\xbf \r\n\t")
    if not data:
        raise Unreadable(f"{shown} is an empty file: hand it in again.")
    for magic, what in OTHER_FORMATS:
        if head[: len(magic)].lower() == magic.lower():
            raise Unreadable(f"{shown} is {what}, not a zip: hand in a .zip, or the files themselves.")
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - 65_557))
    if end < 0 or len(data) < end + 22:
        cut = "was cut off" if data[:4] == b"PK\x03\x04" else "is not a zip"
        raise Unreadable(f"{shown} {cut}: make the zip anew and hand it in again.")
    members, size = struct.unpack_from("<HL", data, end + 10)
    if size > LARGEST_DIRECTORY:
        count = "more than 65,000" if members == 0xFFFF else f"{members:,}"
        raise Unreadable(f"{shown} has {count} members: hand in only your own files, without libraries.")


def _refuse_bomb(members: list[tuple[zipfile.ZipInfo, str]], shown: str) -> None:
    for member, path in members:
        ratio = member.file_size / max(member.compress_size, 1)
        if member.file_size > RATIO_FROM and ratio > HIGHEST_RATIO:
            size = f"{member.file_size / MEGABYTE:,.0f} MB out of {member.compress_size / 1024:,.0f} kB"
            raise Unreadable(f"{shown} is refused: {PurePosixPath(path).name} would unpack to {size}.")
