"""Section on gold: the rater model compared with gold classes, and its probabilities with its accuracy."""

import numpy as np
import pandas as pd

from ..analyses.blocks import Grid, Words
from ..analyses.models import MODELS
from ..analyses.models.fits import of_fits
from ..models.average import METHOD as AVERAGE
from ..models.catalogue import Fitted
from ..models.gold import gold_cases
from ..models.gold_measures import GoldMeasure, gold_measures
from ..raters.accuracy_threshold import gold_rates
from ..text import percent_with_interval, plural
from .page import printed


def gold(request, sections, token, progress) -> list:
    """Return accuracy, log loss, Brier, ECE and share correct at 0.99 or more of the rater model, and raters by gold.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    view = request.dataset.as_classes(request.threshold)[0]
    n = len(gold_cases(view))
    if not n:
        return []
    blocks = [_raters(view)] if view.raters_identified else []
    model = request.settings.rater_model
    fit = request.settings.weigh(view, token) if view.n_classes > 1 else None
    if model is None or fit is None:
        return [Words(f"Gold is known for {plural(n, 'case')}.", "lead"), *blocks]
    title, measured = model.title, gold_measures(view, fit, seed=request.seed)
    part = MODELS.part("calibration")
    same = request.dataset.kind == "class"  # else certainty is of other data than single classes
    options = part.resolve(plausibility=request.model, reliability=request.reliability) if same else part.resolve()
    models = of_fits([Fitted(model, view, fit, None, 0.0)])
    rows = [
        ("accuracy", measured.accuracy, n),
        ("log loss", measured.log_loss, n),
        ("Brier score", measured.brier, n),
        ("expected calibration error", measured.ece, n),
        ("share correct at 0.99 or more", measured.certain_right, measured.n_certain),
    ]
    frame = pd.DataFrame(
        [
            {"measure": name, "value": one.value, "ci_low": one.low, "ci_high": one.high, "cases": cases}
            for name, one, cases in rows
            if one is not None
        ]
    )
    return [
        Words(_lead(title, measured.accuracy, n), "lead"),
        Words(_certain(measured.n_certain, measured.certain_right)),
        Grid(frame, f"{title}, the model that opens with these data, compared with gold; 95% intervals over cases."),
        *printed(part.blocks(part.answer(view, options, models), view, options)),
        *blocks,
    ]


def _lead(title: str, accuracy: GoldMeasure, n: int) -> str:
    said = percent_with_interval(accuracy.value, accuracy.low, accuracy.high)
    name = "the average of rater models" if title == AVERAGE.title else title
    return f"By gold, {name} is correct on {said} of {plural(n, 'case')}; the fit did not use gold."


def _certain(n_certain: int, right: GoldMeasure | None) -> str:
    if right is None:
        return "No gold case has a probability of 99% or more."
    said = percent_with_interval(right.value, right.low, right.high)
    return f"{plural(n_certain, 'gold case')} have a probability of 99% or more; {said} of them are correct."


def _raters(view) -> Grid:
    rates = gold_rates(view)
    judged = np.flatnonzero(rates.n > 0)
    frame = pd.DataFrame(
        {
            "rater": [view.raters[rater] for rater in judged],
            "gold annotations": rates.n[judged],
            "right by gold": rates.value[judged],
            "right ci_low": rates.low[judged],
            "right ci_high": rates.high[judged],
        }
    )
    caption = (
        "Share of each rater's correct annotations on gold cases, without shrinkage, with Wilson's interval; the "
        "accuracy above is shrunk towards the mean of all raters."
    )
    return Grid(frame, caption, 40)
