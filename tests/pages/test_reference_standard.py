"""The Report page: the document on the reference standard, the check list of sections, and hidden names."""

from core import load_sample
from core.report.build import SECTIONS
from tests.pages.opened import at_rest, opened


def labels(page):
    return [one.proto.label for one in page.get("download_button")]


def test_word_and_html_are_offered_where_the_annotations_are_classes():
    assert {"Download Word", "Download HTML"} <= set(labels(opened("report", "caries")))


def test_scores_without_a_threshold_have_no_reference_standard():
    assert "Download Word" not in labels(opened("report", "essays"))


def test_a_report_has_the_chosen_sections_and_names_nobody_where_names_are_hidden():
    app = opened("report", "anaesthesia")
    for box in app.checkbox:
        if box.key.removeprefix("report_section-") in set(SECTIONS) - {"agreement", "raters"}:
            box.uncheck()
    app = at_rest(at_rest(app.run()).toggle(key="show_report").set_value(True).run())
    named = preview(app)
    assert all(SECTIONS[name] in named for name in ("agreement", "raters")) and SECTIONS["certainty"] not in named
    raters = load_sample("anaesthesia").raters
    assert raters[0] in named
    app = at_rest(app.toggle(key="report_hides_names").set_value(True).run())
    hidden = preview(app)
    assert "Rater 1" in hidden and hidden.count("<tr>") == named.count("<tr>")
    assert not [name for name in raters if f">{name}<" in hidden]


def preview(app) -> str:
    """The previewed report."""
    (frame,) = (one for one in app.main if one.type == "iframe")
    return frame.proto.srcdoc
