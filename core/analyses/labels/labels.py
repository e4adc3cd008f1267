"""One row per case: its label, how probable and how certain it is, and who decided it."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...agreement.intervals import Share, share_of
from ...annotations.dataset import Dataset, label_sign
from ...certainty.label_sets import label_set_certainty
from ...certainty.shares import CERTAIN, UNCERTAIN
from ...errors import NotApplicableError
from ...models.average import METHOD as AVERAGE
from ...models.dawid_skene import METHOD as DAWID_SKENE
from ...models.gold import gold_cases
from ...models.majority import METHOD as MAJORITY
from ...models.rater_methods import any_rater_model
from ...models.smoothed_vote import METHOD as SMOOTHED
from ...plausibility.dirichlet import DirichletCounts
from ...review.adjudicated import results
from ...review.export import deciding_event
from ...review.opinions import Opinion
from ...review.states import PENDING
from ...runtime.seeds import case_seeds
from ...tables import to_json_lines
from ...text import percent, percent_with_interval, plural, utc
from ..blocks import Block, Download, FileFormat, Grid, Name, Words
from ..cases import CertaintyOptions
from ..cases.certainty import compute as certainty_of
from ..inputs import Inputs
from ..models import LabelOptions
from ..models.gold import of_one_class
from ..models.labels import fit_every_label
from ..schema import Column, columns_in
from .evidence import Label, LabelEvidence, of_classes, of_sets

REVIEWED, IN_REVIEW, UNDETERMINED, TIE = "reviewed", "in review", "cannot be determined", "tie"
NOT_LEADING = {False: "not the leading class", True: "not the leading set"}
BELOW_BAR, NO_LABEL = "below the minimum", "(no label)"
LOW_CORRECT = "low P(correct)"
_ROUNDING = 1e-9
COLUMNS = (
    Column("case"),
    Column("label"),
    Column("probability", "P(correct)", "probability",
           help="Probability that the label is correct, according to the rater model."),
    Column("certainty", unit="probability",
           help="Certainty that this label stays first. Empty if a different class leads, or if the case has only "
           "one annotation."),
    Column("status"),
    Column("n", "annotations", "count"),
    Column("decided_by", "reviewed by"),
    Column("gold", help="Gold for the case, used only for comparison."),
    Column("weight", unit="coefficient"),
    Column("soft_label", "soft label"),
    Column("sampled_labels", "sampled labels"),
    Column("classes"),
    Column("text"),
    Column("link"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class CaseLabels:
    """Labels of all cases; arrays and lists have one entry per case.

    Attributes
    ----------
    evidence : LabelEvidence
    labels : list
        A class, or for sets a tuple of labels; None if there is no label.
    probability, certainty, weight : ndarray
        NaN if not available.
    status, decided_by : list of str
    soft : ndarray, shape (n_cases, n_classes)
    blank : ndarray of bool
        Cases whose label is left blank because of their status.
    kept : ndarray of int
        Positions of the rows of the file.
    by_gold, certain_by_gold : Share or None
        Share of labels that are correct by gold, of all and of those that are confident; reviewed cases do not count.
    """

    evidence: LabelEvidence
    labels: list[Label]
    probability: np.ndarray
    certainty: np.ndarray
    weight: np.ndarray
    status: list[str]
    decided_by: list[str]
    soft: np.ndarray
    blank: np.ndarray
    kept: np.ndarray
    by_gold: Share | None
    certain_by_gold: Share | None

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases by status, the most frequent first."""
        return dict(Counter(self.status).most_common())

    def methods(self, inputs: Inputs) -> list[str]:
        """Return the names of the methods of the labels, for the methods section of a paper.

        Parameters
        ----------
        inputs : Inputs
        """
        assert inputs.settings is not None, "the settings must name the model"
        own = {method.title: method.name for method in (AVERAGE, SMOOTHED, DAWID_SKENE, MAJORITY)}
        used = [own[by] for by in dict.fromkeys(self.decided_by) if by in own]
        return [*used, inputs.settings.plausibility.name, "certainty"]

    @property
    def n_ready(self) -> int:
        """Number of labels that are confident or reviewed."""
        return self.status.count(CERTAIN) + self.status.count(REVIEWED)

    def headline(self, bar: float) -> str:
        """Return how many labels can be used as they are, in a title.

        Parameters
        ----------
        bar : float
            Minimum certainty and P(correct).
        """
        shares = self.evidence.at_bar(bar)
        if shares.why_none and not self.n_ready:
            return shares.why_none
        reviewed = " or reviewed" if REVIEWED in self.status else ""
        be = "is" if self.n_ready == 1 or len(self.status) == 1 else "are"
        what = "label set" if self.evidence.is_set else "label"
        return f"{self.n_ready:,} of {plural(len(self.status), what)} {be} certain{reviewed}"


def compute(inputs: Inputs, options, **how: Any) -> CaseLabels:
    """Compute the evidence with the settings of the inputs, and the labels by it."""
    return labels_of(inputs, options, gather(inputs, options, **how))


def gather(inputs: Inputs, options, **how: Any) -> LabelEvidence:
    """Compute the evidence; the average of rater models is used if the settings have it.

    Parameters
    ----------
    inputs : Inputs
    options : LabelsOptions
    **how
        Progress.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    """
    dataset, settings = inputs.dataset, inputs.settings
    assert settings is not None, "the settings must name the model"
    if dataset.kind == "score":
        raise NotApplicableError("Could not make labels: the annotations are scores.")
    if dataset.kind == "set":
        fits = fit_every_label(dataset, LabelOptions(), **how).fits if dataset.raters_identified else None
        model = settings.plausibility if isinstance(settings.plausibility, DirichletCounts) else None
        return of_sets(dataset, label_set_certainty(dataset, model, reliability=settings.reliability), fits)
    found = certainty_of(inputs, CertaintyOptions(n_draws=options.n_draws, seed=options.seed), **how)
    classes = dataset.as_classes()[0]
    return of_classes(dataset, classes, found, settings.average(classes))


def labels_of(inputs: Inputs, options, evidence: LabelEvidence) -> CaseLabels:
    """Label every case by known evidence.

    Parameters
    ----------
    inputs : Inputs
    options : LabelsOptions
    evidence : LabelEvidence
    """
    dataset = inputs.dataset
    chosen = evidence.vote if options.rule == "vote" else evidence.average or evidence.vote
    labels, soft, weight = list(chosen.labels), chosen.soft.copy(), chosen.weight.copy()
    probability, decided_by = evidence.chance(chosen.labels), [chosen.by] * len(labels)
    shares = evidence.at_bar(options.bar)
    known = ~(shares.single | shares.empty)
    leads = np.array([label == first for label, first in zip(labels, evidence.leading, strict=True)])
    certainty = np.where(known & leads, evidence.certainty, np.nan)
    differs = NOT_LEADING[evidence.is_set]
    status = [_status(*each, differs) for each in zip(shares.states(), labels, leads, known, strict=True)]
    # Raters who share a mistake agree on it, so certainty does not show that a label is true.
    low = probability < options.bar - _ROUNDING
    status = [LOW_CORRECT if one == CERTAIN and is_low else one for one, is_low in zip(status, low, strict=True)]
    for case in pending(inputs) if options.rule == "review" else ():
        status[case] = IN_REVIEW
    machine = np.ones(len(labels), bool)
    for case, (label, who) in decided(inputs).items() if options.rule == "review" else ():
        labels[case], decided_by[case], machine[case] = label, who, False
        status[case] = UNDETERMINED if label is None else REVIEWED
        probability[case] = certainty[case] = np.nan
        named = np.isin(evidence.classes, [] if label is None else label)
        soft[case], weight[case] = (np.nan, np.nan) if label is None else (named, 1.0)
    is_certain = np.array([one == CERTAIN for one in status])
    ready = is_certain | np.array([one == REVIEWED for one in status])
    right = right_by_gold(dataset, labels)
    blank = np.zeros(len(labels), bool) if options.below == "mark" else ~ready
    kept = np.flatnonzero(ready) if options.below == "out" else np.arange(len(labels))
    return CaseLabels(
        evidence, labels, probability, certainty, weight, status, decided_by, soft, blank, kept,
        _share(right, machine), _share(right, is_certain & machine),
    )  # fmt: skip


def decided(inputs: Inputs) -> dict[int, tuple[Label, str]]:
    """Return the label and the reviewer of each settled case, by its position; None if it cannot be determined.

    Parameters
    ----------
    inputs : Inputs
    """
    reviews, place = inputs.reviews or {}, {case: at for at, case in enumerate(inputs.dataset.cases)}
    found = {}
    for case, (opinion, _) in results(reviews, closed=True).items():
        if case in place and (event := deciding_event(reviews[case])) is not None:
            when = utc(event.at // 1_000_000)
            found[place[case]] = (_said(inputs.dataset, opinion), f"{event.reviewer}, {when.day} {when:%b %Y}")
    return found


def pending(inputs: Inputs) -> list[int]:
    """Return the positions of cases in arbitration, or that wait for a second opinion.

    Parameters
    ----------
    inputs : Inputs
    """
    reviews = inputs.reviews or {}
    return [at for at, case in enumerate(inputs.dataset.cases) if case in reviews and reviews[case].state in PENDING]


def _said(dataset: Dataset, opinion: Opinion) -> Label:
    if dataset.kind == "score":
        return opinion.score
    first = opinion.blocks[0] if opinion.blocks else ()
    if not first or not set(first) <= set(dataset.classes):
        return None
    if dataset.kind == "set":
        return tuple(name for name in dataset.classes if name in first) if opinion.is_set else None
    return first[0] if len(first) == 1 else None


def _status(state: str, label: Label, leads: bool, known: bool, differs: str) -> str:
    if not known:
        return state
    if label is None:
        return TIE
    return (state or BELOW_BAR) if leads else differs


def right_by_gold(dataset: Dataset, labels: list[Label]) -> np.ndarray:
    """Return 1 for labels that are gold, 0 for others, NaN without gold or label.

    Parameters
    ----------
    dataset : Dataset
    labels : list of Label
    """
    found = np.full(len(labels), np.nan)
    sets, annotated = dataset.gold_sets, np.diff(dataset.case_ptr) > 0
    for case in gold_cases(dataset) if sets is None else np.flatnonzero((sets[:, 0] >= 0) & annotated):
        if (label := labels[case]) is None:
            continue
        if sets is not None:
            truth: Label = tuple(dataset.classes[code] for code in np.flatnonzero(sets[case] == 1))
        else:
            assert dataset.gold is not None, "a case has gold"
            truth = dataset.classes[dataset.gold[case]]
        found[case] = label == truth
    return found


def _share(right: np.ndarray, of: np.ndarray) -> Share | None:
    known = of & ~np.isnan(right)
    return share_of(float(right[known].sum()), int(known.sum())) if known.any() else None


def sampled(found: CaseLabels, cases: tuple[str, ...], n: int, seed: int) -> list[list | None]:
    """Draw labels of each case from its probabilities; for sets each label on its own. Cases have seeds of their own.

    Parameters
    ----------
    found : CaseLabels
    cases : tuple of str
    n : int
    seed : int

    Returns
    -------
    list of lists, None for cases without probabilities
    """
    evidence = found.evidence
    drawn: list[list | None] = []
    for place, own_seed in enumerate(case_seeds(seed, cases, "sampled labels").tolist()):
        own = found.soft[place]
        if found.blank[place] or np.isnan(own).any() or not evidence.n[place]:
            drawn.append(None)
            continue
        rng = np.random.default_rng(own_seed)
        if not evidence.is_set:
            codes = np.searchsorted(np.cumsum(own)[:-1], rng.random(n), side="right")
            drawn.append([evidence.classes[code] for code in codes])
            continue
        applies = rng.random((n, len(own))) < own
        if evidence.none is not None:
            applies[:, evidence.none] = ~np.delete(applies, evidence.none, axis=1).any(axis=1)
        drawn.append([[evidence.classes[code] for code in np.flatnonzero(one)] for one in applies])
    return drawn


def table_of(found: CaseLabels, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case; the labels of a set are one text."""
    sign = label_sign(found.evidence.classes)
    return _table(found, inputs, options, lambda names: sign.join(names) or NO_LABEL)


def _table(found: CaseLabels, inputs: Inputs, options, of_set: Callable[[tuple[str, ...]], Any]) -> pd.DataFrame:
    cases = inputs.dataset.cases
    shown = [None if off else label for label, off in zip(found.labels, found.blank, strict=True)]
    columns: dict[str, Any] = {
        "case": cases,
        "label": [of_set(label) if isinstance(label, tuple) else label for label in shown],
        "probability": found.probability,
        "certainty": found.certainty,
        "status": found.status,
        "n": found.evidence.n,
        "decided_by": found.decided_by,
        **gold_column(inputs.dataset),
    }
    if options.weights:
        columns["weight"] = np.where(found.blank, np.nan, found.weight)
    if options.soft_labels:
        lacks = found.blank | np.isnan(found.soft).any(axis=1) | (found.evidence.n == 0)
        columns["soft_label"] = [None if no else own.tolist() for own, no in zip(found.soft, lacks, strict=True)]
    if options.samples:
        columns["sampled_labels"] = sampled(found, cases, options.samples, options.seed)
    if options.soft_labels:
        columns["classes"] = [list(found.evidence.classes)] * len(cases)
    table = pd.DataFrame(
        {name: pd.Series(list(values), dtype=object if name == "label" else None) for name, values in columns.items()}
    )
    table = with_content(table, inputs) if options.text else table
    return table.iloc[found.kept].reset_index(drop=True)


def gold_column(dataset: Dataset) -> dict[str, Any]:
    """Return the gold of every case as a column; empty if the data have none.

    Parameters
    ----------
    dataset : Dataset
    """
    gold = dataset.gold_of_cases()
    return {} if gold is None else {"gold": gold}


def with_content(table: pd.DataFrame, inputs: Inputs) -> pd.DataFrame:
    """Add the text and the link of each case, if the data have any.

    Parameters
    ----------
    table : DataFrame
    inputs : Inputs
    """
    more = {name: [known.get(case, "") for case in table["case"]] for name, known in inputs.content.items() if known}
    return table.assign(**more)


def about(found: CaseLabels, inputs: Inputs, options) -> dict[str, Any]:
    """Return the settings and counts of the labels, for the file of methods.

    Parameters
    ----------
    found : CaseLabels
    inputs : Inputs
    options : LabelsOptions
    """
    settings, evidence = inputs.settings, found.evidence
    assert settings is not None, "the settings must name the model"
    return {
        "rule": options.rule,
        "rater_model": evidence.details,
        "lowest_certainty": options.bar,
        "below": options.below,
        "plausibility": settings.plausibility.name,
        **settings.plausibility.settings(),
        "reliability": settings.reliability,
        "draws": options.n_draws,
        "sampled_labels": options.samples,
        "seed": options.seed,
        "classes": list(evidence.classes),
        "counts": found.counts,
        "correct_by_gold": None if found.by_gold is None else [found.by_gold.value, found.by_gold.n],
    }


def present(found: CaseLabels, inputs: Inputs, options) -> list[Block]:
    """Show how many labels gold confirms, the table, and the file."""
    table, evidence = table_of(found, inputs, options), found.evidence
    blocks: list[Block] = []
    if (right := found.by_gold) is not None:
        what = "label set" if evidence.is_set else "label"
        share = percent_with_interval(right.value, right.low, right.high).replace(" (", " (95% interval ", 1)
        said = f"Compared with gold, {share} of {plural(right.n, what)} {'is' if right.n == 1 else 'are'} correct"
        if (sure := found.certain_by_gold) is not None:
            said += f"; of {sure.n:,} certain {what}s, {percent_with_interval(sure.value, sure.low, sure.high)}"
        blocks += [Words(f"{said}."), *of_one_class(inputs.dataset)]
    if evidence.average is None and options.rule != "vote":
        why = why_no_average(inputs.dataset)
        blocks.append(Words((f"Majority vote decides the labels. Cannot average rater models: {why}.",), "info"))
    if reach := evidence.at_bar(options.bar).beside:
        blocks.append(Words(f"{evidence.at_bar(options.bar).why_none}. {reach}", "info"))
    is_mixed = table["decided_by"].nunique() > 1
    shown = tuple(replace(one, hidden=one.name == "decided_by" and not is_mixed) for one in columns_in(table, COLUMNS))
    screen = table.assign(label=table["label"].fillna(""))
    if is_mixed:  # the file has the day, and the model that decided the others
        name = table["decided_by"].str.rpartition(", ")[0]
        screen["decided_by"] = name.where(table["status"].isin((REVIEWED, UNDETERMINED)), "")
    if "gold" in screen:
        screen.insert(2, "gold", screen.pop("gold"))
    blocks.append(Grid(screen, "Labels of the cases.", 60, shown, "labels_table", opens_case=True))
    blocks.append(Words(_counted(found, options.bar), "note"))
    if evidence.details and options.rule != "vote":
        blocks.append(Words((Name(f"{evidence.details}."),), "note"))
    if len(table):
        blocks.append(download(table, partial(_table, found, inputs, options, list), about(found, inputs, options)))
    return blocks


def _counted(found: CaseLabels, bar: float) -> str:
    """Explain “certain”; count the uncertain cases with another status, which other pages count as uncertain."""
    alone = found.evidence.average is None
    both, are = ("certainty", "is") if alone else ("certainty and P(correct)", "are both")
    whole = " of the whole set" if found.evidence.is_set else ""
    said = f"“Certain” means that {both}{whole} {are} at least {percent(bar)}."
    uncertain = found.evidence.at_bar(bar).uncertain
    if other := sum(low and one != UNCERTAIN for low, one in zip(uncertain, found.status, strict=True)):
        said += (
            f" Of the {plural(int(uncertain.sum()), 'case')} with certainty below {percent(bar)}, {other:,} "
            f"{'is' if other == 1 else 'are'} counted under another status."
        )
    return said


def download(table: pd.DataFrame, records: Callable[[], pd.DataFrame], settings: dict[str, Any]) -> Download:
    """Return the download of labels as CSV, Excel, Parquet, JSON Lines and predictions of Label Studio.

    Parameters
    ----------
    table : DataFrame
    records : callable
        Function that returns the table with the labels of sets as lists.
    settings : dict
    """
    formats = (
        FileFormat("jsonl", "JSON Lines (Hugging Face)", lambda _: to_json_lines(records()), "application/jsonl"),
        FileFormat("json", "Label Studio predictions", lambda _: label_studio(records()), "application/json"),
    )
    label = f"Download {plural(len(table), 'label')}"
    return Download(table, label, "labels", "labels_file", len(table), settings, formats)


def why_no_average(dataset: Dataset) -> str:
    """Return why rater models are not averaged.

    Parameters
    ----------
    dataset : Dataset
        Dataset of classes, rankings or sets.
    """
    if not dataset.raters_identified:
        return "the raters are anonymous"
    verdict = any_rater_model(dataset)
    if dataset.kind == "class" and not verdict.possible:
        return verdict.reason
    if dataset.n_classes < 2:
        return "all annotations name the same class"
    return "these data do not allow raters to be compared"


def label_studio(table: pd.DataFrame) -> bytes:
    """Return tasks with a prediction each; cases without a label have none.

    The result names the control "label" and the object that the task shows: "text", "link" or "case".

    Parameters
    ----------
    table : DataFrame
        Labels with their text or link if any; the labels of sets are lists.

    References
    ----------
    Label Studio, Import pre-annotated data, https://labelstud.io/guide/predictions
    """
    shown = next((name for name in ("text", "link") if name in table and (table[name] != "").any()), "case")
    tasks = []
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        data = {name: row[name] for name in ("case", "text", "link") if row.get(name)}
        tasks.append({"data": data, "predictions": _predictions(row, shown)})
    return json.dumps(tasks, ensure_ascii=False, indent=1).encode()


def _predictions(row: dict[str, Any], shown: str) -> list[dict[str, Any]]:
    label = row["label"]
    if label is None:
        return []
    value: dict[str, Any]
    if isinstance(label, float):
        kind, value = "number", {"number": label}
    else:
        kind, value = "choices", {"choices": label if isinstance(label, list) else [label]}
    result = {"from_name": "label", "to_name": shown, "type": kind, "value": value}
    found: dict[str, Any] = {"model_version": row["decided_by"], "result": [result]}
    if (score := row.get("probability")) is not None:
        found["score"] = score
    return [found]
