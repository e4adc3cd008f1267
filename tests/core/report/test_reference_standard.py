"""The document on a reference standard: each sentence from the data, what is left to the authors, and its formats."""

from io import BytesIO

import numpy as np
import pytest

from core import load_sample
from core.agreement.applicable_coefficients import coefficients_for
from core.analyses.blocks import Grid, Words
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.command_line import main
from core.errors import InputError, NotApplicableError
from core.plausibility.dirichlet import DirichletCounts
from core.report.build import ReportRequest
from core.report.reference_standard import ITEMS, TO_WRITE, build_reference_standard, checklist, sections_of
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.rules import admit
from core.review.states import CaseReview, review_of


def request_of(dataset, **more):
    return ReportRequest(dataset, dataset.name, AnalysisSettings(DirichletCounts(), 1.0), **more)


def data(answers, groups=None):
    """Cases with the answers of their raters, as strings of a and b."""
    rows = [(case, rater, "ab".index(one)) for case, given in enumerate(answers) for rater, one in enumerate(given)]
    case, rater, code = map(np.array, zip(*rows, strict=True))
    names = [f"c{place}" for place in range(len(answers))]
    more = {} if groups is None else {"case_group": groups}
    raters = [f"R{place + 1}" for place in range(max(3, *map(len, answers)))]
    return Dataset.from_classes("reads", names, raters, ("a", "b"), case, rater, code, **more)


def text_of(request):
    """Words of each section by its key."""
    return {
        one.key: " ".join(block.plain for block in one.blocks if isinstance(block, Words))
        for one in sections_of(request)
    }


def closed(dataset, case, name, blind=True):
    """A case that a reviewer settled."""
    review, opinion = CaseReview(case), Opinion.of_class(name)
    for step in ({"kind": "opinion", "opinion": opinion}, {"kind": "reveal", "panel": opinion}, {"kind": "keep"}):
        event = admit(review, Draft(dataset=dataset.digest, case_id=case, reviewer="Ada", **step), 0)
        review = review_of(case, [*review.events, event])
    return review


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (["aa", "bb", "aba", "abb"], "suggests 2+1 reading"),
        (["aa", "ab", "aba"], "does not follow a common pattern"),
        (["aaa", "aab"], "suggests a majority vote of three raters"),
        (["aa", "ab"], "suggests double reading"),
        (["a", "b"], "has only one annotation"),
        (["aa", "bb", "aaa"], "does not follow a common pattern"),
        (["aaaa", "abab"], "Every case has 4 annotations."),
    ],
)
def test_the_process_is_named_only_if_all_cases_follow_it(answers, words):
    assert words in text_of(request_of(data(answers)))["process"]


def test_cases_without_a_majority_are_counted_with_an_interval():
    said = text_of(request_of(data(["aa", "ab", "ba", "a"])))
    assert (
        "Of 4 cases, 2 (50%, 95% interval 15% to 85%) have no majority, and 1 has only one annotation."
        in said["undetermined"]
    )
    assert "No case was settled by review" in said["process"]
    assert "0 cases have no annotation, and 1 has only one." in said["cases"]


def test_reviews_give_blinding_adjudication_and_changes():
    dataset = data(["aab", "aab", "aab", "bbb"])
    reviews = {"c0": closed(dataset, "c0", "b"), "c1": closed(dataset, "c1", "a")}
    said = text_of(request_of(dataset, reviews=reviews))
    assert (
        "In Review, 2 of 2 opinions were recorded blind, before the panel's annotations were shown." in said["blinding"]
    )
    assert "2 (50%" in said["adjudication"] and "1 (50%" in said["adjudication"]
    assert "of 2 decisions differed from the majority" in said["adjudication"]
    assert said["process"].startswith("2 cases were settled by review. For the other 2 cases")
    without = text_of(request_of(dataset))
    assert without["blinding"].startswith(TO_WRITE) and without["adjudication"].startswith(TO_WRITE)


def test_agreement_and_groups_are_those_of_the_library():
    caries = load_sample("caries")
    said = text_of(request_of(caries))
    assert coefficients_for(caries).words() in said["agreement"]
    grouped = sections_of(request_of(data(["aa", "ab", "bb", "ab"], ("x", "x", "y", "y"))))
    (grid,) = (one.blocks[0] for one in grouped if one.key == "subgroups")
    assert isinstance(grid, Grid) and grid.table["subgroup"].tolist() == ["x", "y"]
    assert grid.table["without a majority"].tolist() == [1, 1]
    assert TO_WRITE in text_of(request_of(data(["aa", "ab"])))["subgroups"]


def test_the_checklist_names_the_section_of_each_item_or_the_authors():
    dataset = data(["aab", "aab"])
    built = sections_of(request_of(dataset))
    table = checklist(built[:-1]).table
    assert len(table) == len(ITEMS) == len({(one[0], one[1]) for one in ITEMS})
    titles = {one.key: one.title for one in built}
    by_item = dict(zip(zip(table["guideline"], table["item"], strict=True), table["answered in"], strict=True))
    assert by_item["STARD 2015", "13b"] == TO_WRITE and by_item["STARD 2015", "11"] == TO_WRITE
    assert by_item["GRRAS 2011", "13"] == f"{titles['agreement']}; complete it"
    reviewed = sections_of(request_of(dataset, reviews={"c0": closed(dataset, "c0", "a")}))
    told = checklist(reviewed[:-1]).table["answered in"].tolist()
    assert told[3] == f"{titles['blinding']}; complete it"
    assert {one[0] for one in ITEMS} == {"STARD 2015", "CLAIM 2024", "GRRAS 2011"}
    assert [one[1] for one in ITEMS if one[0] == "GRRAS 2011"] == [str(number) for number in range(1, 16)]


def test_html_has_every_section_and_escapes_names():
    dataset = data(["aab", "aab"]).renamed("<script>x</script>")
    text = build_reference_standard(request_of(dataset), "html").decode()
    assert "&lt;script&gt;x" in text and "<script>x" not in text
    for one in sections_of(request_of(dataset)):
        assert one.title in text


def test_word_has_the_same_headings_sentences_and_tables():
    docx = pytest.importorskip("docx", reason="python-docx writes Word documents")
    found = request_of(data(["aab", "aab", "ab"]))
    document = docx.Document(BytesIO(build_reference_standard(found, "docx")))
    texts = [one.text for one in document.paragraphs]
    for section in sections_of(found):
        assert section.title in texts
        assert all(block.plain in texts for block in section.blocks if isinstance(block, Words))
    last = document.tables[-1]
    assert len(last.rows) == len(ITEMS) + 1 and last.rows[0].cells[0].text == "guideline"
    assert len(document.tables) == sum(isinstance(block, Grid) for one in sections_of(found) for block in one.blocks)


def test_what_cannot_be_written_is_refused():
    with pytest.raises(InputError, match=r"\.docx or \.html"):
        build_reference_standard(request_of(data(["aa"])), "pdf")
    with pytest.raises(NotApplicableError, match="scores need a threshold"):
        sections_of(request_of(load_sample("essays")))
    one = data(["a"])
    none = Dataset.from_classes("none", one.cases, one.raters, one.classes, *np.empty((3, 0), np.int64))
    assert len(sections_of(request_of(one))) == len(sections_of(request_of(data(["aab", "ab"]))))
    with pytest.raises(NotApplicableError, match="no annotations"):
        sections_of(request_of(none))


def test_the_command_writes_it_with_or_without_a_report(tmp_path, capsys):
    out = tmp_path / "standard.html"
    assert main(["report", "caries", "--reference-standard", str(out)]) == 0
    assert "GRRAS 2011" in out.read_text(encoding="utf-8")
    assert '"reference_standard"' in capsys.readouterr().out
    assert main(["report", "caries"]) == 2 and "no output file was given" in capsys.readouterr().err
    assert main(["report", "caries", "--reference-standard", str(tmp_path / "x.pdf")]) == 2


def test_tables_in_word_have_columns_for_their_texts_and_a_head_on_each_page():
    from docx import Document

    written = Document(BytesIO(build_reference_standard(request_of(data(["aab", "abb"])), "docx")))
    table = written.tables[-1]
    guideline, item, what, where = (column.width for column in table.columns)
    assert item < guideline < what and item < where
    assert [cell.width for cell in table.rows[1].cells] == [guideline, item, what, where]
    assert table.rows[0]._tr.xpath("./w:trPr/w:tblHeader") and not table.rows[1]._tr.xpath("./w:trPr/w:tblHeader")
    assert all(row._tr.xpath("./w:trPr/w:cantSplit") for row in table.rows)
