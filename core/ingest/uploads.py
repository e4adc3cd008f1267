"""Functions that read uploaded files, for a process of `core.runtime.workers` in which they can harm nothing else."""

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
    most_columns: int = MOST_COLUMNS,
    token: CancelToken,
    progress: Callable[..., None],
) -> Source:
    """Open files that somebody uploaded; see `core.ingest.formats.detect.open_source`.

    Parameters
    ----------
    paths, names : sequence of str
        Where each file is, and what it was called.
    has_header, format, most_columns
        As of `open_source`.
    token : CancelToken
        Raised, the reading ends where it next says how far it is.
    progress : callable
        Told the share done, 0 to 1.
    """

    def tell(share: float) -> None:
        token.check()
        progress(share)

    files = _contents(paths, names)
    return open_source(files, has_header=has_header, format=format, most_columns=most_columns, progress=tell)


def open_side_file(paths: Sequence[str], names: Sequence[str], kind: SideKind | None, **_: Any) -> SideFiles:
    """Open a side file that somebody uploaded: see `core.ingest.formats.side_tables`.

    Parameters
    ----------
    paths, names : sequence of str
        Of the one file, on disk and as it was called.
    kind : SideKind, optional
        Pictures where there is none.
    **_
        Not used.
    """
    [(name, content)] = _contents(paths, names)
    return read_pictures(name, content) if kind is None else read_side_file(name, content, kind)


def try_predictions(paths: Sequence[str], names: Sequence[str], **_: Any) -> bool:
    """Read a file of predictions as `core.evaluation.predictions` does, to see that it takes no more than it may.

    What else is wrong with it is said where it is matched to the data.

    Parameters
    ----------
    paths, names : sequence of str
        Of the one file, on disk and as it was called.
    **_
        Not used.
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
