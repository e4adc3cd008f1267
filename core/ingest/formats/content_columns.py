"""Content that raters were shown, collected by case: text, and the addresses of pictures or files."""

import re
from collections.abc import Mapping

from ..column_mapping import Role, likeness
from ..companion_files import CaseTable
from ..images import is_embedded

_ADDRESS = re.compile(
    r"(?:https?|s3|gs|azure-blob|file)://\S+|/?[^\s<>]+\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|dcm|mp3|wav|ogg|flac|mp4|pdf)"
    r"|/data/\S+",
    re.IGNORECASE,
)
_LONGEST = 20_000
_LONGEST_ADDRESS = 2_000
_MOST_LISTED = 12
_PHRASE = 3  # words
# Texts with these names are what raters read; others may be facts on the case, and one word may be its class.
_TEXTS = re.compile(
    r"(?:text|sentence)[_ ]?\d?|premise|hypothesis|question|context|passage|document|body|title|post|reply|comment|"
    r"tweet|message|utterance|data|row_data|description|html|snippet|paragraph|content|prompt|article|abstract|review"
)
_TELLING: tuple[Role, ...] = ("answer", "gold", "confidence", "rank")


class CaseTexts:
    """Collector of the data of cases; the first data of a case count.

    Possible annotations are left out, because somebody who reviews a case blind must not see them.
    """

    def __init__(self) -> None:
        self._text: dict[str, str] = {}
        self._address: dict[str, str] = {}
        self._telling: dict[str, bool] = {}

    def add(self, case: str, data: object) -> None:
        """Add texts and addresses among the values of an object, or of one string."""
        if case in self._text:
            return
        texts: dict[str, str] = {}
        found: list[str] = []
        for name, value in data.items() if isinstance(data, Mapping) else [("", data)]:
            listed = value[:_MOST_LISTED] if isinstance(value, list) else [value]
            for one in listed:
                if not isinstance(one, str) or not one.strip() or self._tells(name):
                    continue
                if is_embedded(one) or (len(one) < _LONGEST_ADDRESS and _ADDRESS.fullmatch(one.strip())):
                    found.append(one.strip())
                elif not isinstance(value, list) and (_is_shown(name) or len(one.split(None, _PHRASE)) >= _PHRASE):
                    texts[name] = one[:_LONGEST]
        self._address[case] = "\n".join(found)
        only = len(texts) == 1
        self._text[case] = "\n\n".join(text if only else f"{_title(name)}: {text}" for name, text in texts.items())

    def _tells(self, name: str) -> bool:
        if name not in self._telling:
            self._telling[name] = not _is_shown(name) and any(likeness(name, role) for role in _TELLING)
        return self._telling[name]

    def table(self) -> CaseTable | None:
        """Return everything that was collected; None if there is neither text nor address."""
        texts, addresses = tuple(self._text.values()), tuple(self._address.values())
        if not any(texts) and not any(addresses):
            return None
        return CaseTable(
            tuple(self._text),
            text=texts if any(texts) else None,
            address=addresses if any(addresses) else None,
        )


def _is_shown(name: str) -> bool:
    return not name or _TEXTS.fullmatch(name.rpartition(".")[2].casefold()) is not None


def _title(name: str) -> str:
    return name.rpartition(".")[2].replace("_", " ")
