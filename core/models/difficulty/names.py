"""The eighteen models of Han, Adıgüzel & Carpenter, by tag and by what is switched on (their tables 1 and 2).

A letter of the tag takes something away: A guessing (λ = 0), B discrimination (δ = 1), C difficulty (β = 0), D the bias
of raters (α^spec = α^sens), E the differences between raters. The other thirteen combinations reduce to one of these.
"""

from dataclasses import dataclass

from ...errors import InputError

TAGS = (
    *("ABCDE", "ABCD", "ABCE", "ABDE", "ABC", "ABD", "ACD", "BCD"),
    *("AB", "AC", "AD", "BC", "BD", "CD", "A", "C", "D", "Full"),
)


@dataclass(frozen=True, slots=True)
class Switches:
    """Effects of a model.

    Attributes
    ----------
    bias : bool
        A sensitivity and a specificity, not one accuracy for both classes.
    ability : bool
        Raters differ.
    difficulty, discrimination, guessing : bool
        The effects of cases: β, δ and λ.
    """

    bias: bool
    ability: bool
    difficulty: bool
    discrimination: bool
    guessing: bool


def canonical(tag: str) -> str:
    """Return the tag as it is printed, from any mixture of capitals.

    Raises
    ------
    InputError
        There is no such model among the eighteen.
    """
    for known in TAGS:
        if tag.casefold() == known.casefold():
            return known
    raise InputError(f"Unknown difficulty model {tag!r}.", f"Use one of {', '.join(TAGS)}.")


def switches(tag: str) -> Switches:
    """Return the effects of the model with this tag.

    Raises
    ------
    InputError
        There is no such model among the eighteen.
    """
    letters = canonical(tag).replace("Full", "")
    return Switches(*(letter not in letters for letter in "DECBA"))


def tag_of(on: Switches) -> str:
    """Return the tag of these effects.

    Raises
    ------
    InputError
        The combination is not identified: it reduces to one of the eighteen, which the message names.
    """
    off = (("A", on.guessing), ("B", on.discrimination), ("C", on.difficulty), ("D", on.bias), ("E", on.ability))
    tag = "".join(letter for letter, present in off if not present) or "Full"
    if tag not in TAGS:
        raise InputError(
            f"Could not use {tag}: not all parameters of this combination can be identified.",
            f"Use one of {', '.join(TAGS)}.",
        )
    return tag
