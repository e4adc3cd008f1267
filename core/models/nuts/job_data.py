"""Transfer of a dataset of classes to the sampler's process, without the names of cases and raters."""

import numpy as np

from ...annotations.dataset import Dataset


def packed(dataset: Dataset) -> tuple[dict, dict[str, np.ndarray]]:
    """Return settings and arrays for `unpacked`."""
    settings = {"n_raters": dataset.n_raters, "n_classes": dataset.n_classes}
    return settings, {"case_ptr": dataset.case_ptr, "rater": dataset.rater, "answer": dataset.answer}


def unpacked(settings: dict, arrays: dict[str, np.ndarray]) -> Dataset:
    """Rebuild the same annotations; cases, raters and classes are named by number."""
    sizes = len(arrays["case_ptr"]) - 1, settings["n_raters"], settings["n_classes"]
    cases, raters, classes = (tuple(map(str, range(size))) for size in sizes)
    return Dataset(
        name="job",
        kind="class",
        cases=cases,
        raters=raters,
        classes=classes,
        case_ptr=arrays["case_ptr"],
        rater=arrays["rater"],
        answer=arrays["answer"],
    )
