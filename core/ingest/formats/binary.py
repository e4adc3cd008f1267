"""Binary files: what they are, and what to open instead."""

import io
import zipfile

_AS_CSV = "Save or export the table as CSV, Excel (.xlsx) or Parquet, and open that file."
_PICTURE = "Images need an annotation table. Open both together, or put all files in one ZIP file."
_CONVERT = "Convert images to PNG or JPEG, and open them together with the annotation table."
_LISTEN = "Plurality does not play recordings. Open the annotation table instead."
_UNPACK = "Unpack the file and open its contents, or put them in a ZIP file."
# Position of the bytes, the bytes, kind of file, and what to do.
_KINDS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image", _PICTURE),
    (0, b"\xff\xd8\xff", "a JPEG image", _PICTURE),
    (0, b"GIF8", "a GIF image", _PICTURE),
    (8, b"WEBP", "a WebP image", _PICTURE),
    (0, b"II*\x00", "a TIFF image", _CONVERT),
    (0, b"MM\x00*", "a TIFF image", _CONVERT),
    (128, b"DICM", "a DICOM image", _CONVERT),
    (0, b"%PDF", "a PDF document", "Ask for the original CSV or Excel file, or export the table again."),
    (0, b"\xd0\xcf\x11\xe0", "an old Excel workbook, or one with a password", _AS_CSV),
    (0, b"\x1f\x8b", "a gzip archive", _UNPACK),
    (0, b"BZh", "a bzip2 archive", _UNPACK),
    (0, b"\xfd7zXZ", "an xz archive", _UNPACK),
    (0, b"7z\xbc\xaf", "a 7-Zip archive", _UNPACK),
    (0, b"Rar!", "a RAR archive", _UNPACK),
    (0, b"SQLite format 3\x00", "an SQLite database", _AS_CSV),
    (0, b"\x89HDF", "an HDF5 file", _AS_CSV),
    (0, b"\x93NUMPY", "a NumPy array", _AS_CSV),
    (0, b"\x80\x04\x95", "a Python pickle (not opened, because it can run code)", _AS_CSV),
    (0, b"$FL2", "an SPSS file", _AS_CSV),
    (0, b"FEA1", "a Feather version 1 file", "Save it as Feather version 2, Parquet or CSV."),
    (0, b"<stata_dta>", "a Stata file", _AS_CSV),
    (4, b"ftyp", "a video", _LISTEN),
    (8, b"WAVE", "a sound recording", _LISTEN),
    (0, b"ID3", "a sound recording", _LISTEN),
    (0, b"OggS", "a sound recording", _LISTEN),
    (0, b"fLaC", "a sound recording", _LISTEN),
)
_STATA = (b"q", b"r", b"s")  # versions 113 to 115 have no other mark
_DOCUMENTS = (
    ("word/", "a Word document"),
    ("ppt/", "a PowerPoint presentation"),
    ("content.xml", "an OpenDocument file"),
)


def what_is(content: bytes) -> tuple[str, str] | None:
    """Return what a binary file is and what to do with it; None if its first bytes do not show it."""
    if content[:1] in _STATA and content[1:4] in (b"\x01\x00\x01", b"\x02\x00\x01", b"\x01\x01\x00", b"\x02\x01\x00"):
        return "a Stata file", "In Stata, save the table with export delimited, and open that file."
    for start, magic, what, remedy in _KINDS:
        if content[start : start + len(magic)] == magic and (start == 0 or b"\x00" in content[:256]):
            return what, remedy
    return None


def what_document(content: bytes) -> tuple[str, str] | None:
    """Return the same for a zip archive that is an office document but not a workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except (OSError, ValueError, LookupError, RuntimeError, NotImplementedError, zipfile.BadZipFile):
        return None
    if "[Content_Types].xml" not in names and "META-INF/manifest.xml" not in names:
        return None
    for beginning, what in _DOCUMENTS:
        if any(name.startswith(beginning) for name in names):
            return what, _AS_CSV
    return None
