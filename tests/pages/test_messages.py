"""Text of files, people and addresses is shown letter for letter in every message: `core.text.markdown` is around it.

Toasts, warnings, errors and the like read markdown. What a page puts into one is text of its own, numbers, or text that
went through the one function that escapes it.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import read
from core.library import keep
from tests.pages.opened import APP, settle
from tests.pages.test_access import PAGES

MESSAGES = {"toast", "error", "warning", "info", "success", "exception"}
SPOKEN = MESSAGES | {"caption", "markdown", "write", "title", "header", "subheader", "metric"}
# Functions of core.text and of numbers whose words are safe, whatever they are given.
SAFE = {"markdown", "plural", "number", "percent", "exact", "with_interval", "percent_with_interval", "probability"}
SAFE |= {"small", "typed", "significant", "len", "int", "html_text"}
SAFE |= {"name_of", "_listed", "says"}  # of pages: each escapes the names that it is given
# Words that are escaped where they are made.
MADE_SAFE = {("pages/upload.py", "lacking"), ("pages/shared/kit/blocks.py", "text")}
FILES = [Path(APP), *sorted((Path(APP).parent / "pages").rglob("*.py"))]
LINK = "[Sign in](https://evil.example)"


class Reader:
    """Finds in a script what goes into messages.

    Parameters
    ----------
    text : str
        Of the script.
    """

    def __init__(self, text):
        self.found = []
        self._visit(ast.parse(text), self._assigned(ast.parse(text).body, {}))

    def _visit(self, node, known):
        for child in ast.iter_child_nodes(node):
            inner = known
            if isinstance(child, ast.FunctionDef):
                inner = self._assigned(list(ast.walk(child)), known)
            if isinstance(child, ast.Call) and getattr(child.func, "attr", "") in SPOKEN and child.args:
                self.found.append((child.func.attr, child.args[0], inner))
            self._visit(child, inner)

    @staticmethod
    def _assigned(nodes, known):
        """What is assigned to each name."""
        found = defaultdict(list, {name: list(values) for name, values in known.items()})
        for node in nodes:
            if isinstance(node, ast.Assign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    pairs = [(target, node.value)]
                    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                        pairs = list(zip(target.elts, node.value.elts, strict=False))
                    for name, value in pairs:
                        if isinstance(name, ast.Name):
                            found[name.id].append(value)
        return found


def is_safe(node, known, depth=0):
    """Whether words are a page's own, numbers, or escaped; what is not known is not."""

    def safe(one):
        return depth < 12 and is_safe(one, known, depth + 1)

    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=parts) | ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(map(safe, parts))
        case ast.FormattedValue(value=value, format_spec=how):
            return how is not None or safe(value)
        case ast.IfExp(body=body, orelse=other) | ast.BinOp(left=body, right=other):
            return safe(body) and safe(other)
        case ast.GeneratorExp(elt=one) | ast.ListComp(elt=one):
            return safe(one)
        case ast.Call(args=args):
            name = _name_of(node)
            if name == "join":
                return all(map(safe, args))
            return name in SAFE
        case ast.Name(id=name):
            rest = {other: values for other, values in known.items() if other != name}
            return bool(known.get(name)) and all(is_safe(one, rest, depth + 1) for one in known[name])
        case ast.Attribute(attr=name):
            of_program = name.isupper() or name == "__name__" or name.startswith("n_")
            return of_program or (name == "title" and _is_of_method(node.value))
        case _:
            return False


def _name_of(call):
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _is_of_method(node):
    """Titles of methods and flags are words of the program."""
    return ast.unparse(node).split(".")[-1] in ("verdict", "flag", "method")


def is_of_the_session(node, known, depth=0):
    """Whether words hold what an address or somebody typed said, and nothing escapes it."""
    if depth > 6 or (isinstance(node, ast.Call) and _name_of(node) in SAFE):
        return False
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        return False
    if re.fullmatch(r"visit\.\w+(\[.*\]|\.get\(.*\))?|st\.query_params(\[.*\]|\.get\(.*\))", ast.unparse(node)):
        return True
    if isinstance(node, ast.Name):
        return any(is_of_the_session(one, {**known, node.id: []}, depth + 1) for one in known.get(node.id, []))
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return is_of_the_session(node.elt, known, depth)
    if isinstance(node, ast.IfExp):
        return any(is_of_the_session(one, known, depth) for one in (node.body, node.orelse))
    return any(is_of_the_session(one, known, depth) for one in ast.iter_child_nodes(node))


def around(text, messages, is_wrong):
    """The messages of a script that go around the function that escapes."""
    return [
        f"{kind}: {ast.unparse(said)}"
        for kind, said, known in Reader(text).found
        if kind in messages and is_wrong(said, known)
    ]


def test_every_word_in_a_toast_or_an_alert_is_the_page_s_own_or_escaped():
    wrong = {}
    for path in FILES:
        name = path.relative_to(Path(APP).parent).as_posix()
        found = around(path.read_text(encoding="utf-8"), MESSAGES, lambda said, known: not is_safe(said, known))
        wrong[name] = [one for one in found if (name, one.partition(": ")[2]) not in MADE_SAFE]
    assert {name: found for name, found in wrong.items() if found} == {}


def test_nothing_of_an_address_or_typed_reaches_any_text_of_a_page_unescaped():
    wrong = {path.name: around(path.read_text(encoding="utf-8"), SPOKEN, is_of_the_session) for path in FILES}
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("script", "n"),
    [
        ('st.toast(f"no {shorten(chosen, 40)}")', 1),
        ('st.toast(f"no {markdown(shorten(chosen, 40))}")', 0),
        ("st.error(str(error))", 1),
        ("st.error(markdown(error))", 0),
        ('left.warning("a" + words)', 1),
        ('left.warning(f"{n:,} cases")', 0),
        ('def f(x):\n    words = x\n    words = "a"\n    st.info(words)', 1),
        ('def f(x):\n    words = f"a {markdown(x)}"\n    st.info(words if x else "b")', 0),
        ('st.success(f"{dataset.name} is open.")', 1),
        ('st.info("\\n".join(lines))', 1),
        ('st.info("\\n".join(f"- {markdown(one)}" for one in lines))', 0),
    ],
)
def test_the_check_finds_what_goes_around(script, n):
    assert len(around(script, MESSAGES, lambda said, known: not is_safe(said, known))) == n


@pytest.mark.parametrize(
    ("script", "n"),
    [
        ('st.caption(f"case {visit.case}")', 1),
        ('st.caption(f"case {markdown(visit.text[key])}, {visit.text[key]}")', 1),
        ('st.caption(f"case {markdown(visit.case)}")', 0),
        ('def f():\n    case = visit.case\n    st.title(f"a {shorten(case)}")', 1),
        ('def f():\n    case = st.query_params.get("case")\n    st.title(f"a {markdown(case)}")', 0),
    ],
)
def test_the_check_finds_what_an_address_said(script, n):
    assert len(around(script, SPOKEN, is_of_the_session)) == n


@pytest.fixture(params=["class", "score"])
def address(request):
    rows = {"class": "xy", "score": ["1.5", "2.5"]}[request.param]
    table = "\n".join(f"c{case},r{rater},{rows[(case + rater) % 2]}" for case in range(6) for rater in range(2))
    dataset = read(f"case,rater,{request.param}\n{table}".encode(), name="made").dataset
    keep(dataset)
    return dataset.digest


@pytest.mark.parametrize(
    "part", ["case", "select", "model", "reliability", "compare", "story", "presenting", "data", "rater"]
)
def test_no_part_of_an_address_becomes_a_link_on_any_page(address, part):
    """Its text may be shown; a press of it leads nowhere."""
    for page in PAGES:
        app = AppTest.from_file(APP, default_timeout=300)
        for name, value in {"data": address, part: LINK}.items():
            app.query_params[name] = value
        app = settle((app if page == "home" else app.switch_page(f"pages/{page}.py")).run())
        bodies = [getattr(getattr(node, "proto", None), "body", "") for node in app._tree]
        assert [body for body in bodies if isinstance(body, str) and "](https" in body] == [], page
