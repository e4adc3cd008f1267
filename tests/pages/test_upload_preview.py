"""The first rows on Upload: what each column is, and that it can be changed there."""

import pytest

from core.ingest.formats.detect import open_source
from core.ingest.read_files import read
from core.ingest.row_in_words import readings_of
from pages.shared.cache import datasets as cached
from tests.core.ingest.made_tables import delimited, panel, triples, wide
from tests.core.ingest.test_several_questions import batch
from tests.pages.opened import done
from tests.pages.test_upload import ODD, dropped, texts, use, widget

WIDE = wide(panel(3, 12, 3, ("x", "y", "z")), ("ann", "bob", "cid"), after=[("site", ["a", "b"] * 6)])


def roles(app):
    """The role of each column by its name."""
    return {one.label.replace("\\", ""): one.value for one in app.selectbox if (one.key or "").startswith("role-")}


def long(*more: str) -> bytes:
    """Two raters of eight cases, with more columns that are called so and all hold x."""
    rows = [[f"c{n // 2}", f"r{n % 2}", f"B{n % 3}", *["x"] * len(more)] for n in range(16)]
    return delimited([["case", "reader", "birads", *more], *rows])


def role_of(app, column: str):
    (found,) = [one for one in app.selectbox if (one.key or "").startswith("role-") and one.label == column]
    return found


def test_each_column_has_its_role_and_its_first_five_cells():
    app = dropped(("a.csv", long()))
    assert roles(app) == {"case": "case", "reader": "rater", "birads": "answer"}
    assert "c0  \nc0  \nc1  \nc1  \nc2" in texts(app)
    assert "One row means" in texts(app)
    spoken = dropped(("a.csv", long("Fall-Nr"))).selectbox
    assert "Fall-Nr" in [one.label for one in spoken if (one.key or "").startswith("role-")]


def shown_roles(app):
    """The role of each column as the preview words it, by the name of the column."""
    shown = [one for one in app.selectbox if (one.key or "").startswith("role-")]
    return {one.label: one.format_func(one.value) if one.value else one.options[-1] for one in shown}


def test_columns_that_reading_uses_without_being_asked_are_not_called_unused():
    people = [(f"c{case}", who, "person", "", "") for case in range(4) for who in "ab"]
    machines = [(f"c{case}", "g", "machine", "G", "2") for case in range(4)]
    told = [[*row, f"Words of {row[0]}", f"{row[0]}.png", "?", "xy"[int(row[0][1]) % 2]] for row in people + machines]
    heads = ["case", "rater", "rater_type", "family", "version", "text", "image", "remark", "class"]
    app = dropped(("a.csv", delimited([heads, *told])))
    assert shown_roles(app) == {
        "case": "Case", "rater": "Rater", "class": "Annotation", "rater_type": "Rater type",
        "family": "AI family", "version": "AI version", "text": "Case text",
        "image": "Case image", "remark": "Not used",
    }  # fmt: skip
    role_of(app, "rater_type").set_value("group").run()
    shown = shown_roles(done(app))
    assert shown["rater_type"] == "Group of the case" and shown["family"] == shown["version"] == "Not used"


def test_a_role_that_is_given_in_the_preview_is_that_of_the_mapping():
    app = dropped(("odd.csv", ODD))
    assert role_of(app, "who").value == ""
    role_of(app, "who").set_value("rater").run()
    assert widget(done(app), "selectbox", "rater_column").value == "who"
    assert app.button(key="use").label == "Use 24 annotations"
    assert "you chose 'who'" in texts(app)


def test_a_role_that_is_taken_in_the_preview_is_asked_for_again():
    app = dropped(("a.csv", long("when")))
    role_of(app, "reader").set_value("").run()
    assert "Could not tell which column contains the rater" in done(app).info[0].value
    role_of(app, "reader").set_value("rater").run()
    assert done(app).button(key="use").label == "Use 16 annotations"


def test_a_column_for_each_rater_is_taken_out_and_put_back_in_the_preview():
    app = dropped(("w.csv", WIDE))
    assert [name for name, role in roles(app).items() if role == "raters"] == ["ann", "bob", "cid"]
    role_of(app, "bob").set_value("").run()
    assert done(app).button(key="use").label == "Use 24 annotations"
    role_of(app, "bob").set_value("raters").run()
    assert done(app).button(key="use").label == "Use 36 annotations"
    used = use(app).session_state["data"]
    assert used == read(WIDE).dataset.digest


def test_reasons_are_those_of_the_columns_that_are_chosen():
    app = dropped(("a.csv", long("when")))
    assert "the column is called 'reader'" in texts(app)
    widget(app, "selectbox", "rater_column").set_value("when").run()
    assert "the column is called 'reader'" not in texts(done(app)) and "you chose 'when'" in texts(app)


@pytest.mark.parametrize(("answer", "n_raters"), [(True, 2), (False, 3)])
def test_raters_whose_names_differ_in_capitals_alone_are_asked_about(answer, n_raters):
    rows = [[f"c{n // 2}", ("Ann", "bob")[n % 2], "xyz"[n % 3]] for n in range(18)]
    rows += [[f"d{case}", who, "xyz"[case % 3]] for case in range(9) for who in ("ann ", "bob")]
    app = dropped(("n.csv", delimited([["case", "rater", "class"], *rows])))
    asked = widget(app, "radio", "namesakes")
    assert asked.value is None and app.button(key="use").proto.type == "secondary"
    asked.set_value(answer).run()
    assert done(app).button(key="use").proto.type == "primary"
    dataset = cached.registry().get(use(app).session_state["data"]).dataset
    assert dataset.n_raters == n_raters and dataset.n_annotations == 36


def test_raters_merged_last_time_stay_merged_while_a_new_name_is_asked_about():
    rows = [[f"c{n // 2}", ("ANN", "bob")[n % 2], "xyz"[n % 3]] for n in range(18)]
    rows += [[f"d{case}", who, "xyz"[case % 3]] for case in range(30) for who in ("Ann", "bob")]
    app = dropped(("n.csv", delimited([["case", "rater", "class"], *rows])))
    widget(app, "radio", "namesakes").set_value(True).run()
    assert cached.registry().get(use(done(app)).session_state["data"]).dataset.raters == ("Ann", "bob")
    app = dropped(("n.csv", delimited([["case", "rater", "class"], *rows, ["e1", "BOB", "x"]])))
    widget(app, "toggle", "as_last_time").set_value(True).run()
    before, new = (one for one in done(app).radio if one.key.startswith("namesakes"))
    assert before.value is True and new.value is None and "BOB" in new.label
    assert cached.registry().get(use(app).session_state["data"]).dataset.raters == ("Ann", "BOB", "bob")


def test_files_that_may_be_parts_of_one_table_are_asked_about():
    one = batch("case,reader,label", 0), batch("case,reader,label,comment", 0, more=",ok")
    app = dropped(*zip(("a.csv", "b.csv"), one, strict=True))
    asked = widget(app, "radio", "parts")
    assert not [button for button in app.button if button.key == "use"]
    asked.set_value(True).run()
    assert done(app).button(key="use").label == "Use 120 annotations"


def test_the_button_is_neutral_while_nearly_every_annotation_is_a_class_of_its_own():
    rows = [[f"c{row // 2}", f"r{row % 2}", f"note number {row * 7}", "xy"[row % 2]] for row in range(40)]
    app = dropped(("ids.csv", delimited([["case", "rater", "class", "grade"], *rows])))
    assert (
        "Check whether the annotation column contains ids" in texts(app)
        and app.button(key="use").proto.type == "secondary"
    )
    role_of(app, "grade").set_value("answer").run()
    assert done(app).button(key="use").proto.type == "primary"


def test_both_readings_of_a_table_say_their_cases_raters_and_annotations():
    content = b'{"0": {"0": 1, "1": 0}, "1": {"1": 1, "2": 0}, "2": {"0": 1, "2": 1}, "3": {"1": 0}}'
    asked = widget(dropped(("answers.json", content)), "radio", "row_means")
    assert any("3 raters × 4 cases, 7 annotations" in option for option in asked.options)
    assert any("4 raters × 3 cases, 7 annotations" in option for option in asked.options)


def test_another_reading_of_the_same_layout_sets_the_columns_as_it_says():
    answers = panel(13, 6, 6, ("cat", "dog", "fox"))
    content = delimited(triples(answers, [f"a{n}" for n in range(6)], [f"b{n}" for n in range(6)]))
    (question,) = open_source([("t.csv", content)]).questions
    one, other = readings_of(question.raw, question.mapping)
    app = dropped(("t.csv", content))
    for reading in (one, other, one):
        widget(app, "radio", "row_means").set_value(reading.options).run()
        found = {role: column for column, role in roles(done(app)).items()}
        assert (found["case"], found["rater"]) == (reading.mapping.case, reading.mapping.rater)


COMPARED = (
    b"model_a,model_b,winner,judge\n" + b"b,a,model_a,j1\na,b,tie,j2\na,c,model_b,j1\nc,b,tie,j2\nc,a,model_a,j2\n"
)


def test_comparisons_show_their_items_and_can_be_given_other_roles():
    app = dropped(("arena.csv", COMPARED))
    assert roles(app) == {"model_a": "first", "model_b": "second", "winner": "answer", "judge": "rater"}
    assert "Rater “j1” compared “b” with “a” and answered “model_a”." in texts(app)
    app = done(role_of(app, "judge").set_value("").run())
    assert roles(app)["judge"] == "" and "raters without names" in texts(app)
    app = done(role_of(app, "judge").set_value("rater").run())
    assert roles(app)["judge"] == "rater"
    use(app)
    dataset = cached.open_dataset(app.session_state["data"]).dataset
    assert dataset.pairs.items == ("a", "b", "c") and dataset.ordinal and dataset.n_annotations == 5


def test_a_table_of_cases_and_comparisons_is_asked_what_a_row_means():
    rows = [
        f"{q},{pair},{'model_a' if q % 2 else 'tie'},j{j}" for q in range(4) for pair in ("a,b", "c,a") for j in (1, 2)
    ]
    app = dropped(("both.csv", "\n".join(["question_id,model_a,model_b,winner,judge", *rows, ""]).encode()))
    (asked,) = [one for one in app.radio if (one.key or "").startswith("row_means-")]
    assert asked.value is None and "use" not in [one.key for one in app.button]
    app = use(done(asked.set_value("comparisons").run()))
    assert cached.open_dataset(app.session_state["data"]).dataset.cases[:2] == ("0: a | b", "0: a | c")
