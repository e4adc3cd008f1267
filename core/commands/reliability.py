"""Evidence for the reliability γ: the curve of held-out raters, certainty against gold, and the default γ."""

import pandas as pd

from ..analyses.inputs import Inputs
from ..analyses.reliability import RELIABILITY, AnchorOptions
from ..analyses.reliability.anchors import READERS, compute
from ..analysis_settings import AnalysisSettings, page_reliability
from ..certainty.held_out_readers import HeldOutCurve
from ..certainty.truth_curve import TruthCurve
from ..errors import InputError
from ..models.gold import gold_cases
from ..plausibility.dirichlet import METHOD as DIRICHLET
from ..text import plural
from .fits import with_gold
from .inputs import progress, stamp
from .plausibilities import model_for, read_input

_GOLD = (
    *("reliability", "certainty", "right", "log_loss", "log_loss_low", "log_loss_high"),
    *("ece", "ece_low", "ece_high"),
)


def reliability(options) -> tuple[dict, pd.DataFrame]:
    """Return both curves and the default γ of pages; the table has the curve of held-out raters."""
    if options.beta is not None and options.model != DIRICHLET.name:
        raise InputError(
            "Could not use --beta: it needs the Dirichlet counts model.",
            "Usage: plurality reliability dirichlet FILE --beta B",
        )
    dataset, left_out = read_input(options)
    if options.gold:
        dataset = with_gold(dataset, options)
    if options.gold and (n := len(gold_cases(dataset))) < 2:
        options.cautions.append(
            f"Only {plural(n, 'annotated case')} {'has' if n == 1 else 'have'} gold; at least 2 such cases are needed."
        )
    model = model_for(options, dataset)
    inputs = Inputs(dataset, settings=AnalysisSettings(model, model.default_reliability))
    part, chosen = RELIABILITY.part("anchors"), AnchorOptions(options.draws, options.seed, options.beta)
    found = compute(inputs, chosen, progress)
    if found.why_no_readers:
        options.cautions.append(found.why_no_readers)
    readers, truth, opening = found.readers, found.truth, found.opening
    rows = [] if readers is None else _rows(readers, READERS)
    answer = {
        "model": options.model,
        **{name: None if readers is None else getattr(readers, name) for name in ("best", "low", "high", "at_end")},
        "curve": rows,
        "n_held_out": 0 if readers is None else readers.n_held_out,
        "note": "" if readers is None else readers.note,
        "beta": found.beta,
        **({} if truth is None else {"gold": _gold(truth)}),
        "opens_at": page_reliability(model, opening.reliability),
        "reason": opening.reason,
        "marks": [
            {"mark": mark.name, "why": mark.sentence}
            | {name: getattr(mark, name) for name in ("reliability", "low", "high")}
            for mark in opening.marks
        ],
        "prior": None if opening.prior is None else {"alpha": opening.prior, "why": opening.prior_sentence},
        "left_out": left_out,
        **stamp(options, dataset),
    }
    return answer, part.frame(found, inputs, chosen)


def _gold(truth: TruthCurve) -> dict:
    return {
        "best": truth.best,
        "low": truth.low,
        "high": truth.high,
        "cross_validated": truth.cross_validated,
        "n": truth.n_cases,
        "curve": _rows(truth, _GOLD),
        "diagram": [
            {name: getattr(one, name) for name in ("low", "high", "n", "certainty", "right", "right_low", "right_high")}
            for one in truth.diagram(truth.best)
        ],
    }


def _rows(curve: HeldOutCurve | TruthCurve, names: tuple[str, ...]) -> list[dict]:
    columns = [getattr(curve, name).tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
