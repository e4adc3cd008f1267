"""t-a-p on the command line: agreement in parts, and simulated ratings."""

from typing import Any

import pandas as pd

from ..analyses.models import MODELS
from ..annotations.write import long_table
from .inputs import read_classes, rows_of, write_table
from .parts import answered

_NO_DATA: Any = None  # ratings are simulated, whatever the data are


def tap(options) -> tuple[dict, pd.DataFrame]:
    """Compute the parts of agreement, the test of t = p, and accuracy and guesses of each rater."""
    dataset, left_out = read_classes(options)
    more: dict = {}

    def words(found) -> str:
        rates, test = found.rates, found.test
        more["agreement"] = {name: getattr(rates, name) for name in rates.__slots__} | {
            "expected": rates.total,
            "observed": found.observed.value,
            "kappa_expected": rates.kappa,
            "kappa": found.kappa.value,
        }
        more["guesses_follow_prevalence"] = {name: getattr(test, name) for name in test.__slots__}
        return test.words

    answer, table = answered(MODELS.part("tap"), options, dataset, left_out, words)
    return answer | more, table


def simulate(options) -> tuple[dict, pd.DataFrame]:
    """Compute coefficients and models on simulated ratings, next to their expected values under t, a and p."""
    part = MODELS.part("explore")
    chosen = part.resolve(**part.given(options))
    found = part.answer(_NO_DATA, chosen)
    table = part.frame(found, _NO_DATA, chosen)
    write_table(options.out, long_table(found.ratings))
    rates = {name: getattr(found.rates, name) for name in found.rates.__slots__}
    return {"agreement": rates, "rows": rows_of(table), "seed": options.seed}, table
