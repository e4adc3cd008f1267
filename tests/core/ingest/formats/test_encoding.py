"""Bytes to text: marks, UTF-8, and guesses that are told."""

import pytest

from core.errors import InputError
from core.ingest.formats.encoding import to_utf8
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
    with pytest.raises(InputError, match="not UTF-8"):
        read(bytes(1 + (byte * 7919) % 255 for byte in range(4000)))


@pytest.mark.parametrize("odd_one_is_utf8", [True, False])
@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_lines_of_two_encodings_are_refused_with_a_line_of_each(place, odd_one_is_utf8):
    """Read either way some letters would be others, and nobody would see it."""
    lines = ["case,rater,class", "1,a,café", "1,b,naïve", "2,a,Überbein", "2,b,café"]
    one, other = ("utf-8", "latin-1") if odd_one_is_utf8 else ("latin-1", "utf-8")
    content = b"\n".join(line.encode(one if number == place else other) for number, line in enumerate(lines))
    with pytest.raises(InputError, match="has another encoding") as caught:
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
