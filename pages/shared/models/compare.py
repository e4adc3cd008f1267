"""Rater models beside each other: may they be believed, which predicts best, and where do they part."""

import numpy as np
import pandas as pd
import streamlit as st

from core.errors import PluralityError
from core.figures import models as model_figures
from core.methods import explained
from core.models.catalogue import Fitted
from core.models.comparison import against_gold, compare_fits, most_moved
from core.models.joint import kappa_check
from core.models.loo import compare_loo
from core.models.result import RaterModelFit
from core.models.tap import METHODS as TAP
from core.text import markdown, number, plotly, plural, shorten, with_interval
from pages.shared.kit import columns, widgets
from pages.shared.models import checks as models_checks
from pages.shared.models import jobs as models_jobs

MOST_BADGES = 6
_METHODS = {"em": "EM", "map": "posterior mode", "nuts": "full posterior", "vote": "votes"}
_HELP = {
    "elpd less the best": st.column_config.TextColumn(help=explained("leave-one-case-out")),
    "check of raters": st.column_config.TextColumn(help=explained("predictive check")),
    "check of votes": st.column_config.TextColumn(help=explained("predictive check")),
    "by": st.column_config.TextColumn(help=explained("full posterior")),
    "as in the paper": st.column_config.TextColumn(
        help="The score that Han, Adıgüzel & Carpenter print for difficulty models: one annotation is left out, and "
        "the other annotations on its case say nothing of the case's class. Ours, elpd, leaves out a whole case and "
        "integrates its effects. The two may prefer different models, and this one prefers some that fail their "
        "checks. Only its difference between models means something; their own figures, from sampled effects, are "
        "lower by up to 4."
    ),
}


def summary(fitted: list[Fitted], shown: Fitted, vote: RaterModelFit) -> None:
    """What must not be overlooked, and of several models the table; that of one stands with the comparisons."""
    if len(fitted) > 1:
        table(fitted, shown, vote)
    _badges(fitted)


def table(fitted: list[Fitted], shown: Fitted, vote: RaterModelFit) -> None:
    """One line a model: what it says of one class, whether its checks pass, how well it predicts, what it took."""
    loo = _compared(fitted)
    name = _class_of_interest(fitted, shown, vote)
    rows, plain = [], []
    for one in fitted:
        fit, bayes = one.fit, one.bayes
        row = {"model": one.title, "by": _METHODS[fit.method]}
        checked = {
            "elpd less the best": _difference(loo.get(id(one))),
            "check of raters": _check(bayes, "raters"),
            "check of votes": _check(bayes, "votes"),
            "as in the paper": _as_in_paper(bayes),
        }
        rows.append(
            row
            | {f"share that is {shorten(name, 24)}": _prevalence(fit, name)}
            | checked
            | {"converged": _converged(one), "seconds": "<.1" if one.seconds < 0.05 else number(one.seconds, 1)}
        )
        place = fit.classes.index(name) if name in fit.classes else None
        spread = None if fit.uncertainty is None else fit.uncertainty.prevalence
        diagnostics = None if bayes is None else bayes.diagnostics
        plain.append(
            row
            | {
                "class": name,
                "prevalence": None if place is None else fit.prevalence[place],
                "ci_low": None if place is None or spread is None else spread.low[place],
                "ci_high": None if place is None or spread is None else spread.high[place],
                "log_likelihood": fit.log_likelihood,
            }
            | checked
            | {
                "paper_elpd": None if bayes is None or bayes.paper is None else bayes.paper.elpd,
                "paper_se": None if bayes is None or bayes.paper is None else bayes.paper.se,
                "converged": fit.converged,
                "r_hat": None if diagnostics is None else diagnostics.rhat_max,
                "ess": None if diagnostics is None else diagnostics.ess_bulk_min,
                "seconds": one.seconds,
            }
        )
    frame = pd.DataFrame(rows)
    if not any(one.bayes is not None and one.bayes.diagnostics for one in fitted):
        frame = frame.drop(columns=["check of raters", "check of votes"])
    if all(one.bayes is None or one.bayes.paper is None for one in fitted):
        frame = frame.drop(columns=["as in the paper"])
    if not loo:
        frame = frame.drop(columns=["elpd less the best"])
    st.dataframe(frame, hide_index=True, height=35 * (len(frame) + 1) + 3, column_config=_HELP, key="model_comparison")
    widgets.download(pd.DataFrame(plain), "Models", "models", "model_comparison_table")


def _badges(fitted: list[Fitted]) -> None:
    """What must not be overlooked; counted where there are many models."""
    unsettled = [one.title for one in fitted if not one.fit.converged]
    failing = [
        (one.title, check) for one in fitted if one.bayes is not None for check in one.bayes.checks if check.fails
    ]
    with st.container(horizontal=True):
        if len(fitted) > MOST_BADGES:
            if unsettled:
                words = f"{len(unsettled):,} of {len(fitted):,} models have not converged"
                st.badge(words, icon=":material/warning:", color="orange")
            if failing:
                words = f"{len({title for title, _ in failing}):,} of {len(fitted):,} models fail a check"
                st.badge(words, icon=":material/close:", color="red")
            return
        for title in unsettled:
            st.badge(f"{markdown(title)} has not converged", icon=":material/warning:", color="orange")
        for title, check in failing:
            words = f"{markdown(title)} fails its check of {check.kind}: {models_checks.least(check)}"
            st.badge(words, icon=":material/close:", color="red")


def _class_of_interest(fitted: list[Fitted], shown: Fitted, vote: RaterModelFit) -> str:
    """The class whose share stands in the table: the one that difficulty models tell apart, else the most moved."""
    for one in fitted:
        if len(one.fit.classes) == 2:
            return one.fit.classes[1]
    return shown.fit.classes[int(most_moved(shown.fit, vote)[0])]


def _prevalence(fit: RaterModelFit, name: str) -> str:
    if name not in fit.classes:
        return "–"
    place = fit.classes.index(name)
    spread = None if fit.uncertainty is None else fit.uncertainty.prevalence
    known = spread is not None and np.isfinite(spread.low[place])
    ends = (float(spread.low[place]), float(spread.high[place])) if known else (None, None)
    return with_interval(float(fit.prevalence[place]), *ends)


def _compared(fitted: list[Fitted]) -> dict[int, object]:
    """Leave-one-out rows by fit, compared among models of the same annotations."""
    groups: dict[str, dict[str, Fitted]] = {}
    for one in fitted:
        if one.bayes is not None and one.bayes.loo is not None:
            groups.setdefault(one.dataset.content_digest, {})[one.title] = one
    found = {}
    for group in groups.values():
        if len(group) == 1:  # best of one says nothing
            continue
        for row in compare_loo({title: one.bayes.loo for title, one in group.items()}):
            found[id(group[row.name])] = row
    return found


def _difference(row) -> str:
    if row is None:
        return "–"
    if row.difference == 0:
        return f"best ({number(row.elpd, 1)})"
    return (
        f"{number(row.difference, 1)} ± {number(row.difference_se, 1)}"
        if row.difference_se is not None
        else number(row.difference, 1)
    )


def _check(bayes, kind: str) -> str:
    check = next((one for one in bayes.checks if one.kind == kind), None) if bayes is not None else None
    return "–" if check is None else f"{models_checks.verdict(check)}: {models_checks.least(check)}"


def _as_in_paper(bayes) -> str:
    paper = None if bayes is None else bayes.paper
    if paper is None:
        return "–"
    words = number(paper.elpd, 1) if paper.se is None else f"{number(paper.elpd, 1)} ± {number(paper.se, 1)}"
    return words if not paper.n_high_k else f"{words}, {plural(paper.n_high_k, 'annotation')} with high k"


def _converged(one: Fitted) -> str:
    if one.bayes is None:
        return "yes" if one.fit.converged else "no"
    found = one.bayes.diagnostics
    if found is None:
        return "no chains"
    if found.rhat_max is None:
        return "yes" if found.converged else "no"
    return (
        f"{'yes' if found.converged else 'NO'}: R-hat {number(found.rhat_max, 3)}, ESS {number(found.ess_bulk_min, 0)}"
    )


def agreement(fitted: list[Fitted], shown: Fitted, theme) -> None:
    """How far the models agree with each other, and with gold classes."""
    same = [one for one in fitted if one.fit.classes == shown.fit.classes]
    fits = {"Majority vote": models_jobs.vote_of(shown)} | {models_jobs.label(one): one.fit for one in same}
    found = compare_fits(shown.dataset, list(fits.values()))
    widgets.heading("Models with each other", "model agreement")
    st.caption(f"Share of the {plural(found.n_cases, 'case')} with the same most probable class.")
    frame = pd.DataFrame(found.same_top, columns=list(fits))
    frame.insert(0, "model", list(fits))
    st.dataframe(frame, hide_index=True, column_config=columns.numbers(*fits), key="model_agreement")
    distance = pd.DataFrame(found.distance, columns=list(fits))
    distance.insert(0, "model", list(fits))
    widgets.download(distance, "Mean distance of the class probabilities", "model_distance", "model_distance_table")
    low = np.unravel_index(np.argmin(found.same_top), found.same_top.shape)
    names = list(fits)
    if found.same_top[low] == 1:
        st.caption("All of them have the same most probable class in every case.")
    else:
        st.caption(
            f"Least alike: {markdown(names[low[0]])} and {markdown(names[low[1]])}, "
            f"{number(float(found.same_top[low]))}."
        )
    _gold(shown, fits, theme)
    if shown.request.method.command == TAP[0].command:
        _kappa(shown)


def _gold(shown: Fitted, fits: dict, theme) -> None:
    if shown.dataset.gold is None or not (shown.dataset.gold >= 0).any():
        return
    widgets.heading("Against gold", "calibration")
    rows, curve = [], None
    for title, fit in fits.items():
        try:
            score = against_gold(shown.dataset, fit)
        except PluralityError as error:
            st.caption(f"{markdown(title)}: {markdown(error)}")
            continue
        rows.append(
            {
                "model": title,
                "accuracy": score.accuracy,
                "ci_low": score.low,
                "ci_high": score.high,
                "log-loss": score.log_loss,
                "cases": score.n_cases,
            }
        )
        if fit is shown.fit:
            curve = score.calibration
    if rows:
        frame = pd.DataFrame(rows)
        shown_rows, pictures = columns.with_pictures(frame, ("accuracy", "ci_low", "ci_high", "95% interval"))
        st.dataframe(
            shown_rows,
            hide_index=True,
            column_config=columns.numbers("accuracy")
            | columns.fine("log-loss")
            | columns.ends()
            | columns.counts("cases")
            | pictures,
            key="gold_table",
        )
        widgets.download(frame, "Against gold", "known_classes", "gold_download")
    if curve is not None:
        widgets.plot(
            model_figures.calibration_curve(
                curve.mean, curve.share, curve.low, curve.high, curve.n, theme,
                f"How sure {plotly(models_jobs.label(shown))} is, and how often it is right",
            ),
            "calibration",
            "Calibration against gold",
        )  # fmt: skip


def _kappa(shown: Fitted) -> None:
    try:
        found = kappa_check(shown.dataset, shown.fit)
    except PluralityError:
        return
    widgets.heading("Fleiss κ against the accuracies", TAP[0])
    st.markdown(
        f"Observed κ is **{with_interval(found.observed, found.low, found.high)}**; the model expects "
        f"**{number(found.expected)}**, and the product of accuracies a² is {number(found.a_squared)}. "
        "They agree where raters guess by the prevalence."
    )
