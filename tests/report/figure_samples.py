"""A sample of every kind of figure: of few raters, stimuli and labels, and of many, long names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from PIL import Image
from scipy.cluster.hierarchy import linkage

from affectlab.core.types import Floats

nan = float("nan")


@dataclass(frozen=True)
class Size:
    """How much there is to draw, and how long its names are."""

    raters: tuple[str, ...]
    stimuli: tuple[str, ...]
    labels: tuple[str, ...]
    n: int
    """Of whatever else is counted: systems, groups, runs."""

    def values(self, n: int, low: float = 0.0, high: float = 1.0) -> Floats:
        """Draw numbers, the same ones for the same number of them."""
        return np.random.default_rng(n).uniform(low, high, n)

    def estimates(self, n: int, low: float = 0.0, high: float = 1.0) -> dict[str, Floats]:
        """Draw numbers with intervals, of which the last is not defined where there are many."""
        value = self.values(n, low, high)
        if n > 2:
            value[-1] = nan
        half = 0.08 * (high - low)
        return {"value": value, "low": value - half, "high": value + half}

    def some(self, names: tuple[str, ...]) -> list[str]:
        return list(names[: self.n])


def _sized(n: int, n_labels: int, some: int, *, long: bool) -> Size:
    def names(what: str, n: int) -> tuple[str, ...]:
        # Alike at the beginning and at the end, as files of one recording are.
        middle = "_of-a-long-recording-session-in-the-laboratory"
        tail = "_as-it-was-first-cut-and-shown.mp4"
        return tuple(f"{what}{middle}_{k:03d}{tail}" if long else f"{what}{k}" for k in range(n))

    words = ["joy", "fear", "awe", "sadness", "anger", "calm", "disgust", "surprise"]
    named = [
        f"{words[k % 8]} that is felt strongly {k} on behalf of others" if long else words[k]
        for k in range(n_labels)
    ]
    return Size(names("rater", n), names("stimulus", n), tuple(named), some)


SIZES = {
    "tiny": _sized(3, 3, 2, long=False),
    "usual": _sized(12, 8, 4, long=False),
    "large": _sized(300, 40, 30, long=True),
}

Sample: TypeAlias = tuple[Mapping[str, Any] | pl.DataFrame, dict[str, Any]]
SAMPLES: dict[str, Callable[[Size], Sample]] = {}
"""What is drawn of each kind: columns, and settings of the figure."""


def sample(make: Callable[[Size], Sample]) -> Callable[[Size], Sample]:
    SAMPLES[make.__name__] = make
    return make


def _pairs(names: tuple[str, ...], first: str, second: str) -> dict[str, Any]:
    a, b = np.triu_indices(len(names), 1)
    named = np.array(names)
    return {first: named[a].tolist(), second: named[b].tolist()}


def _tree(n: int) -> list[list[float]]:
    points = np.random.default_rng(n).normal(size=(n, 2))
    return linkage(points, "average").tolist()


def _crossed(**columns: tuple[str, ...] | list[str]) -> pl.DataFrame:
    """Every combination, the first column varying slowest."""
    frame = pl.DataFrame({"of": [0]})
    for name, values in columns.items():
        frame = frame.join(pl.DataFrame({name: list(values)}), how="cross")
    return frame.drop("of")


_POLES = ("positive", "negative", "ambiguous", "neutral")


def _groups(names: tuple[str, ...]) -> list[str]:
    return [_POLES[k % 4] for k in range(len(names))]


def _picture(size: Size) -> Image.Image:
    return Image.fromarray(np.full((48, 64, 3), 120, np.uint8))


@sample
def pair_heatmap(size: Size) -> Sample:
    pairs = _pairs(size.raters, "rater_a", "rater_b")
    n = len(pairs["rater_a"])
    value = size.values(n, -0.2, 0.9)
    data = {"label": ["joy"] * n, **pairs, "value": value, "status": ["ok"] * n}
    kinds = ["human"] * (len(size.raters) - 1) + ["model"]
    settings = {"raters": size.raters, "rater_kinds": kinds, "value_name": "weighted kappa"}
    return data, {"keys": ["label", "rater_a", "rater_b"], **settings}


@sample
def consensus_flow(size: Size) -> Sample:
    n = len(size.stimuli)
    least = size.values(n, 0.3, 0.9)
    return {
        "label": [size.labels[k % len(size.labels)] for k in range(n)],
        "batch": [1 + k // len(size.labels) for k in range(n)],
        "kind": ["contrastive" if k % 2 else "affirmative" for k in range(n)],
        "items": [12_345 - 10 * k for k in range(n)],
        "agreement_low": least,
        "agreement_high": least + 0.05,
    }, {}


@sample
def plan(size: Size) -> Sample:
    n = len(size.raters)
    value = 30 / np.sqrt(2 + np.arange(n))
    data = {"raters": 2 + np.arange(n), "value": value, "low": 0.8 * value, "high": 1.2 * value}
    return data, {
        "goal": float(value[n // 2]),
        "recommended": 2 + n // 2,
        "value_name": "width of the 95 % interval of a mean",
    }


@sample
def raters_needed(size: Size) -> Sample:
    n = len(size.labels)
    return {
        "label": size.labels,
        "single": size.values(n, 0.1, 0.8),
        "k": [len(size.raters)] * n,
        **size.estimates(n, 0.3, 0.95),
    }, {}


@sample
def people_range(size: Size) -> Sample:
    kinds = ["model" if k < size.n else "person" for k in range(len(size.raters))]
    n = len(kinds)
    measures = {"kappa": "weighted kappa", "r": "correlation with the others"}
    data = {"rater": size.raters, "rater_kind": kinds}
    return data | {name: size.estimates(n)["value"] for name in measures}, {"value": measures}


@sample
def discrepancies(size: Size) -> Sample:
    frame = _crossed(rater=size.some(size.raters), label=size.labels)
    return frame.with_columns(
        **{name: pl.Series(own) for name, own in size.estimates(frame.height, -2, 2).items()}
    ), {}


@sample
def equivalence(size: Size) -> Sample:
    found = size.estimates(len(size.raters), -0.2, 0.2)
    verdicts = ["inside", "below", "above", "not shown"]
    return {
        "rater": size.raters,
        "verdict": [verdicts[k % 4] for k in range(len(size.raters))],
        "difference": found["value"],
        "low": found["low"],
        "high": found["high"],
        "test_low": found["low"] + 0.01,
        "test_high": found["high"] - 0.01,
    }, {"margin": 0.05, "value_name": "difference of weighted kappa from that of people"}


@sample
def agreement_bars(size: Size) -> Sample:
    families = [f"family {k % max(size.n // 2, 2)} of models" for k in range(len(size.raters))]
    return {"rater": size.raters, **size.estimates(len(size.raters))}, {
        "value_name": "Spearman's correlation with people",
        "families": families,
        "people": [0.4, 0.5, 0.6],
    }


@sample
def answers(size: Size) -> Sample:
    frame = _crossed(group=["people", "models"], answer=size.labels)
    return frame.with_columns(share=pl.Series(size.values(frame.height) / len(size.labels))), {}


@sample
def levels_by_label(size: Size) -> Sample:
    levels = [str(k) for k in range(max(len(size.labels) // 4, 2))]
    frame = _crossed(label=size.labels, answer=levels)
    return frame.with_columns(share=pl.lit(1 / len(levels))), {}


@sample
def outcomes(size: Size) -> Sample:
    n = len(size.raters)
    names = ("ok", "rule_violation", "schema_invalid", "unparseable", "truncated", "refused")
    counts = {name: np.arange(n) + 5 for name in names}
    return {"rater": size.raters, **counts, **size.estimates(n, 0.1, 0.9)}, {"keys": ["rater"]}


@sample
def score_strips(size: Size) -> Sample:
    frame = _crossed(label=size.labels, stimulus=size.stimuli)
    found = size.estimates(frame.height, 0, 7)
    half = -(-len(size.labels) // 2)
    panels = [
        {"labels": list(size.labels[:half]), "value_name": "mean answer", "limits": (0, 7)},
        {"labels": list(size.labels[half:]), "value_name": "share of yes", "limits": None},
    ]
    columns = {name: pl.Series(own) for name, own in found.items()}
    return frame.with_columns(middle=pl.lit(3.5), **columns), {"panels": panels}


@sample
def coverage(size: Size) -> Sample:
    frame = pl.concat(
        _crossed(label=size.labels, attribute=[name], value=values)
        for name, values in (
            ("apparent age", ["18-29", "30-49", "50-69", "70 and above"]),
            ("background", size.some(size.raters)[: max(size.n // 2, 2)]),
            ("gender", ["woman", "man"]),
        )
    )
    n = np.arange(frame.height) % 120
    return frame.with_columns(n=pl.Series(n), few=pl.Series(n < 3)), {
        "counted": "n",
        "short": "few",
    }


@sample
def circumplex(size: Size) -> Sample:
    n = len(size.stimuli)
    x, y = np.random.default_rng(1).uniform(1, 9, (2, n))
    data = {"stimulus": size.stimuli, "x": x, "y": y}
    data |= {"major": np.full(n, 0.5), "minor": np.full(n, 0.3), "angle": np.arange(n) * 10.0}
    return data, {"name": "stimulus", "x_limits": (1, 9), "y_limits": (1, 9)}


@sample
def confusion(size: Size) -> Sample:
    frame = _crossed(true=size.labels, predicted=size.labels)
    counts = np.random.default_rng(2).integers(0, 1500, frame.height)
    return frame.with_columns(count=pl.Series(counts)), {
        "labels": size.labels,
        "groups": _groups(size.labels),
    }


@sample
def reliability(size: Size) -> Sample:
    n = max(size.n, 3)
    ends = np.linspace(0, 1, n + 1)
    share = size.values(n, 0.2, 0.9)
    return {
        "low": ends[:-1],
        "high": ends[1:],
        "n": 1000 * np.arange(n),
        "confidence": (ends[:-1] + ends[1:]) / 2,
        "share": share,
        "share_low": share - 0.1,
        "share_high": share + 0.1,
    }, {
        "ece": 0.123,
        "title": size.raters[-1],
        "outcome_name": "share of people who gave the same answer",
    }


@sample
def expression_heatmap(size: Size) -> Sample:
    pairs = _pairs(size.labels, "expression_a", "expression_b")
    value = size.values(len(pairs["expression_a"]), 0, 90)
    n = len(size.labels)
    return {**pairs, "value": value}, {
        "names": size.labels,
        "linkage": _tree(n),
        "cluster": {name: k % max(size.n // 2, 1) for k, name in enumerate(size.labels[:-1])},
        "value_name": "mean difference, from 0 (the same) to 100",
    }


@sample
def histograms(size: Size) -> Sample:
    groups = ["intra", "inter", *size.some(size.labels)]
    frame = _crossed(histogram=["all"], group=groups, bin=[str(k) for k in range(10)])
    low = frame["bin"].cast(pl.Float64) * 10
    return frame.with_columns(low=low, high=low + 10, share=pl.lit(0.1)), {
        "histogram": "all",
        "notes": dict.fromkeys(groups, "mean 45.2, median 44.1, 1,240 pairs"),
        "value_name": "difference score",
    }


@sample
def expression_priority(size: Size) -> Sample:
    n = len(size.stimuli)
    found = size.estimates(n, 20, 80)
    relative = found["value"] - 50
    return {
        "expression": size.stimuli,
        "value": found["value"],
        "relative": relative,
        "relative_low": relative - 5,
        "relative_high": relative + 5,
        "cluster": [k % size.n if k else None for k in range(n)],
    }, {"has_clusters": True}


@sample
def expression_elbow(size: Size) -> Sample:
    n = len(size.labels)
    data = {"n_clusters": 1 + np.arange(n), "height": 90.0 / (1 + np.arange(n))}
    return data, {"chosen": n - 1, "value_name": "mean difference, from 0 (the same) to 100"}


@sample
def transition_curves(size: Size) -> Sample:
    actors, expressions = size.some(size.raters), size.labels
    frame = _crossed(actor=actors, expression=expressions, at=["1", "2", "3", "4", "5"])
    place = frame["at"].cast(pl.Int64)
    return frame.with_columns(
        x=place.cast(pl.Float64),
        place=place,
        half=pl.lit(3.0),
        share=1 - (place - 1) / 4,
        role=pl.lit("frame"),
    ), {"by": "expression", "value": "share", "names_frames": True}


@sample
def ranges(size: Size) -> Sample:
    frame = _crossed(expression=size.stimuli, actor=size.some(size.raters)[:5])
    return frame.with_columns(value=pl.Series(size.values(frame.height, 0, 80))), {
        "by": "expression",
        "line": 0.0,
    }


@sample
def groups_compared(size: Size) -> Sample:
    groups = size.some(size.raters)
    frame = _crossed(group=groups, at=[str(k) for k in range(20)])
    compared = [(groups[0], other, "p = 0.0012, d = 0.40") for other in groups[1:]]
    return frame.with_columns(value=pl.Series(size.values(frame.height))), {
        "value_name": "weighted kappa",
        "comparisons": compared,
    }


@sample
def kinds_by_label(size: Size) -> Sample:
    kinds = ["human-human", "human-model", "model-model"]
    frame = _crossed(label=size.labels, pair_kind=kinds)
    return frame.with_columns(mean=pl.Series(size.values(frame.height))), {
        "value_name": "weighted kappa"
    }


@sample
def fairness(size: Size) -> Sample:
    groups = ["man", "woman", "not said"] if size.n < 9 else size.some(size.stimuli)
    frame = _crossed(rater=size.some(size.raters), group=groups)
    found = {name: pl.Series(own) for name, own in size.estimates(frame.height).items()}
    flagged = pl.Series(np.arange(frame.height) % 5 == 1)
    n = pl.Series(np.arange(frame.height) * 100)
    return frame.with_columns(flagged=flagged, n=n, **found), {
        "row": ["group"],
        "section": ["rater"],
        "value_name": "macro F1",
        "size": "n",
    }


@sample
def intervals(size: Size) -> Sample:
    n = len(size.stimuli)
    groups = [size.some(size.labels)[k % min(size.n, len(size.labels))] for k in range(n)]
    return {"stimulus": size.stimuli, "group": groups, **size.estimates(n)}, {
        "keys": ["stimulus"],
        "groups": "group",
        "value_name": "Krippendorff's alpha",
        "lines": [(0.667, "tentative 0.667"), (0.8, "reliable 0.800")],
    }


@sample
def measures(size: Size) -> Sample:
    measures = ["ACC", "ECC", "EMC", "macro F1", "balanced accuracy"][: max(2, min(size.n, 5))]
    groups = size.some(size.labels)[:5]
    frame = _crossed(measure=measures, name=size.some(size.raters), group=groups)
    return frame.with_columns(
        **{name: pl.Series(own) for name, own in size.estimates(frame.height).items()}
    ), {}


@sample
def jnd_times(size: Size) -> Sample:
    actors = size.raters
    frame = _crossed(actor=actors, expression=size.some(size.labels)[:6])
    times = np.exp(size.values(frame.height, 3, 6))
    times[::5] = np.inf
    return frame.with_columns(time_ms=pl.Series(times)), {
        "chosen": 40.0,
        "interval": (35.0, 47.0),
        "own": dict.fromkeys(actors, (30.0, 20.0, 60.0)),
    }


@sample
def latency(size: Size) -> Sample:
    groups = ["all", *size.raters]
    frame = _crossed(group=groups, at=[str(20 * k) for k in range(6)])
    at = frame["at"].cast(pl.Float64)
    below = 1 - at / 120
    return frame.with_columns(latency_ms=at, below=below, low=below - 0.05, high=below + 0.05), {
        "marked": [20, 60]
    }


@sample
def jnd_strips(size: Size) -> Sample:
    frames = [str(k) for k in range(min(len(size.raters), 30))]
    actors = size.some(size.raters)
    frame = _crossed(actor=actors, expression=[size.labels[0]], at=frames)
    at = frame["at"].cast(pl.Int64)
    return frame.with_columns(
        time_ms=pl.lit(67.0), frame=at + 1, since_ms=33.0 * at, jnds=0.3 * at
    ), {"images": [_picture(size)] * frame.height}


@sample
def staircases(size: Size) -> Sample:
    runs = size.some(size.raters)
    frame = _crossed(rater=runs, at=[str(k) for k in range(max(size.n, 6))])
    k = frame["at"].cast(pl.Int64)
    run = np.repeat(np.arange(len(runs)), max(size.n, 6))
    grid = np.geomspace(1, 64, 12)
    posterior = np.exp(-0.5 * (np.log(grid) - 2) ** 2)
    found = [
        {
            "title": name,
            "note": "5.7 frames (4.2 to 7.9), 1 of 20 catch trials",
            "grid": grid.tolist(),
            "posterior": (posterior / posterior.sum()).tolist(),
            "value": 5.7,
            "low": 4.2,
            "high": 7.9,
        }
        for name in runs
    ]
    return frame.with_columns(run=pl.Series(run), distance=(k * 7) % 40, different=k % 2 == 0), {
        "thresholds": found
    }


@sample
def frequencies(size: Size) -> Sample:
    n = len(size.stimuli)
    return {
        "label": size.stimuli,
        "count": 12_000 - 10 * np.arange(n),
        "r": size.estimates(n)["value"],
        "of": _groups(size.stimuli),
    }, {"shade": "r", "groups": "of"}


@sample
def first_words(size: Size) -> Sample:
    words = [f"word{k}" for k in range(5)] if size.n < 9 else [name[:40] for name in size.raters]
    frame = _crossed(label=size.labels[:-1], word=words[:10])
    z = 40.0 - np.arange(frame.height) % 10
    return frame.with_columns(z=pl.Series(z)), {"labels": size.labels, "n": 10}


def _cells(size: Size) -> dict[str, Any]:
    return {"linkage": _tree(len(size.labels)), "groups": _groups(size.labels)}


@sample
def label_heatmap(size: Size) -> Sample:
    pairs = _pairs(size.labels, "label_a", "label_b")
    value = size.estimates(len(pairs["label_a"]), -0.4, 0.8)["value"]
    clusters = [k // 3 for k in range(len(size.labels))]
    return {**pairs, "value": value}, {"names": size.labels, "cluster": clusters, **_cells(size)}


@sample
def confusion_clusters(size: Size) -> Sample:
    frame = _crossed(true=size.labels, predicted=size.labels)
    share = size.values(frame.height, 0, 0.5)
    return frame.with_columns(share=pl.Series(share)), {"labels": size.labels, **_cells(size)}


@sample
def label_map(size: Size) -> Sample:
    n = len(size.stimuli)
    x, y = np.random.default_rng(3).normal(size=(2, n))
    return {
        "x": x,
        "y": y,
        "colour": ["#1f77a8"] * n,
        "labels": [size.labels[k % len(size.labels)] for k in range(n)],
    }, {"labels": size.labels}


@sample
def shares(size: Size) -> Sample:
    choices = ["human", "machine", *size.some(size.raters)]
    n = len(choices)
    return {"choice": choices, **size.estimates(n), "count": 1000 * np.arange(n)}, {}


@sample
def item_votes(size: Size) -> Sample:
    n = len(size.stimuli)
    choices = {name: name for name in (size.raters[0], size.raters[1], "neither")}
    votes = {name: np.random.default_rng(k).integers(0, 9, n) for k, name in enumerate(choices)}
    return {"item": size.stimuli, **votes}, {"choices": choices}


@sample
def emotion_words(size: Size) -> Sample:
    n = len(size.stimuli)
    labels = [size.labels[k % len(size.labels)] if k % 3 else None for k in range(n)]
    return {"word": size.stimuli, "n": 12_000 - 10 * np.arange(n), "label": labels}, {
        "polarity": dict(zip(size.labels, _groups(size.labels), strict=True)),
        "taxonomy": "GoEmotions, 27 labels and neutral",
    }


@sample
def pair_emotions(size: Size) -> Sample:
    n = len(size.stimuli)
    return {"n_emotions": 1 + np.arange(n) % 9, "conflict": size.estimates(n)["value"]}, {}


@sample
def reaction_examples(size: Size) -> Sample:
    n = size.n
    long = " ".join(["one feels small in front of what is so large"] * (8 if n > 9 else 1))
    return {
        "title": ["human better"] * n,
        "caption": [long] * n,
        "emotion": [size.labels[0]] * n,
        "human": [long] * n,
        "machine": ["It is a peak."] * n,
    }, {"images": [_picture(size)] * n}


@sample
def scatter(size: Size) -> Sample:
    metrics = size.some(size.raters)
    n = len(size.stimuli)
    data = {name: size.values(n + k)[:n] for k, name in enumerate(metrics)}
    panels = [
        {"x": name, "title": name, "note": "SROCC 0.81, PLCC 0.79", "curve": ([0, 1], [0, 100])}
        for name in metrics
    ]
    groups = [size.labels[k % len(size.labels)] for k in range(n)]
    return {**data, "score": 100 * size.values(n), "of": groups}, {
        "y": "score",
        "panels": panels,
        "groups": "of",
    }


@sample
def traces(size: Size) -> Sample:
    frame = _crossed(label=["valence"], stimulus=size.stimuli, second=list("012345"))
    mean = size.values(frame.height)
    return frame.with_columns(
        at=frame["second"].cast(pl.Float64),
        mean=pl.Series(mean),
        ewe=pl.Series(mean + 0.02),
        sd=pl.lit(0.1),
    ), {}


@sample
def epochs(size: Size) -> Sample:
    frame = _crossed(run=size.some(size.raters)[:20], at=[str(k) for k in range(1, 9)])
    epoch = frame["at"].cast(pl.Int64)
    values = {"threshold": "threshold of confidence", "utilisation": "share of unlabelled used"}
    drawn = {name: pl.Series(size.values(frame.height)) for name in values}
    return frame.with_columns(epoch=epoch, switched=epoch > 4, **drawn), {"values": values}


@sample
def transfer(size: Size) -> Sample:
    setups = ["baseline", "freeze", "nofreeze", *size.some(size.raters)[:2]]
    sizes = [f"{100 * (k + 1):,}" for k in range(size.n)]
    frame = _crossed(setup=setups, size=sizes)
    found = {name: pl.Series(own) for name, own in size.estimates(frame.height).items()}
    return frame.with_columns(**found), {}


@sample
def layers(size: Size) -> Sample:
    n = len(size.labels)
    weight = size.values(n, 0.5, 1.0)
    weight /= weight.sum()
    return {"weight": weight, "low": 0.8 * weight, "high": 1.2 * weight}, {}


@sample
def contributions(size: Size) -> Sample:
    labels = size.some(size.labels)
    n = len(size.stimuli)
    parts = {name: size.values(n + k, -4, 4)[:n] for k, name in enumerate(labels)}
    return {"token": size.stimuli, **parts}, {
        "labels": labels,
        "probabilities": dict.fromkeys(labels, 0.123),
    }
