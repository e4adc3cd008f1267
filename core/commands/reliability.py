"""What anchors the reliability γ: the held-out readers' curve, certainty against gold, and where γ opens."""

import pandas as pd

from ..analysis_settings import SEED, can_choose, page_reliability, rests_on_beta
from ..annotations.dataset import Dataset
from ..certainty.held_out_readers import N_DRAWS, HeldOutCurve, held_out_curve
from ..certainty.opening import opens_at
from ..certainty.truth_curve import TruthCurve, truth_curve
from ..errors import InputError, NotApplicableError
from ..models.choose import choose
from ..models.gold import gold_cases
from ..plausibility.dirichlet import METHOD as DIRICHLET
from ..plausibility.protocol import PlausibilityModel
from .fits import with_gold
from .inputs import progress, stamp
from .plausibilities import model_for, read_input

_HELD_OUT = ("reliability", "score", "se", "diff", "diff_se", "bias", "mc_se")
_GOLD = (
    *("reliability", "certainty", "right", "log_loss", "log_loss_low", "log_loss_high"),
    *("ece", "ece_low", "ece_high"),
)


def reliability(options) -> tuple[dict, pd.DataFrame]:
    """Both curves and the γ that a page opens at; the table is of the held-out readers' curve."""
    if options.beta is not None and options.model != DIRICHLET.name:
        raise InputError("--beta is for counts.", "Use it with: reliability dirichlet FILE --beta B.")
    dataset, left_out = read_input(options)
    if options.gold:
        dataset = with_gold(dataset, options)
    model = model_for(options, dataset)
    truth = _truth(options, dataset, model)
    readers = _readers(options, dataset, model, truth)
    beta = _beta(dataset, model) if options.beta is None else options.beta
    opening = opens_at(dataset, model, beta=beta, truth=truth, readers=readers)
    rows = [] if readers is None else _rows(readers, _HELD_OUT)
    answer = {
        "model": options.model,
        **{name: None if readers is None else getattr(readers, name) for name in ("best", "low", "high", "at_end")},
        "curve": rows,
        "n_held_out": 0 if readers is None else readers.n_held_out,
        "note": "" if readers is None else readers.note,
        "beta": beta,
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
    return answer, pd.DataFrame(rows, columns=list(_HELD_OUT))


def _beta(dataset: Dataset, model: PlausibilityModel) -> float | None:
    """How far raters share mistakes, by held-out annotations as on pages; None if γ does not rest on it."""
    classes = dataset.as_classes()[0] if dataset.kind == "ranking" else dataset
    if not (rests_on_beta(model) and can_choose(classes)):
        return None
    return choose(classes, seed=SEED, difficulty=False, progress=progress).dependence


def _truth(options, dataset: Dataset, model: PlausibilityModel) -> TruthCurve | None:
    if dataset.kind == "score":  # no class is right or wrong; `sweep gaussian` has their gold
        return None
    n = len(gold_cases(dataset))
    if n < 2:
        if options.gold:
            options.cautions.append(f"Gold is known for {n} of the cases with an annotation; two are needed.")
        return None
    return truth_curve(dataset, model, n_draws=options.draws, seed=options.seed, progress=progress)


def _readers(options, dataset: Dataset, model: PlausibilityModel, truth: TruthCurve | None) -> HeldOutCurve | None:
    try:
        return held_out_curve(dataset, model, n_draws=min(N_DRAWS, options.draws), seed=options.seed, progress=progress)
    except NotApplicableError as error:
        if truth is None:
            raise
        options.cautions.append(str(error))
        return None


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
