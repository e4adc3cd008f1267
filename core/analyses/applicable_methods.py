"""List of what the data allow and what they do not."""

from ..agreement.coefficient_methods import any_coefficient
from ..agreement.pairs import METHOD as PAIRS
from ..annotations.dataset import Dataset
from ..methods import Method, Verdict, can_use, methods
from ..models.rater_methods import RaterModelMethod, any_rater_model
from ..plausibility.protocol import PlausibilityMethod


def verdicts(dataset: Dataset) -> list[Verdict]:
    """List what the data allow and what they do not, by family of methods, in the order of the pages."""
    # Classes without an order lack nothing, so methods that need an order are not listed.
    models = [
        method
        for method in methods(PlausibilityMethod).values()
        if method.on_pages and (dataset.ordinal or "order" not in method.needs)
    ]
    references: list[Method] = [method for method in methods(RaterModelMethod).values() if method.reference]
    return [
        any_coefficient(dataset),
        *(can_use(method, dataset) for method in (PAIRS, *references)),
        any_rater_model(dataset),
        *(can_use(method, dataset) for method in models),
    ]
