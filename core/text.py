"""The only place that makes text from a user's file safe to show: markdown, plotly, HTML, spreadsheets."""

import html
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

# Streamlit replaces typographic pairs, emoji and icon codes and bare addresses after backslash escapes are gone,
# so those can only be broken by an invisible character between their parts.
_JOINER = "\u2060"
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:^=\"'&])")
_BREAK_AFTER = re.compile(r"(:(?=[\w+\-/])|(?<=www)(?=\.)|@(?=\w)|(?<=[-<>~])(?=[-<>=]))")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")
_CONTROL_BUT_BREAKS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u2028\u2029]+")
_IN_FULL = 1e15  # beyond it a power of ten is shorter than its digits, and not every whole number is one of doubles
_NEARLY_NONE = 1e-12  # smallest probability shown
ROUNDING = 1e-12  # differences of shares below it depend on the processor
UNKNOWN = "–"
_SPREADSHEET_LEADERS = frozenset("=+-@")
_UNSEEN = ("Cc", "Cf", "Mn", "Zs", "Zl", "Zp")  # categories of letters that are invisible at the start of a cell
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")  # letters without ink
LONGEST_SHOWN = 500
_LONG_WORD = re.compile(rf"\S{{{LONGEST_SHOWN + 1},}}")


def markdown(text: object) -> str:
    """Return text that markdown shows letter for letter: no links, images, emphasis, colours, icons or maths.

    A word of more than `LONGEST_SHOWN` characters is cut, with its length, because it would take all room on the page.
    """
    line = _LONG_WORD.sub(lambda hit: cut(hit.group()), _CONTROL.sub(" ", str(text)).strip())
    return _MARKDOWN_SPECIAL.sub(r"\\\1", _BREAK_AFTER.sub(lambda hit: hit.group() + _JOINER, line))


def plotly(text: object) -> str:
    """Return text that plotly shows letter for letter in names, titles, ticks and hover (it reads a subset of HTML).

    Long text is cut, see `cut`.
    """
    return html.escape(_CONTROL.sub(" ", cut(text)), quote=False).replace("%{", "%&#123;")


def cut(text: object) -> str:
    """Return a text, or its first `LONGEST_SHOWN` characters and how many it has: "Aaa… (10,000 characters)"."""
    said = str(text)
    return said if len(said) <= LONGEST_SHOWN else f"{said[:LONGEST_SHOWN]}… ({len(said):,} characters)"


def html_text(text: object) -> str:
    """Return text for the inside of an HTML element or a quoted attribute."""
    return html.escape(_CONTROL.sub(" ", str(text)), quote=True)


def without_controls(text: object) -> str:
    """Return text without control characters, except tabs and line breaks, for a template that escapes it."""
    return _CONTROL_BUT_BREAKS.sub(" ", str(text))


def html_lines(text: object) -> str:
    """Return text as `html_text` does, with its line breaks and tabs, for an element that keeps them."""
    lines = re.split(r"\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]", str(text))
    return "\n".join("\t".join(html_text(part) for part in line.split("\t")) for line in lines)


def spreadsheet(value: object) -> object:
    """Return a cell that no spreadsheet program takes for a formula, also after invisible letters; keep numbers."""
    if not isinstance(value, str):
        return value
    seen = (one for one in value if unicodedata.category(one) not in _UNSEEN and one not in _FILLERS)
    first = unicodedata.normalize("NFKC", next(seen, ""))[:1]  # programs in East Asia read signs of other widths, too
    return f"'{value}" if first in _SPREADSHEET_LEADERS or value[:1] in ("\t", "\r", "\n") else value


def shorten(text: object, length: int = 40) -> str:
    """Return the text, or its start with an ellipsis if it is longer than ``length`` characters."""
    text = str(text)
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def as_name(text: object) -> str:
    """Return a name in a sentence: in quotation marks if it would read as a quantity, such as a grade called 2."""
    said = str(text)
    return f"“{said}”" if re.fullmatch(r"[-+−]?[\d.,]+%?", said.strip()) else said


def utc(seconds: float) -> datetime:
    """Return a time from seconds since 1970-01-01 UTC; negative ones may fail in `datetime.fromtimestamp`."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def day_words(day: date) -> str:
    """Return a day as people write it: ``1 Dec 2026``."""
    return f"{day.day} {day:%b %Y}"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """Return a count with its noun: ``1 case``, ``2,000 cases``.

    Parameters
    ----------
    count : int
    noun : str
        Noun for one.
    nouns : str, optional
        Noun for any other number; ``noun`` with an s if omitted.
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def was_or_were(count: int) -> str:
    """Return ``was`` for one, and ``were`` for any other number."""
    return "was" if count == 1 else "were"


def first_twice(names: Sequence[str]) -> str | None:
    """Return the first name that is repeated; None if all differ.

    Parameters
    ----------
    names : sequence of str
    """
    times = Counter(names)
    return next((name for name in names if times[name] > 1), None)


def listed(names: Sequence[str]) -> str:
    """Join names as ``a``, ``a and b``, ``a, b and c``; empty for no names.

    Parameters
    ----------
    names : sequence of str
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number for people: ``0.84``, ``1,234.50``, ``−0.21`` (a line may break after a hyphen).

    Parameters
    ----------
    value : float, optional
    digits : int
        Number of decimals.
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{value:z,.{digits}f}".replace("-", "−")


def percent(share: float | None, digits: int = 0, rounded: bool = False) -> str:
    """Return a share in per cent: ``84%``; ``over 99%`` and ``under 1%`` if rounding would give all or none.

    There is no space, as in the axes of figures and the cells of tables.

    Parameters
    ----------
    share : float, optional
    digits : int
        Number of decimals.
    rounded : bool
        True for a plain number, for a width or a position on the screen.
    """
    if share is None or not math.isfinite(share):
        return UNKNOWN
    # halves up on every processor and as in tables: 0.385 is 39%
    said, least = f"{round(share + ROUNDING, digits + 2):.{digits}%}", 10.0 ** -(digits + 2)
    if rounded or not 0 < share < 1:
        return said
    none, every = f"{0:.{digits}%}", f"{1:.{digits}%}"
    return f"under {least:.{digits}%}" if said == none else f"over {1 - least:.{digits}%}" if said == every else said


def percent_with_interval(share: float | None, low: float | None, high: float | None, digits: int = 0) -> str:
    """Return ``84% (81% to 87%)``; only the share if its interval is undetermined, or if all three read alike.

    Parameters
    ----------
    share : float, optional
        Share, 0 to 1, like the ends.
    low, high : float, optional
    digits : int
        Number of decimals.
    """
    said = percent(share, digits)
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return said
    ends = percent_range(low, high, digits)
    return said if ends == said else f"{said} ({ends})"


def percent_range(low: float, high: float, digits: int = 0) -> str:
    """Return ``81% to 87%``; only one end if both read alike, such as under 1%.

    Parameters
    ----------
    low, high : float
        Ends, 0 to 1.
    digits : int
        Number of decimals.
    """
    first, last = percent(low, digits), percent(high, digits)
    return first if first == last else f"{first} to {last}"


def probability(value: float | None, digits: int = 0) -> str:
    """Return an estimated probability in per cent, ``84%``: never 0% or 100%, which no data and no draws can show.

    Parameters
    ----------
    value : float, optional
        Probability, 0 to 1.
    digits : int
        Number of decimals.
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return percent(min(max(value, _NEARLY_NONE), 1 - _NEARLY_NONE), digits)


def simulated(value: float, error: float) -> str:
    """Return a probability from draws with its simulation error, ``84% ± 0.4%``; without it if nothing was drawn.

    Parameters
    ----------
    value : float
        Probability, 0 to 1.
    error : float
        Monte Carlo standard error; 0 for closed forms.
    """
    return f"{probability(value)} ± {percent(error, 1)}" if error else probability(value)


def duration(seconds: float) -> str:
    """Return a time in seconds, or in minutes if it is long: ``45 s``, ``12 min``."""
    return f"{number(seconds, 0)} s" if seconds < 100 else f"{number(seconds / 60, 0)} min"


def exact(value: float | None) -> str:
    """Return a chosen or given value in full: ``3``, ``0.5``, ``1,000,000``; other than integers in six digits."""
    if value is None:
        return UNKNOWN
    whole = float(value).is_integer() and abs(value) < _IN_FULL
    return f"{value:,.0f}" if whole else f"{value:g}"


def significant(value: float, digits: int = 3) -> str:
    """Return the significant digits of a value of any size: ``0.0312``, ``4.57``, ``12,300``.

    Parameters
    ----------
    value : float
    digits : int
        Number of significant digits; integers are rounded to them and have separators.
    """
    said = f"{value:.{digits}g}"
    if 10**digits <= abs(float(said)) < _IN_FULL:
        return f"{float(said):,.0f}"
    return said


def typed(value: float) -> str:
    """Return a value as one types it, ``0.5``: in commands, addresses, keys and names of columns and classes."""
    return f"{value:g}"


def small(error: float) -> str:
    """Return a standard error for people: ``0.02``, or ``<0.01``."""
    return "<0.01" if error < 0.005 else number(error)


def with_interval(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    """Return ``0.84 (0.81 to 0.87)``; in words if the value or its interval is undetermined, or has no width.

    Parameters
    ----------
    value : float, optional
        Value; None if it is undefined.
    low, high : float, optional
        Ends of the interval; None if it is undetermined.
    digits : int
    """
    if value is None:
        return "undefined"
    said = number(value, digits)
    return (
        f"{said} (no interval)"
        if low is None or low == high
        else f"{said} ({number(low, digits)} to {number(high, digits)})"
    )
