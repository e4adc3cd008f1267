"""Number of uncertain cases, and of cases with too few annotations for a certainty.

A case with one annotation has no certainty: what more raters would say rests on the prior alone. Where even unanimous
raters cannot reach the bar, "uncertain" would describe the number of raters and not the cases; then cases are
ranked by certainty and none is called uncertain.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.counts import raters_per_case
from ..annotations.dataset import Dataset
from ..order import lowest_first
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.protocol import PlausibilityModel
from ..result_base import Result
from ..text import percent, plural
from ..thresholds import UNCERTAIN_BELOW
from .first_place import certainty_of_counts
from .top_sets import CertaintyResult

CERTAIN, UNCERTAIN, ONE_ANNOTATION, NO_ANNOTATION = "certain", "uncertain", "one annotation", "no annotation"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CertaintyShares(Result):
    """Groups of cases by the information on their leading class.

    Attributes
    ----------
    uncertain : ndarray of bool, shape (n_cases,)
        Two raters or more, and a certainty below ``bar``; none where ``reach`` is below it.
    single, empty : ndarray of bool, shape (n_cases,)
        One annotation, and none. Annotations that share a vote are one.
    bar : float
    most_raters : int
        Largest number of raters of a case.
    reach : float or None
        Certainty of a case on which so many raters agree; None for models without a closed form.
    """

    uncertain: np.ndarray
    single: np.ndarray
    empty: np.ndarray
    bar: float
    most_raters: int
    reach: float | None

    @property
    def within_reach(self) -> bool:
        """True if unanimous raters reach the bar."""
        return self.reach is None or self.reach >= self.bar

    @property
    def n_uncertain(self) -> int:
        """Number of uncertain cases."""
        return int(self.uncertain.sum())

    @property
    def unsettled(self) -> bool:
        """True if any case is uncertain, or if even unanimous raters cannot reach the bar."""
        return self.n_uncertain > 0 or (self.any_known and not self.within_reach)

    @property
    def any_known(self) -> bool:
        """True if any case has the two annotations that certainty needs."""
        return bool((~self.single & ~self.empty).any())

    @property
    def why_none(self) -> str:
        """Reason why no case is called certain or uncertain; empty if cases are."""
        if not self.any_known:
            return "No case has two annotations, so certainty is not available"
        if self.within_reach:
            return ""
        return f"Certainty cannot reach {percent(self.bar)} with {plural(self.most_raters, 'rater')} per case"

    @property
    def beside(self) -> str:
        """Sentence after the headline: the certainty of unanimous cases if that is below the bar; empty otherwise."""
        if not self.any_known or self.within_reach:
            return ""
        one = int(self.single.sum())
        rest = f" {plural(one, 'case')} {'has' if one == 1 else 'have'} one annotation." if one else ""
        return (
            f"Unanimous cases have a certainty of {percent(self.reach)}. You can still rank cases by certainty.{rest}"
        )

    def headline(self, at: str = "", about: str = "") -> str:
        """Count the uncertain cases and those with one annotation, in a title.

        Parameters
        ----------
        at : str
            Value of γ, with the blank before it.
        about : str
            Label, if one was chosen, with the blank before it.
        """
        if self.why_none:
            return self.why_none
        n, n_single = self.n_uncertain, int(self.single.sum())
        one = f", and {n_single:,} {'has' if n_single == 1 else 'have'} one annotation" if n_single else ""
        be = "is" if 1 in (n, self.uncertain.size) else "are"
        return f"{n:,} of {plural(self.uncertain.size, 'case')} {be} uncertain{about}{at}{one}"

    @property
    def sentence(self) -> str:
        """Headline on how many cases are uncertain, and how many have one annotation."""
        n, n_single = self.uncertain.size, int(self.single.sum())
        one = f"{n_single:,} with one annotation" if n_single else ""
        if not self.any_known:
            return f"{self.why_none} (n = {plural(n, 'case')})."
        if not self.within_reach:
            single = f" {plural(n_single, 'case has', 'cases have')} one annotation." if n_single else ""
            return f"{self.why_none}: unanimous cases reach {percent(self.reach)}. Compare cases by rank.{single}"
        return f"{self.n_uncertain:,} of {n:,} uncertain" + (f", {one}" if one else "")

    def states(self) -> np.ndarray:
        """State of each case as a text, shape (n_cases,); empty where unanimous raters cannot reach the bar."""
        found = np.where(self.uncertain, UNCERTAIN, CERTAIN if self.within_reach else "").astype(object)
        found[self.single], found[self.empty] = ONE_ANNOTATION, NO_ANNOTATION
        return found

    def order(self, certainty: np.ndarray) -> np.ndarray:
        """Sort cases, least certain first; those with one annotation or none come last.

        Parameters
        ----------
        certainty : ndarray, shape (n_cases,)
        """
        return lowest_first(certainty + 1.0 * self.single + 2.0 * self.empty)


def certainty_shares(
    dataset: Dataset,
    model: PlausibilityModel,
    certainty: CertaintyResult,
    *,
    reliability: float,
    bar: float = UNCERTAIN_BELOW,
) -> CertaintyShares:
    """Distinguish uncertain cases from those with one annotation.

    Parameters
    ----------
    dataset : Dataset
                Data that the model was given.
    model : PlausibilityModel
    certainty : CertaintyResult
        Certainty of the same data and model.
    reliability : float
        γ of the certainty.
    bar : float
        Certainty from which a case is not uncertain, 0 to 1.
    """
    n_votes = votes_per_case(dataset, model)
    single, empty = n_votes == 1, n_votes == 0
    most = int(n_votes.max(initial=0))
    reach = None
    if isinstance(model, DirichletCounts):
        reach = certainty_of_counts(np.full(min(most, 1), most), model.alpha, reliability, dataset.n_classes)[0]
    uncertain = ~single & ~empty & (certainty.certainty[:, 0] < bar)
    if reach is not None and reach < bar:
        uncertain = np.zeros_like(uncertain)
    return CertaintyShares(uncertain, single, empty, bar, most, reach)


def votes_per_case(dataset: Dataset, model: PlausibilityModel, cases: range | None = None) -> np.ndarray:
    """Count raters per case, where those who share a vote count as one; int64, shape (n_cases,).

    Parameters
    ----------
    dataset : Dataset
    model : PlausibilityModel
        Plausibility model; that of counts determines who shares a vote.
    cases : range, optional
        A run of cases; all by default.
    """
    if isinstance(model, DirichletCounts):
        return np.rint(model.votes(dataset, cases).per_case()).astype(np.int64)
    found = raters_per_case(dataset) if dataset.raters_identified else np.diff(dataset.case_ptr)
    return found if cases is None else found[cases.start : cases.stop]
