"""Folders of strangers: what they bring is read as data, never run, and never fills the memory."""

from __future__ import annotations

import builtins
import json
import shutil

import pytest
import torch
import transformers

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.models.text.encoders.embedding import EmbeddingTextClassifier
from affectlab.models.text.encoders.pretrained import load_encoder, load_tokenizer
from affectlab.models.text.encoders.transformer import TransformerTextClassifier
from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier
from affectlab.taxonomy import Taxonomy

from .tiny import WORDS, one_thread, save_bert, texts_of

__all__ = ["one_thread"]

TAXONOMY = Taxonomy.from_labels(list(WORDS))
EVIL = """
from pathlib import Path
from transformers import BertConfig, BertModel
Path({mark!r}).write_text("run")
class EvilConfig(BertConfig):
    model_type = "evil"
class EvilModel(BertModel):
    config_class = EvilConfig
class EvilTokenizer:
    pass
"""


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert") / "tiny")


@pytest.fixture(scope="module")
def saved(bert, tmp_path_factory):
    """A folder of each back end that holds an encoder."""
    settings = {"encoder": bert, "epochs": 1, "taxonomy": TAXONOMY, "device": "cpu"}
    place = tmp_path_factory.mktemp("saved")
    for kind in (TransformerTextClassifier, EmbeddingTextClassifier):
        kind(**settings).fit(*texts_of(8)).save(place / kind.backend)
    return place


@pytest.fixture
def asked(monkeypatch):
    """Say yes to whatever is asked, as someone who reads no prompt would."""
    prompts = []

    def yes(prompt=""):
        prompts.append(prompt)
        return "y"

    monkeypatch.setattr(builtins, "input", yes)
    return prompts


def checkpoint_in(folder):
    """A fine-tuned model is a checkpoint; of a frozen encoder it lies inside."""
    return folder / "encoder" if (folder / "encoder").is_dir() else folder


def poison(encoder, mark):
    """Let a checkpoint ask for code of its own, wherever it can."""
    (encoder / "evil.py").write_text(EVIL.format(mark=str(mark)), encoding="utf-8")
    config = json.loads((encoder / "config.json").read_text())
    config["model_type"] = "evil"
    config["auto_map"] = {
        "AutoConfig": "evil.EvilConfig",
        "AutoModel": "evil.EvilModel",
        "AutoModelForSequenceClassification": "evil.EvilModel",
    }
    (encoder / "config.json").write_text(json.dumps(config))


def poison_tokenizer(encoder, mark):
    (encoder / "evil.py").write_text(EVIL.format(mark=str(mark)), encoding="utf-8")
    file = encoder / "tokenizer_config.json"
    config = json.loads(file.read_text())
    config["tokenizer_class"] = "EvilTokenizer"
    config["auto_map"] = {"AutoTokenizer": ["evil.EvilTokenizer", "evil.EvilTokenizer"]}
    file.write_text(json.dumps(config))


@pytest.mark.parametrize("backend", ["transformer", "embedding"])
def test_code_of_a_model_folder_is_not_run(saved, tmp_path, asked, backend):
    folder = shutil.copytree(saved / backend, tmp_path / "model")
    mark = tmp_path / "ran"
    poison(checkpoint_in(folder), mark)
    with pytest.raises(InputError, match="needs code of its own, which is not run") as error:
        TextClassifier.load(folder)
    assert "\n" not in str(error.value)
    assert not asked
    assert not mark.exists()


def test_code_of_a_checkpoint_is_not_run(bert, tmp_path, asked):
    place = shutil.copytree(bert, tmp_path / "checkpoint")
    mark = tmp_path / "ran"
    poison(place, mark)
    with pytest.raises(InputError, match="needs code of its own, which is not run"):
        load_encoder(str(place))
    with pytest.raises(InputError, match="needs code of its own, which is not run"):
        TransformerTextClassifier(encoder=place, taxonomy=TAXONOMY).fit(["so happy"], ["joy"])
    assert not asked
    assert not mark.exists()


def test_code_beside_a_known_encoder_is_passed_over(bert, tmp_path, asked):
    """Transformers knows the encoder itself, and that class is taken."""
    place = shutil.copytree(bert, tmp_path / "checkpoint")
    mark = tmp_path / "ran"
    poison(place, mark)
    poison_tokenizer(place, mark)
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(config | {"model_type": "bert"}))
    assert load_tokenizer(str(place)).tokenize("so happy") == ["so", "happy"]
    assert type(load_encoder(str(place))) is transformers.BertModel
    assert not asked
    assert not mark.exists()


def test_pickled_weights_are_not_opened(bert, tmp_path):
    place = shutil.copytree(bert, tmp_path / "checkpoint")
    network = transformers.AutoModel.from_pretrained(place)
    torch.save(network.state_dict(), place / "pytorch_model.bin")
    (place / "model.safetensors").unlink()
    said = r"has only pickled weights \(pytorch_model\.bin\).*save_pretrained\(folder\)"
    for load in (load_encoder, lambda at: TransformerTextClassifier(
        encoder=at, taxonomy=TAXONOMY, device="cpu"
    ).fit(["so happy"], ["joy"])):  # fmt: skip
        with pytest.raises(InputError, match=said) as error:
            load(str(place))
        assert "\n" not in str(error.value)
    # Converted as the sentence says, it can be used.
    again = tmp_path / "again"
    transformers.AutoModel.from_pretrained(place).save_pretrained(again)
    assert type(load_encoder(str(again))) is transformers.BertModel


@pytest.mark.parametrize("content", [b"", b"no weights", b"\xff" * 64])
@pytest.mark.parametrize("backend", ["transformer", "embedding"])
def test_weights_that_are_none(saved, tmp_path, backend, content):
    folder = shutil.copytree(saved / backend, tmp_path / "model")
    (checkpoint_in(folder) / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be used .*; expected a text encoder"):
        TextClassifier.load(folder)


def test_weights_that_a_model_folder_lacks_are_not_made_up(saved, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(saved / "transformer", tmp_path / "model")
    file = checkpoint_in(folder) / "model.safetensors"
    held = load_file(file)
    cut = {name: part for name, part in held.items() if name != "classifier.bias"}
    for weights in (cut, held | {"classifier.weight": torch.zeros(5, 32)}):
        save_file(weights, file, metadata={"format": "pt"})
        with pytest.raises(InputError, match=r"lacks weights.*classifier"):
            TextClassifier.load(folder)


@pytest.mark.parametrize("size", [10_000_000, 10**30, 1e7, "256", None])
@pytest.mark.parametrize("name", ["hidden", "width"])
def test_sizes_that_weights_do_not_have_take_no_memory(tmp_path, size, name):
    model = BilstmTextClassifier(taxonomy=TAXONOMY, hidden=8, width=6, epochs=1, device="cpu")
    folder = model.fit(*texts_of(12)).save(tmp_path / "model")
    meta = json.loads((folder / "model.json").read_text())
    meta["settings"][name] = size
    (folder / "model.json").write_text(json.dumps(meta))
    said = r"weights\.safetensors does not fit the settings beside it"
    if not isinstance(size, int):
        said = f"{name} = .*: expected a whole number from 1 on"
    with pytest.raises(InputError, match=said):
        BilstmTextClassifier.load(folder)


def test_a_head_of_another_size_takes_no_memory(saved, tmp_path):
    folder = shutil.copytree(saved / "embedding", tmp_path / "model")
    meta = json.loads((folder / "model.json").read_text())
    meta["settings"]["hidden"] = 10**12
    (folder / "model.json").write_text(json.dumps(meta))
    with pytest.raises(InputError, match=r"head\.safetensors does not fit the settings beside it"):
        TextClassifier.load(folder)
