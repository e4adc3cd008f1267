"""Files of paired comparisons: which columns are items, what is preferred, and what is not taken for comparisons."""

import numpy as np
import pytest

from core import read
from core.annotations.paired_items import FIRST, SECOND, TIE
from core.annotations.write import long_table
from core.errors import InputError
from core.ingest.formats.detect import open_source
from core.ingest.row_in_words import readings_of

ARENA = "model_a,model_b,winner,judge\nb,a,model_a,j1\na,b,tie (bothbad),j2\na,c,model_b,j1\nc,b,tie,j2\n"
NAMED = "item_1,item_2,preferred,rater\nx,y,x,R1\ny,z,z,R1\nx,z,x,R2\nz,y,y,R2\n"
SIDES = "left,right,choice\ni1.png,i2.png,left\ni2.png,i3.png,right\ni3.png,i1.png,left\n"
WON = "winner,loser,rater\nA,B,r1\nC,B,r1\nA,C,r2\n"


def rows(text, **how):
    """Every comparison as (case, rater, class, side), in the order of the cases."""
    dataset = read(text.encode(), **how).dataset
    swapped = dataset.pairs.swapped
    sides = [None] * dataset.n_annotations if swapped is None else swapped.tolist()
    names = [
        (dataset.cases[case], dataset.raters[rater], dataset.classes[answer])
        for case, rater, answer in zip(dataset.case_of_annotation, dataset.rater, dataset.answer, strict=True)
    ]
    return [(*name, side) for name, side in zip(names, sides, strict=True)]


def test_a_log_of_judges_is_read_with_ties_and_the_side_of_each_item():
    assert rows(ARENA) == [
        ("a | b", "j1", SECOND, 1),
        ("a | b", "j2", TIE, 0),
        ("a | c", "j1", SECOND, 0),
        ("b | c", "j2", TIE, 1),
    ]
    assert read(ARENA.encode()).dataset.ordinal


def test_the_preferred_item_may_be_named():
    assert rows(NAMED) == [
        ("x | y", "R1", FIRST, 0),
        ("x | z", "R2", FIRST, 0),
        ("y | z", "R1", SECOND, 0),
        ("y | z", "R2", FIRST, 1),
    ]
    assert not read(NAMED.encode()).dataset.ordinal


def test_without_raters_annotations_are_anonymous():
    dataset = read(SIDES.encode()).dataset
    assert not dataset.raters_identified
    assert [row[::2] for row in rows(SIDES)] == [("i1.png | i2.png", FIRST), ("i1.png | i3.png", SECOND),
                                                 ("i2.png | i3.png", SECOND)]  # fmt: skip


def test_a_winner_and_a_loser_need_no_third_column_and_say_nothing_on_sides():
    assert rows(WON) == [("A | B", "r1", FIRST, None), ("A | C", "r2", FIRST, None), ("B | C", "r1", SECOND, None)]


@pytest.mark.parametrize("word", ["A", "model_a", "Option A", "left", "1", "first"])
def test_words_for_a_side_are_understood(word):
    opposite = {"A": "B", "model_a": "model_b", "Option A": "option b", "left": "right", "1": "2", "first": "second"}
    text = f"model_a,model_b,winner,judge\nq,p,{word},j\np,r,{opposite[word]},j\nr,q,Tie,k\n"
    assert [row[2] for row in rows(text)] == [SECOND, SECOND, TIE]


def test_a_row_that_cannot_be_a_comparison_is_left_out_with_its_reason():
    odd = "a,a,tie,j1\na,b,perhaps,j1\n,b,tie,j2\na,b,,j1\n"
    reading = read((ARENA + odd + ARENA.partition("\n")[2] * 20).encode())
    reasons = [one.reason for one in reading.report.dropped]
    assert [one.line for one in reading.report.dropped] == [6, 7, 8, 9]
    assert reasons == ["an item is compared with itself", "the preferred item is neither of the two items",
                       "an item is missing", "no annotation"]  # fmt: skip
    assert reading.report.n_kept + 4 == reading.report.n_rows


QUESTIONS = "question_id,model_a,model_b,winner,judge\n" + "".join(
    f"{question},{pair},{'model_a' if (question + place) % 3 else 'tie'},j{judge}\n"
    for question in range(4)
    for place, pair in enumerate(("a,b", "c,a"))
    for judge in (1, 2)
)


def test_a_table_that_also_has_cases_keeps_its_reading_and_offers_comparisons():
    reading = read(QUESTIONS.encode(), question="winner")
    assert reading.report.mapping.layout == "long" and reading.dataset.pairs is None
    assert "--format comparisons" in reading.doubt
    dataset = read(QUESTIONS.encode(), format="comparisons").dataset
    assert dataset.n_cases == 8 and dataset.cases[0] == "0: a | b"


def test_a_question_of_each_row_makes_no_cases_of_its_own():
    text = "question_id,model_a,model_b,winner,judge\n1,b,a,model_a,j1\n2,a,b,tie,j2\n3,a,c,model_b,j1\n4,c,b,tie,j2\n"
    assert [row[0] for row in rows(text)] == ["a | b", "a | b", "a | c", "b | c"]


@pytest.mark.parametrize(
    "text",
    [
        "case,reader_1,reader_2,consensus\n1,a,b,a\n2,b,a,b\n3,a,b,b\n4,b,a,a\n",  # two raters, adjudicated
        "case,A,B,final\n1,x,y,x\n2,y,x,x\n3,x,y,y\n",
        "case,left,right,worse\n1,0,1,right\n2,1,1,right\n3,2,1,left\n4,0,2,right\n5,2,2,left\n",  # grades of two eyes
        "case,rater,class\n1,R1,a\n1,R2,b\n2,R1,a\n2,R2,a\n",
        "text_a,text_b,rater,label\nshort,other,R1,yes\nmore,words,R1,no\nshort,other,R2,yes\nmore,words,R2,no\n",
    ],
)
def test_other_tables_are_not_taken_for_comparisons(text):
    for question in open_source([("a.csv", text.encode())]).questions:
        assert "comparisons" not in [one.layout for one in (question.mapping, *question.mapping.instead)]


def test_names_of_items_with_the_sign_between_them_stay_apart():
    text = "winner,loser,rater\na | b,c,r\na,b | c,r\na | b,a,s\n"
    dataset = read(text.encode()).dataset
    assert len(set(dataset.cases)) == dataset.n_cases == 3


def test_a_comparison_needs_two_columns_of_items():
    with pytest.raises(InputError):
        read(b"only\na\nb\n", format="comparisons")


def test_reversing_every_row_changes_nothing_but_the_side():
    rng = np.random.default_rng(3)
    pairs = [rng.choice(5, 2, replace=False) for _ in range(200)]
    wins = rng.integers(3, size=200)
    words, turned = ("model_a", "tie", "model_b"), ("model_b", "tie", "model_a")
    drawn = [(a, b, w, i % 7) for i, ((a, b), w) in enumerate(zip(pairs, wins, strict=True))]
    head = "model_a,model_b,winner,judge\n"
    one = head + "".join(f"m{a},m{b},{words[w]},j{judge}\n" for a, b, w, judge in drawn)
    two = head + "".join(f"m{b},m{a},{turned[w]},j{judge}\n" for a, b, w, judge in drawn)
    assert [row[:3] for row in rows(one)] == [row[:3] for row in rows(two)]
    assert all(a[3] + b[3] == 1 for a, b in zip(rows(one), rows(two), strict=True))


def test_a_pair_that_a_rater_compared_again_is_counted_and_no_column_is_doubted():
    again = "a,b,model_a,j1\n" * 6
    said = " ".join(read((ARENA + again).encode()).report.warnings)
    assert (
        "6 annotations are by a rater who had already annotated the case. All" in said
        and "Check the column" not in said
    )


PROMPTS = "prompt,model_a,model_b,winner,judge\n" + "".join(
    f"p{prompt},{one},{other},{won},j{judge}\n"
    for prompt in (1, 2) for judge in (1, 2, 3) for one, other, won in (("x", "y", "model_a"), ("z", "x", "model_b"))
)  # fmt: skip


@pytest.mark.parametrize("text", [ARENA, NAMED, WON, PROMPTS, ARENA.replace("b,a", "b,tie").replace("a,c", "a,tie")])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_exported_annotations_read_back_as_the_same_dataset(text, suffix, tmp_path):
    dataset = read(text.encode()).dataset
    file = tmp_path / f"annotations.{suffix}"
    table = long_table(dataset)
    table.to_csv(file, index=False) if suffix == "csv" else table.to_parquet(file)
    found = read(file)
    assert not found.doubt and found.dataset.pairs is not None
    assert found.dataset.cases == dataset.cases and found.dataset.digest == dataset.digest


ONES = "item_a,item_b,preferred,rater\nx,y,1,R1\ny,z,0,R1\nx,z,1,R2\nz,y,1,R2\n"


@pytest.mark.parametrize("name", ["preferred", "label"])
def test_preferences_of_1_and_0_are_asked_about_in_one_question(name):
    text = ONES.replace("preferred", name)
    (question,) = open_source([("a.csv", text.encode())]).questions
    said = [one.words for one in readings_of(question.raw, question.mapping)]
    assert [words.endswith(f"answered “1” (1 means '{item}').") for words, item in
            zip(said, ("item_a", "item_b"), strict=True)] == [True, True]  # fmt: skip
    assert "--first item_a" in read(text.encode()).doubt
    first = rows(text, first="item_a")
    assert first == [
        ("x | y", "R1", FIRST, 0), ("x | z", "R2", FIRST, 0), ("y | z", "R1", SECOND, 0), ("y | z", "R2", SECOND, 1),
    ]  # fmt: skip
    other = {FIRST: SECOND, SECOND: FIRST}
    assert rows(text, first="item_b") == [(case, rater, other[said], side) for case, rater, said, side in first]


def test_half_is_a_tie_and_a_column_of_other_marks_is_no_preference():
    assert [row[2] for row in rows(ONES.replace("x,z,1", "x,z,0.5"), first="item_a")] == [FIRST, TIE, SECOND, SECOND]
    assert read(ONES.replace("preferred", "is_test").encode(), layout="long", case="item_a", answer="is_test",
                rater="rater").dataset.pairs is None  # fmt: skip
