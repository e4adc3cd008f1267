"""Order of the classes: whether it counts for the plausible truths of a page, and why."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.plausibility.ordinal_truth import OrdinalTruth
from pages.shared.kit import plausibility_models

_SIGN = ":material/linear_scale:"


def say(dataset: Dataset, name: str) -> None:
    """Draw a note for ordered classes that the ordinal model describes best: the order counts, or an offer to use it.

    Parameters
    ----------
    dataset : Dataset
    name : str
        The plausibility model that is shown.
    """
    if OrdinalTruth.name not in plausibility_models.offered(dataset) or not plausibility_models.order_counts(dataset):
        return
    few = plausibility_models.too_few_to_tell(dataset)
    why = f"{_SIGN} The ordinal model best predicts these raters' held-out annotations"
    why += f" (only {few:,}, barely enough to compare models)" if few else ""
    if name == OrdinalTruth.name:
        st.caption(f"{why}, so the order of the classes is used here.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{why}, but the order of the classes is not used here.", width="content")
        st.button("Use the order", type="tertiary", on_click=plausibility_models.use, args=(OrdinalTruth.name,),
                  key="use_order")  # fmt: skip
