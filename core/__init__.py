"""Plurality: ground truth that people disagree about.

The public names, loaded when first used, so that ``import core`` is quick.
"""

from importlib import import_module

from core.settings import prepare_numba_cache
from core.version import __version__

prepare_numba_cache()

_WHERE = {
    "Dataset": "core.annotations.dataset",
    "read": "core.annotations.reading",
    "load_sample": "core.annotations.samples",
    "agreement_table": "core.agreement.coefficients",
    "percent_agreement": "core.agreement.coefficients",
    "fleiss_kappa": "core.agreement.coefficients",
    "krippendorff_alpha": "core.agreement.krippendorff",
    "spa": "core.agreement.probability",
    "MajorityVote": "core.models.majority",
    "DawidSkene": "core.models.dawid_skene",
    "DirichletCounts": "core.plausibility.dirichlet",
    "GaussianScores": "core.plausibility.gaussian",
    "PrIRN": "core.plausibility.prirn",
    "PlackettLuce": "core.plausibility.plackett_luce.gibbs",
    "annotation_certainty": "core.certainty.top_sets",
    "set_certainty": "core.certainty.given",
    "expected_risk": "core.certainty.risk",
    "ua_topk_accuracy": "core.evaluation.uncertainty_adjusted",
    "ua_set_accuracy": "core.evaluation.uncertainty_adjusted",
    "ua_average_overlap": "core.evaluation.uncertainty_adjusted",
    "reliability_sweep": "core.evaluation.sweep_table",
}
__all__ = [*_WHERE, "__version__"]


def __getattr__(name: str):
    if name not in _WHERE:
        raise AttributeError(f"module 'core' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
