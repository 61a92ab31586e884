"""BARTScore tuned on people's preferences."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.model_selection import GroupKFold

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.inference import check_confidence, few_units, wilson_interval
from affectlab.core.result import Result
from affectlab.core.statistic import student
from affectlab.core.tables import Interval, Key, Number, Share, Table
from affectlab.core.types import Floats, Ints
from affectlab.core.words import in_brackets, number, percent, plural
from affectlab.evaluation.preference import (
    area_ends,
    fold_areas,
    without_clusters,
)
from affectlab.models.devices import quiet_transformers
from affectlab.models.preference_metric.bart_tuning import (
    Progress,
    TuningSettings,
    both_scores,
    check_settings,
    tune,
)
from affectlab.models.preference_metric.data import PreferenceTexts
from affectlab.models.runs import META, HubModel, read_meta, replacing, write_json
from affectlab.models.text_metrics import Writer

__all__ = ["TUNED", "TunedBartScore"]

# How well a network tuned on few examples orders pairs that it was not tuned on.


_EXAMPLES = (16, 32, 64)
"""Numbers of pairs to tune on, as far as there are so many."""


def _cross_validated(
    place: str,
    writer_options: Mapping[str, Any],
    data: PreferenceTexts,
    examples: Sequence[int] | None,
    settings: TuningSettings,
    *,
    folds: int,
    seed: int,
    n_boot: int,
    confidence: float,
    progress: Progress | None = None,
) -> Result:
    """Tune on the pairs of all folds but one, and score that one, with each number of examples.

    Smaller sets of examples are parts of larger ones.
    """
    n_groups = np.unique(data.clusters).size
    if not 2 <= folds <= n_groups:
        raise InputError(f"folds {folds}: expected 2 up to the {n_groups} groups of items")
    rng = np.random.default_rng(seed)
    cut = GroupKFold(folds, shuffle=True, random_state=seed)
    parts = list(cut.split(data.clusters, groups=data.clusters))
    least = min(int(data.decided[train].sum()) for train, _ in parts)
    if examples is None:
        examples = [n for n in _EXAMPLES if n <= least]
        if not examples:
            raise InputError(
                f"a training part has {least} pairs of which one text was chosen; expected "
                f"{_EXAMPLES[0]} or more, or examples that ask for fewer"
            )
    sizes = sorted({0, *examples})
    if sizes[-1] > least:
        raise InputError(
            f"examples {sizes[-1]}: a training part has {least} pairs of which one text was "
            "chosen; expected no more than that"
        )
    scores = np.full((len(sizes), len(data.items), 2), np.nan)
    epochs, fold = np.zeros((len(sizes), folds)), np.zeros(len(data.items), dtype=np.int64)
    for f, (train, test) in enumerate(parts):
        fold[test] = f
        rows = _by_group(data.clusters, train[data.decided[train]], rng)
        tuning_seed = int(rng.integers(0, 2**31))
        for at, size in enumerate(sizes):
            # A network that was tuned must not be the start of another one.
            writer = Writer(place, **writer_options)
            if size:
                epochs[at, f] = tune(writer, data, rows[:size], settings, tuning_seed)
            scores[at, test] = both_scores(writer, data, test)
            if progress is not None:
                progress("cross-validation", f * len(sizes) + at + 1, folds * len(sizes))
    curve = _curve(data, fold, sizes, scores, epochs.mean(axis=1), n_boot, confidence)
    told = [
        pl.DataFrame(
            {
                "item": list(data.items),
                "examples": [size] * len(data.items),
                "fold": fold,
                "score": scores[at, :, 0],
                "score_other": scores[at, :, 1],
            }
        )
        for at, size in enumerate(sizes)
    ]
    left_out = f"; {plural(data.n_left_out, 'item')} without texts left out" * bool(data.n_left_out)
    return Result(
        (
            Table("curve", "Pairs kept aside, by how many were tuned on.", curve, _CURVE),
            Table("scores", "What networks say that did not see the item.", pl.concat(told),
                  (Key("item"), Key("examples"), Number("score")), limit=0),
        ),
        sentences=tuple(_said(row) for row in curve.iter_rows(named=True)),
        notes=(
            f"{plural(int(data.decided.sum()), 'pair')} of which one text was chosen, in "
            f"{plural(n_groups, 'group')}; {folds} folds that part no group{left_out}.",
        ),
        settings={"folds": folds, "n_boot": n_boot, "confidence": confidence},
    )  # fmt: skip


_CURVE = (
    Key("examples"),
    Share("accuracy", "right"),
    Interval(),
    Share("gain"),
    Number("auc", "AUC"),
    Number("epochs"),
)


def _by_group(clusters: Ints, rows: Ints, rng: np.random.Generator) -> Ints:
    """Order rows at random, groups after one another."""
    rank = rng.permutation(int(clusters.max()) + 1)
    return rows[np.argsort(rank[clusters[rows]], kind="stable")]


def _curve(
    data: PreferenceTexts,
    fold: Ints,
    sizes: Sequence[int],
    scores: Floats,
    epochs: Floats,
    n_boot: int,
    confidence: float,
) -> pl.DataFrame:
    pairs = data.decided
    apart = np.where(data.own_chosen, 1.0, -1.0) * (scores[:, :, 0] - scores[:, :, 1])
    right = np.where(apart > 0, 1.0, np.where(apart == 0, 0.5, 0.0))[:, pairs]
    clusters = data.clusters[pairs]
    values = scores[:, :, 0].T

    def within_folds(weights: Floats) -> Floats:
        return fold_areas(values, data.good, weights, [fold] * values.shape[1])

    areas = within_folds(np.ones((1, data.good.size)))[0]
    low, high = np.full((2, areas.size), np.nan)
    if n_boot:
        left_out = without_clusters(within_folds, data.clusters)
        _, low, high = area_ends(left_out, data.good, data.clusters, confidence)
    rows = []
    for at, size in enumerate(sizes):
        ends = _clustered(right[at], clusters, confidence)
        gain = right[at] - right[0]
        error = np.sqrt(np.array([_variance(gain, clusters)]))
        freedom = np.array([max(np.unique(clusters).size - 1, 1)])
        _, *gains = student(np.array([gain.mean()]), error, freedom, confidence)
        rows.append(
            {
                "examples": size,
                "accuracy": float(right[at].mean()),
                "low": ends[0],
                "high": ends[1],
                "gain": float(gain.mean()),
                "gain_low": float(gains[0][0]) if size and error else float("nan"),
                "gain_high": float(gains[1][0]) if size and error else float("nan"),
                "auc": float(areas[at]),
                "auc_low": float(low[at]),
                "auc_high": float(high[at]),
                "epochs": float(epochs[at]),
                "n_pairs": int(pairs.sum()),
            }
        )
    return pl.DataFrame(rows)


def _said(row: Mapping[str, Any]) -> str:
    """Say how well one number of examples did."""
    what = f"tuned on {row['examples']} pairs" if row["examples"] else "as it was"
    gain = ""
    if row["gain_low"] == row["gain_low"]:
        word = "no gain is shown"
        if row["gain_low"] > 0 or row["gain_high"] < 0:
            word = "a gain" if row["gain_low"] > 0 else "a loss"
        ends = in_brackets(row["gain_low"], row["gain_high"], 1, write=percent)
        gain = f"; {percent(row['gain'], 1)} more{ends}: {word}"
    if row["examples"] and not row["epochs"]:
        gain += "; no pass was better on the pairs kept aside in any fold, so that it stayed"
    return (
        f"{what}: the chosen text scores higher in {percent(row['accuracy'], 1)} of pairs "
        f"({percent(row['low'], 1)} to {percent(row['high'], 1)}){gain}; AUC of good against poor "
        f"{number(row['auc'])}."
    )


def _variance(values: Floats, clusters: Ints) -> float:
    """Variance of the mean of values of which those of a group go together."""
    sums = np.bincount(clusters, weights=values - values.mean())
    n = int((np.bincount(clusters) > 0).sum())
    return float((sums**2).sum() / values.size**2 * n / max(n - 1, 1))


def _clustered(values: Floats, clusters: Ints, confidence: float) -> tuple[float, float]:
    """Wilson interval with as many cases as the variance between groups is worth."""
    share = float(values.mean())
    n = int(np.unique(clusters).size)
    # The variance has n - 1 below the line already.
    wider = few_units(confidence, n) * float(np.sqrt((n - 1) / n)) if n > 1 else 1.0
    variance = _variance(values, clusters) * wider**2
    worth = min(share * (1 - share) / variance if variance > 0 else float(n), float(values.size))
    low, high = wilson_interval(share * worth, worth, confidence)
    return float(low), float(high)


TUNED = "affectlab/tuned-bart-score/1"
_KEYS = ("name", "settings", "seed", "system", "epoch", "n_pairs")


class TunedBartScore(HubModel):
    """BARTScore whose network was tuned so that texts that people chose are likelier.

    The score of a text is its mean log-probability per token after what it is about, the direction
    context -> text, in natural logarithms. Tuning takes pairs of which one text was chosen:
    :math:`-\\ln \\sigma(\\beta (s_{chosen} - s_{other}))`.

    Parameters
    ----------
    model
        Folder or name of a checkpoint with an encoder and a decoder, such as BART.
    name
        Name as a metric.
    batch_size, max_tokens, device
        As in :class:`~affectlab.models.text_metrics.BartScore`.
    seed
        Seed; the same seed gives the same folds and, on one kind of machine, the same network.
    settings
        Settings of tuning, such as ``epochs`` and ``learning_rate``.

    Notes
    -----
    The folder of a saved one is a checkpoint, too: ``BartScore(folder)`` reads it.

    References: Socratis (2023), section 5, "a custom BART metric based on a few examples"; Bradley
    and Terry (1952).

    Examples
    --------
    ::

        data = preference_texts(found, texts, cluster="pair")
        metric = TunedBartScore("facebook/bart-large-cnn")
        print(*metric.cross_validate(data, examples=[16, 32, 64]).sentences, sep="\\n")
        metric.fit(data).save("tuned-bart")
    """

    def __init__(
        self,
        model: str | Path,
        *,
        name: str = "tuned BARTScore",
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        seed: int = 0,
        **settings: Any,
    ) -> None:
        self.model, self.name, self.seed = str(model), name, seed
        if seed < 0:
            raise InputError(f"seed {seed}: expected 0 or more")
        self.settings = check_settings(settings)
        self._options = {
            "batch_size": batch_size,
            "max_tokens": max_tokens,
            "device": device,
            "precision": "fp32",
        }
        self.writer: Writer | None = None
        self.system = ""
        self.epoch = 0
        """The pass over the pairs that was taken; 0 where none was better than none."""
        self.n_pairs = 0
        self.validation: Mapping[str, Any] | None = None
        """What :meth:`cross_validate` found, as plain values; None before."""

    def cross_validate(
        self,
        data: PreferenceTexts,
        *,
        examples: Sequence[int] | None = None,
        folds: int = 5,
        n_boot: int = 1000,
        confidence: float = 0.95,
        progress: Progress | None = None,
    ) -> Result:
        """Judge tuning with few examples by pairs that were kept aside.

        Parameters
        ----------
        examples
            Numbers of pairs to tune on, of which a part chooses when to stop; by default 16, 32
            and 64, as far as there are so many.
        folds
            Folds of the items; a group of items is never parted.
        n_boot
            0 for no intervals of areas.

        Returns
        -------
        Result
            Table ``curve``: ``examples`` (0: as it was), ``accuracy`` (share of pairs whose chosen
            text scores higher, ties counting half) with ``low`` and ``high``, ``gain`` (less that
            of 0 examples), ``auc`` (of the scores of the judged system's texts, good against poor)
            with their ends, ``epochs`` (mean pass that was taken; 0: none was better), ``n_pairs``.
            Table ``scores``: what networks say of both texts that did not see the item.

        Raises
        ------
        InputError
            If there are too few pairs or groups, or the checkpoint cannot be used.
        """
        check_confidence(confidence)
        if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in examples or ()):
            raise InputError(f"examples {list(examples or ())!r}: expected whole numbers from 1 on")
        if n_boot < 0:
            raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
        found = _cross_validated(
            self.model,
            self._options,
            data,
            examples,
            self.settings,
            folds=folds,
            seed=self.seed,
            n_boot=n_boot,
            confidence=confidence,
            progress=progress,
        )
        self.validation = found.to_dict()
        return found

    def fit(self, data: PreferenceTexts, *, progress: Progress | None = None) -> TunedBartScore:
        """Tune on all pairs of which one text was chosen.

        Raises
        ------
        InputError
            If there are too few, or the checkpoint cannot be used.
        """
        writer = Writer(self.model, **self._options)  # type: ignore[arg-type]
        rows = np.flatnonzero(data.decided)
        self.epoch = tune(writer, data, rows, self.settings, self.seed, progress)
        self.writer, self.system, self.n_pairs = writer, data.system, int(rows.size)
        return self

    def _tuned(self) -> Writer:
        if self.writer is None:
            raise InputError("the metric is not tuned yet; expected fit or load before")
        return self.writer

    def score(self, candidates: Sequence[str], contexts: Sequence[str]) -> Floats:
        """Give the mean log-probability of each text after its context, shape (n,).

        Raises
        ------
        InputError
            If there are not as many contexts as texts, or one is empty.
        """
        writer = self._tuned()
        if len(candidates) != len(contexts):
            raise InputError(
                f"{len(candidates)} texts and {len(contexts)} contexts; expected as many"
            )
        for k, text in enumerate((*candidates, *contexts)):
            if not text.strip():
                raise InputError(f"text {k % len(candidates) + 1} is empty; expected some words")
        if not candidates:
            return np.zeros(0)
        cut = writer.cut([*contexts, *candidates])
        return writer.mean_log_probabilities(cut, cut.rows(contexts), cut.rows(candidates))

    def save(self, path: str | Path) -> Path:
        """Write the tuned checkpoint, with its tokenizer, and what is known of it, to a folder.

        Raises
        ------
        InputError
            If it is not tuned, or the folder cannot be written.
        """
        writer, place = self._tuned(), Path(path)
        try:
            with replacing(place) as inner, quiet_transformers():
                writer.network.save_pretrained(inner)
                writer.tokenizer.save_pretrained(inner)
                write_json(
                    inner / META,
                    {
                        "schema": TUNED,
                        "affectlab": __version__,
                        "name": self.name,
                        "tuned_from": Path(self.model).name,
                        "settings": self.settings.to_dict(),
                        "max_tokens": self._options["max_tokens"],
                        "seed": self.seed,
                        "system": self.system,
                        "epoch": self.epoch,
                        "n_pairs": self.n_pairs,
                        "validation": self.validation,
                    },
                )
        except (OSError, shutil.Error) as error:
            said = getattr(error, "strerror", None) or error
            raise InputError(f"{place} cannot be written: {said}") from None
        return place

    @classmethod
    def load(
        cls, path: str | Path, *, batch_size: int = 64, device: str = "auto"
    ) -> TunedBartScore:
        """Read a metric that :meth:`save` has written.

        Raises
        ------
        InputError
            If the folder is missing, incomplete, or holds something else.
        """
        place = Path(path)
        meta = read_meta(place, TUNED, _KEYS, "tuned BARTScore")
        where = place / META
        for key, kind in (("settings", dict), ("seed", int), ("epoch", int), ("n_pairs", int)):
            if not isinstance(meta[key], kind) or isinstance(meta[key], bool):
                raise InputError(f"{where}: {key} is {meta[key]!r}; expected what save wrote")
        most = meta.get("max_tokens")
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise InputError(f"{where}: max_tokens is {most!r}; expected what save wrote")
        try:
            metric = cls(
                place,
                name=str(meta["name"]),
                batch_size=batch_size,
                max_tokens=most,
                device=device,
                seed=meta["seed"],
                **meta["settings"],
            )
        except (TypeError, InputError) as error:
            raise InputError(f"{where}: settings cannot be used ({error})") from None
        metric.writer = Writer(str(place), **metric._options)  # type: ignore[arg-type]
        metric.system, metric.epoch = str(meta["system"]), meta["epoch"]
        metric.n_pairs, metric.validation = meta["n_pairs"], meta.get("validation")
        return metric
