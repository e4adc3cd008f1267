"""What the Agreement page says, without a browser."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.differences import Difference
from core.agreement.krippendorff import KRIPPENDORFF_ALPHA
from core.annotations.ordering import with_class_order
from core.ingest.samples import read_sample
from pages.shared.agreement.compare import _headline
from tests.pages.opened import at, kept, opened, settle, words

pytestmark = pytest.mark.usefixtures("known")


def table(rows) -> str:
    return "\n".join(["case,rater,class", *rows])


def test_the_first_sentence_has_both_numbers_with_their_intervals_and_n():
    title = opened("agreement", "anaesthesia").title[0].value
    assert re.fullmatch(
        r"Raters agree on 73% \(66% to 80%\) of annotation pairs; beyond chance, α = 0\.58 \(0\.48 to 0\.68\)",
        title,
    )


def test_the_one_to_quote_is_alpha_by_the_declared_order():
    dataset = read_sample("anaesthesia").dataset
    assert coefficients_for(dataset).quoted.weights == "nominal"
    assert coefficients_for(with_class_order(dataset, dataset.classes)).quoted.weights == "ordinal metric"


def test_of_two_intraclass_correlations_the_one_that_rests_on_all_cases_is_quoted():
    """Scores with gaps: the analysis of variance has only the cases that everybody scored."""
    rows = [
        f"{case},{rater},{case % 7 + rater + 0.1 * (case * rater % 5)}"
        for case in range(30)
        for rater in range(3)
        if (case + rater) % 4
    ]
    app = opened("agreement", kept("\n".join(["case,rater,score", *rows])))
    assert "n = 30 cases" in app.title[0].value
    assert "**To quote:** ICC(2,1)" in words(app) and "30 cases" in words(app)


def test_rankings_say_which_numbers_are_of_first_choices():
    app = opened("agreement", "skin")
    assert "Raters agree on the first choice in " in app.title[0].value
    assert [entry.label for entry in app.expander[:2]] == ["Whole rankings", "First choices"]
    assert "Both measures use first choices" in words(app) and "percent agreement" in words(app)


def test_declaring_an_order_gives_the_coefficients_that_need_one_and_taking_it_back_gives_the_first_again():
    app = opened("agreement", "anaesthesia")
    before = app.title[0].value
    switch = next(toggle for toggle in app.toggle if toggle.label == "Their order is meaningful")
    settle(switch.set_value(True).run())
    assert "of annotation pairs (with partial credit for near misses); beyond chance, α = " in app.title[0].value
    assert app.title[0].value != before and "ordinal metric" in words(app)
    assert "percent agreement (ordinal weights)" in words(app) and "The classes are ordered" in words(app)
    switch = next(toggle for toggle in app.toggle if toggle.label == "Their order is meaningful")
    settle(switch.set_value(False).run())
    assert app.title[0].value == before


def test_where_only_one_class_was_used_the_page_says_so_and_repeats_nothing():
    app = opened("agreement", kept(table(f"{case},{rater},x" for case in range(6) for rater in "abc")))
    assert app.title[0].value == (
        "Raters agree on 100% of annotation pairs; agreement beyond chance cannot be determined because only one class "
        "was used"
    )
    assert "undefined undefined" not in words(app)


def test_where_kappa_and_ac1_differ_the_page_names_the_common_class():
    answers = {0: "sick", 1: "well"}
    rows = [f"{case},{rater},{answers[int(case % 20 != rater)]}" for case in range(80) for rater in range(4)]
    said = words(opened("agreement", kept(table(rows))))
    assert "differ because 95% of the annotations are “well”" in said and "Report both" in said


def test_few_cases_are_no_ground_to_explain_a_difference():
    assert "differ because" not in words(opened("agreement", "dermatology"))


def test_repeated_answers_are_counted_and_said():
    assert "90 of 315 annotations repeat an earlier annotation by the same rater" in words(
        opened("agreement", "anaesthesia")
    )
    assert "repeat an earlier one" not in words(opened("agreement", "caries"))


def pairs_of(address: str) -> AppTest:
    app = opened("agreement", address)
    app.session_state["agreement_tabs"] = "Pairwise agreement"
    return settle(app.run())


def test_raters_who_hardly_met_are_not_compared_two_by_two():
    rows = [f"{case},{2 * case + rater},{(case + rater) % 2}" for case in range(12) for rater in range(2)]
    assert "No two raters have 5 or more pairs of annotations" in words(pairs_of(kept(table(rows))))


def test_two_raters_are_compared_without_a_click():
    rows = [f"{case},{rater},{int(case % 3 == 0 and rater == 'b')}" for case in range(12) for rater in "ab"]
    assert "disagree on 4 of 12 annotation pairs, in 4 cases" in words(pairs_of(kept(table(rows))))


def test_a_rater_named_like_a_column_of_the_table_breaks_nothing():
    rows = [f"{case},{rater},{int(case % 3 == 0 and rater == 'b')}" for case in range(12) for rater in ("case", "b")]
    assert "disagree on 4 of 12" in words(pairs_of(kept(table(rows))))


def test_a_value_and_its_interval_have_the_same_digits_and_counts_have_separators():
    """In tables; of the interval in the file beside them nothing is rounded."""
    app = opened("agreement", "anaesthesia")
    table = next(entry for entry in app.dataframe if "n_annotations" in entry.value)
    shown = {
        name: config["type_config"]
        for name, config in json.loads(table.proto.columns).items()
        if "type_config" in config
    }
    assert shown["value"]["format"] == "%.2f" and shown["95% interval"]["type"] == "image"
    hidden = json.loads(table.proto.columns)
    assert hidden["ci_low"]["hidden"] and hidden["ci_high"]["hidden"]
    assert all(
        shown[name] | {"format": "accounting", "step": 1} == shown[name] for name in ("n_cases", "n_annotations")
    )
    assert (table.value["ci_low"].dropna().round(2) != table.value["ci_low"].dropna()).any()


DATED = [
    f"{case},{rater},{'xyz'[(case * (1 + (rater == 'c'))) % 3]},2025-0{1 + case // 10}-10"
    for case in range(30)
    for rater in "abc"
]


def compared(address: str | None = None):
    data = kept("case,rater,class,date\n" + "\n".join(DATED), "dated")
    app = at("agreement", data, **({} if address is None else {"data": data, "compare": address}))
    if address is None:
        app.session_state["agreement_tabs"] = "Compare"
    return settle(app.run())


def side(app, key: str):
    return next(box for box in app.selectbox if box.key and box.key.startswith(f"compare_{key}"))


def test_two_selections_open_with_everything_on_one_side_and_stand_in_the_address():
    app = compared()
    assert side(app, "first").value == "Everything" and side(app, "second").value == "First half of the period"
    first, second = json.loads(app.session_state["compare"])
    assert first == ["Everything", ""] and second[0] == "First half of the period" and "last_day" in second[1]
    side(app, "first").set_value("Second half of the period")
    app = settle(app.run())
    assert "clearly differ: difference " in words(app) and "at once" not in words(app)
    side(app, "second").set_value("Some raters …")
    app.run()
    assert "Choose raters or a period for each selection" in words(app)
    next(box for box in app.multiselect if box.label == "Raters").set_value(["a", "b"])
    app = settle(app.run())
    assert "the selections differ in raters and dates" in words(app)


def test_an_address_with_two_selections_opens_on_their_comparison_with_their_names():
    address = json.dumps([["Ann and Bob", '{"raters":["a","b"]}'], ["Spring", '{"last_day":"2025-02-20"}']])
    app = compared(address)
    assert side(app, "first").value == "Ann and Bob" and side(app, "second").value == "Spring"
    assert "**Ann and Bob**: raters a, b" in words(app) and "clearly differ: difference " in words(app)
    assert side(compared('[["x", 7], 3]'), "first").value == "Everything"  # what is no comparison is none


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            (0.5, 0.4, 0.1, 0.05, 0.15),
            "α is 0.50 in the first selection and 0.40 in the second. The selections clearly",
        ),
        ((0.1441, 0.1419, 0.0022, 0.0011, 0.0031), "is 0.144 in the first selection and 0.142 in the second."),
        ((0.1441, 0.1419, 0.0022, 0.0011, 0.0031), "clearly differ: difference 0.002 (0.001 to 0.003)."),
        ((0.14, 0.15, -0.01, -0.02, -0.004), "clearly differ: difference −0.010 (−0.020 to −0.004)."),
        ((0.14002, 0.14, 0.00002, 0.00001, 0.00003), "clearly differ: difference 0.00002 (0.00001 to 0.00003)."),
        ((0.1449, 0.1351, 0.0098, 0.006, 0.013), "is 0.145 in the first selection and 0.135 in the second."),
        ((0.144, 0.142, 0.002, -0.01, 0.014), "do not clearly differ: difference 0.00 (−0.01 to 0.01)."),
    ],
)
def test_selections_that_clearly_differ_are_written_with_digits_that_differ(values, said):
    first, second, value, low, high = values
    alpha = KRIPPENDORFF_ALPHA, "nominal metric"
    found = Difference(alpha, alpha, first, second, value, 0.01, low, high, 9, 9, 0.5, True)
    assert said in _headline([found])
