"""The transfer protocol: its splits, its setups, its intervals, and how it goes on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score
from tests.models.text.tiny import WORDS, texts_of

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.recipes.goemotions.transfer import (
    Transfer,
    TransferRun,
    _same_texts,
    _split,
    transfer,
)
from affectlab.report import draw_figure
from affectlab.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_labels(list(WORDS))
LINEAR = {"min_texts": 1, "min_texts_piece": 1, "cost": 20.0}


def single(n, seed=0):
    texts, labels = texts_of(4 * n, seed)
    kept = [(text, row) for text, row in zip(texts, labels, strict=True) if len(row) == 1][:n]
    return [text for text, _ in kept], [row for _, row in kept]


def test_baseline_of_linear_by_hand():
    texts, labels = single(60)
    found = transfer(
        texts, labels, taxonomy=TAXONOMY, sizes=[10, 0.5], splits=3, settings=LINEAR, seed=4
    )
    assert found.sizes == ("10", "50 %")
    assert [run.n_train for run in found.runs] == [10] * 3 + [30] * 3
    assert [run.n_test for run in found.runs] == [50] * 3 + [30] * 3
    # The second split of the first size, by other means.
    assert len(set(texts)) == 60
    order = np.random.default_rng([4, 10, 2]).permutation(60)
    model = TextClassifier.make("linear", taxonomy=TAXONOMY, levels=(), seed=6, **LINEAR)
    model.fit([texts[k] for k in order[:10]], [labels[k] for k in order[:10]])
    said = model.predict_proba([texts[k] for k in order[10:]]).argmax(axis=1)
    true = [TAXONOMY.index(labels[k][0]) for k in order[10:]]
    assert found.runs[1].macro_f1 == pytest.approx(f1_score(true, said, average="macro"))
    assert found.decision == "the most probable label"
    values = [run.macro_f1 for run in found.runs[:3]]
    row = found.estimates()["baseline", "10"]
    assert row.value == pytest.approx(np.mean(values))
    # t of 2 degrees of freedom, from a table.
    assert row.high - row.value == pytest.approx(4.302653 * np.std(values, ddof=1) / np.sqrt(3))
    assert row.n_raters == 3


def test_several_labels_are_chosen_by_a_threshold():
    texts, labels = texts_of(60)
    found = transfer(texts, labels, taxonomy=TAXONOMY, sizes=[30], splits=2, settings=LINEAR)
    assert found.decision == "labels with a probability from 0.3 on"
    assert found.target == "custom"


def runs_of(values):
    """Runs with known results: setup to values of splits."""
    return tuple(
        TransferRun(setup, "100", split, 100, 50, value, (value,))
        for setup, row in values.items()
        for split, value in enumerate(row, 1)
    )


def test_gains_are_paired():
    rng = np.random.default_rng(0)
    ease = rng.normal(0.5, 0.2, size=10)
    values = {"baseline": ease, "nofreeze": ease + 0.03 + rng.normal(0, 0.005, size=10)}
    found = Transfer(runs_of(values), ("joy",), "target", "source", "top 1")
    apart = found.estimates()
    # Alone the two overlap widely; on the same splits the gain is plain.
    assert apart["nofreeze", "100"].low < apart["baseline", "100"].high
    gain = found.gains()["nofreeze", "100"]
    assert gain.value == pytest.approx(np.mean(values["nofreeze"] - ease))
    assert gain.low > 0.02
    with pytest.raises(InputError, match="unknown setup 'freeze'"):
        found.gains("freeze")


def test_intervals_hold_the_mean_as_often_as_they_say():
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(400):
        row = rng.normal(0.4, 0.05, size=10)
        found = Transfer(runs_of({"baseline": row}), ("joy",), "t", "", "top 1")
        estimate = found.estimates()["baseline", "100"]
        hits += estimate.low <= 0.4 <= estimate.high
    assert 0.92 < hits / 400 < 0.98


def test_splits_of_a_size_do_not_depend_on_other_sizes():
    texts, labels = single(80)
    options = {"taxonomy": TAXONOMY, "splits": 3, "settings": LINEAR}
    both = transfer(texts, labels, **options, sizes=[20, 40])
    alone = transfer(texts, labels, **options, sizes=[40])
    assert alone.runs == both.runs[3:]
    # A share that makes the same number of texts is the same splits, too.
    share = transfer(texts, labels, **options, sizes=[0.5])
    assert [run.macro_f1 for run in share.runs] == [run.macro_f1 for run in alone.runs]


class Watched:
    """Notes what linear models are trained and asked on."""

    def __init__(self, monkeypatch):
        self.parts = []
        fit, predict = TextClassifier.fit, TextClassifier.predict_proba

        def fitted(model, texts, labels):
            self.parts.append([texts])
            return fit(model, texts, labels)

        def predicted(model, texts):
            self.parts[-1].append(texts)
            return predict(model, texts)

        monkeypatch.setattr(TextClassifier, "fit", fitted)
        monkeypatch.setattr(TextClassifier, "predict_proba", predicted)


def test_no_text_is_trained_and_tested_on(monkeypatch):
    texts, labels = single(40)
    # Every fourth text again, in other letters and spacing, and under another label.
    texts += [f" {text.upper()}  " for text in texts[::4]]
    labels += [["anger"] if row == ["joy"] else ["joy"] for row in labels[::4]]
    watched = Watched(monkeypatch)
    found = transfer(texts, labels, taxonomy=TAXONOMY, sizes=[10, 0.5], splits=8, settings=LINEAR)
    assert len(watched.parts) == 16
    for run, (train, test) in zip(found.runs, watched.parts, strict=True):
        assert sorted([*train, *test]) == sorted(texts)
        plain = [{" ".join(text.lower().split()) for text in part} for part in (train, test)]
        assert not plain[0] & plain[1]
        assert (run.n_train, run.n_test) == (len(train), len(test))
        assert len(train) == (10 if run.size == "10" else 25)


def test_groups_fill_a_training_part_as_far_as_they_fit():
    groups = _same_texts(["a", "b", "A ", "c", "ﬁne", "fine", "a"])
    assert [group.tolist() for group in groups] == [[0, 2, 6], [1], [3], [4, 5]]
    sizes = set()
    for seed in range(40):
        train, test = _split(groups, 4, np.random.default_rng(seed))
        assert sorted([*train, *test]) == list(range(7))
        sizes.add(len(train))
        for group in groups:
            assert np.isin(group, train).all() or np.isin(group, test).all()
    assert sizes == {4}
    with pytest.raises(InputError, match="size 2: the texts of the target occur so often"):
        _split(_same_texts(["a", "a", "a", "b", "b", "b"]), 2, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sizes": [40]}, "size 40: expected a number of texts from 2 to 39, or a share below 1"),
        ({"sizes": [0.01]}, "size 0.01: expected"),
        ({"sizes": [10.5]}, "size 10.5: expected"),
        ({"splits": 1}, "splits = 1: expected 2 or more"),
        ({"setups": ["frozen"]}, "unknown setup 'frozen'; did you mean 'freeze'"),
        ({"setups": ["freeze"]}, "setup 'freeze' needs a source model"),
        ({"labels": ["joyy"] * 40}, "unknown label 'joyy'; did you mean 'joy'"),
    ],
)
def test_what_cannot_be_run(options, said):
    texts, labels = single(40)
    given = {"sizes": [8], "splits": 2, "settings": LINEAR, "labels": labels, **options}
    with pytest.raises(InputError, match=said):
        transfer(texts, given.pop("labels"), taxonomy=TAXONOMY, **given)


def test_linear_cannot_start_from_a_model():
    texts, labels = single(40)
    source = TextClassifier.make("linear", taxonomy=TAXONOMY, **LINEAR).fit(texts, labels)
    with pytest.raises(InputError, match="back end 'linear' cannot start from another model"):
        transfer(texts, labels, source, taxonomy=TAXONOMY, sizes=[8], splits=2)


@pytest.mark.long
def test_a_source_that_knows_the_words_helps(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    torch.set_num_threads(1)
    from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier

    source = BilstmTextClassifier(
        taxonomy=TAXONOMY, hidden=24, width=12, batch_size=16, learning_rate=2e-2, epochs=8,
        dropout=0.1, device="cpu", name="source",
    ).fit(*texts_of(160))  # fmt: skip
    # The target has other labels for the same words.
    texts, labels = single(60, 5)
    other = Taxonomy.from_labels(["good", "bad", "cross"])
    names = {"joy": "good", "sadness": "bad", "anger": "cross"}
    two = [names[row[0]] for row in labels]
    found = transfer(
        texts, two, source, taxonomy=other, sizes=[16], splits=3,
        settings={"epochs": 5, "device": "cpu"},
    )  # fmt: skip
    assert found.setups == ("baseline", "freeze", "nofreeze")
    assert found.source == "source"
    reached = found.estimates()
    for setup in ("freeze", "nofreeze"):
        assert reached[setup, "16"].value > reached["baseline", "16"].value + 0.15
    # The source is as it was.
    assert source.labels == TAXONOMY.labels
    assert source.predict_labels(["so happy"]) == [("joy",)]


def test_frozen_encoders_take_all_setups(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    torch.set_num_threads(1)
    from tests.models.text.tiny import save_bert

    from affectlab.models.text.encoders.embedding import EmbeddingTextClassifier

    source = EmbeddingTextClassifier(
        encoder=save_bert(tmp_path / "bert"), taxonomy=TAXONOMY, hidden=8, epochs=2, device="cpu"
    ).fit(*texts_of(60))
    texts, labels = single(30)
    options = {"taxonomy": TAXONOMY, "sizes": [10], "splits": 2, "settings": {"device": "cpu"}}
    found = transfer(texts, labels, source, **options)
    assert found.setups == ("baseline", "freeze", "nofreeze")
    again = transfer(texts, labels, source, **options)
    assert [run.macro_f1 for run in found.runs] == [run.macro_f1 for run in again.runs]
    # What was remembered of the target is let go.
    assert not source.encoder.remembers
    assert not source.encoder._memory


def test_figure():
    columns = {
        "setup": ["baseline"] * 2 + ["nofreeze"] * 2,
        "size": ["100", "80 %"] * 2,
        "value": [0.2, 0.5, 0.4, np.nan],
        "low": [0.1, 0.4, 0.3, np.nan],
        "high": [0.3, 0.6, 0.5, np.nan],
    }
    figure = draw_figure("transfer", columns)
    (axes,) = figure.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["100", "80 %"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["baseline", "nofreeze"]
    points = [part.get_offsets()[:, 1] for part in axes.collections if len(part.get_offsets()) == 2]
    np.testing.assert_allclose(points[0], [0.2, 0.5])
    with pytest.raises(InputError, match="3 values of 2 setups and 2 sizes"):
        draw_figure("transfer", {name: own[:3] for name, own in columns.items()})
    with pytest.raises(InputError, match="one setup at least"):
        draw_figure("transfer", {name: [] for name in columns})
