"""Cases and Reliability of ordered classes: the ordinal truth beside counts, in the order of the classes."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from core import read
from core.analyses.raters import scale
from core.annotations.ordering import with_class_order
from core.library import keep
from core.models.expected_class import expected_class, within_one
from core.models.ordinal import Ordinal, severity_sentence
from core.plausibility.ordinal_truth import OrdinalTruth
from core.runtime.jobs import Job
from core.text import probability
from pages.shared.kit import blocks, opening, plausibility_models
from tests.core.models.test_ordinal import panel
from tests.pages.opened import at, opened, settle, words

pytestmark = pytest.mark.usefixtures("known")


@pytest.fixture(scope="module")
def graded():
    """A panel of five grades, in an order that is declared, with the true classes as gold."""
    rows, _, truth = panel(40, 5, 3, 4)
    lines = ["case,rater,class", *(f"c{case},r{rater},{'wxyz'[k]}" for case, rater, k in rows)]
    dataset = read("\n".join(lines).encode(), name="graded").dataset
    return with_class_order(dataset, sorted(dataset.classes)), truth


def by_scale(page, dataset):
    keep(dataset)
    app = opened(page, dataset.digest)
    return settle(app.selectbox(key="model").set_value("ordinal-truth").run())


def test_the_worklist_has_the_interval_of_the_expected_class_and_the_case_how_sure_it_is_within_one(graded):
    dataset, _ = graded
    app = by_scale("cases", dataset)
    gamma = app.slider(key="reliability").value
    p = OrdinalTruth().probability(dataset, gamma)
    scale, near = expected_class(p), within_one(p)
    shown = next(frame.value for frame in app.dataframe if "expected" in frame.value)
    case = dataset.case_index(shown["case"].iloc[0])
    assert case == p.max(axis=1).argmin()
    low, high = (dataset.classes[int(end[case]) - 1] for end in (scale.spread.low, scale.spread.high))
    assert shown["expected"].iloc[0] == (low if low == high else f"{low} to {high}")
    assert shown["certainty"].max() < 0.995 or p.max() == 1
    assert "Expected class: " in words(app)
    there = dataset.case_index(app.session_state["case"])
    assert f"” with probability {probability(near[there])}." in words(app)
    assert f"certainty {probability(p[there].max())}" in words(app)
    assert "±" not in app.subheader[0].value  # it is no share of draws


def test_home_is_drawn_anew_when_what_moves_its_count_of_uncertain_cases_is_there(monkeypatch):
    """As Cases is: or the two pages would name two numbers until somebody comes back. Until then none is settled."""
    rows, _, _ = panel(40, 5, 5, 5)
    lines = ["case,rater,class", *(f"c{case},r{rater},{'wxyz'[k]}" for case, rater, k in rows)]
    dataset = read("\n".join(lines).encode(), name="seen on Home first").dataset
    dataset = with_class_order(dataset, sorted(dataset.classes))
    keep(dataset)
    app = at("home", dataset.digest).run()
    waited = [job.title for job, *_ in app.session_state["_waits_of_run"].shown.values()]
    assert "Held-out scores of rater models" in waited
    settle(app)
    settled = app.title[0].value
    assert "uncertain" in settled and opening.CHOOSING not in words(app)
    work = Job("still scored")
    monkeypatch.setattr(opening, "choice_job", lambda *_: work)
    app.run()
    assert settled.startswith(app.title[0].value) and "uncertain" not in app.title[0].value
    assert opening.CHOOSING in words(app)
    assert "another opinion, the least certain first" not in words(app)
    app.session_state["reliability"] = 2.0  # somebody's choice moves no more
    app.run()
    assert "uncertain" in app.title[0].value and opening.CHOOSING not in words(app)
    work._ended.set()


def test_cases_and_home_open_on_the_order_where_it_describes_the_raters_best_until_somebody_chooses_otherwise(graded):
    dataset, _ = graded
    keep(dataset)
    app = opened("cases", dataset.digest)
    assert app.selectbox(key="model").value == "ordinal-truth"
    assert "best predicts these raters' held-out annotations, so the order of the classes is used here" in words(app)
    assert any("expected" in frame.value for frame in app.dataframe)
    gamma = f"{app.slider(key='reliability').value:g}"
    assert f"(Ordinal truth, γ = {gamma})" in " ".join(one.value for one in opened("home", dataset.digest).caption)
    app = settle(app.selectbox(key="model").set_value("dirichlet").run())
    assert app.selectbox(key="model").value == "dirichlet"
    assert not any("expected" in frame.value for frame in app.dataframe)
    assert "the order of the classes is not used here" in words(app)
    offer = next(button for button in app.button if button.key == "use_order")
    app = settle(offer.click().run())
    assert app.selectbox(key="model").value == "ordinal-truth"
    assert not any(button.key == "use_order" for button in app.button)


def test_few_held_out_annotations_are_told_where_they_choose_the_ordinal_model(graded, monkeypatch):
    dataset, _ = graded
    keep(dataset)
    assert "barely enough" not in words(opened("cases", dataset.digest))
    monkeypatch.setattr(plausibility_models, "FEWEST_TO_TELL", dataset.n_annotations + 1)
    said = words(opened("cases", dataset.digest))
    few = f"(only {dataset.n_annotations:,}, barely enough to compare models)"
    assert f"best predicts these raters' held-out annotations {few}, so the" in said


def test_raters_says_who_reads_higher_or_lower_than_the_panel():
    """In the list of all raters as on the page of one; where no order is declared, nothing is said of it."""
    rows, _, _ = panel(150, 5, 4, 6, severe=1.5)
    lines = ["case,rater,class", *(f"c{case},r{rater},{'wxyz'[k]}" for case, rater, k in rows)]
    plain = read("\n".join(lines).encode(), name="no order").dataset
    dataset = with_class_order(plain, sorted(plain.classes))
    keep(dataset)
    settle(opened("cases", dataset.digest))  # where the models are scored
    app, fit = opened("raters", dataset.digest), Ordinal().fit(dataset)
    said = words(app)
    (table,) = [one.value for one in app.dataframe if "severity" in one.value]
    assert abs(table["severity"]).is_monotonic_decreasing and table["rater"].iloc[0] == "r0"
    for rater, n, *numbers in table.itertuples(index=False, name=None):
        place = fit.raters.index(rater)
        assert n == fit.n_annotations[place]
        assert numbers == pytest.approx(
            [
                fit.parameters[name + end][place]
                for name in ("severity", "spread", "slip")
                for end in ("", "_low", "_high")
            ]
        )
    words_of_severity = severity_sentence(fit).split(":")[0]
    assert f"According to the ordinal model, {words_of_severity[0].lower()}{words_of_severity[1:]}" in said
    keep(plain)
    assert "According to the ordinal model" not in words(opened("raters", plain.digest))


def test_the_table_of_how_raters_read_leaves_with_each_number_under_its_own_name(
    left, shown, said, labels, monkeypatch
):
    names = ("severity", "spread", "slip")
    parts = [name + end for name in names for end in ("", "_low", "_high")]
    fit = SimpleNamespace(
        raters=("ann", "bob", "cem"), n_annotations=np.array([9, 0, 7]), classes=("low", "mid", "high"),
        parameters={part: np.array([0.1, 0.9, -0.4]) + place / 100 for place, part in enumerate(parts)},
    )  # fmt: skip
    monkeypatch.setattr(scale, "severity_sentence", lambda fit: "One reads higher.")
    blocks.show(scale.all_raters(fit))
    frame = left["scale_raters_table"]
    assert frame["rater"].tolist() == ["cem", "ann"] and frame["annotations"].tolist() == [7, 9]
    for place, part in enumerate(parts):
        assert frame[part].tolist() == pytest.approx([-0.4 + place / 100, 0.1 + place / 100])
    assert shown["scale_raters"].equals(frame) and labels == ["How each rater uses the scale"]


def test_counts_open_where_the_order_is_not_declared_or_another_model_describes_the_raters_better(graded):
    dataset, _ = graded
    rng = np.random.default_rng(5)  # each grade is taken for one two or three away: the order tells nothing
    taken = np.where(rng.random(dataset.n_annotations) < 0.5, dataset.answer, (dataset.answer * 2 + 1) % 4)
    wild = dataclasses.replace(dataset, answer=taken.astype(dataset.answer.dtype), name="wild")
    plain = dataclasses.replace(dataset, ordinal=False, name="plain")
    for other, offers in ((plain, False), (wild, True)):
        keep(other)
        app = opened("cases", other.digest)
        assert app.selectbox(key="model").value == "dirichlet"
        assert ("Ordinal truth" in app.selectbox(key="model").options) == offers
        assert "The ordinal model best predicts these raters" not in words(app)


def test_reliability_says_how_sure_the_truth_is_within_one_class(graded):
    dataset, _ = graded
    app = by_scale("reliability", dataset)
    table = next(frame.value for frame in app.dataframe if "within one" in frame.value)
    for reliability, value in zip(table["reliability"], table["within one"], strict=True):
        assert value == pytest.approx(within_one(OrdinalTruth().probability(dataset, reliability)).mean())
    assert (np.diff(table["top1"]) > 0).all()
