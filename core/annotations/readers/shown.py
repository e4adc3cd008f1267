"""What raters were shown, gathered by case: text, and the address of a picture or file."""

import re
from collections.abc import Mapping

from core.annotations.side_files import CaseTable

_ADDRESS = re.compile(
    r"(?:https?|s3|gs|azure-blob|file)://\S+|/?[^\s<>]+\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|dcm|mp3|wav|ogg|flac|mp4|pdf)"
    r"|/data/\S+",
    re.IGNORECASE,
)
_LONGEST = 2_000


class CaseTexts:
    """Takes the data of cases one after another; the first of a case counts."""

    def __init__(self) -> None:
        self._text: dict[str, str] = {}
        self._address: dict[str, str] = {}

    def add(self, case: str, data: object) -> None:
        """Text and address among the values of an object, or of one string."""
        if case in self._text:
            return
        values = data.values() if isinstance(data, Mapping) else [data]
        texts = [value for value in values if isinstance(value, str) and value.strip()]
        address = next((text for text in texts if len(text) < _LONGEST and _ADDRESS.fullmatch(text.strip())), "")
        self._address[case] = address
        self._text[case] = next((text[:_LONGEST] for text in texts if text != address), "")

    def table(self) -> CaseTable | None:
        """All that was gathered; None where there is neither text nor address."""
        texts, addresses = tuple(self._text.values()), tuple(self._address.values())
        if not any(texts) and not any(addresses):
            return None
        return CaseTable(
            tuple(self._text),
            text=texts if any(texts) else None,
            address=addresses if any(addresses) else None,
        )
