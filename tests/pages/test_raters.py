"""The Raters page: who stands out and why, the table page by page, one rater against the pool, and planning."""

import re
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.analyses.raters.rater import answers_of, message
from core.analyses.raters.table import AssessedRaters, table_of
from core.figures import cells
from core.ingest.samples import load_sample
from core.library import keep, reopen
from core.raters.flagged_raters import flag_raters
from core.raters.flags import RULES, TO_RATER
from core.raters.groups import facts_of_file
from core.raters.monitoring import monitor
from core.raters.report_card import report_card
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.store import open_store
from pages.shared.kit import columns
from pages.shared.kit import style as look
from pages.shared.raters import table as raters_table
from tests.core.raters.raters_simulated import ratings, simulated, with_spammers
from tests.pages.opened import APP, kept, opened, settle, words
from tests.pages.test_sentences import functions_of

pytestmark = pytest.mark.usefixtures("known")
SHARES = ("accuracy", "right by gold", "P(acceptable)")
ENDS = ("interval, lower end", "interval, upper end")


@pytest.fixture(scope="module")
def table():
    return monitor(load_sample("skin").as_classes()[0])


@pytest.fixture(scope="module")
def act(table):
    return flag_raters(table)


def test_nothing_is_ranked_where_two_annotations_a_case_cannot_tell_who_is_wrong():
    rows = [f"{case},r{(case + k) % 3},{'xy'[(case * k) % 2]}" for case in range(60) for k in range(2)]
    app = opened("raters", kept("\n".join(["case,rater,class", *rows])))
    assert app.title[0].value.startswith("Cannot determine rater accuracy")
    assert "Raters are not ranked" in words(app) and "Least accurate" not in words(app)


def test_one_click_leaves_a_rater_out_and_says_before_what_changes():
    app = opened("raters", "caries")
    app.session_state["rater_tabs"] = "One rater"
    app = settle(app.run())
    said = words(app)
    assert "the most likely class changes in " in said
    box = next(box for box in app.selectbox if box.label == "Rater")
    name, n_raters = box.value, len(box.options)
    app = settle(app.button(key="exclude_rater").click().run())
    assert name not in app.session_state["select"]
    left = next(box for box in app.selectbox if box.label == "Rater").options
    assert len(left) == n_raters - 1 and not any(option.startswith(name) for option in left)


def test_the_table_has_a_row_for_each_rater_and_is_sorted_filtered_and_cut(table, act):
    frame = raters_table.displayed(AssessedRaters(table, act))
    assert frame["rater"].tolist() == list(table.raters)
    assert {"accuracy", *ENDS, "bias", "P(spam)", "P(adversarial)", "p of drift"} <= set(frame.columns)
    frame = raters_table.by_trouble(frame, True)
    assert raters_table.chosen_rows(frame, "", ["low accuracy", "got worse"])["rater"].tolist() == ["R07", "R04"]
    assert raters_table.chosen_rows(frame, "", ["got worse"])["rater"].tolist() == ["R04"]
    assert raters_table.chosen_rows(frame, "r07", [])["rater"].tolist() == ["R07"]
    assert raters_table.chosen_rows(frame, "over time", [])["rater"].tolist() == ["R04"]


def test_the_table_opens_with_flagged_raters_and_then_the_least_accurate(table, act):
    frame = raters_table.displayed(AssessedRaters(table, act))
    ranked = raters_table.by_trouble(frame, True)
    assert ranked["rater"].tolist()[:2] == ["R07", "R04"] == [act.raters[rater] for rater in act.flagged()]
    assert ranked["accuracy"][2:].is_monotonic_increasing and len(ranked) == len(frame)
    assert ranked["accuracy"].iloc[2] < ranked["accuracy"].iloc[1]  # not by accuracy alone
    others = raters_table.by_trouble(frame, False)
    assert set(others["rater"][:2]) == {"R04", "R07"} and others["annotations"][2:].is_monotonic_decreasing
    shown = opened("raters", "skin").dataframe[0].value  # by the average of models, which has other accuracies
    assert shown["rater"].tolist()[:2] == ["R07", "R04"] and shown["accuracy"][2:].is_monotonic_increasing


def test_on_screen_two_flags_are_two_short_words_and_the_interval_is_drawn_in_the_row(table, act):
    frame = raters_table.displayed(AssessedRaters(table, act))
    drawn = raters_table.drawn(frame, act.acceptable.acceptable, SHARES).set_index("rater")
    assert drawn["flags"]["R07"] == ["low accuracy", "careless"] and drawn["flags"]["R01"] == []
    assert drawn["interval"].str.startswith("data:image/svg+xml;base64,").all()
    assert frame.set_index("rater")["flags"]["R07"].count("; ") == 1  # each flag in full, to be found by its words
    file = table_of(AssessedRaters(table, act)).set_index("rater")["flags"]
    assert {rater: said.split("; ") if said else [] for rater, said in file.items()} == drawn["flags"].to_dict()
    chance = frame.set_index("rater")["P(acceptable)"]
    assert 0.995 < chance["R01"] < 1 and drawn["P(acceptable)"]["R01"] == 0.99
    assert drawn["P(acceptable)"]["R07"] == round(chance["R07"], 2) < 0.5


def test_a_share_below_1_is_not_shown_as_1_and_is_drawn_where_it_is(table, act):
    """Two of 570 wrong read 1.00 beside two expected mistakes."""
    frame = raters_table.displayed(AssessedRaters(table, act)).assign(accuracy=568 / 570)
    frame["right by gold"] = [1.0, 568 / 570, 0.002, 0.0] * 3
    drawn = raters_table.drawn(frame, act.acceptable.acceptable, SHARES)
    assert set(drawn["accuracy"]) == {0.99}
    assert drawn["right by gold"].tolist() == [1.0, 0.99, 0.01, 0.0] * 3
    at = cells.intervals(*(frame[name].to_numpy() for name in ("accuracy", *ENDS)), look.theme(),
                         mark=act.acceptable.acceptable, flagged=(frame["flags"] != "").to_numpy(),
                         width=raters_table.INTERVAL)  # fmt: skip
    assert drawn["interval"].tolist() == list(at)


def test_a_message_is_to_the_rater_with_the_evidence_of_each_flag_and_a_question(table, act):
    found = AssessedRaters(table, act)
    said = message(found, table.raters.index("R07"))
    assert said.startswith("Hello R07,\n\nThank you for your 162 annotations.")
    assert "Your annotations often differ from the reference. Accuracy " in said and "acceptable" not in said
    assert said.endswith(
        "The reference (the other raters) can be wrong. If you see the cases differently, please tell us. We are "
        "happy to talk about it."
    )
    mine = [flag for flag in act.flags if table.raters[flag.rater] == "R07"]
    for flag in mine:
        what, ask = TO_RATER[flag.rule]
        assert f"{what} {flag.words.partition(' Probability')[0]} {ask}" in said
    every = [replace(mine[0], rule=rule, words="Rates 0.72 classes higher.") for rule in RULES]
    for flag in every:
        one = message(AssessedRaters(table, replace(act, flags=(flag,))), flag.rater)
        assert "You rate 0.72" in one and "them" not in " ".join(TO_RATER[flag.rule])
        assert re.search(r"\byour?\b", TO_RATER[flag.rule][0], re.IGNORECASE)
    assert "Nothing stood out." in message(found, table.raters.index("R01"))


def test_what_is_unknown_is_sorted_last():
    frame = pd.DataFrame(
        {"rater": ["a", "b", "c"], "flags": "", "accuracy": [np.nan, 0.9, 0.2]},
    )
    assert raters_table.by_trouble(frame, True)["rater"].tolist() == ["c", "b", "a"]


def test_many_raters_come_page_by_page(monkeypatch):
    """120 raters: no more rows are sent than a page holds."""
    monkeypatch.setattr(raters_table, "PAGE", 50)
    rows = "".join(f"{case},r{(case + k) % 120},{'xy'[(case * k) % 2]}\n" for case in range(240) for k in range(3))
    app = opened("raters", kept("case,rater,class\n" + rows, "many"))
    assert len(app.dataframe[0].value) == raters_table.PAGE
    first = set(app.dataframe[0].value["rater"])
    page = next(entry for entry in app.number_input if entry.label == "Page of 3")
    page.set_value(3).run()
    last = app.dataframe[0].value["rater"]
    assert len(last) == 20 and not first & set(last)


def test_answers_of_a_rater_are_shares_with_intervals_beside_those_of_the_pool(table, act):
    frame = answers_of(report_card(table, act, "R07"))
    for share, low, high in (("share", "ci_low", "ci_high"), ("share of the pool", "pool from", "pool to")):
        assert (frame[low] <= frame[share] + 1e-9).all() and (frame[share] <= frame[high] + 1e-9).all()
    by_class = frame.groupby("class by the others")
    assert (by_class["share"].sum() <= 1 + 1e-9).all()
    assert by_class["expected answers"].first().sum() == pytest.approx(161, abs=10)


def test_blind_reads_stand_beside_the_raters_where_there_are_reviews():
    """Somebody reads one case blind and agrees with one of its two raters."""
    address = kept("case,rater,class\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n", "reviewed")
    dataset = reopen(address)
    blind_reads = functions_of("raters").blind_reads
    assert blind_reads(dataset, address) is None
    draft = Draft(
        dataset=address, case_id="1", kind="opinion", reviewer="Ada", opinion=Opinion.of_class("x"), visible="blind"
    )
    open_store().record(draft, seen=0, token="one")
    found = blind_reads(dataset, address)
    assert found.value.tolist() == [1.0, 0.0] and found.n.tolist() == [1, 1]
    assert "blind reads agree" in opened("raters", address).dataframe[0].value.columns


def test_another_model_may_judge_the_raters():
    """Its accuracies stand in the table with its own intervals; the choice is among the default one and all by EM."""
    app = opened("raters", "skin")
    assert app.selectbox(key="raters_model").options[0] == "Average of models (default)"
    usual = app.dataframe[0].value.set_index("rater")["accuracy"]
    app = settle(app.selectbox(key="raters_model").set_value("tap").run())
    other = app.dataframe[0].value.set_index("rater")
    assert other["accuracy"]["R07"] < 0.65
    assert (other[ENDS[0]] < other["accuracy"]).all() and (other["accuracy"] < other[ENDS[1]]).all()
    assert not np.allclose(other["accuracy"].reindex(usual.index), usual)


def test_crossed_data_have_plans_to_compare_with_their_cost_and_no_dead_end():
    rows = "".join(
        f"{case},{rater},{'xy'[(case % 2) ^ ((case * 7 + 4 * rater) % 11 == 0)]}\n"
        for case in range(40)
        for rater in range(3)
    )
    app = opened("raters", kept("case,rater,class\n" + rows, "crossed"))
    app.session_state["rater_tabs"] = "Planning"
    app.run()
    policies = next(box for box in app.selectbox if box.label == "Which cases")
    assert policies.options == ["New cases of the same kind"] and "so these raters need new cases" in words(app)
    assert app.select_slider(key="plan_budget").label == "Maximum number of new annotations"
    assert app.number_input(key="ask_each").label == "Maximum annotations per rater"
    app.number_input(key="plan_cost").set_value(0.5)
    app.button(key="plans_go").click()
    app = settle(app.run())
    table = next(entry.value for entry in app.dataframe if "plan" in entry.value)
    assert table["plan"].tolist() == [
        "As it is",
        "3 new raters on every case",
        "20 more cases, 3 annotations each",
        "2 more annotations on the 40 least certain cases",
    ]
    assert table["annotations"].tolist() == [0, 120, 60, 80] and table["cost"].tolist() == [0, 60, 30, 40]
    assert re.fullmatch(r"\d+\.\d%", table["mean certainty"].iloc[0])  # what stands is not simulated
    assert table["mean certainty"].iloc[1:].str.fullmatch(r"\d+\.\d% \(\d+\.\d%.*\d+\.\d%\)").all()
    assert "No plan clearly improves certainty." in words(app)  # 40 cases are too few to foresee that


def test_whom_to_ask_next_is_a_table_of_pairs_with_their_gain_per_cost():
    """The numbers are those of the average of rater models; costs come from the facts of the raters."""
    data, _ = simulated(4, np.linspace(0.5, 0.95, 9), n_cases=60, per_case=3, n_classes=3, times=False)
    rows = zip(data.case_of_annotation, data.rater, data.answer, strict=True)
    lines = "".join(f"{data.cases[c]},{data.raters[r]},{data.classes[k]}\n" for c, r, k in rows)
    address = kept("case,rater,class\n" + lines, "whom")
    app = opened("raters", address)
    app.session_state["rater_tabs"] = "Planning"
    costs = b"rater,cost\n" + b"".join(b"r%d,%d\n" % (r, 1 + r % 2) for r in range(9))
    raters = reopen(address).raters
    app.session_state["_rater_facts"] = (raters, facts_of_file("f.csv", costs, raters))
    app = settle(app.run())
    app = settle(app.number_input(key="ask_each").set_value(2).run())
    table = next(entry.value for entry in app.dataframe if "any_rater" in entry.value)
    assert table["case"].is_unique and table["rater"].value_counts().max() <= 2 and len(table) == 18
    assert (table["cost"] == 1 + table["rater"].str[1:].astype(int) % 2).all()
    assert (np.diff(table["gain"] / table["cost"]) < 1e-9).all()
    assert f"Expected gain from these 18 annotations: {table['gain'].sum():.2f} bits." in words(app)


def test_plans_say_what_they_assume_where_raters_may_agree_by_chance():
    rng = np.random.default_rng(7)
    rows = [f"n{case},{rater},{'abc'[rng.integers(3)]}" for case in range(30) for rater in "xyz"]
    app = opened("raters", kept("\n".join(["case,rater,class", *rows, ""])))
    app.session_state["rater_tabs"] = "Planning"
    assert "Plans assume that raters are more accurate than chance. These data cannot confirm this:" in words(app.run())


def test_intervals_of_two_columns_of_one_table_are_drawn_on_one_axis_and_their_ends_are_hidden():
    frame = pd.DataFrame({"a": [0.6], "a0": [0.5], "a1": [0.7], "b": [0.6], "b0": [0.2], "b1": [0.9]})
    shown, config = columns.with_pictures(frame, ("a", "a0", "a1", "of a"), ("b", "b0", "b1", "of b"))
    assert list(shown) == ["a", "of a", "a0", "a1", "b", "of b", "b0", "b1"]
    points = [
        b64decode(shown[name][0].split(",")[1]).decode().split('cx="')[1].split('"')[0] for name in ("of a", "of b")
    ]
    assert points[0] == points[1]
    assert [config[name] for name in ("a0", "a1", "b0", "b1")] == [None] * 4
    many = pd.concat([frame] * 501, ignore_index=True)
    assert columns.with_pictures(many, ("a", "a0", "a1", "of a"))[1] == {}


def test_a_picture_is_as_high_as_a_row_and_fits_its_column(table, act):
    """A grid scales a picture to its row: 22 pixels were drawn 29 high and a third wider, cut at both ends."""
    found = AssessedRaters(table, act)
    frame = raters_table.drawn(raters_table.displayed(found), act.acceptable.acceptable, SHARES)
    other, config = columns.with_pictures(frame, ("accuracy", *ENDS, "95%"))
    for pictures, own in (
        (frame["interval"], raters_table._config(found, ())["interval"]),
        (other["95%"], config["95%"]),
    ):
        svg = b64decode(pictures[0].split(",")[1]).decode()
        width, height = (int(svg.split(f'{name}="')[1].split('"')[0]) for name in ("width", "height"))
        assert height == 35 - 2 * 3 and width + columns.PADDING <= own["width"]


def test_anonymous_annotations_are_no_dead_end():
    app = opened("raters", "dermatology")
    assert "anonymous" in app.info[0].value and "choose the column of names as the rater" in words(app)
    assert [link.proto.page for link in app.get("page_link")][-3:] == ["agreement", "cases", "upload"]


def test_of_sets_the_title_names_the_label_that_raters_are_judged_on():
    sets = ("war;drama", "drama", "noir;war", "war", "noir;drama")
    rows = [f"c{case},{rater},{sets[(case + (place == case % 4)) % 5]}" for case in range(30) for place, rater in
            enumerate("abc")]  # fmt: skip
    app = opened("raters", kept("\n".join(["case,rater,labels", *rows])))
    assert app.title[0].value.replace("\\", "").startswith(f"“{app.selectbox(key='label').value}”: ")


def ordered_page(seed=9, **how):
    """The Raters page of ratings from 1 to 5 whose order is declared."""
    data, _, _ = ratings(seed, **how)
    keep(data)
    return data, opened("raters", data.digest)


def test_ordered_classes_are_judged_by_how_they_follow_the_cases_and_who_reads_higher_may_stay():
    data, app = ordered_page()
    found = flag_raters(monitor(data))
    first = found.words().split(". ")[0]
    assert app.title[0].value.replace("\\", "") == first
    table = app.dataframe[0].value
    assert {"follows", "lost", "reads higher"} <= set(table.columns)
    assert not {"accuracy", "expected wrong", "classes off"} & set(table.columns)
    said = words(app)
    assert (
        "This does not count against them." in said
        and "No rater clearly has the weakest correlation with the case scores" in said
    )
    higher = data.raters[int(np.nanargmax(found.following.reading("severity")))]
    app.session_state["rater_tabs"] = "One rater"
    app.session_state["rater"] = higher
    said = words(settle(app.run()))
    assert "higher than the average rater" in said and "This does not count against the rater" in said
    assert "annotations are not compared by class" in said
    assert not [one for one in app.button if one.key == "exclude_rater"]
    app.session_state["rater_tabs"] = "Planning"
    said = words(settle(app.run()))
    assert "Cannot determine how many cases would get the correct class" in said
    goals = app.selectbox(key="plan_quantity-few").options
    assert len(goals) == 2 and not any("accuracy" in goal for goal in goals)


def test_a_rater_of_ordered_classes_without_a_flag_cannot_be_left_out_and_the_page_says_why(monkeypatch):
    data, _, _ = ratings(9)
    keep(data)
    act = flag_raters(monitor(data))
    free = [name for place, name in enumerate(data.raters) if place not in act.flagged()][:2]
    monkeypatch.setattr(raters_table, "show", lambda found: free)
    app = opened("raters", data.digest)
    assert f"No flag counts against {free[0]} and {free[1]}, so “Leave out” is not available." in words(app)
    assert not [one for one in app.button if one.key == "exclude_raters"]
    app.button(key="rater_message").click().run()
    written = {one.label: one for one in app.text_area}
    assert [one.value.splitlines()[0] for one in written.values()] == [f"Hello {name}," for name in free]
    taken = []
    monkeypatch.setattr("streamlit.text_area", lambda *_, **__: "Hello, *shall* we talk?")  # somebody edits it
    monkeypatch.setattr("streamlit.download_button", lambda label, data=None, **_: taken.append(data))
    app.button(key="rater_message").click().run()
    assert "Hello, *shall* we talk?" in taken and "Hello, *shall* we talk?" in [one.value for one in app.code]


def test_where_the_classes_of_the_model_slide_the_page_says_why_and_what_to_do():
    _, app = ordered_page(ordinal=False)
    title = app.title[0].value.replace("\\", "")
    assert title.startswith("Cannot determine rater accuracy: on cases that the model assigns to")
    said = words(app)
    assert "declare the order of the classes if they have one" in said and "Least accurate" not in said
    assert not {"accuracy", "expected wrong", "P(acceptable)", "bias"} & set(app.dataframe[0].value.columns)


def test_spammers_do_not_silence_the_page():
    data, _ = with_spammers()
    keep(data)
    app = opened("raters", data.digest)
    assert "the acceptable accuracy" in app.title[0].value
    assert "Raters agree beyond chance only without allno and allyes, who are flagged" in words(app)


def test_the_address_of_one_rater_opens_that_rater_and_none_is_in_the_address_of_all_raters():
    app = AppTest.from_file(APP, default_timeout=300)
    app.query_params["data"], app.query_params["rater"] = "caries", "dentist 5"
    app = settle(app.switch_page("pages/raters.py").run())
    rater = app.selectbox(key="one_rater")
    assert rater.value == "dentist 5" and app.query_params["rater"] == "dentist 5"
    assert settle(rater.set_value("dentist 2").run()).session_state["rater"] == "dentist 2"
    other = AppTest.from_file(APP, default_timeout=300)
    other.session_state["data"], other.session_state["rater"] = "caries", "dentist 5"
    assert "rater" not in other.run().query_params
