"""What a page says and draws, as lines of text that stand beside the golden numbers: a changed screen is a decision.

Every element of a page is a line in its order: its kind, its label, its words; of a table the columns, the first rows
and a sum over all of each column; of a figure its traces and its layout without what all have in common. Of a long list
stand its first entries, a number made of its words, and two sums over the numbers in it, those within words included:
the plain one and one with weights that moves when two of them change places. All of it is compared on every processor:
words and whole numbers are the same, other numbers up to rounding.

To record screens anew after a decision: ``pytest tests/pages/test_pages.py --record-screens``.
"""

import base64
import difflib
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from plotly.graph_objects import Figure

from core.analyses.blocks import Figure as Block
from core.figures.theme import LIGHT, figure_of

SCREENS = Path(__file__).parent / "screens"
_N_ROWS, _N_FIRST, _MOST_WORDS = 3, 3, 400
_NEAR = 1e-6  # of a number, or of one: beyond what is shown of it
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+(?:\\?\.\d*)?|\\?\.\d+)(?:e[-+]?\d+)?")  # also as markdown escapes it
_COLOUR = re.compile(r"#(?=[0-9a-fA-F]{6}\b)")  # in which the digits are no numbers
_COMMON = figure_of(LIGHT).to_dict()["layout"]["template"]
_OF_THE_MACHINE = ("<script", "<style", "Plurality ")  # what the Settings page says for an enquiry
# How long a machine takes, and the day of today.
_TIME = re.compile(r"a few seconds|about \d+ (second|minute)s?|(?<=\bsaved )\d{4}-\d\d-\d\d")
_VERSION = re.compile(r'"version": "[^"]*",?')  # a release changes no screen
_RELEASE = re.compile(r"(?<=Plurality )\d+\.\d+\.\d+")
_FIRST_RELEASE = "0.1.0"  # which the screens name
# Elements that hold others, and those whose words are their value.
_WORDS = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "error", "success", "code", "html")


def shown(app: Any) -> list[str]:
    """The lines of a page from its title on; what stands above is of the frame, which a test draws at times only.

    Parameters
    ----------
    app : AppTest
        After a run.
    """
    lines = list(_lines(app.main))
    return lines[next(place for place, line in enumerate(lines) if line.startswith("title: ")) :]


def file_of(data: str, page: str | None = None) -> Path:
    """Where the screens of a dataset are kept, or of one of its pages."""
    name = re.sub("[^a-z0-9]+", "-", data.casefold())
    return SCREENS / f"{name}.txt" if page is None else SCREENS / name / f"{page}.txt"


def record(path: Path, lines: list[str]) -> None:
    """Keep these lines; nothing is written where nothing has changed."""
    if path.exists() and not differences(path.read_text(encoding="utf-8").splitlines(), lines):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def digest_of(shown: list[Any]) -> str:
    """Blocks or figures on one line: a number made of all words, colours among them, and two sums over all numbers."""
    words = _words(json.dumps([_told(one) for one in shown], ensure_ascii=False, sort_keys=True))
    return json.dumps(_digest(_COLOUR.sub("#c", words)))


def _told(value: Any) -> Any:
    """What a block shows as JSON has it; the blocks that it holds are told by themselves, and who is meant is not."""
    if isinstance(value, Block):
        return [value.alt, value.key, _told(value.draw(LIGHT))]
    if isinstance(value, Figure):
        drawn = json.loads(value.to_json())
        layout = {key: part for key, part in drawn["layout"].items() if key != "datarevision"}
        return {"data": drawn["data"], "layout": _own_layout(layout)}
    if isinstance(value, pd.DataFrame):
        names = list(value.columns.drop("seconds", errors="ignore"))  # which a fit took
        return [names, *([_plain(cell) for cell in value[name].tolist()] for name in names)]
    if is_dataclass(value) and type(value).__module__.startswith("core.analyses."):
        names = [one.name for one in fields(value) if one.name not in ("blocks", "stacks", "grid")]
        return [type(value).__name__, *(_told(getattr(value, name)) for name in names)]
    if isinstance(value, list | tuple):
        return [_told(one) for one in value]
    if isinstance(value, dict):
        return {key: _told(one) for key, one in value.items()}
    return _plain(value) if isinstance(value, str | int | float) else type(value).__name__


def assert_recorded(request: Any, file: str, name: str, lines: list[str]) -> None:
    """Compare lines with those that a file of JSON has for a name; ``--record-screens`` writes them there first."""
    path = SCREENS.parent / f"{file}.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if request.config.getoption("record_screens") and differences(known.get(name, []), lines):
        known[name] = lines
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(known, ensure_ascii=False, indent=0, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")
    assert differences(known.get(name, []), lines) == []


def words_of(path: Path) -> str:
    """The words of a golden screen as people read them: without escapes and marks of markdown.

    Parameters
    ----------
    path : Path
        As `file_of` gives it.
    """
    text = path.read_text(encoding="utf-8")
    text = re.sub(r":material/\w+: ?|\*\*", "", text)
    return re.sub(r"\\(\W)", r"\1", text)


def differences(recorded: list[str], found: list[str]) -> list[str]:
    """What differs, line by line.

    Parameters
    ----------
    recorded : list of str
        As a file holds them.
    found : list of str
    """
    words = [[_NUMBER.sub("#", line) for line in lines] for lines in (recorded, found)]
    told: list[str] = []
    for kind, start, stop, first_new, last_new in difflib.SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        old, new = recorded[start:stop], found[first_new:last_new]
        if kind == "equal":
            told += [line for a, b in zip(old, new, strict=True) if not _alike(a, b) for line in (f"- {a}", f"+ {b}")]
        else:
            told += [*(f"- {line}" for line in old), *(f"+ {line}" for line in new)]
    return told


def _alike(old: str, new: str) -> bool:
    """Whether two lines of the same words have the same numbers."""
    return old == new or all(
        a == b or _near(a, b) for a, b in zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    )


def _near(old: str, new: str) -> bool:
    """Whether two numbers differ by rounding; counts and sums of words do not round."""
    if old.lstrip("-").isdigit() and new.lstrip("-").isdigit():
        return False
    a, b = (float(one.replace("\\", "")) for one in (old, new))
    return abs(a - b) <= _NEAR * max(1.0, abs(a))


def _lines(block: Any) -> Iterator[str]:
    for element in block.children.values():
        kind = element.type
        if kind in ("html", "code") and str(element.value).lstrip().startswith(_OF_THE_MACHINE):
            continue
        if kind == "plotly_chart":
            figure = json.loads(element.proto.spec)
            yield from _figure(figure) if figure["data"] else ()  # one is there only to load what draws
        elif kind == "arrow_data_frame" or kind in ("dataframe", "table"):
            yield from _table(element)
        elif kind in _WORDS:
            yield f"{kind}: {_short(_words(str(element.value)))}"
        elif not hasattr(element, "children") and getattr(element, "key", None) != "drawn_in_theme":
            yield f"{kind}: {_short(_widget(element))}"
        elif kind in ("tab", "expander", "popover", "status", "dialog"):
            yield f"{kind}: {element.label if hasattr(element, 'label') else element.proto.popover.label}"
        if hasattr(element, "children"):
            yield from _lines(element)


def _words(text: str) -> str:
    """A text without what differs between machines, days and releases."""
    return _TIME.sub("", _VERSION.sub("", _RELEASE.sub(_FIRST_RELEASE, text)))


def _widget(element: Any) -> str:
    """Its label and what is chosen; where there is a choice, among what."""
    parts = [str(getattr(element, "label", "") or getattr(element.proto, "label", ""))]
    for name in ("value", "delta", "options", "min", "max"):
        value = getattr(element, name, None)
        if value is not None and not (element.type in ("button", "download_button") and name == "value"):
            parts.append(f"{name} {value}")
    if getattr(element, "disabled", False) or getattr(element.proto, "disabled", False):
        parts.append("disabled")
    return " · ".join(parts)


def _short(words: str) -> str:
    """On one line; of very long ones the beginning and a sum of all."""
    line = " ".join(words.split())
    if len(line) <= _MOST_WORDS:
        return line
    return f"{line[:_MOST_WORDS]} … {len(line)} characters, {json.dumps(_digest(line))}"


def _digest(words: str) -> dict[str, Any]:
    """A number that other words have not, and sums of the numbers among them, which may be rounded otherwise."""
    numbers = [float(found.replace("\\", "")) for found in _NUMBER.findall(words)]
    return {"of": zlib.crc32(_NUMBER.sub("#", words).encode()), **(_sums(numbers) if numbers else {})}


def _sums(numbers: list[float]) -> dict[str, float | None]:
    """The sum of numbers, and one with the weights cos 1, cos 2, ...; NaN count as nothing."""
    found = np.array(numbers, float)
    waves = found * np.cos(np.arange(1, len(found) + 1))
    return {"sum": _six(float(np.nansum(found))), "wave": _six(float(np.nansum(waves)))}


def _table(element: Any) -> Iterator[str]:
    frame = element.value
    if not isinstance(frame, pd.DataFrame):  # with a style
        frame = frame.data
    said = json.loads(getattr(element.proto, "columns", "") or "{}")
    yield f"table: {len(frame)} rows"
    for name in frame.columns.drop("seconds", errors="ignore"):
        label = said.get(name, {}).get("label") or name
        hidden = " (hidden)" if said.get(name, {}).get("hidden") else ""
        cells = [_plain(cell) for cell in frame[name].tolist()]
        yield f"  {label}{hidden}: {json.dumps(_summed(cells), ensure_ascii=False)}"


def _plain(cell: Any) -> Any:
    """A cell as JSON has it; a picture as its words."""
    if isinstance(cell, str):
        if cell.startswith("data:image") and ";base64," in cell:
            return base64.b64decode(cell.split(";base64,", 1)[1]).decode("utf-8", "replace")
        return cell
    if isinstance(cell, list | tuple | np.ndarray):
        return [_plain(entry) for entry in cell]
    if cell is None or cell is pd.NaT or (isinstance(cell, float) and not np.isfinite(cell)):
        return None
    return cell if isinstance(cell, bool | int | float) else str(cell)


def _figure(figure: dict[str, Any]) -> Iterator[str]:
    """Its traces and its layout, without what all figures have in common."""
    layout = {key: value for key, value in figure["layout"].items() if key != "datarevision"}
    kinds = _COMMON["data"]
    for trace in figure["data"]:
        own = _without(trace, kinds[trace["type"]][0] | {"type": None}) if trace["type"] in kinds else trace
        yield f"trace: {json.dumps(_summed(own), ensure_ascii=False, sort_keys=True)}"
    yield f"layout: {json.dumps(_summed(_own_layout(layout)), ensure_ascii=False, sort_keys=True)}"


def _own_layout(layout: dict[str, Any]) -> dict[str, Any]:
    common = _COMMON["layout"]
    axes = {name: common[name[:5]] for name in layout if name.startswith(("xaxis", "yaxis"))}
    return {name: own for name, own in _without(layout, common | axes).items() if own != {} or name not in axes}


def _without(own: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value in own.items():
        if isinstance(value, dict) and isinstance(common.get(name), dict):
            if rest := _without(value, common[name]):
                found[name] = rest
        elif name not in common or value != common[name]:
            found[name] = value
    return found


def _summed(value: Any) -> Any:
    """The same with long lists summed up, arrays of plotly read, and numbers of six digits."""
    if isinstance(value, dict) and {"bdata", "dtype"} <= set(value):
        numbers = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        return _summed(numbers.astype(float).tolist())
    if isinstance(value, dict):
        return {key: _summed(entry) for key, entry in value.items()}
    if isinstance(value, list) and len(value) > _N_ROWS:
        if all(isinstance(entry, int | float | None) and not isinstance(entry, bool) for entry in value):
            numbers = [np.nan if entry is None else entry for entry in value]
            return {"n": len(value), **_sums(numbers), "first": _summed(value[:_N_FIRST])}
        if any(isinstance(entry, dict) for entry in value):
            return [_summed(entry) for entry in value]
        rounded = _rounded(value)
        words = json.dumps(rounded, ensure_ascii=False)
        return {"n": len(value), **_digest(words), "first": rounded[:_N_FIRST]}
    if isinstance(value, list):
        return [_summed(entry) for entry in value]
    return _six(value) if isinstance(value, float) else value


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return _six(value) if isinstance(value, float) else value


def _six(number: float) -> float | None:
    if not np.isfinite(number):
        return None
    return float(f"{round(number, 9):.7g}")
