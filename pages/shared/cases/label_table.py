"""All labels of one case: who named them, whether they apply, and how certain that is, one by one and as a set."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.plausibility.protocol import PlausibilityModel
from core.text import markdown, number
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
            "applies": ["yes" if found.applies[case, code] else "no" for code in order],
            "certainty": found.certainty[case, order],
        }
    )
    likely = found.sets()[case]
    said = f"“{markdown(likely)}”" if likely else "no label at all"
    with st.container(border=True):
        st.markdown(
            f"**All labels**: the likeliest set is {said}; it stays the same with probability "
            f"{number(found.whole[case])}, labels taken as independent."
            if not found.exclusive
            else f"**All labels**: the likeliest is {said}; it stays the same with probability "
            f"{number(found.whole[case])}. Nobody named more than one.",
            help=widgets.explained("annotation certainty"),
        )
        st.dataframe(
            frame, hide_index=True, column_config=columns.shares("certainty"), height=36 * (min(len(frame), 8) + 1) + 2,
            key="label_table",
        )  # fmt: skip
        widgets.download(
            lambda: found.to_frame("cases"), "Labels of every case", "label_certainty", "label_certainty",
            n_rows=dataset.n_cases,
        )  # fmt: skip
