"""Images of cases at a size for the screen, made once."""

import io
import warnings
from pathlib import Path

import streamlit as st

from core.version import __version__

_WIDEST, _HIGHEST = 1440, 2400  # pixels


def prepared(source: bytes | Path) -> tuple[bytes | None, str]:
    """Return the bytes of an image, shrunk if it is larger than a screen; or None and why it cannot be shown."""
    if isinstance(source, bytes):
        return _of_bytes(source, __version__)
    try:
        found = source.stat()
    except OSError:
        return None, "the image no longer exists"
    return _of_file(str(source), found.st_mtime_ns, found.st_size, __version__)


@st.cache_data(max_entries=32, show_spinner=False)
def _of_file(path: str, changed: int, size: int, version: str) -> tuple[bytes | None, str]:
    return _shrunk(Path(path))


@st.cache_data(max_entries=32, show_spinner=False)
def _of_bytes(content: bytes, version: str) -> tuple[bytes | None, str]:
    return _shrunk(content)


def _shrunk(source: bytes | Path) -> tuple[bytes | None, str]:
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(source) if isinstance(source, bytes) else source) as image:
                fits = image.width <= _WIDEST and image.height <= _HIGHEST
                if fits and image.format != "WEBP":
                    image.load()  # a broken image is found here and not in the browser
                    return source if isinstance(source, bytes) else source.read_bytes(), ""
                return _smaller(ImageOps.exif_transpose(_drafted(image)), image.format == "JPEG"), ""
    except Image.DecompressionBombError:
        most = 2 * Image.MAX_IMAGE_PIXELS // 10**6
        return None, f"the image has more than {most} million pixels; use a smaller copy"
    except (OSError, ValueError, SyntaxError, OverflowError, MemoryError):
        return None, "the image is broken"


def _drafted(image):
    image.draft("RGB", (_WIDEST, _HIGHEST))  # JPEG only: decodes no more pixels than are needed
    return image


def _smaller(image, as_jpeg: bool) -> bytes:
    image.thumbnail((_WIDEST, _HIGHEST))
    content = io.BytesIO()
    if as_jpeg:
        image.convert("RGB").save(content, "JPEG", quality=90)
    else:
        (image.convert("RGBA") if image.mode in ("P", "LA", "PA") else image).save(content, "PNG")
    return content.getvalue()
