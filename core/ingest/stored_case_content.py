"""Facts on cases in the folder of a saved dataset: a table of texts and addresses, and the images as files."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from ..runtime.files import draft_name, put_in_place
from .case_facts import CaseFacts

_FOLDER, _TABLE, _INDEX = "facts", "cases.parquet", "images.json"


def write(facts: CaseFacts, folder: Path) -> None:
    """Write the facts into the folder, whole or not at all, in place of earlier ones."""
    draft = folder / draft_name("writing")
    draft.mkdir()
    try:
        cases = list(dict.fromkeys((*facts.text, *facts.address)))
        columns = {
            "case": pa.array(cases, pa.string()),
            "text": pa.array([facts.text.get(case) for case in cases], pa.string()),
            "address": pa.array([facts.address.get(case, ()) for case in cases], pa.list_(pa.string())),
        }
        parquet.write_table(pa.table(columns), draft / _TABLE)
        written: dict[object, str] = {}
        index: dict[str, dict[str, str]] = {}
        for case, images in facts.images.items():
            for address, image in images.items():
                name = written.setdefault(image if isinstance(image, Path) else id(image), f"{len(written):06d}")
                path = draft / name
                if not path.exists():
                    _copy(image, path)
                if path.exists():
                    index.setdefault(case, {})[address] = name
        (draft / _INDEX).write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
        if (folder / _FOLDER).exists():
            shutil.rmtree(folder / _FOLDER)
        put_in_place(draft, folder / _FOLDER)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _copy(image: bytes | Path, path: Path) -> None:
    if isinstance(image, bytes):
        path.write_bytes(image)
    elif image.exists():  # an image of a dataset that was forgotten meanwhile is gone
        shutil.copyfile(image, path)


def read(folder: Path) -> CaseFacts | None:
    """Return the facts in the folder, images as files; None if there are none or they are damaged."""
    place = folder / _FOLDER
    try:
        table = parquet.read_table(place / _TABLE)
        index = json.loads((place / _INDEX).read_text(encoding="utf-8"))
        cases = table["case"].to_pylist()
        text = {case: words for case, words in zip(cases, table["text"].to_pylist(), strict=True) if words}
        address = {case: tuple(found) for case, found in zip(cases, table["address"].to_pylist(), strict=True) if found}
        images: dict[str, dict[str, bytes | Path]] = {
            case: {named: place / Path(file).name for named, file in files.items()} for case, files in index.items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError, pa.ArrowException):
        return None
    return CaseFacts(text, address, images)
