"""Classes, cases and gold beside the annotations, lists in Parquet, one file per rater, and classes merged."""

import io
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from core.errors import InputError
from core.ingest.answer_rules import Treatment, cannot_tell
from core.ingest.companion_files import CaseTable, ClassTable, SideFiles, with_side_files
from core.ingest.formats.detect import open_source
from core.ingest.formats.side_tables import read_side_file
from core.ingest.formats.tables_beside import gold_in_order
from core.ingest.read_files import build_question, read
from tests.core.ingest.as_read import answers, opened, reasons

RANKED = b"case,rater,rank,class\n1,ann,1,a\n1,ann,2,b\n1,ann,2,c\n1,bob,1,c\n2,ann,1,b\n"


def parquet_of(**columns) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


def test_a_class_table_orders_names_and_rates_the_classes():
    dataset = read(RANKED).dataset
    table = ClassTable(("c", "new", "a"), display=("Cyst", "", "Acne"), risk=("high", "", "0"))
    changed, notes = with_side_files(dataset, SideFiles(classes=table, gold={"1": "a", "9": "a", "2": "zebra"}))
    assert changed.classes == ("Cyst", "new", "Acne", "b")
    assert changed.class_risk.tolist() == [2, -1, 0, -1]
    assert changed.gold.tolist() == [2, -1]
    assert [blocks for *_, blocks in answers(changed)] == [[["Acne"], ["Cyst", "b"]], [["Cyst"]], [["b"]]]
    assert len(notes) == 3
    assert dataset.classes == ("a", "b", "c")
    rated = replace(dataset, class_risk=np.array([0, 1, 2], np.int8))
    moved, _ = with_side_files(rated, SideFiles(classes=replace(table, risk=None)))
    assert moved.class_risk.tolist() == [2, -1, 0, 1]


def test_a_class_table_that_does_not_fit_is_told_or_refused():
    dataset = read(RANKED).dataset
    assert "left out" in with_side_files(dataset, SideFiles(classes=ClassTable(("q",))))[1][0]
    for table, words in (
        (ClassTable(("a",), risk=("deadly",)), "'deadly' is not a risk level"),
        (ClassTable(("a", "b"), display=("X", "X")), "two classes have the display name 'X'"),
        (ClassTable(("a", "a")), "'a' occurs twice"),
    ):
        with pytest.raises(InputError, match=words):
            with_side_files(dataset, SideFiles(classes=table))


def test_groups_come_from_the_case_table():
    changed, notes = with_side_files(read(RANKED).dataset, SideFiles(cases=CaseTable(("1",), group=("north",))))
    assert changed.case_group == ("north", "")
    assert "no row for 1 case" in notes[0]


def test_side_files_are_recognised_among_several():
    source = open_source(
        [
            ("answers.csv", b"item,worker,label\n1,ann,x\n1,bob,y\n2,ann,x\n"),
            ("classes.csv", b"class,order,risk,display name\nx,2,low,Ex\ny,1,high,Why\n"),
            ("cases.csv", b"item,text,image,site\n1,hello,a.png,n\n2,bye,b.png,s\n"),
            ("gold.csv", b"item,label\n1,x\n"),
            ("predictions.csv", b"item,label,score\n1,x,1\n"),
        ]
    )
    assert source.side.classes == ClassTable(("y", "x"), ("Why", "Ex"), ("high", "low"), ordered=True)
    assert source.side.cases == CaseTable(("1", "2"), ("hello", "bye"), ("a.png", "b.png"), ("n", "s"))
    assert source.side.gold == {"1": "x"}
    assert [name for name, _ in source.side.predictions] == ["predictions.csv"]
    assert [question.name for question in source.questions] == ["answers.csv"]


def test_side_files_alone_are_refused():
    with pytest.raises(InputError, match="Could not find annotations"):
        open_source([("gold.csv", b"item,label\n1,x\n"), ("classes.csv", b"class,risk\nx,low\n")])


def test_a_side_file_may_be_given_by_its_kind():
    assert read_side_file("k", b"id,answer\n1,x\n2,y\n", "gold").gold == {"1": "x", "2": "y"}
    assert read_side_file("k", b"name,risk\nx,low\n", "classes").classes.risk == ("low",)
    assert read_side_file("k", b"id,text\n1,hello\n", "cases").cases.text == ("hello",)
    for kind in ("gold", "classes", "cases"):
        with pytest.raises(InputError, match="none of its columns is suitable"):
            read_side_file("k", b"p,q,r\n1,2,3\n1,3,4\n", kind)


def test_tables_of_the_same_columns_are_raters():
    files = [("ann.csv", "case,label\n1,x\n2,y\n"), ("bob.csv", "case,label\n1,y\n2,\n")]
    reading = opened(*files)
    assert answers(reading.dataset) == [("1", "ann", "x"), ("1", "bob", "y"), ("2", "ann", "y")]
    assert reasons(reading) == [(3, "bob.csv, line 3: no annotation")]


def test_lists_of_equal_length_are_taken_apart():
    content = parquet_of(
        case=["c1", "c2", "c3"], annotators=[["a", "b"], ["a"], ["a", "b"]], labels=[[1, 0], [], [1]], words=[["w"]] * 3
    )
    reading = read(content)
    assert answers(reading.dataset) == [("c1", "a", "1"), ("c1", "b", "0")]
    assert reasons(reading) == [(2, "no annotation"), (3, "its lists differ in length")]
    assert any("'words'" in note for note in reading.report.notes)


def test_lists_in_json_are_taken_apart_too():
    records = [{"pairID": f"p{n}", "annotator_labels": ["a", "b"], "gold_label": "a"} for n in (1, 2)]
    reading = read(json.dumps(records).encode(), rater="none")
    assert [answer for *_, answer in answers(reading.dataset)] == ["a", "b", "a", "b"]
    assert reading.dataset.gold.tolist() == [0, 0]
    assert not reading.dataset.raters_identified


def test_lists_that_never_fit_are_refused():
    with pytest.raises(InputError, match="differ in length"):
        read(parquet_of(case=["c1"], annotators=[["a", "b"]], labels=[[1]]))


def test_classes_are_merged_renamed_and_counted_as_missing():
    content = b"case,rater,class\n1,a,yes\n1,b,Yes\n2,a,no\n2,b,cannot tell\n3,a,nope\n"
    treatment = Treatment({"Yes": "yes", "nope": "no", "yes": "yes"}, frozenset({"cannot tell"}))
    reading = read(content, treatment=treatment)
    assert [answer for *_, answer in answers(reading.dataset)] == ["yes", "yes", "no", "no"]
    assert reasons(reading) == [(5, "'cannot tell' counts as a missing annotation")]
    assert "'Yes' is now 'yes' (1 annotation)." in reading.report.notes
    plain = read(content)
    assert any("'cannot tell' may mean" in warning for warning in plain.report.warnings)
    assert read(content, treatment=treatment, classes=["no", "yes"]).dataset.classes == ("no", "yes")


def test_a_number_for_missing_does_not_make_scores():
    content = b"case,rater,class\n" + b"".join(b"%d,a,%d\n" % (case, case % 3) for case in range(9)) + b"9,a,-99.5\n"
    assert read(content).dataset.kind == "score"
    assert read(content, treatment=Treatment(missing=frozenset({"-99.5"}))).dataset.classes == ("0", "1", "2")


def test_merged_classes_of_one_ranking_keep_the_better_place():
    reading = read(RANKED, treatment=Treatment({"b": "a"}))
    assert answers(reading.dataset)[0][2] == [["a"], ["c"]]
    assert "already ranked" in reasons(reading)[0][1]


def test_what_may_mean_that_nobody_could_tell():
    assert cannot_tell(("a", "Cannot  tell", "don’t know", "unknown lesion", "?")) == (
        "Cannot  tell",
        "don’t know",
        "?",
    )


def test_a_parquet_file_that_swells_is_refused():
    """Columns of nothing take hardly any room in the file."""
    column = pa.nulls(2_000_000, pa.string())
    sink = io.BytesIO()
    parquet.write_table(pa.table({f"c{n}": column for n in range(30)}), sink)
    with pytest.raises(InputError, match=r"unpacks to more than [0-9,]* cells"):
        read(sink.getvalue())


def test_known_classes_go_with_a_merge_of_names():
    """In a file of their own and in a column."""
    answers = b"case,rater,class\n1,a,Lesion\n1,b,lesion\n2,a,clear\n2,b,clear\n"
    treatment = Treatment({"Lesion": "lesion"})
    source = open_source([("answers.csv", answers), ("gold.csv", b"case,truth\n1,Lesion\n2,clear\n")])
    dataset = build_question(source, source.questions[0], "x", treatment=treatment).dataset
    assert [dataset.classes[code] for code in dataset.gold] == ["lesion", "clear"]
    column = b"case,rater,class,gold\n1,a,Lesion,Lesion\n1,b,lesion,Lesion\n2,a,clear,clear\n2,b,clear,clear\n"
    dataset = read(column, treatment=treatment).dataset
    assert [dataset.classes[code] for code in dataset.gold] == ["lesion", "clear"]


def test_a_table_of_texts_and_answers_is_no_case_table_where_nothing_else_holds_answers():
    answered = b"id,text,Ann,Bob\n1,hello,x,y\n2,bye,x,x\n"
    source = open_source([("answers.csv", answered), ("classes.csv", b"class,risk\nx,low\ny,high\n")])
    assert [question.name for question in source.questions] == ["answers.csv"]
    assert source.side.cases is None and source.side.classes is not None


def test_the_first_column_of_a_case_table_may_have_any_name():
    files = [("answers.csv", b"thing,worker,label\n1,ann,x\n"), ("more.csv", b"thing,text\n1,hello\n2,bye\n")]
    assert open_source(files).side.cases == CaseTable(("1", "2"), ("hello", "bye"))


def files_of_findings(folder, values, seed=61):
    """Files of the findings of three raters and of their gold, with a column for each finding, and the gold."""
    rng = np.random.default_rng(seed)
    truth = np.stack([rng.choice(known, 30) for known in values.values()], 1)
    rows = [[f"c{row}", rater, *(cell if rng.random() < 0.8 else rng.choice(known)
                                 for cell, known in zip(truth[row], values.values(), strict=True))]
            for row in range(30) for rater in ("ann", "bob", "cid")]  # fmt: skip
    tables = {"study.csv": [["case", "rater", *values], *rows],
              "truth.csv": [["case", *values], *([f"c{row}", *truth[row]] for row in range(30))]}  # fmt: skip
    for name, table in tables.items():
        folder.joinpath(name).write_text("".join(",".join(row) + "\n" for row in table), encoding="utf-8")
    return [folder / name for name in tables], truth


def test_gold_with_a_column_for_each_question_is_gold_of_that_question(tmp_path):
    paths, truth = files_of_findings(tmp_path, {"finding": ["mass", "cyst", "none seen"], "shape": ["oval", "round"]})
    for place, name in enumerate(("finding", "shape")):
        dataset = read(paths, question=name).dataset
        known = {case: dataset.classes[code] for case, code in zip(dataset.cases, dataset.gold, strict=True)}
        assert known == {f"c{row}": truth[row, place] for row in range(30)}


def test_gold_with_a_column_for_each_label_is_a_set_of_labels(tmp_path):
    labels = ("Edema finding", "Mass", "Effusion")
    paths, truth = files_of_findings(tmp_path, dict.fromkeys(labels, ("0", "1")))
    dataset = read(paths).dataset
    order = [dataset.classes.index(label) for label in labels]
    cases = [int(case[1:]) for case in dataset.cases]
    np.testing.assert_array_equal(dataset.gold_sets[:, order], truth[cases].astype(int))


TRUTH = [("cat", "dog", "fox")[n * n % 7 % 3] for n in range(30)]
MATRIX = "\n".join(f"{known} {known} {TRUTH[n - 1]} cat" for n, known in enumerate(TRUTH)).encode()
LONG = "\n".join(
    ["case,rater,label", *(f"c{29 - n},{rater},{known}" for rater in "ab" for n, known in enumerate(TRUTH))]
).encode()


@pytest.mark.parametrize("head", ["", "truth\n"])
@pytest.mark.parametrize(("content", "cases"), [(MATRIX, range(1, 31)), (LONG, [f"c{29 - n}" for n in range(30)])])
def test_a_column_without_ids_may_be_gold_in_the_order_of_the_cases(head, content, cases):
    source = open_source([("answers.txt", content), ("column.txt", (head + "\n".join(TRUTH)).encode())])
    (question,), ((name, values),) = source.questions, source.side.in_order
    assert gold_in_order(question, values) == dict(zip(map(str, cases), TRUTH, strict=True))
    reading = build_question(source, question, "x")
    assert (reading.dataset.gold, source.notes) == (None, ())
    (said,) = [one for one in reading.report.warnings if one.startswith(name)]
    assert "has one value for each of 30 cases but no case ids, so it was not used" in said


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (TRUTH[:-2], "it has no case ids, and the numbers of rows (28) and cases (30) differ"),
        ([f"image{n}.png" for n in range(30)], "most of its values do not occur as annotations"),
    ],
)
def test_a_column_that_cannot_be_gold_is_left_out_with_the_reason(values, why):
    source = open_source([("answers.txt", MATRIX), ("column.txt", "\n".join(values).encode())])
    assert source.side.in_order == ()
    assert source.notes[0].startswith("column.txt was left out: ")
    assert why in source.notes[0]


def test_numbers_without_ids_may_be_gold_of_scores():
    rows = "\n".join(f"c{n},{n + 0.5},{n + 0.75}" for n in range(30))
    beside = "\n".join(str(n + 0.6) for n in range(30)).encode()
    source = open_source([("scores.csv", b"case,r1,r2\n" + rows.encode()), ("column.txt", beside)])
    assert gold_in_order(source.questions[0], source.side.in_order[0][1])["c4"] == "4.6"


YAML = b"{0: {1489: true, 1492: false},\n 1: {1489: true, 1492: true}}\n"


@pytest.mark.parametrize("content", [YAML, b"0:\n  1489: true\n  1492: false\n"])
def test_yaml_is_refused_with_what_can_be_read(content):
    with pytest.raises(
        InputError, match=r"labels.yaml: Plurality does not support YAML. Convert it to JSON, or to a CSV"
    ):
        open_source([("labels.yaml", content)])
    source = open_source([("a.csv", LONG), ("gt.yml", content)])
    assert "Could not read gt.yml: Plurality does not support YAML." in source.notes[0]


def test_json_that_is_called_yaml_is_read():
    assert open_source([("a.yaml", b'{"w1": {"a": "x", "b": "y"}, "w2": {"a": "x", "b": "x"}}')]).questions
