"""Cases and raters by columns of ids, gold and derived columns among raters, and records with lists of annotations."""

import csv
import io
import json
import random
import zipfile
from dataclasses import replace

import pytest

from core.errors import InputError
from core.ingest.column_evidence import ColumnEvidence
from core.ingest.column_mapping import guess_mapping
from core.ingest.formats.detect import open_source
from core.ingest.formats.tables import open_table
from core.ingest.id_columns import questions_of_ids
from core.ingest.read_files import build_question, read

from .made_tables import delimited, lines_of_json, panel, wide

CLASSES = ("cat", "dog", "fox")
DIGITS = tuple(map(str, range(10)))


def crossed(n_images: int, n_attributes: int) -> bytes:
    """Lines of image, attribute, presence, certainty and seconds, one for each pair, apart by white space."""
    rng = random.Random(n_images)
    lines = (
        f"{image} {attribute} {int(rng.random() < 0.2)} {rng.randint(1, 4)} {30 * rng.random():.3f}"
        for image in range(1, n_images + 1)
        for attribute in range(1, n_attributes + 1)
    )
    return "\n".join(lines).encode()


@pytest.mark.parametrize(("n_images", "n_attributes"), [(60, 12), (12, 60), (400, 30)])
def test_ids_of_every_pair_without_a_header_are_asked_about(n_images, n_attributes):
    source = open_source([("labels.txt", crossed(n_images, n_attributes))])
    assert [question.name for question in source.questions] == ["column 3", "column 4"]
    for question in source.questions:
        (other,) = question.mapping.instead
        assert {question.mapping.case, question.mapping.rater} == {other.case, other.rater} == {"column 1", "column 2"}


@pytest.mark.parametrize("start", [0, 5_000])
@pytest.mark.parametrize("seconds", [False, True])
def test_numbers_of_cases_and_raters_without_a_header_are_told_by_counts(start, seconds):
    rng = random.Random(start)
    rows = [
        [start + case, rater, rng.randint(0, 2), *([f"{40 * rng.random():.2f}"] if seconds else [])]
        for case in range(150)
        for rater in rng.sample(range(1, 26), 5)
    ]
    dataset = read(delimited(rows)).dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.classes) == (150, 25, ("0", "1", "2"))


def test_a_log_of_workers_and_tasks_without_a_header_has_its_gold():
    rng = random.Random(13)
    rows = [
        [f"A{worker:03d}", 7_000 + task, rng.choice((task % 4, rng.randint(0, 3))), task % 4, rng.randint(5, 90)]
        for task in range(60)
        for worker in rng.sample(range(80), 6)
    ]
    dataset = read(delimited(rows)).dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.classes) == (60, 80, ("0", "1", "2", "3"))
    assert dataset.gold is not None


def test_a_table_without_a_header_whose_first_column_repeats_is_asked_for_its_columns():
    rng = random.Random(14)
    rows = [
        [
            f"user{user}",
            f"sys{system}",
            segment,
            "TGT",
            "eng",
            rng.randint(0, 100),
            f"doc{segment // 8}",
            16e8 + segment,
        ]
        for system in range(4)
        for segment in range(30)
        for user in rng.sample(range(12), 2)
    ]
    with pytest.raises(InputError, match="Could not recognise the case column"):
        read(delimited(rows))


def test_every_pair_of_a_case_and_one_of_few_raters_is_found_among_labels_of_the_same_numbers():
    rng = random.Random(18)
    rows = [[case, rater, rng.randint(1, 5)] for case in range(1, 101) for rater in range(1, 6)]
    (question,) = open_source([("t.csv", delimited(rows))]).questions
    assert question.mapping.layout == "long" and question.mapping.instead


def test_a_rater_of_few_scores_without_a_header_stays_a_rater():
    rng = random.Random(19)
    rows = [
        [min(999, max(0, truth + rng.randint(-200, 200))) for _ in range(3)] + [250 * round(truth / 250)]
        for truth in rng.choices(range(200, 800), k=100)
    ]
    dataset = read(delimited(rows)).dataset
    assert (dataset.n_cases, dataset.n_raters) == (100, 4)


def test_scores_without_a_header_stay_one_column_per_rater():
    rng = random.Random(4)
    rows = [[min(100, max(0, truth + rng.randint(-9, 9))) for _ in range(4)] for truth in rng.choices(range(101), k=90)]
    dataset = read(delimited(rows)).dataset
    assert (dataset.n_cases, dataset.n_raters) == (90, 4)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", ["clean_label", "true_label", "label_true", "gold_label", "aggregated_label", "gt"])
def test_a_column_of_the_truth_is_gold_in_any_place(name, first):
    answers = panel(5, 60, 3, DIGITS)
    gold = [(name, [row[0] for row in answers])]
    content = wide(answers, ("label1", "label2", "label3"), "id", **({"before": gold} if first else {"after": gold}))
    dataset = read(content).dataset
    assert dataset.raters == ("label1", "label2", "label3")
    assert dataset.gold is not None


def test_a_column_that_always_repeats_one_of_the_raters_is_no_rater():
    answers = panel(6, 200, 3, DIGITS, 0.5)
    rng = random.Random(6)
    picked = [rng.choice(row) for row in answers]
    assert read(wide(answers, ("l1", "l2", "l3"), after=[("worst", picked)])).dataset.n_raters == 3
    of_its_own = [rng.choice(DIGITS) for _ in answers]
    assert read(wide(answers, ("l1", "l2", "l3"), after=[("chief", of_its_own)])).dataset.n_raters == 4


# Cases in two columns


def words_and_scores(header: list[str], n_pairs: int = 120) -> bytes:
    rng = random.Random(7)
    rows = []
    for pair in range(n_pairs):
        truth = rng.uniform(1, 9)
        scores = [round(min(10, max(0, rng.gauss(truth, 1)))) for _ in range(13)]
        rows.append([f"word{pair % 60}", f"other{pair % 71}", f"{sum(scores) / 13:.2f}", *scores])
    return delimited([header, *rows])


@pytest.mark.parametrize(
    "header",
    [
        ["Word 1", "Word 2", "Human (mean)", *map(str, range(1, 14))],
        ["word1", "word2", "mean", *(f"rater{place}" for place in range(13))],
    ],
)
def test_pairs_of_words_name_a_case_together(header):
    reading = read(words_and_scores(header))
    assert (reading.dataset.n_cases, reading.dataset.n_raters) == (120, 13)
    assert reading.dataset.cases[0] == "word0 / other0"


def test_pairs_of_texts_know_the_digest_with_the_first_as_the_case():
    rows = [
        [f"w{row % 60}", f"v{row % 71}", f"r{place}", answer]
        for row, each in enumerate(panel(20, 120, 3, CLASSES))
        for place, answer in enumerate(each)
    ]
    source = open_source([("t.csv", delimited([["sentence1", "sentence2", "rater", "class"], *rows]))])
    (question,) = source.questions
    assert question.mapping.case == "sentence1 + sentence2"
    with_first = replace(question, mapping=replace(question.mapping, case="sentence1"))
    had = build_question(source, with_first, "t").dataset.digest
    assert had in build_question(source, question, "t").earlier


def test_pairs_of_words_without_a_header_have_a_rater_in_each_column():
    rows = [[f"w{row % 60}", f"v{row % 71}", *each] for row, each in enumerate(panel(20, 120, 3, CLASSES))]
    assert all(question.mapping.layout == "wide" for question in open_source([("t.csv", delimited(rows))]).questions)


def test_two_columns_of_few_names_that_are_numbered_alike_are_not_joined():
    rows = [[f"c{row % 40}", "ab"[row % 2], *CLASSES[:2]] for row in range(80)]
    question = open_source([("t.csv", delimited([["case 1", "case 2", "r1", "r2"], *rows]))]).questions[0]
    assert " + " not in (question.mapping.case or "")


def test_parts_of_a_record_are_cases_and_no_raters():
    answers = panel(15, 80, 4, DIGITS[:5])
    rows = [[f"rec{row // 40}", row % 40, *each] for row, each in enumerate(answers)]
    dataset = read(delimited([["record", "epoch", *(f"scorer_{place}" for place in range(4))], *rows])).dataset
    assert (dataset.n_cases, dataset.n_raters) == (80, 4)


def test_sessions_of_a_case_stay_repeated_annotations():
    answers = panel(16, 60, 3, CLASSES)
    rows = [[f"c{row // 2}", row % 2, *each] for row, each in enumerate(answers)]
    assert read(delimited([["case", "occasion", "r1", "r2", "r3"], *rows])).dataset.n_cases == 30


def spans() -> bytes:
    """Categories of errors: systems, segments of documents and raters, with several rows of a rater on a segment."""
    rng = random.Random(8)
    rows = [["system", "doc", "seg_id", "rater", "category"]]
    for system in ("A", "B", "C"):
        for segment in range(40):
            for rater in rng.sample(range(6), 3):
                rows += [
                    [system, f"d{segment // 10}", segment, f"r{rater}", rng.choice(CLASSES)]
                    for _ in range(rng.choice((1, 1, 2, 3)))
                ]
    return delimited(rows)


def test_a_case_in_two_columns_of_ids_is_asked_about():
    reading = read(spans())
    assert "--case 'system + seg_id' --rater rater" in reading.doubt and "--case doc --rater rater" in reading.doubt
    assert (reading.dataset.n_cases, reading.dataset.kind) == (120, "set")
    assert reading.dataset.n_annotations == 360
    assert read(spans(), case="doc").dataset.n_cases == 4


def boxes(n_per_rater: int) -> bytes:
    rng = random.Random(9)
    rows = [["image_id", "class_name", "rad_id", "x_min", "y_min", "x_max", "y_max"]]
    for image in range(60):
        for rater in rng.sample(range(6), 3):
            rows += [
                [f"i{image}", rng.choice(CLASSES), f"R{rater}", *(rng.randint(1, 900) for _ in range(4))]
                for _ in range(n_per_rater)
            ]
    return delimited(rows)


@pytest.mark.parametrize(("n_per_rater", "kind"), [(1, "class"), (2, "set")])
def test_boxes_of_a_rater_on_an_image_are_one_set_of_classes(n_per_rater, kind):
    reading = read(boxes(n_per_rater))
    assert (reading.dataset.kind, reading.dataset.n_annotations) == (kind, 180)
    assert bool(reading.earlier) == (kind == "set")
    assert read(boxes(n_per_rater), kind="class").dataset.n_annotations == 180 * n_per_rater


# Lists of annotations in records


def test_lists_of_scores_in_records_are_questions_with_a_row_for_each_rater():
    rng = random.Random(10)
    names = ("coherence", "fluency")

    def scores(n: int) -> list[dict]:
        return [{name: rng.randint(1, 5) for name in names} for _ in range(n)]

    records = [
        {"id": f"t{row // 4}", "decoded": f"a summary of {row}", "experts": scores(3), "turkers": scores(5),
         "references": ["one", "two"], "model_id": f"M{row % 4}"}
        for row in range(40)
    ]  # fmt: skip
    source = open_source([("s.jsonl", lines_of_json(records))])
    assert [question.name for question in source.questions] == list(names)
    dataset = read(lines_of_json(records), question="fluency").dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.n_annotations) == (40, 8, 320)
    assert dataset.cases[0] == "t0 / M0" and not dataset.raters_identified


def test_scores_within_objects_of_records_are_questions():
    rng = random.Random(17)
    records = [
        {"item": f"t{row // 3}", "worker": f"w{row % 3}",
         "summary": {"policy": "p", "axes": {"overall": rng.randint(1, 7), "accuracy": rng.randint(1, 7)}}}
        for row in range(60)
    ]  # fmt: skip
    questions = open_source([("axis.jsonl", lines_of_json(records))]).questions
    assert [question.name.rsplit(".", 1)[-1] for question in questions] == ["overall", "accuracy"]


def test_lists_of_what_a_named_rater_compared_are_no_raters():
    records = [
        {"item": f"t{row // 3}", "worker": f"w{row % 3}", "choice": row % 2, "texts": [{"text": "a"}, {"text": "b"}]}
        for row in range(60)
    ]
    dataset = read(lines_of_json(records)).dataset
    assert (dataset.n_raters, dataset.n_annotations) == (3, 60)


def test_records_in_the_only_list_of_an_object_are_read_with_their_answers():
    rng = random.Random(11)
    annotations = [
        {"question_id": 900 + row, "answer_type": "other", "multiple_choice_answer": "cat",
         "answers": [{"answer": rng.choice(CLASSES), "answer_id": place} for place in range(1, 11)]}
        for row in range(30)
    ]  # fmt: skip
    content = json.dumps({"info": {"version": "2"}, "data_type": "x", "annotations": annotations}).encode()
    dataset = read(content).dataset
    assert (dataset.n_cases, dataset.n_raters, dataset.classes) == (30, 10, CLASSES)


# Gold, predictions and readers of the same findings


def findings(cells) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["Study", "Edema", "Nodule", "Fracture", "Effusion"])
    writer.writerows([f"p{row}", *(cells() for _ in range(4))] for row in range(50))
    return text.getvalue().encode()


def test_probabilities_of_findings_are_predictions_beside_readers_and_refused_beside_gold_only():
    rng = random.Random(12)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("bc4", "rad1"):
            archive.writestr(f"{name}.csv", findings(lambda: f"{rng.randint(0, 1)}.0"))
    gold, predicted = findings(lambda: rng.randint(0, 1)), findings(lambda: f"{rng.random():.5f}")
    files = [("readers.zip", packed.getvalue()), ("truth.csv", gold), ("net.csv", predicted)]
    source = open_source(files)
    assert [name for name, _ in source.side.predictions] == ["net.csv"]
    assert source.questions[0].gold is not None
    assert {question.mapping.layout for question in source.questions} == {"labels", "long"}
    with pytest.raises(InputError, match="each rater's annotations"):
        open_source(files[1:])


@pytest.mark.parametrize("n_columns", [12, 120])
def test_columns_of_ids_are_searched_with_few_comparisons_of_columns(n_columns, monkeypatch):
    rows = "\n".join(",".join(f"{c}: {(r * c) % 3 > 1}" for c in range(n_columns)) for r in range(40))
    compared = []
    monkeypatch.setattr(ColumnEvidence, "share_values", lambda *pair: bool(compared.append(pair)))
    raw = open_table(rows.encode(), has_header=False)
    assert questions_of_ids(ColumnEvidence(raw), guess_mapping(raw.columns)) == {}
    assert len(compared) <= n_columns**2
