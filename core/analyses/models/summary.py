"""Models side by side: the share of one class, the results of checks, and the held-out prediction."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...annotations.paired_items import NAMED_FIRST
from ...methods import explained
from ...models.catalogue import Fitted
from ...models.comparison import most_moved
from ...models.loo import LooRow, PsisLoo, compare_loo
from ...models.nuts.result import BayesianFit
from ...models.result import RaterModelFit
from ...text import number, percent, percent_with_interval, plural, shorten
from ..blocks import Badge, Badges, Block, Download, Grid, Name, Words
from ..schema import Column
from .checks import least, verdict
from .fits import FittedModels

MOST_BADGES = 6
_ALL_ROWS = 100_000  # pixels: the table never scrolls
_METHODS = {"em": "EM", "map": "posterior mode", "nuts": "full posterior", "vote": "votes", "stacking": "stacking"}
_PAPER = (
    "Score of Han, Adıgüzel & Carpenter for difficulty models. It leaves out one annotation and ignores the other "
    "annotations of the case. Plurality's elpd leaves out a whole case and integrates its effects. The two can prefer "
    "different models, and this score prefers some models that fail their checks. Only differences between models "
    "are meaningful. Published values, from sampled effects, are up to 4 lower."
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelSummary:
    """Models with the numbers that compare them.

    Attributes
    ----------
    models : FittedModels
    loo : dict of str to LooRow
        Results by title of the model, compared among models of the same annotations.
    name : str
        Class whose share is in the table.
    """

    models: FittedModels
    loo: dict[str, LooRow]
    name: str


def compute(models: FittedModels, options) -> ModelSummary:
    """Compare models of the same annotations; choose the class of difficulty models, or the one changed most."""
    groups: dict[str, dict[str, PsisLoo]] = {}
    for one in models.fitted:
        if one.bayes is not None and one.bayes.loo is not None:
            groups.setdefault(one.dataset.content_digest, {})[one.title] = one.bayes.loo
    loo: dict[str, LooRow] = {}
    for group in groups.values():
        if len(group) > 1:  # the best of one model is not a finding
            loo |= {row.name: row for row in compare_loo(group)}
    of_two = next((one.fit.classes[1] for one in models.fitted if len(one.fit.classes) == 2), None)
    shown = models.shown.fit
    return ModelSummary(models, loo, of_two or shown.classes[int(most_moved(shown, models.vote)[0])])


def present(found: ModelSummary, dataset: Dataset, options) -> list[Block]:
    """Show a row for each model."""
    fitted = found.models.fitted
    table = table_of(found, dataset, options)
    columns = [Column("model"), Column("by", help=explained("full posterior")), Column(_share(found.name))]
    if found.loo:
        columns.append(Column("elpd less the best", "elpd minus the best", help=explained("leave-one-case-out")))
    if any(one.bayes is not None and one.bayes.diagnostics for one in fitted):
        columns += [Column(f"check of {what}", help=explained("predictive check")) for what in ("raters", "votes")]
    if any(one.bayes is not None and one.bayes.paper is not None for one in fitted):
        columns.append(Column("as in the paper", help=_PAPER))
    columns += [Column("converged"), Column("seconds")]
    in_words = table.assign(
        converged=[_converged(one) for one in fitted],
        seconds=["<0.1" if one.seconds < 0.05 else number(one.seconds, 1) for one in fitted],
    )
    return [
        *([Words(NAMED_FIRST, "note")] if dataset.compares else []),
        Grid(in_words, "Models.", 40, columns, "model_comparison", height=_ALL_ROWS),
        Download(table, "Models", "models", "model_comparison_table"),
    ]


def badges(models: FittedModels) -> list[Block]:
    """Return important warnings; counted if there are many models.

    Parameters
    ----------
    models : FittedModels
    """
    n = len(models.fitted)
    unsettled = [one.title for one in models.fitted if not one.fit.converged]
    failing = [
        (one.title, check)
        for one in models.fitted
        if one.bayes is not None
        for check in one.bayes.checks
        if check.fails
    ]
    items: list[Badge] = []
    if n <= MOST_BADGES:
        items += [((Name(title), " has not converged"), "warning") for title in unsettled]
        items += [
            ((Name(title), f" fails the {check.kind.removesuffix('s')} check: {least(check)}"), "failed")
            for title, check in failing
        ]
        return [Badges(items)] if items else []
    if unsettled:
        items.append(((f"{len(unsettled):,} of {n:,} models have not converged",), "warning"))
    if failing:
        n_failing = len({title for title, _ in failing})
        items.append(((f"{n_failing:,} of {n:,} models fail a check",), "failed"))
    return [Badges(items)] if items else []


def table_of(found: ModelSummary, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per model, in words and as numbers."""
    return pd.DataFrame([_row(found, one) for one in found.models.fitted])


def _with_interval(share: float | None, low: float | None, high: float | None) -> str:
    return f"{percent(share)} (no interval)" if share and low is None else percent_with_interval(share, low, high)


def _row(found: ModelSummary, one: Fitted) -> dict:
    fit, bayes = one.fit, one.bayes
    share, low, high = prevalence_of(fit, found.name)
    paper = None if bayes is None else bayes.paper
    diagnostics = None if bayes is None else bayes.diagnostics
    return {
        "model": one.title,
        "by": _METHODS[fit.method],
        _share(found.name): _with_interval(share, low, high),
        "class": found.name,
        "prevalence": share,
        "ci_low": low,
        "ci_high": high,
        "log_likelihood": fit.log_likelihood,
        "elpd less the best": difference_in_words(found.loo.get(one.title)),
        "check of raters": _check(one, "raters"),
        "check of votes": _check(one, "votes"),
        "as in the paper": _as_in_paper(bayes),
        "paper_elpd": None if paper is None else paper.elpd,
        "paper_se": None if paper is None else paper.se,
        "converged": fit.converged,
        "r_hat": None if diagnostics is None else diagnostics.rhat_max,
        "ess": None if diagnostics is None else diagnostics.ess_bulk_min,
        "seconds": one.seconds,
    }


def _share(name: str) -> str:
    return f"share of {shorten(name, 24)}"


def prevalence_of(fit: RaterModelFit, name: str) -> tuple[float | None, float | None, float | None]:
    """Return the share of a class and the ends of its interval; None if the fit has no such class, or no interval.

    Parameters
    ----------
    fit : RaterModelFit
    name : str
        Name of the class.
    """
    if name not in fit.classes:
        return None, None, None
    place = fit.classes.index(name)
    value = float(fit.prevalence[place])
    if fit.uncertainty is None or not np.isfinite(fit.uncertainty.prevalence.low[place]):
        return value, None, None
    spread = fit.uncertainty.prevalence
    return value, float(spread.low[place]), float(spread.high[place])


def difference_in_words(row: LooRow | None) -> str:
    """Return how far a model is behind the one that predicts best, by elpd.

    Parameters
    ----------
    row : LooRow or None
    """
    if row is None:
        return "–"
    if row.difference == 0:
        return f"best ({number(row.elpd, 1)})"
    error = "" if row.difference_se is None else f" ± {number(row.difference_se, 1)}"
    return number(row.difference, 1) + error


def _check(one: Fitted, kind: str) -> str:
    checks = [] if one.bayes is None else one.bayes.checks
    check = next((check for check in checks if check.kind == kind), None)
    return "–" if check is None else f"{verdict(check)}: {least(check)}"


def _as_in_paper(bayes: BayesianFit | None) -> str:
    paper = None if bayes is None else bayes.paper
    if paper is None:
        return "–"
    words = number(paper.elpd, 1) if paper.se is None else f"{number(paper.elpd, 1)} ± {number(paper.se, 1)}"
    return words if not paper.n_high_k else f"{words}, {plural(paper.n_high_k, 'annotation')} with high k"


def _converged(one: Fitted) -> str:
    if one.bayes is None:
        return "yes" if one.fit.converged else "no"
    found = one.bayes.diagnostics
    if found is None:
        return "no chains"
    if found.rhat_max is None:
        return "yes" if found.converged else "no"
    chains = f"R-hat {number(found.rhat_max, 3)}, ESS {number(found.ess_bulk_min, 0)}"
    return f"{'yes' if found.converged else 'NO'}: {chains}"
