"""What Home computes by itself, kept by the dataset's digest, the parameters and the version."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.version import __version__
from pages.shared.cache import datasets as cached

LEVEL = 0.95
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Share:
    """A share of cases with its interval, and of how many."""

    value: float
    low: float
    high: float
    n: int


def share_of(count: float, n: int) -> Share:
    """Wilson's interval over cases."""
    from core.agreement.intervals import wilson

    return Share(count / n, *wilson(count / n, n, _Z), n)


@st.cache_data(max_entries=16, show_spinner=False)
def _vote_shares(digest: str, version: str, _dataset: Dataset) -> tuple[Share, ...]:
    fit = cached.majority(_dataset)
    rated = np.diff(_dataset.case_ptr) > 0
    n = int(rated.sum())
    return tuple(share_of(float(total), n) for total in fit.class_probability[rated].sum(axis=0))


def vote_shares(dataset: Dataset) -> tuple[Share, ...]:
    """Share of each class among the cases by majority vote, ties split; intervals over cases."""
    return _vote_shares(dataset.digest, __version__, dataset)


@st.cache_data(max_entries=16, show_spinner=False)
def _score_mean(digest: str, version: str, _dataset: Dataset) -> tuple[float, float, float]:
    from scipy.special import stdtrit

    n = np.diff(_dataset.case_ptr)
    rated = n > 0
    mean = np.bincount(_dataset.case_of_annotation, _dataset.score, _dataset.n_cases)[rated] / n[rated]
    if mean.size < 2:
        return float(mean.mean()), np.nan, np.nan
    half = float(stdtrit(mean.size - 1, (1 + LEVEL) / 2)) * float(mean.std(ddof=1)) / np.sqrt(mean.size)
    return float(mean.mean()), float(mean.mean()) - half, float(mean.mean()) + half


def score_mean(dataset: Dataset) -> tuple[float, float, float]:
    """Mean of the cases' mean scores, with Student's interval over cases."""
    return _score_mean(dataset.digest, __version__, dataset)
