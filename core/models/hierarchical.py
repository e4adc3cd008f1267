"""Hierarchical Dawid-Skene: similar raters with individual differences, and a prediction for the next rater.

Row k of rater j is softmax(μ_k + τ_k ⊙ ε_jk) over all K logits, ε ~ N(0, 1), μ_kl ~ N(2 · 1(k = l), 1.5),
τ ~ half-normal(1), π ~ Dirichlet(2). After Paun et al. (2018), "Comparing Bayesian models of annotation",
DOI 10.1162/tacl_a_00040; a rater with few annotations leans on the others.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..annotations.dataset import Dataset
from ..checked import checked
from ..options import check_flag
from .confusion_model import ConfusionModel, check_answers
from .hierarchical_density import HierarchicalDensity
from .rater_methods import DRAWS, RaterModelMethod, by_posterior


@checked
@dataclass(frozen=True, slots=True)
class HierarchicalDawidSkene(ConfusionModel):
    """Posterior of prevalence, confusion matrices, and the population of raters.

    Parameters
    ----------
    cooperative : bool
        For every true class the raters' centre favours the right annotation, μ_kl < μ_kk; the prior is cut there, not
        renormalised. Single raters may still be adversarial. Without it chains visit places where two classes have
        changed names, and seldom converge.

    Its fit has ``parameters``: ``mu`` and ``tau``, axes true class and annotated class, and ``new_rater``,
    ``new_rater_low``, ``new_rater_high``: the confusion matrix of a rater not seen, with its interval.
    """

    name: ClassVar[str] = "hierarchical"
    cooperative: bool = True

    def __post_init__(self) -> None:
        check_flag(self.cooperative, "cooperative")

    # The spreads make a funnel: shorter steps get further into it.
    target_accept: ClassVar[float] = 0.9

    def density(self, dataset: Dataset) -> HierarchicalDensity:
        """Build the posterior for the sampler.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes of at least two, are anonymous, or there is none.
        LimitError
            The tables would not fit into memory.
        """
        check_answers("Hierarchical Dawid-Skene", dataset)
        return HierarchicalDensity(dataset, self.cooperative)


METHOD = RaterModelMethod(
    HierarchicalDawidSkene.name,
    "Hierarchical Dawid-Skene",
    HierarchicalDawidSkene,
    plainly="Assumes that raters are similar but not identical, so that raters with few annotations borrow strength "
    "from the others.",
    exactly="The rows of each confusion matrix are logistic-normal around a mean that all raters share (non-centred "
    "parameterisation). Sampled with NUTS (Paun et al. 2018).",
    sources=("Paun et al., Transactions of the ACL 6 (2018), 571-585",),
    fit=by_posterior,
    ways=("map", "nuts"),
    options=DRAWS,
    place=70,
    warm=True,
)
