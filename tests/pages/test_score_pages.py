"""Pages of scores: with a threshold and without, the numbers of the command line, and sentences that are true."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.__main__ import main
from core.analyses.cases import CASES
from core.analyses.inputs import Inputs
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.certainty.score_trust import score_trust
from core.certainty.scores_by_gold import scores_by_gold
from core.figures import cells
from core.figures.theme import LIGHT
from core.ingest.samples import load_sample
from core.library import keep, reopen
from core.plausibility.gaussian import GaussianScores
from core.plausibility.gaussian_prior import fit_prior
from core.raters.following import following_of
from core.raters.score_drift import score_drifts
from core.raters.score_gold import score_gold
from core.raters.score_raters import score_raters
from core.report.build import SECTIONS
from pages.shared.cases import worklist as list_of_cases
from pages.shared.kit import widgets
from tests.pages.opened import kept, opened, settle, words

pytestmark = pytest.mark.usefixtures("known")

ESSAYS = "essays"


@pytest.fixture(scope="module")
def essays():
    dataset = load_sample(ESSAYS)
    return dataset, fit_prior(dataset)


def worklist(app) -> pd.DataFrame:
    return next(table.value for table in app.dataframe if "case" in table.value)


def test_the_worklist_that_is_taken_away_has_every_number_beside_its_own_case():
    case = np.repeat(np.arange(3), [2, 4, 3])
    rater = np.concatenate([np.arange(n) for n in (2, 4, 3)])
    names = ["s", ["first", "second", "third"], list("abcd")]
    dataset = Dataset.from_scores(*names, case, rater, np.array([1.0, 2, 5, 6, 7, 9, 3, 3.5, 8]))
    asked = Inputs(dataset, settings=AnalysisSettings(GaussianScores(4.0, 5.0, 0.5, 2.0, 1.0), 1.0))
    part = CASES.part("scores")
    found = part.answer(asked)
    states = {"first": "read"}
    table = list_of_cases.file(part.frame(found, asked), np.array([2, 0, 1]), states).set_index("case")
    trust = found.trust
    assert table.index.tolist() == ["third", "first", "second"] and table["review"].tolist() == ["", "read", ""]
    for place, name in enumerate(dataset.cases):
        row = table.loc[name]
        assert row["p_at_most"] == 1 - trust.above[0, place] and row["predictive_share"] == found.predictive[place]
        assert (row["score"], row["top1"]) == (trust.m[0, place], trust.certainty[0, place])
        assert (row["ci_low"], row["ci_high"]) == (trust.low[0, place], trust.high[0, place])


def test_cases_without_a_threshold_are_ordered_by_width_and_say_the_median(essays, tmp_path, capsys):
    dataset, prior = essays
    app = opened("cases", ESSAYS)
    trust = score_trust(dataset, prior.model(), [1.0])
    half = float(np.median(trust.width)) / 2
    assert app.title[0].value == f"The score is known to within {half:.1f} for half of the cases at γ = 1"
    table = worklist(app)
    assert list(table.columns) == ["case", "score", "ci_width"]
    assert app.get("space")  # for the buttons of the table, which cover the line above it otherwise
    assert table["ci_width"].to_numpy() == pytest.approx(np.sort(trust.width[0])[::-1])
    case = int(np.argmax(trust.width[0]))
    assert table["case"].iloc[0] == dataset.cases[case]
    assert f"{trust.m[0, case]:.1f} ({trust.low[0, case]:.1f} to {trust.high[0, case]:.1f})" in app.subheader[0].value
    assert app.number_input(key="threshold").value is None
    assert "certain" not in app.title[0].value
    command = next(block.value for block in app.code if "certainty gaussian" in block.value)
    assert main([*command.split()[3:], "--cases-out", str(tmp_path / "cases.csv")]) == 0
    theirs = pd.read_csv(tmp_path / "cases.csv").set_index("case").loc[table["case"]]
    assert table["score"].to_numpy() == pytest.approx(theirs["score"].to_numpy(), abs=1e-12)
    width = (theirs["ci_high"] - theirs["ci_low"]).to_numpy()
    assert table["ci_width"].to_numpy() == pytest.approx(width, abs=1e-12)
    assert "at_most" not in capsys.readouterr().out


def test_half_of_the_cases_are_known_to_half_the_width_of_the_middle_one_on_home_and_cases():
    """Of 21 cases 13 have six scores and 8 have one: the mean width is another number on screen."""
    rng = np.random.default_rng(3)
    own = [rng.normal(rng.normal(50, 9), 4, 6 if case < 13 else 1).round(1) for case in range(21)]
    rows = [f"{case},{'abcdef'[j]},{score}" for case, each in enumerate(own) for j, score in enumerate(each)]
    address = kept("\n".join(["case,rater,score", *rows, ""]))
    dataset = reopen(address)
    width = np.sort(fit_prior(dataset).model().posterior(dataset).width())
    half = f"{width[10] / 2:.1f}"
    assert half != f"{width.mean() / 2:.1f}"
    card = next(one for one in opened("home", address).metric if one.label == "Median half-width of 95% intervals")
    assert card.value == f"± {half}"
    title = opened("cases", address).title[0].value
    assert title == f"The score is known to within {half} for half of the cases at γ = 1"


def test_cases_with_a_threshold_have_the_numbers_of_the_command_line(essays, tmp_path, capsys):
    dataset, _ = essays
    app = opened("cases", ESSAYS)
    app.number_input(key="threshold").set_value(6.0).run()
    app = settle(app.slider(key="reliability").set_value(2.0).run())
    line = ["certainty", "gaussian", ESSAYS, "--threshold", "6", "--reliability", "2"]
    assert main([*line, "--cases-out", str(tmp_path / "cases.csv")]) == 0
    told = json.loads(capsys.readouterr().out)
    below = told["n_below"]["0.9"]
    assert app.title[0].value.startswith(
        f"In {below} of {dataset.n_cases} cases, it is uncertain at this γ whether the score is above 6"
    )
    theirs = pd.read_csv(tmp_path / "cases.csv").set_index("case")
    table = worklist(app).set_index("case")
    assert len(table) == dataset.n_cases and (np.diff(table["certainty"]) > -1e-9).all()
    assert table["certainty"].to_numpy() == pytest.approx(theirs.loc[table.index, "top1"].to_numpy(), abs=0.01)
    assert table["score"].to_numpy() == pytest.approx(theirs.loc[table.index, "score"].to_numpy(), abs=1e-12)
    command = next(block.value for block in app.code if "certainty gaussian" in block.value)
    assert command == "python -m core certainty gaussian essays --reliability 2 --threshold 6"


@pytest.mark.parametrize("page", ["home", "review", "agreement", "ai_rater", "upload"])
def test_pages_of_scores_need_no_threshold(page):
    app = opened(page, ESSAYS)
    assert not app.exception and not app.error and app.title[0].value
    assert all(field.value is None for field in app.number_input if field.key == "threshold")


def test_the_median_that_two_classes_open_with_is_no_threshold_of_scores():
    app = opened("models", ESSAYS)
    assert app.number_input(key="threshold").value == 6.0
    score = load_sample(ESSAYS).score
    sizes = f"{(score <= 6).sum()} at or below 6, and {(score > 6).sum()} above it."
    assert f"{sizes} By default, the threshold is the median of all scores" in words(app)
    assert "is the median of all scores" in words(app) and np.median(score) == 6
    app = settle(app.switch_page("pages/cases.py").run())
    assert app.number_input(key="threshold").value is None
    app.number_input(key="threshold").set_value(6.0).run()
    app = settle(app.switch_page("pages/models.py").run())
    assert "Scores are split into two classes" in words(app) and "is the median of all scores" not in words(app)
    app = settle(app.switch_page("pages/cases.py").run())
    assert app.number_input(key="threshold").value == 6.0


def test_a_threshold_that_leaves_all_scores_on_one_side_is_told_as_that():
    assert not any(
        "Scores differ almost as much within cases as between cases, so the plausible score of each case is close "
        "to the overall mean" in entry.value
        for entry in opened("cases", ESSAYS).warning
    )
    app = opened("models", ESSAYS)
    score = load_sample(ESSAYS).score
    for at, side in ((score.max(), "at most"), (score.min() - 1, "above")):
        app.number_input(key="threshold").set_value(float(at)).run()
        said = next(entry.value for entry in settle(app).warning if "Every score" in entry.value)
        assert said.startswith(
            f"Every score is {side} {at:g}, so this threshold does not split the scores. Scores range from"
        )
        assert f"range from {score.min():g} to {score.max():g}." in said
    assert not app.exception


def test_without_two_scores_of_a_case_the_page_says_why_there_is_no_prior():
    app = opened("cases", kept("case,rater,score\n1,a,1.5\n2,b,2.5\n3,a,4\n"))
    assert "no case has two scores" in words(app) and not app.error


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        (
            {"1": (1.5, 2.5), "2": (4, 4.5)},
            "The data do not determine a₀: its value is at the limit of the search. These scores suggest that the "
            "spread of raters is the same on all cases.",
        ),
        (
            {str(case): (case + 0.5,) * 3 for case in range(3)},
            "The data do not determine k₀ and b₀: their values are at the limits of the search. These scores suggest "
            "that cases differ far more than raters of the same case and raters hardly differ on many cases.",
        ),
    ],
)
def test_what_a_prior_at_its_bounds_says_is_true_of_two_cases_and_of_unanimous_ones(scores, told):
    rows = [f"{case},{rater},{score}" for case, own in scores.items() for rater, score in zip("abc", own, strict=False)]
    app = opened("cases", kept("\n".join(["case,rater,score", *rows, ""])))
    assert told in [caption.value for caption in app.caption] and not app.exception
    assert not re.search(r"(worth|by about|[ab]₀) 0\.00\b", words(app))


def test_predictors_on_the_page_have_the_errors_of_the_command_line(essays, capsys):
    app = opened("reliability", ESSAYS)
    app.number_input(key="threshold").set_value(6.0).run()
    app.session_state["reliability_tabs"] = "Predictors"
    settle(app.run())
    assert main(["sweep", "gaussian", ESSAYS, "--threshold", "6", "--reliabilities", "1,2,3"]) == 0
    told = json.loads(capsys.readouterr().out)["rows"][0]
    table = next(each.value for each in app.dataframe if "total_low" in each.value)
    for name, errors in told["errors"].items():
        mine = table[table["predictor"] == name]
        assert mine["mean"].tolist() == [errors[metric]["mean"] for metric in errors]
        assert mine["total_high"].tolist() == [errors[metric]["total_high"] for metric in errors]
    assert any(
        entry.value.startswith("language model, tuned has the smallest error at every γ") for entry in app.subheader
    )
    below = told["n_below"]["0.9"]
    assert app.title[0].value.startswith(
        f"At γ = 1, it is uncertain in {below} of 160 cases whether the score is above 6"
    )


def test_raters_have_severity_and_spread_and_two_classes_when_asked_for():
    app = opened("raters", ESSAYS)
    found = score_raters(load_sample(ESSAYS))
    ben = found.raters.index("Ben")
    said = app.title[0].value.replace("\\", "")
    assert said.startswith(f"Ben's scores are {-found.severity[ben]:.2f} points (")
    table = next(each.value for each in app.dataframe if "severity" in each.value)
    following = following_of(load_sample(ESSAYS))
    order = np.lexsort((-np.abs(found.severity), -following.lost))  # of equals those farthest from the average first
    assert table["severity"].tolist() == found.severity[order].tolist()
    assert table["lost"].tolist() == sorted(table["lost"], reverse=True) == following.lost[order].round().tolist()
    clear = {name: said for name, said in zip(table["rater"], table["clear"], strict=True) if said}
    assert clear == {"Ben": "severity", "Cleo": "severity", "Eve": "spread"}
    for name, head in {"severity": "severity, 95%", "spread": "spread, 95%"}.items():
        axis = cells.intervals(*(table[f"{name}{end}"].to_numpy() for end in ("", "_low", "_high")), LIGHT,
                               mark=0.0, most=None, width=120)  # fmt: skip
        assert table[head].tolist() == axis, "severity and spread have an axis each"
    assert following.who() in words(app)
    assert re.search(
        r"ICC\(.*\).*, 9 raters: 0\.57 \(.*\), n = 160 cases\. This is the share of score variance", words(app)
    )
    app.segmented_control(key="raters_scores_as").set_value("Two classes, split at a threshold")
    settle(app.run())
    assert "All raters" in [tab.label for tab in app.tabs]


def test_known_scores_stand_on_raters_home_and_reliability_and_nowhere_without_them(essays, monkeypatch):
    """The numbers are those of core, the file's those of a second derivation; none is told where no score is known."""
    files, download = {}, widgets.download
    monkeypatch.setattr(
        widgets,
        "download",
        lambda table, *said, **more: files.update({said[2]: table}) or download(table, *said, **more),
    )
    plain, prior = essays
    gold = np.full(plain.n_cases, np.nan)
    gold[:60] = np.linspace(2, 9, 60)
    dataset = replace(plain, gold_scores=gold, name="gold essays")
    keep(dataset)
    by_gold = scores_by_gold(dataset, score_trust(dataset, prior.model(), [1.0, 2.0, 3.0]))
    app = opened("raters", dataset.digest)
    table = next(each.value for each in app.dataframe if "bias" in each.value)
    assert table["bias"].tolist() == score_gold(dataset).bias.tolist()
    assert f"{score_gold(dataset).words(2)}." in words(app)
    file, off = files["score_gold_file"].set_index("rater"), dataset.score - gold[dataset.case_of_annotation]
    by_rater = pd.Series(off).dropna().groupby(np.array(dataset.raters)[dataset.rater[~np.isnan(off)]])
    assert file["n"].to_dict() == by_rater.size().to_dict()
    assert file["bias"].to_dict() == pytest.approx(by_rater.mean().to_dict())
    assert file["error"].to_dict() == pytest.approx(by_rater.apply(lambda each: each.abs().mean()).to_dict())
    assert ((file["bias_low"] < file["bias"]) & (file["error"] < file["error_high"])).all()
    app = settle(app.switch_page("pages/home.py").run())
    off = next(one for one in app.metric if one.label == "Mean difference from gold")
    assert off.value == f"{by_gold.error[0]:.2f}" and by_gold.words(0, 2) in words(app)
    app = settle(app.switch_page("pages/reliability.py").run())
    table = next(each.value for each in app.dataframe if "width_median" in each.value)
    assert table["held"].tolist() == by_gold.held.tolist() and table["error"].tolist() == by_gold.error.tolist()
    assert by_gold.words(0, 2) in words(app)
    assert "known scores" not in words(opened("raters", ESSAYS))
    assert [one.label for one in opened("home", ESSAYS).metric][-1] == "Mean score"


def test_the_report_of_scores_asks_for_no_threshold_and_has_one_where_it_is_set():
    app = opened("report", ESSAYS)
    assert app.number_input(key="threshold").value is None
    assert not any(box.key == "model" for box in app.selectbox)
    said = words(app)
    assert f"**{SECTIONS['scores']}**" in said and f"**{SECTIONS['certainty']}**" not in said
    app = settle(app.number_input(key="threshold").set_value(6.0).run())
    assert f"**{SECTIONS['certainty']}**" in words(app)


def test_raters_of_dated_scores_are_followed_over_time_and_others_are_not(tmp_path, capsys, monkeypatch):
    files, download = {}, widgets.download
    monkeypatch.setattr(
        widgets,
        "download",
        lambda table, *said, **more: files.update({said[2]: table}) or download(table, *said, **more),
    )
    rng = np.random.default_rng(5)
    case, rater = np.divmod(np.arange(240), 3)
    score = rng.normal(5, 1, 80)[case] + rng.normal(0, 0.4, 240) + 2.0 * ((rater == 0) & (case >= 50))
    days = np.datetime64("2024-03-01") + case
    rows = [f"c{c},{'abc'[r]},{s:.3f},{day}" for c, r, s, day in zip(case, rater, score, days, strict=True)]
    path = tmp_path / "dated.csv"
    path.write_text("\n".join(["case,rater,score,date", *rows]) + "\n")
    address = kept(path.read_text())
    dataset = reopen(address)
    found = score_drifts(dataset, score_raters(dataset))
    app = opened("raters", address)
    one = found.each[0]
    assert found.alarm[0]
    assert app.selectbox(key="score_drift_rater").value == "a"
    before, after = (tuple(f"{end:.2f}".replace("-", "−") for end in part) for part in (one.before, one.after))
    said = "Difference from the other raters: {} ({} to {}) before the change, {} ({} to {}) after.".format(
        *before, *after
    ).replace("-", "−")
    assert said in words(app)
    file = files["score_drift_file"].set_index("rater")
    assert file["n"].tolist() == [80] * 3 and file["p"].tolist() == found.p.tolist()
    assert bool(file["alarm"]["a"]) and file["since"]["a"] == found.day(0)
    assert file.loc["a", ["before", "before_low", "before_high"]].tolist() == list(one.before)
    assert file.loc["a", ["after", "after_low", "after_high"]].tolist() == list(one.after)
    steady = int(np.argmax(found.p))
    app = settle(app.selectbox(key="score_drift_rater").set_value(found.raters[steady]).run())
    assert ("Difference from the other raters:" in words(app)) == bool(found.alarm[steady])
    assert main(["raters", str(path)]) == 0
    told = {row["rater"]: row["drift"] for row in json.loads(capsys.readouterr().out)["raters"]}
    assert told["a"]["alarm"] and told["a"]["since"] == found.day(0)
    assert [told[name]["p"] for name in found.raters] == pytest.approx(found.p.tolist())
    assert "These scores have no dates" in words(opened("raters", ESSAYS))


def test_a_rater_whose_scale_runs_the_other_way_is_the_title_and_stands_in_the_table_and_on_the_command_line(
    capsys, tmp_path
):
    rng = np.random.default_rng(4)
    score = rng.normal(5, 2, 40)[:, None] + rng.normal(0, 0.5, (40, 4))
    score[:, 3] = 10 - score[:, 3]
    rows = [
        f"c{case},{name},{value:.2f}"
        for case in range(40)
        for name, value in zip(("a", "b", "c", "Dr. Q"), score[case], strict=True)
    ]
    text = "\n".join(["case,rater,score", *rows, ""])
    app = opened("raters", kept(text))
    assert (
        app.title[0]
        .value.replace("\\", "")
        .startswith("Dr. Q seems to reverse the scale: their scores fall as the others' rise")
    )
    table = next(frame.value for frame in app.dataframe if "with_others" in frame.value)
    assert "Dr. Q seems to reverse the scale: their scores fall as the others' rise" in words(
        opened("home", kept(text))
    )
    assert [("direction" in clear) for clear in table["clear"]] == [name == "Dr. Q" for name in table["rater"]]
    for page, told in (("cases", True), ("reliability", True), ("review", False)):  # reviewers read blind
        shown = opened(page, kept(text))
        assert (
            any(
                "Scores differ almost as much within cases as between cases, so the plausible score of each case is "
                "close to the overall mean" in entry.value
                for entry in shown.warning
            )
            == told
        ), page
        assert ("do not distinguish between cases" in shown.title[0].value) == (page == "cases")
    (tmp_path / "s.csv").write_text(text)
    main(["certainty", "gaussian", str(tmp_path / "s.csv"), "--reliability", "1"])
    assert (
        "Scores differ almost as much within cases as between cases, so the plausible score of each case is close "
        "to the overall mean"
    ) in capsys.readouterr().err
    main(["raters", str(tmp_path / "s.csv")])
    told = {row["rater"]: row for row in json.loads(capsys.readouterr().out)["raters"]}
    assert told["Dr. Q"]["against"] and not told["a"]["against"]
    assert told["Dr. Q"]["with_others_high"] == pytest.approx(table.set_index("rater").at["Dr. Q", "with_others_high"])
