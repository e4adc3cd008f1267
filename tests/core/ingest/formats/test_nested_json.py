"""Differential diagnoses as nested lists, with names and risks of classes."""

import io
import json
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.ingest.formats.binary import what_is
from core.ingest.formats.detect import open_source
from core.ingest.formats.encoding import to_utf8
from core.ingest.read_files import read
from tests.core.ingest.as_read import answers, opened, reasons

LISTS = [[[[1]], [[2], [0, 1]]], [[[0]], []]]
NAMES, RISKS = ("names.txt", "Acne\nEczema, severe\nMole\n"), ("risks.txt", "0\n1\n2\n")


def test_blocks_are_ties_and_raters_have_no_name():
    reading = opened(("ddx.json", json.dumps(LISTS)), NAMES, RISKS)
    assert answers(reading.dataset) == [
        ("1", "answer 1", [["Eczema, severe"]]),
        ("1", "answer 2", [["Mole"], ["Acne", "Eczema, severe"]]),
        ("2", "answer 1", [["Acne"]]),
    ]
    assert not reading.dataset.raters_identified
    assert reading.dataset.class_risk.tolist() == [0, 1, 2]
    assert reasons(reading) == [(1, "case 2, rater 2: no answer to this question")]
    assert any("rater statistics are not available" in note for note in reading.report.notes)


def test_without_names_classes_are_their_numbers():
    reading = opened(("ddx.json", json.dumps(LISTS)))
    assert reading.dataset.classes == ("0", "1", "2")
    assert any(
        "Classes are numbered from 0. To see their names, also open the file with the class names." in note
        for note in reading.report.notes
    )


def test_a_number_without_a_name_is_refused():
    with pytest.raises(InputError, match="Could not name class 7: the names file has only"):
        opened(("ddx.json", "[[[[7]]]]"), NAMES)
    with pytest.raises(InputError, match="3 names and 2 risks"):
        opened(("ddx.json", json.dumps(LISTS)), NAMES, ("r.txt", "0\n1\n"))


def test_names_may_stand_in_the_lists():
    assert answers(opened(("a", '[[[["x"], ["y"]]], [[["y"]]]]')).dataset)[0][2] == [["x"], ["y"]]


BLOCKS = st.lists(st.integers(0, 5), min_size=1, max_size=5, unique=True).flatmap(
    lambda classes: st.lists(st.booleans(), min_size=len(classes), max_size=len(classes)).map(
        lambda ties: _blocks(classes, ties)
    )
)


def _blocks(classes, ties):
    blocks = [[classes[0]]]
    for name, tied in zip(classes[1:], ties[1:], strict=True):
        blocks[-1].append(name) if tied else blocks.append([name])
    return [sorted(block) for block in blocks]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(BLOCKS, min_size=1, max_size=3), min_size=1, max_size=5))
def test_what_is_written_reads_back(cases):
    assert open_source([("a", json.dumps(cases).encode())]).format == "nested-rankings"
    found = answers(opened(("a", json.dumps(cases))).dataset)
    assert [[[int(name) for name in block] for block in ranking] for *_, ranking in found] == [
        ranking for case in cases for ranking in case
    ]


# Binary: What is no text is named for what it is, with what to open in its place.


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
        "0.dcm was left out: it is a DICOM image. 29 other files of this kind were also left out.",
        "paper.pdf was left out: it is a PDF document.",
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


# Encoding: Bytes to text: marks, UTF-8, and guesses that are told.


TEXT = "case,rater,class\n" + "".join(
    f"{case},{rater},{answer}\n"
    for case in range(8)
    for rater, answer in (("Zoë", "Ekzem, schön"[:5]), ("José", "naïf"))
)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_a_byte_order_mark_settles_the_encoding(encoding):
    reading = read(("\ufeff" + TEXT).encode(encoding))
    assert reading.dataset.raters == ("José", "Zoë")
    assert reading.report.mapping.case == "case"
    assert any("UTF" in note for note in reading.report.notes) == (encoding != "utf-8")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_found_without_a_mark(encoding):
    reading = read(TEXT.encode(encoding))
    assert reading.dataset.raters == ("José", "Zoë")
    assert "The file is in UTF-16 without a byte order mark." in reading.report.notes


def test_a_cut_utf_16_file_names_the_line():
    with pytest.raises(InputError, match="text as utf-16-le") as caught:
        read(("\ufeff" + TEXT).encode("utf-16-le")[:-1])
    assert caught.value.line == 17


@pytest.mark.parametrize(
    "labels",
    [
        ("Ekzem, schön", "größer", "Übel"),
        ("naïve façade déjà", "œuvre créée à l’été", "c’était"),
        ("é", "x"),
        ("€", "“so”"),
        ("20°", "±5"),
        ("GRÖSSE", "ÄÖÜ", "señal", "coração"),
    ],
)
def test_windows_1252_keeps_its_accents_and_is_told(labels):
    rows = "".join(f'{case},Zoë,"{label}"\n' for case, label in enumerate(labels))
    reading = read(("case,rater,class\n" + rows).encode("cp1252"))
    assert set(reading.dataset.classes) == set(labels)
    assert reading.dataset.raters == ("Zoë",)
    assert any("read as cp1252" in note and "accented letters" in note for note in reading.report.notes)


def test_accents_deep_in_a_large_file_are_found():
    content = b"case,rater,class\n" + b"1,ann,x\n" * 100_000 + "2,Zoë,é\n".encode("cp1252")
    assert read(content).dataset.raters == ("Zoë", "ann")


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("cp1251", "экзема на коже"),
        ("cp1253", "έκζεμα στο δέρμα"),
        ("cp1250", "zażółć gęślą jaźń"),
        ("shift_jis", "田中太郎の湿疹です"),
        ("mac_roman", "naïve façade déjà"),
    ],
)
def test_other_encodings_are_not_taken_for_windows_1252(encoding, word):
    rows = "".join(f"{case},{word[:4]},{word}\n" for case in range(30))
    reading = read(("case,rater,class\n" + rows).encode(encoding))
    assert reading.dataset.classes == (word,)


@pytest.mark.parametrize("damage", [lambda text: text[:-1], lambda text: text.replace("naïf".encode(), b"na\xeff", 1)])
def test_a_damaged_letter_in_utf_8_names_its_line_and_garbles_nothing(damage):
    content = (TEXT + "9,Zoë,é").encode()
    with pytest.raises(InputError, match="damaged or incomplete") as caught:
        read(damage(content))
    assert caught.value.line in (3, 18)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(InputError, match="not UTF-8"):
        read(bytes(1 + (byte * 7919) % 255 for byte in range(4000)))


@pytest.mark.parametrize("odd_one_is_utf8", [True, False])
@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_lines_of_two_encodings_are_refused_with_a_line_of_each(place, odd_one_is_utf8):
    """Read either way some letters would be others, and nobody would see it."""
    lines = ["case,rater,class", "1,a,café", "1,b,naïve", "2,a,Überbein", "2,b,café"]
    one, other = ("utf-8", "latin-1") if odd_one_is_utf8 else ("latin-1", "utf-8")
    content = b"\n".join(line.encode(one if number == place else other) for number, line in enumerate(lines))
    with pytest.raises(InputError, match="has a different encoding") as caught:
        read(content)
    assert caught.value.line == (place + 1 if not odd_one_is_utf8 else 2 + (place == 1))


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp932", "症例,読影者,診断\n一,田中,良性\n二,鈴木,悪性\n"),
        ("gb18030", "病例,医生,诊断\n一,张三,良性\n二,李四,恶性\n"),
        ("cp949", "사례,평가자,진단\n하나,김,양성\n둘,이,악성\n"),
        ("koi8_r", "случай,врач,класс\nодин,Иван,да\nдва,Пётр,нет\n"),
    ],
)
def test_small_files_in_other_scripts_are_read_as_what_they_are(encoding, text):
    content, note = to_utf8(text.encode(encoding))
    assert content.decode() == text
    assert encoding in note


@pytest.mark.parametrize(
    ("encoding", "text"), [("big5", "病例,醫師,診斷\n一,張三,良性\n"), ("cp1251", "врач,да\nИван,нет\n")]
)
def test_what_cannot_be_told_is_never_taken_for_japanese(encoding, text):
    """Half-width katakana are single bytes of cp932, so that any bytes at all can be read as some."""
    try:
        content, _ = to_utf8(text.encode(encoding))
    except InputError:
        return
    assert not any("\uff61" <= letter <= "\uff9f" for letter in content.decode())
