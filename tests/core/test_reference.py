"""The pages of the reference: their examples run, and the modules whose docstrings they show are there."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import core

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "pages").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print(page, capsys):
    blocks = re.findall(r"^```python exec=.*?\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    scope = {"__name__": "example"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), scope)
        assert capsys.readouterr().out.strip(), block


def test_every_module_and_class_that_a_page_shows_is_there():
    shown = [name for page in PAGES for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M)]
    assert len(shown) >= 30 and len(set(shown)) == len(shown)
    for name in shown:
        module, _, last = name.rpartition(".")
        if last[0].isupper():
            assert hasattr(import_module(module), last), name
        else:
            import_module(name)


def test_every_public_name_stands_on_a_page():
    shown = [name for page in PAGES for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M)]
    for name, module in core._WHERE.items():
        full = f"core{module}"
        assert full in shown or f"{full}.{name}" in shown, f"{name} of {full} is on no page"


def test_every_page_is_in_the_navigation():
    listed = re.findall(r"^  - .*: (\w+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == [page.name for page in PAGES]
