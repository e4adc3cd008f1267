"""What every method says of itself holds: one contract for all, those of plug-ins too."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.coefficient_methods import CoefficientMethod, any_coefficient, request_of
from core.agreement.pairs import pair_matrix
from core.analyses.applicable_methods import verdicts
from core.annotations.ordering import with_class_order
from core.command_line import main
from core.errors import InputError, PluralityError
from core.glossary import GLOSSARY
from core.ingest.formats.reader import Reader
from core.ingest.read_files import read
from core.methods import (
    AS_IS,
    FIRST_BLOCK,
    THRESHOLD,
    Model,
    Option,
    as_taken,
    can_use,
    every_method,
    explained,
    method_named,
    methods,
    term,
)
from core.models.catalogue import fit_request, request
from core.models.rater_methods import RaterModelMethod
from core.plausibility.protocol import PlausibilityMethod, offered
from core.reducers.protocol import reduce_draws
from core.reducers.sets import TopSets
from core.text import exact

ROOT = Path(__file__).resolve().parents[2]
EVERY = every_method()
IDS = [f"{method.family}-{method.name}" for method in EVERY]
CLASSES = b"case,rater,class\n1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n3,ann,y\n3,bob,y\n4,ann,x\n4,bob,x\n"
THREE = CLASSES + b"1,cy,x\n2,cy,y\n3,cy,y\n"
RANKINGS = (
    b"case,rater,rank,class\n1,ann,1,x\n1,ann,2,y\n1,bob,1,y\n2,ann,1,x\n2,bob,1,x\n2,bob,2,y\n3,ann,1,y\n3,bob,1,y\n"
)
SCORES = b"case,rater,score\n1,ann,1.5\n1,bob,2\n2,ann,3\n2,bob,2.5\n3,ann,0.5\n3,bob,1\n4,ann,4\n4,bob,3\n"
SETS = b"case,rater,labels\n1,ann,x;y\n1,bob,y\n2,ann,x\n2,bob,x\n3,ann,y\n3,bob,y\n4,ann,x\n4,bob,y;x\n"
DATA = {"class": CLASSES, "ranking": RANKINGS, "set": SETS, "score": SCORES}
SPLIT = {"set": "x"}  # the label, or of scores the threshold


def fits(method, dataset):
    """Run a method on data of one kind as the program runs it; what comes out."""
    if method.family == "coefficient":
        if dataset.kind != "class" and method.takes[dataset.kind] != AS_IS:
            dataset = as_taken(method, dataset, SPLIT.get(dataset.kind, 2.0))[0]
        return [one for one in coefficients_for(dataset).coefficients if one.name == method.name]
    view, _ = as_taken(method, dataset, SPLIT.get(dataset.kind, 2.0))
    if "order" in method.needs:
        view = with_class_order(view, view.classes)
    if method.family == "rater model":
        positive = {"positive": view.classes[1]} if any(one.name == "positive" for one in method.options) else {}
        return fit_request(request(method.name, **positive), view).fit
    if method.family == "plausibility":
        needed = inspect.signature(method.make).parameters
        prior = {name: 1.0 for name in ("threshold", "m0", "k0", "a0", "b0") if name in needed}
        return reduce_draws(method.make(**prior), view, [TopSets()], reliability=1.0, n_draws=8, seed=0)
    return pair_matrix(view)


def made_by(method):
    """The function or class of a method, without its options."""
    made = method.read if isinstance(method, Reader) else method.make
    return getattr(made, "func", made)


@pytest.mark.parametrize("method", EVERY, ids=IDS)
def test_a_method_has_a_title_a_term_sources_and_a_docstring(method):
    assert method.title and method.plainly.endswith(".") and method.exactly.endswith(".")
    assert term(method.name) == method.term or method.name in GLOSSARY
    assert explained(method) == f"{method.plainly}\n\n*For statisticians:* {method.exactly}"
    assert method.sources or method.name in ("majority", "pairs")  # these two need none
    assert inspect.getdoc(made_by(method))
    if method.family == "coefficient":
        assert method.assumes.endswith(".")


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("method", [one for one in EVERY if one.family != "reader"], ids=lambda one: one.name)
def test_a_method_takes_the_kinds_that_it_says_and_refuses_the_others_with_a_reason(method, kind):
    content = THREE if method.name == "conger_kappa" and kind == "class" else DATA[kind]
    dataset = read(content).dataset
    if "order" in method.needs and kind == "class":
        assert can_use(method, dataset).reason == "the order of the classes is not declared"
        dataset = with_class_order(dataset, dataset.classes)
    verdict = can_use(method, dataset)
    if kind not in method.takes:
        assert (
            not verdict.possible
            and verdict.reason == f"does not support {'classes' if kind == 'class' else f'{kind}s'}"
        )
        with pytest.raises(InputError, match=method.title.replace("(", r"\(").replace(")", r"\)")):
            as_taken(method, dataset, 2.0)
        return
    assert verdict.possible and verdict.reason == method.takes[kind]
    if method.name == "conger_kappa" and kind != "class":
        return  # of two raters Cohen's kappa stands in its place
    assert fits(method, dataset)


@pytest.mark.parametrize("method", [one for one in EVERY if isinstance(one, Model)], ids=lambda one: one.name)
def test_options_refuse_what_they_cannot_be(method):
    with pytest.raises(InputError, match="has no option"):
        method.checked({"nonsense": 1})
    for option in method.options:
        assert option.label and option.help and option.checked(option.default) == option.default
        bad = {bool: "maybe", int: 1.5, float: float("nan"), str: 3}[option.type]
        with pytest.raises(InputError):
            option.checked(bad)
        for choice in option.choices:
            assert option.checked(choice) == choice
        if option.low is None:
            assert option.high is None
            continue
        bounds = (
            f"at least {exact(option.low)}"
            if option.high is None
            else f"from {exact(option.low)} to {exact(option.high)}"
        )
        refused = re.escape(f"It must be {bounds}.")
        with pytest.raises(InputError, match=refused):
            option.checked(option.low - 1)
        assert option.checked(option.type(option.low)) == option.low
        if option.high is not None:
            with pytest.raises(InputError, match=refused):
                option.checked(option.high + 1)
            assert option.checked(option.type(option.high)) == option.high


def test_names_are_unique_and_lists_have_an_order():
    for family in {method.family for method in EVERY}:
        of_family = [method for method in EVERY if method.family == family]
        assert len({method.name for method in of_family}) == len(of_family)
        assert [method.place for method in of_family] == sorted(method.place for method in of_family)


@pytest.mark.parametrize(
    ("content", "first"), [(CLASSES, "dirichlet"), (RANKINGS, "plackett-luce"), (SCORES, "dirichlet")]
)
def test_each_kind_of_answers_opens_with_a_plausibility_model(content, first):
    names = [method.name for method in offered(read(content).dataset)]
    assert names[0] == first and len(set(names)) == len(names)
    assert "gaussian" not in names


@pytest.mark.parametrize("name", [name for name in methods(PlausibilityMethod) if name != "gaussian"])
def test_the_command_line_gives_the_numbers_of_a_plausibility_model(name, tmp_path, capsys):
    (tmp_path / "data.csv").write_bytes(CLASSES)
    order = ["--classes", "x,y"] if "order" in method_named(PlausibilityMethod, name).needs else []
    arguments = ["certainty", name, str(tmp_path / "data.csv"), "--reliability", "2", "--draws", "50", *order]
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    dataset = read(CLASSES).dataset
    found = fits_certainty(name, with_class_order(dataset, dataset.classes) if order else dataset)
    assert told["mean"]["top1"] == pytest.approx(found, rel=1e-12)


def fits_certainty(name, dataset):
    from core.certainty.top_sets import annotation_certainty

    return annotation_certainty(
        method_named(PlausibilityMethod, name).make(), dataset, reliability=2.0, n_draws=50, seed=0
    ).mean(1)


@pytest.mark.parametrize(
    "name", [name for name, one in methods(RaterModelMethod).items() if one.ways[0] in ("vote", "em")]
)
def test_the_command_line_gives_the_numbers_of_a_rater_model(name, tmp_path, capsys):
    (tmp_path / "data.csv").write_bytes(THREE)
    method = method_named(RaterModelMethod, name)
    variant = [] if method.variant is None else [f"--{method.variant.option}", method.variant.value]
    order = ["--classes", "x,y", "--ordinal"] if "order" in method.needs else []
    assert main(["fit", method.command, str(tmp_path / "data.csv"), *variant, *order]) == 0
    told = json.loads(capsys.readouterr().out)
    dataset = read(THREE).dataset
    found = fit_request(request(name), with_class_order(dataset, dataset.classes) if order else dataset).fit
    assert list(told["prevalence"].values()) == pytest.approx(found.prevalence.tolist(), rel=1e-12)


def test_the_command_line_gives_the_numbers_of_every_coefficient(tmp_path, capsys):
    for kind, content in DATA.items():
        (tmp_path / f"{kind}.csv").write_bytes(content)
        assert main(["agreement", str(tmp_path / f"{kind}.csv")]) == 0
        told = json.loads(capsys.readouterr().out)["coefficients"]
        found = coefficients_for(read(content).dataset).coefficients
        assert [(row["name"], row["value"]) for row in told] == [(one.name, one.value) for one in found]


@pytest.mark.parametrize("method", methods(CoefficientMethod).values(), ids=lambda one: one.name)
def test_a_coefficient_alone_is_what_it_is_among_the_others(method):
    content = {"score": SCORES, "ranking": RANKINGS, "set": SETS}.get(next(iter(method.takes)), CLASSES)
    dataset = read(THREE if method.name == "conger_kappa" else content).dataset
    among = [one for one in coefficients_for(dataset).coefficients if one.name == method.name]
    assert among
    if dataset.kind != "ranking" or method.name != "leave_one_out_top1":
        assert [one.value for one in method.fit(request_of(dataset))] == [one.value for one in among]


def test_what_is_possible_is_said_by_family():
    dataset = read(CLASSES).dataset
    titles = [verdict.title for verdict in verdicts(dataset)]
    assert titles == [
        "Agreement", "Pairwise agreement", "Majority vote", "Rater models", "Plackett-Luce", "PrIRN",
        "Dirichlet counts", "Mixture Plackett-Luce",
    ]  # fmt: skip
    assert all(verdict.possible for verdict in verdicts(dataset))


def test_rankings_enter_by_their_first_choice_and_scores_by_a_threshold():
    ranking, score = read(RANKINGS).dataset, read(SCORES).dataset
    whole = {"Agreement", "Plackett-Luce", "PrIRN", "Mixture Plackett-Luce"}
    assert {verdict.reason for verdict in verdicts(ranking) if verdict.title not in whole} == {FIRST_BLOCK}
    assert {verdict.reason for verdict in verdicts(score) if verdict.title not in whole} == {THRESHOLD}
    assert any_coefficient(score).reason == AS_IS


NEED_RATERS = {"Pairwise agreement", "Rater models", "Mixture Plackett-Luce"}


@pytest.mark.parametrize(
    ("content", "options", "impossible", "reason"),
    [
        (
            b"case,rater,class\n1,ann,x\n2,bob,y\n",
            {},
            {"Agreement", "Pairwise agreement", "Rater models"},
            "only one annotation",
        ),
        (b"case,rater,class\n1,ann,x\n1,ann,y\n", {}, NEED_RATERS, "only one rater"),
        (b"case,class\n1,x\n1,y\n", {"rater": "none"}, NEED_RATERS, "anonymous"),
    ],
)
def test_what_the_data_do_not_allow_is_said_with_its_reason(content, options, impossible, reason):
    refused = [verdict for verdict in verdicts(read(content, **options).dataset) if not verdict.possible]
    assert {verdict.title for verdict in refused} == impossible
    assert all(reason in verdict.reason for verdict in refused)


def test_a_selection_can_make_a_method_impossible():
    dataset = read(CLASSES).dataset
    method = method_named(RaterModelMethod, "dawid-skene")
    assert can_use(method, dataset).possible
    assert not can_use(method, dataset.select(raters=["ann"])).possible
    three = read(THREE).dataset
    assert not can_use(method_named(CoefficientMethod, "cohen_kappa"), three).possible


def test_an_unknown_method_is_refused_with_those_that_there_are():
    with pytest.raises(InputError, match=r"Unknown plausibility 'guess'.*plackett-luce"):
        method_named(PlausibilityMethod, "guess")
    assert Option("a", int, 1, "A", "a").spelled_off == "--no-a"


KEYED = [method for method in EVERY if method.family in ("rater model", "plausibility", "reader", "coefficient")]
ALLOWED = {"table", "tap", "ordinal"}  # words of their own besides: a layout of files, a parameter, a kind of classes
TYPED = {  # short names that people type, and a format of numbers of Streamlit
    ROOT / "core" / "__init__.py",
    ROOT / "core" / "analyses" / "gate.py",
    ROOT / "pages" / "shared" / "kit" / "columns.py",
}
TO_COME = {  # where keys of rater models still stand, or words that are the same
    ROOT / "core" / "machines" / "panel.py",
    ROOT / "core" / "models" / "hierarchical_density.py",
    ROOT / "core" / "models" / "dawid_skene_density.py",
    ROOT / "core" / "models" / "nuts" / "densities.py",
    ROOT / "core" / "models" / "result.py",
}


def keys_for(path):
    """The keys that may not stand in a file unless it is the method's own module."""
    left_out = {"coefficient"} if path in TYPED else {"rater model"} if path in TO_COME else set()
    return {method.name for method in KEYED if method.family not in left_out} - ALLOWED


def test_the_key_of_a_method_stands_in_its_own_module_only():
    own = {}
    for method in EVERY:
        own.setdefault(method.name, set()).add(inspect.getsourcefile(inspect.unwrap(made_by(method))))
    found = []
    for path in [ROOT / "app.py", *(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        found += [
            f"{path.relative_to(ROOT)}: {key}"
            for key in keys_for(path)
            if str(path) not in own[key] and re.search(rf"""["']{re.escape(key)}["']""", text)
        ]
    assert not found, "\n".join(found)


PLUGIN = """
def bring(core):
    import importlib

    tools = importlib.import_module(f"{core.__name__}.methods")
    models = importlib.import_module(f"{core.__name__}.models.rater_methods")
    majority = tools.method_named(models.RaterModelMethod, "majority")
    vote = importlib.import_module(f"{core.__name__}.models.majority").MajorityVote

    def fit(model, dataset, way, run, token, progress):
        return model.fit(dataset)

    return models.RaterModelMethod(
        "coin-toss", "Coin toss", vote, plainly="Tosses a coin.", exactly="A plug-in of the tests.",
        sources=("Nobody (2020)",), takes=majority.takes, needs=(), fit=fit, ways=("vote",),
        sentence="A coin was tossed.",
    )
"""


@pytest.fixture
def plugin(tmp_path):
    """A package beside the engine with an entry point, as pip would install it."""
    (tmp_path / "coin_toss_plugin.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "coin_toss_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin-toss-plugin\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[plurality.methods]\ncoin = coin_toss_plugin:bring\n", encoding="utf-8")
    return tmp_path


def run_with(folder, script):
    script = f"import sys; sys.path.insert(0, {str(folder)!r})\n{script}"
    return subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_a_plug_in_stands_on_the_command_line_in_the_glossary_and_in_the_report_without_another_line(plugin):
    script = (
        "from core.command_line import main\n"
        "from core.methods import explained\n"
        "from core.report.methods import methods_text\n"
        "assert main(['fit', 'coin-toss', 'anaesthesia']) == 0\n"
        "print(explained('coin-toss'))\n"
        "print(methods_text(['coin-toss']))\n"
    )
    done = run_with(plugin, script)
    assert done.returncode == 0, done.stderr
    assert '"model": "coin-toss"' in done.stdout
    assert (
        "Tosses a coin." in done.stdout and "A coin was tossed [1]." in done.stdout and "Nobody (2020)" in done.stdout
    )


def test_a_plug_in_stands_on_the_models_page(plugin):
    """Ends as a server does: at once, because jobs still run and Python's own exit aborts a thread inside C++."""
    script = (
        "import os\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('app.py', default_timeout=120)\n"
        "app.query_params['data'] = 'anaesthesia'\n"
        "app.run()\n"
        "app.switch_page('pages/models.py').run()\n"
        "assert not app.exception, app.exception\n"
        "print(*[option for box in app.multiselect for option in box.options], sep='; ', flush=True)\n"
        "os._exit(0)\n"
    )
    done = run_with(plugin, script)
    assert done.returncode == 0, done.stderr
    assert "Coin toss" in done.stdout and "Dawid-Skene" in done.stdout


def test_a_broken_plug_in_is_named_with_a_remedy(plugin):
    (plugin / "coin_toss_plugin.py").write_text("def bring(core):\n    raise RuntimeError('no coin')\n")
    done = run_with(plugin, "from core.command_line import main\nsys.exit(main(['fit', 'majority', 'anaesthesia']))")
    assert done.returncode == 2
    assert "Could not load the plug-in 'coin': RuntimeError: no coin" in done.stderr and done.stderr.count("\n") == 1


def test_a_plug_in_cannot_take_the_name_of_a_method_that_stands(plugin):
    text = PLUGIN.replace('"coin-toss"', '"dawid-skene"')
    (plugin / "coin_toss_plugin.py").write_text(text, encoding="utf-8")
    done = run_with(plugin, "from core.command_line import main\nsys.exit(main(['fit', 'majority', 'anaesthesia']))")
    assert done.returncode == 2 and "second rater model named 'dawid-skene'" in done.stderr


def test_plurality_errors_of_methods_are_input_errors():
    assert issubclass(InputError, PluralityError)
