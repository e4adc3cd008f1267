"""Exports of crowdsourcing, survey and screening programs: made anew, two variants of each at least."""

import io
import json
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.ingest.formats.arrow_file import read_arrow
from core.ingest.formats.budget import reading
from core.ingest.formats.detect import open_source
from core.ingest.guess_mapping import mapping_before
from core.ingest.read_files import build_question, read

from . import made_tables as made
from .shapes import zip_bytes

RATERS = ("w1", "w2", "w3")
CASES = tuple(f"t{number}" for number in range(8))
CLASSES = ("cat", "dog", "fox")
ANSWERS = made.panel(1, 8, 3, CLASSES)


def opened(name: str, content: bytes):
    return open_source([(name, content)])


def sizes(dataset) -> tuple[int, int, int]:
    return dataset.n_cases, dataset.n_raters, dataset.n_annotations


@pytest.mark.parametrize(("status", "n_kept"), [("APPROVED", 24), ("REJECTED", 23)])
@pytest.mark.parametrize("outputs", ["result", "category"])
def test_toloka_pools_are_read_without_rejected_work(status, n_kept, outputs):
    content = made.toloka(ANSWERS, RATERS, CASES, status, outputs)
    assert opened("pool.tsv", content).format == "toloka"
    found = read(content)
    assert sizes(found.dataset) == (8, 3, n_kept)
    assert (found.dataset.gold >= 0).sum() == 1 and found.dataset.classes == CLASSES


@pytest.mark.parametrize("column", ["verdict", "is_relevant"])
@pytest.mark.parametrize("gold", [True, False])
def test_full_reports_of_appen_are_read_without_tainted_judgments(column, gold):
    content = made.appen(ANSWERS, RATERS, CASES, column, gold)
    assert opened("full.csv", content).format == "appen"
    found = read(content)
    assert sizes(found.dataset) == (8, 3, 23)
    assert "tainted" in found.report.dropped[0].reason
    assert (found.dataset.gold is not None) == gold


@pytest.mark.parametrize(
    "content",
    [
        made.toloka(ANSWERS, RATERS, CASES, "APPROVED", "category"),
        made.toloka(ANSWERS, RATERS, CASES, "REJECTED", "category"),
        made.appen(ANSWERS, RATERS, CASES, "verdict", True),
        made.appen(ANSWERS, RATERS, CASES, "verdict", False),
    ],
)
def test_exports_of_crowds_know_the_digest_that_they_had_as_plain_tables(content):
    source = open_source([("data", content)], format="table")
    (question, *_) = source.questions
    before = build_question(source, replace(question, mapping=mapping_before(question.raw)), "data").dataset
    now = read(content)
    assert (before.n_annotations, before.classes) == (24, CLASSES)
    assert before.digest in (now.dataset.digest, *now.earlier)


def test_lines_of_a_cell_of_appen_are_labels():
    answers = [["cat\ndog", "cat", "fox\ndog"], *ANSWERS[1:]]
    dataset = read(made.appen(answers, RATERS, CASES)).dataset
    assert (dataset.kind, dataset.classes) == ("set", CLASSES)


@pytest.mark.parametrize("first", [0, 1])
def test_aggregated_answers_beside_those_of_raters_are_left_out_with_the_reason(first):
    files = [("pool.tsv", made.toloka(ANSWERS, RATERS, CASES, "APPROVED", "category")),
             ("aggregated.tsv", b"INPUT:image\tOUTPUT:category\tCONFIDENCE:category\na.png\tcat\t90%\n")]  # fmt: skip
    source = open_source([files[first], files[1 - first]])
    (question,) = source.questions
    assert question.raw.table.num_rows == len(RATERS) * len(CASES)
    assert [note for note in source.notes if note.startswith("aggregated.tsv was left out")]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (
            "_unit_id,_golden,_trusted_judgments,verdict,verdict:confidence\n1,false,3,cat,0.9\n2,false,3,dog,1\n",
            "full report",
        ),
        ("INPUT:image,OUTPUT:result,CONFIDENCE:result\na,cat,90%\nb,dog,80%\n", "pool's assignments"),
    ],
)
def test_aggregated_answers_are_refused_with_what_to_download(header, said):
    with pytest.raises(InputError, match=said):
        read(header.encode())


@pytest.mark.parametrize("n_headers", [1, 3])
def test_qualtrics_has_a_case_per_question_and_a_rater_per_response(n_headers):
    content = made.qualtrics(ANSWERS, n_headers)
    assert opened("q.csv", content).format == "qualtrics"
    found = read(content)
    assert sizes(found.dataset) == (8, 3, 24) and found.dataset.cases[0] == "Q0"
    assert (found.facts is not None) == (n_headers == 3)


def test_previews_of_qualtrics_are_left_out():
    content = made.qualtrics(ANSWERS, 3).replace(b"IP Address", b"Survey Preview", 1)
    found = read(content)
    assert found.dataset.n_raters == 2
    assert [one for one in found.report.dropped if "preview" in one.reason]


@pytest.mark.parametrize(
    ("who", "title"), [("Email Address", "Case {} [Diagnosis]"), ("Username", "What do you see on picture {}?")]
)
def test_google_forms_have_a_case_per_question(who, title):
    content = made.google_form(ANSWERS, who, title)
    assert opened("f.csv", content).format == "google-forms"
    assert sizes(read(content).dataset) == (8, 3, 24)


def test_a_long_table_that_begins_with_times_is_no_form():
    rows = [["2024-01-01", f"r{place}", f"c{row}", ANSWERS[row][place]] for row in range(8) for place in range(3)]
    source = opened("t.csv", made.delimited([["Timestamp", "name", "case", "label"], *rows]))
    assert source.format == "table"


@pytest.mark.parametrize("decisions", [("Included", "Excluded"), ("Included", "Excluded", "Maybe")])
@pytest.mark.parametrize("raters", [("Ann", "Bob"), ("Ann Lee", "Bob \u0160tech", "Cy")])
def test_decisions_in_notes_of_rayyan_are_read(decisions, raters):
    answers = made.panel(2, 9, len(raters), decisions)
    content = made.rayyan(answers, raters)
    assert opened("articles.csv", content).format == "rayyan"
    dataset = read(content).dataset
    assert sizes(dataset) == (9, len(raters), 9 * len(raters)) and set(dataset.classes) == set(decisions)


@pytest.mark.parametrize("votes", [("Reviewer 1 vote", "Reviewer 2 vote"), ("Reviewer A vote", "Reviewer B vote")])
def test_votes_of_covidence_are_raters_and_their_resolution_is_not(votes):
    answers = made.panel(3, 9, 2, ("Yes", "No", "Maybe"))
    rows = [[f"T {n}", "Doe", f"#{n}", f"Doe {2000 + n}", "", "", *row, row[0] if row[0] != row[1] else ""]
            for n, row in enumerate(answers)]  # fmt: skip
    header = ["Title", "Authors", "Covidence #", "Study", "Notes", "Tags", *votes, "Conflict resolution"]
    dataset = read(made.delimited([header, *rows])).dataset
    assert dataset.raters == votes and dataset.n_cases == 9


@pytest.mark.parametrize("form", ["crowd-image-classifier", "crowd-classifier"])
def test_annotations_of_ground_truth_are_read_by_worker(form):
    records = made.sagemaker(ANSWERS, RATERS, form)
    for content in (json.dumps(records).encode(), made.lines_of_json(records)):
        assert opened("request.json", content).format == "sagemaker"
        assert sizes(read(content).dataset) == (8, 3, 24)


def test_worker_responses_of_ground_truth_are_a_case_per_folder():
    responses = [json.dumps(made.worker_responses(row, RATERS, "f")).encode() for row in ANSWERS]
    files = [(f"worker-response/iteration-1/{number}/2024.json", one) for number, one in enumerate(responses)]
    assert sizes(read(zip_bytes(files)).dataset) == (8, 3, 24)


@pytest.mark.parametrize("kind", ["image-classification", "text-classification"])
def test_output_manifests_of_ground_truth_are_refused_with_what_to_open(kind):
    records = [
        {
            "source-ref": f"s3://b/{n}.jpg",
            "job": 0,
            "job-metadata": {"class-name": "cat", "type": f"groundtruth/{kind}"},
        }
        for n in range(4)
    ]
    with pytest.raises(InputError, match="worker responses"):
        read(made.lines_of_json(records))


@pytest.mark.parametrize("several", [False, True])
def test_classifications_of_lighttag_are_read(several):
    export = made.lighttag(ANSWERS, RATERS)
    if several:
        export["examples"][0]["classifications"].append({"classname": "new", "annotated_by": [{"annotator": "w1"}]})
    dataset = read(json.dumps(export).encode()).dataset
    assert (dataset.n_cases, dataset.n_raters) == (8, 3)
    assert dataset.kind == ("set" if several else "class")


def test_spans_of_lighttag_are_refused_as_regions():
    examples = [{"example_id": "e", "content": "t", "annotations": [{"start": 0, "end": 1}], "classifications": []}]
    with pytest.raises(InputError, match="supports only annotations of whole cases"):
        read(json.dumps({"schema": {}, "examples": examples}).encode())


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("scheme", ["sentiment", "kind of animal"])
def test_folders_of_potato_are_raters(packed, scheme):
    files = made.potato(ANSWERS, RATERS, scheme)
    source = open_source([("p.zip", zip_bytes(files))] if packed else files)
    assert source.format == "potato" and [question.name for question in source.questions] == [scheme]
    assert sizes(read(zip_bytes(files)).dataset) == (8, 3, 24)


@pytest.mark.parametrize("off", [True, False])
def test_check_boxes_of_mechanical_turk_are_one_set(off):
    rows = [
        [f"H{row}", f"A{row}{who}", who, json.dumps([{"cat": {"on": not off or row > 0}, "dog": {"on": row % 2 == 1}}])]
        for row in range(6) for who in RATERS
    ]  # fmt: skip
    dataset = read(made.delimited([["HITId", "AssignmentId", "WorkerId", "Answer.taskAnswers"], *rows])).dataset
    assert sizes(dataset) == (6, 3, 18)
    assert dataset.classes == (("cat", "dog", "none of these") if off else ("cat", "dog"))


# Regions


COCO = {"images": [{"id": 1}], "annotations": [{"id": 1, "image_id": 1, "bbox": [1, 2, 3, 4]}], "categories": []}
LABELME = {"shapes": [{"label": "a", "points": [[1, 2]]}], "imagePath": "x.png", "version": "5"}
BOX = {"from_name": "b", "type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["a"]}}
BOXES = [
    {"id": n, "data": {"image": "x"}, "annotations": [{"id": n, "completed_by": 1, "result": [BOX]}]} for n in (1, 2)
]


@pytest.mark.parametrize("content", [COCO, LABELME, BOXES], ids=["coco", "labelme", "label studio"])
def test_regions_in_json_are_refused_with_what_to_export(content):
    with pytest.raises(InputError, match="supports only annotations of whole cases") as refused:
        read(json.dumps(content).encode())
    assert "whole cases" in refused.value.remedy


@pytest.mark.parametrize("tag", ["<box label='a' xtl='1'/>", "<object><bndbox><xmin>1</xmin></bndbox></object>"])
def test_regions_in_xml_are_refused_with_what_to_export(tag):
    with pytest.raises(InputError, match="supports only annotations of whole cases"):
        read(f"<?xml version='1.0'?>\n<annotations>{tag}</annotations>".encode())


# Files that no text is in


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"X\n\x00\x00\x00\x03" * 30, "an R file"), (b"x" * 257 + b"ustar\x00" + b"y" * 300, "tar archive")],
)
def test_gzip_of_no_table_is_refused_by_what_it_is(content, said):
    import gzip

    with pytest.raises(InputError, match=said):
        opened("x.gz", gzip.compress(content))


def test_gzip_that_unpacks_to_a_bomb_is_refused():
    import gzip

    with pytest.raises(InputError, match="unpacks to more than"):
        opened("x.gz", gzip.compress(b"a,b\n" * (30 << 20)))


def test_gzip_inside_a_zip_is_read():
    import gzip

    content = made.wide(ANSWERS, ("ann", "bob", "cid"))
    (question,) = open_source([("x.zip", zip_bytes([("t.csv.gz", gzip.compress(content))]))]).questions
    assert question.mapping.raters == ("ann", "bob", "cid")


def test_a_stata_file_is_refused_by_its_name():
    content = io.BytesIO()
    pd.DataFrame({"item": ["a"], "r1": [1]}).to_stata(content)
    with pytest.raises(InputError, match="Stata"):
        opened("x.dta", content.getvalue())


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_an_arrow_file_that_unpacks_to_a_bomb_is_refused_before_it_is_read(compression):
    content = io.BytesIO()
    pd.DataFrame({"case": np.arange(4_000_000) // 4_000_000, "b": 0}).to_feather(content, compression=compression)
    with pytest.raises(InputError, match="unpacks to more than"), reading(1_000, 10):
        from core.ingest.formats import budget

        budget.spend(characters=budget._BUDGET.get().characters - 1_000_000)
        read_arrow(content.getvalue())


@pytest.mark.parametrize("seed", range(60))
def test_damaged_arrow_files_are_refused_in_words(seed):
    rng = np.random.default_rng(seed)
    content = io.BytesIO()
    pd.DataFrame(ANSWERS, columns=list("abc")).to_feather(content)
    data = bytearray(content.getvalue())
    for place in rng.integers(0, len(data), 12):
        data[place] = rng.integers(0, 256)
    try:
        with reading(len(data)):
            read_arrow(bytes(data[: rng.integers(8, len(data) + 1)]))
    except InputError as error:
        assert str(error)


def test_a_zip_of_two_kinds_still_says_what_it_skipped():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in made.potato(ANSWERS, RATERS, "s"):
            archive.writestr(name, data)
        archive.writestr("annotation_output/w1/annotation_order.txt", "i0\ni1\n")
    assert any("annotation_order" in note for note in open_source([("p.zip", content.getvalue())]).notes)


def test_a_stack_of_numbers_is_no_arrow_file():
    with pytest.raises(InputError), reading(100):
        read_arrow(b"ARROW1\x00\x00" + struct.pack("<Ii", 0xFFFFFFFF, 1 << 30))
