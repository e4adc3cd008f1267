"""The comparison of screens itself: what it must see, and what it must not."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.kit.trusted_raters import duration
from tests.golden import screens


def _page(y, frame, words):
    import streamlit as st

    st.title(words)
    st.metric("Agreement", "0.42", help="of pairs")
    st.plotly_chart(y)
    st.dataframe(frame)
    with st.popover("More"):
        st.checkbox("Hide names")


def shown(y=None, frame=None, words="12 of 40 cases stay uncertain", hover=None, ends=None):
    y = np.linspace(0, 1, 60) if y is None else y
    hover = [f"case {i}: {i / 60:.2f}" for i in range(60)] if hover is None else hover
    error = {"array": np.full(60, 0.1) if ends is None else ends}
    figure = go.Figure(go.Bar(x=np.arange(60.0), y=y, name="cases", hovertext=hover, error_y=error))
    frame = (
        pd.DataFrame({"case": [f"c{i}" for i in range(50)], "certainty": np.arange(50) / 50})
        if frame is None
        else frame
    )
    return screens.shown(AppTest.from_function(_page, args=(figure, frame, words), default_timeout=300).run())


def test_every_element_has_its_line():
    lines = shown()
    assert lines[0] == "title: 12 of 40 cases stay uncertain"
    assert lines[1] == "metric: Agreement · value 0.42 · delta"
    assert any(line.startswith("trace: ") and '"name": "cases"' in line for line in lines)
    assert "table: 50 rows" in lines
    assert any(line.startswith("  certainty: ") for line in lines)
    assert lines[-2:] == ["popover: More", "checkbox: Hide names · value False"]
    assert screens.differences(lines, lines) == []


def _moved(place: int, by: float) -> np.ndarray:
    y = np.linspace(0, 1, 60)
    y[place] += by
    return y


def _exchanged() -> pd.DataFrame:
    frame = pd.DataFrame({"case": [f"c{i}" for i in range(50)], "certainty": np.arange(50) / 50})
    frame.loc[[30, 40], "case"] = frame.loc[[40, 30], "case"].to_numpy()
    return frame


def _hover(place: int, words: str) -> list[str]:
    return [words if i == place else f"case {i}: {i / 60:.2f}" for i in range(60)]


@pytest.mark.parametrize(
    "changed",
    [
        {"hover": _hover(41, "case 41: 0.69")},
        {"hover": _hover(41, "case 41 is 0.68")},
        {"hover": _hover(41, "case 42: 0.68")},
        {"hover": [*_hover(41, "case 42: 0.70")[:42], "case 41: 0.68", *_hover(0, "")[43:]]},
        {"ends": np.where(np.arange(60) == 41, 0.1001, 0.1)},
        {"y": _moved(41, 1e-3)},
        {"y": np.linspace(0, 1, 60)[::-1]},
        {"frame": _exchanged()},
        {"words": "12 of 40 cases are uncertain"},
        {"words": "13 of 40 cases stay uncertain"},
    ],
)
def test_a_number_a_name_or_a_word_that_has_changed_is_told(changed):
    lines = shown()
    told = screens.differences(lines, shown(**changed))
    assert [line[0] for line in told] == ["-", "+"]
    assert told[0][2:] in lines


def test_rounding_is_no_change_and_a_line_more_is_one():
    lines = shown()
    assert screens.differences(lines, shown(y=_moved(41, 1e-9))) == []
    assert screens.differences(lines, [*lines, "caption: more"]) == ["+ caption: more"]
    assert screens.differences(lines, lines[1:]) == [f"- {lines[0]}"]


def test_how_long_a_machine_takes_is_no_change():
    lines = [shown(words=f"It takes {seconds} here") for seconds in map(duration, (1, 40, 200))]
    assert lines[0] == lines[1] == lines[2] and lines[0][0] == "title: It takes here"


def test_a_screen_is_written_only_where_it_has_changed(tmp_path):
    path, lines = tmp_path / "data" / "home.txt", shown()
    screens.record(path, lines)
    written = path.stat().st_mtime_ns
    screens.record(path, shown(y=_moved(41, 1e-9)))
    assert path.stat().st_mtime_ns == written
    screens.record(path, ["title: another"])
    assert path.read_text(encoding="utf-8").splitlines() == ["title: another"]


def test_every_file_has_its_data():
    from core.ingest.samples import SAMPLES
    from tests.odd_data import ODD_DATA
    from tests.pages.addresses import PAGES, UNRECORDED

    files = set(screens.SCREENS.rglob("*.txt"))
    samples = {
        screens.file_of(sample.name, page) for sample in SAMPLES for page in PAGES if sample.name not in UNRECORDED
    }
    assert files == samples | {screens.file_of(name) for name in ODD_DATA}
    assert sum(path.stat().st_size for path in files) < 4_500_000
