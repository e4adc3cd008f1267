"""Zip archives: the files inside, within limits; nothing is ever written to the disk."""

import io
import posixpath
import stat
import zipfile
import zlib

from ...errors import InputError
from ...settings import MEGABYTE, current_settings
from ...text import number, shorten
from .budget import reading, spend

GZIP = b"\x1f\x8b"
MAGIC = b"PK\x03\x04"
_EMPTY_MAGIC = b"PK\x05\x06"
_MOST_FILES = 10_000
_LARGEST_RATIO = 200
_SMALL = 20 * MEGABYTE  # below it a high ratio harms nobody
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!")
_REMEDY = "Unpack the file and open the files that contain annotations."


def is_archive(content: bytes) -> bool:
    """Return whether the bytes start as a zip archive does."""
    return content.startswith((MAGIC, _EMPTY_MAGIC))


def is_workbook(content: bytes) -> bool:
    """Return whether an archive is an Excel workbook."""
    if not content.startswith(MAGIC):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except (zipfile.BadZipFile, *_BROKEN):
        return False


def unpack(name: str, content: bytes, *, nested: bool = False) -> list[tuple[str, bytes]]:
    """Return name and bytes of every file in a zip archive; skip hidden files of operating systems.

    Parameters
    ----------
    name : str
        Name of the archive, for messages.
    content : bytes
    nested : bool
        True to allow archives inside, such as pictures in a workbook.

    Raises
    ------
    InputError
        The archive is broken or encrypted; has a path out of the archive, a link, an archive inside, or too many files;
        or is larger unpacked than the limit, or than 200 times its packed size.
    """
    with reading(len(content)):
        return _unpacked(name, content, nested)


def _unpacked(name: str, content: bytes, nested: bool) -> list[tuple[str, bytes]]:
    check_archive(name, content)
    limit = current_settings().max_upload_mb * MEGABYTE
    found, total = [], 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            base = posixpath.basename(entry.filename)
            if entry.is_dir() or base.startswith(".") or entry.filename.startswith("__MACOSX/"):
                continue
            data = _read(name, archive, entry, limit - total)
            total += len(data)
            try:
                path, data = unzipped(entry.filename, data)
            except InputError as error:
                shown = shorten(entry.filename)
                raise InputError(f"{name} contains another archive ({shown}). {error.message}", _REMEDY) from None
            if not nested and data.startswith(_ARCHIVES) and not is_workbook(data):
                raise InputError(
                    f"Could not open {name}: it contains another archive ({shorten(entry.filename)}).", _REMEDY
                )
            found.append((path, data))
    if not found:
        raise InputError(f"Could not open {name}: the archive is empty.", "Choose an archive with annotation files.")
    return found


def unzipped(name: str, content: bytes) -> tuple[str, bytes]:
    """Return a file packed by gzip unpacked, without ``.gz`` in its name; any other file unchanged.

    Raises
    ------
    InputError
        The file is broken, larger unpacked than the limit, or a file of R or an archive that is not a table.
    """
    if not content.startswith(GZIP):
        return name, content
    limit = current_settings().max_upload_mb * MEGABYTE
    limit = min(limit, max(_SMALL, _LARGEST_RATIO * len(content)))
    try:
        unpacker = zlib.decompressobj(wbits=31)
        data = unpacker.decompress(content, limit + 1)
    except zlib.error as error:
        raise InputError(f"Could not unpack {name}: {error}.", "Pack the file again, or export it again.") from None
    if len(data) > limit:
        raise InputError(
            f"Could not open {name}: it unpacks to more than {limit // MEGABYTE:,} MB, the limit for a file of this "
            "size.",
            _REMEDY,
        )
    if not unpacker.eof or unpacker.unused_data.strip(b"\x00"):
        raise InputError(
            f"Could not open {name}: the gzip file has more than one part or is incomplete.",
            "Unpack it, and open the unpacked file.",
        )
    spend(characters=len(data))
    if data[:2] in (b"X\n", b"A\n", b"B\n") or data.startswith(b"RD"):
        raise InputError(
            f"Could not open {name}: it is an R file (.rds or .RData).",
            "In R, save the table with write.csv, and open that file.",
        )
    if data[257:262] == b"ustar":
        raise InputError(
            f"Could not open {name}: it is a tar archive.",
            "Unpack it, and open the unpacked files or put them in a ZIP file.",
        )
    return name.removesuffix(".gz"), data


def check_archive(name: str, content: bytes) -> None:
    """Refuse an archive by its list of files, before anything is unpacked; see `unpack`."""
    limit = current_settings().max_upload_mb * MEGABYTE
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, *_BROKEN) as error:
        raise InputError(
            f"Could not read {name} as a zip archive: {error}.", "Pack the files again, or export them again."
        ) from None
    if len(entries) > _MOST_FILES:
        raise InputError(
            f"Could not open {name}: it has {len(entries):,} files; the limit is {_MOST_FILES:,}.", _REMEDY
        )
    for entry in entries:
        path = entry.filename.replace("\\", "/")
        shown = f"{shorten(entry.filename, 60)!r} in {name}"
        if path.startswith("/") or path[1:3] == ":/" or ".." in path.split("/"):
            raise InputError(f"Could not open {shown}: its path leads out of the archive.", _REMEDY)
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise InputError(f"Could not open {shown}: it is a link, not a file.", _REMEDY)
        if entry.flag_bits & 0x1:
            raise InputError(
                f"Could not open {shown}: it is encrypted.", "Unpack the archive with its password, and open the files."
            )
    size = sum(entry.file_size for entry in entries)
    if size > limit:
        raise InputError(
            f"Could not open {name}: it unpacks to {number(size / MEGABYTE, 0)} MB; the limit is "
            f"{limit // MEGABYTE:,} MB.",
            f"{_REMEDY} An administrator can raise PLURALITY_MAX_UPLOAD_MB.",
        )
    if size > _SMALL and size > _LARGEST_RATIO * len(content):
        raise InputError(
            f"Could not open {name}: it unpacks to {size // max(1, len(content)):,} times its size; the limit is "
            f"{_LARGEST_RATIO} times.",
            _REMEDY,
        )
    spend(characters=size)


def _read(name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, room: int) -> bytes:
    """Return the bytes of one file; do not trust the size in its header."""
    most = min(room, entry.file_size)
    try:
        with archive.open(entry) as file:
            data = file.read(most + 1)
    except (zipfile.BadZipFile, *_BROKEN) as error:
        raise InputError(
            f"Could not unpack {shorten(entry.filename, 60)!r} from {name}: {error}.",
            "Pack the files again, or export them again.",
        ) from None
    if len(data) > most:
        raise InputError(
            f"Could not open {name}: {shorten(entry.filename, 60)!r} is larger than its header states.", _REMEDY
        )
    return data


_BROKEN = (OSError, ValueError, RuntimeError, NotImplementedError, EOFError, LookupError, zlib.error, MemoryError)
