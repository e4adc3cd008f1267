"""Home: without data what this is, samples and a way in; with data four figures, each a door to its page."""

from functools import partial

import numpy as np
import streamlit as st

from core import library
from core.annotations.capabilities import can_use, verdicts
from core.annotations.samples import SAMPLES
from core.annotations.write import long_table, wide_table
from core.errors import PluralityError
from core.review.store import n_reviews
from core.text import markdown, plural, shorten
from pages.shared import cached, cached_agreement, menu, state, widgets


def _welcome() -> None:
    st.title("Ground truth that people disagree about")
    st.write(
        "Several raters, one case, different answers. See how much they agree, whom to trust, which cases are truly "
        "ambiguous, and what else the truth could plausibly be. Everything stays on this computer."
    )
    st.page_link("pages/upload.py", label="Open a file of your own", icon=":material/upload_file:")
    st.subheader("Or try a sample", anchor=False)
    columns = st.columns(2)
    for place, sample in enumerate(SAMPLES):
        with columns[place % 2].container(border=True, height="stretch"):
            st.markdown(f"**{sample.title}**")
            st.caption(f"{sample.size} · {sample.answers}")
            st.write(sample.shows)
            st.button(f"Open {sample.title}", key=f"sample-{sample.name}", on_click=state.use, args=(sample.name,))


def _dashboard(reading) -> None:
    dataset = reading.dataset
    st.title(markdown(dataset.name))
    answers = {"class": "single classes", "ranking": "differential diagnoses (rankings)", "score": "scores"}
    st.caption(
        f"{plural(dataset.n_cases, 'case')} · {plural(dataset.n_raters, 'rater')} · "
        f"{plural(dataset.n_annotations, 'answer')} · {answers[dataset.kind]}"
    )
    columns = st.columns(4)
    with columns[0].container(border=True, height="stretch"):
        st.metric("Cases", f"{dataset.n_cases:,}")
        st.caption(f"{dataset.n_annotations / dataset.n_cases:.1f} answers a case")
        st.page_link("pages/cases.py", label="See the cases", icon=":material/view_list:")
    first_choices = dataset.kind != "ranking" or cached.class_view(dataset, None)[0].n_annotations
    if not first_choices:
        columns[1].info("In every ranking the first choice is tied, so single classes cannot be compared.")
    elif dataset.kind == "score" and "threshold" not in st.session_state:
        columns[1].info("Scores need a threshold before they can be compared: set it on the Agreement page.")
    else:
        view, _ = cached.class_view(dataset, st.session_state.get("threshold"))
        _figures(columns, view)
    st.subheader("What these data allow", anchor=False)
    by_reason: dict[tuple[bool, str], list[str]] = {}
    for verdict in verdicts(dataset):
        by_reason.setdefault((verdict.possible, verdict.reason), []).append(verdict.title)
    for (possible, reason), titles in by_reason.items():
        icon, word = (":material/check_circle:", "Possible") if possible else (":material/block:", "Not possible")
        st.markdown(f"{icon} **{word}**, {reason}: {', '.join(titles)}")
    with st.container(horizontal=True):
        rows = max(dataset.n_annotations, len(dataset.entry_class))
        widgets.download(partial(long_table, dataset), "Annotations, one row each", "annotations", "long", rows)
        if cached.can_be_wide(dataset):
            widgets.download(
                partial(wide_table, dataset), "A column per rater", "annotations_wide", "wide", dataset.n_cases
            )
    _keep(state.whole().dataset)


def _figures(columns, view) -> None:
    with columns[1].container(border=True, height="stretch"):
        if can_use("agreement", view).possible:
            table, _, _ = cached_agreement.agreement(view)
            percent = table[0]
            st.metric("Raters agree on", "–" if percent.value is None else f"{percent.value:.0%} of pairs")
            low_high = (
                "no interval"
                if percent.ci_low is None
                else f"{percent.ci_low:.0%} to {percent.ci_high:.0%}, n {percent.n_cases:,} cases"
            )
            st.caption(low_high)
        else:
            st.metric("Raters agree on", "–")
            st.caption(can_use("agreement", view).reason)
        st.page_link("pages/agreement.py", label="See agreement", icon=":material/handshake:")
    with columns[2].container(border=True, height="stretch"):
        fit = cached.majority(view)
        answered = np.diff(view.case_ptr) > 0
        tied, n_cases = int((fit.top_class() < 0)[answered].sum()), int(answered.sum())
        st.metric("Cases with a tied vote", f"{tied / n_cases:.0%}")
        st.caption(f"{tied:,} of {plural(n_cases, 'case')}")
        st.page_link("pages/models.py", label="See rater models", icon=":material/network_node:")
    with columns[3].container(border=True, height="stretch"):
        fit = cached.majority(view)
        code = int(fit.prevalence.argmax())
        st.metric("Commonest class by vote", f"{fit.prevalence[code]:.0%}")
        st.caption(markdown(shorten(view.classes[code], 40)))
        st.page_link("pages/reliability.py", label="See certainty", icon=":material/trending_up:")


def _keep(dataset) -> None:
    if any(sample.name == st.session_state.get("data") for sample in SAMPLES):
        return
    if any(entry.digest == dataset.digest for entry in library.kept()):
        st.caption("This dataset is kept on this computer; its address goes on working.")
        return
    if st.button("Keep on this computer", icon=":material/save:", key="keep_home"):
        library.keep(dataset)
        st.rerun()


def _kept() -> None:
    entries = library.kept()
    if not entries:
        return
    st.subheader("Kept on this computer", anchor=False)
    for entry in entries:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{markdown(shorten(entry.name, 50))}**  \n{plural(entry.n_cases, 'case')} · "
                f"{plural(entry.n_raters, 'rater')} · kept {entry.kept_at[:10]}",
                width="stretch",
            )
            st.button("Open", key=f"open-{entry.digest}", on_click=state.use, args=(entry.digest,))
            with st.popover("Rename", key=f"renaming-{entry.digest}"):
                name = st.text_input("Name", value=entry.name, key=f"name-{entry.digest}")
                if st.button("Rename", key=f"rename-{entry.digest}"):
                    library.rename(entry.digest, name)
                    _reopen_if_open(entry.digest)
                    st.rerun()
            with st.popover("Forget", key=f"forgetting-{entry.digest}"):
                reviews = n_reviews(entry.digest)
                erased = f" with {plural(reviews, 'step')} of its reviews" if reviews else ""
                st.write(
                    f"This erases the dataset{erased} from the disk of this computer. "
                    "What was computed from it is gone when the server stops."
                )
                st.button(
                    "Erase it", type="primary", key=f"forget-{entry.digest}", on_click=_forget, args=(entry.digest,)
                )


def _reopen_if_open(digest: str) -> None:
    cached.registry().remove(digest)


def _forget(digest: str) -> None:
    try:
        cached.forget(digest)
    except PluralityError as error:
        st.session_state["data_error"] = str(error)
    if st.session_state.get("data") == digest:
        state.leave()


menu.through_app()
reading = state.current()
if reading is None:
    _welcome()
else:
    _dashboard(reading)
_kept()
