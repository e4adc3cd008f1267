"""Checks of rater models: can they make annotations like these, and how well do they predict a new case."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.figures import checks as figures
from core.models.catalogue import Fitted
from core.models.loo import LooRow, compare_loo
from core.text import markdown, number, plotly, plural
from pages.shared.kit import widgets
from pages.shared.models import jobs as models_jobs

_MOST_NAMED = 4


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
    mine = [
        one
        for one in able
        if one.dataset.content_digest == (shown if shown in able else able[0]).dataset.content_digest
    ]
    code = None
    classes = mine[0].fit.classes
    if len(classes) > 2:
        name = st.selectbox("Class", classes, key="check_class", persist_state="session", width=320)
        code = classes.index(name)
    which = shown if shown in mine else mine[0]
    votes = {models_jobs.label(one): next(c for c in one.bayes.checks if c.kind == "votes") for one in mine}
    widgets.heading("Votes of a case, observed and replicated", "predictive check")
    st.caption(
        f"How many of a case's annotations name “{markdown(classes[1 if code is None else code])}”. Outlines are the "
        "data; a coloured bar is where 95% of data lie that the model makes up. A model whose bars miss the outlines "
        "cannot have made these annotations."
    )
    rows = compare_loo({models_jobs.label(one): one.bayes.loo for one in mine if one.bayes.loo is not None})
    votes = {row.name: votes[row.name] for row in rows} | votes  # those that predict best first
    drawn = _drawn(votes, models_jobs.label(which))
    widgets.plot(
        figures.vote_bands({name: votes[name] for name in drawn}, theme, plotly(_who_reproduces(votes)), code),
        "vote_bands",
        "Observed votes against model bands",
    )
    raters = next(c for c in which.bayes.checks if c.kind == "raters")
    said = {"fails": "fails", "passes": "passes", "undecided": "has too few replicates for"}[verdict(raters)]
    widgets.heading("Raters, observed and replicated", "predictive check")
    widgets.plot(
        figures.rater_bands(raters, theme, plotly(f"{models_jobs.label(which)} {said} the check of raters"), code),
        "rater_bands",
        "Observed annotations of raters against the model's bands",
    )
    if len(rows) > 1:
        widgets.heading("Predicting a new case", "leave-one-case-out")
        widgets.plot(
            figures.loo_forest(rows, theme, plotly(predicts_best(rows))),
            "loo",
            "Expected log predictive density of each model less the best",
        )
        if doubtful := [f"{plural(row.n_high_k, 'case')} of {markdown(row.name)}" for row in rows if row.n_high_k]:
            st.caption(f"Open symbols: importance weights (k) are not to be trusted for {', '.join(doubtful)}.")
        frame = pd.DataFrame([{name: getattr(row, name) for name in row.__slots__} for row in rows])
        widgets.download(frame, "Leave-one-out", "leave_one_out", "loo_table")
    with st.expander("Chain diagnostics", expanded=len(mine) <= figures.MOST_MODELS):
        for one in (one for one in mine if one.bayes.diagnostics is not None):
            st.caption(f"**{markdown(one.title)}**: {markdown(one.bayes.diagnostics.words)}")


def predicts_best(rows: Sequence[LooRow]) -> str:
    """Which model predicts a new case best, or what is not clearly behind it, by two standard errors. Not escaped.

    Parameters
    ----------
    rows : sequence of LooRow
        The best first.
    """
    first, *others = rows
    close = [row.name for row in others if row.difference_se is None or -row.difference <= 2 * row.difference_se]
    if not close:
        return f"{first.name} predicts the annotations of a new case best"
    rest = close[0] if len(close) == 1 else f"{len(close):,} others"
    return f"{first.name} and {rest} do not clearly differ in predicting a new case"


def _drawn(votes: dict, which: str) -> list[str]:
    """The models in the figure of votes; which ones is asked for where there are too many to be told apart."""
    if len(votes) <= figures.MOST_MODELS:
        return list(votes)
    first = [which, *(name for name in votes if name != which)][: figures.MOST_MODELS]
    drawn = st.multiselect(
        f"Models in the figure, at most {figures.MOST_MODELS} of {len(votes):,}",
        list(votes),
        default=first,
        max_selections=figures.MOST_MODELS,
        key=f"drawn-{'-'.join(votes)}",
    )
    return drawn or first[:1]


def _who_reproduces(votes: dict) -> str:
    failing = [name for name, check in votes.items() if check.fails]
    passing = [name for name, check in votes.items() if check.fails is False]
    open_ = len(votes) - len(failing) - len(passing)
    if len(votes) > _MOST_NAMED:
        words = f"{len(failing):,} of {len(votes):,} models cannot reproduce the votes"
    elif failing:
        words = f"{' and '.join(failing)} cannot reproduce the votes" + (
            f"; {' and '.join(passing)} can" if passing else ""
        )
    elif passing:
        words = f"{' and '.join(passing)} can reproduce the votes"
    else:
        return "Too few replicates to tell whether the votes are reproduced"
    return words + (f"; {open_} undecided" if open_ else "")


def verdict(check) -> str:
    """In a word."""
    return "fails" if check.fails else "undecided" if check.fails is None else "passes"


def least(check) -> str:
    """The smallest predictive probability, of how many."""
    value = number(check.headline, 3) if check.headline > 0 else f"<{number(1 / check.n_replicates, 4)}"
    return f"{value} of {check.n_statistics:,}"
