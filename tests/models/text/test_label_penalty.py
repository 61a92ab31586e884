"""The label penalty of networks: the formula, its relations, and what it does to probabilities."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from affectlab import load_taxonomy
from affectlab.core.errors import InputError
from affectlab.models.text.label_penalty import label_relations, laplacian
from affectlab.models.text.networks.loop import Problem, Split, train
from affectlab.models.text.settings import Training
from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier
from affectlab.taxonomy import Taxonomy
from affectlab.taxonomy.label import Label

from .tiny import WORDS, one_thread, texts_of

__all__ = ["one_thread"]

TAXONOMY = Taxonomy.from_labels(list(WORDS))
SMALL = {
    "taxonomy": TAXONOMY,
    "hidden": 24,
    "width": 12,
    "batch_size": 16,
    "learning_rate": 2e-2,
    "epochs": 6,
    "dropout": 0.0,
    "device": "cpu",
}


def by_loop(probabilities, relations):
    """Mean over texts and all pairs of labels of R (p - q)^2, one term after the other."""
    n, k = probabilities.shape
    total = 0.0
    for text in range(n):
        for i in range(k):
            for j in range(k):
                total += relations[i, j] * (probabilities[text, i] - probabilities[text, j]) ** 2
    return total / (n * k * k)


class Still(nn.Module):
    """Gives the logits that it holds."""

    def __init__(self, logits):
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(logits))
        self.output = nn.Linear(1, logits.shape[1])

    def forward(self, rows):
        return self.logits[rows]


def step_of(logits, targets, coupling, micro_batch=None):
    """One step of gradient descent with rate 1: what is subtracted is the gradient."""
    network = Still(logits)
    problem = Problem(
        network,
        lambda rows: {"rows": torch.tensor(np.array(rows)).flatten()},
        lambda part, inputs: part(**inputs),
        network.output,
    )
    settings = Training(
        epochs=1, batch_size=len(logits), learning_rate=1.0, schedule="constant", clip=0.0,
        optimiser="sgd", weight_decay=0.0, device="cpu", micro_batch=micro_batch,
    )  # fmt: skip
    data = Split(np.arange(len(logits))[:, None], targets)
    train(problem, data, None, settings, n_labels=3, coupling=coupling)
    return logits - network.logits.detach().numpy()


@pytest.mark.parametrize("micro_batch", [None, 2])
def test_training_descends_the_formula(micro_batch):
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(5, 4)).astype(np.float32)
    targets = (rng.random((5, 4)) < 0.4).astype(float)
    relations = np.array([[0, 0.7, -1], [0.7, 0, -0.2], [-1, -0.2, 0]])
    weight, k = 3.0, 3
    coupling = weight * 2 / k**2 * laplacian(relations)

    def loss(at):
        plain = np.mean(np.logaddexp(0.0, at) - targets * at)
        # The fourth output is a group of a level, which has no relations.
        return plain + weight * by_loop(1 / (1 + np.exp(-at[:, :k])), relations)

    found = step_of(logits, targets, coupling, micro_batch)
    at = logits.astype(float)
    for place in np.ndindex(at.shape):
        moved = np.zeros_like(at)
        moved[place] = 1e-5
        expected = (loss(at + moved) - loss(at - moved)) / 2e-5
        assert found[place] == pytest.approx(expected, abs=2e-6)


def test_signed_relations():
    goemotions = load_taxonomy("goemotions")
    k = len(goemotions)
    found = label_relations("sentiment", goemotions, np.zeros((1, k)), signed=True)
    place = goemotions.index
    assert found[place("joy"), place("love")] == 1
    assert found[place("joy"), place("fear")] == -1
    assert found[place("joy"), place("surprise")] == -1
    assert found[place("surprise"), place("curiosity")] == 1
    assert not found[place("neutral")].any()
    assert not found[:, place("neutral")].any()
    assert not np.diag(found).any()
    assert (np.delete(np.abs(found), place("neutral"), 0).sum(axis=1) == k - 2).all()

    four = Taxonomy("four", (Label("a"), Label("b"), Label("c"), Label("none")), neutral="none")
    y = (np.random.default_rng(0).random((50, 4)) < [0.4, 0.5, 0.2, 0.6]).astype(float)
    signed = label_relations("correlation", four, y, signed=True)
    expected = np.corrcoef(y[:, :3].T) - np.eye(3)
    np.testing.assert_allclose(signed[:3, :3], expected, atol=1e-12)
    assert (expected < 0).any()
    assert not signed[3].any()
    assert not signed[:, 3].any()
    # Weights have no bound, so that linear models know attraction alone.
    np.testing.assert_allclose(
        label_relations("correlation", four, y)[:3, :3], np.maximum(expected, 0), atol=1e-12
    )


def test_matrices_of_ones_own():
    apart = -np.ones((3, 3))
    found = label_relations(apart, TAXONOMY, np.zeros((1, 3)), signed=True)
    np.testing.assert_array_equal(found, np.eye(3) - 1)
    with pytest.raises(InputError, match="a number below 0; expected 0 or more"):
        label_relations(apart, TAXONOMY, np.zeros((1, 3)))
    with pytest.raises(InputError, match="expected a symmetric matrix of numbers"):
        label_relations(np.triu(np.ones((3, 3))), TAXONOMY, np.zeros((1, 3)), signed=True)


@pytest.fixture(scope="module")
def gaps():
    """Mean squared differences of probabilities between pairs of labels, with a relation."""
    texts, labels = texts_of(96)

    def measure(relation=0.0, **settings):
        relations = np.zeros((3, 3))
        relations[0, 1] = relations[1, 0] = relation
        chosen = settings or {"label_penalty": relations, "penalty_weight": 1.0}
        said = BilstmTextClassifier(**SMALL, **chosen).fit(texts, labels).predict_proba(texts)
        return [float(((said[:, a] - said[:, b]) ** 2).mean()) for a, b in ((0, 1), (0, 2))]

    return measure


def test_training_pulls_together_and_pushes_apart(gaps):
    free, pulled, pushed = gaps(), gaps(20.0), gaps(-6.0)
    assert pulled[0] < 0.2 * free[0]
    assert pushed[0] > free[0] + 0.05
    # Probabilities are bounded, and so is how far they go apart.
    assert pushed[0] <= 1
    assert pulled[1] > 2 * pulled[0]


def test_off_by_default(gaps):
    assert BilstmTextClassifier(**SMALL).settings()["label_penalty"] == "none"
    off = gaps(label_penalty="none")
    assert gaps(label_penalty="correlation", penalty_weight=0.0) == off
    assert gaps(label_penalty="correlation", penalty_weight=5.0) != off
