"""The documentation inside the app: pages of ``docs/pages`` that need no build and no network, and links to them."""

import re
from functools import cache
from pathlib import Path

from core.methods import Method

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "pages"
START = "index"
_ADDRESS = "documentation"  # of the page that shows them
_BUILT = ("python", "project", "notebooks")  # made when the documentation is built
_FRONT = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")
_TERMS = {  # of the glossary, by the page that says most about them
    "app/agreement": (
        "alpha", "benchmark", "bootstrap", "groups of raters", "guideline", "precision", "specific agreement",
    ),
    "app/ai_rater": ("alternative annotator test", "corrected rate", "machine", "versions"),
    "app/cases": (
        "annotation certainty", "certainty against gold", "more raters", "p correct", "plausibility", "region", "risk",
    ),
    "app/models": (
        "calibration", "case difficulty", "classifier as evidence", "convergence", "covariates", "full posterior",
        "held-out score",
        "leave-one-case-out", "model agreement", "predictive check", "prevalence", "rater models", "restarts",
        "shared errors", "smoothing",
    ),
    "app/raters": (
        "acceptable", "confusion matrix", "control chart", "expected gain", "follows", "planning", "signs",
        "without the rater",
    ),
    "app/reader_study": ("reader study",),
    "app/reliability": (
        "aggregated coverage", "better", "classifier set", "plausibility region", "prediction sets", "top3 accuracy",
    ),
    "app/review": ("blind read", "review queue", "sample or queue"),
    "explanation/reliability": ("held-out readers", "reliability"),
    "howto/ai_raters": ("panel of AI raters", "equivalent raters"),
    "howto/comparisons": ("bradley-terry", "circular triad"),
    "howto/gate": ("quality gate",),
    "howto/gold": ("gold",),
    "howto/soft_labels": ("soft labels",),
}  # fmt: skip
_PAGE_OF_TERM = {term: page for page, terms in _TERMS.items() for term in terms}


@cache
def titles() -> dict[str, str]:
    """Title of each page by its name, which is its path without the ending."""
    found = {}
    for path in sorted(FOLDER.rglob("*.md")):
        name = path.relative_to(FOLDER).with_suffix("").as_posix()
        if name.split("/")[0] not in _BUILT:
            found[name] = _read(path).partition("\n")[0].removeprefix("# ")
    return found


def _read(path: Path) -> str:
    """Text of a file without what is for the built search alone."""
    return _FRONT.sub("", path.read_text(encoding="utf-8"))


def text(name: str) -> str:
    """Text of a page, whose links open pages of the app; a link to what must be built first is plain text.

    Parameters
    ----------
    name : str
        Key of `titles`.
    """
    path = FOLDER / f"{name}.md"

    def linked(found: re.Match) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target:
            return found[0]
        there = (path.parent / target).resolve() if target else path
        other = there.relative_to(FOLDER).with_suffix("").as_posix() if there.is_relative_to(FOLDER) else ""
        return f"[{words}]({address(other)}{anchor})" if other in titles() else words

    return _LINK.sub(linked, _read(path))


def address(name: str) -> str:
    """Address of a page of the documentation, from any page of the app."""
    return f"{_ADDRESS}?page={name}"


def page_of(term: str | Method) -> str:
    """Page that says more about a term of the glossary or about a method."""
    if isinstance(term, str) and term in _PAGE_OF_TERM:
        return _PAGE_OF_TERM[term]
    name = term if isinstance(term, str) else term.name
    of_several = re.split("[-_]", name)[0]  # some methods share a page
    pages = (f"methods/{name}", f"methods/{of_several}", "reference/glossary")
    return next(page for page in pages if page in titles())
