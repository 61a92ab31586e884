"""Tables 1 to 3 of To Err Like Human, on whatever data there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student

from affectlab.core.types import Ints
from affectlab.core.words import percent
from affectlab.evaluation import confusion
from affectlab.evaluation.classification import Confusion
from affectlab.models.images import label_fraction
from affectlab.models.semi import SemiRun, train_semi
from affectlab.models.vision import VisionClassifier
from affectlab.recipes.recipe import Finding
from affectlab.recipes.to_err_like_human.data import BACKBONES, LABELS, SHARES, Effort, Source

__all__ = [
    "ROWS",
    "FewLabels",
    "Kept",
    "findings_of",
    "key_of",
    "measured",
    "remark_of",
    "table_1",
    "table_2",
    "table_3",
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


@dataclass(frozen=True)
class FewLabels:
    """How one run on few labels used the pool, and whether its mechanism ever acted."""

    strategy: str
    utilisation: tuple[float, ...]
    """Mean weight of pseudo-labels in each epoch."""
    thresholds: tuple[float, ...]
    """Threshold of confidence in each epoch; none for a strategy without one."""
    switches: bool
    """Whether the loss is to change once convergence begins."""
    switched_at: int | None
    """The epoch from which on the loss was the other one."""

    @classmethod
    def of(cls, run: SemiRun[Any], *, switches: bool) -> FewLabels:
        """Take what the history of a run says."""
        thresholds = [one["threshold"] for one in run.history if "threshold" in one]
        return cls(
            run.strategy,
            tuple(one["utilisation"] for one in run.history),
            tuple(thresholds),
            switches,
            run.switched_at if switches else None,
        )


def remark_of(runs: Sequence[FewLabels]) -> str:
    """Say how the pool was used over seeds, and what never acted."""
    n = len(runs)
    used = float(np.mean([np.mean(one.utilisation) for one in runs]))
    # A share that rounds to 0 is not the same as none.
    shown = "under 0.1\u00a0%" if 0 < used < 0.0005 else percent(used, 1)
    lines = [f"utilisation {shown}"]
    unused = sum(not any(one.utilisation) for one in runs)
    if unused:
        lines.append(f"no pseudo-label was confident enough{_with(unused, n)}: labels alone")
    if all(one.strategy == "emc" for one in runs):
        low, high = (end(map(end, (one.thresholds for one in runs))) for end in (min, max))
        if low == high:
            lines.append(f"the threshold stood at {low:.2f} in all epochs")
        else:
            lines.append(f"threshold {low:.2f} to {high:.2f}")
    if all(one.switches for one in runs):
        never = sum(one.switched_at is None for one in runs)
        epochs = [one.switched_at for one in runs if one.switched_at is not None]
        if epochs:
            first, last = min(epochs), max(epochs)
            when = f"epoch {first}" if first == last else f"epochs {first} to {last}"
            lines.append(f"losses switched at {when} of {len(runs[0].utilisation)}")
        if never:
            lines.append(f"the losses never switched{_with(never, n)}: this is S2-VER")
    return "; ".join(lines)


def _with(some: int, n: int) -> str:
    return "" if some == n else f" with {some} of {n} seeds"


@dataclass
class Kept:
    """What is drawn of runs; figures are numbers of one run or of all."""

    confusions: dict[tuple[str, str], Confusion] = field(default_factory=dict)
    """Answers of the network of Table 1 with all labels, by data set and loss, of all seeds."""
    histories: dict[tuple[str, str], list[dict[str, float]]] = field(default_factory=dict)
    """Epochs of the last row of Table 1 that was learned, by data set and strategy."""
    histories_of: str = ""
    """Which share of labels, and which seed, the histories are of."""
    few: dict[str, list[FewLabels]] = field(default_factory=lambda: defaultdict(list))
    """How pseudo-labels were used, by key of Table 1 and seed."""
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
    source: Source, share: float, seed: int, effort: Effort, kept: Kept | None = None
) -> dict[str, float]:
    """Learn from a share of the labels; give ACC by key."""
    kept = kept or Kept()
    found: dict[str, float] = {}
    inputs, labels = source.take(label_fraction(source.labels, share, seed=seed))
    for row, settings in ROWS.items():
        model = VisionClassifier(
            "mikels", sorted(set(source.labels)), seed=seed, **source.backbones[_NETWORK]
        )
        chosen = dict(settings)
        if row == "ours421":
            chosen["strategy_settings"] = {"e": source.e}
        run = train_semi(
            model, inputs, labels, source.learned, **effort.few_labels, **source.training, **chosen
        )
        key = f"{key_of(source, share)}{row}"
        found[key] = measured(source, model)["acc"]
        kept.few[key].append(FewLabels.of(run, switches="switch" in settings))
        kept.histories[source.name, row] = run.history
    kept.histories_of = f"{100 * share:g} % of the labels, seed {seed}"
    return found


def key_of(source: Source, share: float) -> str:
    """Give the beginning of the keys of Table 1 for a share of the labels."""
    return f"table1.{source.name}.{LABELS[source.name][SHARES.index(share)]}."


def too_few(source: Source, share: float) -> str:
    """Say why nothing can be learned from a share of the labels; empty where it can."""
    wanted, labels = round(share * len(source.labels)), len(set(source.labels))
    if wanted >= labels:
        return ""
    return (
        f"{100 * share:g} % of {len(source.labels):,} images is {wanted:,}, fewer than the "
        f"{labels} labels"
    )


def table_2(
    source: Source, seed: int, effort: Effort, kept: Kept | None = None
) -> dict[str, float]:
    """Compare losses on each network; give values by key.

    The combined loss is the true rank of Table 3.
    """
    kept = kept or Kept()
    found: dict[str, float] = {}
    for backbone in BACKBONES:
        losses: dict[str, dict[str, Any]] = {"ce": {}, "rank": {"loss": "rank"}}
        for loss, settings in losses.items():
            seen = _seen(source, trained(source, backbone, seed, effort, **settings))
            if backbone == _NETWORK:
                kept.add(source, loss, seen)
            for measure, value in _measures(seen).items():
                found[f"table2.{source.name}.{backbone}.{loss}.{measure}"] = value
                if source.name == "fi" and loss == "rank" and measure != "acc2":
                    found[f"table3.{backbone}.true.{measure}"] = value
    return found


def table_3(source: Source, seed: int, effort: Effort) -> dict[str, float]:
    """Let ListMLE follow reversed and random ranks; give values by key."""
    found: dict[str, float] = {}
    for backbone in BACKBONES:
        for order in ("reversed", "random"):
            values = measured(
                source, trained(source, backbone, seed, effort, loss="rank", order=order)
            )
            for measure in ("acc", "ecc", "emc"):
                found[f"table3.{backbone}.{order}.{measure}"] = values[measure]
    return found


def findings_of(
    runs: Iterable[Mapping[str, float]], remarks: Mapping[str, str] | None = None
) -> dict[str, Finding]:
    """Give means over seeds, with 95 % of Student's t where there are several."""
    remarks = remarks or {}
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
            found[key] = Finding(mean, remark=remarks.get(key, ""))
            continue
        half = float(student.ppf(0.975, n - 1) * kept.std(ddof=1) / np.sqrt(n))
        found[key] = Finding(mean, mean - half, mean + half, remark=remarks.get(key, ""))
    return found
