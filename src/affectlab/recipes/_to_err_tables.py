"""Tables 1 to 3 of To Err Like Human, on whatever data there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student

from affectlab._types import Ints
from affectlab.evaluation import Confusion, confusion
from affectlab.models.images import label_fraction
from affectlab.models.semi import train_semi
from affectlab.models.vision import VisionClassifier
from affectlab.recipes._recipe import Finding
from affectlab.recipes._to_err_source import BACKBONES, LABELS, SHARES, Effort, Source

__all__ = [
    "ROWS",
    "Kept",
    "findings_of",
    "measured",
    "table_1",
    "tables_2_and_3",
    "too_few",
    "trained",
]

ROWS: dict[str, dict[str, Any]] = {
    "fixmatch": {"strategy": "fixmatch"},
    "flexmatch": {"strategy": "flexmatch"},
    "ours421": {"strategy": "emc"},
    "comatch": {"strategy": "comatch"},
    "simmatch": {"strategy": "simmatch"},
    "freematch": {"strategy": "freematch"},
    "softmatch": {"strategy": "softmatch"},
    "s2ver": {"strategy": "s2ver"},
    "ours422": {"strategy": "s2ver", "loss": "rank", "switch": "converging"},
}
"""Rows of Table 1, as arguments of :func:`affectlab.models.semi.train_semi`."""
_NETWORK = "resnet50"
"""Of Table 1 and of the user study."""
_MEASURES = {"acc": "accuracy", "acc2": "acc2", "ecc": "ecc", "emc": "emc"}


@dataclass
class Kept:
    """What is drawn of runs; figures are numbers of one run or of all."""

    confusions: dict[tuple[str, str], Confusion] = field(default_factory=dict)
    """Answers of the network of Table 1 with all labels, by data set and loss, of all seeds."""
    histories: dict[tuple[str, str], list[dict[str, float]]] = field(default_factory=dict)
    """Epochs of the last row of Table 1 that was learned, by data set and strategy."""
    histories_of: str = ""
    """Which share of labels, and which seed, the histories are of."""
    votes: Ints | None = None
    """Votes of the user study, shape (n, 3): cross-entropy, ListMLE, neither."""

    def add(self, source: Source, loss: str, seen: Confusion) -> None:
        """Count answers of one seed together with those before."""
        before = self.confusions.get((source.name, loss))
        if before is not None:
            counts = before.counts + seen.counts
            seen = Confusion.from_counts(counts, seen.labels, "mikels")
        self.confusions[source.name, loss] = seen


def trained(
    source: Source, backbone: str, seed: int, effort: Effort, **loss: Any
) -> VisionClassifier:
    """Train a network on all labels of a data set."""
    model = VisionClassifier("mikels", name=backbone, seed=seed, **source.backbones[backbone])
    return model.fit(source.learned, source.labels, epochs=effort.epochs, **source.training, **loss)


def measured(source: Source, model: VisionClassifier) -> dict[str, float]:
    """Give the measures of the paper on the test images."""
    return _measures(_seen(source, model))


def _seen(source: Source, model: VisionClassifier) -> Confusion:
    return confusion(
        source.test_labels, model.predict(source.test), labels=model.labels, taxonomy="mikels"
    )


def _measures(seen: Confusion) -> dict[str, float]:
    return {name: seen.metric(metric) for name, metric in _MEASURES.items()}


def table_1(
    sources: Iterable[Source],
    seed: int,
    effort: Effort,
    done: Callable[[str], None],
    kept: Kept | None = None,
) -> dict[str, float]:
    """Learn from shares of the labels; give ACC by key.

    A share of fewer images than there are labels is left out.
    """
    kept = kept or Kept()
    found: dict[str, float] = {}
    for source in sources:
        if source.name not in effort.semi:
            continue
        numbers = dict(zip(SHARES, LABELS[source.name], strict=True))
        for share in effort.shares:
            if too_few(source, share):
                continue
            inputs, labels = source.take(label_fraction(source.labels, share, seed=seed))
            for row, settings in ROWS.items():
                model = VisionClassifier(
                    "mikels", sorted(set(source.labels)), seed=seed, **source.backbones[_NETWORK]
                )
                chosen = dict(settings)
                if row == "ours421":
                    chosen["strategy_settings"] = {"e": source.e}
                run = train_semi(
                    model,
                    inputs,
                    labels,
                    source.learned,
                    epochs=effort.semi_epochs,
                    **source.training,
                    **chosen,
                )
                key = f"table1.{source.name}.{numbers[share]}.{row}"
                found[key] = measured(source, model)["acc"]
                kept.histories[source.name, row] = run.history
                kept.histories_of = f"{100 * share:g} % of the labels, seed {seed}"
            done(f"Table 1, {source.title}, {100 * share:g} % labelled")
    return found


def too_few(source: Source, share: float) -> str:
    """Say why nothing can be learned from a share of the labels; empty where it can."""
    wanted, labels = round(share * len(source.labels)), len(set(source.labels))
    if wanted >= labels:
        return ""
    return (
        f"{100 * share:g} % of {len(source.labels):,} images is {wanted:,}, fewer than the "
        f"{labels} labels"
    )


def tables_2_and_3(
    sources: Iterable[Source],
    seed: int,
    effort: Effort,
    done: Callable[[str], None],
    kept: Kept | None = None,
) -> dict[str, float]:
    """Compare losses on each network, and ranks on FI; give values by key.

    The true rank of Table 3 is the combined loss of Table 2.
    """
    kept = kept or Kept()
    found: dict[str, float] = {}
    for source in sources:
        for backbone in BACKBONES:
            losses: dict[str, dict[str, Any]] = {"ce": {}, "rank": {"loss": "rank"}}
            for loss, settings in losses.items():
                seen = _seen(source, trained(source, backbone, seed, effort, **settings))
                if backbone == _NETWORK:
                    kept.add(source, loss, seen)
                values = _measures(seen)
                for measure, value in values.items():
                    found[f"table2.{source.name}.{backbone}.{loss}.{measure}"] = value
                    if source.name == "fi" and loss == "rank" and measure != "acc2":
                        found[f"table3.{backbone}.true.{measure}"] = value
        done(f"Table 2, {source.title}")
        if source.name != "fi":
            continue
        for backbone in BACKBONES:
            for order in ("reversed", "random"):
                model = trained(source, backbone, seed, effort, loss="rank", order=order)
                values = measured(source, model)
                for measure in ("acc", "ecc", "emc"):
                    found[f"table3.{backbone}.{order}.{measure}"] = values[measure]
        done("Table 3")
    return found


def findings_of(runs: Iterable[Mapping[str, float]]) -> dict[str, Finding]:
    """Give means over seeds, with 95 % of Student's t where there are several."""
    values: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for key, value in run.items():
            values[key].append(value)
    found = {}
    for key, given in values.items():
        kept = np.array(given)
        if np.isnan(kept).any():
            found[key] = Finding(why="a network made no mistake")
            continue
        mean, n = float(kept.mean()), len(kept)
        if n == 1:
            found[key] = Finding(mean)
            continue
        half = float(student.ppf(0.975, n - 1) * kept.std(ddof=1) / np.sqrt(n))
        found[key] = Finding(mean, mean - half, mean + half)
    return found
