"""The documentation inside the app: help leads to a page that is there, and the page shows its text."""

import re

import pytest

from core.glossary import GLOSSARY
from core.methods import every_method
from pages.shared.kit import documentation, widgets
from tests.pages.opened import at, settle

TERMS = [*GLOSSARY, *(method for method in every_method() if method.family in ("coefficient", "rater model"))]


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term if isinstance(term, str) else term.name)
def test_help_links_to_a_page_that_says_more_than_the_glossary(term):
    (name,) = re.findall(r"\[Learn more\]\(documentation\?page=(\S+)\)$", widgets.explained(term))
    assert name in documentation.titles() and name != "reference/glossary"
    assert isinstance(term, str) or term.title in documentation.text(name)


def test_every_link_of_a_page_opens_a_page_or_is_plain_text():
    names = documentation.titles()
    assert all(documentation.text(name).startswith(f"# {title}\n") for name, title in names.items())
    assert len(names) >= 60 and not any(name.startswith(("python/", "project/")) for name in names)
    for name in names:
        for target in re.findall(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)", documentation.text(name)):
            found = re.match(r"documentation\?page=([\w/-]+)(#|$)", target)
            assert "://" in target or (found and found[1] in names), (name, target)


@pytest.mark.parametrize("name", ["explanation/reliability", "app/cases", "../../pyproject"])
def test_the_page_of_the_address_is_shown_and_no_other_file(name):
    app = settle(at("documentation", page=name).run())
    shown = "\n".join(one.value for one in app.main.markdown)
    known = name if name in documentation.titles() else documentation.START
    title, _, words = documentation.text(known).partition("\n")
    assert f"# {app.title[0].value}" == title and re.split(r"^!\[", words, flags=re.M)[0].strip() in shown
