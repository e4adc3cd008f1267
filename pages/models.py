"""Models: who is right, which raters are accurate, which cases are hard, and may the model be believed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.extremes import clearly_least, clearly_most, clearly_most_cases
from core.methods import any_of
from core.models.catalogue import Fitted, command_of
from core.models.models_agree import models_agree
from core.models.unanimous import unanimous_cases
from core.models.vote_changes import VoteChanges, vote_changes
from core.raters.acceptable import why_not
from core.text import markdown, percent_with_interval, plural, shorten
from pages.shared.cache.home import vote_shares
from pages.shared.kit import (
    columns,
    evidence,
    gold_of_reviews,
    navigation,
    opening,
    provenance,
    rater_accuracy,
    widgets,
)
from pages.shared.kit import style as look
from pages.shared.models import checks as models_checks
from pages.shared.models import choose as models_choose
from pages.shared.models import compare as models_compare
from pages.shared.models import fit as models_fit
from pages.shared.models import jobs as models_jobs
from pages.shared.models import labels as models_labels
from pages.shared.models import parts as models_parts

MOST_SIDE_BY_SIDE = 6


def _restarts(shown: Fitted, n_restarts: int) -> Fitted:
    """The vote start, or the best restart where that is another one and the user wants it."""
    found = models_jobs.restarted(shown, n_restarts)
    if found is None:
        return shown
    models_fit.explain_restarts(shown.fit, found)
    if not found.differs:
        return shown
    which = st.segmented_control(
        "Show", ["Start from the votes", "Best restart"], default="Start from the votes", required=True, key="which"
    )
    return replace(shown, fit=found.best) if which == "Best restart" else shown


def _shown(fitted: list[Fitted], n_restarts: int) -> Fitted:
    """The model that the tabs are about, with its remarks."""
    titles = [one.title for one in fitted]
    place = 0
    if len(fitted) > 1:
        options = {"key": "model_shown", "help": "The model that the tabs are about", "persist_state": "session"}
        if st.session_state.get("model_shown") not in titles:
            st.session_state["model_shown"] = titles[0]
        if len(titles) > MOST_SIDE_BY_SIDE:
            title = st.selectbox("In detail", titles, width=420, **options)
        else:
            title = st.segmented_control("In detail", titles, required=True, **options)
        place = titles.index(title) if title in titles else 0
    shown = _restarts(fitted[place], n_restarts)
    if not shown.request.method.is_truth:
        st.info(
            f"{markdown(shown.title)} is a baseline without parameters that others are compared with. Its annotations "
            "are not taken for the truth.",
            icon=":material/info:",
        )
    diagnostics = None if shown.bayes is None else shown.bayes.diagnostics
    grave = shown.bayes is None and shown.request.way != "vote"
    notes = {note: grave or (diagnostics is not None and note == diagnostics.words)
             for note in shown.fit.notes}  # fmt: skip
    if shown.request.method.is_truth and (why := unanimous_cases(shown.dataset).why_not(shown.fit)):
        notes = {f"{shown.title} is not to be relied on here. {why}": True} | notes
    if heavy := [note for note, grave in notes.items() if grave]:
        st.warning(markdown(" ".join(heavy)))
    if light := [note for note, grave in notes.items() if not grave]:
        st.caption(markdown(" ".join(light)))
    return models_jobs.with_precision(shown)


def _sentence(fitted: list[Fitted], shown: Fitted, changes: VoteChanges) -> str:
    """What several models agree and differ on; of one, or where it has not converged, what it changes of the vote."""
    same = [one for one in fitted if one.fit.classes == shown.fit.classes and one.request.method.is_truth]
    if shown.request.way == "vote":
        return f"{shown.title} keeps the majority class of every case"
    done = [one for one in same if one.fit.converged]
    if len(done) < 2 or not shown.fit.converged:
        return f"{changes.words} ({models_jobs.label(shown)})"
    return models_agree([one.fit for one in done], np.diff(shown.dataset.case_ptr) > 0).words


def _answer(title, about: str, view: Dataset, fitted: list[Fitted], shown: Fitted) -> None:
    """The title; if annotations do not tell who is right, that, and what the model makes of it.

    Parameters
    ----------
    title : DeltaGenerator
        Where the title stands.
    about : str
        What stands before it.
    view : Dataset
        Of single classes.
    fitted, shown
        All models, and the one that the page is about.
    """
    answered = np.diff(shown.dataset.case_ptr) > 0
    why, changes = why_not(shown.dataset), vote_changes(shown.fit, models_jobs.vote_of(shown), answered)
    sentence = _sentence(fitted, shown, changes)
    told = bool(shown.fit.settings.get("use_gold")) or not shown.request.method.is_truth
    if why and not told and (changes.n_changed or changes.n_decided):
        title.title(markdown(f"{about}Which class is right cannot be told: {why}"))
        st.markdown(markdown(f"{sentence}."))
    else:
        title.title(markdown(f"{about}{sentence}"))
        _who_is_accurate(view, why)


def _who_is_accurate(view: Dataset, why: str) -> None:
    """The other half of the page's question, in a line, as the Raters page answers it; or ``why`` nobody can tell."""
    if why:
        st.markdown(f"How accurate the raters are cannot be said: {markdown(why)}.")
        return
    if view.n_annotations > rater_accuracy.MOST_ANNOTATIONS or not view.raters_identified:
        return
    found = rater_accuracy.judged(view)
    if found is None or found[1].following is not None:  # raters of ordered classes are judged by how they follow cases
        return
    accuracy = found[1].acceptable.accuracy
    if np.isfinite(accuracy.value).sum() < 2:
        return

    def said(rater: int) -> str:
        words = percent_with_interval(accuracy.value[rater], accuracy.low[rater], accuracy.high[rater])
        return f"**{markdown(shorten(view.raters[rater], 40))}**, {words}"

    ends = accuracy.value, accuracy.low, accuracy.high
    named = (("most", clearly_most(*ends)), ("least", clearly_least(*ends)))
    sentences = [f"{how} often right: {said(rater)}" for how, rater in named if rater is not None]
    words = "; ".join(sentences) or "No rater is clearly the most or the least often right"
    st.markdown(f"{words[0].upper()}{words[1:]}, as on the Raters page.")


def _compared(view: Dataset, fitted: list[Fitted], shown: Fitted, vote, theme) -> None:
    """All models by their held-out scores, those that were fitted, and how far they agree."""
    models_choose.held_out_scores(view)
    if len(fitted) == 1:
        models_compare.table(fitted, shown, vote)
    models_compare.agreement(fitted, shown, theme)


def _vote_alone(view: Dataset) -> None:
    """The share of each class by majority vote, the commonest first; classes that win no case are counted alone."""
    shares = vote_shares(view)
    frame = pd.DataFrame(
        {
            "class": view.classes,
            "share of cases": [share.value for share in shares],
            "ci_low": [share.low for share in shares],
            "ci_high": [share.high for share in shares],
        }
    ).sort_values("share of cases", ascending=False, kind="stable", ignore_index=True)
    n_never = int((frame["share of cases"] == 0).sum())
    never = (
        f" {plural(n_never, 'class', 'classes')} of {len(frame):,} {'wins' if n_never == 1 else 'win'} no case."
        if n_never
        else ""
    )
    first, n = frame.iloc[0], plural(shares[0].n, "case")
    if clearly_most_cases(frame["share of cases"], shares[0].n) is None:
        words = f"No class is clearly the most common by majority vote of {n} with annotations"
    else:
        share = percent_with_interval(first["share of cases"], first["ci_low"], first["ci_high"])
        name = markdown(shorten(first["class"], 60))
        words = f"Most common by majority vote: **{name}**, {share} of {n} with annotations"
    st.markdown(f"{words}; a tied case is split.{never}")
    ends = {"ci_low": "95% from", "ci_high": "to"}
    st.dataframe(
        frame[frame["share of cases"] > 0].rename(columns=ends),
        hide_index=True,
        column_config=columns.fine("share of cases", *ends.values()),
        key="vote_only",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        widgets.download(frame, "Shares of classes", "vote_shares", "vote_shares_table")
        st.page_link("pages/cases.py", label="Which cases are uncertain?", icon=":material/view_list:")


def _page() -> None:
    dataset = widgets.require_data().dataset
    theme = look.theme()
    title = st.empty()
    title.title("Who is right, and which raters are accurate?")
    dataset = gold_of_reviews.switched(dataset)
    view = widgets.class_view(dataset)
    verdict = any_of("rater model", view)
    if not verdict.possible:
        title.title("Only a majority vote is possible with these data")
        st.info(f"Rater models are not possible: {markdown(verdict.reason)}.", icon=":material/block:")
        _vote_alone(view)
        return
    requests, n_restarts = models_choose.choose(view)
    fitted = models_jobs.fits(view, requests)
    if not fitted:
        if models_choose.vote_opens(view):
            title.title("Majority vote: no rater model can be judged on these data")
            _vote_alone(view)
            models_choose.held_out_scores(view)
        elif not requests:
            st.info("Choose at least one model.")
        return
    shown = _shown(fitted, n_restarts)
    fitted = [shown if one.request == shown.request else models_jobs.with_precision(one) for one in fitted]
    both = [evidence.counted(one) for one in fitted]
    shown, weight = next(pair for pair, one in zip(both, fitted, strict=True) if one is shown)
    fitted = [one for one, _ in both]
    vote = models_jobs.vote_of(shown)
    models_choose.keep_choice(view, shown.request)
    if models_choose.is_open(view):
        st.caption(opening.CHOOSING_RATERS)
    else:
        _answer(title, f"“{view.classes[1]}”: " if dataset.kind == "set" else "", view, fitted, shown)
    evidence.say(shown, weight)
    models_compare.summary(fitted, shown, vote)
    every = dataset.kind == "set" and dataset.raters_identified
    parts = {
        **({"All labels": lambda: models_labels.show(dataset)} if every else {}),
        "Cases": lambda: models_parts.cases(shown, vote, theme),
        **({} if shown.request.way == "vote" else {"Raters": lambda: models_parts.raters(shown, theme)}),
        "Prevalence": lambda: models_parts.prevalence(fitted, shown, vote, theme),
        "Checks": lambda: models_checks.checks(fitted, shown, theme),
        "Soft labels": lambda: models_fit.soft(shown),
        "Models compared": lambda: _compared(view, fitted, shown, vote, theme),
        "Fit details": lambda: models_fit.came_about(shown, theme),
    }
    for (_, show), tab in zip(parts.items(), widgets.tabs(list(parts), "model_tabs"), strict=True):
        if tab.open:
            with tab:
                show()
    more, of_classifier = evidence.settings_of(shown)
    provenance.show(
        dataset,
        ["rater models"],
        command_of(shown.request) + more,
        {"model": shown.request.model, "method": shown.request.way, **dict(shown.request.options)} | of_classifier,
        "models",
    )


navigation.through_app()
_page()
