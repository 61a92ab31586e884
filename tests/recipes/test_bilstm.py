"""The LSTM: it learns, is stored, goes on where it stopped, and says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from tests.models.text.tiny import WORDS, one_thread, texts_of

from affectlab.core.errors import InputError
from affectlab.models.text.networks.loop import by_length, shuffled_batches
from affectlab.models.text.settings import Training
from affectlab.models.text.warnings import TruncatedTextWarning
from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier
from affectlab.taxonomy import Taxonomy

__all__ = ["one_thread"]

TAXONOMY = Taxonomy.from_labels(list(WORDS))
SMALL = {
    "taxonomy": TAXONOMY,
    "hidden": 24,
    "width": 12,
    "batch_size": 16,
    "learning_rate": 2e-2,
    "device": "cpu",
}


@pytest.fixture(scope="module")
def trained():
    model = BilstmTextClassifier(epochs=8, dropout=0.1, **SMALL)
    return model.fit(*texts_of(160), dev=texts_of(80, 1))


def test_learns_which_words_make_which_label(trained):
    losses = [entry["loss"] for entry in trained.history]
    assert losses[-1] < 0.5 * losses[0]
    assert trained.tuning[""].macro_f1 > 0.9
    assert trained.predict_labels(["the day was so happy", "they went home in tears"]) == [
        ("joy",),
        ("sadness",),
    ]


def test_padding_changes_nothing(trained):
    long = " ".join(["the day was"] * 12)
    alone = trained.predict_proba(["so happy"])
    beside = trained.predict_proba(["so happy", long])
    np.testing.assert_allclose(alone[0], beside[0], atol=1e-6)


def test_saved_and_read_back(trained, tmp_path):
    folder = trained.save(tmp_path / "model")
    again = BilstmTextClassifier.load(folder)
    texts = texts_of(20, 5)[0]
    np.testing.assert_array_equal(again.predict_proba(texts), trained.predict_proba(texts))
    assert again.settings() == trained.settings()
    assert not [path for path in folder.rglob("*") if path.suffix in (".pt", ".bin", ".pkl")]


def test_a_folder_whose_parts_do_not_fit(trained, tmp_path):
    folder = trained.save(tmp_path / "model")
    words = folder / "vocabulary.json"
    words.write_text('["happy"]', encoding="utf-8")
    with pytest.raises(InputError, match=r"weights\.safetensors does not fit"):
        BilstmTextClassifier.load(folder)
    words.write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="expected a list of words"):
        BilstmTextClassifier.load(folder)
    (folder / "weights.safetensors").unlink()
    words.write_text('["happy"]', encoding="utf-8")
    with pytest.raises(InputError, match="no such file; the model folder is not complete"):
        BilstmTextClassifier.load(folder)


def test_a_folder_of_another_version(trained, tmp_path):
    folder = trained.save(tmp_path / "model")
    meta = folder / "model.json"
    meta.write_text(meta.read_text().replace("text-model/1", "text-model/9"), encoding="utf-8")
    with pytest.raises(InputError, match=r"schema 'affectlab/text-model/9'.*train the model again"):
        BilstmTextClassifier.load(folder)


def test_presets():
    paper = BilstmTextClassifier(taxonomy=TAXONOMY, preset="paper")
    said = paper.settings()
    assert (paper.hidden, said["learning_rate"], said["decay"], said["dropout"]) == (
        256,
        0.1,
        0.95,
        0.7,
    )
    assert said["schedule"] == "decay"
    mixed = BilstmTextClassifier(taxonomy=TAXONOMY, preset="paper", learning_rate=0.05, dropout=0.2)
    assert (mixed.settings()["learning_rate"], mixed.settings()["dropout"]) == (0.05, 0.2)
    sane = BilstmTextClassifier(taxonomy=TAXONOMY)
    assert sane.settings()["learning_rate"] < 0.01
    with pytest.raises(InputError, match="unknown preset 'papers'; did you mean 'paper'"):
        BilstmTextClassifier(preset="papers")


def test_early_stopping_keeps_the_best_epoch():
    # Dev says the opposite of train: every epoch is worse than the one before.
    texts, labels = texts_of(60)
    wrong = [[label for label in WORDS if label not in row] for row in labels]
    model = BilstmTextClassifier(epochs=30, patience=2, dropout=0.0, **SMALL)
    model.fit(texts, labels, dev=(texts, wrong), tune=False)
    scores = [entry["dev average_precision"] for entry in model.history]
    assert len(scores) < 30
    assert len(scores) - 1 - int(np.argmax(scores)) == 2
    true = np.array([[label in row for label in WORDS] for row in wrong])
    from sklearn.metrics import average_precision_score

    kept = average_precision_score(true, model._logits(texts), average="macro")
    assert kept == pytest.approx(max(scores), abs=1e-6)


def test_soft_labels_are_learned_as_they_are():
    texts = ["the day", "a home"] * 16
    shares = np.array([[0.8, 0.1, 0.1], [0.3, 0.3, 0.3]] * 16)
    model = BilstmTextClassifier(epochs=40, dropout=0.0, **SMALL).fit(texts, shares)
    np.testing.assert_allclose(model.predict_proba(texts[:2]), shares[:2], atol=0.05)


def test_long_texts_are_cut_and_counted(trained):
    model = BilstmTextClassifier(epochs=1, max_tokens=4, **SMALL)
    texts, labels = ["so happy", "a sad day", "mad"], ["joy", "sadness", "anger"]
    model.fit(texts, labels)
    long = "so glad we went home"
    with pytest.warns(TruncatedTextWarning, match="1 of 2 texts are longer than 4 tokens"):
        found = model.predict_proba([long, "mad"])
    np.testing.assert_allclose(found[0], model.predict_proba(["so glad we went"])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"hidden": 0}, "hidden = 0: expected a whole number from 1 on"),
        ({"dropout": 1.0}, "dropout = 1.0: expected 0 or more, and less than 1"),
        ({"epochs": 0}, "epochs = 0"),
        ({"learning_rate": -1.0}, "learning_rate = -1.0: expected a number above 0"),
        ({"watch": "f1"}, "unknown watch 'f1'"),
        ({"optimiser": "adam"}, "unknown optimiser 'adam'; did you mean 'adamw'"),
        ({"penalty_weight": -1}, "penalty_weight = -1: expected 0 or more"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(InputError, match=said):
        BilstmTextClassifier(taxonomy=TAXONOMY, **settings)


def test_not_trained():
    with pytest.raises(InputError, match="not trained yet"):
        BilstmTextClassifier(taxonomy=TAXONOMY).predict(["so happy"])


def test_batches_hold_every_text_once_and_are_alike():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 60, size=1003)
    found = shuffled_batches(lengths, 16, np.random.default_rng(1))
    assert sorted(np.concatenate(found).tolist()) == list(range(1003))
    assert {len(batch) for batch in found} == {16, 1003 % 16}
    padded = sum(len(batch) * lengths[batch].max() for batch in found)
    assert padded < 1.1 * lengths.sum()
    heads = [lengths[batch].mean() for batch in found]
    assert abs(np.corrcoef(heads, range(len(heads)))[0, 1]) < 0.4
    again = shuffled_batches(lengths, 16, np.random.default_rng(1))
    assert all((a == b).all() for a, b in zip(found, again, strict=True))
    first = by_length(lengths, 16)[0]
    assert lengths[first].min() >= np.sort(lengths)[-16]


def test_learning_rates():
    rise = Training(epochs=2, learning_rate=1.0, warmup=0.2)
    rates = [rise.rate(step, 10) for step in range(20)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[4] == 1.0
    assert rates[-1] == pytest.approx(1 / 16)
    fall = Training(learning_rate=0.1, schedule="decay", decay=0.95)
    assert fall.rate(25, 10) == pytest.approx(0.1 * 0.95**2)
