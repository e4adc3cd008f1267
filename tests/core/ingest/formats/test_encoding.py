"""Bytes to text: marks, UTF-8, and guesses that are told."""

import pytest

from core.errors import InputError
from core.ingest.read_files import read

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
    with pytest.raises(InputError, match="not valid utf-16-le") as caught:
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
    assert any("read as cp1252" in note and "accents" in note for note in reading.report.notes)


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
    with pytest.raises(InputError, match="damaged or cut off") as caught:
        read(damage(content))
    assert caught.value.line in (3, 18)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(InputError, match="neither UTF-8"):
        read(bytes(1 + (byte * 7919) % 255 for byte in range(4000)))
