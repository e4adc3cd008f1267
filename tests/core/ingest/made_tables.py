"""Small tables and exports as people have them, made anew with other names, sizes and noise for each seed."""

import csv
import io
import json

import numpy as np


def panel(seed: int, n_cases: int, n_raters: int, classes, noise: float = 0.3) -> list[list[str]]:
    """The class that each rater gives each case, by case."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(classes), n_cases)
    given = rng.integers(0, len(classes), (n_cases, n_raters))
    codes = np.where(rng.random(given.shape) < noise, given, truth[:, None])
    codes[: len(classes)] = np.arange(len(classes))[:, None]  # every rater uses every class
    return [[classes[code] for code in row] for row in codes]


def delimited(rows, delimiter: str = ",") -> bytes:
    """Rows as CSV, or with another delimiter."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def wide(answers, columns, first: str = "case", before=(), after=()) -> bytes:
    """One row per case and a column per rater, with other columns before and after: pairs of a name and its cells."""
    header = [*(name for name, _ in before), first, *columns, *(name for name, _ in after)]
    rows = [
        [*(cells[row] for _, cells in before), f"c{row}", *answers[row], *(cells[row] for _, cells in after)]
        for row in range(len(answers))
    ]
    return delimited([header, *rows])


def triples(answers, raters, cases) -> list[list[str]]:
    """One row per annotation: rater, case, class."""
    return [
        [rater, case, answers[row][place]]
        for place, rater in enumerate(raters)
        for row, case in enumerate(cases)
        if answers[row][place]
    ]


def lines_of_json(records) -> bytes:
    """JSON Lines."""
    return "\n".join(map(json.dumps, records)).encode()


def toloka(answers, raters, cases, status: str = "APPROVED", outputs: str = "result") -> bytes:
    """Assignments from a Toloka pool; the second row has another status."""
    header = ["INPUT:image", f"OUTPUT:{outputs}", "OUTPUT:comment", f"GOLDEN:{outputs}", "ASSIGNMENT:task_id",
              "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:started", "ACCEPT:verdict"]  # fmt: skip
    rows = []
    for place, rater in enumerate(raters):
        for number, case in enumerate(cases):
            state = status if (place, number) == (0, 1) else "APPROVED"
            gold, comment = (answers[0][0] if number == 0 else ""), ("ok" if place else "")
            rows.append([f"http://x/{case}.jpg", answers[number][place], comment, gold, case, rater, state,
                         "2024-03-01T10:00:00.1", ""])  # fmt: skip
    return delimited([header, *rows], "\t")


def appen(answers, raters, cases, column: str = "verdict", gold: bool = True) -> bytes:
    """A full report of Appen; the first unit is a test question, the first judgment is tainted."""
    header = ["_unit_id", "_created_at", "_golden", "_tainted", "_trust", "_worker_id", column, "text"]
    header += [f"{column}_gold", f"{column}_gold_reason"] if gold else []
    rows = []
    for number, case in enumerate(cases):
        for place, rater in enumerate(raters):
            golden, tainted = str(number == 0).lower(), str(number == place == 0).lower()
            row = [case, "3/10/2015 04:10:00", golden, tainted, "0.9", rater, answers[number][place], f"text {case}"]
            rows.append(row + ([answers[0][0] if number == 0 else "", ""] if gold else []))
    return delimited([header, *rows])


def qualtrics(answers, n_headers: int) -> bytes:
    """Responses to a survey with a question per case: one or three rows of header."""
    n_cases, n_raters = len(answers), len(answers[0])
    header = ["StartDate", "Status", "Progress", "Duration (in seconds)", "Finished", "RecordedDate", "ResponseId",
              *(f"Q{case}" for case in range(n_cases))]  # fmt: skip
    titles = ["Start Date", "Response Type", "Progress", "Duration (in seconds)", "Finished", "Recorded Date",
              "Response ID", *(f"What is on picture {case}?" for case in range(n_cases))]  # fmt: skip
    ids = [json.dumps({"ImportId": name}) for name in header]
    rows = [["2024-01-01 10:00", "IP Address", "100", str(300 + rater), "True", "2024-01-01 10:05", f"R_{rater}",
             *(answers[case][rater] for case in range(n_cases))] for rater in range(n_raters)]  # fmt: skip
    return delimited([header, *([titles, ids] if n_headers == 3 else []), *rows])


def google_form(answers, who: str, title: str) -> bytes:
    """Responses to a form; ``title`` has the name of a question with a place for the case."""
    n_cases, n_raters = len(answers), len(answers[0])
    header = ["Timestamp", who, *(title.format(case) for case in range(n_cases))]
    rows = [[f"2024/03/0{rater + 1} 9:12:00 AM GMT+1", f"r{rater}@example.org", *(row[rater] for row in answers)]
            for rater in range(n_raters)]  # fmt: skip
    return delimited([header, *rows])


def rayyan(answers, raters) -> bytes:
    """Articles of a review with the decisions of reviewers in the notes."""
    rows = []
    for number, row in enumerate(answers):
        said = ", ".join(f'"{who}"=>"{decision}"' for who, decision in zip(raters, row, strict=True))
        rows.append([f"rayyan-{number}", f"Title {number}", f"RAYYAN-INCLUSION: {{{said}}} | RAYYAN-LABELS: a,b"])
    return delimited([["key", "title", "notes"], *rows])


def sagemaker(answers, raters, form: str) -> list[dict]:
    """Data objects of a labeling job with the answers of its workers."""
    return [
        {
            "datasetObjectId": str(number),
            "dataObject": {"s3Uri": f"s3://b/{number}.jpg"},
            "annotations": [
                {"workerId": who, "annotationData": {"content": json.dumps({form: {"label": label}})}}
                for who, label in zip(raters, row, strict=True)
            ],
        }
        for number, row in enumerate(answers)
    ]


def worker_responses(row, raters, form: str) -> dict:
    """The file of one data object with the answers of its workers."""
    answers = [
        {"acceptanceTime": "2024-01-01T10:00:00Z", "answerContent": {form: {"label": label}}, "workerId": who}
        for who, label in zip(raters, row, strict=True)
    ]
    return {"answers": answers}


def lighttag(answers, raters) -> dict:
    """Examples, each with the classes that annotators gave it."""
    examples = []
    for number, row in enumerate(answers):
        by_class: dict[str, list[dict]] = {}
        for who, label in zip(raters, row, strict=True):
            by_class.setdefault(label, []).append({"annotator": who, "timestamp": "2024-01-01T00:00:00Z"})
        classes = [{"classname": name, "annotated_by": by} for name, by in by_class.items()]
        examples.append({"content": f"text {number}", "example_id": f"e{number}", "classifications": classes})
    return {"schema": {"name": "s"}, "examples": examples}


def potato(answers, raters, scheme: str) -> list[tuple[str, bytes]]:
    """A folder for each annotator with one record per line."""
    files = []
    for place, who in enumerate(raters):
        records = [
            {
                "id": f"i{number}",
                "displayed_text": f"text {number}",
                "label_annotations": {scheme: {row[place]: "true"}},
            }
            for number, row in enumerate(answers)
        ]
        files.append((f"annotation_output/{who}/annotated_instances.jsonl", lines_of_json(records)))
    return files
