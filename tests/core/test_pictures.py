"""Pictures of README and documentation: each in light and dark, with words that the golden screens still have."""

import json
import re
from pathlib import Path

import pytest

from docs.take_tour import known_words
from tests.golden.screens import file_of, words_of

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pages" / "img"
TEXTS = json.loads((FOLDER / "texts.json").read_text(encoding="utf-8"))


def lacking(texts, words):
    return [text for text in texts if text not in words]


@pytest.mark.parametrize("name", TEXTS)
def test_words_in_a_picture_are_on_the_golden_screen(name):
    """If not, take the pictures again: python docs/take_tour.py."""
    assert TEXTS[name] and lacking(TEXTS[name], known_words(name)) == []


def test_a_screen_with_another_word_is_noticed():
    words = words_of(file_of("skin", "raters"))
    first = TEXTS["raters"][0]
    assert lacking(TEXTS["raters"], words.replace(first, first.replace("raters", "readers"))) == [first]


def test_every_picture_is_there_in_light_and_dark_and_is_noted():
    files = {path.stem for path in FOLDER.glob("*.png")}
    assert files == {f"{name}{ending}" for name in TEXTS for ending in ("", "_dark")}


def test_every_picture_of_the_readme_is_one_of_these():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"docs/pages/img/(\w+)\.png", text)
    assert shown and set(shown) <= set(TEXTS) | {f"{name}_dark" for name in TEXTS}
