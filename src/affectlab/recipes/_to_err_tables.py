"""Tables 1 to 3 of To Err Like Human, on whatever data there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy.stats import t as student

from affectlab.evaluation import confusion
from affectlab.models.images import label_fraction
from affectlab.models.semi import train_semi
from affectlab.models.vision import VisionClassifier
from affectlab.recipes._recipe import Finding
from affectlab.recipes._to_err_source import BACKBONES, LABELS, SHARES, Effort, Source

__all__ = [
    "ROWS",
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


def trained(
    source: Source, backbone: str, seed: int, effort: Effort, **loss: Any
) -> VisionClassifier:
    """Train a network on all labels of a data set."""
    model = VisionClassifier("mikels", name=backbone, seed=seed, **source.backbones[backbone])
    return model.fit(source.learned, source.labels, epochs=effort.epochs, **source.training, **loss)


def measured(source: Source, model: VisionClassifier) -> dict[str, float]:
    """Give the measures of the paper on the test images."""
    seen = confusion(
        source.test_labels, model.predict(source.test), labels=model.labels, taxonomy="mikels"
    )
    return {name: seen.metric(metric) for name, metric in _MEASURES.items()}


def table_1(
    sources: Iterable[Source], seed: int, effort: Effort, done: Callable[[str], None]
) -> dict[str, float]:
    """Learn from shares of the labels; give ACC by key.

    A share of fewer images than there are labels is left out.
    """
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
                train_semi(
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
    sources: Iterable[Source], seed: int, effort: Effort, done: Callable[[str], None]
) -> dict[str, float]:
    """Compare losses on each network, and ranks on FI; give values by key.

    The true rank of Table 3 is the combined loss of Table 2.
    """
    found: dict[str, float] = {}
    for source in sources:
        for backbone in BACKBONES:
            losses: dict[str, dict[str, Any]] = {"ce": {}, "rank": {"loss": "rank"}}
            for loss, settings in losses.items():
                values = measured(source, trained(source, backbone, seed, effort, **settings))
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
