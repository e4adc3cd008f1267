"""Bytes of a text file to UTF-8: byte order mark, UTF-8, else a guess that is told."""

import codecs

from core.errors import InputError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with byte order mark"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_SAMPLE = 32_768


def to_utf8(content: bytes) -> tuple[bytes, str | None]:
    """The content as UTF-8 bytes, and a note where it was something else.

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
        encoding = _utf16_without_mark(head)
        if encoding is None:
            raise InputError(
                "This is a binary file, not a table of text.", "Save it as CSV, TSV or Parquet and open that."
            )
        return _decoded(content, encoding).encode(), "The file is in UTF-16 without a byte order mark."
    try:
        return _checked(content), None
    except UnicodeDecodeError as error:
        encoding = _guess(content, error.start)
    return _decoded(content, encoding).encode(), (
        f"The file is not UTF-8; it was read as {encoding}. Look at letters with accents to see that this is right."
    )


def _checked(content: bytes) -> bytes:
    if not content.isascii():
        content.decode("utf-8")
    return content


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
    matches = from_bytes(sample)
    best = matches.best()
    if best is None or control > 0.02 * len(sample):
        raise InputError(
            "This is neither UTF-8 text nor any encoding that could be recognised.",
            "Save the file as UTF-8 and open that.",
        )
    # Most Western exports that are not UTF-8 come from Windows: among equally clean readings that one is likeliest.
    for match in matches:
        if match.encoding == "cp1252" and match.chaos <= best.chaos:
            return "cp1252"
    return best.encoding


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"The text is not valid {encoding} from byte {error.start:,} on.",
            "The file may be cut off; save it as UTF-8 and open that.",
            line=line,
        ) from None
