"""Labels of all cases on their page: what it says, its controls, its files and the command that gives them again."""

import io
import json
import shlex

import pandas as pd
import pytest

from core.command_line import main
from core.review.events import Draft
from core.review.opinions import Opinion
from pages.shared.cache import access
from pages.shared.kit import widgets
from tests.pages.opened import at_rest, kept, opened, settle, words

ROWS = "case,rater,class\n" + "".join(
    f"{case},r{rater},{'y' if (case % 3 == 0) != ((case + rater) % (2 if case == 7 else 5) == 0) else 'x'}\n"
    for case in range(24)
    for rater in range(4)
)


@pytest.fixture
def taken(monkeypatch):
    """What the download buttons of a page would give, by their keys."""
    found = {}

    def button(label, data=None, key=None, **_):
        found[key] = data

    monkeypatch.setattr(widgets.st, "download_button", button)
    return found


def rows(app):
    return app.dataframe[0].value


def test_the_file_and_the_command_give_the_table_of_the_page(taken, capsys):
    app = at_rest(opened("labels", kept(ROWS)))
    app.toggle(key="label_soft").set_value(True)
    app = settle(app.radio(key="label_rule").set_value("vote").run())
    table = pd.read_csv(io.BytesIO(taken["labels_file_csv"]()))
    lines = [json.loads(line) for line in taken["labels_file_jsonl"]().decode().splitlines()]
    shown = rows(app)
    assert len(table) == len(lines) == len(shown) == 24
    assert [row["label"] or "" for row in lines] == shown["label"].tolist() == table["label"].fillna("").tolist()
    assert "" in shown["label"].tolist() and [row["soft_label"] for row in lines] == [*map(list, shown["soft_label"])]
    assert len(json.loads(taken["labels_file_json"]())) == 24
    told = json.loads(taken["labels_file_settings"]())
    assert told["counts"] == shown["status"].value_counts().to_dict() and told["rule"] == "vote"
    assert {"digest", "version", "methods", "seed", "reliability", "command"} <= told.keys()
    capsys.readouterr()
    assert main(shlex.split(told["command"])[3:]) == 0
    again = json.loads(capsys.readouterr().out)
    assert [row["label"] for row in again["rows"]] == [row["label"] for row in lines]
    assert [row["status"] for row in again["rows"]] == [row["status"] for row in lines]


def test_the_title_counts_certain_labels_and_the_bar_moves_it():
    app = at_rest(opened("labels", kept(ROWS)))
    app = settle(app.number_input(key="label_bar").set_value(0.8).run())
    n = (rows(app)["status"] == "certain").sum()
    assert app.title[0].value == f"{n} of 24 labels are certain" and 0 < n < 24
    assert any(link.label.startswith("Review the ") for link in app.get("page_link"))
    app = settle(app.radio(key="label_below").set_value("out").run())
    assert len(rows(app)) == n and set(rows(app)["status"]) == {"certain"}
    app = settle(app.number_input(key="label_bar").set_value(0.95).run())
    assert len(rows(app)) <= n and "95%" in words(app)


def test_the_status_filter_shows_its_cases_and_leaves_the_file_whole(taken):
    app = at_rest(opened("labels", kept(ROWS)))
    app = settle(app.number_input(key="label_bar").set_value(0.8).run())
    whole = rows(app)
    counts = whole["status"].value_counts().to_dict()
    chips = app.button_group(key="label_status")
    assert len(counts) > 1 and {*chips.options} == {f"{status} ({n})" for status, n in counts.items()}
    assert "24 of 24 cases" in words(app)
    for status, n in counts.items():
        app = settle(app.button_group(key="label_status").set_value([status]).run())
        assert rows(app)["case"].tolist() == whole["case"][whole["status"] == status].tolist()
        assert f"{n} of 24 cases" in words(app)
        assert len(pd.read_csv(io.BytesIO(taken["labels_file_csv"]()))) == 24
    app = settle(app.button_group(key="label_status").set_value([*counts]).run())
    assert rows(app).equals(whole)
    app = settle(app.button_group(key="label_status").set_value(["uncertain"]).run())
    app = settle(app.radio(key="label_below").set_value("out").run())  # no uncertain case is left to show
    assert set(rows(app)["status"]) == {"certain"} and f"{counts['certain']} of 24 cases" in words(app)


def test_the_status_filter_finds_cases_beyond_the_rows_shown():
    split = range(1010, 1020)
    counts = (f"{case},{'2,2' if case in split else '4,0'}\n" for case in range(1020))
    app = at_rest(opened("labels", kept("case,x,y\n" + "".join(counts))))
    assert "1,000 of 1,020 cases" in words(app)
    (tied,) = [one for one in app.button_group(key="label_status").options if one.endswith(" (10)")]
    app = settle(app.button_group(key="label_status").set_value([tied.removesuffix(" (10)")]).run())
    assert rows(app)["case"].tolist() == [str(case) for case in split] and "10 of 1,020 cases" in words(app)


def test_review_first_shows_who_decided():
    digest = kept(ROWS)
    store = access.store()
    opinion = Opinion.of_class("y")
    for seen, step in enumerate(
        ({"kind": "opinion", "opinion": opinion}, {"kind": "reveal", "panel": opinion}, {"kind": "keep"})
    ):
        store.record(Draft(dataset=digest, case_id="1", reviewer="Ada", **step), seen=seen, token=f"t{seen}")
    app = at_rest(opened("labels", digest))
    assert set(rows(app)["decided_by"]) == {"Average of models"}
    app = settle(app.radio(key="label_rule").set_value("review").run())
    row = rows(app).set_index("case").loc["1"]
    assert (row["label"], row["status"]) == ("y", "reviewed") and row["decided_by"] == "Ada"
    assert "certain or reviewed" in app.title[0].value


def test_anonymous_raters_get_a_vote_and_the_reason():
    app = at_rest(opened("labels", "dermatology"))
    assert set(rows(app)["decided_by"]) == {"Majority vote"}
    assert "Cannot average rater models: the raters are anonymous" in words(app)


def test_one_class_needs_no_average_and_says_why():
    app = opened("labels", kept("case,rater,class\n" + "".join(f"{c},{r},x\n" for c in range(3) for r in "ab"), "one"))
    assert "Cannot average rater models: all annotations name the same class" in words(app)


def test_scores_have_a_standard_error_and_no_bar():
    app = at_rest(opened("labels", "essays"))
    assert {"label", "standard_error"} <= set(rows(app)) and "certainty" not in rows(app)
    assert "standard error" in app.title[0].value
    assert not [one for one in app.number_input if one.key == "label_bar"]


def test_home_models_and_report_lead_to_labels():
    digest = kept(ROWS)
    for page in ("home", "report"):
        app = at_rest(opened(page, digest))
        assert any(link.proto.page.endswith("labels") for link in app.get("page_link")), page
    app = opened("models", digest)
    app.session_state["model_tabs"] = "Soft labels"
    assert any(link.proto.page.endswith("labels") for link in at_rest(app.run()).get("page_link"))
