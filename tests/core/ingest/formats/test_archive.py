"""Zip archives: what is inside is read, what could do harm is refused."""

import io
import stat
import struct
import zipfile

import pytest

from core.errors import InputError
from core.ingest.formats.archive import unpack
from core.ingest.formats.detect import open_source
from tests.core.ingest.as_read import opened

TABLE = "case,rater,class\n1,ann,x\n1,bob,y\n"


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes | str]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return sink.getvalue()


def refusal(content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        open_source([("a.zip", content)])
    assert caught.value.remedy
    return caught.value.message


def test_a_table_in_an_archive_is_read_beside_what_systems_leave_there():
    content = zipped(
        ("data/", ""), ("data/answers.csv", TABLE), ("__MACOSX/data/._answers.csv", "x"), (".DS_Store", "x")
    )
    assert opened(("a.zip", content)).dataset.n_annotations == 2


def test_pictures_join_their_cases_and_notes_are_passed_over():
    content = zipped(
        ("answers.csv", TABLE), ("1.png", b"\x89PNG\r\n\x1a\n" + bytes(30)), ("readme.md", "# About\nwords")
    )
    reading = opened(("a.zip", content))
    notes = reading.report.notes
    assert list(reading.facts.images) == ["1"]
    assert "1 image of 1 case." in notes
    assert any("readme.md was left out" in note for note in notes)


@pytest.mark.parametrize("path", ["../answers.csv", "/etc/answers.csv", "a/../../b.csv", "C:/x.csv", "..\\x.csv"])
def test_a_path_that_leads_out_is_refused(path):
    assert "its path leads out of the archive" in refusal(zipped((path, TABLE)))


def test_a_link_is_refused():
    link = zipfile.ZipInfo("answers.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "is a link" in refusal(zipped((link, "/etc/passwd")))


def test_an_archive_in_an_archive_is_refused():
    assert "another archive" in refusal(zipped(("inner.zip", zipped(("answers.csv", TABLE)))))
    assert "another archive" in refusal(zipped(("inner.gz", b"\x1f\x8b" + bytes(20))))


def test_a_bomb_is_refused_before_it_is_unpacked():
    assert "times its size" in refusal(zipped(("answers.csv", bytes(50 << 20))))


def test_an_archive_over_the_limit_is_refused(monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_UPLOAD_MB", "1")
    assert "unpacks to 2 MB; the limit is 1 MB" in refusal(zipped(("answers.csv", TABLE * 65_536)))


def test_a_size_that_lies_is_found_out():
    content = bytearray(zipped(("answers.csv", TABLE * 1000)))
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 10)
    with pytest.raises(InputError, match=r"larger than its header states|Could not unpack"):
        unpack("a.zip", bytes(content))


def test_an_encrypted_file_is_refused():
    content = bytearray(zipped(("answers.csv", TABLE)))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + offset] |= 1
    assert "is encrypted" in refusal(bytes(content))


def test_a_broken_or_empty_archive_is_refused():
    content = zipped(("answers.csv", TABLE))
    assert "as a zip archive" in refusal(content[:-10])
    assert "the archive is empty" in refusal(zipped())
    middle = content.index(b"answers.csv") + 15
    broken = content[:middle] + b"\xff\xff\xff\xff" + content[middle + 4 :]
    assert "Could not unpack" in refusal(broken)


def test_too_many_files_are_refused():
    assert "10,001 files" in refusal(zipped(*((f"{n}.txt", "") for n in range(10_001))))
