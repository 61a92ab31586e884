"""What tells one trained network from another."""

from __future__ import annotations

import pytest

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.taxonomy import Taxonomy

from .tiny import WORDS, texts_of

TAXONOMY = Taxonomy.from_labels(list(WORDS))


@pytest.fixture
def models():
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    torch.set_num_threads(1)
    from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier

    def make(**settings):
        return BilstmTextClassifier(
            taxonomy=TAXONOMY, hidden=8, width=6, epochs=1, device="cpu", **settings
        )

    return make


def test_fingerprints_of_models(models, tmp_path):
    model = models().fit(*texts_of(20))
    said = model.fingerprint()
    assert type(model).load(model.save(tmp_path / "model")).fingerprint() == said
    assert models(seed=1).fit(*texts_of(20)).fingerprint() != said
    # One weight far from the last layer, and one word for another.
    weight = model.problem.network.embedding.weight.data
    weight[2, 0] += 1e-3
    assert model.fingerprint() != said
    weight[2, 0] -= 1e-3
    words = list(model.words)
    model.words = {word: model.words[word] for word in [words[1], words[0], *words[2:]]}
    assert model.fingerprint() != said
    with pytest.raises(InputError, match="not trained yet"):
        models().fingerprint()


def test_checkpoints_know_the_whole_source(models, tmp_path):
    source = models().fit(*texts_of(40))
    settings = {"checkpoints": tmp_path / "state"}
    models(**settings).start_from(source).fit(*texts_of(20))
    source.problem.network.embedding.weight.data[2:] += 0.1
    with pytest.raises(InputError, match="is a checkpoint of another run"):
        models(**settings).start_from(source).fit(*texts_of(20))


def test_embedding_sources_differ_by_their_encoder(tmp_path):
    pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    from affectlab.models.text.encoders.embedding import EmbeddingTextClassifier
    from affectlab.models.text.encoders.pretrained import fingerprint_of_tokenizer

    from .tiny import save_bert

    model = EmbeddingTextClassifier(
        encoder=save_bert(tmp_path / "bert"), taxonomy=TAXONOMY, hidden=4, epochs=1, device="cpu"
    ).fit(*texts_of(10))
    folder = model.save(tmp_path / "model")
    # Cutting a long text leaves marks in a tokenizer that are none of its own.
    tokenizer = model.encoder.tokenizer
    before = fingerprint_of_tokenizer(tokenizer)
    with pytest.warns(UserWarning, match="longer than 32 tokens"):
        model.predict_proba(["so happy " * 60])
    assert fingerprint_of_tokenizer(tokenizer) == before
    said = model.fingerprint()
    assert TextClassifier.load(folder).fingerprint() == said
    again = TextClassifier.load(folder)
    with torch.no_grad():
        next(again.encoder.network.parameters())[5] += 0.01
    assert again.fingerprint() != said
    again = TextClassifier.load(folder)
    again.encoder.tokenizer.add_tokens(["[NEW]"])
    assert again.fingerprint() != said
