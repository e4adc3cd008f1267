"""A blind screen tells nothing of its case's annotations: it is the same whatever they are, and so are its keys."""

import re
from collections import Counter

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.annotations.dataset import Dataset
from core.ingest.samples import load_sample
from core.library import keep
from core.review.sessions import Queued
from core.review.store import ReviewStore, close_stores
from core.text import markdown
from tests.pages.opened import settle
from tests.pages.test_review import press, signed

pytestmark = pytest.mark.usefixtures("known")

MANY = tuple(f"class {letter}" for letter in "abcdefghijklmnop")
CASES = tuple(f"case {number}" for number in range(12))
RATERS = tuple("pqrst")


@pytest.fixture(autouse=True)
def closed():
    """Lets go of the store of each test's own home folder."""
    yield
    close_stores()


def everything(app: AppTest) -> list[str]:
    """All that the browser is sent of a page, element by element."""

    def below(block) -> list[str]:
        own = [str(block.proto)] if getattr(block, "proto", None) is not None else []
        return own + [line for child in getattr(block, "children", {}).values() for line in below(child)]

    return below(app._tree)


def opened(dataset: Dataset, cases, reviewer: str = "Ada") -> AppTest:
    """A session of these cases, at the first of them."""
    keep(dataset)
    store = ReviewStore()
    queued = [Queued(case_id, "certainty 41%, the panel's class is class c") for case_id in cases]
    session = store.start_session(dataset.digest, reviewer, "Lowest certainty first", queued)
    store.close()
    app = signed(dataset.digest, reviewer)
    app.session_state["review_session"] = session.id
    settle(app.run())
    assert app.title[0].value == f"Case {markdown(cases[0])}"
    return app


def blind_screens(dataset: Dataset, choice: str | None) -> list[str]:
    """What is sent of the first case before and after a choice.

    Put aside is what names the dataset or the session, and how often the page has run: it runs until jobs have ended.
    Each screen is drawn once more, for a field that is filled says so in the run that fills it alone.
    """
    app = opened(dataset, CASES[:3])
    lines = everything(app.run())
    if choice is not None:
        lines += everything(press(app, choice).run())
    session = app.session_state["review_session"]
    close_stores()
    own = re.compile(f"{dataset.digest}|{session[:12]}|(?<=ID-)[0-9a-f]{{32}}|(?<=data-run=..)[0-9]+")
    return [own.sub("", line) for line in lines]


def classes_of(first: list[int], names: tuple[str, ...], **kind) -> Dataset:
    """Five raters on each case; on the first case what is given, and the same totals for whatever is given."""
    rest = np.random.default_rng(1).integers(0, len(names), (len(CASES) - 1, len(RATERS)))
    missing = list((Counter(range(len(names))) + Counter(range(len(names))) - Counter(first)).elements())
    answers = [*first, *rest.ravel().tolist(), *missing]  # of further raters of the last case
    n = len(answers)
    case = np.minimum(np.arange(n) // len(RATERS), len(CASES) - 1)
    rater = np.concatenate([np.arange(len(CASES) * len(RATERS)) % len(RATERS), np.arange(len(missing)) + len(RATERS)])
    raters = (*RATERS, *(f"further {number:02d}" for number in range(2 * len(names))))
    if "of" not in kind:
        return Dataset.from_classes("d", CASES, raters, names, case, rater, answers, **kind)
    entries = (names, case, rater, np.arange(n + 1), answers)
    made = Dataset.from_sets if kind["of"] == "set" else Dataset.from_rankings
    return made("d", CASES, raters, *entries, *([] if kind["of"] == "set" else [np.zeros(n)]))


def scores_of(first: list[float]) -> Dataset:
    """Scores from 0 to 10 on all cases, on the first what is given."""
    rest = np.random.default_rng(1).integers(0, 11, (len(CASES) - 1) * len(RATERS)).astype(float)
    rest[:2] = 0, 10
    n = len(CASES) * len(RATERS)
    case, rater = np.arange(n) // len(RATERS), np.arange(n) % len(RATERS)
    return Dataset.from_scores("d", CASES, RATERS, case, rater, np.append(first, rest))


def named(codes: list[int], names: tuple[str, ...], **kind) -> Dataset:
    return classes_of([code % len(names) for code in codes], names, **kind)


ON_FIRST = ([0, 0, 0, 0, 0], [15, 15, 14, 14, 13], [2, 4, 6, 8, 9])
KINDS = {
    "few classes": lambda codes: named(codes, ("x", "y", "z")),
    "ordered classes": lambda codes: named(codes, ("grade 0", "grade 1", "grade 2"), ordinal=True),
    "many classes": lambda codes: named(codes, MANY),
    "many ranked classes": lambda codes: named(codes, MANY, of="ranking"),
    "labels": lambda codes: named(codes, MANY, of="set"),
    "scores": lambda codes: scores_of([float(code % 10) for code in codes]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_blind_screen_of_a_case_does_not_depend_on_its_annotations(kind):
    """Every element, key and option is the same, before and after a choice; nor is the reason of the queue sent."""
    choice = {"scores": None, "few classes": "y", "ordered classes": "grade 1"}.get(kind, "class c")
    first, *others = (blind_screens(KINDS[kind](codes), choice) for codes in ON_FIRST)
    assert not any("The panel's class is **" in line or "certainty 41%" in line for line in first)
    for other in others:
        assert [line for line in other if line not in first] == []
        assert other == first


def keys_on(app: AppTest) -> list[tuple[str, str]]:
    """The buttons of classes with the key of each, in their order."""
    buttons = [button for button in app.button if button.key and button.key.startswith("class-")]
    return [(button.label.partition(" · ")[0], button.proto.shortcut) for button in buttons]


def test_a_key_means_the_same_class_on_every_case_and_after_the_reveal():
    """Of sixty classes; once the panel is shown, what it named is offered, with a key of its own or none."""
    dataset = load_sample("skin")
    cases = dataset.cases[::50]
    app = opened(dataset, cases)
    keys = keys_on(app)
    assert [name for name, _ in keys] == list(dataset.classes[:10])
    assert [key for _, key in keys] == list("1234567890")
    for case_id in cases[1:]:
        press(app, "Next")
        assert app.title[0].value == f"Case {markdown(case_id)}" and keys_on(app) == keys
    for step in (keys[2][0], "Record my opinion"):
        press(app, step)
    if not keys_on(app):
        press(app, "Change it")
    offered = keys_on(app)
    assert offered[0] == keys[2] and {name for name, _ in offered} - {name for name, _ in keys}
    assert [key for _, key in offered] == [dict(keys).get(name, "") for name, _ in offered]


def test_a_session_of_one_case_offers_what_any_other_session_does():
    """A class that the one case alone brings forward would tell of it."""
    dataset = named(ON_FIRST[1], MANY)
    assert keys_on(opened(dataset, CASES[:1])) == keys_on(opened(dataset, CASES[5:9], "Bo"))
