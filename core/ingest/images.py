"""Pictures of cases: in the folder of the settings, with the data, or at an address; never anywhere else."""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from ..settings import Settings
from ..text import shorten
from .case_facts import CaseFacts

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_OTHER = (".tif", ".tiff", ".dcm", ".bmp", ".svg", ".pdf", ".mp3", ".wav", ".ogg", ".flac", ".mp4")
MOST_PER_CASE = 12
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_EMBEDDED = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CaseImage:
    """Image of a case, or the reason why there is none.

    Attributes
    ----------
    source : bytes, Path, str or None
        Bytes, file, or remote address that the browser may load; None if it cannot be shown.
    address : str
        Address as in the data.
    reason : str
        Reason why it cannot be shown, in one line; empty if it can.
    """

    source: bytes | Path | str | None
    address: str = ""
    reason: str = ""


def is_picture(content: bytes) -> bool:
    """Return whether bytes start as PNG, JPEG, GIF or WebP do."""
    return content.startswith(_MAGIC) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP")


def is_embedded(text: str) -> bool:
    """Return whether a text is a whole picture, written as a ``data:`` address."""
    return _EMBEDDED.match(text) is not None


def path_parts(address: str) -> tuple[str, ...]:
    """Return folders and name of a path or address, without the host; nothing if it would lead upward.

    Label Studio keeps the path of a local file in ``?d=``.
    """
    path = address.strip().replace("\\", "/")
    if _SCHEME.match(path) or path.startswith("/data/local-files"):
        try:
            split = urlsplit(path)
        except ValueError:
            return ()
        path = unquote(parse_qs(split.query).get("d", [split.path])[0]).replace("\\", "/")
    parts = tuple(part for part in path.split("/") if part not in ("", ".") and not re.fullmatch("[A-Za-z]:", part))
    return () if ".." in parts or "\0" in path else parts


def pictures_of(facts: CaseFacts | None, case_id: str, settings: Settings) -> list[CaseImage]:
    """Return the pictures of a case in their order, at most `MOST_PER_CASE`.

    For each address: the picture that came with the data, the file in the folder of pictures whose path ends like the
    address, or the address itself if remote pictures are allowed. If no address matches, the files with the name of the
    case, or in a folder with its name.

    Parameters
    ----------
    facts : CaseFacts, optional
        Facts that came with the data.
    case_id : str
    settings : Settings
        Settings: folder of pictures, and whether remote ones are allowed.
    """
    own = dict(facts.images.get(case_id, {})) if facts is not None else {}
    wanted = facts.address.get(case_id, ()) if facts is not None else ()
    found = [_one(address, own.pop(address, None), settings) for address in wanted[:MOST_PER_CASE]]
    found += [CaseImage(content, name) for name, content in own.items()]
    if settings.images is not None and not any(picture.source is not None for picture in found):
        named = [CaseImage(path, path.name) for path in _named_after(case_id, settings.images)]
        found = named or found
    return found[:MOST_PER_CASE]


def _one(address: str, content: bytes | Path | None, settings: Settings) -> CaseImage:
    if content is not None:
        return CaseImage(content, address)
    if is_embedded(address):
        try:
            decoded = base64.b64decode(address.partition(",")[2], validate=True)
        except (binascii.Error, ValueError):
            decoded = b""
        short = shorten(address, 40)
        if not is_picture(decoded):
            return CaseImage(None, short, "the embedded image is broken")
        return CaseImage(decoded, short)
    if settings.images is not None and (path := _in_folder(address, settings.images)) is not None:
        return CaseImage(path, address)
    if address.casefold().endswith(_OTHER):
        return CaseImage(None, address, "only PNG, JPEG, GIF and WebP images are shown")
    scheme = _SCHEME.match(address.strip())
    if scheme is not None and scheme.group(1).casefold() in ("http", "https"):
        if settings.remote_images:
            return CaseImage(address.strip(), address)
        return CaseImage(None, address, "images from other computers are not loaded (PLURALITY_REMOTE_IMAGES is off)")
    if settings.images is None:
        return CaseImage(None, address, "no image folder is set (PLURALITY_IMAGES)")
    return CaseImage(None, address, "the image is not in the image folder")


def _in_folder(address: str, folder: Path) -> Path | None:
    """Return the file under the folder whose path ends like the address, with the longest match first."""
    parts = path_parts(address)
    for start in range(len(parts)):
        found = _inside(folder, "/".join(parts[start:]))
        if found is not None:
            return found
    return None


def _named_after(case_id: str, folder: Path) -> Iterator[Path]:
    if len(path_parts(case_id)) != 1 or set(case_id) & set("/\\:"):
        return
    single = [found for suffix in SUFFIXES if (found := _inside(folder, case_id + suffix)) is not None]
    if single:
        yield single[0]
        return
    try:
        names = sorted(path.name for path in (folder / case_id).iterdir())
    except (OSError, ValueError):
        return
    for name in names:
        if name.casefold().endswith(SUFFIXES) and (found := _inside(folder, f"{case_id}/{name}")) is not None:
            yield found


def _inside(folder: Path, relative: str) -> Path | None:
    """Return a picture in the folder; None if there is none, or if the path or a link leads out of the folder."""
    try:
        root = folder.resolve()
        path = (root / relative).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            return None
        with path.open("rb") as file:
            return path if is_picture(file.read(16)) else None
    except (OSError, ValueError, RuntimeError):  # a name that the system cannot have, a circle of links
        return None
