"""Metrics of groups: each beside an independent one, for any weights of the units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, recall_score

from affectlab.core.errors import InputError
from affectlab.evaluation import AnswerMetric, fairness, load_metric
from affectlab.evaluation.group_fairness.metrics import Compared
from affectlab.ratings import Ratings
from affectlab.reliability import krippendorff_alpha


def rows(n=40, labels=1, raters=1, seed=0, nominal=False) -> Compared:
    """Answers of several people to all stimuli and labels, each stimulus a unit."""
    rng = np.random.default_rng(seed)
    stimulus, label, rater = (at.ravel().astype(np.int64) for at in np.indices((n, labels, raters)))
    truth = rng.integers(0, 6, stimulus.size).astype(float)
    answer = np.clip(truth + rng.integers(-2, 3, stimulus.size), 0, 5)
    names = tuple("abcdef") if nominal else tuple(f"l{k}" for k in range(labels))
    return Compared(stimulus, n, label, names, stimulus, rater, answer, truth, nominal=nominal)


def weights(n, seed=1, b=5):
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, np.full(n, 1 / n), b).astype(float)
    drawn[-1] = np.arange(n) % 3 == 0
    return drawn


def repeated(data: Compared, row):
    """Truth and answers with every row as often as its unit counts."""
    count = row[data.unit].astype(int)
    return np.repeat(data.truth, count), np.repeat(data.answer, count)


PEERS = {
    "mae": lambda t, a: np.abs(a - t).mean(),
    "bias": lambda t, a: (a - t).mean(),
    "mean": lambda t, a: a.mean(),
    "spearman": lambda t, a: spearmanr(t, a).statistic,
    "quadratic_kappa": lambda t, a: cohen_kappa_score(
        t.astype(int), a.astype(int), weights="quadratic", labels=range(6)
    ),
}
CLASS_PEERS = {
    "accuracy": accuracy_score,
    "macro_f1": lambda t, a: f1_score(t, a, average="macro"),
    "kappa": cohen_kappa_score,
}


@pytest.mark.parametrize("name", PEERS)
def test_scores_beside_a_peer(name):
    data, drawn = rows(), weights(40)
    expected = [PEERS[name](*repeated(data, row)) for row in drawn]
    np.testing.assert_allclose(load_metric(name)(data, drawn), expected)


@pytest.mark.parametrize("name", CLASS_PEERS)
def test_classes_beside_a_peer(name):
    data, drawn = rows(nominal=True), weights(40)
    expected = [CLASS_PEERS[name](*repeated(data, row)) for row in drawn]
    np.testing.assert_allclose(load_metric(name)(data, drawn), expected)


@pytest.mark.parametrize("name", ["spearman", "quadratic_kappa"])
def test_labels_and_people_are_averaged(name):
    data, drawn = rows(labels=3, raters=2 if name == "quadratic_kappa" else 1), weights(40)
    parts = [
        data.take((data.label == label) & (data.rater == rater))
        for label in range(3)
        for rater in np.unique(data.rater)
    ]
    expected = [np.mean([PEERS[name](*repeated(part, row)) for part in parts]) for row in drawn]
    np.testing.assert_allclose(load_metric(name)(data, drawn), expected)


@pytest.mark.parametrize("nominal", [False, True])
def test_alpha_is_that_of_reliability(nominal):
    data = rows(raters=4, nominal=nominal)
    kept = np.random.default_rng(5).random(data.answer.size) < 0.7
    data = data.take(kept)
    level = "nominal" if nominal else "interval"
    alpha = load_metric("alpha")

    def peer(part: Compared) -> float:
        matrix = np.full((4, 40), np.nan)
        matrix[part.rater, part.stimulus] = part.answer
        return krippendorff_alpha(matrix, level=level).value

    some = np.array([np.ones(40), np.arange(40) % 2])
    expected = [peer(data), peer(data.take(data.stimulus % 2 == 1))]
    np.testing.assert_allclose(alpha(data, some), expected)
    by_rater = Compared(
        data.rater, 4, data.label, data.labels, data.stimulus, data.rater, data.answer,
        data.truth, of_raters=True, nominal=nominal,
    )  # fmt: skip
    of_people = np.array([[1.0, 1, 1, 1], [1, 0, 1, 1]])
    expected = [peer(data), peer(data.take(data.rater != 1))]
    np.testing.assert_allclose(alpha(by_rater, of_people), expected)
    twice = alpha(by_rater, np.array([[2.0, 0, 0, 0], [2, 1, 0, 0]]))
    # Somebody drawn twice does not agree with themselves.
    assert np.isnan(twice[0])
    once = peer(data.take(data.rater < 2))
    assert abs(twice[1] - once) < 0.2


def test_nothing_defined_is_nan():
    data = rows()
    none = np.zeros((1, 40))
    for name in (*PEERS, "alpha"):
        assert np.isnan(load_metric(name)(data, none)[0]), name
        assert np.isnan(load_metric(name)(data.take(data.unit < 0), none)[0]), name


def test_a_function_becomes_a_metric():
    data, drawn = rows(), weights(40)
    metric = load_metric(lambda truth, answer: np.abs(answer - truth).max())
    expected = [np.abs(np.subtract(*repeated(data, row))).max() for row in drawn]
    assert metric(data, drawn).tolist() == expected
    classes = rows(nominal=True)
    named = AnswerMetric.of(
        lambda truth, answer: recall_score(truth, answer, labels=["b"], average="macro"),
        "recall_b",
        needs="classes",
    )
    first = repeated(classes, drawn[0])
    assert named(classes, drawn)[0] == pytest.approx(
        recall_score(*first, labels=[1.0], average="macro")
    )


def test_a_metric_of_ones_own_in_fairness():
    stimuli = [f"s{k}" for k in range(30)]
    people = Ratings(
        {"stimulus": stimuli * 2, "rater": ["a"] * 30 + ["b"] * 30, "value": [3] * 60},
        scale="0-7",
        stimuli={"stimulus": stimuli, "light": ["dark", "bright"] * 15},
    )
    model = Ratings({"stimulus": stimuli, "rater": ["m"] * 30, "value": [5, 3] * 15}, scale="0-7")

    def within_one(truth, answer):
        return (np.abs(truth - answer) <= 1).mean()

    metric = AnswerMetric.of(within_one, better="higher")
    found = fairness(people, model, by="light", metric=metric, n_permutations=199, seed=1)
    assert found.groups["m", "dark"].value == 0
    assert found.groups["m", "bright"].value == 1
    row = found.gaps.frame.filter(flagged=True).row(0, named=True)
    assert (row["group"], row["value"]) in (("dark", -1), ("bright", 1))


@pytest.mark.parametrize(
    ("metric", "words"),
    [("meh", "did you mean"), (3, "or a function, not int"), ("", "unknown metric")],
)
def test_bad_metrics(metric, words):
    with pytest.raises(InputError, match=words):
        load_metric(metric)


def test_a_function_must_give_a_number():
    metric = load_metric(lambda truth, answer: "high")
    with pytest.raises(InputError, match="gives str; expected a number"):
        metric(rows(), weights(40))
    with pytest.raises(InputError, match="cannot need 'people'"):
        AnswerMetric.of(max, needs="people")
