"""What a rater model's fit gives to export, and how it came about."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.figures import models as figures
from core.models.catalogue import Fitted
from core.models.result import RaterModelFit
from core.models.soft_labels import SoftLabels, soft_labels
from core.text import markdown, number, percent, plural
from pages.shared.kit import columns, evidence, widgets
from pages.shared.models import jobs as models_jobs

_WHOLE = {"ESS": st.column_config.NumberColumn(format="%.0f")}


def soft(shown: Fitted) -> None:
    """Class probabilities, log-odds and weights; never only the best class."""
    widgets.heading("Soft labels to train on", "soft labels")
    if not shown.request.method.is_truth:
        st.info("This model is a baseline without parameters: its probabilities are not offered as labels.")
        return
    if not shown.fit.converged:
        st.warning(f"{markdown(models_jobs.label(shown))}: labels from it may still change.", icon=":material/warning:")
    found = soft_labels(shown.dataset, shown.fit)
    st.write(
        "For training a classifier, probabilities or log-odds do better than the most probable class alone: they say "
        "how sure the panel is."
    )
    ending = "" if shown.fit.converged else "_not_converged"
    about = {"model": models_jobs.label(shown), "converged": shown.fit.converged} | evidence.settings_of(shown)[1]
    with st.container(horizontal=True):
        for array, label, name in (
            (found.probability, "Class probabilities of all cases", "class_probabilities"),
            (found.log_odds, "Log-odds", "log_odds"),
        ):
            frame = pd.DataFrame(array, columns=list(found.classes))
            frame.insert(0, "case", list(found.cases), allow_duplicates=True)  # a class may be named "case"
            widgets.download(frame, label, f"{name}{ending}", name, settings=about)
        widgets.download(
            partial(_examples, found, about["model"]),
            "Weights of examples",
            f"weights{ending}",
            "weights",
            int((found.weight > 0).sum()),
            settings=about,
        )
    shown_rows = pd.DataFrame(found.probability[:20], columns=list(found.classes))
    shown_rows.insert(0, "case", list(found.cases[:20]), allow_duplicates=True)
    if shown_rows.columns.is_unique:
        st.caption("The first twenty cases")
        st.dataframe(shown_rows, hide_index=True, column_config=columns.fine(*found.classes), key="soft_rows")


def _examples(found: SoftLabels, model: str) -> pd.DataFrame:
    """An example for training a row: a case with a class that it may be, and how much the example counts."""
    case, code = np.nonzero(found.weight > 0)
    return pd.DataFrame(
        {
            "case": np.array(found.cases, dtype=object)[case],
            "class": np.array(found.classes, dtype=object)[code],
            "weight": found.weight[case, code],
            "model": model,
        }
    )


def came_about(shown: Fitted, theme) -> None:
    """What was maximised by iteration, or how the chains went; and all remarks."""
    fit = shown.fit
    if fit.objective:
        st.caption(
            f"{'Converged' if fit.converged else 'Stopped'} after {len(fit.objective):,} iterations from the votes; "
            f"log-likelihood {number(fit.log_likelihood, 3)}; smoothing {fit.settings.get('smoothing', 'none')}."
        )
        widgets.plot(
            figures.objective_path(fit, theme, "What is maximised never falls"), "path", "Objective by iteration"
        )
    if fit.uncertainty is not None:
        st.caption(f"Intervals by {fit.uncertainty.method}, level {percent(fit.uncertainty.level)}.")
    if shown.bayes is not None:
        rows = [
            {"quantity": name, "mean": float(value.mean), "sd": _one(value.sd), "ci_low": _one(value.low),
             "ci_high": _one(value.high), "R-hat": _one(value.rhat), "ESS": _one(value.ess)}
            for name, value in shown.bayes.quantities.items()
            if np.size(value.mean) == 1
        ]  # fmt: skip
        if rows:
            st.dataframe(
                pd.DataFrame(rows),
                hide_index=True,
                column_config=columns.numbers("mean", "sd") | columns.fine("R-hat") | columns.ends() | _WHOLE,
                key="quantities",
            )
        if shown.bayes.diagnostics is not None:
            st.caption(markdown(shown.bayes.diagnostics.words), help=widgets.explained("convergence"))
        settings = pd.DataFrame({"setting": list(fit.settings), "value": [str(v) for v in fit.settings.values()]})
        with st.expander("Reproduce this result"):
            st.dataframe(settings, hide_index=True, key="model_settings")


def explain_restarts(fit: RaterModelFit, found) -> None:
    """Whether other starting points lead elsewhere."""
    n_best = sum(abs(value - max(found.objectives)) < 1e-4 * (1 + abs(value)) for value in found.objectives)
    if found.differs:
        st.warning(
            f"The likelihood has more than one mode. The best of {len(found.objectives):,} restarts (reached "
            f"{plural(n_best, 'time')}) has log-likelihood {number(found.best.log_likelihood, 3)} against "
            f"{number(fit.log_likelihood, 3)} from the votes, and changes the most probable class of "
            f"{plural(found.n_changed, 'case')}. Below, the start from the votes is shown unless you choose the other.",
            icon=":material/alt_route:",
        )
    else:
        st.caption(f"None of {len(found.objectives):,} restarts found a better fit than the start from the votes.")


def _one(array) -> float | None:
    return None if array is None else float(array)
