"""A rater has one accuracy: figure, flags, Home and card say the same number as the table."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core.analyses.raters import RATERS
from core.extremes import clearly_least
from core.figures.home import MOST_LINES
from core.figures.theme import LIGHT
from core.ingest.samples import load_sample
from core.library import keep
from core.raters.accuracy_threshold import judge_accuracy
from core.raters.monitoring import monitor
from core.text import number
from tests.core.raters.raters_simulated import simulated
from tests.pages.opened import opened, settle, words


def with_gold():
    """Six raters who agree on mistakes, so that the model and gold judge them unlike; gold of 60 cases of 150."""
    spread = np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    data, truth = simulated(5, [0.9, 0.85, 0.8, 0.75, 0.6, 0.35], 150, 4, 3, times=False, spread=spread)
    return replace(data, gold=np.where(np.arange(150) < 60, truth, -1).astype(np.int32))


@pytest.fixture(scope="module", params=["skin", "gold"])
def said(request, tmp_path_factory, known_results):
    """The dataset, what the library finds, and the page."""
    patch = pytest.MonkeyPatch()
    patch.setenv("PLURALITY_HOME", str(own := tmp_path_factory.mktemp("home")))
    known_results(own)
    patch.setenv("PLURALITY_UNASKED_CASES", "100")
    dataset = load_sample("skin") if request.param == "skin" else with_gold()
    if request.param == "gold":
        keep(dataset)
    address = "skin" if request.param == "skin" else dataset.digest
    found = RATERS.part("raters").answer(dataset.as_classes()[0]).act
    yield dataset, found, opened("raters", address)
    patch.undo()


def columns(found) -> np.ndarray:
    """Accuracy with its ends, by rater."""
    rates = found.acceptable.accuracy
    return np.column_stack([rates.value, rates.low, rates.high])


def drawn(page, title: str) -> dict[str, tuple[float, float, float]]:
    """Points of a figure of raters on a page with the ends of their intervals, by the name on its axis."""
    specs = [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]
    (spec,) = [one for one in specs if title in json.dumps(one["layout"])]
    return points_of(spec)


def points_of(spec: dict) -> dict[str, tuple[float, float, float]]:
    """Points of a figure with the ends of their intervals, by the name on its axis."""
    axis = spec["layout"]["yaxis"]
    names = dict(zip(axis["tickvals"], axis["ticktext"], strict=True))
    points = {}
    for trace in spec["data"]:
        x, error = trace["x"], trace["error_x"]
        columns = zip(trace["y"], x, error["arrayminus"], error["array"], strict=True)
        points |= {names[y]: (value, value - low, value + high) for y, value, low, high in columns}
    return points


def test_the_figure_of_raters_draws_it(said):
    dataset, found, page = said
    expected = dict(zip(found.raters, columns(found), strict=True))
    part, view = RATERS.part("raters"), dataset.as_classes()[0]
    (figure,) = [block for block in part.blocks(part.answer(view), view) if getattr(block, "key", "") == "pool"]
    points = points_of(json.loads(figure.draw(LIGHT).to_json(engine="json")))
    assert points.keys() == expected.keys()
    for rater, point in points.items():
        np.testing.assert_allclose(point, expected[rater], rtol=1e-9)
    accuracy = found.acceptable.accuracy
    least = clearly_least(accuracy.value, accuracy.low, accuracy.high)
    said = "Accuracy of each rater" if found.against() else "No rater is clearly the least accurate"
    if least is not None:
        said = f"Least accurate: {found.raters[least]}, {found.acceptable.said(least)}"
    assert said in [heading.value.replace("\\", "") for heading in page.subheader]


def test_home_draws_it_for_the_raters_that_it_shows(said, home, known_results):
    dataset, found, *_ = said
    known_results(home)
    page = opened("home", "skin" if dataset.gold is None else dataset.digest)
    expected = dict(zip(found.raters, columns(found), strict=True))
    points = drawn(page, '"accuracy"')
    assert points.keys() <= expected.keys() and len(points) == min(len(expected), MOST_LINES)
    for rater, point in points.items():
        np.testing.assert_allclose(point, expected[rater], rtol=1e-9)


def test_flags_the_tab_and_the_card_of_one_rater_say_it(said):
    _, found, page = said
    for flag in found.flags:
        if flag.rule == "low":
            assert f"Accuracy {found.acceptable.said(flag.rater)}, " in flag.words
            assert flag.words in words(page)
    page.session_state["rater_tabs"] = "One rater"
    page = settle(page.run())
    rater = found.raters.index(next(box for box in page.selectbox if box.label == "Rater").value)
    from core.raters.report_card import report_card
    from core.report.rater_card import rater_report

    table = monitor(said[0].as_classes()[0])
    card = report_card(table, found, found.raters[rater])
    np.testing.assert_allclose(card.accuracy, columns(found)[rater])
    assert found.acceptable.said(rater) in rater_report(card, "made").decode()


def test_gold_judges_where_the_median_rater_has_twenty_gold_annotations():
    """And its accuracies are not those of the model, so that equality above says something."""
    data = with_gold()
    panel = monitor(data).panel
    by_gold, by_model = judge_accuracy(panel), judge_accuracy(panel, judged_by="model")
    assert (by_gold.judged_by, bool(by_gold.by_gold.all())) == ("gold", True)
    assert np.abs(by_gold.accuracy.value - by_model.accuracy.value).max() > 0.02
    assert number(float(by_gold.accuracy.value[5])) != number(float(by_model.accuracy.value[5]))
