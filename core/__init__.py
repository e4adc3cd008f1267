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
    "coefficients_for": "core.agreement.suitable",
    "bootstrap": "core.agreement.bootstrap",
    "compare": "core.agreement.differences",
    "MajorityVote": "core.models.majority",
    "OneCoin": "core.models.one_coin",
    "ClassConditional": "core.models.one_coin",
    "DawidSkene": "core.models.dawid_skene",
    "TAP": "core.models.tap",
    "BayesianDawidSkene": "core.models.bayesian_dawid_skene",
    "HierarchicalDawidSkene": "core.models.hierarchical",
    "DifficultyModel": "core.models.difficulty.model",
    "DirichletCounts": "core.plausibility.dirichlet",
    "GaussianScores": "core.plausibility.gaussian",
    "PrIRN": "core.plausibility.prirn",
    "PlackettLuce": "core.plausibility.plackett_luce.gibbs",
    "MixturePlackettLuce": "core.plausibility.plackett_luce.trust",
    "annotation_certainty": "core.certainty.top_sets",
    "next_opinion": "core.certainty.next_opinion",
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
