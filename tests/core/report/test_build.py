"""A report is one file that loads nothing, shows the numbers of the functions behind it, and runs nobody's text."""

import json
import re
from html.parser import HTMLParser

import pytest

from core import load_sample, read
from core.agreement.coefficients import agreement_table
from core.annotations.counts import class_counts
from core.annotations.named_selection import Selection
from core.chunks import CancelToken
from core.errors import Cancelled, InputError
from core.evaluation.predictions import read_predictions
from core.ingest.formats.tables import open_table
from core.ingest.samples import SAMPLES, sample_predictions
from core.methods import every_method, offered
from core.report.build import SECTIONS, ReportRequest, build_report
from core.report.methods import SENTENCES, methods_text

NASTY = b"case,rater,class\n" + b"".join(
    b"</script><script>alert(1)</script>%d,<img src=x onerror=alert(1)>%d,![](http://x/y.png)%d\n"
    % (i // 3, i % 3, i % 2)
    for i in range(30)
)


def request_of(dataset, source="data", **more) -> ReportRequest:
    """A report of a dataset with its usual model."""
    model = offered("plausibility", dataset)[0].make()
    return ReportRequest(dataset, source, model, model.default_reliability, (1.0, 3.0), n_draws=100, **more)


class Loads(HTMLParser):
    """Collects what a browser would run or load, and the text outside of scripts and styles."""

    def __init__(self):
        super().__init__()
        self.loaded, self.tags, self.text, self.inside = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        self.loaded += [value for name, value in attrs if name in ("src", "srcset", "data", "action")]
        self.loaded += [value for name, value in attrs if name == "href" and not value.startswith("#")]

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.text.append(data)


def parsed(content: bytes) -> Loads:
    """The report as a browser would take it."""
    page = Loads()
    page.feed(content.decode())
    return page


@pytest.mark.parametrize("sample", [sample.name for sample in SAMPLES])
def test_every_sample_has_a_report_that_loads_nothing(sample):
    dataset = load_sample(sample)
    content = sample_predictions(sample)
    found = () if content is None else read_predictions(open_table(content), dataset, sample)
    report = build_report(request_of(dataset, sample, classifiers=tuple(found)))
    page = parsed(report)
    assert page.loaded == []
    assert len(report) <= 8_000_000
    assert [attrs["id"] for tag, attrs in page.tags if tag == "section"] == list(SECTIONS)
    text = " ".join(page.text)
    assert "NaN" not in text and "None" not in text
    for figure in re.findall(rb'<script type="application/json" id="figure-\d+">(.*?)</script>', report):
        assert json.loads(figure).keys() == {"light", "dark"}


def test_the_numbers_are_those_of_the_functions():
    dataset = load_sample("caries")
    text = " ".join(parsed(build_report(request_of(dataset), ["agreement"])).text)
    for row in agreement_table(class_counts(dataset), dataset=dataset):
        assert f"{row.value:.3f}" in text and f"{row.ci_low:.3f}" in text


def test_nothing_that_stands_in_the_data_is_run_or_loaded():
    report = build_report(request_of(read(NASTY).dataset))
    page = parsed(report)
    assert page.loaded == []
    assert "img" not in [tag for tag, _ in page.tags]
    assert b"<script>alert" not in report
    assert sum(tag == "script" and "type" not in attrs for tag, attrs in page.tags) == 2


def test_scores_are_reported_by_their_threshold():
    rows = b"".join(b"%d,%d,%.2f\n" % (i // 4, i % 4, i * 0.37 % 5) for i in range(80))
    text = " ".join(parsed(build_report(request_of(read(b"case,rater,score\n" + rows).dataset, threshold=2.5))).text)
    assert "at most 2.5, or above" in text and "--threshold 2.5" in text


def test_what_the_data_do_not_allow_is_said():
    text = " ".join(parsed(build_report(request_of(read(b"case,rater,class\n1,a,x\n2,b,y\n3,a,x\n").dataset))).text)
    assert text.count("ossible: every case has only one annotation") == 2
    assert "no predictions of classifiers" in text


def test_the_settings_give_the_same_numbers_on_the_command_line():
    dataset = load_sample("skin")
    text = " ".join(parsed(build_report(request_of(dataset, "skin"), ["data"])).text)
    assert "certainty plackett-luce skin --alpha 1.0 --draws 100 --seed 0 --reliability 3" in text
    settings = json.loads(re.search(r"\{.*?\n\}", text, re.S).group())
    assert settings["digest"] == dataset.digest and settings["reliabilities"] == [1.0, 3.0]


def test_a_selection_is_said_and_stands_in_the_commands():
    chosen = Selection(raters=("R01", "R02"))
    dataset = chosen.apply(load_sample("skin"))
    text = " ".join(
        parsed(build_report(request_of(dataset, "skin", selection=chosen, selected="two raters"), ["data"])).text
    )
    assert "two raters" in text
    assert """--select '{"raters":["R01","R02"]}'""" in text


@pytest.mark.parametrize("sections", [[], ["agreement", "what"]])
def test_a_section_that_there_is_none_of_is_refused(sections):
    with pytest.raises(InputError, match="The sections are agreement"):
        build_report(request_of(load_sample("anaesthesia")), sections)


def test_a_report_can_be_cancelled_and_says_how_far_it_is():
    token, shares = CancelToken(), []
    build_report(request_of(load_sample("anaesthesia")), ["agreement", "methods"], progress=shares.append)
    assert shares[0] == 0 and shares == sorted(shares)
    token.cancel()
    with pytest.raises(Cancelled):
        build_report(request_of(load_sample("anaesthesia")), token=token)


def test_the_methods_number_their_sources_and_name_each_once():
    text = methods_text([*SENTENCES, *(method.name for method in every_method() if method.sentence)])
    cited = {int(number) for group in re.findall(r"\[([\d, ]+)\]", text) for number in group.split(", ")}
    assert cited == set(range(1, len(cited) + 1))
    for number in cited:
        assert len(re.findall(rf"\[{number}\] [A-Z]", text)) == 1
