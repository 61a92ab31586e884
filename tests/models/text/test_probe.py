"""The layer probe: equal where layers are equal, high where one layer knows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.models.text.encoders.probe import LayerProbe, mix_layers, probe_layers
from affectlab.models.text.encoders.sentence_encoder import SentenceEncoder
from affectlab.models.text.encoders.transformer import TransformerTextClassifier
from affectlab.report import draw_figure
from affectlab.taxonomy import Taxonomy

from .tiny import WORDS, one_thread, save_bert, texts_of

__all__ = ["one_thread"]

TAXONOMY = Taxonomy.from_labels(list(WORDS))


def states_of(labels, knows, n_layers=5, width=6, seed=0):
    """States of layers, as an encoder gives them, of which one knows the labels."""
    found = np.random.default_rng(seed).normal(size=(len(labels), n_layers, width))
    targets = np.array([[float(label in row) for label in WORDS] for row in labels])
    found[:, knows, : targets.shape[1]] = 3 * targets - 1
    return found.astype(np.float16), targets


@pytest.mark.parametrize("knows", [0, 2, 4])
def test_weight_goes_to_the_layer_that_knows(knows):
    train = states_of(texts_of(400)[1], knows)
    dev = states_of(texts_of(100, 1)[1], knows, seed=1)
    found = mix_layers(*train, dev=dev, runs=2, epochs=30, learning_rate=0.02)
    assert found.weights.shape == (2, 5)
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-6)
    assert found.weights.mean(axis=0).argmax() == knows
    assert found.weights.mean(axis=0)[knows] > 0.7
    assert min(found.average_precision) > 0.95
    assert abs(found.centre - knows) < 0.8


def test_layers_that_know_the_same_share_the_weight():
    states, targets = states_of(texts_of(400)[1], 1)
    states[:, 3] = states[:, 1]
    found = mix_layers(states, targets, runs=3, epochs=30, learning_rate=0.02)
    mean = found.weights.mean(axis=0)
    assert mean[1] == pytest.approx(mean[3], abs=0.02)
    assert mean[1] + mean[3] > 0.7


def test_centre_of_gravity():
    even = LayerProbe(np.full((1, 13), 1 / 13), (1.0,), (np.nan,), "bert", 10)
    # All 13 layers of a base model the same: 6.0, as against 6.19 in the paper.
    assert even.centre == pytest.approx(6.0)
    last = LayerProbe(np.eye(13)[[12, 10]], (1.0, 1.0), (np.nan,) * 2, "bert", 10)
    np.testing.assert_allclose(last.centres, [12, 10])
    frame = last.to_frame()
    assert frame.row(12) == (12, 0.5, 0.0, 1.0)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert") / "tiny")


def test_a_checkpoint_is_left_as_it_is_and_runs_repeat(bert):
    texts, labels = texts_of(64)
    options = {"taxonomy": TAXONOMY, "runs": 2, "epochs": 2, "device": "cpu"}
    first = probe_layers(bert, texts, labels, **options)
    again = probe_layers(bert, texts, labels, **options)
    np.testing.assert_array_equal(first.weights, again.weights)
    assert first.weights.shape == (2, 3)
    assert (first.weights[0] != first.weights[1]).any()
    assert np.isnan(first.average_precision).all()
    # One step of training has hardly left the start, where all layers are the same.
    short = probe_layers(
        bert, texts, labels, **{**options, "epochs": 1, "learning_rate": 1e-6, "batch_size": 64}
    )
    assert short.centre == pytest.approx(1.0, abs=1e-3)


def test_a_mix_of_means_is_the_mean_of_a_mix(bert):
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    network = transformers.AutoModel.from_pretrained(bert).eval()
    shares = torch.tensor([0.2, 0.5, 0.3])
    with torch.no_grad():
        given = tokenizer("they went home so happy", return_tensors="pt")
        states = torch.stack(network(**given, output_hidden_states=True).hidden_states)[:, 0]
        mixed = torch.einsum("l,ltw->tw", shares, states).mean(dim=0).numpy()
    pooled = SentenceEncoder(bert, device="cpu").layers(
        ["they went home so happy"], normalise=False
    )
    np.testing.assert_allclose(shares.numpy() @ pooled[0].astype(np.float32), mixed, atol=3e-3)


def test_trained_models_can_be_probed(bert):
    texts, labels = texts_of(48)
    model = TransformerTextClassifier(
        encoder=bert, taxonomy=TAXONOMY, epochs=1, device="cpu", name="tuned"
    ).fit(texts, labels)
    before = {name: part.clone() for name, part in model.problem.network.state_dict().items()}
    found = probe_layers(model, texts, labels, taxonomy=TAXONOMY, runs=1, epochs=1, device="cpu")
    assert found.encoder == "tuned"
    assert found.weights.shape == (1, 3)
    after = model.problem.network.state_dict()
    assert all(torch.equal(part, after[name]) for name, part in before.items())


def test_what_cannot_be_probed(bert):
    texts, labels = texts_of(12)
    words = TextClassifier.make("linear", taxonomy=TAXONOMY, min_texts=1, min_texts_piece=1).fit(
        texts, labels
    )
    with pytest.raises(InputError, match="back end 'linear' has no layers to probe"):
        probe_layers(words, texts, labels, taxonomy=TAXONOMY)
    with pytest.raises(InputError, match="runs = 0: expected a whole number from 1 on"):
        probe_layers(bert, texts, labels, taxonomy=TAXONOMY, runs=0)
    with pytest.raises(InputError, match="no such folder"):
        probe_layers("/no/such/folder", texts, labels, taxonomy=TAXONOMY)


def test_figure():
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.2, 0.5]])
    columns = {
        "weight": weights.mean(axis=0),
        "low": weights.min(axis=0),
        "high": weights.max(axis=0),
    }
    figure = draw_figure("layers", columns)
    (axes,) = figure.axes
    np.testing.assert_allclose([bar.get_height() for bar in axes.patches], weights.mean(axis=0))
    assert axes.get_title(loc="left") == "centre of gravity 1.40"
    with pytest.raises(InputError, match="do not sum to 1"):
        draw_figure("layers", {key: [0.5, 0.2] for key in columns})
    with pytest.raises(InputError, match="expected shares"):
        draw_figure("layers", {key: [1.5, -0.5] for key in columns})
