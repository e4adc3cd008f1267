"""Gold on pages: from a column, and from finished arbitrations by a switch."""

from collections import Counter

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.belongings import add_predictions
from core.library import keep
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.store import close_stores, open_store
from tests.pages.opened import kept, opened, settle, words

pytestmark = pytest.mark.usefixtures("known")


def _rows(n_cases, gold=None):
    """Three raters who err now and then, on two classes; gold of the first cases."""
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=n_cases)
    lines = []
    for case in range(n_cases):
        known = "xy"[truth[case]] if gold and case < gold else ""
        for rater in "abc":
            said = truth[case] ^ (rng.random() < 0.2)
            lines.append(f"{case},{rater},{'xy'[said]}" + (f",{known}" if gold else ""))
    return "\n".join(["case,rater,class" + (",gold" if gold else ""), *lines])


def _arbitrate(data, cases, decision):
    panel = Opinion.of_labels(["y"]) if decision.is_set else Opinion.of_class("x")
    for case in cases:
        for seen, (who, kind, more) in enumerate(
            (
                ("Ann", "opinion", {"opinion": decision}),
                ("Ann", "reveal", {"panel": panel, "model": "dirichlet"}),
                ("Ann", "arbitration", {}),
                ("Cem", "reveal", {"panel": panel, "model": "dirichlet"}),
                ("Cem", "adjudication", {"opinion": decision}),
            )
        ):
            draft = Draft(dataset=data, case_id=case, kind=kind, reviewer=who, **more)
            open_store().record(draft, seen=seen, token=f"{case} {seen}")


def test_decisions_of_arbitration_judge_only_where_the_switch_is_on():
    data = kept(_rows(40))
    try:
        _arbitrate(data, ["1", "2"], Opinion.of_class("y"))
        app = opened("raters", data)
        switch = next(each for each in app.toggle if "arbitration decisions" in each.label)
        assert switch.label == "Use the arbitration decisions on 2 cases as gold" and not switch.value
        assert "come from arbitration" not in words(app)
        assert not [each for each in app.segmented_control if "gold" in each.label]
        app = settle(switch.set_value(True).run())
        assert "2 of 2 gold classes come from arbitration by people who saw the annotations" in words(app)
        assert [each.label for each in app.get("button_group") if "2 cases have gold" in each.label]
        app = settle(app.switch_page("pages/models.py").run())
        assert next(each for each in app.toggle if "arbitration decisions" in each.label).value
    finally:
        close_stores()


def test_home_advises_to_review_open_cases_alone_and_counts_all_uncertain_ones():
    """Of six split cases two have gold, and one is decided; then none is left."""
    said = [[x] * 4 for x in "xy" * 10] + [list("xxyy")] * 6
    lines = [
        f"{case},{rater},{one[rater]},{'x' * (case in (20, 21))}" for case, one in enumerate(said) for rater in range(4)
    ]
    data = kept("\n".join(["case,rater,class,gold", *lines]))
    try:
        assert "**4 of 6 uncertain cases**  \n:small[Still open, least certain first]" in words(opened("home", data))
        _arbitrate(data, ["22"], Opinion.of_class("x"))
        assert "**3 of 6 uncertain cases**" in words(app := opened("home", data)) and "in 6 of 26 cases" in words(app)
        _arbitrate(data, ["23", "24", "25"], Opinion.of_class("x"))
        assert "uncertain cases**" not in words(app := opened("home", data)) and "in 6 of 26 cases" in words(app)
    finally:
        close_stores()


def test_home_says_how_often_the_most_probable_class_is_right_by_gold_where_there_is_some():
    app = opened("home", kept(_rows(60, gold=50)))
    figure = next(each for each in app.metric if each.label == "Correct by gold")
    assert figure.value.endswith("%") and "n = 50 cases with gold" in words(app)
    app = opened("home", kept(_rows(60)))
    assert "Correct by gold" not in [each.label for each in app.metric]


def test_gold_of_a_case_is_shown_on_cases_and_of_raters_in_their_table():
    data = kept(_rows(60, gold=59))
    app = opened("cases", data)
    assert "Gold: **" in words(app)
    (kinds,) = (each for each in app.get("button_group") if each.label == "Cases")
    gold = dict(row.split(",")[::3] for row in _rows(60, gold=59).splitlines()[1:])
    votes = Counter(tuple(row.split(",")[::2][:2]) for row in _rows(60, gold=59).splitlines()[1:])
    differ = sum(votes[case, known] < 2 for case, known in gold.items() if known)
    assert differ and f"Differs from gold ({differ})" in [option.content for option in kinds.proto.options]
    app.session_state["case"] = "59"
    assert "Gold: **" not in words(settle(app.run()))
    app = opened("raters", data)
    (table,) = (each for each in app.dataframe if "right by gold" in each.value)
    shown = list(table.proto.column_order)
    assert "right by gold" in shown and ("flags" in shown) == table.value["flags"].map(len).any()


def test_gold_of_one_class_is_said_to_be_of_one_class():
    rows = _rows(60, gold=60).splitlines()
    data = kept("\n".join(rows[:1] + [row if row.endswith("x") else row[:-1] for row in rows[1:]]))
    note = "gold cases are “x”, so gold shows nothing about other classes"
    for page in ("home", "labels"):
        assert note in words(opened(page, data)).replace("\\", "")
    app = opened("raters", data)
    (judge,) = (each for each in app.get("button_group") if "gold" in each.label)
    assert note in judge.proto.help and judge.value == "model" and "annotations with gold" not in words(app)


def test_classifiers_stand_beside_gold_and_of_two_that_are_right_equally_often_neither_leads():
    """One is right on every even case, the other on every odd one."""
    data = kept(_rows(60, gold=60))
    known = dict(row.split(",")[::3] for row in _rows(60, gold=60).splitlines()[1:])
    for place, name in enumerate(("one", "two")):
        rows = [
            f"{case},{gold if int(case) % 2 == place else 'yx'['xy'.index(gold)]},1" for case, gold in known.items()
        ]
        add_predictions(data, name, "\n".join(["case,class,score", *rows]).encode())
    app = opened("reliability", data)  # whether the choice survives is what opens where there is a choice
    said = words(app)
    assert "No clear leader" in said and "leads at" not in said
    assert "Top-1 accuracy compared with gold" in said and "do not clearly differ in accuracy against gold" in said
    table = next(each.value for each in app.dataframe if "right_by_gold" in each.value)
    assert table["n_gold"].tolist() == [60, 60] and (table["ci_low"] < table["right_by_gold"]).all()
    app = opened("home", data)
    assert "Against gold: " in words(app)
    assert any(each.label == "Highest top-1 accuracy of 2 classifiers" for each in app.metric)


def test_decided_sets_judge_the_labels_where_the_switch_is_on():
    case, rater = np.divmod(np.arange(36), 3)
    sizes = np.where(case % 2, 2, 1)
    entries = np.concatenate([[0, 1][:n] for n in sizes])
    names = ("sets", [str(each) for each in range(12)], ["a", "b", "c"], ["x", "y"])
    dataset = Dataset.from_sets(*names, case, rater, np.append(0, np.cumsum(sizes)), entries)
    keep(dataset)
    data = dataset.digest
    try:
        _arbitrate(data, ["1", "2"], Opinion.of_labels(["y", "x"]))
        app = opened("models", data)
        switch = next(each for each in app.toggle if "arbitration decisions" in each.label)
        assert (
            "on 2 cases" in switch.label
            and "(not used by the fit), the most likely sets have a Jaccard index of" not in words(app)
        )
        app.session_state["model_tabs"] = "All labels"
        app = settle(switch.set_value(True).run())
        assert "2 of 2 gold sets come from arbitration" in words(app)
        assert "Compared with the gold sets of 2 cases" in words(app)
    finally:
        close_stores()


def test_cases_leads_to_calibration_where_there_is_gold():
    app = opened("cases", kept(_rows(60, gold=50)))
    app.button(key="to_calibration").click().run()
    said = words(settle(app.switch_page("pages/models.py").run()))
    assert app.session_state["model_tabs"] == "Calibration" and "P(correct) is " in said, "the open tab of Models"
    assert [each.key for each in opened("cases", kept(_rows(60))).button if each.key == "to_calibration"] == []


def test_calibration_uses_the_model_and_reliability_of_cases():
    data = kept(_rows(60, gold=50))
    app = settle(opened("cases", data).selectbox(key="model").set_value("plackett-luce").run())
    app = settle(app.slider(key="reliability").set_value(3.0).run())
    app.session_state["model_tabs"] = "Calibration"
    said = words(settle(app.switch_page("pages/models.py").run()))
    assert "Certainty (Plackett-Luce, γ = 3) predicts" in said


def test_models_shows_the_average_with_its_intervals():
    app = opened("models", kept(_rows(60, gold=50)))
    assert app.session_state["models_chosen"] == ["model-average"]
    app.session_state["model_tabs"] = "Raters"
    app = settle(app.run())
    assert "These intervals treat the true classes as known" not in words(app)
    table = next(each.value for each in app.dataframe if "right by matrix" in each.value)
    assert (table["ci_high"] - table["ci_low"] > 0.01).all()
