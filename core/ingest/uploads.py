"""Functions that read uploaded files, for a process of `core.workers` in which they can harm nothing else."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..chunks import CancelToken
from .companion_files import SideFiles
from .formats.detect import open_source
from .formats.side_tables import SideKind, read_pictures, read_side_file
from .formats.source import Source

_SAMPLE = b"case,rater,class\n1,a,x\n1,b,y\n"


def prepare() -> None:
    """Load what reading takes, so that the first file does not wait for it."""
    import openpyxl  # noqa: F401 - loaded for what follows
    import pandas  # noqa: F401

    open_source([("sample.csv", _SAMPLE)])


def open_files(
    paths: Sequence[str],
    names: Sequence[str],
    *,
    has_header: bool | None = None,
    format: str | None = None,
    token: CancelToken,
    progress: Callable[..., None],
) -> Source:
    """Open files that somebody uploaded; see `core.ingest.formats.detect.open_source`.

    Parameters
    ----------
    paths, names : sequence of str
        Where each file is, and what it was called.
    has_header, format
        As of `open_source`.
    token : CancelToken
        Raised, the reading ends where it next says how far it is.
    progress : callable
        Told the share done, 0 to 1.
    """

    def tell(share: float) -> None:
        token.check()
        progress(share)

    return open_source(_contents(paths, names), has_header=has_header, format=format, progress=tell)


def open_side_file(paths: Sequence[str], names: Sequence[str], kind: SideKind | None, **_: Any) -> SideFiles:
    """Open a side file that somebody uploaded: see `core.ingest.formats.side_tables`; pictures without a ``kind``."""
    [(name, content)] = _contents(paths, names)
    return read_pictures(name, content) if kind is None else read_side_file(name, content, kind)


def _contents(paths: Sequence[str], names: Sequence[str]) -> list[tuple[str, bytes]]:
    return [(name, Path(path).read_bytes()) for path, name in zip(paths, names, strict=True)]
