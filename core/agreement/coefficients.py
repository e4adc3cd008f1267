"""Percent agreement, Fleiss' kappa, Scott's pi, Gwet's AC and Brennan-Prediger for any number of raters, with gaps.

Gwet, Handbook of Inter-Rater Reliability (2014), linearised variance over cases.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset
from ..annotations.paired_items import COMPARED, FIRST, SECOND, TIE
from ..annotations.validation import Names
from ..checked import checked
from ..errors import NotApplicableError
from ..methods import AS_IS, methods
from .coefficient_methods import GWET, CoefficientMethod, CoefficientRequest
from .cohen_conger import REPEATS, check_raters, identified, repeats_of
from .formulas import FEW_OF_OTHERS_AC1, Draws, Formula, beyond_chance, raw_agreement
from .intervals import WITHOUT_ERROR, Coefficient, few_cases, undefined
from .linearised import NO_PAIR, as_counts, estimate, observed, with_error
from .probability import SPA_WEIGHTINGS, cut_at, share_of_agreement
from .ranges import distance_of, least_agreement
from .weights import Weights, resolve_weights

Labels = Sequence[float] | None


def _even(n_classes: int, matrix: np.ndarray | None) -> float:
    """Compute the agreement of two even draws from the declared classes."""
    return 1 / n_classes if matrix is None else float(matrix.mean())


def _hard_cases(n_classes: int, matrix: np.ndarray | None) -> Draws:
    """Compute Gwet's chance: the probability that two draws differ, times the agreement of annotations at random."""
    scale = _even(n_classes, matrix) * n_classes / max(1, n_classes - 1)
    return Draws(scale, -scale)


_PERCENT = Formula(raw_agreement, of="none", few_of_others=0)
_FLEISS = Formula(beyond_chance, lambda q, matrix: Draws(0.0, 1.0, matrix))
_SCOTT = replace(_FLEISS, of_pairs=True)
_GWET = Formula(
    beyond_chance,
    _hard_cases,
    highest_chance=_even,  # Agreement of even shares.
    needs_classes=2,
    few_of_others=FEW_OF_OTHERS_AC1,
    of_pairs=True,
)
_BRENNAN_PREDIGER = Formula(
    beyond_chance,
    lambda q, matrix: Draws(_even(q, matrix), 0.0),
    highest_chance=_even,
    needs_classes=2,
    few_of_others=0,
)


@checked
def percent_agreement(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Compute the mean over cases of the share of agreeing pairs of annotations; cases with two annotations or more.

    Where all cases agree alike, the interval is Wilson's, as that of SPA: cases that do not differ show no error.

    Parameters
    ----------
    data : ClassCounts or Dataset
        See `core.annotations.counts.class_counts`.
    level : float
        Confidence level of the interval, 0 to 1.
    weights, labels
        Agreement of two classes, see `core.agreement.weights.weight_matrix`; or a matrix of one's own.
    """
    counts = as_counts(data)
    name, matrix = resolve_weights(weights, counts.n_classes, labels)
    seen = observed(counts, matrix)
    if seen.n_usable == 0:
        return undefined("percent", name, NO_PAIR)
    n, times = seen.n[seen.usable], seen.usable_times
    least = partial(least_agreement, n, times, counts.n_classes, distance_of(matrix))
    found = with_error("percent", name, _PERCENT, seen.features(0.0), 0.0, level, least, NO_PAIR)
    if found.note == WITHOUT_ERROR:
        one, agreement = np.ones(n.size), seen.p_ai[seen.usable]
        found = share_of_agreement("percent", name, agreement, one, level, found.n_annotations, times=times)
    return cut_at(found, least())


@checked
def fleiss_kappa(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Compute Fleiss' kappa: chance is two draws from the class shares averaged over cases.

    Cases with one annotation count for the class shares and the variance, not for observed agreement. Parameters as in
    `percent_agreement`.

    Parameters
    ----------
    data : ClassCounts or Dataset
        Data of single classes.
    level : float
        Confidence level of the interval, 0 to 1.
    weights : str or ndarray of shape (n_classes, n_classes), optional
        See `core.agreement.weights.weight_matrix`; identity if omitted.
    labels : sequence of float, length n_classes, optional
        Numbers of the classes; 1, 2, ... if omitted.
    """
    return estimate("fleiss_kappa", _FLEISS, data, level, weights, labels)


def scott_pi(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Compute Scott's pi of two raters: Fleiss' kappa of two; parameters as in `percent_agreement`.

    Parameters
    ----------
    data : ClassCounts or Dataset
        Data of single classes.
    level : float
        Confidence level of the interval, 0 to 1.
    weights : str or ndarray of shape (n_classes, n_classes), optional
        See `core.agreement.weights.weight_matrix`; identity if omitted.
    labels : sequence of float, length n_classes, optional
        Numbers of the classes; 1, 2, ... if omitted.

    Raises
    ------
    NotApplicableError
        There are not two identified raters, or some case has more than two annotations.
    """
    if isinstance(data, Dataset):
        check_raters(data, "Scott's pi", two=True)
    counts = as_counts(data)
    most = int(counts.per_case().max(initial=0))
    if isinstance(data, Dataset) and repeats_of(data):
        return undefined("scott_pi", resolve_weights(weights, counts.n_classes, labels)[0], REPEATS)
    if most > 2:
        raise NotApplicableError(
            f"Cannot compute Scott's pi: it needs exactly two raters, but a case has {most} annotations. Use "
            "Fleiss' kappa."
        )
    return replace(fleiss_kappa(counts, level, weights, labels), name="scott_pi")


def gwet_ac(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Compute Gwet's AC1, or AC2 with weights: chance is a random annotation on a case that is hard to classify.

    ``p_e = T/(q(q−1)) Σ π_k (1 − π_k)`` with T the sum of the weights: it depends on the declared list of q classes.
    Parameters as in `percent_agreement`.

    Parameters
    ----------
    data : ClassCounts or Dataset
        Data of single classes.
    level : float
        Confidence level of the interval, 0 to 1.
    weights : str or ndarray of shape (n_classes, n_classes), optional
        See `core.agreement.weights.weight_matrix`; identity if omitted.
    labels : sequence of float, length n_classes, optional
        Numbers of the classes; 1, 2, ... if omitted.
    """
    return estimate("gwet_ac", _GWET, data, level, weights, labels)


def brennan_prediger(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Compute Brennan and Prediger's coefficient: chance is a uniform draw from the declared list of classes.

    Parameters as in `percent_agreement`.

    Parameters
    ----------
    data : ClassCounts or Dataset
        Data of single classes.
    level : float
        Confidence level of the interval, 0 to 1.
    weights : str or ndarray of shape (n_classes, n_classes), optional
        See `core.agreement.weights.weight_matrix`; identity if omitted.
    labels : sequence of float, length n_classes, optional
        Numbers of the classes; 1, 2, ... if omitted.
    """
    return estimate("brennan_prediger", _BRENNAN_PREDIGER, data, level, weights, labels)


@checked
def agreement_table(
    counts: ClassCounts | Dataset,
    *,
    level: float = 0.95,
    spa_weightings: Sequence[str] = SPA_WEIGHTINGS[:1],
    weights: Weights = None,
    labels: Labels = None,
    metric: str | None = None,
    dataset: Dataset | None = None,
) -> list[Coefficient]:
    """Compute the coefficients that single classes allow, each with n and its interval: percent first, alpha last.

    Parameters
    ----------
    counts : ClassCounts or Dataset
        See `core.annotations.counts.class_counts`; a dataset is counted, and is ``dataset`` as well.
    level : float
        Confidence level of the intervals, 0 to 1.
    spa_weightings : sequence of str
        Those of `SPA_WEIGHTINGS` to list.
    weights, labels
        Weights and numbers for all except SPA, which has no partial agreement: see
        `core.agreement.weights.weight_matrix`.
    metric : str, optional
        Metric of alpha, which then takes no weights: one of `core.agreement.krippendorff.METRICS`.
    dataset : Dataset, optional
        What was counted. With it, and raters who are identified, Cohen's kappa and Scott's pi of two raters or
        Conger's kappa of more stand before Fleiss' kappa.
    """
    if isinstance(counts, Dataset):
        dataset = counts
        counts = class_counts(dataset)
    asked = CoefficientRequest(counts, dataset, level, weights, labels, metric, spa_weightings)
    twice = asked
    if counts.mirrored:
        twice = replace(asked, counts=counts.both_ways(), dataset=None if dataset is None else both_ways(dataset))
    found: list[Coefficient] = []
    for method in methods(CoefficientMethod).values():
        if method.takes.get("class") == AS_IS:
            if twice is asked or not method.beyond_chance:
                found += method.fit(asked)
            else:
                found += [one_way(one, level) for one in method.fit(twice)]
    return found


def both_ways(dataset: Dataset) -> Dataset:
    """Return comparisons with each pair in both orders of its items; other data unchanged.

    Which item of a pair is the first one is arbitrary: by chance, both are preferred equally often.
    """
    if not dataset.compares:
        return dataset
    names = COMPARED if TIE in dataset.classes else (FIRST, SECOND)
    code = np.array([names.index(name) for name in dataset.classes], np.int32)[dataset.answer]
    ptr = np.concatenate([dataset.case_ptr, dataset.case_ptr[-1] + dataset.case_ptr[1:]])
    cases = Names(f"{place}" for place in range(2 * dataset.n_cases))
    return Dataset(
        dataset.name, "class", cases, dataset.raters, names, ptr, np.tile(dataset.rater, 2),
        np.concatenate([code, len(names) - 1 - code]), raters_identified=dataset.raters_identified,
        ordinal=dataset.ordinal,
    )  # fmt: skip


def one_way(found: Coefficient, level: float) -> Coefficient:
    """Return a coefficient of pairs in both orders with the error of as many cases as there are pairs.

    A pair and its mirror image have the same influence, so that the standard error is √2 times that of two cases.

    Parameters
    ----------
    found : Coefficient
        Coefficient of `both_ways`.
    level : float
    """
    from scipy.special import stdtrit

    n = found.n_cases // 2
    found = replace(found, n_cases=n, n_annotations=found.n_annotations // 2)
    if found.value is None or found.se is None:
        return found
    if n < 2:
        return replace(found, se=None, ci_low=None, ci_high=None, note="no interval: there is only one case")
    se = found.se * 2**0.5
    half = float(stdtrit(n - 1, (1 + level) / 2)) * se
    low, high = max(found.value - half, -1.0), min(found.value + half, 1.0)
    return replace(found, se=se, ci_low=low, ci_high=high, note=found.note or few_cases(n))


METHODS = (
    CoefficientMethod(
        "percent",
        "Percent agreement",
        percent_agreement,
        lambda asked: [percent_agreement(asked.counts, **asked.how)],
        plainly="How often two raters gave the same case the same annotation.",
        exactly="Share of agreeing pairs, averaged over cases. The interval uses Gwet's linearised variance (2014) "
        "and a t distribution with n − 1 degrees of freedom, or Wilson's interval if agreement is the same "
        "on all cases.",
        sources=(GWET,),
        assumes="not corrected for chance, so it is high if one class is common.",
        formula=_PERCENT,
        place=10,
    ),
    CoefficientMethod(
        "scott_pi",
        "Scott π",
        scott_pi,
        lambda asked: [scott_pi(asked.dataset, **asked.how)] if identified(asked.dataset) == 2 else [],
        plainly="Agreement beyond chance between two raters, if both guess classes in the same proportions.",
        exactly="(p_a − p_e)/(1 − p_e), with p_e from the pooled margins. Gwet's linearised variance (Scott 1955).",
        sources=("Scott, Public Opinion Quarterly 19 (1955), 321-325", GWET),
        needs=("overlap", "two raters"),
        assumes="assumes that both raters guess classes in the same proportions.",
        formula=_SCOTT,
        place=50,
        beyond_chance=True,
    ),
    CoefficientMethod(
        "fleiss_kappa",
        "Fleiss κ",
        fleiss_kappa,
        lambda asked: [fleiss_kappa(asked.counts, **asked.how)],
        plainly="Agreement beyond random guessing: 0 is chance, 1 is perfect.",
        exactly="(p_a − p_e)/(1 − p_e), with p_e from class shares averaged over cases. Gwet's linearised variance "
        "(Fleiss 1971).",
        sources=("Fleiss, Psychological Bulletin 76 (1971), 378-382", GWET),
        assumes="assumes that raters are exchangeable and guess classes in the average proportions.",
        formula=_FLEISS,
        place=70,
        beyond_chance=True,
    ),
    CoefficientMethod(
        "gwet_ac",
        "Gwet AC1",
        gwet_ac,
        lambda asked: [gwet_ac(asked.counts, **asked.how)],
        plainly="Agreement beyond chance that does not drop merely because nearly all cases have the same class.",
        exactly="(p_a − p_e)/(1 − p_e), with p_e = Σ π(1 − π)/(q − 1). Linearised variance (Gwet 2008).",
        sources=("Gwet, British Journal of Mathematical and Statistical Psychology 61 (2008), 29-48", GWET),
        title_weighted="Gwet AC2",
        assumes="is stable even if one class is common, and assumes that raters guess only on hard cases.",
        formula=_GWET,
        place=80,
        beyond_chance=True,
    ),
    CoefficientMethod(
        "brennan_prediger",
        "Brennan-Prediger",
        brennan_prediger,
        lambda asked: [brennan_prediger(asked.counts, **asked.how)],
        plainly="Agreement beyond chance, if raters guess all classes equally often.",
        exactly="(p_a − p_e)/(1 − p_e), with p_e = 1/q for q declared classes. Linearised variance (Brennan & Prediger "
        "1981).",
        sources=("Brennan & Prediger, Educational and Psychological Measurement 41 (1981), 687-699", GWET),
        assumes="assumes that guesses are spread equally over all classes.",
        formula=_BRENNAN_PREDIGER,
        place=90,
        beyond_chance=True,
    ),
)
PERCENT, SCOTT_PI, FLEISS_KAPPA, GWET_AC = (method.name for method in METHODS[:4])
