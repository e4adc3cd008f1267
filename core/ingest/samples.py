"""Sample datasets that come with the project, with the purpose of each."""

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..annotations.dataset import RISK_LEVELS, Dataset
from ..checked import checked
from ..errors import NotFoundError
from .read_files import Reading, read

_PACKAGE = Path(__file__).resolve().parents[1]
# Inside the package if it is installed, next to it in a checkout.
SAMPLE_FOLDER = next(
    (folder for folder in (_PACKAGE / "sample_data", _PACKAGE.parent / "sample_data") if folder.is_dir()),
    _PACKAGE / "sample_data",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """Card of a sample: its name, size, kind of annotations, and purpose.

    Attributes
    ----------
    name, title, size, answers, shows : str
    ordinal : bool
        True if the order of its classes has a meaning, lowest first.
    """

    name: str
    title: str
    size: str
    answers: str
    shows: str
    ordinal: bool = False


SAMPLES = (
    Sample(
        "skin",
        "Skin",
        "400 cases × 12 raters",
        "differential diagnoses",
        "A simulated panel of dermatologists over 18 months. Some cases are easy, and others have two plausible "
        "classes.",
    ),
    Sample(
        "dermatology",
        "Three dermatology cases",
        "3 cases × 3 to 6 raters",
        "differential diagnoses",
        "Example cases from Stutz et al. (2023), for which raters suggest very different diagnoses.",
    ),
    Sample(
        "caries",
        "Caries",
        "3,869 X-rays × 5 dentists",
        "two classes",
        "Dentists with very different thresholds. The majority vote gives the wrong prevalence.",
    ),
    Sample(
        "anaesthesia",
        "Anaesthesia",
        "45 patients × 5 observers",
        "four classes",
        (
            "The first dataset used to estimate the confusion matrices of raters. Some raters annotated cases "
            "more than once."
        ),
    ),
    Sample(
        "knees",
        "Knees",
        "260 X-rays × 8 readers",
        "five ordered grades",
        "Simulated grades. One rater is severe, one is lenient, one uses a wide scale, and one often makes mistakes. "
        "The order of the grades matters.",
        ordinal=True,
    ),
    Sample(
        "street",
        "Street",
        "200 photos × 8 raters",
        "several labels each",
        "Simulated photos with up to seven labels each. One rater misses many labels, and another adds too many.",
    ),
    Sample(
        "essays",
        "Essays",
        "160 essays × 9 raters",
        "scores, 0 to 10",
        "Simulated marks: severe and lenient raters, one erratic rater, and essays on which raters disagree.",
    ),
    Sample(
        "replies",
        "Replies",
        "900 cases × 6 raters and 4 AI raters",
        "four classes",
        "A simulated panel and four AI raters. The AI raters are two versions of one model that share errors, an "
        "accurate model, and a model that is always confident.",
    ),
    Sample(
        "toy",
        "Toy cases",
        "43 cases × 10 annotators",
        "three classes",
        "Simulated to resemble figure 2 of the paper on uncertain ground truth. A higher γ makes case (iii) certain, "
        "but not case (ii).",
    ),
    Sample(
        "pictures",
        "Pictures",
        "200 pictures × 102 raters",
        "ten classes",
        "Simulated to resemble CIFAR-10H, with 51 annotations per picture. Two classifiers have similar accuracy but "
        "different probabilities.",
    ),
)


@checked
def load_sample(name: str) -> Dataset:
    """Return a sample by its name, with its side tables.

    Raises
    ------
    NotFoundError
        No sample has that name.
    """
    return read_sample(name).dataset


def read_sample(name: str) -> Reading:
    """Return a sample with the account of its file."""
    sample = next((sample for sample in SAMPLES if sample.name == name), None)
    if sample is None:
        raise NotFoundError(f"Unknown sample {name!r}. Samples: {', '.join(s.name for s in SAMPLES)}.")
    folder = SAMPLE_FOLDER / name
    classes = _pairs(folder / "classes.csv")
    reading = read(folder / "annotations.csv", name=sample.title, classes=list(classes) or None, ordinal=sample.ordinal)
    dataset = reading.dataset
    side: dict[str, Any] = {"raters_identified": name != "dermatology"}
    if any(classes.values()):
        levels = [RISK_LEVELS.index(classes[name]) for name in dataset.classes]
        side["class_risk"] = np.array(levels, np.int8)
    if groups := _pairs(folder / "cases.csv"):
        side["case_group"] = tuple(groups[case_id] for case_id in dataset.cases)
    return replace(reading, dataset=replace(dataset, **side))


def sample_predictions(name: str) -> bytes | None:
    """Return the file of predictions of a sample; None if there is none."""
    path = SAMPLE_FOLDER / name / "predictions.csv"
    return path.read_bytes() if path.exists() else None


def _pairs(path: Path) -> dict[str, str]:
    """Return first to second column ("" if there is none) of a small table; empty if the file does not exist."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row[0]: row[1] if len(row) > 1 else "" for row in list(csv.reader(file))[1:]}
