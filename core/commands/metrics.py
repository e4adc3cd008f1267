"""Further metrics of classifiers on the command line: rankings and probabilities at one γ."""

import pandas as pd

from ..analyses.inputs import Inputs
from ..analyses.reliability import RELIABILITY
from ..analyses.reliability.metrics import verdict
from ..analysis_settings import AnalysisSettings
from ..errors import InputError
from .inputs import progress, rows_of, stamp
from .plausibilities import chosen_model, opened_reliability, read_classifiers, read_input


def metrics(options) -> tuple[dict, pd.DataFrame]:
    """Compute each metric of each classifier, with the sentence of its page."""
    dataset, left_out = read_input(options)
    if dataset.kind in ("score", "set"):
        raise InputError(
            "Could not compute further metrics: they need single classes or rankings.", "Use sweep for scores and sets."
        )
    classifiers = read_classifiers(options, dataset)
    if not classifiers:
        raise InputError("No predictions.", "Provide --predictions NAME=FILE.")
    options.reliability = opened_reliability(options, dataset)
    inputs = Inputs(
        dataset,
        predictions=tuple(classifiers),
        settings=AnalysisSettings(chosen_model(options), options.reliability),
    )
    part = RELIABILITY.part("metrics")
    chosen = part.resolve(**part.given(options), n_draws=options.draws)
    found = part.answer(inputs, chosen, progress=progress)
    table = part.frame(found, inputs, chosen)
    words = {one.name: verdict(found, one) for one in found.metrics if found.values[one.name]}
    answer = {
        "model": options.model,
        "reliability": options.reliability,
        "words": words,
        "rows": rows_of(table),
        "left_out": left_out,
        **stamp(options, dataset),
    }
    return answer, table
