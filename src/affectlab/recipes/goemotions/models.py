"""Models of GoEmotions (Tables 4 to 6, section 5.4) and transfer (section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.environment.installing import install_line
from affectlab.core.types import Floats
from affectlab.core.words import count, in_brackets, joined, number, plural
from affectlab.recipes.goemotions.data import Corpus
from affectlab.recipes.recipe import Finding

if TYPE_CHECKING:
    from affectlab.models.text import TextClassifier
    from affectlab.recipes.goemotions.transfer import Transfer

__all__ = ["Effort", "Judged", "Models", "model_findings", "transfer_of"]

_TABLES = {"": 4, "sentiment": 5, "ekman": 6}
"""Table of each level; the labels themselves are the first."""
_BERT = {"batch_size": 16, "learning_rate": 5e-5, "epochs": 4}
"""Settings of the paper (section 5.3)."""
_NO_TORCH = f"the BiLSTM needs torch ({install_line('models')})"


@dataclass(frozen=True)
class Effort:
    """How much is learned from, and how long."""

    n_train: int
    """Most comments that models learn from."""
    network: Mapping[str, Any]
    """Settings of the BiLSTM."""
    n_target: int
    """Most texts of the other data set."""
    sizes: tuple[float, ...]
    """Training parts of the transfer."""
    splits: int
    """Random splits of each size."""
    transfer_epochs: int
    ppca_splits: int


@dataclass(frozen=True, eq=False)
class Judged:
    """What a model reaches at one level; ``nan`` for labels that no text has."""

    labels: tuple[str, ...]
    precision: Floats
    recall: Floats
    f1: Floats
    confusion: Floats
    """Texts with the true label of the row and the chosen one of the column."""

    @property
    def macro_f1(self) -> float:
        """Mean F1 over labels that some text has."""
        return float(np.nanmean(self.f1))


@dataclass(frozen=True)
class Models:
    """What was trained, and how it did."""

    judged: dict[str, Judged]
    """The model in place of BERT, by level; the labels themselves under the empty name."""
    network: TextClassifier | None
    """The BiLSTM; None where torch is not installed."""


def model_findings(
    corpus: Corpus, effort: Effort, seed: int
) -> tuple[dict[str, Finding], Models, list[str]]:
    """Train a model in place of BERT, or BERT itself, and a BiLSTM; judge all levels.

    Thresholds are fitted on dev. Models are judged on test where it is there, and otherwise on dev
    with thresholds from one half for the other.
    """
    from affectlab.models.text import load_backend

    settings: dict[str, Any] = {"cost": 0.7}
    if corpus.bert is None:
        backend = "linear"
        said, doubt = "a linear model of words in place of BERT", "a linear model in place of BERT"
    else:
        backend, settings = "transformer", {"encoder": str(corpus.bert), **_BERT}
        said, doubt = "BERT of models/bert", "one training run"
    first = _trained(corpus, load_backend(backend), settings, seed)
    where = "test" if corpus.test is not None else "dev, cross-fitted"
    judged = {level: _judge(first, corpus, level) for level in _TABLES}
    place = "" if corpus.test is not None else ", on dev in place of test"
    found = _table_findings(judged, f"{doubt}{place}")
    network, of_network = _network_findings(corpus, effort, seed, place)
    found |= of_network
    macro = joined([number(one.macro_f1, 3) for one in judged.values()])
    notes = [
        f"Tables 4 to 6: {said}, trained on {count(len(corpus.train))} comments, judged on "
        f"{where}: macro F1 {macro} for labels, sentiments and Ekman groups. One model answers at "
        "all levels; the paper trains one for each.",
        _told_of_confusion(judged[""]),
    ]
    if corpus.bert is None and corpus.files:
        notes.append(
            "The linear model's setting (cost .7) was not kept apart from these comments. Weights "
            "of BERT are read from models/bert beside train.tsv, and then used."
        )
    return found, Models(judged, network), notes


def _network_findings(
    corpus: Corpus, effort: Effort, seed: int, place: str
) -> tuple[TextClassifier | None, dict[str, Finding]]:
    """Train the BiLSTM and judge it at all levels; without torch, say so."""
    keys = {level: f"bilstm.{level or 'labels'}" for level in _TABLES}
    if find_spec("torch") is None:
        return None, dict.fromkeys(keys.values(), Finding(why=_NO_TORCH))
    from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier

    network = _trained(corpus, BilstmTextClassifier, dict(effort.network), seed)
    epochs, units = (int(effort.network[name]) for name in ("epochs", "hidden"))
    doubt = f"trained for {plural(epochs, 'epoch')}, {plural(units, 'unit')}{place}"
    return network, {
        key: Finding(_judge(network, corpus, level).macro_f1, doubt=doubt)
        for level, key in keys.items()
    }


def _trained(
    corpus: Corpus, kind: type[TextClassifier], settings: dict[str, Any], seed: int
) -> TextClassifier:
    levels = ["ekman", "sentiment"]
    model = kind(taxonomy=corpus.train.taxonomy, levels=levels, seed=seed, **settings)
    model.fit(corpus.train.texts, corpus.train.targets, source=corpus.train.source)
    model.tune(corpus.dev.texts, corpus.dev.targets, source=corpus.dev.source, split="dev")
    return model


def _judge(model: TextClassifier, corpus: Corpus, level: str) -> Judged:
    if corpus.test is None:
        tuned = model.tuning[level]
        parts = (tuned.precision, tuned.recall, tuned.f1, tuned.confusion)
        return Judged(tuned.labels, *(np.array(part, dtype=np.float64) for part in parts))
    from affectlab.evaluation import multilabel_confusion, precision_recall_f1
    from affectlab.models.text import group_targets, membership

    truth = corpus.test.targets
    if level:
        truth = group_targets(truth, membership(model.taxonomy, level))
    true = (truth >= 0.5).astype(np.int64)
    chosen = model.predict(corpus.test.texts, level or None).astype(np.int64)
    labels = model.labels_at(level or None)
    table = precision_recall_f1(true, chosen, labels=labels, n_boot=0).to_frame()
    # Never chosen: a precision of 0 and so an F1 of 0, as in the paper's row of grief.
    there = true.any(axis=0)
    precision, recall, f1 = (
        np.where(there, np.nan_to_num(table[name].to_numpy()), np.nan)
        for name in ("precision", "recall", "f1")
    )
    counts = multilabel_confusion(true, chosen, labels=labels).counts.astype(np.float64)
    return Judged(tuple(labels), precision, recall, f1, counts)


def _table_findings(judged: Mapping[str, Judged], doubt: str) -> dict[str, Finding]:
    found = {}
    for level, one in judged.items():
        table = f"table{_TABLES[level]}"
        for label, f1 in zip(one.labels, one.f1.tolist(), strict=True):
            key = f"{table}.{label}.f1"
            found[key] = (
                Finding(f1, doubt=doubt) if f1 == f1 else Finding(why="no text has the label")
            )
        for name in ("precision", "recall", "f1"):
            mean = float(np.nanmean(getattr(one, name)))
            found[f"{table}.macro.{name}"] = Finding(mean, doubt=doubt)
        found[f"{table}.std.f1"] = Finding(float(np.nanstd(one.f1, ddof=1)), doubt=doubt)
    # The table in the text has no row for surprise.
    found.pop("table6.surprise.f1", None)
    return found


def _told_of_confusion(one: Judged) -> str:
    """Name the emotions that are most often given another label."""
    total = one.confusion.sum(axis=1, keepdims=True)
    rows = ratio(one.confusion, total, 0.0)
    np.fill_diagonal(rows, 0.0)
    places = [k for k, name in enumerate(one.labels) if name == "neutral"]
    rows[:, places] = 0.0
    rows[places] = 0.0
    order = np.argsort(-rows, axis=None)[:3]
    pairs = [divmod(int(at), len(one.labels)) for at in order]
    said = joined(
        [f"{one.labels[a]} for {one.labels[b]} ({number(float(rows[a, b]))})" for a, b in pairs]
    )
    return f"Beside neutral, the model most often takes {said}, as shares of the row (Figure 6)."


def transfer_of(
    corpus: Corpus, network: TextClassifier | None, effort: Effort, seed: int
) -> tuple[Transfer | None, list[str]]:
    """Carry the BiLSTM over to another data set, and say what it gains (Figure 3)."""
    from affectlab.recipes.goemotions.transfer import transfer

    lost = "Figure 3: its numbers are not in the text, so that none is set beside ours"
    target = corpus.target
    if target is None:
        return None, [f"{lost}. Transfer is left out: there is no isear/isear.csv beside the data."]
    if network is None:
        return None, [f"{lost}. Transfer is left out: {_NO_TORCH}."]
    settings = {**effort.network, "epochs": effort.transfer_epochs, "batch_size": 16}
    found = transfer(
        target.texts,
        target.targets,
        network,
        taxonomy=target.taxonomy,
        target=target.source,
        settings=settings,
        sizes=effort.sizes,
        splits=effort.splits,
        seed=seed,
    )
    reached, gains = found.estimates(), found.gains()
    sentences = [
        f"{lost}. Transfer to {target.source} by a BiLSTM, {effort.splits} splits of each size."
    ]
    for size in found.sizes:
        parts = [
            f"{setup} {reached[setup, size].value - reached['baseline', size].value:+.3f} "
            f"{in_brackets(gains[setup, size].low, gains[setup, size].high, 3)}"
            for setup in found.setups
            if setup != "baseline"
        ]
        base = number(reached["baseline", size].value, 3)
        sentences.append(f"With {size} texts: baseline {base}, {joined(parts)}.".replace("-", "−"))
    ahead = [size for size in found.sizes if gains["nofreeze", size].low > 0]
    sentences.append(
        "The paper has nofreeze above the baseline at all sizes but the largest; ours is so, with "
        f"an interval above 0, at {len(ahead)} of {plural(len(found.sizes), 'size')}."
    )
    return found, [" ".join(sentences)]
