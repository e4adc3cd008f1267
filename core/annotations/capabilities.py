"""The one table of which method takes which kind of answer, and what it needs besides. Pages and commands read it."""

from dataclasses import dataclass

import numpy as np

from core.annotations.dataset import Dataset, Kind

AS_IS = "as they are"
FIRST_BLOCK = "by their first choice; answers whose first choice is tied are left out"
THRESHOLD = "by a threshold that you set"


@dataclass(frozen=True, slots=True)
class Capability:
    """What a method takes.

    Attributes
    ----------
    title : str
        Name on screen.
    takes : dict
        For each kind of answer that is taken, how it enters.
    needs_raters : bool
        Rater names must carry identity.
    needs_overlap : bool
        Some case must have two annotations.
    """

    title: str
    takes: dict[Kind, str]
    needs_raters: bool = False
    needs_overlap: bool = False


_ONE_CLASS: dict[Kind, str] = {"class": AS_IS, "ranking": FIRST_BLOCK, "score": THRESHOLD}
_RANKED: dict[Kind, str] = {"class": AS_IS, "ranking": AS_IS}
_EVERY: dict[Kind, str] = {"class": AS_IS, "ranking": AS_IS, "score": AS_IS}
CAPABILITIES: dict[str, Capability] = {
    "agreement": Capability("Agreement", _EVERY, needs_overlap=True),
    "pairs": Capability("Agreement of raters two by two", _ONE_CLASS, needs_raters=True, needs_overlap=True),
    "majority": Capability("Majority vote", _ONE_CLASS),
    "dawid-skene": Capability(
        "Rater models: Dawid-Skene, t-a-p, hierarchical, difficulty", _ONE_CLASS, needs_raters=True, needs_overlap=True
    ),
    "dirichlet": Capability("Dirichlet counts", _ONE_CLASS),
    "plackett-luce": Capability("Plackett-Luce", _RANKED),
    "mixture-plackett-luce": Capability("Mixture Plackett-Luce: trust per rater", _RANKED, needs_raters=True),
    "prirn": Capability("PrIRN", _RANKED),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a method can be used on a dataset, and how or why not."""

    method: str
    title: str
    possible: bool
    reason: str


def can_use(method: str, dataset: Dataset) -> Verdict:
    """The verdict on one method, in words for the screen."""
    capability = CAPABILITIES[method]
    how = capability.takes.get(dataset.kind)
    if how is None:
        return Verdict(method, capability.title, False, f"does not take {dataset.kind}s")
    if capability.needs_overlap and (dataset.n_annotations == 0 or np.diff(dataset.case_ptr).max() < 2):
        return Verdict(
            method, capability.title, False, "every case has only one annotation, so nothing can be compared"
        )
    if capability.needs_raters and not dataset.raters_identified:
        return Verdict(method, capability.title, False, "the answers are anonymous")
    if capability.needs_raters and dataset.n_raters < 2:
        return Verdict(method, capability.title, False, "there is only one rater")
    return Verdict(method, capability.title, True, how)


def verdicts(dataset: Dataset) -> list[Verdict]:
    """What the data allow and what they do not, in the order of the pages."""
    return [can_use(method, dataset) for method in CAPABILITIES]
