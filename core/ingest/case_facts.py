"""Facts on each case other than annotations: the text and the pictures that raters saw.

Facts are stored next to a dataset and are not part of its digest: another text does not make other annotations.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..result_base import Result
from ..text import plural


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CaseFacts(Result):
    """Texts and pictures by case id; cases without facts are left out.

    Attributes
    ----------
    text : dict of str to str
    address : dict of str to tuple of str
        Paths or addresses of pictures, in their order.
    images : dict of str to dict
        Pictures that came with the data, by case and then by address, or by file name if no address matches: the bytes,
        or the file with them.
    """

    text: dict[str, str] = field(default_factory=dict)
    address: dict[str, tuple[str, ...]] = field(default_factory=dict)
    images: dict[str, dict[str, bytes | Path]] = field(default_factory=dict)

    def _facts(self) -> Iterable[str]:
        for name in ("text", "address", "images"):
            yield f"{name} of {plural(len(getattr(self, name)), 'case')}"

    def __bool__(self) -> bool:
        """Return whether there are facts on any case."""
        return bool(self.text or self.address or self.images)


def joined(facts: CaseFacts | None, other: CaseFacts | None) -> CaseFacts | None:
    """Return facts of the same cases together; if both have a fact, that of ``other`` counts."""
    if facts is None or other is None:
        return other or facts
    return CaseFacts(facts.text | other.text, facts.address | other.address, facts.images | other.images)


def contents(facts: CaseFacts | None) -> dict[str, dict[str, str]]:
    """Return what raters saw by name ("text", "link") and case; the link is the first picture with a web address."""
    if facts is None:
        return {}
    link = {
        case: next((one for one in own if one.startswith(("http://", "https://"))), "")
        for case, own in facts.address.items()
    }
    return {"text": facts.text, "link": {case: address for case, address in link.items() if address}}
