"""Words that readers know: none of those that were replaced comes back on a screen or in the documents."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPLACED = {
    r"let go of": "discard",
    r"take(n|s)? (it )?away\b": "export",
    r"raters to talk to": "raters flagged",
    r"\bwork it out\b": "compute",
    r"found out by itself": "detect automatically",
    r"(connect|ask|start|reconnect)s? (again )?by (itself|themselves)": "automatically",
    r"passed over": "skipped",
    r"what these data do not allow": "not available for these data",
    r"which annotations count\?": "filter annotations",
    r"raters two by two": "pairwise agreement",
    r"how the chains went\"": "chain diagnostics",
    r"\"first answer\"": "posterior mode (quick)",
    r"(drawn|shrunk) towards the pool": "shrunk towards the mean of all raters",
    r"this is a mistake in plurality": "this is a bug in Plurality",
    r"\b(no doubt|doubts? (about|on)|its doubts)\b": "uncertainty",
    r"assumes: nothing": "left out",
    r"of known class": "gold",
    r"only some cases": "filter cases",
    r"\"somebody else\"": "switch reviewer",
    r"or go on as": "continue as",
    r"session is through": "session complete",
    r"\"show everything": "clear filters",
    r"take the files for": "read files as",
    r"read it as something else": "change format",
    r"\"how precise\"": "precision and sample size",
    r"to do it again\"": "reproduce this result",
    r"stopped on request": "cancelled",
    r"\bsupposes\b": "assumes",
    r"\bsure(st|r)\b (first|than the data|than they are)": "more certain",
    r"fields are set apart": "delimiter",
    r"\boftener\b": "more often",
}
FOLDERS = {"pages": "*.py", "core": "*.py", "docs": "*.md", "core/report": "*.html"}


@pytest.fixture(scope="module")
def texts():
    """All that is read on a screen or in a document, and the code around it, by file."""
    files = [ROOT / "README.md", ROOT / "app.py"]
    files += [file for folder, kind in FOLDERS.items() for file in (ROOT / folder).rglob(kind)]
    return {file.relative_to(ROOT): file.read_text(encoding="utf-8") for file in files}


def test_replaced_words_do_not_come_back(texts):
    """Line breaks and the quotes between two parts of a sentence are no way around."""
    parts = "|".join(f"(?:{pattern})" for pattern in REPLACED)
    found = re.compile(parts, re.IGNORECASE)
    joined = re.compile(r"\"?\s*\n\s*f?\"?")
    left = [f"{file}: {hit.group()!r}" for file, text in texts.items() for hit in found.finditer(joined.sub(" ", text))]
    assert len(texts) > 300 and not left, left


@pytest.mark.parametrize("said", ["raters will be passed over", "Take away", '"How precise"', "no doubt about γ"])
def test_the_search_finds_them(said):
    assert any(re.search(pattern, said, re.IGNORECASE) for pattern in REPLACED)


def test_no_number_on_a_recorded_screen_begins_with_its_point():
    """Except the formats of figures, ``%{y:,.4f}``."""
    bare = re.compile(r"(?<![\w.\\:%,])\.\d.{0,20}")
    screens = [*(ROOT / "tests/golden/screens").rglob("*.txt")]
    left = [f"{file.name}: {hit}" for file in screens for hit in bare.findall(file.read_text(encoding="utf-8"))]
    assert len(screens) > 50 and not left, left[:20]
    assert bare.search("α = .81") and bare.search("(-.2 to 1)") and not bare.search("α = 0\\.81, v1.2")
