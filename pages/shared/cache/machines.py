"""What the page on machines computes at once, kept by the content of the data."""

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from pages.shared.cache.remembered import remembered


@remembered
def differs(
    dataset: Dataset, machines: tuple[str, ...], people: tuple[str, ...], reliability: float, level: float
):  # fmt: skip
    """Compare each AI rater with a decided panel, or return why this is not possible; raters are without names."""
    from core.machines.disagreements import differences_from_panel

    found = []
    for name in machines:
        try:
            found.append(differences_from_panel(dataset, name, people, reliability=reliability, level=level))
        except NotApplicableError as error:
            found.append(str(error))
    return tuple(found)


@remembered
def subgroup_differences(
    dataset: Dataset, machines: tuple[str, ...], people: tuple[str, ...], score: str, reliability: float
):
    """Return people's lead over each AI rater on parts of the cases, or the reason why it is not available."""
    from core.machines.subgroup_differences import subgroup_differences as of_machine

    found = []
    for name in machines:
        try:
            found.append(of_machine(dataset, name, people, score=score, reliability=reliability))
        except NotApplicableError as error:
            found.append(str(error))
    return tuple(found)


@remembered
def version_drift(dataset: Dataset, told: tuple[tuple[str, str, str], ...], people: tuple[str, ...], score: str):
    """Versions of every family side by side; ``told`` are names, families and versions."""
    from core.machines.marks import Machine
    from core.machines.versions import version_drift as of_versions

    return of_versions(dataset, [Machine(*one) for one in told], people, score=score)
