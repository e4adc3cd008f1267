"""All labels of one case: who named them, whether they apply, and how certain that is, one by one and as a set."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.label_sets import LabelSetCertainty
from core.plausibility.protocol import PlausibilityModel
from core.text import listed, markdown, probability
from pages.shared.cache import cases as cached_cases
from pages.shared.kit import columns, widgets


def show(dataset: Dataset, case: int, model: PlausibilityModel, reliability: float) -> None:
    """The labels of a case as a table, and a sentence on the set."""
    found = cached_cases.label_sets(dataset, model, reliability)
    own = dataset.annotations_of(case)
    ptr = dataset.entry_ptr
    named = np.bincount(dataset.entry_class[ptr[own.start] : ptr[own.stop]], minlength=dataset.n_classes)
    order = np.lexsort((np.arange(len(named)), -named))
    frame = pd.DataFrame(
        {
            "label": [dataset.classes[code] for code in order],
            "named by": [f"{named[code]:,} of {len(own):,}" for code in order],
            "applies": [_applies(found, case, int(code)) for code in order],
            "certainty": found.certainty[case, order],
        }
    )
    with st.container(border=True):
        st.markdown(f"**All labels**: {_said(found, case)}", help=widgets.explained("annotation certainty"))
        st.dataframe(
            frame, hide_index=True, column_config=columns.shares("certainty"), height=36 * (min(len(frame), 8) + 1) + 2,
            key="label_table",
        )  # fmt: skip
        widgets.download(
            lambda: found.to_frame("cases"), "Labels of every case", "label_certainty", "label_certainty",
            n_rows=dataset.n_cases,
        )  # fmt: skip


def _applies(found: LabelSetCertainty, case: int, code: int) -> str:
    if found.even[case, code]:
        return "even"
    return "yes" if found.applies[case, code] else "no"


def _said(found: LabelSetCertainty, case: int) -> str:
    """The likeliest set with its probability; that none stands out where that is less than even. As markdown."""
    likely, chance = markdown(found.sets()[case]), found.whole[case]
    said = f"“{likely}”" if likely else "no label"
    how = "Labels are taken as independent"
    if found.none is not None:
        how += f"; “{markdown(found.none)}” applies where no other does"
    how = "Nobody named more than one." if found.exclusive else f"{how}."
    if chance > 0.5:
        what = "is" if found.exclusive else "set is"
        return f"the likeliest {what} {said}; it stays the same with {probability(chance)} probability. {how}"
    most = f"the likeliest, {said}, has a probability of only {probability(chance)}"
    even = [markdown(found.labels[code]) for code in np.flatnonzero(found.even[case])]
    if even and found.exclusive:
        most = f"{listed(even)} are equally likely"
    elif even:
        most = f"{listed(even)} {'is' if len(even) == 1 else 'are'} as likely to apply as not"
    return f"no {'label' if found.exclusive else 'set'} stands out: {most}. {how}"
