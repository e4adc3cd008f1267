"""Every part of every analysis, on every sample and on awkward data: options, table and blocks belong together.

Of a sample its first cases: the golden screens and numbers are of all of them.
"""

import sys
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from inspect import ismodule

import numpy as np
import pandas as pd
import pytest

from core.analyses.agreement import AGREEMENT
from core.analyses.blocks import Chosen, Download, Figure, Grid, OnPage, Remark, Strong, Words, few_names
from core.analyses.gate import GATE
from core.analyses.groups import GROUPS
from core.analyses.guideline import GUIDELINE
from core.analyses.inputs import Inputs
from core.analyses.labels import LABELS
from core.analyses.models import MODELS
from core.analyses.panel import PANEL
from core.analyses.questions import QUESTIONS
from core.analyses.raters import RATERS
from core.analyses.reliability import RELIABILITY
from core.analyses.reviews import REVIEWS
from core.analyses.study import STUDY
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.annotations.ordering import with_class_order
from core.errors import InputError, PluralityError
from core.evaluation.predictions import open_predictions
from core.evaluation.score_predictions import open_score_predictions
from core.evaluation.set_predictions import open_set_predictions
from core.figures.theme import DARK, LIGHT
from core.ingest.samples import SAMPLES, load_sample
from core.plausibility.gaussian_prior import fit_prior
from core.plausibility.protocol import offered
from core.raters.groups import RaterFacts
from core.report.page import printed
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.rules import admit
from core.review.states import CaseReview, review_of
from tests.core.raters.raters_simulated import names, simulated
from tests.core.test_sentences import DATA
from tests.golden.screens import assert_recorded, digest_of

OF_DATA = (AGREEMENT, RATERS, MODELS, GATE, GROUPS, GUIDELINE, PANEL)  # whose parts take annotations alone
ANALYSES = (*OF_DATA, RELIABILITY, REVIEWS, QUESTIONS, LABELS)
# What somebody else says of the raters of a dataset.
GIVEN = {
    GATE: lambda dataset: {"requirements": ("cases >= 1", "annotations_per_case > 1000")},
    GROUPS: lambda dataset: {"facts": hands(dataset.n_raters)},
    "groups": lambda subject: {"facts": hands(getattr(subject, "dataset", subject).n_raters)},
    "covariates": lambda dataset: {
        "of_raters": hands(dataset.n_raters),
        "of_cases": hands(dataset.n_cases),
        "positive": next(iter(dataset.classes), ""),
    },
    PANEL: lambda dataset: {"machines": (0, 1), "families": (("A", (0, 1)),)},
}
PARTS = [(analysis, part) for analysis in ANALYSES for part in analysis.parts]
WHOLE = {
    "coefficients",
    "labels",
    *(one.parts[0].name for one in (GATE, GROUPS, GUIDELINE, PANEL)),
}  # parts of annotations that take more than single classes
WITHOUT_DOWNLOAD = ("anchors", "reviews", "details")
QUICK = {"reliabilities": (1.0, 3.0), "n_draws": 20, "beta": 0.6, "n_worlds": 20, "budget": 10}  # if a part has it
QUICK |= {"new_raters": 1, "new_cases": 3, "least_certain": 3, "policy": "new_cases"}
N_CASES = 30  # of a sample and of a crowd
SIMULATED, SIMULATED_CASES = ("plan", "plans", "trust", "ask-next"), 12
SLOW = {"scores": ("anaesthesia", "two cases", "noise", "crowd with gold")}  # all rater models are fitted, many times
RARE = "prevalence 0.99"  # needs all of its cases
CUT, MUCH = "crowd with gold", "more than is shown"
# Plans, labels and questions score all models.
MANY_CLASSES = (MUCH, "skin", "dermatology", "pictures", "110 classes")


def uneven(kind):
    """Cases with none to four annotations of four raters."""
    case, rater = np.array([(case, rater) for case in range(30) for rater in range(case % 5)]).T
    several = (case * case + 3 * rater * (case % 4 == 2)) % 8
    cases, raters, classes = names(30, 4, 3)
    if kind == "score":
        return Dataset.from_scores("data", cases, raters, case, rater, several + rater / 4)
    if kind == "class":
        return Dataset.from_classes("data", cases, raters, classes, case, rater, several % 3)
    named = [[code for code in range(3) if (answer + 1) % 8 >> code & 1 or answer == 7] for answer in several]
    ends = np.cumsum([0, *map(len, named)])
    return Dataset.from_sets("data", cases, raters, classes, case, rater, ends, np.concatenate(named).astype(int))


MADE = DATA | {f"uneven {kind}": uneven(kind) for kind in ("class", "set", "score")}
MADE[MUCH] = simulated(3, np.linspace(0.3, 0.8, 63), 30, 63, 14)[0]


def hands(n):
    """A fact of n raters with two values."""
    return RaterFacts(("hand",), (tuple(("left", "right")[place % 2] for place in range(n)),))


def views(dataset):
    """The data as they are, and as single classes where they are none."""
    split = {"score": float(dataset.score.mean()) if dataset.kind == "score" else None}
    label = dataset.classes[0] if dataset.kind == "set" else None
    return dataset if dataset.kind == "class" else dataset.as_classes(split.get(dataset.kind, label))[0]


def every(blocks):
    """Blocks with all that they hold."""
    for block in blocks:
        yield block
        for stack in getattr(block, "stacks", ()):
            yield from every(stack.blocks)
        yield from every(getattr(block, "blocks", ()))
        if isinstance(block, Chosen):
            yield from every(block.then(0) if len(block.grid.table) else ())
        elif hasattr(block, "then"):
            yield from every(block.then(*(one.opens for one in block.controls)))


def predicted(dataset):
    """Two that predict all cases but the first and share some mistakes; nothing where names cannot stand in a file."""
    cases = np.arange(1, dataset.n_cases)
    found = []
    for shift, name in enumerate(("net", "tree")):
        table = {"case": np.array(dataset.cases)[cases]}
        if dataset.kind == "score":
            table["score"] = dataset.score.mean() + np.cos(cases + shift)
        else:
            chosen = (cases * (1 + shift)) % max(1, len(dataset.classes))
            table["labels" if dataset.kind == "set" else "class"] = np.array(dataset.classes, object)[chosen]
        read = {"score": open_score_predictions, "set": open_set_predictions}.get(dataset.kind, open_predictions)
        more = {"score": 0.6 + 0.1 * shift} if dataset.kind not in ("score", "set") else {}
        found += read(name, pd.DataFrame(table | more).to_csv(index=False).encode(), dataset)
    return tuple(found)


def reviewed(dataset, case):
    """A case that somebody read blind and kept to after the reveal."""
    opinion = Opinion.of_score(1.5) if dataset.kind == "score" else Opinion.of_class(dataset.classes[0])
    review = CaseReview(case)
    for step in ({"kind": "opinion", "opinion": opinion}, {"kind": "reveal", "panel": opinion}, {"kind": "keep"}):
        event = admit(review, Draft(dataset=dataset.digest, case_id=case, reviewer="Ada", **step), 0)
        review = review_of(case, [*review.events, event])
    return review


def subjects(analysis, dataset):
    """Some annotations with the settings, predictions and reviews that the parts of an analysis take."""
    some = first_cases(dataset)
    if analysis is REVIEWS:
        yield Inputs(some, reviews={case: reviewed(some, case) for case in some.cases[:3]})
        return
    if analysis is QUESTIONS:
        yield Inputs(some, questions=(("as it is", some), ("in *classes*", views(some)), ("again", some)))
        return
    for one in {id(one): one for one in (some, views(some))}.values():
        model = fit_prior(one).model(float(one.score.mean())) if one.kind == "score" else None
        settings = AnalysisSettings(model or offered(one)[0].make(), 2.0)
        if one.kind == "class":
            one = replace(one, class_risk=np.arange(one.n_classes, dtype=np.int8) % 3)
        try:
            found = predicted(one)
        except PluralityError:
            found = ()
        yield Inputs(one, predictions=found, settings=settings)


@cache
def data_of(name):
    """The data as they are, and as single classes if they are not."""
    some = MADE[name] if name in MADE else load_sample(name)
    some = some if name == RARE else first_cases(some)
    return tuple({id(one): one for one in (some, views(some))}.values())


def first_cases(dataset):
    return dataset.select(cases=dataset.cases[:N_CASES])


def in_order(datasets):
    """Single classes in the order of their names, too."""
    yield from datasets
    for one in datasets:
        if one.kind == "class" and one.n_classes > 2 and not one.ordinal:
            yield with_class_order(one, one.classes)


@cache
def needed(needs, name, place):
    """What parts rest on, computed once for all of them."""
    module, _, function = needs.partition(":")
    part = next(part for _, part in PARTS if part.needs == needs)
    return getattr(import_module(module), function)(data_of(name)[place], part.options())


def cases():
    """Each part with the data that it is computed of."""
    for analysis, part in PARTS:
        names = (*(sample.name for sample in SAMPLES), *MADE)
        if part.name in SIMULATED or analysis is QUESTIONS:
            names = [name for name in names if name not in MANY_CLASSES]
        elif analysis is LABELS:
            names = [name for name in names if name != MANY_CLASSES[-1]]
        for name in names if analysis is RATERS else SLOW.get(part.name, names):
            yield pytest.param(analysis, part, name, id=f"{analysis.name}-{part.name}-{name}")


def answered(analysis, part, name):
    """Each subject of some data that the part can be computed of, with the part, its options and its result."""
    try:
        every_subject = data_of(name) if analysis in OF_DATA else list(subjects(analysis, data_of(name)[0]))
        every_subject = list(in_order(every_subject)) if analysis is RATERS else every_subject
    except PluralityError as error:  # no prior of scores can be fitted
        assert str(error)
        return
    for place, subject in enumerate(every_subject):
        if analysis in OF_DATA and analysis is not RATERS and part.name not in WHOLE and subject.kind != "class":
            continue
        part = part.with_options(**GIVEN.get(part.name, GIVEN.get(analysis, lambda _: {}))(subject))
        verdict = part.applicable(subject)
        if not verdict.possible:
            assert verdict.reason
            continue
        known = {field.name for field in fields(part.options)}
        quick = QUICK | {"every": name == MUCH}
        options = replace(part.resolve(), **{name: value for name, value in quick.items() if name in known})
        if part.work is not None and part.work.seconds(subject) >= 60 and subject.n_cases > N_CASES:
            subject = subject.select(cases=subject.cases[:N_CASES])
        if part.name in SIMULATED:
            subject = subject.select(cases=subject.cases[:SIMULATED_CASES])
        for chosen in every_choice(options) if name.startswith("uneven") else (options,):
            try:
                found = part.answer(subject, chosen, needed(part.needs, name, place) if part.needs else None)
            except PluralityError as error:
                assert str(error)
                continue
            yield part, found, subject, chosen


def every_choice(options):
    """The options, and those with another choice in one of them."""
    yield options
    for field in fields(options):
        declared = field.metadata.get("option")
        for choice in declared.choices if declared else ():
            if choice != getattr(options, field.name):
                yield replace(options, **{field.name: choice})


@pytest.mark.parametrize(("analysis", "part", "name"), list(cases()))
def test_every_part_has_a_table_and_can_be_drawn_and_printed(analysis, part, name, request):
    """What a page lets somebody take away is the table that the command line gives; of made data all is as recorded."""
    lines = []
    for one, *rest in answered(analysis, part, name):
        frame, blocks = one.frame(*rest), one.blocks(*rest)
        check(part, frame, blocks)
        lines.append(digest_of([*every(blocks), Grid(frame)]))
    if name in MADE:  # golden screens and numbers are of the samples
        assert_recorded(request, f"parts/{analysis.name}", f"{part.name} {name}", lines)


@pytest.mark.parametrize(("analysis", "part"), PARTS, ids=lambda one: one.name)
def test_what_a_part_applies_to_is_recorded(analysis, part, request):
    """Each kind of annotations, whole, by one rater, by two raters, and on one case."""
    lines = []
    for kind in ("class", "set", "score"):
        data = MADE[f"uneven {kind}"]
        fewer = [data.select(raters=data.raters[:n]) for n in (1, 2)]
        for some in (data, *fewer, data.select(cases=data.cases[-1:])):
            try:
                every_subject = [some] if analysis in OF_DATA else list(subjects(analysis, some))
            except PluralityError as error:  # no prior of scores can be fitted
                assert str(error)
                continue
            for subject in every_subject:
                given = GIVEN.get(part.name, GIVEN.get(analysis, lambda _: {}))(subject)
                verdict = part.with_options(**given).applicable(subject)
                lines.append(
                    f"{some.kind}, {some.n_raters} raters, {some.n_cases} cases: {verdict.possible}, {verdict.reason}"
                )
    assert_recorded(request, "parts/verdicts", f"{analysis.name} {part.name}", lines)


def limits_of(part):
    """Lengths at which a part and its figures cut lists: their modules and names."""
    own = import_module(part.present.partition(":")[0])
    drawn = {one if ismodule(one) else sys.modules.get(getattr(one, "__module__", "")) for one in vars(own).values()}
    figures = {one for one in drawn if one and one.__name__.startswith("core.figures.")}
    for module in (own, *sorted(figures, key=lambda one: one.__name__)):
        for name, value in vars(module).items():
            if name.lstrip("_").startswith(("MOST_", "FEW_", "INTERVAL_")) and isinstance(value, int):
                yield module, name


@pytest.mark.parametrize(("analysis", "part"), PARTS, ids=lambda one: one.name)
def test_lists_are_cut_where_it_is_recorded(analysis, part, request, monkeypatch):
    """For each limit the least at which nothing is cut: of a comparison that takes one more or less it is another."""
    lines = []
    for one, *rest in answered(analysis, part, CUT) if part.name not in SLOW else ():
        for module, name in limits_of(one):

            def shown(limit, at=(module, name), one=one, rest=rest):
                with monkeypatch.context() as patch:
                    patch.setattr(*at, limit)
                    return digest_of([*every(one.blocks(*rest))])

            cut, whole, all_of_it = 1, 1000, shown(1000)
            while whole - cut > 1:
                middle = (cut + whole) // 2
                cut, whole = (cut, middle) if shown(middle) == all_of_it else (middle, whole)
            if whole > 2:
                lines.append(f"{module.__name__}.{name}: {whole}")
    assert_recorded(request, "parts/limits", f"{analysis.name} {part.name}", lines)


def check(part, frame, blocks):
    """Whether the table of a part is what its page gives, its keys differ, and its blocks can be drawn and printed."""
    taken = [block for block in every(blocks) if isinstance(block, Download)]
    keys = [block.key for block in every(blocks) if isinstance(block, Figure | Grid)]
    assert all(keys) and len(keys) == len(set(keys))
    if (
        part.name not in WITHOUT_DOWNLOAD and (taken or keys) and frame.columns.is_unique
    ):  # a class may be called "case"
        assert sum(block.frame.equals(frame) for block in taken) == 1 or not len(frame)
    assert all(len(block.frame) for block in taken)
    assert len({block.key for block in taken}) == len(taken)
    for block in every(blocks):
        if isinstance(block, Grid):
            assert {one.name for one in block.columns} <= set(block.table.columns)
            for column in block.columns:
                assert {column.low, column.high} - {""} <= set(block.table.columns)
                if column.low:
                    ends = block.table[[column.low, column.name, column.high]].astype(float).dropna().to_numpy()
                    assert (np.diff(ends, axis=1) > -1e-9).all(), column.name
        if isinstance(block, Figure):
            assert block.alt and block.draw(LIGHT).layout.title.text == block.draw(DARK).layout.title.text
    paper = list(printed(blocks))
    assert all(isinstance(block, Words | Figure | Grid) for block in paper)
    words = " ".join(block.plain for block in paper if isinstance(block, Words))
    assert "click" not in words and "Choose a" not in words and "nan" not in words.split()


@pytest.mark.parametrize(
    ("analysis", "part"), [*PARTS, *((STUDY, part) for part in STUDY.parts)], ids=lambda one: one.name
)
def test_options_are_checked_by_what_is_said_of_them(analysis, part):
    with pytest.raises(InputError, match="has no option 'colour'"):
        part.resolve(colour="blue")
    for field in fields(part.options):
        option = field.metadata.get("option")
        if option is not None:
            if option.kind != "text" or option.choices or option.flag:
                with pytest.raises(InputError, match=option.label):
                    part.resolve(**{field.name: "nonsense" if option.choices else -7})
            if option.flag:
                assert getattr(part.resolve(**{field.name: True}), field.name) is True
            for choice in option.choices:
                assert getattr(part.resolve(**{field.name: choice}), field.name) == choice
                assert option.titles(choice)
    assert part.resolve() == part.options()
    assert part.with_options(colour="blue").given_options == (("colour", "blue"),)


@pytest.mark.parametrize("sample", ["skin", "anaesthesia"])
def test_the_table_of_raters_stands_in_json_value_by_value(sample):
    """What is nested in JSON is flat in files, and who judges in the command's table judges on the page."""
    from core.analyses.raters.table import rows_of

    dataset = first_cases(load_sample(sample)).as_classes()[0]
    found = RATERS.part("raters").answer(dataset)
    frame = RATERS.part("raters").frame(found, dataset)
    for row, (_, flat) in zip(rows_of(found), frame.iterrows(), strict=True):
        inner = {f"{part}_{name}": value for part in ("gold", "model") for name, value in row.pop(part).items()}
        inner |= {"flags": " ".join(row.pop("flags")), "evidence": " ".join(row.pop("evidence"))}
        for name, value in (row | inner).items():
            assert flat[name] == value or (np.isnan(flat[name]) and np.isnan(value)), name


def test_words_are_plain_on_paper_and_say_nothing_of_the_page():
    words = Words((Strong("To quote:"), " α", OnPage("; choose a row"), Remark("few cases")))
    assert words.plain == "To quote: αfew cases."


@pytest.mark.parametrize(("n", "said"), [(0, ""), (1, "A"), (3, "A, B, C"), (4, "A, B, C and 1 more")])
def test_of_names_the_first_few_are_listed_and_the_others_counted(n, said):
    assert Words(few_names("ABCDE"[:n], 3)).plain == said


@pytest.mark.parametrize("n", [0, 1, 2])
def test_questions_are_compared_if_there_is_more_than_one(n):
    (data, *_), ((_, part),) = data_of("two cases"), [each for each in PARTS if each[0] is QUESTIONS]
    assert part.applicable(Inputs(data, questions=(("one", data),) * n)).possible == (n > 1)
