"""What is known of each case apart from the annotations: what raters were shown, in words and in pictures.

Facts stand beside a dataset and are no part of its digest: another text does not make other annotations.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..result_base import Result
from ..text import plural


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CaseFacts(Result):
    """Texts and pictures by case id; a case of which nothing is known is left out.

    Attributes
    ----------
    text : dict of str to str
    address : dict of str to tuple of str
        Paths or addresses of pictures, in their order.
    images : dict of str to dict
        Pictures that came with the data, by case and then by address, or by file name where none names it: the bytes,
        or the file that holds them.
    """

    text: dict[str, str] = field(default_factory=dict)
    address: dict[str, tuple[str, ...]] = field(default_factory=dict)
    images: dict[str, dict[str, bytes | Path]] = field(default_factory=dict)

    def _facts(self) -> Iterable[str]:
        for name in ("text", "address", "images"):
            yield f"{name} of {plural(len(getattr(self, name)), 'case')}"

    def __bool__(self) -> bool:
        """Whether anything is known of any case."""
        return bool(self.text or self.address or self.images)


def joined(facts: CaseFacts | None, other: CaseFacts | None) -> CaseFacts | None:
    """Facts of the same cases together; where both know a thing, that of ``other`` counts."""
    if facts is None or other is None:
        return other or facts
    return CaseFacts(facts.text | other.text, facts.address | other.address, facts.images | other.images)
