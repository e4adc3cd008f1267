"""From a table to a dataset: kinds, missing annotations, repeats, rankings, and cautions."""

import numpy as np
import pytest

from core.annotations.dataset import MISSING_TIME
from core.errors import InputError
from core.ingest.read_files import read

HEADER = "case,rater,class\n"


def reading_of(rows: str, header: str = HEADER, **options):
    return read((header + rows).encode(), **options)


@pytest.mark.parametrize(
    ("rows", "caution"),
    [
        ("1,ann,x\n2,ann,y\n", "only one rater"),
        ("1,ann,x\n2,bob,y\n", "exactly one annotation"),
        ("1,ann,x\n1,bob,x\n", "Every annotation is 'x'"),
        ("1,ann,Naevus\n1,bob,naevus\n", "'Naevus', 'naevus'"),
        ("1,ann,x\n1,ann,y\n1,bob,y\n", "had already annotated the case"),
        ("1,ann,x\n1,bob,y\n", "only one case, so results do not generalise"),
        ("1,ann,x; y\n1,bob,x; y\n2,ann,z\n", "1 class has a separator in the name ('x; y')"),
    ],
    ids=["one rater", "one annotation per case", "one class", "same but capitals", "repeats", "one case", "sign"],
)
def test_poor_data_are_read_with_a_warning(rows, caution):
    reading = reading_of(rows)
    assert reading.report.n_kept == rows.count("\n")
    assert len([warning for warning in reading.report.warnings if caution in warning]) == 1


@pytest.mark.parametrize(
    ("rows", "said", "proposed"),
    [
        (
            ["1,ann,x", "1,ann,y"],
            "1 annotation is by a rater who had already annotated the case. All",
            "sets of labels",
        ),
        (["1,ann,x", "1,ann,x", "2,bob,y", "2,bob,y"], "the case (all with the same class). All", "only the first"),
        (["1,ann,x", "1,ann,x"], "the case (with the same class). All", "only the first"),
        (["1,ann,x", "1,ann,x", "1,ann,y"], "the case (1 of them with the same class). All", None),
        (
            ["1,ann,x", "1,ann,y", *(f"{case},bob,x" for case in range(2, 12))],
            "1 annotation is by a rater who had already annotated the case. All",
            None,
        ),
    ],
)
def test_what_is_proposed_for_repeated_annotations_is_what_they_can_be(rows, said, proposed):
    """Labels of one annotation differ, rows that were written twice do not; a rater who was asked again is neither."""
    (caution,) = [one for one in reading_of("\n".join(rows)).report.warnings if "already annotated the case" in one]
    assert said in caution
    assert ["A set of labels" in caution, "only the first" in caution] == [
        proposed == "sets of labels",
        proposed == "only the first",
    ]


def test_a_sign_within_a_name_is_not_one_between_names():
    """A trailing sign, a slash and a comma are parts of names; what is read as sets has been split already."""
    said = reading_of('1,ann,x;\n1,bob,salt/pepper\n2,ann,"a, b"\n2,bob,x;\n').report.warnings
    assert not [one for one in said if "separator in the name" in one]
    sets = reading_of("1,ann,x; y\n1,bob,x\n2,ann,y; z\n2,bob,z\n", kind="set")
    assert sets.dataset.kind == "set" and not [one for one in sets.report.warnings if "sign between" in one]


def test_sound_data_bring_no_warning():
    assert reading_of("1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n").report.warnings == ()


def test_missing_answers_are_dropped_and_counted_by_token():
    reading = reading_of("1,ann,NA\n1,bob,x\n1,cy,\n2,ann,n/a\n2,bob,.\n2,cy,y\n3,ann,NA\n")
    assert reading.report.missing == {"NA": 2, "": 1, "n/a": 1, ".": 1}
    assert reading.report.dropped[:2] == ((2, "no annotation ('NA')"), (4, "no annotation"))
    assert reading.report.n_kept == 2
    assert reading.dataset.cases == ("1", "2")


def test_rows_without_case_or_rater_are_dropped_with_the_reason():
    reading = reading_of("NA,ann,x\n1,,y\n1,bob,y\n")
    assert reading.report.dropped == ((2, "no case"), (3, "no rater"))


def test_a_file_of_missing_answers_is_refused_with_an_example():
    with pytest.raises(InputError, match="no row has a case, a rater and an annotation") as caught:
        reading_of("1,ann,NA\n1,bob,\n")
    assert "line 2, no annotation ('NA')" in caught.value.remedy


def test_ids_are_in_natural_order_whether_numbers_or_text():
    numbers = reading_of("10,7,x\n2,11,y\n1,7,x\n").dataset
    assert numbers.cases == ("1", "2", "10")
    assert numbers.raters == ("7", "11")
    text = reading_of("P10,r2,x\nP2,r10,y\nP1,r2,x\n").dataset
    assert text.cases == ("P1", "P2", "P10")
    assert text.raters == ("r2", "r10")


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        (["1", "2", "3"], "class"),
        (["1", "2.5"], "score"),
        ([str(number) for number in range(31)], "score"),
        ([str(number) for number in range(30)], "class"),
        (["1", "x"], "class"),
        ([f"1_{number}" for number in range(40)], "class"),
    ],
)
def test_the_kind_of_answer_is_found_from_the_answers(answers, kind):
    rows = "".join(f"1,r{number},{answer}\n" for number, answer in enumerate(answers))
    assert reading_of(rows).dataset.kind == kind


def test_the_kind_can_be_said():
    assert reading_of("1,a,1.5\n1,b,2.5\n", kind="class").dataset.classes == ("1.5", "2.5")
    reading = reading_of("1,a,1\n1,b,two\n1,c,inf\n", kind="score")
    assert reading.dataset.score.tolist() == [1.0]
    assert reading.report.dropped == (
        (3, "the annotation is not a finite number"),
        (4, "the annotation is not a finite number"),
    )
    with pytest.raises(InputError, match="no column is marked as the rank"):
        reading_of("1,a,x\n1,b,y\n", kind="ranking")


def test_a_declared_list_keeps_its_order_and_drops_what_is_not_on_it():
    reading = reading_of("1,a,low\n1,b,high\n2,a,odd\n2,b,low\n", classes=["low", "mid", "high"], ordinal=True)
    assert reading.dataset.classes == ("low", "mid", "high")
    assert reading.dataset.answer.tolist() == [0, 2, 0]
    assert reading.dataset.ordinal
    assert reading.report.dropped == ((4, "the annotation is not in the declared list of classes"),)
    with pytest.raises(InputError, match="'x' occurs twice"):
        reading_of("1,a,x\n", classes=["x", "x"])


REPEATS = "1,ann,x\n1,bob,y\n1,ann,y\n2,ann,x\n1,ann,y\n"


def test_repeats_are_kept_as_answers_of_their_own():
    reading = reading_of(REPEATS, repeats="keep")
    assert reading.dataset.n_annotations == 5
    assert reading.report.n_repeats == 2


def test_only_the_first_of_repeats_can_be_used():
    reading = reading_of(REPEATS, repeats="first")
    assert reading.dataset.n_annotations == 3
    assert [drop.line for drop in reading.report.dropped] == [4, 6]
    assert all("repeated annotation" in drop.reason for drop in reading.report.dropped)


def test_repeats_can_be_refused_at_the_first_one():
    with pytest.raises(InputError, match="rater 'ann' annotated case '1' more than once") as caught:
        reading_of(REPEATS, repeats="refuse")
    assert caught.value.line == 4
    assert reading_of("1,ann,x\n1,bob,x\n", repeats="refuse").report.n_repeats == 0


RANKED = "case,rater,rank,class\n"


def blocks(dataset) -> list[list[list[str]]]:
    return [
        [[dataset.classes[code] for code in block] for block in dataset.blocks_of(annotation)]
        for annotation in range(dataset.n_annotations)
    ]


def test_rows_of_one_rater_on_one_case_are_one_ranking_with_ties():
    reading = reading_of("1,ann,2,y\n1,ann,1,x\n1,ann,2,a\n1,bob,1,z\n1,ann,7,b\n", RANKED)
    assert reading.dataset.kind == "ranking"
    assert blocks(reading.dataset) == [[["x"], ["a", "y"], ["b"]], [["z"]]]
    assert reading.report.n_kept == 5


def test_a_class_twice_in_a_ranking_is_dropped_where_it_stands_lower():
    reading = reading_of("1,ann,2,x\n1,ann,1,x\n1,ann,3,y\n1,bob,1,x\n", RANKED)
    assert blocks(reading.dataset) == [[["x"], ["y"]], [["x"]]]
    assert reading.report.dropped == ((2, "rater 'ann' already ranked 'x' for case '1'"),)


def test_a_rank_that_is_no_number_drops_its_row():
    reading = reading_of("1,ann,first,x\n1,ann,,y\n1,ann,inf,q\n1,bob,1.5,z\n", RANKED)
    assert [(drop.line, drop.reason) for drop in reading.report.dropped] == [
        (line, "the rank is not a number") for line in (2, 3, 4)
    ]


DATED = "case,rater,rank,class,date\n"
TWICE = "1,ann,1,x,2024-01-01\n1,ann,2,y,2024-01-01\n1,ann,1,y,2024-02-01\n1,bob,1,x,2024-01-01\n"


def test_rankings_at_two_dates_are_repeats():
    kept = reading_of(TWICE, DATED)
    assert sorted(blocks(kept.dataset)) == [[["x"]], [["x"], ["y"]], [["y"]]]
    assert kept.report.n_repeats == 1
    first = reading_of(TWICE, DATED, repeats="first")
    assert blocks(first.dataset) == [[["x"], ["y"]], [["x"]]]
    assert [drop.line for drop in first.report.dropped] == [4]
    with pytest.raises(InputError, match="more than once") as caught:
        reading_of(TWICE, DATED, repeats="refuse")
    assert caught.value.line == 4


def test_a_wide_table_has_an_answer_per_cell():
    reading = reading_of("c1,x,,y\nc2,y,y,x\n,x,x,x\nc3,NA,,\n", "case,Anna,Bob,Carl\n")
    dataset = reading.dataset
    assert dataset.raters == ("Anna", "Bob", "Carl")
    assert dataset.n_annotations == 5
    assert reading.report.n_kept == 2
    assert reading.report.dropped == ((4, "no case"), (5, "no rater annotated"))
    assert reading.report.missing == {"": 3, "NA": 1}


def test_a_wide_table_without_a_case_is_numbered_by_its_rows():
    dataset = reading_of("x,y\ny,y\n", "rater_1,rater_2\n").dataset
    assert dataset.cases == ("1", "2")


def test_read_asks_when_a_column_shares_no_answer_with_the_raters():
    content = b"case,Anna,Bob,side\nc1,x,y,left\nc2,y,y,right\nc3,y,y,left\n"
    with pytest.raises(InputError, match="'Anna, Bob', 'all columns'"):
        read(content)
    assert read(content, question="Anna, Bob").dataset.raters == ("Anna", "Bob")
    (warning,) = read(content, question="all columns").report.warnings
    assert "'side'" in warning
    assert "Anna" not in warning


TIMES = "case,rater,class,date\n"


def days(rows: str) -> list[str]:
    time = reading_of(rows, TIMES).dataset.time
    return ["?" if stamp == MISSING_TIME else str(np.datetime64(int(stamp), "s"))[:10] for stamp in time]


def test_dates_are_understood_in_iso_with_zones():
    rows = "1,a,x,2024-01-02T01:00:00+02:00\n2,a,x,2024-01-02\n3,a,x,2024-01-02 10:30\n4,a,x,later\n"
    assert days(rows) == ["2024-01-01", "2024-01-02", "2024-01-02", "?"]
    warnings = reading_of(rows, TIMES).report.warnings
    assert "1 annotation has an unreadable date. Write dates like 2024-12-31." in warnings


def test_dates_may_be_seconds_or_milliseconds_since_1970():
    assert days("1,a,x,881250949\n2,a,x,1700000000\n") == ["1997-12-04", "2023-11-14"]
    assert days("1,a,x,1700000000000\n2,a,x,\n") == ["2023-11-14", "?"]


def test_the_day_comes_first_where_some_date_shows_it():
    assert days("1,a,x,02/03/2024\n2,a,x,31/12/2024\n") == ["2024-03-02", "2024-12-31"]
    assert days("1,a,x,02.03.2024\n2,a,x,04.03.2024\n") == ["2024-03-02", "2024-03-04"]
    assert days("1,a,x,02/03/2024\n2,a,x,12/31/2024\n") == ["2024-02-03", "2024-12-31"]
    mixed = "1,a,x,02.03.2024\n2,a,x,2024-03-05\n3,a,x,31.12.2024 10:30\n4,a,x,May\n"
    assert days("1,a,x,02/03/2024\n2,a,x,2024-03-05\n") == ["?", "2024-03-05"]
    assert days(mixed) == ["2024-03-02", "2024-03-05", "2024-12-31", "?"]


def test_dates_whose_order_nothing_shows_are_left_out_until_it_is_chosen():
    """The same day and month are clear; so are dates next to a day above 12."""
    rows = "1,a,x,02/03/2024\n2,a,x,04/03/2024\n3,a,x,\n"
    left_out = reading_of(rows, TIMES)
    assert left_out.dataset.time is None
    assert [words for words in left_out.report.warnings if "02/03/2024" in words]
    for day_first, month in ((True, "2024-03-0{}"), (False, "2024-0{}-03")):
        read_so = read((TIMES + rows).encode(), day_first=day_first)
        stamps = [str(np.datetime64(int(stamp), "s"))[:10] for stamp in read_so.dataset.time[:2]]
        assert stamps == [month.format(2), month.format(4)]
        assert not [words for words in read_so.report.warnings if "02/03/2024" in words]
        # A review on the data as they were read before, with the month first, is still found.
        assert (read_so.dataset.digest in left_out.earlier) == (not day_first)
    assert days("1,a,x,03/03/2024\n2,a,x,04/04/2024\n") == ["2024-03-03", "2024-04-04"]


def test_annotations_of_a_case_are_ordered_by_their_dates():
    dataset = reading_of("1,a,x,2024-03-01\n1,b,y,2024-01-01\n1,c,z,\n", TIMES).dataset
    assert [dataset.raters[code] for code in dataset.rater] == ["c", "b", "a"]


def test_the_group_of_a_case_is_that_of_its_first_row():
    dataset = reading_of("2,a,x,north\n1,a,x,south\n1,b,x,east\n3,a,x,\n", "case,rater,class,site\n").dataset
    assert dataset.case_group == ("south", "north", "")


def test_scores_too_large_to_compute_with_are_dropped_rows():
    reading = read(b"case,rater,score\na,r,1.5\na,s,1e300\nb,r,inf\n", kind="score")
    assert reading.dataset.score.tolist() == [1.5]
    assert [(row.line, row.reason) for row in reading.report.dropped] == [
        (3, "the annotation is larger than 1e+70"),
        (4, "the annotation is not a finite number"),
    ]
