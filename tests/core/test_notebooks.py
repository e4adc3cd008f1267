"""The example notebooks run from top to bottom, and their results show as tables."""

import ast
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pages" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def run(source, scope):
    """The value of a cell: of its last line if that is an expression, as notebooks show it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), scope)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), scope)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_shows_tables(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(".")  # so that what a notebook puts before it goes with it
    notebook, scope, shown = json.loads(path.read_text(encoding="utf-8")), {"__name__": "__main__"}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            value = run("".join(cell["source"]), scope)
            if hasattr(value, "_repr_html_"):
                shown.append(value._repr_html_())
    assert sum("<table" in html for html in shown) >= 1
    assert len(shown) >= 2


def test_every_notebook_is_listed_and_has_no_stored_output():
    listed = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert f"({path.name})" in listed
        assert not any(cell.get("outputs") for cell in cells)
