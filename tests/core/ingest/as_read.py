"""What tests of readers look at: the annotations of a dataset by name."""

from core.annotations.dataset import Dataset
from core.ingest.formats.detect import open_source
from core.ingest.read_files import Reading, build_question, choose_question


def answers(dataset: Dataset) -> list[tuple]:
    """Case, rater and annotation of every annotation: a class, a score, or blocks of classes."""
    found = []
    for annotation, (case, rater) in enumerate(zip(dataset.case_of_annotation, dataset.rater, strict=True)):
        if dataset.kind == "class":
            answer = dataset.classes[dataset.answer[annotation]]
        elif dataset.kind == "score":
            answer = float(dataset.score[annotation])
        else:
            answer = [[dataset.classes[code] for code in block] for block in dataset.blocks_of(annotation)]
        found.append((dataset.cases[case], dataset.raters[rater], answer))
    return found


def opened(*files: tuple[str, bytes | str], question: str | None = None, **options) -> Reading:
    """The reading of files by name and content."""
    source = open_source([(name, content.encode() if isinstance(content, str) else content) for name, content in files])
    return build_question(source, choose_question(source, question), "by hand", **options)


def reasons(reading: Reading) -> list[tuple[int, str]]:
    """Line and reason of every dropped row; kept and dropped rows are checked to be all rows."""
    assert reading.report.n_kept + len(reading.report.dropped) == reading.report.n_rows
    return [tuple(drop) for drop in reading.report.dropped]
