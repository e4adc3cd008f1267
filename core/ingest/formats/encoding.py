"""Bytes of a text file to UTF-8: byte order mark, UTF-8, else a guess with a note."""

import codecs
import re

from ...errors import InputError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with byte order mark"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_SAMPLE = 32_768
_IN_USE = (
    *(f"cp125{number}" for number in range(9)),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949", "koi8_r", "iso8859_2", "mac_roman", "cp850"),
)
_TWO_BYTES = frozenset({"cp932", "euc_jp", "gb18030", "big5", "cp949"})
# In words of Western languages Windows-1252 has these bytes and letters from 0xC0 on, and hardly any other high byte.
_INSIDE_WORDS = frozenset("Œœ’–—·\xad".encode("cp1252"))
_AROUND_WORDS = frozenset("€…‘“”„‚°«»¿¡®™".encode("cp1252"))
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")


def to_utf8(content: bytes) -> tuple[bytes, str | None]:
    """Return the content as UTF-8 bytes, and a note if it was in another encoding.

    Raises
    ------
    InputError
        The content is binary, or no encoding fits.
    """
    for mark, encoding, name in _MARKS:
        if content.startswith(mark):
            body = content[len(mark) :]
            if encoding == "utf-8":
                return _checked(body), None
            return _decoded(body, encoding).encode(), f"The file is in {name}."
    head = content[: 2 * _SAMPLE]
    if b"\x00" in head:
        unmarked = _utf16_without_mark(head)
        if unmarked is None:
            raise InputError(
                "Could not read the file: it is binary, not a text table.",
                "Save it as CSV, TSV or Parquet, and open that file.",
            )
        return _decoded(content, unmarked).encode(), "The file is in UTF-16 without a byte order mark."
    if (place := content.find(b"\x00")) >= 0:
        raise InputError(
            "Could not read the file: the text contains a NUL byte, as in a binary file.",
            "The file may be damaged. Save it again as CSV, TSV or Parquet.",
            line=content.count(b"\n", 0, place) + 1,
        )
    try:
        return _checked(content), None
    except UnicodeDecodeError as error:
        _refuse_damaged_utf8(content, error.start)
        _refuse_mixed(content, error.start)
        encoding = _guess(content, error.start)
    return _decoded(content, encoding).encode(), (
        f"The file is not UTF-8; it was read as {encoding}. Check that accented letters are correct."
    )


def _checked(content: bytes) -> bytes:
    if not content.isascii():
        content.decode("utf-8")
    return content


def _refuse_damaged_utf8(content: bytes, first_odd_byte: int) -> None:
    """Raise if hardly anything but a byte or two is not UTF-8, because another encoding would garble all the rest."""
    text = content[max(0, first_odd_byte - _SAMPLE) : first_odd_byte + _SAMPLE].decode(errors="replace")
    odd = text.count("\ufffd")
    if sum(not letter.isascii() for letter in text) - odd >= 4 * odd:
        raise InputError(
            "Could not read the file as UTF-8: a character on this line is damaged or incomplete.",
            "Save the file again as UTF-8 and open the new file.",
            line=content.count(b"\n", 0, first_odd_byte) + 1,
        )


def _refuse_mixed(content: bytes, first_odd_byte: int) -> None:
    """Raise if some lines are UTF-8 and others are in a single-byte Western encoding: some are garbled either way."""
    start = content.rfind(b"\n", 0, max(0, first_odd_byte - _SAMPLE)) + 1
    lines = content[start : first_odd_byte + _SAMPLE].splitlines(keepends=True)
    utf8, others = [], []
    for number, line in enumerate(lines, content.count(b"\n", 0, start) + 1):
        if line.isascii():
            continue
        try:
            utf8.append((number, line.decode()))
        except UnicodeDecodeError:
            others.append((number, line))
    western = all(letter < "\u0250" or letter in "€…‘’“”„‚–—" for _, line in utf8 for letter in line)
    if utf8 and western and _looks_western(b"".join(line for _, line in others)):
        raise InputError(
            f"Could not read the file: line {utf8[0][0]:,} is UTF-8, but line {others[0][0]:,} has a different "
            "encoding.",
            "Two files may have been joined. Save the whole file as UTF-8, and open the new file.",
            line=others[0][0],
        )


def _utf16_without_mark(head: bytes) -> str | None:
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = max(1, len(head) // 2)
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _guess(content: bytes, first_odd_byte: int) -> str:
    from charset_normalizer import from_bytes

    start = content.rfind(b"\n", 0, max(0, first_odd_byte - _SAMPLE // 2)) + 1
    sample = content[start : first_odd_byte + _SAMPLE]
    control = sum(byte < 9 or 13 < byte < 32 for byte in sample)
    # Detectors mistake short Western text for Baltic or old DOS text, as most letters have the same codes there.
    if control <= 0.02 * len(sample) and _looks_western(sample):
        return "cp1252"
    best = from_bytes(sample, cp_isolation=list(_IN_USE), threshold=0.5).best()
    if best is not None and best.encoding in _TWO_BYTES and not _looks_east_asian(sample, best.encoding):
        one_byte = [name for name in _IN_USE if name not in _TWO_BYTES]
        best = from_bytes(sample, cp_isolation=one_byte, threshold=0.5).best()
    if best is None or control > 0.02 * len(sample):
        raise InputError(
            "Could not read the file: it is not UTF-8, and its encoding was not recognised.",
            "Save the file as UTF-8 and open the new file.",
        )
    return best.encoding


def _looks_east_asian(sample: bytes, encoding: str) -> bool:
    """Return whether two bytes make a letter of such a text, unlike single odd letters in Western words.

    Half-width katakana are the single high bytes of cp932, and no text consists mostly of them.
    """
    letters = [letter for letter in sample.decode(encoding, "replace") if not letter.isascii()]
    wide = [letter for letter in letters if "\u2e80" <= letter <= "\uff60" or letter >= "\U00020000"]
    return len(wide) >= 4 and 5 * len(wide) >= 4 * len(letters)


def _looks_western(sample: bytes) -> bool:
    """Return whether there are accents in words of ASCII letters, at the codes that Windows-1252 assigns to letters."""
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    high = foreign = inside = odd = 0
    for run in _HIGH_RUN.finditer(sample):
        before, after = sample[run.start() - 1 : run.start()].isalpha(), sample[run.end() : run.end() + 1].isalpha()
        length = run.end() - run.start()
        high += length
        foreign += length if length > 2 or (length == 2 and not before and not after) else 0
        if length > 1 or (before and after):
            usual = _INSIDE_WORDS if before and after else _INSIDE_WORDS | _AROUND_WORDS
            inside += length
            odd += sum(byte < 0xC0 and byte not in usual for byte in run.group())
    return foreign < 0.5 * high and odd <= 0.1 * inside


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"Could not read the text as {encoding} from byte {error.start:,} onwards.",
            "The file may be incomplete. Save it as UTF-8, and open the new file.",
            line=line,
        ) from None
