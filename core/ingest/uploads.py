"""Functions that read uploaded files in a process of `core.runtime.workers`, where they cannot harm anything else."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..runtime.chunks import CancelToken
from .companion_files import SideFiles
from .formats.budget import MOST_COLUMNS, reading
from .formats.detect import open_source
from .formats.json_text import looks_like_json, open_json
from .formats.matrix import is_matrix, read_matrix
from .formats.records import read_records
from .formats.side_tables import SideKind, read_pictures, read_side_file
from .formats.source import Source
from .formats.tables import open_table
from .machine_answers import read_answers

_SAMPLE = b"case,rater,class\n1,a,x\n1,b,y\n"


def prepare() -> None:
    """Load what reading needs, so that the first file does not wait for it."""
    import openpyxl  # noqa: F401 - loaded for what follows
    import pandas  # noqa: F401

    open_source([("sample.csv", _SAMPLE)])


def open_files(
    paths: Sequence[str],
    names: Sequence[str],
    *,
    has_header: bool | None = None,
    format: str | None = None,
    most_columns: int = MOST_COLUMNS,
    token: CancelToken,
    progress: Callable[..., None],
) -> Source:
    """Open uploaded files; see `core.ingest.formats.detect.open_source`.

    Parameters
    ----------
    paths, names : sequence of str
        Path of each file, and its name.
    has_header, format, most_columns
        See `open_source`.
    token : CancelToken
        Cancel token; if it is set, the reading ends at its next report of progress.
    progress : callable
        Called with the share done, 0 to 1.
    """

    def tell(share: float) -> None:
        token.check()
        progress(share)

    files = _contents(paths, names)
    return open_source(files, has_header=has_header, format=format, most_columns=most_columns, progress=tell)


def open_side_file(paths: Sequence[str], names: Sequence[str], kind: SideKind | None, **_: Any) -> SideFiles:
    """Open an uploaded side file; see `core.ingest.formats.side_tables`.

    Parameters
    ----------
    paths, names : sequence of str
        Path and name of the file.
    kind : SideKind, optional
        Kind of side file; None for pictures.
    **_
        Ignored.
    """
    [(name, content)] = _contents(paths, names)
    return read_pictures(name, content) if kind is None else read_side_file(name, content, kind)


def try_predictions(paths: Sequence[str], names: Sequence[str], **_: Any) -> bool:
    """Read a file of predictions as `core.evaluation.predictions` does, to check that it stays within limits.

    Other errors in it are reported when it is matched to the data.

    Parameters
    ----------
    paths, names : sequence of str
        Path and name of the file.
    **_
        Ignored.
    """
    [(name, content)] = _contents(paths, names)
    with suppress(InputError), reading(len(content)):
        if is_matrix(content):
            read_matrix(name, content)
        elif looks_like_json(content):
            with suppress(InputError):
                return bool(read_records([open_json(name, content)]))
            read_answers(content, name)
        else:
            open_table(content)
    return True


def _contents(paths: Sequence[str], names: Sequence[str]) -> list[tuple[str, bytes]]:
    return [(name, Path(path).read_bytes()) for path, name in zip(paths, names, strict=True)]
