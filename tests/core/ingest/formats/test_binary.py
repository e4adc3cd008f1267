"""What is no text is named for what it is, with what to open in its place."""

import io
import json
import zipfile

import pytest

from core.errors import InputError
from core.ingest.formats.binary import what_is
from core.ingest.formats.detect import open_source

TABLE = ("answers.csv", b"case,rater,class\n1,ann,x\n1,bob,y\n")
ZERO = b"\x00" * 300


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"GIF89a", "a GIF image"),
        (b"RIFF\x00\x00\x00\x00WEBP", "a WebP image"),
        (b"II*\x00", "a TIFF image"),
        (b"\x00" * 128 + b"DICM", "a DICOM image"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"\x00\x00\x00\x18ftypmp42", "a video"),
        (b"RIFF\x00\x00\x00\x00WAVE", "a sound recording"),
    ],
)
def test_a_binary_file_is_named_with_a_remedy(content, what):
    with pytest.raises(InputError) as caught:
        open_source([("thing", content + ZERO)])
    assert caught.value.message.startswith(f"thing is {what}")
    assert caught.value.remedy


def test_words_inside_a_text_do_not_make_it_binary():
    for text in (
        b"id, ftyp,rater,class",
        b"caseid: WAVE,x",
        b"case,rater,class\n1,a,b",
        b"[1]",
        b"",
        b"x" * 128 + b"DICM",
    ):
        assert what_is(text) is None


@pytest.mark.parametrize(("inside", "what"), [("word/document.xml", "Word"), ("ppt/slides/1.xml", "PowerPoint")])
def test_documents_of_office_programs_are_no_archives_of_annotations(inside, what):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(inside, "<x/>")
    with pytest.raises(InputError, match=what):
        open_source([("thing", content.getvalue())])


def test_among_several_files_each_kind_that_cannot_be_read_is_one_note():
    scans = [(f"{number}.dcm", b"\x00" * 128 + b"DICM" + ZERO) for number in range(30)]
    source = open_source([TABLE, *scans, ("paper.pdf", b"%PDF-1.7")])
    assert source.notes == (
        "0.dcm and 29 other files: a DICOM image, left out.",
        "paper.pdf: a PDF document, left out.",
    )


def test_of_several_files_the_one_that_breaks_off_is_named_and_may_be_left_out():
    whole = json.dumps([{"id": 1, "data": {"text": "a"}, "annotations": []}]).encode()
    for cut in (whole[:-9], whole[:20] + b"?" + whole[21:]):
        with pytest.raises(InputError) as caught:
            open_source([("good.json", whole), ("cut.json", cut)])
        assert "cut.json" in caught.value.message
        assert caught.value.remedy.endswith("Or leave this file out.")
    with pytest.raises(InputError) as caught:
        open_source([("cut.json", whole[:-9])])
    assert "leave" not in caught.value.remedy
