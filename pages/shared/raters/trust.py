"""Trust in each rater by mixture Plackett-Luce: an order of raters, and no accuracy."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.figures import raters as figures
from core.text import markdown, number, plotly, shorten
from pages.shared.kit import plausibility_models, trusted_raters, widgets


def is_offered(dataset: Dataset) -> bool:
    """Whether trust can be estimated on these data."""
    return trusted_raters.default_model(dataset) is not None


def show(dataset: Dataset, theme) -> None:
    """The trusts with their intervals, or what they cost."""
    model = trusted_raters.default_model(dataset)
    view = plausibility_models.data_for(model.name, dataset, quietly=True)
    widgets.heading("How far does each rater follow the case?", plausibility_models.method(model.name))
    model = trusted_raters.asked_for(view, model)
    if model is None:
        return
    trust = model.trusted
    least = int(trust.mean.argmin())
    said = f"{number(float(trust.mean[least]))} ({number(trust.ci_low[least])} to {number(trust.ci_high[least])})"
    apart = trust.ci_high[least] < sorted(trust.mean)[len(trust.mean) // 2]
    title = (
        f"Least trusted: {plotly(shorten(trust.raters[least], 20))}, {said}"
        if apart and trust.converged
        else "No rater is trusted clearly less than the others"
    )
    widgets.plot(figures.trust_of_raters(trust, theme, title), "trust", "Trust in each rater with its 95 % interval")
    frame = trust.to_frame().rename(columns={"mean": "trust"})
    st.dataframe(
        frame.sort_values("trust", kind="stable"),
        hide_index=True,
        column_config=dict.fromkeys(
            ("trust", "sd", "ci_low", "ci_high", "rhat"), st.column_config.NumberColumn(format="%.2f")
        )
        | {"ess": st.column_config.NumberColumn(format="%.0f")},
        key="trust_table",
    )
    widgets.download(frame, "Trust", "rater_trust", "rater_trust")
    for note in trust.notes:
        st.caption(markdown(note))
