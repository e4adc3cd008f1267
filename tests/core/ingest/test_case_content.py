"""Texts and images stay beside the annotations: matched by path or by name, never part of digest or annotations."""

import base64
import json

import pytest

from core.errors import InputError
from core.ingest.case_content import addresses, case_facts
from core.ingest.case_facts import CaseFacts, joined
from core.ingest.companion_files import CaseTable, SideFiles, with_side_files
from core.ingest.formats.detect import open_source
from core.ingest.formats.side_tables import read_pictures
from core.ingest.images import is_picture
from core.ingest.read_files import read
from tests.core.ingest.as_read import opened

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
ANSWERS = ("answers.csv", "case,rater,class\n1,ann,x\n1,bob,y\n2,ann,x\n")
CASES = ("cases.csv", "case,text,image\n1,hello,skin/a.png\n2,bye,skin/b.png; skin/c.png\n7,other,d.png\n")


def test_the_case_table_tells_text_and_addresses_of_the_cases_that_were_answered():
    facts = opened(ANSWERS, CASES).facts
    assert facts.text == {"1": "hello", "2": "bye"}
    assert facts.address == {"1": ("skin/a.png",), "2": ("skin/b.png", "skin/c.png")}
    assert facts.images == {}


def test_facts_make_no_other_dataset():
    assert opened(ANSWERS, CASES).dataset.digest == opened(ANSWERS).dataset.digest
    assert opened(ANSWERS).facts is None


def test_images_belong_to_the_case_whose_address_ends_as_their_path():
    pictures = [("all/skin/a.png", PNG + b"a"), ("other/a.png", PNG + b"?"), ("all/skin/B.PNG", PNG + b"b")]
    facts = opened(ANSWERS, CASES, *pictures).facts
    assert facts.images == {"1": {"skin/a.png": PNG + b"a"}, "2": {"skin/b.png": PNG + b"b"}}


def test_images_belong_to_the_case_that_they_or_their_folder_are_named_after():
    pictures = [("x/1.png", PNG), ("2/front.png", PNG + b"f"), ("2/side.png", PNG + b"s"), ("9.png", PNG)]
    reading = opened(ANSWERS, *pictures)
    assert reading.facts.images == {
        "1": {"x/1.png": PNG},
        "2": {"2/front.png": PNG + b"f", "2/side.png": PNG + b"s"},
    }
    assert any(note.startswith("Could not match 1 of 4 images") for note in reading.report.notes)


def test_two_images_that_fit_an_address_equally_well_are_not_guessed():
    facts = case_facts(["1"], CaseTable(("1",), address=("a.png",)), [("x/a.png", PNG), ("y/a.png", PNG)], [])
    assert facts.images == {}


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("a.png", ("a.png",)),
        ("a.png; b.jpg|c.webp", ("a.png", "b.jpg", "c.webp")),
        ("http://x/?a=1;b=2", ("http://x/?a=1;b=2",)),
        ('["a.png", "b"]', ("a.png", "b")),
        ("[broken", ("[broken",)),
        ("http://x/1\nb.png", ("http://x/1", "b.png")),
        ("data:image/png;base64,AAAA", ("data:image/png;base64,AAAA",)),
        (" ", ()),
    ],
)
def test_a_cell_may_hold_several_addresses(cell, found):
    assert addresses(cell) == found


def test_facts_of_two_files_are_united_and_the_later_counts():
    one, other = CaseFacts({"1": "old", "2": "two"}), CaseFacts({"1": "new"}, {"1": ("a.png",)})
    assert joined(one, other).text == {"1": "new", "2": "two"}
    assert joined(one, None) is one and joined(None, other) is other and joined(None, None) is None


def test_case_tables_are_united():
    one = CaseTable(("1", "2"), text=("a", "b"), group=("n", "s"))
    other = CaseTable(("2", "3"), text=("B", "c"), address=("x", "y"))
    assert one.joined(other) == CaseTable(("1", "2", "3"), ("a", "B", "c"), ("", "x", "y"), ("n", "s", ""))


def test_dates_of_cases_stand_for_dates_that_answers_lack():
    plain = opened(ANSWERS).dataset
    table = SideFiles(cases=CaseTable(("1", "2"), time=("1970-01-02", "1970-01-03")))
    dated, notes = with_side_files(plain, table)
    assert dated.time.tolist() == [86400, 86400, 172800]
    assert "dates in the case table are used" in notes[0]
    own = opened(("a.csv", "case,rater,class,date\n1,ann,x,2024-01-01\n2,bob,x,\n")).dataset
    assert with_side_files(own, table)[0].digest == own.digest


def test_a_table_of_other_cases_is_passed_over():
    dataset = opened(ANSWERS).dataset
    changed, notes = with_side_files(dataset, SideFiles(cases=CaseTable(("8",), group=("n",))))
    assert changed.case_group is None
    assert "case table was left out" in notes[0]


def label_studio(**data):
    answer = {"type": "choices", "from_name": "mood", "value": {"choices": ["happy"]}}
    task = {"id": 1, "data": data, "annotations": [{"id": 5, "completed_by": 3, "result": [answer]}]}
    return open_source([("a.json", json.dumps([task]).encode())]).side.cases


def test_what_may_be_an_answer_is_not_shown_with_the_case():
    table = label_studio(label="happy", text="hello there", gold_label="sad", mood="happy", url="http://x/1.png")
    assert (table.text, table.address) == (("hello there",), ("http://x/1.png",))
    assert label_studio(label="happy") is None


def test_several_texts_are_told_apart_by_name():
    table = label_studio(premise="A man sleeps.", hypothesis="He dreams.", images=["a.png", "b.png"])
    assert table.text == ("premise: A man sleeps.\n\nhypothesis: He dreams.",)
    assert table.address == ("a.png\nb.png",)


def test_an_embedded_image_is_an_address_and_no_text():
    embedded = "data:image/png;base64," + base64.b64encode(PNG * 400).decode()
    assert label_studio(image=embedded).address == (embedded,)


def test_a_zip_of_images_is_read_by_itself():
    assert read_pictures("1.png", PNG).images == (("1.png", PNG),)
    with pytest.raises(InputError, match="contains no PNG"):
        read_pictures("a.txt", b"words")


@pytest.mark.parametrize("content", [PNG, b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\0\0\0\0WEBP"])
def test_pictures_are_known_by_their_first_bytes(content):
    assert is_picture(content)
    assert not is_picture(b"x" + content)


# Case content columns: Texts in the table of annotations are facts of the case only where they cannot be what a rater
# wrote.


def facts(table: str):
    return read(table.encode()).facts


def test_a_text_that_every_row_of_a_case_repeats_is_a_fact_of_the_case():
    found = facts("case,text,image,rater,class\n1,hello,a.png,ann,x\n1,hello,a.png,bob,y\n2,bye,b.png,ann,x\n")
    assert found.text == {"1": "hello", "2": "bye"}
    assert found.address == {"1": ("a.png",), "2": ("b.png",)}


def test_a_text_that_differs_between_raters_is_not_shown():
    assert facts("case,text,rater,class\n1,I think x,ann,x\n1,surely y,bob,y\n2,bye,ann,x\n") is None


def test_with_one_answer_a_case_nobody_knows_whose_text_it_is():
    assert facts("case,text,rater,class\n1,hello,ann,x\n2,bye,bob,y\n") is None


def test_a_column_that_has_a_meaning_is_no_fact():
    found = facts("image,rater,class\na.png,ann,x\na.png,bob,y\n")
    assert found is None
