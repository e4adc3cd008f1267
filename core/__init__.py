"""Plurality: ground truth from raters who disagree.

Public names are loaded when first used, so that ``import core`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .annotations.frame_reader import read_frames_with
from .settings import prepare_numba_cache
from .version import __version__

if TYPE_CHECKING:  # for editors and type checkers, which do not run `__getattr__`
    from .agreement.applicable_coefficients import coefficients_for as coefficients_for
    from .agreement.bootstrap import bootstrap as bootstrap
    from .agreement.coefficients import agreement_table as agreement_table
    from .agreement.coefficients import fleiss_kappa as fleiss_kappa
    from .agreement.coefficients import percent_agreement as percent_agreement
    from .agreement.differences import compare as compare
    from .agreement.krippendorff import krippendorff_alpha as krippendorff_alpha
    from .agreement.probability import spa as spa
    from .annotations.dataset import Dataset as Dataset
    from .certainty.default_reliability import default_reliability as default_reliability
    from .certainty.held_out_readers import held_out_curve as held_out_curve
    from .certainty.next_opinion import next_opinion as next_opinion
    from .certainty.risk import expected_risk as expected_risk
    from .certainty.top_sets import annotation_certainty as annotation_certainty
    from .certainty.top_sets import set_certainty as set_certainty
    from .certainty.truth_curve import truth_curve as truth_curve
    from .evaluation.corrected_rates import class_rate as class_rate
    from .evaluation.prediction_sets import prediction_sets as prediction_sets
    from .evaluation.sweep_table import kept_plausibilities as kept_plausibilities
    from .evaluation.sweep_table import reliability_sweep as reliability_sweep
    from .evaluation.sweep_table import ua_average_overlap as ua_average_overlap
    from .evaluation.sweep_table import ua_set_accuracy as ua_set_accuracy
    from .evaluation.sweep_table import ua_topk_accuracy as ua_topk_accuracy
    from .ingest.read_files import read as read
    from .ingest.samples import load_sample as load_sample
    from .machines.alternative_test import alternative_test as alternative_test
    from .machines.equivalent_readers import equivalent_readers as equivalent_readers
    from .machines.rates import machine_rates as machine_rates
    from .machines.rates import people_labels as people_labels
    from .models.bayesian_dawid_skene import BayesianDawidSkene as BayesianDawidSkene
    from .models.dawid_skene import DawidSkene as DawidSkene
    from .models.difficulty.model import DifficultyModel as DifficultyModel
    from .models.hierarchical import HierarchicalDawidSkene as HierarchicalDawidSkene
    from .models.majority import MajorityVote as MajorityVote
    from .models.one_coin import ClassConditional as ClassConditional
    from .models.one_coin import OneCoin as OneCoin
    from .models.tap import TAP as TAP
    from .plausibility.dirichlet import DirichletCounts as DirichletCounts
    from .plausibility.gaussian import GaussianScores as GaussianScores
    from .plausibility.plackett_luce.gibbs import PlackettLuce as PlackettLuce
    from .plausibility.plackett_luce.trust import MixturePlackettLuce as MixturePlackettLuce
    from .plausibility.prirn import PrIRN as PrIRN
    from .raters.shared_errors import shared_errors as shared_errors

prepare_numba_cache()
read_frames_with(lambda: import_module(".ingest.read_files", __package__).dataset_of_frame)

_WHERE = {
    "Dataset": ".annotations.dataset",
    "read": ".ingest.read_files",
    "load_sample": ".ingest.samples",
    "agreement_table": ".agreement.coefficients",
    "percent_agreement": ".agreement.coefficients",
    "fleiss_kappa": ".agreement.coefficients",
    "krippendorff_alpha": ".agreement.krippendorff",
    "spa": ".agreement.probability",
    "coefficients_for": ".agreement.applicable_coefficients",
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
    "alternative_test": ".machines.alternative_test",
    "machine_rates": ".machines.rates",
    "people_labels": ".machines.rates",
    "equivalent_readers": ".machines.equivalent_readers",
    "shared_errors": ".raters.shared_errors",
    "annotation_certainty": ".certainty.top_sets",
    "next_opinion": ".certainty.next_opinion",
    "set_certainty": ".certainty.top_sets",
    "expected_risk": ".certainty.risk",
    "held_out_curve": ".certainty.held_out_readers",
    "truth_curve": ".certainty.truth_curve",
    "default_reliability": ".certainty.default_reliability",
    "ua_topk_accuracy": ".evaluation.sweep_table",
    "ua_set_accuracy": ".evaluation.sweep_table",
    "ua_average_overlap": ".evaluation.sweep_table",
    "reliability_sweep": ".evaluation.sweep_table",
    "kept_plausibilities": ".evaluation.sweep_table",
    "prediction_sets": ".evaluation.prediction_sets",
    "class_rate": ".evaluation.corrected_rates",
}
__all__ = [*_WHERE, "__version__"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # with it, checkers would take any name for a public one

    def __getattr__(name: str) -> Any:
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_WHERE[name], __package__), name)
