"""The Upload page, without a browser: every kind of export, the mapping, the classes, and what is remembered."""

import io
import json
from datetime import datetime

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core import belongings, library
from core.ingest.formats.detect import open_source
from core.ingest.saved_mappings import recall
from core.ingest.templates import TEMPLATES
from core.machines.marks import Machine
from core.text import day_words
from pages.shared.cache import access
from pages.shared.cache import datasets as cached
from tests.core.ingest.formats.test_workbook import workbook
from tests.pages.export_files import EXPORTS, HOLDS, label_studio
from tests.pages.opened import at, done, opened, settle, words

# Either column of names tells the rows of a case apart.
SAID = (b"benign", b"Benign", b"malignant", b"cannot tell")
ODD = b"lesion,who,desk,finding\n" + b"".join(
    b"L%d,dr %d,d%d,%s\n" % (case, rater, (case + rater) % 3, SAID[(case * rater + case) % 4])
    for case in range(1, 9)
    for rater in range(1, 4)
)


def dropped(*files: tuple[str, bytes], app: AppTest | None = None) -> AppTest:
    """The Upload page after these files were dropped."""
    if app is None:
        app = at("upload").run()
    app.file_uploader[0].set_value([(name, content, "") for name, content in files]).run()
    return done(app)


def use(app: AppTest) -> AppTest:
    """Click the button that says what will be used."""
    return done(app.button(key="use").click().run())


def widget(app: AppTest, kind: str, prefix: str):
    """The one widget whose key begins so."""
    (found,) = [one for one in getattr(app, kind) if (one.key or "").startswith(prefix)]
    return found


def texts(app: AppTest) -> str:
    """What the page says in running text."""
    kinds = (app.markdown, app.caption, app.info, app.error, app.warning, app.success)
    return "\n".join(entry.value.replace("\\", "") for kind in kinds for entry in kind)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_understood_as_it_is_dropped_and_used_by_one_click(name):
    n_cases, n_raters, n_answers = HOLDS[name]
    app = dropped(*EXPORTS[name])
    assert not app.error
    assert app.button(key="use").label == f"Use {n_answers} annotations"
    assert f"{n_cases} cases · {f'{n_raters} raters' if n_raters else 'raters without names'}" in texts(app)
    use(app)
    assert "is open." in app.success[0].value
    assert app.metric[2].value == str(n_answers)
    assert not app.file_uploader[0].value


def test_formats_and_templates_are_drawn_once_they_are_opened():
    app = at("upload")
    app.session_state["formats"] = app.session_state["templates"] = False
    app.run()
    assert [one.label for one in app.expander][-2:] == ["All supported formats", "Templates to fill in"]
    assert not app.get("download_button") and "Label Studio (JSON)" not in texts(app)
    app.session_state["formats"] = app.session_state["templates"] = True
    app.run()
    assert [one.label for one in app.get("download_button")] == [one.title for one in TEMPLATES]
    assert "Label Studio (JSON)" in texts(app)


def test_a_file_with_machines_marks_them_once_and_not_over_what_somebody_said():
    """Uploaded again, a rater who was unmarked stays a person."""
    rows = [f"{case},{who},{kind},x" for case in (1, 2) for who, kind in (("a", "person"), ("g", "machine"))]
    content = "\n".join(["case,rater,rater_type,class", *rows]).encode()
    app = use(dropped(("told.csv", content)))
    data = app.session_state["data"]
    assert [one.name for one in belongings.machines_of(data)] == ["g"]
    belongings.mark_machines(data, [])
    again = use(dropped(("told.csv", content)))
    assert again.session_state["data"] == data and belongings.machines_of(data) == ()


def test_a_rater_that_is_not_recognised_is_asked_for_before_anything_is_shown_as_read():
    app = dropped(("odd.csv", ODD))
    assert "Could not tell which column contains the rater" in app.info[0].value
    assert "who" in app.info[0].value
    assert not [button for button in app.button if button.key == "use"]
    widget(app, "selectbox", "rater_column").set_value("who").run()
    assert done(app).button(key="use").label == "Use 24 annotations"
    assert "8 cases · 3 raters" in texts(app)


def test_cases_and_raters_that_nothing_tells_apart_are_asked_about_before_anything_is_used():
    content = b'{"0": {"0": 1, "1": 0}, "1": {"1": 1, "2": 0}, "2": {"0": 1, "2": 1}, "3": {"1": 0}}'
    app = dropped(("answers.json", content))
    assert not [button for button in app.button if button.key == "use"]
    asked = widget(app, "radio", "row_means")
    assert any("3 raters \u00d7 4 cases" in option for option in asked.options)
    asked.set_value("--case rater --rater case").run()
    assert "4 cases \u00b7 3 raters" in texts(done(app))


def test_dates_that_begin_with_the_day_or_the_month_are_asked_about():
    app = dropped(("odd.csv", b"case,rater,class,date\n1,ann,x,02/03/2024\n1,bob,y,04/03/2024\n2,ann,x,05/03/2024\n"))
    assert "begin with the day or the month" in "".join(one.value for one in app.warning)
    widget(app, "radio", "day_first").set_value(True).run()
    assert "may begin" not in "".join(one.value for one in done(app).warning)
    data = cached.registry().get(use(app).session_state["data"]).dataset
    days = [str(np.datetime64(int(stamp), "s"))[:10] for stamp in data.time]
    assert days == ["2024-03-02", "2024-03-04", "2024-03-05"]
    later = dropped(("later.csv", b"case,rater,class,date\n3,ann,x,07/08/2024\n3,bob,y,07/08/2024\n"))
    assert "dates begin with the day" in texts(later)
    widget(later, "toggle", "as_last_time").set_value(True).run()
    assert "may begin" not in "".join(one.value for one in done(later).warning)


def test_answers_may_be_said_to_be_anonymous():
    app = dropped(("few.csv", b"case,class\n1,x\n1,y\n2,x\n"))
    widget(app, "selectbox", "rater_column").set_value("(none: annotations are anonymous)").run()
    assert "raters without names" in texts(done(app))
    assert "2 cases" in texts(use(app)) or app.metric[0].value == "2"


def test_what_was_said_of_a_file_is_offered_for_the_next_of_its_shape():
    app = dropped(("odd.csv", ODD))
    widget(app, "selectbox", "rater_column").set_value("who").run()
    done(app)
    widget(app, "toggle", "unsure").set_value(True).run()
    done(app)
    widget(app, "toggle", "alike").set_value(True).run()
    label = done(app).button(key="use").label
    use(app)
    again = dropped(("later.csv", ODD.replace(b"L1,", b"L99,")))
    assert "rater: **who**" in texts(again)
    assert "“cannot tell” means a missing annotation" in texts(again)
    assert not [button for button in again.button if button.key == "use"]
    widget(again, "toggle", "as_last_time").set_value(True).run()
    assert done(again).button(key="use").label == label
    assert "2 classes" in texts(again)


def test_a_file_that_was_guessed_right_is_not_remembered():
    use(dropped(*EXPORTS["long"]))
    source = open_source(EXPORTS["long"])
    assert recall(source, source.questions[0]) is None


def test_a_column_of_0_and_1_for_each_label_keeps_its_raters_until_somebody_says_that_there_are_none():
    pairs = [(case, rater) for case in range(6) for rater in ("ann", "bob")]
    rows = "".join(f"i{case},{rater},{case % 2},{int(rater == 'ann')}\n" for case, rater in pairs)
    app = dropped(("labels.csv", ("image,reader,edema,nodule\n" + rows).encode()))
    assert "Rater “ann” gave case “i0” “nodule”." in texts(app)
    assert "6 cases · 2 raters · 12 annotations" in texts(app)
    case = widget(app, "selectbox", "case_column")
    assert (case.label, case.value) == ("Case", "image")
    assert widget(app, "selectbox", "rater_column").value == "reader"
    assert widget(app, "multiselect", "across").value == ["edema", "nodule"]
    widget(app, "selectbox", "rater_column").set_value("(none: annotations are anonymous)").run()
    assert "6 cases · raters without names" in texts(app)


def test_classes_alike_are_merged_into_the_commonest_spelling():
    rows = b"".join(
        b"%d,%s,%s\n" % (case, rater, b"Yes" if case == 1 else b"yes") for case in (1, 2) for rater in (b"a", b"b")
    )
    app = dropped(("few.csv", b"case,rater,class\n" + rows + b"3,a,yes\n3,b,no\n"))
    assert "3 classes" in texts(app)
    widget(app, "toggle", "alike").set_value(True).run()
    assert "2 classes" in texts(done(app))
    assert "'Yes' is now 'yes' (2 annotations)." in texts(app)


def test_a_question_is_chosen_and_names_the_data():
    app = dropped(("project.json", label_studio(questions=("mood", "tone"))))
    widget(app, "toggle", "all_questions").set_value(False).run()
    done(app).selectbox(key="question").set_value("tone").run()
    assert "project · tone" in [field.value for field in done(app).text_input]


def test_a_class_table_with_display_names_leaves_the_answers_where_they_are():
    """Renaming goes by the names of the file, whatever the class table shows."""
    table = b"class,display name,risk\ncalm,Calm (no alarm),low\nangry,Angry,high\n"
    app = dropped(EXPORTS["long"][0], ("classes.csv", table))
    assert app.button(key="use").label == "Use 24 annotations"
    assert "risk levels known" in texts(app)
    widget(app, "toggle", "ordinal").set_value(True).run()
    assert done(app).button(key="use").label == "Use 24 annotations"


def test_the_places_of_a_class_table_are_asked_about_in_sight_from_its_first_to_its_last_class():
    table = b"class,order\n3+3,1\n3+4,2\n4+3,3\nbenign,0\n"
    grades = ("benign", "3+3", "3+4", "4+3")
    rows = [b"case,rater,class\n"]
    rows += [f"c{case},r{rater},{grades[(case + rater % 2) % 4]}\n".encode() for case in range(8) for rater in range(3)]
    asked = {}
    for name, beside in (
        ("in sight", table),
        ("in the list", table.replace(b",order", b",risk").replace(b",3", b",2")),
    ):
        app = dropped(("biopsies.csv", b"".join(rows)), ("grades.csv", beside))
        asked[name] = app
    scale = widget(asked["in sight"], "radio", "scale-")
    assert scale.value is None and "“benign” to “4+3”" in scale.options[0].replace("\\", "")
    toggle = widget(asked["in the list"], "toggle", "ordinal")
    assert any(toggle is one for part in asked["in the list"].expander for one in part.toggle)
    app = dropped(("biopsies.csv", b"".join(rows)), ("grades.csv", table))
    widget(app, "radio", "scale-").set_value(True).run()
    data = cached.registry().get(use(done(app)).session_state["data"]).dataset
    assert data.ordinal and data.classes == grades


def test_a_wrong_recognition_is_overruled_and_a_wrong_overruling_taken_back():
    app = dropped(*EXPORTS["wide"])
    widget(app, "selectbox", "format-").set_value("prodigy").run()
    assert "Could not read" in done(app).error[0].value
    widget(app, "selectbox", "format-").set_value("transposed").run()
    assert "3 cases" in texts(done(app))
    widget(app, "selectbox", "format-").set_value(None).run()
    assert done(app).button(key="use").label == "Use 24 annotations"


def test_a_change_of_layout_shows_at_once():
    app = dropped(*EXPORTS["wide"])
    widget(app, "selectbox", "layout").set_value("transposed").run()
    assert "3 cases" in texts(done(app))


def test_patterns_keep_their_groups_of_cases_until_somebody_takes_them_away():
    cells = [(one, other, city) for city in ("north", "south") for one in "xyz" for other in "xyz"]
    rows = "".join(f"{','.join(cell)},{place % 4 + 1}\n" for place, cell in enumerate(cells))
    app = dropped(("t.csv", f"ann,bob,patients,Freq\n{rows}".encode()))
    assert "43 cases" in texts(app) and "2 groups of cases" in texts(app)
    widget(app, "selectbox", "group_column").set_value("(none)").run()
    assert "43 cases" in texts(done(app)) and "groups of cases" not in texts(app)


def test_whole_numbers_that_may_be_counts_or_raters_are_asked_about_and_nothing_is_called_recognised():
    app = dropped(("t.csv", b"image,ann,bob,cid\ni0,3,1,1\ni1,0,2,2\ni2,1,0,3\ni3,2,2,1\n"))
    assert not [button for button in app.button if button.key == "use"]
    assert "Recognised" not in texts(app) and "what one row means" in texts(app)
    asked = widget(app, "radio", "row_means")
    assert asked.value is None and len(asked.options) == 2
    asked.set_value("counts").run()
    assert done(app).button(key="use").label == "Use 18 annotations"
    assert "Format you chose: **Table: one row per case, one column per class" in texts(app)
    assert "rater" not in next(frame.value for frame in app.dataframe if "class" in frame.value)
    widget(app, "radio", "row_means").set_value("wide").run()
    assert done(app).button(key="use").label == "Use 12 annotations"
    assert "Format you chose: **Table: one row per case, one column per rater" in texts(app)


def test_the_line_of_what_was_recognised_goes_with_a_choice_by_hand():
    app = dropped(*EXPORTS["wide"])
    assert "Recognised: **Table: one row per case, one column per rater" in texts(app)
    assert "One row means**: Case “1”: rater “ann” annotated it as “angry”" in texts(app)
    widget(app, "selectbox", "layout").set_value("transposed").run()
    assert "Recognised" not in texts(done(app)) and "Format you chose: **Table: one row per rater" in texts(app)
    assert "answer" not in texts(dropped(*EXPORTS["long"])).casefold()


def test_rows_left_out_stand_with_their_line_and_reason():
    app = dropped(("few.csv", b"case,rater,class\n1,a,x\n1,b,\n2,a,y\n2,b,x\n"))
    assert app.button(key="use").label == "Use 3 annotations, leave out 1 row"
    table = next(frame.value for frame in app.dataframe if list(frame.value.columns) == ["line", "reason"])
    assert table.to_numpy().tolist() == [[3, "no annotation"]]


def test_a_bad_file_is_followed_by_a_good_one():
    app = dropped(("cut.json", b'[{"id": 1, "annotations": ['))
    assert "is incomplete" in app.error[0].value
    dropped(*EXPORTS["long"], app=app)
    assert not app.error
    assert app.button(key="use").label == "Use 24 annotations"


def test_numbers_are_asked_about_and_are_no_scale_until_the_user_says_so():
    rows = b"".join(b"%d,%s,%d\n" % (case, rater, case % 3 + 1) for case in range(6) for rater in (b"ann", b"bob"))
    app = dropped(("grades.csv", b"case,rater,grade\n" + rows))
    asked = widget(app, "radio", "scale-")
    assert asked.value is None and "Are the classes “1” to “3” a scale or names?" in asked.label
    assert [option.split(" (α = ")[0] for option in asked.options] == ["A scale from “1” to “3”", "Names without order"]
    assert app.button(key="use").proto.type == "secondary"
    asked.set_value(True).run()
    assert done(app).button(key="use").proto.type == "primary"
    use(done(app))
    assert cached.registry().get(app.session_state["data"]).dataset.ordinal


def test_the_answer_that_numbers_are_names_is_remembered_for_files_of_the_same_shape():
    rows = b"".join(b"%d,%s,%d\n" % (case, rater, case % 3 + 1) for case in range(6) for rater in (b"ann", b"bob"))
    app = dropped(("codes.csv", b"case,coder,code\n" + rows))
    widget(app, "radio", "scale-").set_value(False).run()
    use(done(app))
    assert not cached.registry().get(app.session_state["data"]).dataset.ordinal
    again = dropped(("later.csv", b"case,coder,code\n" + rows))
    assert "classes are names without order" in texts(again)
    widget(again, "toggle", "as_last_time").set_value(True).run()
    assert widget(done(again), "radio", "scale-").value is False


def test_matrices_of_predictions_dropped_with_rankings_are_tried_on_the_data_and_only_those_that_fit_are_used():
    rng = np.random.default_rng(4)
    ranked = [[[[int(k)], [int((k + 1) % 7)]] for k in rng.integers(0, 7, 3)] for _ in range(12)]

    def matrix(n_rows: int) -> bytes:
        file = io.BytesIO()
        np.savetxt(file, rng.dirichlet(np.ones(7), n_rows))
        return file.getvalue()

    app = dropped(
        ("selectors.json", json.dumps(ranked).encode()),
        ("conditions.txt", b"\n".join(b"condition %d" % k for k in range(7))),
        ("risks.txt", b"0\n1\n2\n0\n1\n2\n0"),
        ("predictions_a.txt", matrix(12)),
        ("predictions_b.txt", matrix(12)),
        ("predictions_c.txt", matrix(11)),
    )
    said = texts(app)
    assert "predictions_a: predictions for 12 of 12 cases" in said
    (error,) = app.error
    assert (
        "predictions_c: the matrix has 11 rows and 7 columns, but there are 12 cases and 7 classes"
        in error.value.replace("\\", "")
    )
    app = use(app)
    assert belongings.predictions_of(app.session_state["data"]).keys() == {"predictions_a", "predictions_b"}
    dataset = cached.registry().get(app.session_state["data"]).dataset
    assert (dataset.n_classes, dataset.class_risk.tolist()) == (7, [0, 1, 2, 0, 1, 2, 0])


def test_gold_that_is_dropped_after_the_annotations_is_offered_as_gold_of_the_data_in_use():
    """By its cases and classes; the data are then the same with gold, and their predictions and machines go along."""
    rows = [f"{case},r{rater},{'xy'[(case + rater // 2) % 2]}" for case in range(12) for rater in range(3)]
    app = use(dropped(("crowd.csv", "\n".join(["case,rater,class", *rows]).encode())))
    first = app.session_state["data"]
    belongings.add_predictions(first, "model.csv", b"case,class,score\n0,x,1\n1,y,1\n")
    belongings.mark_machines(first, [Machine("r2", "m", "1")])
    app = done(app.switch_page("pages/upload.py").run())
    gold = [f"{case},{'xy'[case % 2]}" for case in range(10)]
    app = dropped(("crowd_gold.csv", "\n".join(["case,class", *gold, "other,x"]).encode()), app=app)
    assert "Use this file as gold for crowd?" in texts(app) and "gold for 10 of 12 cases" in texts(app)
    assert "Gold was left out for 1 case without an annotation." in texts(app)
    app = done(app.button(key="gold_of_file").click().run())
    address = app.session_state["data"]
    known = cached.open_dataset(address).dataset
    assert address != first and known.gold.tolist() == [case % 2 for case in range(10)] + [-1, -1]
    assert known.rater.tolist() == cached.open_dataset(first).dataset.rater.tolist()
    assert list(belongings.predictions_of(address)) == ["model.csv"]
    assert [one.name for one in belongings.machines_of(address)] == ["r2"]
    assert "10 gold cases" in texts(app) and not app.file_uploader[0].value


def test_gold_is_held_fixed_on_request_and_gold_of_more_cases_can_be_brought_after_that():
    rows = [
        f"{case},r{rater},{'xy'[(case + rater // 2) % 2]},{'xy'[case % 2] if case < 4 else ''}"
        for case in range(12)
        for rater in range(3)
    ]
    app = use(dropped(("crowd.csv", "\n".join(["case,rater,class,gold", *rows]).encode())))
    app = done(app.switch_page("pages/models.py").run())
    (hold,) = [each for each in app.toggle if each.label.startswith("Treat the gold class")]
    assert hold.label == "Treat the gold class of 4 cases as known" and not hold.value
    app = done(hold.set_value(True).run())
    app = done(app.switch_page("pages/upload.py").run())
    gold = "\n".join(["case,class", *(f"{case},{'xy'[case % 2]}" for case in range(10))])
    app = dropped(("gold.csv", gold.encode()), app=app)
    assert "gold for 10 of 12 cases" in texts(app)
    (use_it,) = [each for each in app.button if each.label == "Use as gold"]
    app = done(use_it.click().run())
    assert "10 gold cases" in texts(app)
    app = done(app.switch_page("pages/models.py").run())
    (hold,) = [each for each in app.toggle if each.label.startswith("Treat the gold class")]
    assert hold.label == "Treat the gold class of 10 cases as known" and hold.value


@pytest.mark.parametrize(
    "rows",
    [
        ["case,class", *(f"{case},z" for case in range(12))],  # no class of these data
        ["case,class", *(f"new{case},x" for case in range(12))],  # no case of them
        ["case,rater,class", *(f"{case},r1,x" for case in range(12))],  # annotations: a rater is named
    ],
)
def test_another_file_is_not_offered_as_gold(rows):
    crowd = [f"{case},r{rater},{'xy'[(case + rater) % 2]}" for case in range(12) for rater in range(3)]
    app = use(dropped(("crowd.csv", "\n".join(["case,rater,class", *crowd]).encode())))
    app = dropped(("next.csv", "\n".join(rows).encode()), app=done(app.switch_page("pages/upload.py").run()))
    assert "as gold for" not in texts(app) and not [one for one in app.button if one.key == "gold_of_file"]


def test_raters_called_like_machines_are_named_until_they_are_marked():
    app = use(dropped(("m.csv", b"case,rater,class\n1,a,x\n1,b,y\n1,gpt-4,x\n2,a,y\n2,b,y\n2,gpt-4,y")))
    assert (
        "Judging by its name, 1 of 3 raters may be an AI rater (gpt-4). Until you mark it, it counts as a person"
        in texts(app)
    )
    belongings.mark_machines(app.session_state["data"], [Machine("gpt-4")])
    assert "may be a machine" not in texts(app.run())
    more = b"case,rater,class\n" + b"\n".join(b"1,gpt-%d,x\n2,gpt-%d,y" % (n, n) for n in range(7)) + b"\n1,a,x\n2,a,y"
    app = use(dropped(("n.csv", more)))
    assert (
        "Judging by their names, 7 of 8 raters may be AI raters (gpt-0, gpt-1, gpt-2, gpt-3, gpt-4, gpt-5 …)."
        in texts(app)
    )


def test_what_an_empty_cell_of_a_set_of_labels_says_is_asked_only_where_one_is_empty():
    """Off, annotations with an empty cell are left out; the answer is remembered for the next file of this shape."""
    full = b"case,rater,oedema,nodule\na,r1,1,0\na,r2,1,1\nb,r1,0,1\nb,r2,0,1\n"
    assert not [one for one in dropped(("full.csv", full)).toggle if (one.key or "").startswith("empty-")]
    app = dropped(("gaps.csv", full + b"c,r1,1,\nc,r2,,1\n"))
    assert app.button(key="use").label == "Use 4 annotations, leave out 2 rows"
    assert "2 annotations were left out, because they have neither 0 nor 1 for some labels" in texts(app)
    toggle = widget(app, "toggle", "empty-")
    assert (toggle.label, toggle.value) == ("An empty cell means that its label does not apply", False)
    done(toggle.set_value(True).run())
    assert app.button(key="use").label == "Use 6 annotations"
    assert "leave some labels without" not in texts(app)
    use(app)
    again = dropped(("next.csv", full + b"d,r1,1,\nd,r2,1,\n"))
    assert "an empty cell means that the label does not apply" in texts(again)
    widget(again, "toggle", "as_last_time").set_value(True).run()
    assert done(again).button(key="use").label == "Use 6 annotations"
    together = b"case,rater,labels\na,r1,war;drama\na,r2,drama\nb,r1,comedy; war\nb,r2,comedy;drama;war\nc,r1,\n"
    app = dropped(("together.csv", together))
    toggle = widget(app, "toggle", "empty-")
    assert (toggle.label, toggle.value) == ("An empty cell means that no label applies", False)
    done(toggle.set_value(True).run())
    assert app.button(key="use").label == "Use 5 annotations"


def elsewhere_and_back(app: AppTest) -> AppTest:
    """A look at another page before the files are used."""
    app.switch_page("pages/settings.py").run()
    return done(app.switch_page("pages/upload.py").run())


PAIRS = b"reader,scan,finding\nana,1,x\nbea,1,y\nana,2,x\nbea,2,x\n"


def test_files_and_what_was_said_of_them_outlive_a_look_at_another_page():
    app = dropped(("pairs.csv", PAIRS))
    widget(app, "text_input", "name-").set_value("My pairs").run()
    widget(app, "selectbox", "rater_column-").set_value("scan").run()
    widget(app, "selectbox", "case_column-").set_value("reader").run()
    widget(app, "file_uploader", "side-gold-").set_value(("gold.csv", b"case,gold\nana,x\n", "")).run()
    app = elsewhere_and_back(done(app))
    assert "Not used yet: pairs.csv" in texts(app) and "Not used yet: gold.csv" in texts(app)
    assert widget(app, "text_input", "name-").value == "My pairs" and "1 gold case" in texts(app)
    assert widget(app, "selectbox", "rater_column-").value == "scan"
    use(elsewhere_and_back(app))
    assert "My pairs is open." in app.success[0].value and "Not used yet" not in texts(app)
    assert "Not used yet" not in texts(elsewhere_and_back(app))


def test_files_that_were_let_go_do_not_come_back_and_others_join_those_that_stay():
    app = elsewhere_and_back(dropped(("pairs.csv", PAIRS)))
    both = elsewhere_and_back(dropped(("more.csv", PAIRS.replace(b",1,", b",3,")), app=app))
    assert "Not used yet: pairs.csv, more.csv" in texts(both) and both.button(key="use").label == "Use 8 annotations"
    gone = done(both.button(key="discard-upload-0").click().run())
    assert "Not used yet" not in texts(gone) and "Not used yet" not in texts(elsewhere_and_back(gone))
    emptied = dropped(("pairs.csv", PAIRS))
    emptied.file_uploader[0].set_value([]).run()
    assert "Not used yet" not in texts(elsewhere_and_back(done(emptied)))


def test_of_a_workbook_with_several_sheets_the_sheet_that_is_read_is_named():
    table = [["case", "rater", "class"], *([case, rater, case % 2] for case in range(4) for rater in "ab")]
    two = dropped(
        ("study.xlsx", workbook(first=table, notes=[["words"]], second=[["case", "Ann", "Bob"], [1, "x", "y"]]))
    )
    assert ", from the sheet “first” (choose another below)." in texts(two)
    (choice,) = [one for one in two.selectbox if one.key == "question"]
    assert ", from the sheet “second” (choose another below)." in texts(done(choice.set_value("second").run()))
    assert ", from the sheet “first”." in texts(dropped(("study.xlsx", workbook(first=table, notes=[["words"]]))))
    assert "sheet" not in texts(dropped(("study.xlsx", workbook(first=table))))


SCALE = b"img,A,B\n1,mild,mild\n2,severe,moderate\n3,none,none\n4,moderate,severe\n5,none,mild\n"
PYTHON_NONE = b"item,rater1,rater2,rater3\n0,1,1,None\n1,1,1,1\n2,2,None,2\n"


def test_codes_for_missing_annotations_are_asked_about_before_anything_can_be_used():
    app = dropped(("placeholder.csv", PYTHON_NONE))
    asked = widget(app, "radio", "codes-")
    assert "Found among 9 annotations: “None” (2)." in asked.label
    assert asked.value is None
    assert asked.options == ["Yes, leave them out", "No, count them"]
    assert not [button for button in app.button if button.key == "use"]
    one_row = "Case “0”: rater “rater1” annotated it as “1” and rater “rater2” annotated it as “1”."
    assert one_row in texts(app)  # the code does not count as an annotation, unless it is to be counted
    app = done(asked.set_value(False).run())
    assert one_row not in texts(app) and "and rater “rater3” annotated it as “None”." in texts(app)
    left_out = use(done(widget(app, "radio", "codes-").set_value(True).run()))
    reading = cached.registry().get(left_out.session_state["upload_done"])
    assert (reading.dataset.classes, reading.dataset.n_annotations) == (("1", "2"), 7)
    assert not any("may be codes" in words for words in reading.report.warnings)


def test_codes_that_are_counted_are_classes_and_no_longer_warned_of():
    app = dropped(("placeholder.csv", PYTHON_NONE))
    counted = use(done(widget(app, "radio", "codes-").set_value(False).run()))
    reading = cached.registry().get(counted.session_state["upload_done"])
    assert reading.dataset.classes == ("1", "2", "None")
    assert reading.report.codes == {}
    assert not any("may be codes" in words for words in reading.report.warnings)


def test_a_scale_in_words_is_proposed_from_low_to_high_and_used_once_the_order_means_something():
    app = dropped(("scale.csv", SCALE))
    asked = widget(app, "radio", "scale-")
    assert asked.value is None and asked.options[0].startswith("A scale from “none” to “severe” (α = ")
    plain = use(app).session_state["upload_done"]
    assert cached.registry().get(plain).dataset.classes == ("mild", "moderate", "none", "severe")
    again = dropped(("scale.csv", SCALE))
    ordered = use(done(widget(again, "radio", "scale-").set_value(True).run())).session_state["upload_done"]
    dataset = cached.registry().get(ordered).dataset
    assert (dataset.classes, dataset.ordinal) == (("none", "mild", "moderate", "severe"), True)


def test_a_table_of_more_columns_than_the_limit_is_read_once_somebody_agrees():
    """It is refused first, since most such tables hold something else than annotations."""
    names = ",".join(f"r{number}" for number in range(10_001))
    rows = "\n".join(f"{case},{','.join('xy'[case == 'b'] for _ in range(10_001))}" for case in "abc")
    app = dropped(("wide.csv", f"case,{names}\n{rows}\n".encode()))
    assert "has 10,002 columns; the limit is 10,000" in app.error[0].value
    done(widget(app, "button", "read_all_columns").click().run())
    assert not app.error
    assert "10,001 raters" in texts(app)


def test_facts_on_raters_in_the_file_are_ready_for_the_groups_and_are_not_saved():
    rows = [
        f"{case},r{rater},{'xy'[(case + rater) % 2]},{'north' if rater < 10 else 'south'},{case + rater}"
        for case in range(30) for rater in range(20)
    ]  # fmt: skip
    app = use(dropped(("facts.csv", "\n".join(["case,rater,class,region,seconds", *rows]).encode())))
    raters, facts = app.session_state["_rater_facts"]
    assert facts.names == ("region",) and dict(zip(raters, facts.values[0], strict=True))["r9"] == "north"
    page = at("agreement", app.session_state["data"])
    page.session_state["_rater_facts"] = (raters, facts)
    page.session_state["agreement_tabs"] = "Groups of raters"
    assert "Facts: region." in words(settle(page.run()))
    fresh = at("agreement", app.session_state["data"])
    fresh.session_state["agreement_tabs"] = "Groups of raters"
    assert "No facts about raters yet." in words(settle(fresh.run())), "personal data stay in the session"


def test_a_column_without_ids_is_gold_once_its_order_is_confirmed():
    truth = [("cat", "dog", "fox")[n * n % 7 % 3] for n in range(30)]
    matrix = "\n".join(f"{known} {known} {truth[n - 1]} cat" for n, known in enumerate(truth)).encode()
    app = dropped(("answers.txt", matrix), ("column.txt", "\n".join(truth).encode()))
    question = widget(app, "radio", "in_order-")
    assert "in the same order as the cases" in question.label
    assert app.button(key="use").proto.type == "secondary"
    question.set_value("Yes, use it as gold").run()
    assert done(app).button(key="use").proto.type == "primary"
    use(app)
    dataset = cached.registry().get(app.session_state["upload_done"]).dataset
    assert [dataset.classes[code] for code in dataset.gold] == truth
    app = dropped(("answers.txt", matrix), ("column.txt", "\n".join(truth).encode()))
    widget(app, "radio", "in_order-").set_value("No, leave this file out").run()
    use(done(app))
    assert cached.registry().get(app.session_state["upload_done"]).dataset.gold is None


def test_a_new_version_of_a_saved_dataset_is_compared_with_it(left):
    first = b"case,rater,class\n1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n"
    app = dropped(("march.csv", first))
    assert "Compared with" not in texts(app)
    reading = cached.registry().get(use(app).session_state["data"])
    second = b"case,rater,class\n1,ann,y\n1,bob,y\n2,ann,x\n3,cy,x\n"
    assert "Compared with" not in texts(dropped(("april.csv", second)))  # it is open, but not saved
    cached.keep(reading)
    day = day_words(datetime.fromisoformat(library.kept()[0].kept_at))
    words = "1 annotation changed, 1 added, 1 removed; 1 new case, 1 new rater."
    app = dropped(("april.csv", second))
    assert f"Compared with march, saved on {day}: {words}" in texts(app).replace("\\", "")
    (table,) = [one.value for one in app.dataframe if list(one.value.columns) == ["case", "rater", "before", "now"]]
    assert table.to_numpy().tolist() == [["1", "ann", "x", "y"]]
    assert app.button(key="use").label == "Use 4 annotations"
    frame = left["compared_table"]()
    assert frame["change"].tolist() == ["changed", "added", "removed"] and frame["case"].tolist() == ["1", "3", "2"]
    assert "Compared with" not in texts(dropped(("march.csv", first)))  # the same version
    in_use = use(dropped(("april.csv", second)))
    for page in (in_use, opened("home", in_use.session_state["data"])):  # once the data are open
        assert f"Changes since march, saved on {day}" in [one.label for one in page.expander]
        assert "Compared with" not in texts(page)
        page.session_state["earlier_version"] = True
        assert f"Compared with march, saved on {day}: {words}" in texts(done(page.run()))
        assert left["compared_table"]()["case"].tolist() == ["1", "3", "2"]
    cached.keep(cached.registry().get(in_use.session_state["data"]))
    earlier = opened("home", reading.dataset.digest)  # which no file came before
    assert not [one for one in earlier.expander if one.label.startswith("Changes since")]
    unlike = second.replace(b",x\n", b",q\n").replace(b",y\n", b",r\n")
    assert "Compared with" not in texts(dropped(("other.csv", unlike)))
    wide = b"case,ann,bob,cy\n1,x,x,y\n2,x,x,x\n"  # other columns, but the name of the saved dataset
    assert "1 annotation changed, 2 added, 0 removed; 1 new rater." in texts(dropped(("march.csv", wide)))


def test_a_new_version_is_not_compared_with_data_that_this_person_may_not_open(monkeypatch):
    app = use(dropped(("march.csv", PAIRS)))
    first = app.session_state["data"]
    cached.keep(cached.registry().get(first))
    later = PAIRS.replace(b"bea,1,y", b"bea,1,x")
    assert "Compared with" in texts(dropped(("march.csv", later)))
    page = use(dropped(("march.csv", later)))
    assert [one for one in page.expander if one.label.startswith("Changes since")]
    monkeypatch.setattr(access, "may", lambda address, **_: address != first)
    assert "Compared with" not in texts(dropped(("march.csv", later)))
    assert "march is open." in texts(page.run())
    assert not [one for one in page.expander if one.label.startswith("Changes since")]


def test_a_second_file_is_described_without_the_first():
    """Both have a row that is left out; the summary of the open one comes back when the second is withdrawn."""
    gap = b"case,rater,class\n1,ann,x\n1,bob,\n2,ann,y\n2,bob,y\n"
    app = use(dropped(("first.csv", gap)))
    assert "first is open." in texts(app)
    second = dropped(("second.csv", gap.replace(b"y", b"z")), app=app)
    assert not second.exception
    assert "first is open." not in texts(second)
    second.file_uploader[0].set_value([]).run()
    assert "first is open." in texts(done(second))
