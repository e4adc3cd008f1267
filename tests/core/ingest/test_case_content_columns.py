"""Texts in the table of annotations are facts of the case only where they cannot be what a rater wrote."""

from core.ingest.read_files import read


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
