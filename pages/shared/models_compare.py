"""Rater models beside each other: may they be believed, which predicts best, and where do they part."""

import numpy as np
import pandas as pd
import streamlit as st

from core.errors import PluralityError
from core.figures import checks as figures
from core.figures import models as model_figures
from core.models.catalogue import Fitted
from core.models.comparison import against_gold, compare_fits
from core.models.joint import kappa_check
from core.models.loo import compare_loo
from core.text import markdown, number, plotly, plural, shorten, with_interval
from pages.shared import widgets


def table(fitted: list[Fitted], code: int) -> None:
    """One line a model: what it says of one class, whether its checks pass, how well it predicts, what it took."""
    loo = _compared(fitted)
    rows = []
    for one in fitted:
        fit, bayes = one.fit, one.bayes
        place = min(code, len(fit.classes) - 1) if len(fit.classes) != len(fitted[0].fit.classes) else code
        spread = fit.uncertainty.prevalence if fit.uncertainty is not None else None
        row = {
            "model": one.title,
            "by": {"em": "EM", "map": "mode", "nuts": "NUTS", "vote": "votes"}[one.fit.method],
            f"prevalence of {shorten(fit.classes[place], 24)}": with_interval(
                float(fit.prevalence[place]),
                None if spread is None else float(spread.low[place]),
                None if spread is None else float(spread.high[place]),
            ).removesuffix(" (no interval)"),
            "log-likelihood": fit.log_likelihood,
        }
        row |= {
            "elpd less the best": _difference(loo.get(id(one))),
            "raters check": _check(bayes, "raters"),
            "votes check": _check(bayes, "votes"),
            "converged": _converged(one),
            "seconds": round(one.seconds, 2),
        }
        rows.append(row)
    frame = pd.DataFrame(rows)
    if not any(one.bayes is not None and one.bayes.diagnostics for one in fitted):
        frame = frame.drop(columns=["elpd less the best", "raters check", "votes check"])
    st.dataframe(frame, hide_index=True, key="model_comparison")
    for one in fitted:
        for check in one.bayes.checks if one.bayes else ():
            if check.fails:
                st.badge(
                    f"{markdown(one.title)} fails its check of {check.kind}", icon=":material/close:", color="orange"
                )
    widgets.download(frame, "Models", "models", "model_comparison_table")


def _compared(fitted: list[Fitted]) -> dict[int, object]:
    """Leave-one-out rows by fit, compared among models of the same answers."""
    groups: dict[str, dict[str, Fitted]] = {}
    for one in fitted:
        if one.bayes is not None and one.bayes.loo is not None:
            groups.setdefault(one.dataset.digest, {})[one.title] = one
    found = {}
    for group in groups.values():
        for row in compare_loo({title: one.bayes.loo for title, one in group.items()}):
            found[id(group[row.name])] = row
    return found


def _difference(row) -> str:
    if row is None:
        return "–"
    if row.difference == 0:
        return f"best ({row.elpd:,.1f})"
    return (
        f"{row.difference:,.1f} ± {row.difference_se:,.1f}"
        if row.difference_se is not None
        else f"{row.difference:,.1f}"
    )


def _check(bayes, kind: str) -> str:
    check = next((one for one in bayes.checks if one.kind == kind), None) if bayes is not None else None
    if check is None:
        return "–"
    word = "fails" if check.fails else "undecided" if check.fails is None else "passes"
    least = number(check.headline, 3) if check.headline > 0 else f"<{1 / check.n_replicates:.4f}".replace("0.", ".", 1)
    return f"{word}: {least} of S = {check.n_statistics:,}"


def _converged(one: Fitted) -> str:
    if one.bayes is None:
        return "yes" if one.fit.converged else "no"
    found = one.bayes.diagnostics
    if found is None:
        return "mode only"
    if found.rhat_max is None:
        return "yes" if found.converged else "no"
    return f"{'yes' if found.converged else 'NO'}: R-hat {found.rhat_max:.3f}, ESS {found.ess_bulk_min:,.0f}"


def checks(fitted: list[Fitted], shown: Fitted, theme) -> None:
    """Observed votes against the bands of the models, raters against theirs, and leave-one-out."""
    able = [one for one in fitted if one.bayes is not None and one.bayes.checks]
    if not able:
        st.info(
            "Checks need draws from a posterior. Choose a Bayesian model above (the difficulty models, or Dawid-Skene "
            "as a full posterior) and “Full posterior”.",
            icon=":material/fact_check:",
        )
        return
    mine = [one for one in able if one.dataset.digest == (shown if shown in able else able[0]).dataset.digest]
    code = None
    classes = mine[0].fit.classes
    if len(classes) > 2:
        name = st.selectbox("Class", classes, key="check_class", persist_state="session", width=320)
        code = classes.index(name)
    votes = {one.title: next(c for c in one.bayes.checks if c.kind == "votes") for one in mine}
    failing = [title for title, check in votes.items() if check.fails]
    passing = [title for title, check in votes.items() if check.fails is False]
    words = f"{', '.join(failing)} cannot reproduce the votes" if failing else "All models shown reproduce the votes"
    if failing and passing:
        words += f"; {', '.join(passing)} can"
    widgets.heading("Votes of a case, observed and replicated", "predictive check")
    widgets.plot(
        figures.vote_bands(votes, theme, plotly(words), code), "vote_bands", "Observed votes against model bands"
    )
    if len(votes) > figures.MOST_MODELS:
        st.caption(f"The first {figures.MOST_MODELS} of {len(votes)} models.")
    which = shown if shown in mine else mine[0]
    raters = next(c for c in which.bayes.checks if c.kind == "raters")
    verdict = "fails" if raters.fails else "passes"
    widgets.heading("Raters, observed and replicated", "predictive check")
    widgets.plot(
        figures.rater_bands(raters, theme, f"{which.title} {verdict} the check of raters", code),
        "rater_bands",
        "Observed answers of raters against the model's bands",
    )
    rows = compare_loo({one.title: one.bayes.loo for one in mine if one.bayes.loo is not None})
    if rows:
        widgets.heading("Predicting a new case", "leave-one-case-out")
        high = sum(row.n_high_k for row in rows)
        widgets.plot(
            figures.loo_forest(rows, theme, f"{plotly(rows[0].name)} predicts the answers of a new case best"),
            "loo",
            "Expected log predictive density of each model less the best",
        )
        if high:
            st.caption(f"Open symbols: for {plural(high, 'case')} the importance weights are not to be trusted (k).")
        frame = pd.DataFrame([{name: getattr(row, name) for name in row.__slots__} for row in rows])
        widgets.download(frame, "Leave-one-out", "leave_one_out", "loo_table")
    for one in mine:
        if one.bayes.diagnostics is not None:
            st.caption(f"**{markdown(one.title)}**: {markdown(one.bayes.diagnostics.words)}")


def agreement(fitted: list[Fitted], shown: Fitted, theme) -> None:
    """How far the models agree with each other, and with known classes."""
    same = [one for one in fitted if one.fit.classes == shown.fit.classes]
    from pages.shared import models_choose

    fits = {"Majority vote": models_choose.vote_of(shown)} | {one.title: one.fit for one in same}
    found = compare_fits(shown.dataset, list(fits.values()))
    widgets.heading("Models with each other", "model agreement")
    st.caption(f"Share of the {plural(found.n_cases, 'case')} with the same most probable class.")
    frame = pd.DataFrame(found.same_top, columns=list(fits))
    frame.insert(0, "model", list(fits))
    st.dataframe(
        frame,
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="%.3f") for name in fits},
        key="model_agreement",
    )
    distance = pd.DataFrame(found.distance, columns=list(fits))
    distance.insert(0, "model", list(fits))
    widgets.download(distance, "Mean distance of the class probabilities", "model_distance", "model_distance_table")
    if len(fits) > 1:
        low = np.unravel_index(np.argmin(found.same_top), found.same_top.shape)
        names = list(fits)
        st.caption(
            f"Least alike: {markdown(names[low[0]])} and {markdown(names[low[1]])}, "
            f"{number(float(found.same_top[low]))}."
        )
    _gold(shown, fits, theme)
    if shown.request.model.startswith("tap"):
        _kappa(shown)


def _gold(shown: Fitted, fits: dict, theme) -> None:
    if shown.dataset.gold is None or not (shown.dataset.gold >= 0).any():
        return
    widgets.heading("Against the known classes", "calibration")
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
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="gold_table")
    if curve is not None:
        widgets.plot(
            model_figures.calibration_curve(
                curve.mean, curve.share, curve.low, curve.high, curve.n, theme,
                f"{plotly(shown.title)}: what it gives the most probable class, and how often that is right",
            ),
            "calibration",
            "Calibration against known classes",
        )  # fmt: skip


def _kappa(shown: Fitted) -> None:
    try:
        found = kappa_check(shown.dataset, shown.fit)
    except PluralityError:
        return
    widgets.heading("Fleiss κ against the accuracies", "t-a-p")
    st.markdown(
        f"Observed κ is **{with_interval(found.observed, found.low, found.high)}**; the model expects "
        f"**{number(found.expected)}**, and the product of accuracies a² is {number(found.a_squared)}. "
        "They agree where raters guess by the prevalence."
    )
