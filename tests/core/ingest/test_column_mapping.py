"""Columns are recognised in any spelling, and the user's word overrides the guess."""

from dataclasses import replace

import pytest

from core.errors import InputError
from core.ingest import column_mapping
from core.ingest.answer_rules import Treatment
from core.ingest.build_dataset import build_dataset
from core.ingest.column_mapping import Mapping, check_mapping, guess_mapping, is_known_column
from core.ingest.formats.detect import open_source
from core.ingest.read_files import read
from core.ingest.saved_mappings import Choices, recall, remember

CASES = [
    *(
        "case",
        "Case ID",
        "case_id",
        "caseId",
        "CASE-ID",
        "ITEM",
        "Item No.",
        "itemid",
        "Task No.",
        "task number",
        "unit",
    ),
    *("Subject", "document", "doc_id", "image", "imageName", "img", "Patient-ID", "sentence", "sampleKey", "record nr"),
    *("lesion", "Lesion ID", "spot", "biopsy no", "video"),
]
RATERS = [
    *("rater", "Rater Name", "rater_id", "WorkerId", "worker", "annotator-id", "ANNOTATOR", "coder", "Reader No"),
    *(
        "observer",
        "Observers",
        "performer",
        "labeler",
        "judge",
        "Reviewer",
        "User",
        "expert",
        "radiologist",
        "DoctorID",
    ),
    *(
        "dermatologist",
        "Senior pathologist",
        "neurologist_id",
        "grader",
        "labeller",
        "read by",
        "annotatedBy",
        "scorer",
    ),
]
ANSWERS = [
    *("class", "Label", "labels", "rating", "Annotation", "Answer", "chosen label", "response", "Choice", "category"),
    *("Diagnosis", "final_diagnosis", "verdict", "grade", "Score", "value", "vote"),
    *("finding", "findings", "read", "reading", "impression", "tag"),
]


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_recognised_in_any_spelling(name):
    mapping = guess_mapping(["note", "rater", "class", name])
    assert (mapping.layout, mapping.case, mapping.rater, mapping.answer) == ("long", name, "rater", "class")
    assert repr(name) in mapping.why["case"]


@pytest.mark.parametrize("name", RATERS)
def test_a_rater_is_recognised_in_any_spelling(name):
    mapping = guess_mapping(["note", name, "class", "case"])
    assert (mapping.layout, mapping.case, mapping.rater, mapping.answer) == ("long", "case", name, "class")


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_recognised_in_any_spelling(name):
    mapping = guess_mapping(["note", "rater", name, "case"])
    assert (mapping.layout, mapping.case, mapping.rater, mapping.answer) == ("long", "case", "rater", name)


def test_rank_date_and_group_need_their_whole_name():
    mapping = guess_mapping(["case", "rater", "rank", "class", "Created At", "hospital"])
    assert (mapping.rank, mapping.time, mapping.group) == ("rank", "Created At", "hospital")
    assert guess_mapping(["case", "rater", "class", "site of lesion"]).group is None


@pytest.mark.parametrize("name", ["read on", "Read at", "graded_on", "readAt", "annotation date", "Date of reading"])
def test_a_date_is_recognised_by_what_was_done_then(name):
    mapping = guess_mapping(["case", "rater", name, "class"])
    assert (mapping.answer, mapping.time) == ("class", name)


def test_durations_are_no_dates():
    for name in ("lead_time", "reading time", "answer time", "seconds read"):
        assert guess_mapping(["case", "rater", "class", name]).time is None


def test_columns_named_after_professions_are_raters_each():
    mapping = guess_mapping(["lesion", "dermatologist", "pathologist"])
    assert (mapping.layout, mapping.case, mapping.raters) == ("wide", "lesion", ("dermatologist", "pathologist"))


@pytest.mark.parametrize("name", ["Anna", "r1", "7", "", "melanoma", "x"])
def test_names_that_say_nothing_are_not_known(name):
    assert not is_known_column(name)


def test_a_column_for_each_rater_is_a_wide_table():
    mapping = guess_mapping(["id", "site", "Anna", "Bob", "Carl"])
    assert (mapping.layout, mapping.case, mapping.group) == ("wide", "id", "site")
    assert mapping.raters == ("Anna", "Bob", "Carl")
    assert guess_mapping(["case", "rater 1", "rater 2"]).raters == ("rater 1", "rater 2")
    two = guess_mapping(["id", "gpt"])
    assert (two.case, two.raters) == ("id", ())
    assert guess_mapping(["anna", "ben"]).raters == ("anna", "ben")
    assert guess_mapping(["case", "label_1", "label_2"]).raters == ("label_1", "label_2")


def test_rows_of_annotations_are_known_by_their_content_where_the_names_are_in_another_language():
    """Cases repeat, one column tells their rows apart, and the other shares no value with it: that one is the class."""
    for columns in ("image;Prüfer;Befund\n", "image;Befund;Prüfer\n"):
        turned = 1 if columns.endswith("Befund\n") else -1
        pairs = [("Ana", "klein"), ("Ben", "klein")]
        rows = "".join(";".join((f"b{n}", *pair[::turned])) + "\n" for n in range(6) for pair in pairs)
        mapping = read((columns + rows).encode()).report.mapping
        assert (mapping.layout, mapping.rater, mapping.answer) == ("long", "Prüfer", "Befund")


def test_two_columns_of_raters_stay_raters_where_cases_repeat_or_classes_differ():
    """A case a row, or classes that both columns use: a column for each rater, whatever they are called."""
    once = "".join(f"c{n},yes,no\n" for n in range(6))
    again = "".join(f"c{n // 2},{'yes' if n % 2 else 'no'},no\n" for n in range(6))
    neither = "".join(f"c{n // 3},{'a' if n % 3 else 'b'},{'x' if n % 3 else 'y'}\n" for n in range(6))
    for rows in (once, again, neither):
        assert read(("image,Erster,Zweiter\n" + rows).encode()).report.mapping.layout == "wide"


def test_what_no_name_says_is_said_by_what_raters_have_once():
    """Beside the rater, cases are what no rater has twice, and annotations the rest, in whatever order they stand."""
    pairs = [(f"p{place}", rater, str(1 + (place + len(rater)) % 3)) for place in range(8) for rater in ("ann", "bo")]
    for order, header in (((0, 1, 2), "product,reviewer,stars"), ((2, 1, 0), "stars,reviewer,product")):
        rows = "".join(",".join(pair[spot] for spot in order) + "\n" for pair in pairs)
        reading = read((header + "\n" + rows).encode())
        mapping = reading.report.mapping
        assert (mapping.layout, mapping.case, mapping.rater, mapping.answer) == ("long", "product", "reviewer", "stars")
        assert mapping.why["case"] == "no two rows with the same 'reviewer' have the same 'product'"
        assert reading.dataset.classes == ("1", "2", "3")
    stars = "".join(",".join((case, rater, answer)) + "\n" for case, rater, answer in pairs)
    for header in ("case,reviewer,stars\n", "product,reviewer,rating\n"):
        mapping = read((header + stars).encode()).report.mapping
        assert (mapping.case, mapping.answer) == tuple(header[:-1].split(",")[::2])


def test_columns_that_may_both_be_cases_are_asked_about():
    """Where rows of a rater are told apart by both columns or by neither, nothing is guessed."""
    both = "".join(f"a{n},{rater},b{n}\n" for n in range(5) for rater in ("ann", "bo"))
    neither = "".join(f"a{n % 2},{rater},b{n % 2}\n" for n in range(5) for rater in ("ann", "bo"))
    for rows in (both, neither):
        with pytest.raises(InputError, match="Could not recognise the case column"):
            read(("product,reviewer,stars\n" + rows).encode())


def test_a_date_in_a_wide_table_is_no_rater():
    assert guess_mapping(["case", "date", "Anna", "Bob"]).raters == ("Anna", "Bob")
    reading = read(b"case,date,Anna,Bob\n1,2024-01-01,x,y\n", layout="wide")
    assert reading.dataset.raters == ("Anna", "Bob")


ODD = b"rater,case,class,A,B,C\n9,9,9,1,ann,x\n9,9,9,1,bob,y\n9,9,9,2,ann,x\n"


def test_every_guess_can_be_overridden():
    dataset = read(ODD, case="A", rater="B", answer="C").dataset
    assert dataset.cases == ("1", "2")
    assert dataset.raters == ("ann", "bob")
    assert dataset.classes == ("x", "y")


def test_a_role_that_was_guessed_gives_way_where_its_column_is_wanted_elsewhere():
    reading = read(b"case,rater,class,label\n1,ann,x,p\n1,bob,y,q\n", answer="rater", rater="class")
    assert reading.report.mapping.answer == "rater"
    assert reading.dataset.raters == ("x", "y")


def test_no_rater_column_is_refused_with_the_way_out():
    with pytest.raises(InputError, match="Could not recognise the rater column") as caught:
        read(b"case,class\n1,x\n1,y\n2,x\n")
    assert "'case', 'class'" in caught.value.remedy
    assert "--rater none" in caught.value.remedy


def test_answers_without_raters_can_be_declared_anonymous():
    dataset = read(b"case,class\n1,x\n2,x\n1,y\n", rater="none").dataset
    assert dataset.raters == ("answer 1", "answer 2")
    assert not dataset.raters_identified


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"case": "nothing"}, "Could not find the column 'nothing'"),
        ({"case": "rater", "rater": "rater"}, "'rater': it has two roles"),
        ({"layout": "diagonal"}, "Unknown layout 'diagonal'"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        read(b"case,rater,class\n1,ann,x\n1,bob,y\n", **options)


def test_a_table_of_thousands_of_raters_is_read():
    names = [f"r{number}" for number in range(3000)]
    content = ",".join(["case", *names]) + "\n" + "\n".join(f"{case}" + ",x" * 3000 for case in range(2))
    assert read(content.encode()).dataset.n_annotations == 6000


def test_what_cannot_be_guessed_is_asked_for():
    with pytest.raises(InputError, match="Could not recognise the annotation column"):
        read(b"case,rater\n1,ann\n1,bob\n")
    with pytest.raises(InputError, match="Could not recognise the case column"):
        read(b"rater,class\nann,x\nbob,y\n")
    with pytest.raises(InputError, match="Could not read the table: no column is marked as a rater"):
        check_mapping(Mapping("wide", case="case"), ["case", "a", "b"])


def test_cases_are_named_by_their_id_where_each_text_has_one():
    """The text is then what is known of a case; where ids number the rows, the text stays the case."""
    rows = [f"{case},a tale of {case},{rater},{'xy'[case % 2]}" for case in range(4) for rater in "abc"]
    reading = read("\n".join(["id,text,annotator,label", *rows]).encode())
    assert reading.dataset.cases == ("0", "1", "2", "3")
    assert reading.facts.text["2"] == "a tale of 2"
    numbered = [f"{row},a tale of {row // 3},{'abc'[row % 3]},x" for row in range(12)]
    reading = read("\n".join(["id,text,annotator,label", *numbered]).encode())
    assert reading.dataset.n_cases == 4
    assert reading.dataset.cases[0] == "a tale of 0"


def test_a_name_is_taken_apart_once_however_many_roles_and_checks_ask(monkeypatch):
    """A table of 100,000 columns is read in 5 s; each name asked anew for each role took 14."""
    names = [f"wide column {n}" for n in range(500)]
    asked = []
    said = column_mapping._said
    monkeypatch.setattr(column_mapping, "_said", lambda name: asked.append(name) or said(name))
    column_mapping._likenesses.cache_clear()
    guess_mapping(["case", *names])
    assert [column_mapping.is_known_column(name) for name in names] == [False] * 500
    assert sorted(asked) == sorted(["case", *names])


def _table(n_cases: int, groups: str, dates: str = "2026-01-{:02}") -> bytes:
    """Three raters on each case, under German names; ``groups``: whose they are."""
    rows = [
        (case, f"P{(case + rater) % 7}", "Zyste" if (case * 3 + rater) % 4 else "Nävus", dates.format(1 + case % 28))
        for case in range(n_cases)
        for rater in range(3)
    ]
    of = {"raters": lambda case, rater: "AB"[int(rater[1]) % 2], "cases": lambda case, rater: "AB"[case % 2]}[groups]
    lines = ["Fall,Prüfer,Klasse,Datum,site", *(",".join(map(str, [*row, of(*row[:2])])) for row in rows)]
    return "\n".join(lines).encode()


def said_of(content: bytes, mapping: Mapping) -> tuple[str, ...]:
    """What a file read with that mapping is warned of."""
    return build_dataset(open_source([("visits.csv", content)]).questions[0].raw, mapping, "visits")[1].warnings


def test_a_column_of_groups_that_differ_within_cases_is_not_taken_for_groups_of_cases():
    by_hand = Mapping("long", case="Fall", rater="Prüfer", answer="Klasse", group="site")
    header = b"case,rater,class,date,site"
    of_raters, of_cases = (_table(30, whose).split(b"\n", 1)[1] for whose in ("raters", "cases"))
    guessed = read(header + b"\n" + of_raters)
    assert guessed.dataset.case_group is None
    assert "group: not used: 'site' differs between the rows of most cases" in guessed.report.mapping.reasons()
    assert set(read(header + b"\n" + of_cases).dataset.case_group or ()) == {"A", "B"}
    chosen = said_of(_table(30, "raters"), by_hand)
    assert "For 30 cases, column 'site' has more than one group. The first one was used." in chosen
    assert not any("more than one group" in one for one in said_of(_table(30, "cases"), by_hand))


def test_columns_of_unknown_names_are_told_by_what_they_hold_with_dates_or_without():
    mapping = read("\n".join(line.rsplit(",", 1)[0] for line in _table(30, "raters").decode().split("\n")).encode())
    mapping = mapping.report.mapping
    found = (mapping.layout, mapping.case, mapping.rater, mapping.answer, mapping.time)
    assert found == ("long", "Fall", "Prüfer", "Klasse", "Datum")
    numbers = "\n".join(line.rsplit(",", 1)[0] for line in _table(30, "raters", "1{:02}").decode().split("\n"))
    assert read(numbers.encode()).report.mapping.time is None  # whole numbers may be anything


@pytest.mark.parametrize(
    ("date", "other", "found"),
    [
        (lambda case, rater: f"{13 + rater}.11.2026 08:06", "", "Wann"),
        (lambda case, rater: f"{13 + rater}.11.2026 08:06", ";2026-01-01", None),  # a second column of dates
        (lambda case, rater: f"{1 + case % 20}.11.2026", "", None),  # a fact of the case
        (lambda case, rater: f"{1 + (case + rater) % 7}.11.1980", "", None),  # a fact of the rater
        (lambda case, rater: f"0{1 + rater}/{1 + case % 12:02}/2026", "", None),  # nothing shows which is the day
    ],
)
def test_dates_of_any_name_are_of_annotations_if_they_differ_within_cases_and_raters(date, other, found):
    lines = [
        f"c{case};Prüfer r{(case + rater) % 7};{'xy'[(case * 3 + rater) % 4 > 1]};"
        f"{(case * 7 + rater * 3) % 9},{rater * 3};{date(case, rater)}{other}"
        for case in range(30)
        for rater in range(3)
    ]
    content = "\n".join(["case;rater;class;Dauer (s);Wann" + ";Geplant" * bool(other), *lines]).encode()
    reading = read(content)
    assert reading.report.mapping.time == found and (reading.dataset.time is not None) == (found is not None)


def test_data_that_were_read_without_dates_of_an_unknown_name_are_found_by_their_earlier_digest():
    lines = [
        f"c{case};Prüfer r{(case + rater) % 7};{'xy'[(case * 3 + rater) % 4 > 1]};{(case * 7 + rater * 3) % 90 / 10};"
        f"{13 + rater}.11.2026 08:06"
        for case in range(30)
        for rater in range(3)
    ]
    content = "\n".join(["Satz;Prüfer;Stimmung;Dauer (s);Zeitpunkt", *lines]).encode()
    reading = read(content)
    without = replace(reading.report.mapping, time=None)
    assert reading.report.mapping.time == "Zeitpunkt"
    assert build_dataset(open_source([("a.csv", content)]).questions[0].raw, without, "a")[0].digest in reading.earlier


# Saved mappings: What the user said of a file is offered again for a file of the same shape.


TABLE = b"A,B,C\n1,ann,x\n1,bob,y\n"
CHOICES = Choices(
    Mapping("long", case="A", rater="B", answer="C", why={"case": "chosen"}),
    kind="class",
    classes=("y", "x"),
    ordinal=True,
    repeats="first",
    treatment=Treatment({"x": "X"}, frozenset({"?"})),
)


def opened(content: bytes, name: str = "a.csv"):
    source = open_source([(name, content)])
    return source, source.questions[0]


def test_choices_come_back_for_a_file_of_the_same_columns():
    assert recall(*opened(TABLE)) is None
    remember(*opened(TABLE), CHOICES)
    assert recall(*opened(b"A,B,C\n7,eve,q\n", "other.csv")) == CHOICES
    assert recall(*opened(b"A,B,D\n7,eve,q\n")) is None
    remember(*opened(TABLE), Choices(Mapping("wide", case="A", raters=("B", "C"), separators=(">", "="))))
    assert recall(*opened(TABLE)).mapping.raters == ("B", "C")
    assert recall(*opened(TABLE)).mapping.separators == (">", "=")


def test_a_damaged_record_is_no_record(home):
    remember(*opened(TABLE), CHOICES)
    (path,) = (home / "mappings").glob("*.json")
    for content in (
        "",
        "[]",
        "{}",
        path.read_text().replace('"A"', '"gone"', 3),
        path.read_text().replace("1", "2", 1),
    ):
        path.write_text(content)
        assert recall(*opened(TABLE)) is None


def test_a_home_that_cannot_be_written_is_told(home):
    home.mkdir()
    (home / "mappings").write_text("in the way")
    with pytest.raises(InputError, match="Could not write"):
        remember(*opened(TABLE), CHOICES)


def test_choices_on_one_question_of_a_table_are_not_those_on_another():
    rows = "".join(f"c{row},{row % 2},{'abc'[row % 3]},{row // 2 % 2},{'abc'[row // 3 % 3]}\n" for row in range(12))
    source = open_source([("t.csv", ("case,ann_size,ann_shape,bob_size,bob_shape\n" + rows).encode())])
    size, shape = source.questions
    remember(source, size, Choices(size.mapping, ordinal=True))
    assert recall(source, size).ordinal
    assert recall(source, size).mapping.rater_names == (("ann_size", "ann"), ("bob_size", "bob"))
    assert recall(source, shape) is None
