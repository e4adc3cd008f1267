"""Where a case stands among ordered classes, by raters of whom it is known how each reads the scale."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.figures import cases as figures
from core.models.expected_class import expected_class, median_class, place_said, within_one
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.protocol import PlausibilityModel
from core.text import markdown, plotly, probability, shorten
from pages.shared.cache import cases as cached_cases
from pages.shared.kit import style as look
from pages.shared.kit import widgets


@dataclass(frozen=True, slots=True, eq=False)
class CaseScale:
    """Class probabilities of cases and what follows of them; arrays over cases, classes counted from 1.

    Attributes
    ----------
    probability : ndarray, shape (n_cases, n_classes)
    mean, low, high : ndarray
        Expected class and its 95% interval.
    median : ndarray of int
    near : ndarray
        P(the true class is at most one away from the median).
    """

    probability: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    median: np.ndarray
    near: np.ndarray


def is_for(model: PlausibilityModel) -> bool:
    """Whether the model says which class is the truth, of ordered ones."""
    return isinstance(model, OrdinalTruth)


def standing(view: Dataset, model: OrdinalTruth, reliability: float) -> CaseScale:
    """Where every case stands; the model has its fit (`pages.shared.kit.trusted_raters`)."""
    found = cached_cases.class_probability(view, model, reliability)
    scale = expected_class(found)
    return CaseScale(found, scale.mean, scale.spread.low, scale.spread.high, median_class(found) + 1, within_one(found))


def show(view: Dataset, case: int, model: OrdinalTruth, reliability: float, colours: dict[int, str]) -> None:
    """The probability of each class in the order of the classes, with the interval of the expected one, and a table."""
    at, theme = standing(view, model, reliability), look.theme()
    low, high = (int(end[case]) for end in (at.low, at.high))
    named = np.bincount(view.answer[view.annotations_of(case)], minlength=view.n_classes)
    first, last = (plotly(shorten(view.classes[end - 1], 18)) for end in (low, high))
    title = f"{first} with 95% probability" if low == high else f"{first} to {last} with 95% probability"
    with st.container(border=True):
        widgets.plot(
            figures.class_scale(
                view.classes, at.probability[case], named, (float(at.mean[case]), low, high),
                [colours.get(code, theme.rest) for code in range(view.n_classes)], theme, title,
            ),
            "class_scale",
            "Probability of each class in their order, with the expected class and its 95 percent interval",
        )  # fmt: skip
        st.caption(
            "Bar: probability that the class is the true one, with how many annotations name it · line: "
            f"95% interval, diamond: expected class, {markdown(place_said(view.classes, float(at.mean[case])))}. "
            f"The truth is at most one class from the median with {probability(float(at.near[case]))} probability."
        )
        frame = pd.DataFrame({"class": view.classes, "probability": at.probability[case], "named by": named})
        widgets.download(frame, "Probabilities", "class_scale", "plausibilities")
