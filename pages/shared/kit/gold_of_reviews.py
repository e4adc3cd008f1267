"""Gold from finished arbitrations: offered by one switch, if there are any, and never used without it."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.review.decided_gold import DecidedGold
from core.review.random_sample import reviewed_by
from core.review.review_errors import StoreError
from core.review.states import CaseReview
from core.text import plural
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import state


def reviews_of(whole: Dataset) -> dict[str, CaseReview]:
    """Return the reviews of the whole dataset in use; none if nobody has reviewed, without creating a database."""
    return access.store().cases(whole.digest) if access.n_reviews(whole.digest) else {}


def switched(dataset: Dataset) -> Dataset:
    """Draw the switch for gold of reviews, if there is any, and return the dataset as it is set."""
    found = _found(dataset)
    if found is None or not found.n_decided:
        return dataset
    used = st.toggle(
        f"Use the arbitration decisions on {plural(found.n_decided, 'case')} as gold",
        key=_key(),
        persist_state="session",
        help="Works like a gold column: all pages compare raters and models with it. Arbitrators saw the annotations, "
        "so their decisions are not an independent truth.",
    )
    if not used:
        return dataset
    st.caption(found.words)
    return found.dataset


def applied(dataset: Dataset) -> Dataset:
    """Return the dataset as the switch is set, for pages without the switch."""
    if not visit.flag[_key()]:
        return dataset
    found = _found(dataset)
    return dataset if found is None else found.dataset


def origin() -> str:
    """Return a sentence on how the arbitrated cases were selected (queue or random sample); empty if not in use."""
    if not visit.flag[_key()]:
        return ""
    digest = state.whole().dataset.digest
    reviews = reviews_of(state.whole().dataset)
    return reviewed_by(reviews, access.store().sessions_of_others(digest, "")).words() if reviews else ""


def _key() -> str:
    """One switch for each dataset."""
    return f"gold_of_reviews-{state.whole().dataset.digest}"


def _found(dataset: Dataset) -> DecidedGold | None:
    try:
        reviews = reviews_of(state.whole().dataset)
    except StoreError:  # said on Home and on Review; where decisions are in use, a page without them would be another
        if visit.flag[_key()]:
            raise
        return None
    decided = any(review.adjudication is not None for review in reviews.values())
    if not decided or dataset.kind == "score":
        return None
    return cached.decided_gold(dataset, reviews)
