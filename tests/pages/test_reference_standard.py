"""The document on the reference standard on the Report page."""

from tests.pages.opened import opened


def labels(page):
    return [one.proto.label for one in page.get("download_button")]


def test_word_and_html_are_offered_where_the_annotations_are_classes():
    assert {"Download Word", "Download HTML"} <= set(labels(opened("report", "caries")))


def test_scores_without_a_threshold_have_no_reference_standard():
    assert "Download Word" not in labels(opened("report", "essays"))
