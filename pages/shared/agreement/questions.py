"""All questions of an upload side by side."""

from collections.abc import Mapping

from core.analyses.inputs import Inputs
from core.analyses.questions import QUESTIONS
from core.annotations.dataset import Dataset
from pages.shared.kit import blocks, gold_of_reviews, job_progress, state


def overview(questions: Mapping[str, str]) -> None:
    """Agreement, rater model and flagged raters of each question.

    Parameters
    ----------
    questions : mapping of str to str
        Names to digests.
    """
    part = QUESTIONS.parts[0]
    found = [(name, dataset) for name, digest in questions.items() if (dataset := _as_on_its_pages(digest)) is not None]
    inputs, options = Inputs(found[0][1], questions=tuple(found)), part.resolve()
    digests = tuple(questions.values())  # by which it goes with data that are erased
    key = ("questions", digests, *((name, dataset.digest, dataset.names_digest) for name, dataset in found))
    result = job_progress.result_of(
        key,
        "Comparing the questions",
        lambda job: part.answer(inputs, options, token=job.token, progress=job.report),
    )
    if result is not None:
        blocks.show(part.blocks(result, inputs, options))


def _as_on_its_pages(digest: str) -> Dataset | None:
    """Return a question without raters who do not count and with gold of reviews, as on its own pages."""
    with state.looking_at(digest):
        reading = state.current()
        return None if reading is None else gold_of_reviews.applied(reading.dataset)
