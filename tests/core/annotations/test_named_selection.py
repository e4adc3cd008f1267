"""A named selection: what it takes, how it reads, and that an address brings it back."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import load_sample, read
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection, days_of
from core.annotations.rater_codes import renamed_raters
from core.errors import InputError, NotFoundError

TABLE = b"""case,rater,class,time,group
1,a,x,2026-01-01T10:00:00,north
1,b,y,2026-01-02T23:59:59,north
1,c,x,2026-01-03T00:00:00,north
2,a,y,2026-01-02T10:00:00,south
2,b,y,2026-01-05T10:00:00,south
3,c,z,2026-01-04T10:00:00,south
"""


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return read(TABLE).dataset


def taken(dataset: Dataset, **choice) -> list[tuple[str, str]]:
    """Case and rater of the annotations that are left."""
    chosen = Selection(**choice).apply(dataset)
    return [(chosen.cases[c], chosen.raters[r]) for c, r in zip(chosen.case_of_annotation, chosen.rater, strict=True)]


def test_nothing_restricted_is_the_same_dataset(dataset):
    assert Selection().apply(dataset) is dataset
    assert Selection().everything and Selection().to_text() == ""


def test_a_selection_that_leaves_nothing_out_keeps_the_digest(dataset):
    assert Selection(raters=("a", "b", "c")).apply(dataset).digest == dataset.digest


def test_raters_groups_and_days_restrict_annotations(dataset):
    assert taken(dataset, raters=("a", "c")) == [("1", "a"), ("1", "c"), ("2", "a"), ("3", "c")]
    assert taken(dataset, groups=("south",)) == [("2", "a"), ("2", "b"), ("3", "c")]


def test_both_days_are_included_to_their_last_second(dataset):
    assert taken(dataset, first_day="2026-01-02", last_day="2026-01-02") == [("1", "b"), ("2", "a")]


def test_a_class_selects_whole_cases_on_which_it_was_answered(dataset):
    """Otherwise every annotation left would be of that class and raters would agree by construction."""
    assert taken(dataset, classes=("x",)) == [("1", "a"), ("1", "b"), ("1", "c")]


def test_annotations_are_counted_after_the_other_restrictions(dataset):
    assert taken(dataset, raters=("a", "b"), least=2) == [("1", "a"), ("1", "b"), ("2", "a"), ("2", "b")]
    assert taken(dataset, most=2) == [("2", "a"), ("2", "b"), ("3", "c")]


def test_a_class_of_a_ranking_counts_at_any_place():
    skin = load_sample("skin")
    last = skin.classes[int(skin.entry_class[skin.entry_block > 0][0])]
    chosen = Selection(classes=(last,)).apply(skin)
    code = skin.classes.index(last)
    expected = {
        skin.cases[case]
        for case in range(skin.n_cases)
        if any(code in block for a in skin.annotations_of(case) for block in skin.blocks_of(a))
    }
    assert set(chosen.cases) == expected and 0 < len(expected) < skin.n_cases


def test_what_the_data_do_not_have_is_said(dataset):
    with pytest.raises(NotFoundError, match="Could not find rater 'nobody'"):
        Selection(raters=("nobody",)).apply(dataset)
    with pytest.raises(NotFoundError, match="Could not find class 'w'"):
        Selection(classes=("w",)).apply(dataset)
    with pytest.raises(InputError, match="none match"):
        Selection(least=4).apply(dataset)
    with pytest.raises(InputError, match="Could not read the date"):
        Selection(first_day="yesterday").apply(dataset)
    scores = read(b"case,rater,score\n1,a,1.5\n1,b,2.5\n").dataset
    with pytest.raises(InputError, match="Cannot select by class: scores have no classes"):
        Selection(classes=("x",)).apply(scores)
    with pytest.raises(InputError, match="no dates"):
        Selection(last_day="2026-01-01").apply(scores)


def test_words_say_every_part(dataset):
    words = Selection(("a", "b"), ("x",), ("north",), "2026-01-01", None, 2, 3).words(dataset)
    assert words == "raters a, b; cases with x; groups north; 2026-01-01 to the end; 2 to 3 annotations per case"
    assert Selection().words(dataset) == "all annotations"
    many = read("\n".join(["case,rater,class", *(f"1,r{place},x" for place in range(9))]).encode()).dataset
    for n, said in ((3, ""), (5, ", without r5, r6 and 2 more"), (7, ", without r7, r8"), (8, ", without r8")):
        assert Selection(raters=many.raters[:n]).words(many) == f"{n} of 9 raters{said}"
    hidden = renamed_raters(many, [f"Rater {place}" for place in range(9)])
    assert Selection(raters=many.raters[:8]).words(hidden) == "8 of 9 raters"
    assert Selection(raters=("a", "b", "c")).words(dataset) == "3 of 3 raters"
    assert Selection(least=2).words(dataset) == "at least 2 annotations per case"
    assert Selection(most=1).words(dataset) == "at most 1 annotation per case"
    assert Selection(most=1200).words(dataset) == "at most 1,200 annotations per case"


def test_days_of_the_data(dataset):
    assert days_of(dataset) == (date(2026, 1, 1), date(2026, 1, 5))
    assert days_of(read(b"case,rater,class\n1,a,x\n1,b,y\n").dataset) is None
    assert datetime.fromtimestamp(int(dataset.time.min()), UTC).hour == 10


names = st.none() | st.lists(st.text(), min_size=1, max_size=3).map(tuple)
days = st.none() | st.dates().map(date.isoformat)
counts = st.none() | st.integers(1, 10**6)


@given(st.builds(Selection, names, names, names, days, days, counts, counts))
def test_an_address_brings_the_selection_back(selection):
    assert Selection.from_text(selection.to_text()) == selection


@pytest.mark.parametrize("text", ["[]", "{", '{"raters": "a"}', '{"least": 0}', '{"first_day": "x"}', '{"who": 1}'])
def test_text_that_is_no_selection_is_refused(text):
    with pytest.raises(InputError, match="selection"):
        Selection.from_text(text)


def test_scores_are_selected_by_raters_and_by_a_score_that_somebody_gave():
    rows = b"1,a,1.5\n1,b,6\n2,a,3\n2,b,4\n3,a,8\n3,b,9\n"
    scores = read(b"case,rater,score\n" + rows, name="marks").dataset
    for chosen, cases, said in (
        (Selection(lowest=6), ("1", "3"), "cases with a score of 6 or more"),
        (Selection(highest=4), ("1", "2"), "cases with a score of 4 or less"),
        (Selection(lowest=3.5, highest=6), ("1", "2"), "cases with a score from 3.5 to 6"),
    ):
        left = chosen.apply(scores)
        assert left.cases == cases and left.n_annotations == 4  # with all of their scores
        assert chosen.words(scores) == said and Selection.from_text(chosen.to_text()) == chosen
    assert Selection(raters=("a",)).apply(scores).score.tolist() == [1.5, 3, 8]
    with pytest.raises(InputError, match="none match"):
        Selection(lowest=6.5, highest=7).apply(scores)
    with pytest.raises(InputError, match="has no scores"):
        Selection(lowest=1).apply(read(b"case,rater,class\n1,a,x\n1,b,y\n").dataset)
    for value in ("high", True, float("nan")):
        with pytest.raises(InputError, match="The lowest score"):
            Selection(lowest=value)
    with pytest.raises(InputError, match="Could not read the selection"):
        Selection.from_text('{"lowest":"3"}')
