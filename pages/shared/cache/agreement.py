"""What the Agreement page computes, kept by the dataset's digest, the parameters and the version."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.version import __version__


@st.cache_data(max_entries=32, show_spinner=False)
def _suitable(digest: str, level: float, version: str, _dataset: Dataset):
    from core.agreement.probability import SPA_WEIGHTINGS
    from core.agreement.suitable import coefficients_for

    return coefficients_for(_dataset, level, spa_weightings=SPA_WEIGHTINGS)


def suitable(dataset: Dataset, level: float = 0.95):
    """The coefficients that make sense for these answers, and why others are left out."""
    return _suitable(dataset.digest, level, __version__, dataset)


@st.cache_data(max_entries=32, show_spinner=False)
def _class_shares(digest: str, version: str, _dataset: Dataset) -> dict[str, float]:
    view, _ = _dataset.as_classes()
    count = np.bincount(view.answer, minlength=view.n_classes)
    return dict(zip(view.classes, (count / max(1, count.sum())).tolist(), strict=True))


def class_shares(dataset: Dataset) -> dict[str, float]:
    """Share of each class among the answers, first choices of rankings."""
    return _class_shares(dataset.digest, __version__, dataset)


@st.cache_data(max_entries=32, show_spinner=False)
def _n_repeats(digest: str, version: str, _dataset: Dataset) -> int:
    case = np.repeat(np.arange(_dataset.n_cases), np.diff(_dataset.case_ptr))
    return int(_dataset.n_annotations - len(np.unique(case * _dataset.n_raters + _dataset.rater)))


def n_repeats(dataset: Dataset) -> int:
    """Answers that repeat an earlier one of the same rater on the same case; none where raters are not known."""
    return _n_repeats(dataset.digest, __version__, dataset) if dataset.raters_identified else 0


@st.cache_data(max_entries=32, show_spinner=False)
def _agreement(digest: str, level: float, version: str, _dataset: Dataset):
    from core.agreement.coefficients import agreement_table
    from core.agreement.probability import SPA_WEIGHTINGS, case_agreement
    from core.annotations.counts import class_counts

    counts = class_counts(_dataset)
    table = agreement_table(counts, level=level, spa_weightings=SPA_WEIGHTINGS, dataset=_dataset)
    return table, *case_agreement(counts)


def agreement(dataset: Dataset, level: float = 0.95):
    """All coefficients of single classes; agreement of each case; annotations of each case."""
    return _agreement(dataset.digest, level, __version__, dataset)


@st.cache_resource(max_entries=16, show_spinner=False)
def _ordered(digest: str, classes: tuple[str, ...], version: str, _dataset: Dataset) -> Dataset:
    from core.annotations.ordering import with_class_order

    return with_class_order(_dataset, classes)


def ordered(dataset: Dataset, classes: Sequence[str]) -> Dataset:
    """The dataset with its classes in an order that means something."""
    return _ordered(dataset.digest, tuple(classes), __version__, dataset)


@st.cache_resource(max_entries=16, show_spinner=False)
def _pairs(digest: str, coefficient: str, version: str, _dataset: Dataset):
    from core.agreement.pairs import pair_matrix
    from core.agreement.similarity import similarity_order

    matrix = pair_matrix(_dataset, coefficient)
    return matrix, similarity_order(matrix)


def pairs(dataset: Dataset, coefficient: str):
    """A coefficient of every two raters, and an order in which similar raters stand together."""
    return _pairs(dataset.digest, coefficient, __version__, dataset)


@st.cache_data(max_entries=16, show_spinner=False)
def _by_rater(digest: str, coefficient: str, version: str, _dataset: Dataset):
    from core.agreement.by_rater import by_rater
    from core.agreement.intra_rater import intra_rater

    return by_rater(_dataset, coefficient), intra_rater(_dataset)


def by_rater(dataset: Dataset, coefficient: str):
    """Each rater with the others and left out; and with themselves."""
    return _by_rater(dataset.digest, coefficient, __version__, dataset)


@st.cache_data(max_entries=16, show_spinner=False)
def _by_class(digest: str, version: str, _dataset: Dataset):
    from core.agreement.specific import specific_agreement

    return specific_agreement(_dataset)


def by_class(dataset: Dataset):
    """Specific agreement of each class."""
    return _by_class(dataset.digest, __version__, dataset)


@st.cache_data(max_entries=16, show_spinner=False)
def _over_time(digest: str, by: str, version: str, _dataset: Dataset):
    from core.agreement.over_time import over_time

    return over_time(_dataset, by)


def over_time(dataset: Dataset, by: str):
    """Agreement in windows of time."""
    return _over_time(dataset.digest, by, __version__, dataset)


@st.cache_data(max_entries=16, show_spinner=False)
def _precision(digest: str, version: str, _dataset: Dataset):
    from core.agreement.precision import WAYS, precision_curve

    return tuple(precision_curve(_dataset, how=how) for how in WAYS)


def precision(dataset: Dataset):
    """What precision there is, and what more annotations would buy, on new cases and on the present ones."""
    return _precision(dataset.digest, __version__, dataset)


@st.cache_data(max_entries=16, show_spinner=False)
def _adaptive(digest: str, version: str, _dataset: Dataset):
    from core.agreement.adaptive import adaptive_collection

    return adaptive_collection(_dataset)


def adaptive(dataset: Dataset):
    """Whether the number of annotations of a case depends on early disagreement."""
    return _adaptive(dataset.digest, __version__, dataset)
