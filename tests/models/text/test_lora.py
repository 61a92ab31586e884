"""LoRA: few weights learn, and the folder is a plain checkpoint (needs peft)."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
import transformers

from affectlab.core.errors import InputError
from affectlab.models.semi import train_semi
from affectlab.models.text import TextClassifier
from affectlab.models.text.encoders.choice import ChoiceTextClassifier
from affectlab.models.text.encoders.transformer import TransformerTextClassifier
from affectlab.taxonomy import Taxonomy

from .tiny import WORDS, one_thread, save_bert, texts_of

__all__ = ["one_thread"]

TAXONOMY = Taxonomy.from_labels(list(WORDS))
SMALL = {"taxonomy": TAXONOMY, "learning_rate": 2e-2, "device": "cpu", "lora": 4}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert") / "tiny")


def stop(what, done, total):
    if what.startswith("epoch") and done == 11:
        raise KeyboardInterrupt


def test_without_peft_it_is_said(bert, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(InputError, match="peft"):
        TransformerTextClassifier(encoder=bert, epochs=1, **SMALL).fit(*texts_of(12))


def test_what_does_not_go_together_is_refused(bert):
    for wrong in (0, 1.5, True):
        with pytest.raises(InputError, match=f"lora = {wrong}: expected a whole number from 1"):
            TransformerTextClassifier(encoder=bert, **{**SMALL, "lora": wrong})
    with pytest.raises(InputError, match="unknown setting 'lora'"):
        TextClassifier.make("embedding", encoder=bert, **SMALL)
    given = ["happy", "sad", "mad"], list(WORDS)
    with pytest.raises(InputError, match="lora"):
        train_semi(ChoiceTextClassifier(encoder=bert, **SMALL), *given, ["glad"])
    plain = {**SMALL, "lora": None}
    source = TransformerTextClassifier(encoder=bert, epochs=1, **plain).fit(*texts_of(12))
    frozen = TransformerTextClassifier(encoder=bert, epochs=1, **SMALL)
    with pytest.raises(InputError, match="freeze"):
        frozen.start_from(source, freeze=True).fit(*texts_of(12))


def test_updates_and_head_learn_and_the_folder_is_plain(bert, tmp_path):
    pytest.importorskip("peft")
    model = TransformerTextClassifier(encoder=bert, epochs=8, **SMALL)
    model.fit(*texts_of(240), dev=texts_of(80, 1))
    losses = [entry["loss"] for entry in model.history]
    assert losses[-1] < 0.9 * losses[0]
    before = transformers.AutoModel.from_pretrained(bert).state_dict()
    after = model.problem.network.bert.state_dict()
    assert before.keys() == after.keys()
    for name, part in before.items():
        change = after[name][: len(part)] - part
        updated = name.endswith(("query.weight", "value.weight"))
        assert bool(change.any()) == (updated or name.startswith("pooler")), name
        if updated:
            assert int(torch.linalg.matrix_rank(change.double(), atol=1e-5)) == 4
    folder = model.save(tmp_path / "model")
    texts = texts_of(12, 2)[0]
    again = TextClassifier.load(folder)
    assert again.settings()["lora"] == 4
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    assert plain.state_dict().keys() == model.problem.network.state_dict().keys()


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_merged_weights_answer_as_the_updates_did(bert, tmp_path, kind):
    pytest.importorskip("peft")
    place = bert
    if kind == "distilbert":
        # peft names no layers of it, so that all dense ones of the encoder are updated.
        config = transformers.DistilBertConfig(
            vocab_size=200, dim=32, n_layers=2, n_heads=2, hidden_dim=64, max_position_embeddings=32
        )
        place = str(tmp_path / kind)
        transformers.DistilBertModel(config).save_pretrained(place)
        transformers.AutoTokenizer.from_pretrained(bert).save_pretrained(place)
    model = TransformerTextClassifier(encoder=place, **SMALL)
    texts = texts_of(12, 2)[0]
    model._prepare(texts)
    problem = model._build()
    network = problem.network.eval()
    inputs = problem.collate(model._encode(texts))
    with torch.no_grad():
        plain = problem.forward(network, inputs)
        with model._adapted(network):
            # Updates begin at nothing.
            assert torch.equal(problem.forward(network, inputs), plain)
            learned = {name for name, part in network.named_parameters() if part.requires_grad}
            updated = {name.rpartition(".lora_A")[0] for name in learned if "lora_A" in name}
            for name, part in network.named_parameters():
                if "lora_B" in name:
                    part.normal_(0.0, 5.0)
            adapted = problem.forward(network, inputs)
            layer = network.get_submodule(min(updated))
            expected = layer.weight + 2 * layer.lora_B.default.weight @ layer.lora_A.default.weight
        torch.testing.assert_close(network.get_submodule(min(updated)).weight, expected)
        merged = problem.forward(network, inputs)
    above = ("classifier", "pre_classifier", "bert.pooler")
    assert all("lora_" in name or name.startswith(above) for name in learned)
    assert len(updated) == (2 * 2 if kind == "bert" else 2 * 6)
    np.testing.assert_allclose(merged, adapted, atol=1e-5)
    assert abs(merged - plain).max() > 1e-2


def test_a_run_goes_on_to_the_same_weights(bert, tmp_path):
    pytest.importorskip("peft")
    settings = {"encoder": bert, "epochs": 3, "checkpoint_steps": 4, **SMALL}
    whole = TransformerTextClassifier(**settings).fit(*texts_of(96), tune=False)
    settings["checkpoints"] = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        TransformerTextClassifier(**settings).fit(*texts_of(96), progress=stop)
    other = TransformerTextClassifier(**{**settings, "lora": 8})
    with pytest.raises(InputError, match="another run"):
        other.fit(*texts_of(96))
    again = TransformerTextClassifier(**settings).fit(*texts_of(96), tune=False)
    assert again.fingerprint() == whole.fingerprint()
