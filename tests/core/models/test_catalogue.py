"""Every rater model is fitted by its name, and its command gives the same request back."""

import shlex

import pytest

from core import load_sample
from core.annotations.ordering import with_class_order
from core.command_line import parsed
from core.commands.fits import asked_for
from core.errors import InputError
from core.methods import methods
from core.models.catalogue import command_of, fit_request, request
from core.models.rater_methods import RaterModelMethod

MODELS = methods(RaterModelMethod)


@pytest.mark.parametrize("model", [name for name, method in MODELS.items() if not method.reference])
def test_the_command_of_a_request_is_that_request(model):
    options = {"positive": "2", "cooperative": False} if model.startswith("difficulty") else {}
    if "em" in MODELS[model].ways:
        options = {"repeats": "first", "beta": 0.4, "doubt": 0.02}
        if any(option.name == "smoothing" for option in MODELS[model].options):
            options["smoothing"] = "pooled"
    asked = request(model, **options)
    assert asked_for(parsed(shlex.split(command_of(asked).replace("FILE", "anaesthesia")))) == asked


def test_settings_of_a_sampler_stand_in_its_command():
    asked = request("hierarchical", "nuts", n_draws=200, n_tune=300, n_chains=2, seed=7)
    command = command_of(asked)
    assert command == "fit hierarchical FILE --method nuts --draws 200 --tune 300 --chains 2 --seed 7"
    assert asked_for(parsed(shlex.split(command.replace("FILE", "caries")))) == asked


@pytest.mark.parametrize("model", [name for name, method in MODELS.items() if method.ways[0] in ("vote", "em")])
def test_a_fit_bears_the_name_it_was_asked_for_by(model):
    dataset = load_sample("anaesthesia")
    if "order" in MODELS[model].needs:
        dataset = with_class_order(dataset, dataset.classes)
    found = fit_request(request(model), dataset)
    assert found.fit.model == model and found.title == MODELS[model].title
    assert found.bayes is None and found.fit.converged


@pytest.mark.parametrize(
    ("model", "way", "options", "words"),
    [
        ("guess", "em", {}, "Unknown rater model 'guess'"),
        ("dawid-skene", "nuts", {}, "with the method 'nuts'"),
        ("tap", "em", {"smoothing": "diagonal"}, "It must be one of none, pooled"),
        ("tap", "em", {"n_draws": 5}, "has no option n draws"),
        ("hierarchical", "nuts", {"n_chains": 0}, "from 1 to 64"),
        ("hierarchical", "nuts", {"n_chains": 2.5}, "It must be an integer"),
        ("hierarchical", "nuts", {"n_chains": True}, "It must be an integer"),
        ("difficulty-AB", "map", {"cooperative": "yes"}, "Use True or False"),
    ],
)
def test_what_a_model_does_not_take_is_refused(model, way, options, words):
    with pytest.raises(InputError, match=words):
        request(model, way, **options)


def test_options_that_equal_their_defaults_make_no_other_request():
    assert request("hierarchical", "nuts", n_draws=1000) == request("hierarchical", "nuts")
    assert request("hierarchical", "nuts", n_draws=999).option("n_draws") == 999
    assert request("hierarchical", "nuts").by("map").way == "map"
