"""A frozen encoder with a head: what it reads, learns, keeps and refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.models.text.encoders.embedding import EmbeddingTextClassifier
from affectlab.models.text.encoders.sentence_encoder import SentenceEncoder
from affectlab.models.text.warnings import TruncatedTextWarning
from affectlab.taxonomy import Taxonomy

from .tiny import WORDS, one_thread, save_bert, texts_of

__all__ = ["one_thread"]

TAXONOMY = Taxonomy.from_labels(list(WORDS))
SMALL = {"taxonomy": TAXONOMY, "device": "cpu", "batch_size": 16, "learning_rate": 1e-2}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert") / "tiny")


@pytest.fixture(scope="module", params=["mlp", "linear"])
def trained(bert, request):
    model = EmbeddingTextClassifier(
        encoder=bert, head=request.param, hidden=48, epochs=12, dropout=0.1, **SMALL
    )
    return model.fit(*texts_of(700), dev=texts_of(80, 1))


def plain(place, text):
    """One text at a time, without padding: the states of all layers, averaged."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    network = transformers.AutoModel.from_pretrained(place).eval()
    with torch.no_grad():
        given = tokenizer(text, return_tensors="pt")
        states = network(**given, output_hidden_states=True).hidden_states
    return np.stack([state[0].mean(dim=0).numpy() for state in states])


def test_vectors_are_means_over_tokens(bert):
    encoder = SentenceEncoder(bert, device="cpu")
    texts = ["so happy", "they went home and it was a sad day", "mad"]
    found = encoder.layers(texts, normalise=False)
    assert found.shape == (3, 3, 32)
    for row, text in enumerate(texts):
        np.testing.assert_allclose(found[row], plain(bert, text), atol=2e-3)
    scaled = encoder.layers(texts)
    np.testing.assert_allclose(np.linalg.norm(scaled.astype(float), axis=-1), 1, atol=2e-3)
    last = encoder.layers(texts, which="last")
    np.testing.assert_allclose(last[:, 0], scaled[:, -1], atol=1e-3)
    first = encoder.layers(texts, pooling="first", which="last", normalise=False)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(first, last, atol=1e-2)
    with pytest.raises(InputError, match="unknown pooling 'max'"):
        encoder.layers(texts, pooling="max")


def test_cache_gives_what_was_computed(bert, tmp_path):
    texts = texts_of(12)[0]
    first = SentenceEncoder(bert, device="cpu", cache=tmp_path / "c").layers(texts)
    (file,) = (tmp_path / "c").iterdir()
    np.testing.assert_array_equal(np.load(file), first)
    np.save(file, first + 1)
    again = SentenceEncoder(bert, device="cpu", cache=tmp_path / "c").layers(texts)
    np.testing.assert_array_equal(again, first + 1)
    # Other texts, another pooling, another encoder: other files.
    encoder = SentenceEncoder(bert, device="cpu", cache=tmp_path / "c")
    encoder.layers(texts[::-1])
    encoder.layers(texts, pooling="first")
    other = save_bert(tmp_path / "other", layers=1)
    SentenceEncoder(other, device="cpu", cache=tmp_path / "c").layers(texts)
    assert len(list((tmp_path / "c").iterdir())) == 4
    file.write_bytes(b"")
    with pytest.raises(InputError, match="cannot be read; delete it"):
        SentenceEncoder(bert, device="cpu", cache=tmp_path / "c").layers(texts)


def test_memory_gives_what_was_computed(bert):
    texts = texts_of(12)[0]
    plainly = SentenceEncoder(bert, device="cpu")
    remembering = SentenceEncoder(bert, device="cpu")
    remembering.remembers = True
    remembering.layers(texts[:6])
    np.testing.assert_allclose(
        remembering.layers([*texts, texts[0]]), plainly.layers([*texts, texts[0]]), atol=1e-3
    )


def test_learns_and_leaves_the_encoder_alone(trained, bert):
    assert trained.history[-1]["loss"] < 0.6 * trained.history[0]["loss"]
    assert trained.tuning[""].macro_f1 > 0.75
    before = transformers.AutoModel.from_pretrained(bert).state_dict()
    for name, part in trained.encoder.network.state_dict().items():
        assert torch.equal(part, before[name]), name


def test_saved_and_read_back(trained, tmp_path):
    folder = trained.save(tmp_path / "model")
    again = TextClassifier.load(folder)
    texts = texts_of(20, 5)[0]
    np.testing.assert_allclose(again.predict_proba(texts), trained.predict_proba(texts), atol=1e-6)
    assert not [path for path in folder.rglob("*") if path.suffix in (".pt", ".bin", ".pkl")]


def test_only_a_new_last_layer(trained):
    other = Taxonomy.from_labels(["good", "bad"])
    texts, labels = texts_of(60)
    two = [["good"] if "joy" in row else ["bad"] for row in labels]
    settings = {**trained.settings(), "epochs": 3, "device": "cpu"}
    model = EmbeddingTextClassifier(taxonomy=other, **settings)
    model.start_from(trained, freeze=True).fit(texts, two)
    assert model.encoder is trained.encoder
    source = trained.problem.network.state_dict()
    for name, part in model.problem.network.state_dict().items():
        if not name.startswith("output."):
            assert torch.equal(part, source[name]), name
    assert all(part.requires_grad for part in model.problem.network.parameters())
    assert model.predict(["so happy"]).shape == (1, 2)


def test_starting_from_another_shape(trained):
    settings = {**trained.settings(), "layers": "last", "device": "cpu"}
    model = EmbeddingTextClassifier(taxonomy=TAXONOMY, **settings).start_from(trained)
    with pytest.raises(InputError, match="the models differ in more than their labels"):
        model.fit(["so happy"], ["joy"])


def test_long_texts_are_cut_and_counted(trained):
    with pytest.warns(TruncatedTextWarning, match="1 of 1 texts are longer than 32 tokens"):
        trained.predict_proba([" ".join(["day"] * 40)])


def test_settings_that_cannot_be(bert, tmp_path):
    with pytest.raises(InputError, match="unknown head 'deep'"):
        EmbeddingTextClassifier(encoder=bert, head="deep")
    with pytest.raises(InputError, match="dropout = 1"):
        EmbeddingTextClassifier(encoder=bert, dropout=1)
    with pytest.raises(InputError, match="back end 'embedding' needs encoder="):
        TextClassifier.make("embedding")
    bare = save_bert(tmp_path / "bare", tokenizer=False)
    with pytest.raises(InputError, match="has no tokenizer"):
        EmbeddingTextClassifier(encoder=bare, **SMALL).fit(["so happy"], ["joy"])


def test_a_folder_that_is_not_complete(trained, tmp_path):
    folder = trained.save(tmp_path / "model")
    (folder / "head.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match=r"head\.safetensors does not fit"):
        TextClassifier.load(folder)
    (folder / "encoder").rename(tmp_path / "gone")
    with pytest.raises(InputError, match="the model folder is not complete"):
        TextClassifier.load(folder)
