"""Classes that look alike: capitals, spaces, invisible characters, forms of one letter, letters of other alphabets."""

import unicodedata
from collections.abc import Sequence

# Letters of Greek and Cyrillic that look like Latin ones in most typefaces (Unicode Technical Standard 39).
_GREEK = ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορτυχικ", "ABEZHIKMNOPTYXavopruxik")
_CYRILLIC = ("АВЕЅІЈКМНОРСТУХаеоорсухѕіјһ", "ABESIJKMHOPCTYXaeoopcyxsijh")
_LATIN = str.maketrans("".join((_GREEK[0], _CYRILLIC[0])), "".join((_GREEK[1], _CYRILLIC[1])))
CAPITALS = "capitals or spaces"


def look_alikes(classes: Sequence[str]) -> list[tuple[list[int], str]]:
    """Return groups of classes that look the same to a person, with the kind of their difference.

    Parameters
    ----------
    classes : sequence of str

    Returns
    -------
    list of (codes, what)
        Codes of at least two classes, in the order of the list.
    """
    alike: dict[str, list[int]] = {}
    for code, name in enumerate(classes):
        alike.setdefault(_skeleton(name), []).append(code)
    return [(codes, _difference([classes[code] for code in codes])) for codes in alike.values() if len(codes) > 1]


def namesakes(raters: Sequence[str]) -> list[list[int]]:
    """Find groups of raters whose names differ only in capitals or spaces.

    Parameters
    ----------
    raters : sequence of str

    Returns
    -------
    list of list of int
        Codes of at least two raters, in the order of the list.
    """
    return [codes for codes, what in look_alikes(raters) if what == CAPITALS]


def _skeleton(name: str) -> str:
    """Return a name without everything that cannot be seen at a glance."""
    return _spaced(_composed(_visible(name)).translate(_LATIN)).casefold()


def _visible(name: str) -> str:
    return "".join(letter for letter in name if unicodedata.category(letter) not in ("Cf", "Cc") or letter.isspace())


def _composed(name: str) -> str:
    return unicodedata.normalize("NFKC", name)


def _spaced(name: str) -> str:
    return " ".join(name.split())


def _difference(names: list[str]) -> str:
    """Return the first kind of difference whose removal leaves one name."""
    if len({_spaced(name).casefold() for name in names}) == 1:
        return CAPITALS
    if len({_spaced(_visible(name)).casefold() for name in names}) == 1:
        return "invisible characters"
    if len({_spaced(_composed(_visible(name))).casefold() for name in names}) == 1:
        return "the encoding of the same letters"
    return "letters of another alphabet"
