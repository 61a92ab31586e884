"""Fine-tuning: it learns, resumes to the same weights, and processes agree with one."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
import yaml

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.models.text.encoders.choice import ChoiceTextClassifier
from affectlab.models.text.encoders.transformer import TransformerTextClassifier
from affectlab.models.text.warnings import TruncatedTextWarning
from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier
from affectlab.taxonomy import Taxonomy, load_taxonomy

from .tiny import WORDS, one_thread, save_bert, texts_of

__all__ = ["one_thread"]

TAXONOMY = Taxonomy.from_labels(list(WORDS))
SMALL = {"taxonomy": TAXONOMY, "learning_rate": 5e-3, "device": "cpu"}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert") / "tiny")


@pytest.fixture(scope="module")
def trained(bert):
    model = TransformerTextClassifier(encoder=bert, epochs=6, **SMALL)
    return model.fit(*texts_of(240), dev=texts_of(80, 1))


def weights(model):
    return {name: part.numpy() for name, part in model.problem.network.state_dict().items()}


def same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_loss_falls_and_labels_are_found(trained):
    losses = [entry["loss"] for entry in trained.history]
    assert losses[-1] < 0.6 * losses[0]
    assert trained.tuning[""].macro_f1 > 0.85
    ratings = trained.rate(["so happy", "in tears"], ["a", "b"], "bert")
    assert ratings.rater_names == ("bert",)
    assert ratings.frame.height == 6


def test_masks_are_tokens(trained):
    pieces = trained.tokenizer.tokenize("so happy [NAME] and [RELIGION]!")
    assert pieces == ["so", "happy", "[NAME]", "and", "[RELIGION]", "!"]
    rows = trained.problem.network.get_input_embeddings().num_embeddings
    assert rows == len(trained.tokenizer)


def test_saved_and_read_back(trained, tmp_path):
    folder = trained.save(tmp_path / "model")
    again = TextClassifier.load(folder)
    texts = ["so happy [NAME]", "in tears", "the day"]
    np.testing.assert_array_equal(again.predict_proba(texts), trained.predict_proba(texts))
    assert again.settings() == trained.settings()


def scores_of(folder, texts):
    """Ask the pipeline of transformers, as somebody on the hub does, for each label in order."""
    ask = transformers.pipeline("text-classification", model=str(folder), top_k=None)
    order = ask.model.config.id2label.values()
    rows = [{one["label"]: one["score"] for one in answer} for answer in ask(texts)]
    assert all(row.keys() == set(order) for row in rows)
    return tuple(order), np.array([[row[label] for label in order] for row in rows])


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_groups_are_outputs_of_ours_and_none_of_the_checkpoint(bert, tmp_path, kind):
    place = bert if kind == "bert" else save_other(kind, tmp_path / kind, bert)
    model = TransformerTextClassifier(encoder=place, epochs=4, learning_rate=5e-3, device="cpu")
    model.fit(*texts_of(80), dev=texts_of(40, 1))
    texts = texts_of(12, 2)[0]
    n = len(load_taxonomy("goemotions"))
    assert model.problem.output.out_features == len(model.plan.outputs) == n + 7 + 4
    folder = model.save(tmp_path / "model")
    # Ours: all outputs, to the bit, however often it is saved.
    again = TextClassifier.load(TextClassifier.load(folder).save(tmp_path / "again"))
    same(weights(again), weights(model))
    for level in (None, "ekman", "sentiment"):
        np.testing.assert_array_equal(
            again.predict_proba(texts, level), model.predict_proba(texts, level)
        )
        parts = [one.explain("so happy", level).parts for one in (model, again)]
        np.testing.assert_array_equal(*parts)
    # Theirs: labels alone, with what makes decisions of their scores in the head of the card.
    labels, scores = scores_of(folder, texts)
    assert labels == model.labels
    head = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert head["library_name"] == "transformers"
    assert tuple(head["thresholds"]) == labels
    calibrated = 1 / (1 + ((1 - scores) / scores) ** (1 / head["temperature"]))
    np.testing.assert_allclose(calibrated, model.predict_proba(texts), atol=1e-5)
    limits = np.array(list(head["thresholds"].values()))
    sure = abs(calibrated - limits) > 1e-5
    assert sure.mean() > 0.5
    assert ((calibrated >= limits) == model.predict(texts))[sure].all()
    (folder / "groups.safetensors").unlink()
    with pytest.raises(InputError, match=r"groups\.safetensors"):
        TextClassifier.load(folder)


def test_one_label_of_all_shares_a_probability_in_the_checkpoint_too(bert, tmp_path):
    model = ChoiceTextClassifier(encoder=bert, epochs=1, **SMALL).fit(*texts_of(40))
    texts = ["so happy", "in tears", "the day"]
    labels, scores = scores_of(model.save(tmp_path / "model"), texts)
    assert labels == model.labels
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(scores, model.predict_proba(texts), atol=1e-6)


class Stop(Exception):
    """Pulls the plug."""


def stop_at(step):
    def report(what, done, total):
        if what.startswith("epoch") and done == step:
            raise Stop

    return report


@pytest.mark.parametrize("at", [11, 17])
def test_resumed_run_has_the_weights_of_one_that_never_stopped(bert, tmp_path, at):
    data, dev = texts_of(96), texts_of(40, 1)
    settings = {"encoder": bert, "epochs": 3, "checkpoint_steps": 4, **SMALL}
    whole = TransformerTextClassifier(**settings).fit(*data, dev=dev, tune=False)
    kept = tmp_path / "checkpoints"
    with pytest.raises(Stop):
        TransformerTextClassifier(checkpoints=kept, **settings).fit(
            *data, dev=dev, tune=False, progress=stop_at(at)
        )
    torch.manual_seed(999)
    seen = []
    resumed = TransformerTextClassifier(checkpoints=kept, **settings).fit(
        *data,
        dev=dev,
        tune=False,
        progress=lambda what, done, total: seen.append(done) if what.startswith("epoch") else None,
    )
    assert seen[0] > 4
    assert seen[-1] == 18
    same(weights(resumed), weights(whole))
    # A finished run is not trained again.
    again = TransformerTextClassifier(checkpoints=kept, **settings).fit(*data, dev=dev, tune=False)
    same(weights(again), weights(whole))


def test_the_random_numbers_of_the_caller_stay(bert):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    TransformerTextClassifier(encoder=bert, epochs=1, **SMALL).fit(["so happy"], ["joy"])
    assert torch.equal(torch.rand(3), expected)


def test_checkpoints_of_another_run_are_refused(bert, tmp_path):
    settings = {"encoder": bert, "epochs": 1, "checkpoints": tmp_path / "c", **SMALL}
    TransformerTextClassifier(**settings).fit(*texts_of(20))
    with pytest.raises(InputError, match=r"training\.pt is a checkpoint of another run"):
        TransformerTextClassifier(**settings).fit(*texts_of(21))
    (tmp_path / "c" / "training.pt").write_bytes(b"no checkpoint")
    with pytest.raises(InputError, match=r"training\.pt cannot be read"):
        TransformerTextClassifier(**settings).fit(*texts_of(20))


def test_small_memory_gives_the_same_gradients(tmp_path):
    place = save_bert(tmp_path / "still", dropout=0.0)
    settings = {"encoder": place, "epochs": 1, **SMALL}
    whole = TransformerTextClassifier(**settings).fit(*texts_of(64))
    parts = TransformerTextClassifier(micro_batch=5, **settings).fit(*texts_of(64))
    for name, weight in weights(whole).items():
        np.testing.assert_allclose(weights(parts)[name], weight, atol=2e-5, err_msg=name)


WORKER = """
import sys
from pathlib import Path
import numpy as np
import torch
torch.set_num_threads(1)
sys.path.insert(0, sys.argv[3])
from tiny import WORDS, texts_of
from affectlab.models.text.encoders.transformer import TransformerTextClassifier
from affectlab.taxonomy import Taxonomy
model = TransformerTextClassifier(
    encoder=sys.argv[1], epochs=2, learning_rate=5e-3, device="auto", batch_size=15,
    taxonomy=Taxonomy.from_labels(list(WORDS)), label_penalty=np.ones((3, 3)), penalty_weight=0.1,
)
# 61 texts in batches of 15: shares are odd, and of the last batch one process gets nothing.
model.fit(*texts_of(61), dev=texts_of(21, 1))
assert torch.distributed.get_world_size() == 2
model.save(sys.argv[2])
"""


@pytest.mark.long
def test_two_processes_learn_what_one_does(tmp_path):
    place = save_bert(tmp_path / "still", dropout=0.0)
    alone = TransformerTextClassifier(
        encoder=place,
        epochs=2,
        batch_size=15,
        label_penalty=np.ones((3, 3)),
        penalty_weight=0.1,
        **SMALL,
    ).fit(*texts_of(61), dev=texts_of(21, 1))
    script = tmp_path / "worker.py"
    script.write_text(WORKER, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"]
    command += ["--master_addr=127.0.0.1", f"--master_port={port}", str(script), place]
    command += [str(tmp_path / "model"), str(Path(__file__).parent)]
    # Without a GPU they meet on the processor, though nobody told accelerate to.
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=env, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    together = TextClassifier.load(tmp_path / "model")
    for name, weight in weights(alone).items():
        np.testing.assert_allclose(weights(together)[name], weight, atol=2e-4, err_msg=name)
    texts = texts_of(30, 9)[0]
    np.testing.assert_allclose(together.predict_proba(texts), alone.predict_proba(texts), atol=2e-4)


def save_other(kind, folder, bert):
    """Save another kind of encoder with the vocabulary of the BERT."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    common = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "max_position_embeddings": 34,
        "pad_token_id": tokenizer.pad_token_id,
    }
    if kind == "roberta":
        network = transformers.RobertaModel(
            transformers.RobertaConfig(**{**common, "pad_token_id": 1})
        )
    else:
        special = {
            f"{name}_token_id": tokenizer.cls_token_id for name in ("bos", "cls", "eos", "sep")
        }
        network = transformers.ModernBertModel(
            transformers.ModernBertConfig(**common, **special, local_attention=8)
        )
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(("kind", "limit"), [("roberta", 32), ("modernbert", 34)])
def test_other_encoders(kind, limit, bert, tmp_path):
    place = save_other(kind, tmp_path / kind, bert)
    model = TransformerTextClassifier(encoder=place, epochs=5, **SMALL).fit(*texts_of(96))
    assert model.history[-1]["loss"] < model.history[0]["loss"]
    assert model.limit == limit
    again = TextClassifier.load(model.save(tmp_path / "model"))
    np.testing.assert_allclose(
        again.predict_proba(["so happy"]), model.predict_proba(["so happy"]), atol=1e-6
    )
    # As long as it can read: no position is out of range.
    with pytest.warns(TruncatedTextWarning):
        model.predict_proba([" ".join(["happy"] * 80)])


def test_long_texts_are_cut_and_counted(trained):
    assert trained.limit == 32
    long = " ".join(["day"] * 40)
    with pytest.warns(
        TruncatedTextWarning, match="2 of 3 texts are longer than 32 tokens; what comes after"
    ):
        found = trained.predict_proba([long, "so happy", long + " sad"])
    np.testing.assert_allclose(found[0], found[2], atol=1e-6)
    with pytest.raises(InputError, match="max_tokens = 64: this encoder reads at most 32 tokens"):
        TransformerTextClassifier(encoder=trained.encoder, max_tokens=64, **SMALL).fit(
            ["so happy"], ["joy"]
        )


def test_gradients_name_the_word(trained):
    found = trained.explain("the day was happy, [NAME]")
    assert found.tokens == ("the", "day", "was", "happy", ",", "[NAME]")
    assert found.top("joy", 1)[0][0] == "happy"
    assert found.top("joy", 1)[0][1] > 0
    logits = trained._logits(["the day was happy, [NAME]"])[0]
    np.testing.assert_allclose(found.logits, logits[:3], atol=1e-5)
    pieces = trained.explain("happyish day").tokens
    assert pieces == ("happyish", "day")


def test_gradients_are_those_of_finite_differences(trained):
    text = "so glad"
    ids = torch.tensor([trained.tokenizer(text)["input_ids"]])
    network = trained.problem.network.double()
    try:
        base = network.get_input_embeddings()(ids).detach()
        mask = torch.ones_like(ids)
        word, label, step = 2, 0, 1e-5

        def logit(scale):
            moved = base.clone()
            moved[0, word] *= scale
            with torch.no_grad():
                return float(network(inputs_embeds=moved, attention_mask=mask).logits[0, label])

        # The derivative along a word's own vector is gradient x input.
        expected = (logit(1 + step) - logit(1 - step)) / (2 * step)
        found = trained.explain(text).of(trained.labels[label])
    finally:
        network.float()
    assert found[1][0] == "glad"
    assert found[1][1] == pytest.approx(expected, abs=1e-6)


def test_starting_from_another_model(trained):
    other = Taxonomy.from_labels(["good", "bad"])
    texts, labels = texts_of(40)
    two = [["good"] if "joy" in row else ["bad"] for row in labels]
    settings = {**SMALL, "taxonomy": other, "epochs": 2}
    frozen = TransformerTextClassifier(**settings).start_from(trained, freeze=True).fit(texts, two)
    free = TransformerTextClassifier(**settings).start_from(trained).fit(texts, two)
    source = weights(trained)
    last = {"classifier.weight", "classifier.bias"}
    assert set(source) - {n for n, w in source.items() if w.shape != weights(free)[n].shape} == (
        set(source) - last
    )
    for name in set(source) - last:
        np.testing.assert_array_equal(weights(frozen)[name], source[name], err_msg=name)
    moved = [name for name in set(source) - last if (weights(free)[name] != source[name]).any()]
    assert len(moved) > 5
    with pytest.raises(InputError, match="cannot start from one of back end 'bilstm'"):
        TransformerTextClassifier(**settings).start_from(BilstmTextClassifier(taxonomy=TAXONOMY))


def test_a_checkpoint_without_tokenizer(tmp_path):
    place = save_bert(tmp_path / "bare", tokenizer=False)
    with pytest.raises(InputError, match=r"no tokenizer; expected files such as tokenizer\.json"):
        TransformerTextClassifier(encoder=place, **SMALL).fit(["so happy"], ["joy"])


def test_checkpoints_that_are_none(bert, tmp_path):
    def fit(place):
        TransformerTextClassifier(encoder=place, **SMALL).fit(["so happy"], ["joy"])

    with pytest.raises(InputError, match="no such folder; expected a checkpoint of transformers"):
        fit(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds no config\.json"):
        fit(tmp_path / "empty")
    half = tmp_path / "half"
    shutil.copytree(bert, half)
    (half / "model.safetensors").unlink()
    with pytest.raises(InputError, match="cannot be used"):
        fit(half)
    config = json.loads((half / "config.json").read_text())
    config["model_type"] = "no-such-model"
    (half / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="half"):
        fit(half)


def test_a_name_that_is_not_known_without_network(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="'no-such-model' is no folder here, and could not be"):
        TransformerTextClassifier(encoder="no-such-model", **SMALL).fit(["so happy"], ["joy"])


def test_devices_that_are_not_there(bert):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(InputError, match="device 'cuda' is not there"):
        TransformerTextClassifier(encoder=bert, device="cuda", taxonomy=TAXONOMY).fit(
            ["so happy"], ["joy"]
        )
    with pytest.raises(InputError, match="precision 'fp16' needs a GPU"):
        TransformerTextClassifier(encoder=bert, precision="fp16", **SMALL).fit(["a day"], ["joy"])


def test_half_precision_learns(bert):
    model = TransformerTextClassifier(encoder=bert, precision="bf16", epochs=4, **SMALL)
    model.fit(*texts_of(160))
    assert model.history[-1]["loss"] < model.history[0]["loss"]
    # Weights stay in single precision: updates this small would round away.
    assert {part.dtype for part in model.problem.network.parameters()} == {torch.float32}
