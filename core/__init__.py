"""Plurality: ground truth that people disagree about.

The public names, loaded when first used, so that ``import core`` is quick.
"""

from importlib import import_module

from .settings import prepare_numba_cache
from .version import __version__

prepare_numba_cache()

_WHERE = {
    "Dataset": ".annotations.dataset",
    "read": ".ingest.read_files",
    "load_sample": ".ingest.samples",
    "agreement_table": ".agreement.coefficients",
    "percent_agreement": ".agreement.coefficients",
    "fleiss_kappa": ".agreement.coefficients",
    "krippendorff_alpha": ".agreement.krippendorff",
    "spa": ".agreement.probability",
    "coefficients_for": ".agreement.suitable",
    "bootstrap": ".agreement.bootstrap",
    "compare": ".agreement.differences",
    "MajorityVote": ".models.majority",
    "OneCoin": ".models.one_coin",
    "ClassConditional": ".models.one_coin",
    "DawidSkene": ".models.dawid_skene",
    "TAP": ".models.tap",
    "BayesianDawidSkene": ".models.bayesian_dawid_skene",
    "HierarchicalDawidSkene": ".models.hierarchical",
    "DifficultyModel": ".models.difficulty.model",
    "DirichletCounts": ".plausibility.dirichlet",
    "GaussianScores": ".plausibility.gaussian",
    "PrIRN": ".plausibility.prirn",
    "PlackettLuce": ".plausibility.plackett_luce.gibbs",
    "MixturePlackettLuce": ".plausibility.plackett_luce.trust",
    "annotation_certainty": ".certainty.top_sets",
    "next_opinion": ".certainty.next_opinion",
    "set_certainty": ".certainty.label_certainty",
    "expected_risk": ".certainty.risk",
    "held_out_curve": ".certainty.held_out_readers",
    "truth_curve": ".certainty.truth_curve",
    "opens_at": ".certainty.opening",
    "ua_topk_accuracy": ".evaluation.uncertainty_adjusted",
    "ua_set_accuracy": ".evaluation.uncertainty_adjusted",
    "ua_average_overlap": ".evaluation.uncertainty_adjusted",
    "reliability_sweep": ".evaluation.sweep_table",
}
__all__ = [*_WHERE, "__version__"]


def __getattr__(name: str):
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name], __package__), name)
