"""Letters that are fainter than others can still be read."""

import re

import pytest

from core.figures.theme import DARK, LIGHT
from pages.shared.kit import style

READABLE = 4.5  # WCAG 2.2, 1.4.3, of text in its common size


def luminance(colour: list[float]) -> float:
    """Of 0 to 255."""
    share = [value / 255 for value in colour]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in share]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def rgb(text: str) -> list[float]:
    return [float(int(text[place : place + 2], 16)) for place in (1, 3, 5)]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_faint_letters_have_contrast(theme):
    """A single sign, such as the one between the places of a ranking, is passed over by what checks whole pages."""
    ink, paper = rgb(theme.ink), rgb(theme.paper)
    shares = {float(share) for share in re.findall(r"opacity: (0?\.\d+)", style._STYLE)}
    assert shares
    for share in shares:
        faint = [share * one + (1 - share) * other for one, other in zip(ink, paper, strict=True)]
        low, high = sorted((luminance(faint), luminance(paper)))
        assert (high + 0.05) / (low + 0.05) >= READABLE, share
