"""The pages of the reference: their examples run, and the modules whose docstrings they show are there."""

import ast
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import core
from core import settings
from docs import make_reference

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTATION = ROOT / "docs" / "pages"
PAGES = sorted((DOCUMENTATION / "python").glob("*.md"))


def run(page, capsys):
    """What the examples of a page have defined."""
    blocks = re.findall(r"^```python exec=.*?\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    scope = {"__name__": "example"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), scope)
        assert capsys.readouterr().out.strip(), block
    return scope


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "training"], ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print(page, capsys):
    run(page, capsys)


def test_majority_labels_train_worst_then_sampled_ones_then_weights_and_soft_labels(capsys):
    """The order of figure 2 of "Crowdsourcing with Difficulty", each by three standard errors of paired trials."""
    errors = run(DOCUMENTATION / "python" / "training.md", capsys)["errors"]
    for better, worse in (("soft", "sampled"), ("weighted", "sampled"), ("sampled", "majority")):
        gap = np.subtract(errors[worse], errors[better])
        assert gap.mean() > 3 * gap.std(ddof=1) / np.sqrt(gap.size), (better, worse)


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


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r"^ +- (?:\w+: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(page.relative_to(DOCUMENTATION).as_posix() for page in DOCUMENTATION.rglob("*.md"))


def test_pages_that_repeat_what_the_program_says_are_written_anew():
    """By docs/make_reference.py: commands, formats, glossary and methods."""
    stale = [name for name, text in make_reference.pages().items() if (DOCUMENTATION / name).read_text("utf-8") != text]
    assert stale == []


@pytest.mark.parametrize(
    "document", [ROOT / "README.md", *sorted(DOCUMENTATION.rglob("*.md"))], ids=lambda path: path.name
)
def test_every_file_that_a_page_links_to_is_there(document):
    text = document.read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in target]
    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_every_frequent_question_has_a_short_answer_with_a_link():
    page = (DOCUMENTATION / "faq.md").read_text(encoding="utf-8")
    answered = re.findall(r"^### (.+?\?.*?)\n\n(.*?)(?=\n\n|\n?\Z)", page, re.M | re.S)
    assert len(answered) == page.count("\n### ") >= 20
    for question, answer in answered:
        words = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(answer.split()))
        assert "](" in answer and len(re.findall(r"[.](?= |$)", words)) <= 3, question


def test_every_setting_is_on_the_page_of_settings():
    page = (DOCUMENTATION / "reference" / "settings.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `(\w+)`", page, re.M))
    assert {f"PLURALITY_{name}" for name in settings._OWN} == told - {"NUMBA_CACHE_DIR"}


def public_functions(path):
    """Public functions of a module and public methods of its public classes: name, node, arguments before the first."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node, 0
        elif isinstance(node, ast.ClassDef) and node.name[0] != "_":
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    is_static = any(getattr(one, "id", "") == "staticmethod" for one in method.decorator_list)
                    yield f"{node.name}.{method.name}", method, int(not is_static)


def arguments(node):
    """Names of the arguments of a function, in their order."""
    of = node.args
    every = [*of.posonlyargs, *of.args, *filter(None, (of.vararg,)), *of.kwonlyargs, *filter(None, (of.kwarg,))]
    return [argument.arg for argument in every]


def said(node):
    """Names in the Parameters section of a function's docstring; None where it has none."""
    _, found, section = (ast.get_docstring(node) or "").partition("Parameters\n----------\n")
    if not found:
        return None
    section = re.split(r"\n\n(?=\w+\n---)", section)[0]
    heads = [line.partition(" : ")[0] for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def undocumented(path):
    """Of public functions with three arguments or more, how many there are, and those without a Parameters section.

    Also those of any number whose section leaves an argument out or names one that is none.
    """
    found, lacking = 0, []
    for name, node, bound in public_functions(path):
        if node.name.startswith("_"):
            continue
        takes, names = arguments(node)[bound:], said(node)
        found += len(takes) >= 3
        if (names is None and len(takes) >= 3) or (names is not None and sorted(names) != sorted(takes)):
            lacking.append(name)
    return found, lacking


ENGINE = Path(core.__file__).parent
MODULES = {
    path.relative_to(ENGINE).with_suffix("").as_posix().replace("/", "."): path
    for path in sorted(ENGINE.rglob("*.py"))
    if not any(part.startswith("_") for part in path.relative_to(ENGINE).with_suffix("").parts)
    and "migrations" not in path.parts
}


OF_A_PART = re.compile(
    r"(compute|present|table_of)(_\w+)?"
)  # whose parameters `core.analyses.base.AnalysisPart` describes


def test_public_functions_of_three_arguments_or_more_say_all_their_parameters():
    lacking = {
        name: missing
        for name, path in MODULES.items()
        if (
            missing := {
                one for one in undocumented(path)[1] if not (name.startswith("analyses.") and OF_A_PART.fullmatch(one))
            }
        )
    }
    assert sum(undocumented(path)[0] for path in MODULES.values()) > 300
    assert lacking == {}


def test_the_rule_would_find_a_function_without_the_section(tmp_path):
    text = 'def f(a, b, *, c=1):\n    """F."""\n\nclass A:\n    def g(self, a, b):\n        """G."""\n'
    text += '    def h(self, *a, b, **c):\n        """H."""\n'
    (tmp_path / "one.py").write_text(text)
    assert undocumented(tmp_path / "one.py") == (2, ["f", "A.h"])
    section = "F.\n\n    Parameters\n    ----------\n    a, b : int\n        Of F.\n    c : int\n    "
    (tmp_path / "one.py").write_text(text.replace("F.", section))
    assert undocumented(tmp_path / "one.py") == (2, ["A.h"])
    for wrong in ("a : int", "a, b, c, d : int"):
        (tmp_path / "one.py").write_text(text.replace("F.", section.replace("a, b : int", wrong)))
        assert undocumented(tmp_path / "one.py") == (2, ["f", "A.h"])
