"""Checks of rater models: can they reproduce such annotations, and how well do they predict a new case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ...annotations.dataset import Dataset
from ...figures import checks as figures
from ...models.checks import PredictiveCheck
from ...models.loo import LooRow, compare_loo
from ...text import number, plotly, plural
from ..blocks import Block, Control, Details, Download, Figure, Heading, Name, OnPage, Selector, Strong, Words
from .fits import FittedModels, label

_MOST_NAMED = 4
_ROW = tuple(LooRow.__slots__)
_REPRODUCES = {"fails": "fails", "passes": "passes", "undecided": "has too few simulated datasets for"}


@dataclass(frozen=True, slots=True, eq=False)
class ModelChecks:
    """Models with draws from a posterior, of the data of the model in detail, or of the first that has draws.

    Attributes
    ----------
    name : str
        Label of that model.
    classes : tuple of str
    checks : dict of str to dict
        Checks by label of the model, those that predict best first, and by kind.
    loo : tuple of LooRow
        Comparison, the best model first.
    diagnostics : tuple of (str, str)
        Title and words of each model with chains.
    """

    name: str
    classes: tuple[str, ...]
    checks: dict[str, dict[str, PredictiveCheck]]
    loo: tuple[LooRow, ...]
    diagnostics: tuple[tuple[str, str], ...]


def compute(models: FittedModels, options) -> ModelChecks | None:
    """Collect checks, and compare models by leave-one-case-out; return None if no model has draws."""
    able = [(one, one.bayes) for one in models.fitted if one.bayes is not None and one.bayes.checks]
    if not able:
        return None
    which = next((one for one, _ in able if one is models.shown), able[0][0])
    same = [(one, bayes) for one, bayes in able if one.dataset.content_digest == which.dataset.content_digest]
    loo = compare_loo({label(one): bayes.loo for one, bayes in same if bayes.loo is not None})
    checks = {label(one): {check.kind: check for check in bayes.checks} for one, bayes in same}
    return ModelChecks(
        label(which),
        which.fit.classes,
        {row.name: checks[row.name] for row in loo} | checks,
        tuple(loo),
        tuple((one.title, bayes.diagnostics.words) for one, bayes in same if bayes.diagnostics is not None),
    )


def present(found: ModelChecks | None, dataset: Dataset, options) -> list[Block]:
    """Show observed annotations against the bands of the models, raters against theirs, and leave-one-out."""
    if found is None:
        advice = " Choose a Bayesian model above (a difficulty model, or Dawid-Skene with “Full posterior”)."
        return [Words(("Checks need posterior draws.", OnPage(advice)), "info", icon="fact_check")]
    controls = []
    if len(found.classes) > 2:
        controls.append(Control("Class", found.classes, found.classes, "check_class"))
    names = list(found.checks)
    if len(names) > figures.MOST_MODELS:
        first, most = names.index(found.name), figures.MOST_MODELS
        title = f"Models in the figure (at most {most} of {len(names):,})"
        controls.append(Control(title, names, names, f"drawn-{'-'.join(names)}", first, most=most))

    def then(*chosen) -> list[Block]:
        values = dict(zip((one.key for one in controls), chosen, strict=True))
        drawn = names if len(names) <= figures.MOST_MODELS else chosen[-1]
        return _bands(found, values.get("check_class"), drawn)

    return [
        *([Selector(controls, then)] if controls else then()),
        *_leave_one_out(found),
        Details(
            "Chain diagnostics",
            [Words((Strong(Name(title)), ": ", Name(words)), "note") for title, words in found.diagnostics],
            unfolded=len(names) <= figures.MOST_MODELS,
        ),
    ]


def _bands(found: ModelChecks, name: str | None, drawn: Sequence[str]) -> list[Block]:
    """Show votes and raters, observed and replicated.

    Parameters
    ----------
    found : ModelChecks
    name : str or None
        Name of the class; None for two classes.
    drawn : sequence of str
        Labels of the models in the figure of votes.
    """
    code = None if name is None else found.classes.index(name)
    votes = {one: kinds["votes"] for one, kinds in found.checks.items()}
    title, raters = plotly(who_reproduces(votes)), found.checks[found.name]["raters"]
    votes = {one: votes[one] for one in drawn}
    about = plotly(f"{found.name} {_REPRODUCES[verdict(raters)]} the rater check")
    return [
        Heading("Votes per case, observed and simulated", "predictive check"),
        Words(
            (
                "Number of annotations per case that name “",
                Name(found.classes[1 if code is None else code]),
                "”. Outlines: data. Coloured bars: 95% of the datasets that the model simulates. A model whose "
                "bars miss the outlines does not reproduce these annotations.",
            ),
            "note",
        ),
        Figure(
            lambda theme: figures.vote_bands(votes, theme, title, code), "Observed votes and model bands",
            "vote_bands",
        ),
        Heading("Raters, observed and simulated", "predictive check"),
        Figure(
            lambda theme: figures.rater_bands(raters, theme, about, code),
            "Observed annotations of raters and model bands",
            "rater_bands",
        ),
    ]  # fmt: skip


def _leave_one_out(found: ModelChecks) -> list[Block]:
    rows, blocks = found.loo, list[Block]()
    if len(rows) > 1:
        title = plotly(predicts_best(rows))
        blocks += [
            Heading("Predicting a new case", "leave-one-case-out"),
            Figure(
                lambda theme: figures.loo_forest(rows, theme, title),
                "Expected log predictive density of each model, relative to the best",
                "loo",
            ),
        ]
        if doubtful := ", ".join(f"{plural(row.n_high_k, 'case')} under {row.name}" for row in rows if row.n_high_k):
            said = ("Open symbols: importance weights are unreliable (Pareto k too high) for ", Name(doubtful), ".")
            blocks.append(Words(said, "note"))
    if rows:
        blocks.append(Download(_table(rows), "Leave-one-out", "leave_one_out", "loo_table"))
    return blocks


def table_of(found: ModelChecks | None, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per model that is compared by leave-one-case-out."""
    return _table(found.loo if found else ())


def _table(rows: Sequence[LooRow]) -> pd.DataFrame:
    return pd.DataFrame([[getattr(row, name) for name in _ROW] for row in rows], columns=_ROW)


def predicts_best(rows: Sequence[LooRow]) -> str:
    """Return which model predicts a new case best, or those not clearly behind it by two standard errors. Not escaped.

    Parameters
    ----------
    rows : sequence of LooRow
        Comparison, the best model first.
    """
    first, *others = rows
    close = [row.name for row in others if row.difference_se is None or -row.difference <= 2 * row.difference_se]
    if not close:
        return f"{first.name} predicts annotations of a new case best"
    rest = close[0] if len(close) == 1 else f"{len(close):,} others"
    return f"{first.name} and {rest} do not clearly differ in predicting a new case"


def who_reproduces(votes: Mapping[str, PredictiveCheck]) -> str:
    """Return which models can reproduce such votes, and which cannot. Not escaped.

    Parameters
    ----------
    votes : mapping of str to PredictiveCheck
        Checks by label of the model.
    """
    failing = [name for name, check in votes.items() if check.fails]
    passing = [name for name, check in votes.items() if check.fails is False]
    undecided = len(votes) - len(failing) - len(passing)
    if len(votes) > _MOST_NAMED:
        words = f"{len(failing):,} of {len(votes):,} models cannot reproduce the votes"
    elif failing:
        others = f"; {' and '.join(passing)} can" if passing else ""
        words = f"{' and '.join(failing)} cannot reproduce the votes{others}"
    elif passing:
        words = f"{' and '.join(passing)} can reproduce the votes"
    else:
        return "Too few simulated datasets to check the votes"
    return words + (f"; {undecided} undecided" if undecided else "")


def verdict(check: PredictiveCheck) -> str:
    """Return the result of a check in a word."""
    return "fails" if check.fails else "undecided" if check.fails is None else "passes"


def least(check: PredictiveCheck) -> str:
    """Return the smallest predictive probability, and of how many."""
    value = number(check.headline, 3) if check.headline > 0 else f"<{number(1 / check.n_replicates, 4)}"
    return f"{value} of {check.n_statistics:,}"
