"""Every model of the catalogue is fitted by its name, and its command gives the same request back."""

import shlex

import pytest

from core import load_sample
from core.command_line import _parser
from core.commands.fits import _request
from core.errors import InputError
from core.models.catalogue import BAYESIAN, EM, TITLES, Request, command_of, fit_request, usual_method


@pytest.mark.parametrize("model", [name for name in TITLES if name != "majority"])
def test_the_command_of_a_request_is_that_request(model):
    request = Request(model, usual_method(model), positive="2" if model.startswith("difficulty") else None)
    options = _parser().parse_args(shlex.split(command_of(request).replace("FILE", "anaesthesia")))
    assert _request(options) == request


def test_settings_of_a_sampler_stand_in_its_command():
    request = Request("hierarchical", "nuts", n_draws=200, n_tune=300, n_chains=2, seed=7)
    options = _parser().parse_args(shlex.split(command_of(request).replace("FILE", "caries")))
    assert _request(options) == request


@pytest.mark.parametrize("model", ["majority", *EM])
def test_a_fit_bears_the_name_it_was_asked_for_by(model):
    found = fit_request(Request(model, usual_method(model)), load_sample("anaesthesia"))
    assert found.fit.model == model and found.title == TITLES[model]
    assert found.bayes is None and found.fit.converged


def test_a_model_that_cannot_be_fitted_that_way_is_refused():
    data = load_sample("anaesthesia")
    with pytest.raises(InputError, match="no model"):
        fit_request(Request("guess", "em"), data)
    with pytest.raises(InputError, match="cannot be fitted by 'nuts'"):
        fit_request(Request("dawid-skene", "nuts"), data)
    with pytest.raises(InputError, match="no diagonal prior"):
        fit_request(Request("tap", "em", smoothing="diagonal"), data)
    assert usual_method(BAYESIAN[0]) == "map"
