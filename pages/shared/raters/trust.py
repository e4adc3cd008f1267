"""Trust in each rater by mixture Plackett-Luce: an order of raters, and no accuracy."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.extremes import clearly_least
from core.figures import raters as figures
from core.text import markdown, plotly, shorten, with_interval
from pages.shared.kit import columns, plausibility_models, trusted_raters, widgets

_WHOLE = "%.0f"
_COLUMNS = {
    name: st.column_config.NumberColumn(words, format=digits, help=said)
    for name, words, digits, said in (
        ("trust", "trust", columns.TWO, None),
        ("sd", "SD", columns.TWO, "posterior standard deviation"),
        ("ci_low", "95% from", columns.TWO, None),
        ("ci_high", "to", columns.TWO, None),
        ("place", "place", _WHOLE, "1 is trusted most"),
        ("place_low", "95% place from", _WHOLE, None),
        ("place_high", "place to", _WHOLE, None),
        ("rhat", "R-hat", columns.TWO, None),
        ("ess", "ESS", _WHOLE, "effective sample size of the draws"),
    )
}


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
    least = clearly_least(trust.mean, trust.ci_low, trust.ci_high) if trust.converged else None
    title = "No rater is trusted clearly less than the others"
    if least is not None:
        said = with_interval(float(trust.mean[least]), float(trust.ci_low[least]), float(trust.ci_high[least]))
        title = f"Least trusted: {plotly(shorten(trust.raters[least], 20))}, {said}"
    widgets.plot(figures.trust_of_raters(trust, theme, title), "trust", "Trust in each rater with its 95% interval")
    frame = trust.to_frame().rename(columns={"mean": "trust"})
    st.dataframe(
        frame.sort_values("trust", kind="stable"),
        hide_index=True,
        column_config=_COLUMNS | columns.counts(n="annotations"),
        key="trust_table",
    )
    widgets.download(frame, "Trust", "rater_trust", "rater_trust")
    for note in trust.notes:
        st.caption(markdown(note))
