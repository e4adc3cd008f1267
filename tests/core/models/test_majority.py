"""Majority vote against counting by hand."""

import numpy as np
import pytest
from scipy.special import gammaln

from core.certainty.top_sets import annotation_certainty
from core.errors import LimitError, NotApplicableError
from core.ingest.read_files import read
from core.ingest.samples import load_sample
from core.models.majority import MajorityVote
from core.models.vote_prior import annotation_weights, learn_vote_prior
from core.plausibility.dirichlet import DirichletCounts


def random_rows(seed, n_cases=20, n_raters=4, n_classes=3):
    rng = np.random.default_rng(seed)
    return [
        (case, rater, int(rng.integers(n_classes)))
        for case in range(n_cases)
        for rater in range(n_raters)
        if rng.random() < 0.6
    ]


@pytest.mark.parametrize("seed", range(6))
def test_shares_winners_and_matrices_are_what_counting_gives(seed, build):
    rows = random_rows(seed)
    fit = MajorityVote().fit(build(rows, 3, 20, 4))
    winners = {}
    for case in range(20):
        answers = [answer for c, _, answer in rows if c == case]
        votes = [answers.count(k) for k in range(3)]
        if answers:
            assert fit.class_probability[case] == pytest.approx([vote / len(answers) for vote in votes])
            first = [k for k in range(3) if votes[k] == max(votes)]
            winners[case] = [1 / len(first) if k in first else 0 for k in range(3)]
            assert fit.top_class()[case] == (first[0] if len(first) == 1 else -1)
        else:
            assert fit.class_probability[case] == pytest.approx([1 / 3] * 3)
    assert fit.prevalence == pytest.approx(np.mean(list(winners.values()), axis=0))
    for rater in range(4):
        for true in range(3):
            seen = [(winners[case][true], answer) for case, r, answer in rows if r == rater]
            mass = sum(weight for weight, _ in seen)
            assert fit.evidence[rater, true] == pytest.approx(mass)
            for answered in range(3):
                share = sum(weight for weight, answer in seen if answer == answered)
                expected = share / mass if mass else 1 / 3
                assert fit.confusion[rater, true, answered] == pytest.approx(expected)


def test_accuracy_is_the_prevalence_weighted_diagonal(build):
    fit = MajorityVote().fit(build(random_rows(1), 3, 20, 4))
    for rater in range(4):
        expected = sum(fit.prevalence[k] * fit.confusion[rater, k, k] for k in range(3))
        assert fit.accuracy()[rater] == pytest.approx(expected)


def test_caries_by_majority_has_a_prevalence_of_13_percent():
    """Where Dawid-Skene says 0.196."""
    fit = MajorityVote().fit(load_sample("caries"))
    assert fit.prevalence[fit.classes.index("1")] == pytest.approx(0.134, abs=5e-4)


def test_without_any_answer_there_is_nothing_to_vote_on(build):
    dataset = build([(0, 0, 0)], 2, 3)
    empty = dataset.__class__(
        "empty", "class", dataset.cases, dataset.raters, dataset.classes, np.zeros(4, np.int64), np.empty(0, np.int32)
    )
    with pytest.raises(NotApplicableError, match="there are no annotations"):
        MajorityVote().fit(empty)


def test_one_annotation_per_case_is_enough(build):
    fit = MajorityVote().fit(build([(0, 0, 0), (1, 0, 1), (2, 1, 1)], 2))
    assert fit.prevalence == pytest.approx([1 / 3, 2 / 3])
    assert fit.converged and fit.log_likelihood is None


def test_tables_beyond_the_limit_are_refused_with_their_sizes(build, monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "59")
    with pytest.raises(LimitError, match="20 cases × 3 classes = 60"):
        MajorityVote().fit(build(random_rows(1), 3, 20, 4))


# Vote prior: The prior of counts: published figures, a slow reference, and who counts as one rater.


def panel(seed, n_cases, n_classes, n_raters, accuracy, prevalence=None):
    """Every rater on every case, correct with the same probability."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_classes, size=n_cases, p=prevalence)
    right = rng.random((n_cases, n_raters)) < accuracy
    wrong = (truth[:, None] + rng.integers(1, n_classes, right.shape)) % n_classes
    answer = np.where(right, truth[:, None], wrong)
    return [(i, j, int(answer[i, j])) for i in range(n_cases) for j in range(n_raters)]


def certainty_by_votes(dataset):
    """Certainty at γ = 1 with the learned prior, by the counts of a case, the largest first."""
    alpha = learn_vote_prior(dataset).strength / dataset.n_classes
    found = annotation_certainty(DirichletCounts(alpha=alpha), dataset, reliability=1.0, n_draws=50)
    votes = [
        tuple(sorted((n for n in np.bincount(row) if n), reverse=True))
        for row in np.split(dataset.answer, dataset.case_ptr[1:-1])
    ]
    return dict(zip(votes, found.certainty[:, 0].tolist(), strict=True))


@pytest.mark.parametrize(("n_cases", "strength"), [(5, 0.5), (10, 0.22), (20, 0.105), (40, 0.05), (100, 0.02)])
def test_strength_of_unanimous_pairs_falls_with_their_number(n_cases, strength, build):
    found = learn_vote_prior(build([(case, rater, case % 2) for case in range(n_cases) for rater in (0, 1)], 2))
    assert found.learned and found.n_cases == n_cases
    assert found.strength == pytest.approx(strength, abs=0.0055)


@pytest.mark.parametrize("seed", range(3))
def test_certainty_of_usual_designs_is_as_published(seed, build):
    double = certainty_by_votes(build(panel(seed, 200, 2, 2, 0.95), 2))
    assert double[(2,)] >= 0.97 and double[(1, 1)] == pytest.approx(0.5)
    screening = certainty_by_votes(build(panel(seed, 300, 2, 3, 0.98, (0.99, 0.01)), 2))
    assert screening[(3,)] >= 0.995 and screening[(2, 1)] == pytest.approx(0.74, abs=0.01)
    ten = certainty_by_votes(build(panel(seed, 200, 10, 3, np.sqrt(0.9)), 10))
    assert ten[(3,)] == pytest.approx(0.99, abs=0.006)
    coins = certainty_by_votes(build(panel(seed, 200, 2, 5, 0.5), 2))
    assert max(coins.values()) <= 0.89


@pytest.mark.parametrize("seed", range(4))
def test_strength_maximises_the_likelihood_written_out(seed, build):
    rng = np.random.default_rng(seed)
    rows = [(i, j, int(rng.integers(3)) if rng.random() < 0.4 else i % 3) for i in range(30) for j in range(4)]
    rows = [row for row in rows if rng.random() < 0.7]
    dataset = build(rows, 3, 30, 4)

    def log_likelihood(s):
        total = np.log(s / (s + 1))
        for start, stop in zip(dataset.case_ptr[:-1], dataset.case_ptr[1:], strict=True):
            n = np.bincount(dataset.answer[start:stop], minlength=3)
            if n.sum() > 1:
                total += gammaln(s) - gammaln(s + n.sum()) + (gammaln(s / 3 + n) - gammaln(s / 3)).sum()
        return total

    best = learn_vote_prior(dataset).strength
    assert all(log_likelihood(best) >= log_likelihood(best * times) for times in (0.97, 0.999, 1.001, 1.03, 2, 0.5))


def test_raters_of_a_family_and_repeats_of_a_rater_count_as_one(build):
    two = build(panel(1, 60, 2, 2, 0.8), 2)
    copied = build([*panel(1, 60, 2, 2, 0.8), *((i, j + 2, a) for i, j, a in panel(1, 60, 2, 2, 0.8) if j == 1)], 2)
    assert learn_vote_prior(copied).strength < 0.8 * learn_vote_prior(two).strength
    found = learn_vote_prior(copied, np.array([0, 1, 1, 1])[: copied.n_raters])
    assert found.strength == pytest.approx(learn_vote_prior(two).strength, rel=1e-6)
    again = build([*panel(1, 60, 2, 2, 0.8), *((i, j, a) for i, j, a in panel(1, 60, 2, 2, 0.8) if j == 0)], 2)
    assert learn_vote_prior(again).strength == pytest.approx(learn_vote_prior(two).strength, rel=1e-6)
    assert annotation_weights(again).sum() == pytest.approx(120)


@pytest.mark.parametrize(
    ("rows", "n_classes"),
    [
        ([(case, rater, 0) for case in range(4) for rater in (0, 1)], 3),
        ([(case, case % 2, case % 3) for case in range(30)], 3),
        ([(case, 0, case % 2) for case in range(20) for _ in range(2)], 2),
    ],
    ids=["four cases", "one annotation per case", "one rater twice"],
)
def test_prior_is_one_annotation_per_class_for_few_cases(rows, n_classes, build):
    found = learn_vote_prior(build(rows, n_classes, n_raters=2))
    assert not found.learned and found.strength == n_classes and found.n_cases < 5


def test_anonymous_annotations_count_as_one_rater_each():
    rows = "".join(f"{case},{'xy'[case % 2]}\n{case},{'xy'[case % 2]}\n" for case in range(10))
    found = learn_vote_prior(read(f"case,class\n{rows}".encode(), rater="none").dataset)
    assert found.n_cases == 10 and found.strength == pytest.approx(0.2222, abs=1e-3)
