"""Sets of labels as text: all labels in one cell, separated by a sign."""

from collections.abc import Mapping

from .dataset import LABEL_SIGNS


def codes_of_text(text: str, place: Mapping[str, int]) -> list[int] | None:
    """Return the codes of the labels in a cell, in order; an empty list for an empty cell, None if a label is unknown.

    Parameters
    ----------
    text : str
        One label, or several separated by one of `LABEL_SIGNS`.
    place : mapping of str to int
        Code of each label.
    """
    if not text.strip():
        return []
    for sign in (None, *LABEL_SIGNS):
        pieces = [text.strip()] if sign is None else [piece.strip() for piece in text.split(sign) if piece.strip()]
        if all(piece in place for piece in pieces):
            return [place[piece] for piece in pieces]
    return None


def unknown_label(text: str, place: Mapping[str, int]) -> str:
    """Return the first part of a cell that is not a label; the whole cell if no such part is found."""
    pieces = (piece.strip() for piece in text.replace(LABEL_SIGNS[0], "\n").split("\n"))
    return next((piece for piece in pieces if piece and piece not in place), text.strip())


def by_label(text: str | None, label: str) -> str | None:
    """Return the class of a set for one label: the label, or "not" it; None if the cell is empty.

    Parameters
    ----------
    text : str or None
        Cell with all labels of a case.
    label : str
    """
    if text is None or not text.strip():
        return None
    pieces = {text.strip(), *(piece.strip() for sign in LABEL_SIGNS for piece in text.split(sign))}
    return label if label in pieces else f"not {label}"
