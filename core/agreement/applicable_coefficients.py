"""Applicable coefficients of a dataset, computed together, with reasons why others are left out.

Nothing is guessed: classes are ordinal only if their order is declared to be meaningful.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..annotations.ordering import order_in_words
from ..checked import checked
from ..methods import AS_IS, can_use, of_plugins
from ..result_base import Columns, Result, rows
from ..text import percent_with_interval, plural, with_interval
from .coefficient_methods import CoefficientMethod, request_of
from .coefficients import PERCENT, agreement_table, both_ways, one_way
from .intervals import Coefficient
from .krippendorff import KRIPPENDORFF_ALPHA, krippendorff_alpha
from .label_sets import SET_ALPHA, TITLES, set_agreement
from .ordered import DEPTHS, ranking_agreement
from .probability import SPA_CORRECTED, SPA_WEIGHTINGS
from .scores import ICC_1, ICC_2, ICC_2K, ICC_3, ICC_3K, score_table

ORDINAL_WEIGHTS = ("quadratic", "ordinal")


@dataclass(frozen=True, slots=True, repr=False)
class LeftOut(Result):
    """Coefficients that are left out, with the reason."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class ApplicableCoefficients(Result):
    """Coefficients for one kind of annotations.

    Attributes
    ----------
    kind : str
        "nominal", "ordinal", "score", "set" or "ranking".
    coefficients : tuple of Coefficient
    left_out : tuple of LeftOut
    order : tuple of str
        Order of classes for "ordinal", from low to high.
    """

    kind: str
    coefficients: tuple[Coefficient, ...]
    left_out: tuple[LeftOut, ...]
    order: tuple[str, ...] = ()

    TABLES = ("coefficients", "left_out")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "left_out":
            return rows(self.left_out, ("what", "why"))
        return rows(self.coefficients, Coefficient.COLUMNS)

    @property
    def percentage(self) -> Coefficient | None:
        """Percentage of the same kind as `quoted`: with partial agreement of near classes if by rank.

        Scores and sets have none.
        """
        if self.kind in ("score", "set"):
            return None
        wanted = "ordinal" if self.kind == "ordinal" else "identity"
        return next(one for one in self.coefficients if one.name == PERCENT and one.weights == wanted)

    @property
    def reason(self) -> str:
        """Reason why these coefficients are quoted, as the end of a sentence."""
        order = f" (low to high: {order_in_words(self.order)})" if self.order else ""
        return _REASONS[self.kind].replace("ordered", f"ordered{order}", 1)

    def words(self) -> str:
        """Describe how much the raters agree, by the quoted coefficients, as a sentence without its full stop."""
        quoted, percent = self.quoted, self.percentage
        if self.kind == "set":
            if quoted.value is None:
                return f"Agreement on label sets cannot be computed: {_why(quoted)}"
            beyond = with_interval(quoted.value, quoted.ci_low, quoted.ci_high)
            cases = plural(quoted.n_cases, "case")
            return f"Agreement beyond chance on label sets (MASI distance): α = {beyond}; n = {cases}"
        if percent is None:
            if quoted.value is None:
                return f"Agreement on scores cannot be computed: {_why(quoted)}"
            cases = plural(quoted.n_cases, "case")
            if quoted.value < 1 and (quoted.ci_low is None or quoted.ci_low <= 0):
                said = with_interval(quoted.value, quoted.ci_low, quoted.ci_high)
                return f"There is no evidence that raters agree on scores: intraclass correlation {said}; n = {cases}"
            return f"Differences between cases explain {in_percent(quoted)} of the variance in scores; n = {cases}"
        if percent.value is None:
            return f"Agreement cannot be computed: {_why(percent)}"
        words = f"Raters agree on {self.agreed(in_percent(percent))}"
        if quoted.value is None:
            return f"{words}; agreement beyond chance cannot be determined because {_why(quoted)}"
        beyond = with_interval(quoted.value, quoted.ci_low, quoted.ci_high)
        return f"{words}; beyond chance, α = {beyond}"

    def agreed(self, share: str) -> str:
        """Say on what share of pairs raters agree, in words.

        Parameters
        ----------
        share : str
            Value of `percentage` as text.
        """
        return _AGREED.get(self.kind, "{} of annotation pairs").format(share)

    @property
    def pairs_title(self) -> str:
        """Title of `percentage`."""
        return f"Pairwise agreement{_OF_PAIRS.get(self.kind, '')}"

    @property
    def quoted(self) -> Coefficient:
        """Coefficient to quote: alpha for classes, by rank if their order is meaningful; for scores ICC(2), or ICC(1).

        For sets, alpha by the MASI distance.

        Among intraclass correlations, the one with most cases is used. Rankings have none.
        """
        if self.kind == "score":
            for name in (ICC_2, ICC_1):
                able = [one for one in self.coefficients if one.name == name and one.value is not None]
                if able:
                    return max(able, key=lambda one: one.n_cases)
            return next(one for one in self.coefficients if one.name == ICC_1)
        if self.kind == "set":
            masi = TITLES["masi"]
            return next(one for one in self.coefficients if one.name == SET_ALPHA and one.weights == masi)
        wanted = "ordinal metric" if self.kind == "ordinal" else "nominal"
        return next(one for one in self.coefficients if one.name == KRIPPENDORFF_ALPHA and one.weights == wanted)


_AGREED = {
    "ranking": "the first choice in {} of pairs",
    "ordinal": "{} of annotation pairs (with partial credit for near misses)",
}
_OF_PAIRS = {"ranking": " on first choices", "ordinal": ", with partial credit"}
_REASONS = {
    "nominal": "α allows any number of raters and missing annotations, and counts only identical classes as agreement",
    "ordinal": "the classes are ordered, so both measures count neighbouring classes as partial agreement",
    "ranking": "both measures use first choices; α allows any number of raters and missing annotations",
    "set": "it gives partial credit to sets that share labels, with less credit if neither set contains the other",
    "score": "it shows how reproducible a single score by one rater is",
}


def in_percent(coefficient: Coefficient) -> str:
    """Format a coefficient as ``73% (66% to 80%)``."""
    return percent_with_interval(coefficient.value, coefficient.ci_low, coefficient.ci_high)


def _why(coefficient: Coefficient) -> str:
    return coefficient.note.removeprefix("undefined: ").split(";")[0]


@checked
def coefficients_for(
    dataset: Dataset,
    level: float = 0.95,
    *,
    spa_weightings: Sequence[str] = SPA_WEIGHTINGS[:1],
    labels: Sequence[float] | None = None,
    depths: Sequence[int] = DEPTHS,
) -> ApplicableCoefficients:
    """Compute the coefficients that suit these annotations, with intervals.

    Parameters
    ----------
    dataset : Dataset
    level : float
        Confidence level of the intervals, 0 to 1.
    spa_weightings : sequence of str
        Names from `core.agreement.probability.SPA_WEIGHTINGS` to list, for classes.
    labels : sequence of float, length n_classes, optional
        Numbers of the classes; 1, 2, ... if omitted.
    depths : sequence of int
        Depths of the overlaps of rankings.

    Raises
    ------
    InputError
        Labels or depths that cannot be used.

    Notes
    -----
    Nominal classes: every unweighted coefficient. Ordered classes: those, and with quadratic and with ordinal weights;
    ordinal alpha. Sets of labels: alpha by Jaccard's and by the MASI distance, and for each label. Scores: intraclass
    correlations and alpha by interval, ordinal and ratio metric. Rankings: leave-one-rater-out and average overlap, and
    the coefficients of first choices.
    """
    if dataset.kind == "score":
        return _of_scores(dataset, level)
    if dataset.kind == "set":
        return _of_sets(dataset, level)
    if dataset.kind == "ranking":
        return _of_rankings(dataset, level, spa_weightings, depths)
    if not dataset.ordinal or dataset.n_classes < 3:
        return ApplicableCoefficients("nominal", tuple(_nominal(dataset, level, spa_weightings)), left_out_of(dataset))
    found = _nominal(dataset, level, spa_weightings)
    counts = class_counts(dataset)
    for weights in ORDINAL_WEIGHTS:
        more = agreement_table(counts, level=level, spa_weightings=(), weights=weights, labels=labels, dataset=dataset)
        found += [one for one in more if one.name != SPA_CORRECTED]
    alpha = krippendorff_alpha(class_counts(both_ways(dataset)), level, "ordinal", labels)
    found.append(alpha if dataset.pairs is None else one_way(alpha, level))
    return ApplicableCoefficients("ordinal", tuple(found), (*_NO_NUMBERS, *_raters(dataset)), dataset.classes)


_NO_NUMBERS = (LeftOut("intraclass correlations, interval and ratio alpha", "the annotations are classes, not scores"),)


def left_out_of(dataset: Dataset) -> tuple[LeftOut, ...]:
    """List coefficients that classes without an order, or too few for one, do not get."""
    why = "the classes have no declared order"
    if dataset.ordinal:
        why = "with fewer than three classes, weights make no difference"
    return (LeftOut("weighted coefficients and ordinal alpha", why), *_NO_NUMBERS, *_raters(dataset))


def _nominal(dataset: Dataset, level: float, spa_weightings: Sequence[str]) -> list[Coefficient]:
    return agreement_table(class_counts(dataset), level=level, spa_weightings=spa_weightings, dataset=dataset)


def _raters(dataset: Dataset) -> tuple[LeftOut, ...]:
    if dataset.raters_identified:
        return ()
    return (LeftOut("Cohen's and Conger's kappa, Scott's pi", "the annotations are anonymous"),)


def _of_scores(dataset: Dataset, level: float) -> ApplicableCoefficients:
    left_out = [
        LeftOut(
            "percent agreement, SPA and kappas",
            "scores are rarely exactly equal; set a threshold to divide them into classes",
        )
    ]
    if (dataset.score < 0).any():
        left_out.append(LeftOut("ratio alpha", "some scores are below 0"))
    if not dataset.raters_identified:
        left_out.append(LeftOut("ICC(2) and ICC(3)", "the scores are anonymous"))
    of_raters = (ICC_2, ICC_2K, ICC_3, ICC_3K)
    found = [one for one in score_table(dataset, level) if dataset.raters_identified or one.name not in of_raters]
    found += _of_others(dataset, level)
    return ApplicableCoefficients("score", tuple(found), tuple(left_out))


def _of_sets(dataset: Dataset, level: float) -> ApplicableCoefficients:
    left_out = (
        LeftOut(
            "percent agreement, SPA and kappas for whole sets",
            "sets of labels are rarely exactly equal; choose one label",
        ),
        LeftOut("weighted coefficients, intraclass correlations", "the annotations are sets of labels"),
    )
    found = (*set_agreement(dataset, level), *_of_others(dataset, level))
    return ApplicableCoefficients("set", found, left_out)


def _of_rankings(
    dataset: Dataset, level: float, spa_weightings: Sequence[str], depths: Sequence[int]
) -> ApplicableCoefficients:
    found = [*ranking_agreement(dataset, depths, level), *_of_others(dataset, level)]
    first, n_tied = dataset.as_classes()
    note = "of first choices"
    if n_tied:
        note += f"; {plural(n_tied, 'annotation')} with a tied first choice {'was' if n_tied == 1 else 'were'} left out"
    found += [_noted(one, note) for one in _nominal(first, level, spa_weightings)]
    left_out = (
        LeftOut("weighted coefficients, intraclass correlations", "the annotations are rankings"),
        *_raters(dataset),
    )
    return ApplicableCoefficients("ranking", tuple(found), left_out)


def _of_others(dataset: Dataset, level: float) -> list[Coefficient]:
    """Compute coefficients of plug-ins for annotations that are not single classes."""
    asked = request_of(dataset, level)
    return [
        one
        for method in of_plugins(CoefficientMethod)
        if method.takes.get(dataset.kind) == AS_IS and can_use(method, dataset).possible
        for one in method.fit(asked)
    ]


def _noted(coefficient: Coefficient, note: str) -> Coefficient:
    return replace(coefficient, note="; ".join(filter(None, (coefficient.note, note))))
