"""Training that goes wrong or is chosen by dev: it says so, and the model remembers."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.models.text.encoders.embedding import EmbeddingTextClassifier
from affectlab.models.text.encoders.transformer import TransformerTextClassifier
from affectlab.models.text.networks.stopping import EarlyStopping
from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier
from affectlab.taxonomy import Taxonomy

from .tiny import WORDS, one_thread, save_bert, texts_of

__all__ = ["one_thread"]

TAXONOMY = Taxonomy.from_labels(list(WORDS))
SMALL = {
    "taxonomy": TAXONOMY,
    "hidden": 8,
    "width": 6,
    "batch_size": 8,
    "dropout": 0.0,
    "device": "cpu",
}


@pytest.mark.parametrize("dev", [None, texts_of(8, 1)])
@pytest.mark.parametrize("watch", ["average_precision", "loss"])
def test_a_diverged_run_says_so(dev, watch):
    model = BilstmTextClassifier(
        epochs=3, learning_rate=1e38, schedule="constant", optimiser="sgd", clip=0.0, watch=watch,
        **SMALL,
    )  # fmt: skip
    said = r"training diverged in epoch 1: .*, at learning rate 1e\+38; expected .*lower learning"
    with pytest.raises(InputError, match=said) as error:
        model.fit(*texts_of(40), dev=dev)
    assert "\n" not in str(error.value)
    assert not model.fitted


def test_the_last_step_of_an_epoch_counts_too():
    """One step an epoch: its loss is that of the weights before it."""
    model = BilstmTextClassifier(
        epochs=1, learning_rate=1e38, schedule="constant", optimiser="sgd", clip=0.0,
        weight_decay=1e3, **{**SMALL, "batch_size": 40},
    )  # fmt: skip
    with pytest.raises(InputError, match="diverged in epoch 1: a weight is not finite"):
        model.fit(*texts_of(40))


def test_the_epoch_and_the_rate_of_divergence_are_named():
    model = BilstmTextClassifier(epochs=4, learning_rate=0.5, schedule="decay", decay=0.5, **SMALL)

    def report(what, done, total):
        # Something breaks a weight during the third epoch.
        if done == 12:
            built[0].network.output.weight.data.fill_(float("nan"))

    built = []
    make = model._build
    model._build = lambda: built.append(make()) or built[0]
    with pytest.raises(InputError, match=r"epoch 3: the loss is nan, at learning rate 0\.125;"):
        model.fit(*texts_of(40), progress=report)


@pytest.fixture
def stopped(tmp_path):
    """A finished run with its checkpoint, and what makes the run again."""
    settings = {"epochs": 1, "checkpoints": tmp_path / "state", **SMALL}
    data = texts_of(24)
    BilstmTextClassifier(**settings).fit(*data, dev=texts_of(8, 1), tune=False)
    file = tmp_path / "state" / "training.pt"

    def again():
        BilstmTextClassifier(**settings).fit(*data, dev=texts_of(8, 1), tune=False)

    return file, torch.load(file, weights_only=True), again


def without(part):
    def change(content):
        del content[part]

    return change


def replaced(value, *path):
    def change(content):
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return change


def first_moment(content):
    return next(
        moments for moments in content["optimiser"]["state"].values() if moments["exp_avg"].ndim
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *((without(part), f"holds no '{part}'") for part in ("state", "network", "optimiser")),
        (replaced([1], "state"), "holds no 'state'"),
        (replaced(3, "fingerprint"), "holds no 'fingerprint'"),
        (replaced({"step": 3}, "state"), "the state of the run has other parts"),
        (replaced(1, "state", "other"), "the state of the run has other parts"),
        (replaced(torch.zeros(2, 2), "network", "output.weight"),
         "weights: output.weight has shape (2, 2); expected (3, 16)"),
        (replaced(torch.zeros(2), "state", "best", "output.bias"),
         "best weights: output.bias has shape (2,); expected (3,)"),
        (replaced(torch.zeros(2), "network", "more"), "weights: more is not part of the network"),
        (lambda content: content["network"].pop("output.bias"), "output.bias is missing"),
        (replaced(3, "state", "best"), "best weights: not by name"),
        (replaced({}, "optimiser"), "does not fit this run"),
        (lambda content: first_moment(content).update(exp_avg=torch.zeros(3, 7)),
         "optimiser: exp_avg has shape (3, 7); expected"),
    ],
)  # fmt: skip
def test_checkpoints_that_do_not_fit(stopped, change, said):
    file, content, again = stopped
    change(content)
    torch.save(content, file)
    with pytest.raises(InputError, match=re.escape(said)) as error:
        again()
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(file))


@pytest.mark.parametrize("content", [[1, 2], torch.zeros(3), 5])
def test_files_that_are_no_checkpoint(stopped, content):
    file, _, again = stopped
    torch.save(content, file)
    with pytest.raises(InputError, match="holds no 'fingerprint'; expected a checkpoint of a"):
        again()


def test_a_model_remembers_which_texts_chose_its_epoch(tmp_path):
    dev = texts_of(30, 1)
    model = BilstmTextClassifier(epochs=5, learning_rate=2e-2, **SMALL)
    model.fit(*texts_of(60), dev=dev, tune=False)
    scores = [entry["dev average_precision"] for entry in model.history]
    stopped = model.stopped_on
    assert (stopped.watch, stopped.n_texts) == ("average_precision", 30)
    assert (stopped.best_epoch, stopped.n_epochs) == (int(np.argmax(scores)) + 1, len(scores))
    assert stopped.saw(dev[0][::-1])
    assert not stopped.saw(dev[0][1:])
    again = BilstmTextClassifier.load(model.save(tmp_path / "model"))
    assert again.stopped_on == stopped
    assert again.history == model.history
    # Without dev the last epoch is the model, whatever was there before.
    model.fit(*texts_of(60))
    assert model.stopped_on is None
    again = BilstmTextClassifier.load(model.save(tmp_path / "model"))
    assert again.stopped_on is None
    assert len(again.history) == 5


def test_the_lowest_loss_is_the_best_epoch():
    history = [{"epoch": e, "loss": 1.0, "dev loss": v} for e, v in ((1, 0.5), (2, 0.3), (3, 0.3))]
    found = EarlyStopping.of(history, "loss", ["a", "b"])
    assert (found.best_epoch, found.n_epochs) == (2, 3)
    assert found.said() == "epoch 2 of 3, chosen by loss on 2 texts beside training"
    assert EarlyStopping.of([{"epoch": 1, "loss": 1.0}], "loss", ["a"]) is None


def test_histories_that_are_none(tmp_path):
    model = BilstmTextClassifier(epochs=1, **SMALL).fit(*texts_of(16), dev=texts_of(8, 1))
    folder = model.save(tmp_path / "model")
    file = folder / "history.json"
    held = json.loads(file.read_text())
    del held["stopped_on"]["n_texts"]
    for content in (held, [], {"epochs": [3], "stopped_on": None}):
        file.write_text(json.dumps(content))
        with pytest.raises(InputError, match=r"history\.json: expected the epochs of a training"):
            BilstmTextClassifier.load(folder)
    # A model that was saved without it knows nothing of its training.
    file.unlink()
    again = BilstmTextClassifier.load(folder)
    assert (again.history, again.stopped_on) == ([], None)


@pytest.mark.parametrize("kind", [TransformerTextClassifier, EmbeddingTextClassifier])
def test_nothing_is_drawn_while_models_are_trained_and_stored(kind, tmp_path, capfd):
    place = save_bert(tmp_path / "bert")
    capfd.readouterr()
    model = kind(encoder=place, epochs=1, taxonomy=TAXONOMY, device="cpu").fit(*texts_of(8))
    TextClassifier.load(model.save(tmp_path / "model"))
    assert capfd.readouterr() == ("", "")
