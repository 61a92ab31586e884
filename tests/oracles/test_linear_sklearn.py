"""Parity with scikit-learn: TF-IDF of one block, logistic regression, and thresholds on a grid."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.models.text import FeatureSettings, best_thresholds, read_labelled_texts
from affectlab.models.text.decisions import fit_scaling
from affectlab.models.text.features import cut, learn_features
from affectlab.models.text.linear import LinearTextClassifier
from affectlab.models.text.linear.logistic import MultiLabelLogistic

sklearn = pytest.importorskip("sklearn")

from sklearn.calibration import calibration_curve  # noqa: E402
from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: E402
from sklearn.isotonic import IsotonicRegression  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import f1_score  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402

RNG = np.random.default_rng(0)
VOCABULARY = [f"{a}{b}" for a in "klmnprst" for b in ("a", "o", "ina", "ert")]


def texts_of(n):
    return [" ".join(RNG.choice(VOCABULARY, size=RNG.integers(1, 12))) for _ in range(n)]


def test_weighting_of_tokens():
    texts = texts_of(80)
    settings = FeatureSettings(pairs=False, pieces=None, min_texts=2)
    features, matrix = learn_features(texts, settings)
    peer = TfidfVectorizer(
        tokenizer=cut, token_pattern=None, lowercase=False, sublinear_tf=True, min_df=2
    )
    expected = peer.fit_transform(texts).toarray()
    columns = [peer.vocabulary_[token] for token in features.tokens]
    assert len(columns) == expected.shape[1]
    assert np.allclose(matrix.toarray(), expected[:, columns], atol=1e-6)


def test_pieces_of_words():
    texts = texts_of(80)
    settings = FeatureSettings(pairs=False, pieces=(3, 5), min_texts=1, min_texts_piece=2)
    features, matrix = learn_features(texts, settings)
    peer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, min_df=2, lowercase=False
    )
    expected = peer.fit_transform(texts)
    # scikit-learn takes a word that is shorter than a piece once, as a piece; so do we.
    columns = [peer.vocabulary_[piece] for piece in features.pieces]
    assert len(columns) == expected.shape[1]
    ours = matrix.toarray()[:, len(features.tokens) :]
    assert np.allclose(ours, expected.toarray()[:, columns], atol=1e-6)


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
def test_weights_of_one_against_the_rest(cost):
    texts = texts_of(300)
    _, matrix = learn_features(texts, FeatureSettings(min_texts_piece=2))
    truth = RNG.random((300, 3)) < 0.2 + 0.5 * (matrix[:, :3].toarray() > 0)
    ours = MultiLabelLogistic(cost=cost, tolerance=1e-6).fit(matrix, truth)
    peer = OneVsRestClassifier(LogisticRegression(C=cost, tol=1e-8, max_iter=10000))
    peer.fit(matrix, truth.astype(int))
    mine = ours.decision_function(matrix)
    assert ours.converged_
    assert np.allclose(mine, peer.decision_function(matrix), atol=5e-3)


def test_no_threshold_of_a_grid_is_better():
    truth = RNG.random((500, 4)) < [0.4, 0.2, 0.1, 0.02]
    scores = np.clip(0.3 * truth + RNG.random(truth.shape) * 0.7, 0, 1)
    found, reached = best_thresholds(scores, truth)
    for label in range(4):
        own = f1_score(truth[:, label], scores[:, label] >= found[label])
        assert own == pytest.approx(reached[label])
        grid = [f1_score(truth[:, label], scores[:, label] >= c) for c in np.arange(0.01, 1, 0.01)]
        assert own >= max(grid)


def test_isotonic_calibration():
    logits = RNG.normal(size=(400, 1)) * 3
    truth = RNG.random((400, 1)) < 1 / (1 + np.exp(-logits / 2))
    ours = fit_scaling(logits, truth, "isotonic").apply(logits)[:, 0]
    peer = IsotonicRegression(out_of_bounds="clip").fit(logits[:, 0], truth[:, 0])
    assert np.allclose(ours, peer.predict(logits[:, 0]), atol=1e-9)


def test_temperature_is_the_slope_of_a_regression_without_intercept():
    logits = RNG.normal(size=(5000, 1)) * 4
    truth = RNG.random((5000, 1)) < 1 / (1 + np.exp(-logits / 2.5))
    ours = fit_scaling(logits, truth, "temperature").temperature
    peer = LogisticRegression(C=1e10, fit_intercept=False).fit(logits, truth[:, 0])
    assert ours == pytest.approx(1 / peer.coef_[0, 0], rel=1e-3)


def test_reliability_diagram():
    texts = texts_of(400)
    labels = [["joy"] if RNG.random() < 0.5 else ["fear"] for _ in texts]
    model = LinearTextClassifier(taxonomy="ekman").fit(texts, labels)
    found = model.reliability(texts, labels, n_bins=10)
    truth = np.array([[name in own for name in model.labels] for own in labels])
    share, mean = calibration_curve(truth.ravel(), model.predict_proba(texts).ravel(), n_bins=10)
    bins = found.bins.filter(found.bins["n"] > 0)
    assert np.allclose(bins["confidence"].to_numpy(), mean)
    assert np.allclose(bins["share"].to_numpy(), share)


@pytest.mark.long
@pytest.mark.data
def test_published_data_give_the_same_probabilities(shared_data):
    """A part of the published data, so that the peer takes seconds."""
    dev = read_labelled_texts(shared_data / "goemotions" / "dev.tsv")
    _, matrix = learn_features(dev.texts, FeatureSettings())
    ours = MultiLabelLogistic(cost=0.7, tolerance=1e-6).fit(matrix, dev.targets[:, :4])
    peer = OneVsRestClassifier(LogisticRegression(C=0.7, tol=1e-7, max_iter=10000))
    peer.fit(matrix, dev.targets[:, :4].astype(int))
    mine = 1 / (1 + np.exp(-(ours.decision_function(matrix))))
    assert np.allclose(mine, peer.predict_proba(matrix), atol=1e-3)
