"""The file of finished runs, and the splits: nothing comes back that belongs to other runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.models.text.transfers import _same_texts, _split, transfer
from affectlab.taxonomy import Taxonomy

from .tiny import WORDS, texts_of

TAXONOMY = Taxonomy.from_labels(list(WORDS))
LINEAR = {"min_texts": 1, "min_texts_piece": 1, "cost": 20.0}


def single(n, seed=0):
    texts, labels = texts_of(4 * n, seed)
    kept = [(text, row) for text, row in zip(texts, labels, strict=True) if len(row) == 1][:n]
    return [text for text, _ in kept], [row for _, row in kept]


def reached(found):
    return [(run.setup, run.size, run.split, run.macro_f1) for run in found.runs]


class Watched:
    """Notes what linear models are trained and asked on."""

    def __init__(self, monkeypatch):
        self.parts = []
        made = TextClassifier.make

        def make(*args, **settings):
            model = made(*args, **settings)
            fit, predict = model.fit, model.predict_proba
            model.fit = lambda texts, labels: (self.parts.append([texts]), fit(texts, labels))[1]
            model.predict_proba = lambda texts: (self.parts[-1].append(texts), predict(texts))[1]
            return model

        monkeypatch.setattr(TextClassifier, "make", staticmethod(make))


def test_splits_of_a_size_do_not_depend_on_other_sizes(tmp_path):
    texts, labels = single(80)
    options = {"taxonomy": TAXONOMY, "splits": 3, "settings": LINEAR}
    kept = tmp_path / "runs.jsonl"
    both = transfer(texts, labels, **options, sizes=[20, 40], results=kept)
    fresh = transfer(texts, labels, **options, sizes=[40])
    again = transfer(texts, labels, **options, sizes=[40], results=kept)
    assert len(kept.read_text().splitlines()) == 6
    assert reached(again) == reached(fresh) == reached(both)[3:]
    # A share that makes the same number of texts is the same splits, too.
    share = transfer(texts, labels, **options, sizes=[0.5])
    assert [run.macro_f1 for run in share.runs] == [run.macro_f1 for run in fresh.runs]


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


def test_results_of_another_source_do_not_come_back(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    torch.set_num_threads(1)
    from affectlab.models.text.networks.bilstm import BilstmTextClassifier

    def source(seed, labels):
        model = BilstmTextClassifier(
            taxonomy=TAXONOMY, hidden=8, width=6, epochs=3, learning_rate=2e-2, device="cpu",
            dropout=0.0, name="source", seed=seed,
        )  # fmt: skip
        return model.fit(texts_of(60)[0], labels)

    given = texts_of(60)[1]
    turned = [["joy" if name == "sadness" else "sadness" if name == "joy" else name
               for name in row] for row in given]  # fmt: skip
    first = source(0, given)
    # Counts of labels may differ between these; what a source is must not hang on them.
    others = [source(1, given), source(0, turned)]
    for other in others:
        other.training = dict(first.training)
        assert (other.name, other.settings()) == (first.name, first.settings())
    texts, labels = single(40, 3)
    options = {
        "taxonomy": TAXONOMY, "sizes": [12], "splits": 2, "setups": ["freeze"],
        "settings": {"epochs": 2, "device": "cpu"},
    }  # fmt: skip
    kept = tmp_path / "runs.jsonl"
    transfer(texts, labels, first, **options, results=kept)
    for number, other in enumerate(others, 2):
        found = transfer(texts, labels, other, **options, results=kept)
        assert len(kept.read_text().splitlines()) == 2 * number
        assert reached(found) == reached(transfer(texts, labels, other, **options))
    # The same source, read from a folder, is the same.
    lines = kept.read_text()
    again = TextClassifier.load(first.save(tmp_path / "source"))
    transfer(texts, labels, again, **options, results=kept)
    assert kept.read_text() == lines


@pytest.fixture
def models():
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    torch.set_num_threads(1)
    from affectlab.models.text.networks.bilstm import BilstmTextClassifier

    def make(**settings):
        return BilstmTextClassifier(
            taxonomy=TAXONOMY, hidden=8, width=6, epochs=1, device="cpu", **settings
        )

    return make


def test_fingerprints_of_models(models, tmp_path):
    model = models().fit(*texts_of(20))
    said = model.fingerprint()
    assert TextClassifier.load(model.save(tmp_path / "model")).fingerprint() == said
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


def test_runs_of_splits_made_otherwise_are_run_again(tmp_path, monkeypatch):
    texts, labels = single(40)
    options = {"taxonomy": TAXONOMY, "sizes": [8], "splits": 2, "settings": LINEAR}
    kept = tmp_path / "runs.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr("affectlab.models.text.transfers._SPLITTING", "row by row")
        transfer(texts, labels, **options, results=kept)
    lines = [json.loads(line) | {"macro_f1": 0.125} for line in kept.read_text().splitlines()]
    kept.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    found = transfer(texts, labels, **options, results=kept)
    assert reached(found) == reached(transfer(texts, labels, **options))
    assert len(kept.read_text().splitlines()) == 4
