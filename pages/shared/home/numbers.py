"""The first sentence of Home, and its four figures with their intervals."""

import numpy as np
import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.agreement.coefficient_methods import CoefficientMethod
from core.agreement.intervals import Coefficient, share_of
from core.analyses.cases.certainty import CaseCertainty
from core.analyses.models.average import flips as unanimous_flips
from core.annotations.dataset import Dataset
from core.certainty.shares import CertaintyShares
from core.evaluation.choice import at_least, leaders
from core.evaluation.gold_accuracy import gold_accuracy
from core.evaluation.metrics import TOP, first_metric, metric_names
from core.evaluation.sweep_table import SweepTable
from core.figures.classifiers import metric_title
from core.methods import method_named
from core.models.gold import gold_cases, note_of_one_class
from core.order import FITTED, highest_first, lowest_first
from core.text import (
    as_name,
    exact,
    markdown,
    number,
    percent,
    percent_range,
    percent_with_interval,
    plural,
    shorten,
    with_interval,
)
from core.thresholds import CLEARLY_AHEAD, UNCERTAIN_BELOW
from pages.shared.cache import home as cached_home
from pages.shared.home import known as home_known
from pages.shared.kit import opening, plausibility_models, state, widgets


def sentence(dataset: Dataset, found: ApplicableCoefficients | None, certain: CaseCertainty | None) -> str:
    """Return the headline: how much raters agree, and how many cases remain uncertain."""
    name = markdown(shorten(dataset.name, 44))
    uncertain = "" if certain is None else _uncertain_said(certain.shares, dataset)
    if found is None:
        return f"{name}: agreement cannot be determined, because no case was annotated twice"
    main = _main(found)
    if main.value is None:
        return f"{name}: agreement cannot be computed" + (f", and {uncertain}" if uncertain else "")
    if found.kind == "score":
        words = f"{percent(main.value)} of the variance in scores is due to cases, not raters"
        if main.ci_low is None or main.ci_low <= 0:
            words = "no evidence that raters agree on scores"
        if main.value == 1.0:  # no two scores of a case differ, and there is no interval
            words = "raters agree on every score"
    elif found.kind == "set":
        words = f"agreement on label sets (α) is {number(main.value)}"
    elif main.value == 1.0:
        words = "raters agree on everything"
    else:
        words = f"raters agree on {found.agreed(percent(main.value))}"
    return f"{name}: {words}" + (f", and {uncertain}" if uncertain else "")


def _uncertain_said(shares: CertaintyShares, dataset: Dataset) -> str:
    """How many cases are uncertain, as the end of a sentence."""
    about = f" for “{markdown(state.split(dataset))}”" if dataset.kind == "set" else ""
    n, n_cases, n_single = shares.n_uncertain, shares.uncertain.size, int(shares.single.sum())
    if shares.why_none:
        return f"{shares.why_none[0].lower()}{shares.why_none[1:]}"
    one = f" ({n_single:,} {'other has' if n_single == 1 else 'others have'} only one annotation)" if n_single else ""
    if not n:
        one = f", but {n_single:,} {'has' if n_single == 1 else 'have'} only one annotation" if n_single else ""
        return f"no case is uncertain{about}{one}"
    every = {1: "the one case", 2: "both cases"}.get(n, f"all {n:,} cases")
    which = every if n == n_cases else f"{n:,} of {plural(n_cases, 'case')}"
    return f"{which} {'is' if n == 1 else 'are'} uncertain{about}{one}"


def cases(dataset: Dataset) -> None:
    """How many cases there are, and how many annotations each has."""
    st.metric("Cases", f"{dataset.n_cases:,}")
    each = np.diff(dataset.case_ptr)
    low, high = int(each.min()), int(each.max())
    spread = plural(high, "annotation") if low == high else f"{low:,} to {high:,} annotations"
    st.caption(f"{spread} each, {dataset.n_annotations:,} in total")


def agreement(found: ApplicableCoefficients | None, why: str) -> None:
    """Agreement with its interval, and beyond chance."""
    if found is None:
        st.metric("Raters agree on", "–")
        st.caption(markdown(why[:1].upper() + why[1:]) + ".")
        return
    main = _main(found)
    if found.kind == "set":
        st.metric("Agreement on label sets, α", number(main.value), help=widgets.explained(main.name))
        st.caption(_ends(main) + f", {main.weights}, n = {plural(main.n_cases, 'case')}")
        return
    if found.kind == "score":
        title = method_named(CoefficientMethod, main.name).title
        value = "–" if main.value is None else percent(main.value)
        st.metric("Score variance due to cases", value, help=widgets.explained(main.name))
        st.caption(_ends(main, in_percent=True) + f", {title}, n = {plural(main.n_cases, 'case')}")
        return
    value = "–" if main.value is None else percent(main.value)
    st.metric(found.pairs_title, value, help=widgets.explained(main.name))
    quoted = found.quoted
    beyond = ""
    if quoted.value is not None:
        beyond = f"; beyond chance, α = {with_interval(quoted.value, quoted.ci_low, quoted.ci_high)}"
    st.caption(_ends(main, in_percent=True) + beyond)


def uncertain(views: home_known.Views, certain: CaseCertainty | None) -> None:
    """Share of cases whose certainty stays low, with an interval over cases; no number while γ is being chosen."""
    help_sign = widgets.explained("annotation certainty")
    if certain is None:
        st.metric("Uncertain cases", "–", help=help_sign)
        not_yet = opening.CHOOSING if views.settings.reliability_open else "Not computed yet."
        st.caption(not_yet if views.plausible.n_annotations else "No annotation can be used.")
        return
    shares, model = certain.shares, plausibility_models.method(views.model.name).title
    by = f"({model}, γ = {exact(views.reliability)})"
    if shares.why_none:
        st.metric("Uncertain cases", "–", help=help_sign)
        st.caption(f"{shares.why_none} {by}. {shares.beside}")
        return
    share, n_single = share_of(shares.n_uncertain, shares.uncertain.size), int(shares.single.sum())
    one = f" {plural(n_single, 'case has', 'cases have')} only one annotation." if n_single else ""
    st.metric("Uncertain cases", percent(share.value), help=help_sign)
    st.caption(
        f"95% interval {percent_range(share.low, share.high)}. Certainty is below {percent(UNCERTAIN_BELOW)} in "
        f"{shares.n_uncertain:,} of {plural(share.n, 'case')} {by}.{one}"
    )
    if more := certain.more_words():
        st.caption(more, help=widgets.explained("more raters"))


def metric_of(views: home_known.Views) -> str:
    """Return the metric by which classifiers are compared here."""
    return first_metric(TOP, views.plausible.n_classes)


def by_gold(views: home_known.Views) -> None:
    """How often the most probable class is right by gold: of the rater model, of the vote if there is none."""
    if views.settings.rater_model_open:
        _awaited("Correct by gold", "gold")
        return
    vote, judged, asked = (
        cached_home.vote_by_gold(views.classes),
        opening.choice(views.classes),
        views.settings.rater_model,
    )
    measures, title = vote, "majority vote"
    if judged is not None and asked is not None and asked.model in judged[1]:
        measures, title = judged[1][asked.model], asked.title
    right = measures.accuracy
    st.metric("Correct by gold", percent(right.value), help=widgets.explained("gold"))
    beside = "" if measures is vote else f". Majority vote: {percent(vote.accuracy.value)}"
    st.caption(f"{percent_range(right.low, right.high)} ({title}), n = {plural(measures.n, 'case')} with gold{beside}")
    if note := note_of_one_class(views.classes):
        st.caption(markdown(note))


def flips(views: home_known.Views) -> None:
    """Show how many unanimous cases the initial model gives another class, if any."""
    averaged = views.settings.averaged
    if averaged is not None and averaged.flipped:
        subject = "The average of rater models" if averaged.members else "The smoothed vote"
        st.caption(markdown(unanimous_flips(averaged, subject)))


def _awaited(label: str, term: str) -> None:
    """Draw the placeholder of a number that depends on the rater model, until that is chosen."""
    st.metric(label, "–", help=widgets.explained(term))
    st.caption(opening.CHOOSING_RATERS)


def classifier(views: home_known.Views, sweep: SweepTable | None) -> None:
    """Draw the best classifier with its interval over plausible truths, and its result by gold, if any."""
    metric, reliability = metric_of(views), views.reliability
    title = f"Best classifier, {metric_title(metric)}"
    leader = None
    if sweep is not None:
        nearest = min(sweep.reliabilities, key=lambda value: abs(np.log(value / reliability)))
        evaluation = sweep.evaluation[sweep.reliabilities.index(nearest)]
        leader = next(iter(leaders([evaluation], metric)), None)
    if leader is None:
        st.metric(title, "–", help=widgets.explained("top3 accuracy"))
        not_yet = opening.CHOOSING if views.settings.reliability_open else "Not computed yet."
        st.caption(not_yet if sweep is None else "No classifier has predictions for these cases.")
        return
    if len(evaluation.values) < 2:
        title = f"Classifier, {metric_title(metric)}"
    elif leader.p is None or leader.p < CLEARLY_AHEAD:
        title = f"Highest {metric_title(metric)} of {len(evaluation.values)} classifiers"
    value = evaluation.values[leader.name][metric]
    st.metric(title, percent(value.mean), help=widgets.explained("top3 accuracy"))
    others = "the other classifier" if len(evaluation.values) == 2 else "every other classifier"
    lead = "" if leader.p is None else f" It beats {others} with at least {percent(at_least(leader.p))} probability."
    st.caption(
        f"“{markdown(shorten(leader.name, 24))}”: {percent_range(value.ci_low, value.ci_high)} at "
        f"γ = {exact(nearest)}.{lead}{_classifier_by_gold(views, leader.name, metric)}"
    )


def _classifier_by_gold(views: home_known.Views, name: str, metric: str) -> str:
    if not len(gold_cases(views.plausible)):
        return ""
    one = [each for each in views.classifiers if each.name == name]
    found = gold_accuracy(views.plausible, one, 1 if metric == metric_names(TOP)[0] else TOP)
    if not found.n[0]:
        return ""
    ends = percent_with_interval(float(found.value[0]), float(found.low[0]), float(found.high[0]))
    return f" Against gold: {ends}, n = {plural(int(found.n[0]), 'case')}."


def prevalence(views: home_known.Views) -> None:
    """Share of a class with its interval: of two classes the one with the lower share, else that with the highest."""
    view = views.classes
    if not view.n_annotations:
        st.metric("Prevalence", "–", help=widgets.explained("prevalence"))
        st.caption("No annotation has a single first choice.")
        return
    place = st.container()
    found = home_known.prevalence(views)
    if found is None:
        with place:
            _awaited("Prevalence", "prevalence")
        return
    shares, source = found
    order = lowest_first if view.n_classes == 2 else highest_first
    code = int(order(np.round([share.value for share in shares], FITTED))[0])
    share = shares[code]
    with place:
        name = markdown(as_name(shorten(view.classes[code], 28)))
        st.metric(f"Prevalence of {name}", percent(share.value), help=widgets.explained("prevalence"))
        ends = "no interval" if np.isnan(share.low) else percent_range(share.low, share.high)
        st.caption(f"{ends[0].upper()}{ends[1:]} ({source}), n = {plural(share.n, 'case')}")


def mean_score(dataset: Dataset) -> None:
    """Mean of the scores with its interval."""
    mean, low, high = cached_home.score_mean(dataset)
    st.metric("Mean score", number(mean))
    st.caption("No interval: one case." if np.isnan(low) else f"95% interval {number(low)} to {number(high)}")


def _main(found: ApplicableCoefficients) -> Coefficient:
    return found.percentage or found.quoted


def _ends(one: Coefficient, *, in_percent: bool = False) -> str:
    if one.value is None:
        return "Undefined"
    if one.ci_low is None:
        return "No interval"
    if in_percent:
        return percent_range(one.ci_low, one.ci_high)
    return f"{number(one.ci_low)} to {number(one.ci_high)}"
