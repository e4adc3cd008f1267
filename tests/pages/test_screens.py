"""The comparison of screens itself: what it must see, and what it must not."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.kit.trusted_raters import duration
from tests.golden import screens
from tests.golden.make import machine

HERE, ELSEWHERE = f"machine: {machine()}", "machine: another"


def _page(y, frame, words):
    import streamlit as st

    st.title(words)
    st.metric("Agreement", "0.42", help="of pairs")
    st.plotly_chart(y)
    st.dataframe(frame)
    with st.popover("More"):
        st.checkbox("Hide names")


def shown(y=None, frame=None, words="12 of 40 cases stay uncertain"):
    figure = go.Figure(go.Bar(x=np.arange(60.0), y=np.linspace(0, 1, 60) if y is None else y, name="cases"))
    frame = (
        pd.DataFrame({"case": [f"c{i}" for i in range(50)], "certainty": np.arange(50) / 50})
        if frame is None
        else frame
    )
    return screens.shown(AppTest.from_function(_page, args=(figure, frame, words)).run())


def test_every_element_has_its_line():
    lines = shown()
    assert lines[0] == "title: 12 of 40 cases stay uncertain"
    assert lines[1] == "metric: Agreement · value 0.42 · delta"
    assert any(line.startswith("trace: ") and '"name": "cases"' in line for line in lines)
    assert "table: 50 rows" in lines
    assert any(line.startswith("  certainty: ") for line in lines)
    assert lines[-2:] == ["popover: More", "checkbox: Hide names · value False"]
    assert screens.differences([HERE, *lines], lines) == []


def _moved(place: int, by: float) -> np.ndarray:
    y = np.linspace(0, 1, 60)
    y[place] += by
    return y


def _exchanged() -> pd.DataFrame:
    frame = pd.DataFrame({"case": [f"c{i}" for i in range(50)], "certainty": np.arange(50) / 50})
    frame.loc[[30, 40], "case"] = frame.loc[[40, 30], "case"].to_numpy()
    return frame


@pytest.mark.parametrize(
    "changed",
    [
        {"y": _moved(41, 1e-3)},
        {"y": np.linspace(0, 1, 60)[::-1]},
        {"frame": _exchanged()},
        {"words": "12 of 40 cases are uncertain"},
        {"words": "13 of 40 cases stay uncertain"},
    ],
)
def test_a_number_a_name_or_a_word_that_has_changed_is_told(changed):
    lines = shown()
    told = screens.differences([HERE, *lines], shown(**changed))
    assert [line[0] for line in told] == ["-", "+"]
    assert told[0][2:] in lines


def test_rounding_is_no_change_and_a_line_more_is_one():
    lines = shown()
    assert screens.differences([HERE, *lines], shown(y=_moved(41, 1e-9))) == []
    assert screens.differences([HERE, *lines], [*lines, "caption: more"]) == ["+ caption: more"]
    assert screens.differences([HERE, *lines], lines[1:]) == [f"- {lines[0]}"]


def test_elsewhere_words_are_compared_and_drawn_numbers_are_not():
    lines = shown()
    assert screens.differences([ELSEWHERE, *lines], shown(words="13 of 40 cases stay uncertain")) == []
    assert screens.differences([ELSEWHERE, *lines], shown(y=_moved(41, 1e-3), frame=_exchanged())) == []
    assert screens.differences([ELSEWHERE, *lines], shown(words="12 of 40 cases are uncertain"))
    assert screens.differences([ELSEWHERE, *lines], shown(frame=_exchanged().rename(columns={"case": "id"})))
    assert screens.differences([ELSEWHERE, *lines], [line for line in lines if not line.startswith("trace: ")])


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
    assert path.read_text(encoding="utf-8").splitlines() == [HERE, "title: another"]


def test_every_file_has_its_data():
    from core.ingest.samples import SAMPLES
    from tests.pages.addresses import PAGES
    from tests.pages.test_pages import ODD_DATA

    files = set(screens.SCREENS.rglob("*.txt"))
    samples = {screens.file_of(sample.name, page) for sample in SAMPLES for page in PAGES}
    assert files == samples | {screens.file_of(name) for name in ODD_DATA}
    assert sum(path.stat().st_size for path in files) < 4_000_000
