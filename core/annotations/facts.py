"""Facts about raters and cases: columns with one value each."""

from collections.abc import Iterable
from dataclasses import dataclass

from .dataset import Dataset

MOST_VALUES = 20  # of a fact whose values are groups
CASE_GROUP = "group"


@dataclass(frozen=True, slots=True)
class RaterFacts:
    """Facts about raters, or about cases.

    Attributes
    ----------
    names : tuple of str
    values : tuple of tuple of str
        For each fact a value for each rater of the dataset, or each case, empty if unknown.
    """

    names: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()

    def only(self, names: Iterable[str]) -> "RaterFacts":
        """Return the facts with these names, in the order of the names."""
        of = dict(zip(self.names, self.values, strict=True))
        return RaterFacts(tuple(names), tuple(of[name] for name in names))

    @property
    def with_groups(self) -> "RaterFacts":
        """Facts whose values are groups: those with at most `MOST_VALUES` values."""
        pairs = zip(self.names, self.values, strict=True)
        return self.only([name for name, values in pairs if len({*values} - {""}) <= MOST_VALUES])


def with_case_group(facts: RaterFacts, dataset: Dataset) -> RaterFacts:
    """Return facts of cases with the groups that the dataset has itself, under the name `CASE_GROUP`.

    Parameters
    ----------
    facts : RaterFacts
        Facts of the cases of the dataset.
    dataset : Dataset
    """
    if dataset.case_group is None or CASE_GROUP in facts.names:
        return facts
    return RaterFacts((*facts.names, CASE_GROUP), (*facts.values, tuple(dataset.case_group)))
