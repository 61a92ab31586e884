"""What a model of one data set is worth on another: the transfer protocol of GoEmotions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args
from unicodedata import normalize

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason, What
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import count
from affectlab.models.text import TextClassifier, check_texts, label_matrix, load_backend
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = [
    "SETUPS",
    "Setup",
    "Transfer",
    "TransferRun",
    "transfer",
]

_CONFIDENCE = 0.95
Setup: TypeAlias = Literal["baseline", "freeze", "nofreeze"]

SETUPS: tuple[Setup, ...] = ("baseline", "freeze", "nofreeze")
"""Setups, in the order of the protocol."""


@dataclass(frozen=True)
class TransferRun:
    """One setup on one split."""

    setup: Setup
    size: str
    """As asked for: a number of texts, or a share such as ``80 %``."""
    split: int
    """From 1 on; the same for all setups."""
    n_train: int
    n_test: int
    macro_f1: float
    """Mean over labels that some text of the test part has."""
    f1: tuple[float, ...]
    """Of each label; ``nan`` where no text of the test part has it."""


@dataclass(frozen=True, eq=False, repr=False)
class Transfer:
    """Results of :func:`transfer`."""

    runs: tuple[TransferRun, ...]
    labels: tuple[str, ...]
    target: str
    """Name of the target data."""
    source: str
    """Name of the source model; empty without one."""
    decision: str
    """How labels were chosen, in words."""

    @property
    def setups(self) -> tuple[Setup, ...]:
        """Setups, in the order of the protocol."""
        there = {run.setup for run in self.runs}
        return tuple(setup for setup in SETUPS if setup in there)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Sizes, in the order that was asked for."""
        return tuple(dict.fromkeys(run.size for run in self.runs))

    def estimates(self) -> Estimates:
        """Give the mean macro F1 over splits of each setup and size, with its t interval."""
        keys = [(setup, size) for setup in self.setups for size in self.sizes]
        return self._table(
            {"setup": [setup for setup, _ in keys], "size": [size for _, size in keys]},
            [self._reached(setup, size) for setup, size in keys],
            "mean macro F1 over random splits",
        )

    def gains(self, over: Setup = "baseline") -> Estimates:
        """Give the mean gain in macro F1 over another setup on the same splits, with t intervals.

        Raises
        ------
        InputError
            When that setup was not run, or no other was.
        """
        check_choice("setup", over, self.setups)
        keys = [(s, size) for s in self.setups if s != over for size in self.sizes]
        if not keys:
            raise InputError(f"{over} is the only setup that was run; expected another beside it")
        return self._table(
            {"setup": [setup for setup, _ in keys], "size": [size for _, size in keys]},
            [self._reached(s, size) - self._reached(over, size) for s, size in keys],
            (f"mean gain in macro F1 over {over}", "on the same splits"),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per setup and size: the columns of :meth:`estimates`."""
        return self.estimates().to_frame()

    def _reached(self, setup: str, size: str) -> Floats:
        found = [run for run in self.runs if run.setup == setup and run.size == size]
        return np.array([run.macro_f1 for run in sorted(found, key=lambda run: run.split)])

    def _table(
        self, keys: Mapping[str, Sequence[str]], values: Sequence[Floats], statistic: What
    ) -> Estimates:
        intervals = [_t_interval(found) for found in values]
        mean, se, low, high = zip(*intervals, strict=True)
        setup_of = list(zip(*keys.values(), strict=True))
        tested = [
            int(np.mean([r.n_test for r in self.runs if (r.setup, r.size) == key]))
            for key in setup_of
        ]
        return Estimates.build(
            keys,
            value=mean,
            se=se,
            low=low,
            high=high,
            statistic=statistic,
            interval=IntervalFact("analytic", formula=Formula.STUDENT),
            target="splits",
            n_items=tested,
            n_raters=[len(found) for found in values],
            reason=[
                None if np.isfinite(value) else Reason(Cause.NONE, of="label in tests")
                for value in mean
            ],
        )

    def __repr__(self) -> str:
        return (
            f"Transfer({self.source or 'no source'} to {self.target}: {', '.join(self.setups)}; "
            f"{count(len(self.runs))} runs)"
        )


def _t_interval(values: Floats) -> tuple[float, float, float, float]:
    from scipy.stats import t

    known = values[np.isfinite(values)]
    if len(known) < 2:
        value = float(known[0]) if len(known) else float("nan")
        return value, float("nan"), float("nan"), float("nan")
    mean, se = float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known)))
    reach = float(t.ppf(0.5 + _CONFIDENCE / 2, len(known) - 1)) * se
    return mean, se, mean - reach, mean + reach


_THRESHOLD = 0.3
_PUBLISHED: dict[str, dict[str, Any]] = {
    "transformer": {"batch_size": 16, "learning_rate": 2e-5, "epochs": 3},
    # Batches as published; rate and epochs of another kind of network are its own.
    "bilstm": {"batch_size": 16},
    "embedding": {"batch_size": 16},
}


def transfer(
    texts: Iterable[str],
    labels: Any,
    source: TextClassifier | None = None,
    *,
    taxonomy: str | Path | Taxonomy,
    target: str = "",
    settings: Mapping[str, Any] | None = None,
    setups: Sequence[Setup] | None = None,
    sizes: Sequence[float] = (100, 200, 500, 1000, 0.8),
    splits: int = 10,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Transfer:
    """Train on small parts of a target data set, from a source model and without it.

    For every size, the target is split at random into a training part of that size and a test part
    with all other texts, several times. Texts that differ in case and spacing alone go to the same
    part, whatever their labels, so that no text is tested that was trained on; where repeated
    texts do not fill a training part to the last place, it is that much smaller, and ``n_train`` of
    the runs says so. A split follows from `seed`, its size and its number alone.

    Where every text of the target has exactly one label, the most probable one is taken; otherwise
    those with a probability from 0.3 on, since small parts leave no texts to fit thresholds to.

    On each split ``baseline`` trains from the checkpoint alone, ``freeze`` starts from the source
    model and trains a new last layer, and ``nofreeze`` starts from it and trains everything.

    Parameters
    ----------
    texts, labels
        The target data, as for :meth:`TextClassifier.fit`; :func:`read_labelled_texts` gives them.
    source
        A model trained on the source data (``bilstm``, ``transformer`` or ``embedding``). None:
        the baseline alone, which any back end can do.
    taxonomy
        Of the labels of the target.
    target
        Name of the target data.
    settings
        Settings of the back end, which is that of the source, and ``linear`` without one. By
        default those of the source with batches of 16, and for ``transformer`` learning rate 2e-5
        and 3 epochs, as published.
    setups
        By default all three, or the baseline alone without a source.
    sizes
        Numbers of training texts, or shares of the target below 1.
    splits
        Random splits for each size.
    seed
        For splits and training.

    Raises
    ------
    InputError
        When a size does not leave texts to test on, a setup needs a source, or a back end cannot
        start from one.

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 6 and appendix H.

    Examples
    --------
    >>> days = ["today", "again", "still", "at last", "since noon", "all week"]
    >>> texts = [f"{said} {day}" for day in days for said in ("happy", "glad", "sad", "in tears")]
    >>> labels = ["joy", "joy", "sadness", "sadness"] * 6
    >>> found = transfer(texts, labels, taxonomy="ekman", sizes=[8, 0.5], splits=2,
    ...                  settings={"min_texts": 1, "min_texts_piece": 1, "cost": 20.0})
    >>> found.sizes, found.estimates()["baseline", "8"].n_raters
    (('8', '50 %'), 2)
    """
    chosen = tuple(setups or (SETUPS if source is not None else ("baseline",)))
    for setup in chosen:
        check_choice("setup", setup, get_args(Setup))
        if source is None and setup != "baseline":
            raise InputError(f"setup {setup!r} needs a source model; expected source=")
    if splits < 2:
        raise InputError(f"splits = {splits}: expected 2 or more, for intervals")
    known = load_taxonomy(taxonomy)
    given = check_texts(texts)
    targets = label_matrix(labels, known, len(given))
    kind: type[TextClassifier] = load_backend("linear") if source is None else type(source)
    own = _settings_of(kind.backend, source, settings)
    single = bool(((targets >= 0.5).sum(axis=1) == 1).all())
    rule = None if single else _THRESHOLD
    parts = [_size(size, len(given)) for size in sizes]
    groups = _same_texts(given)
    encoder: Any = None
    runs: list[TransferRun] = []
    for said, n_train in parts:
        for split in range(1, splits + 1):
            train, test = _split(groups, n_train, np.random.default_rng([seed, n_train, split]))
            for setup in chosen:
                model = kind(taxonomy=known, levels=(), seed=seed + split, **own)
                if setup != "baseline":
                    _start(model, source, freeze=setup == "freeze")
                if hasattr(model, "share_encoder"):
                    # Frozen: what it says of a text is the same in all runs.
                    encoder = model.share_encoder(encoder or getattr(source, "encoder", None))
                key = (setup, said, split)
                runs.append(_run(model, given, targets, (train, test), key, rule))
                if progress is not None:
                    total = len(parts) * splits * len(chosen)
                    progress(f"{setup}, {said} texts, split {split}", len(runs), total)
    if encoder is not None:
        encoder.forget()
    return Transfer(
        tuple(runs),
        known.labels,
        target or known.name,
        "" if source is None else source.name,
        "the most probable label"
        if rule is None
        else f"labels with a probability from {rule:g} on",
    )


def _run(
    model: TextClassifier,
    texts: Sequence[str],
    targets: Floats,
    parts: tuple[Ints, Ints],
    key: tuple[Setup, str, int],
    rule: float | None,
) -> TransferRun:
    train, test = parts
    model.fit([texts[row] for row in train], targets[train])
    probabilities = model.predict_proba([texts[row] for row in test])
    if rule is None:
        chosen: Bools = np.zeros(probabilities.shape, dtype=bool)
        chosen[np.arange(len(test)), probabilities.argmax(axis=1)] = True
    else:
        chosen = probabilities >= rule
    truth = targets[test] >= 0.5
    found = chosen.sum(axis=0) + truth.sum(axis=0)
    f1 = 2 * (chosen & truth).sum(axis=0) / np.maximum(found, 1)
    f1[~truth.any(axis=0)] = np.nan
    macro = float(np.nanmean(f1)) if truth.any() else float("nan")
    return TransferRun(*key, len(train), len(test), macro, tuple(f1.tolist()))


def _same_texts(texts: Sequence[str]) -> list[Ints]:
    """Rows of each text, with what differs in case and spacing alone as one."""
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        plain = " ".join(normalize("NFKC", text).casefold().split())
        rows.setdefault(plain, []).append(row)
    return [np.array(found, dtype=np.int64) for found in rows.values()]


def _split(groups: Sequence[Ints], n_train: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Fill a training part with whole groups in random order, as far as they fit."""
    train: list[Ints] = []
    test: list[Ints] = []
    room = n_train
    for place in rng.permutation(len(groups)):
        group = groups[place]
        if len(group) <= room:
            train.append(group)
            room -= len(group)
        else:
            test.append(group)
    if n_train - room < 2:
        raise InputError(
            f"size {n_train}: the texts of the target occur so often that no part of that size can "
            "be made without splitting one of them; expected a larger size"
        )
    return np.concatenate(train), np.concatenate(test)


def _start(model: TextClassifier, source: TextClassifier | None, *, freeze: bool) -> None:
    begin = getattr(model, "start_from", None)
    if begin is None:
        raise InputError(
            f"back end {model.backend!r} cannot start from another model; expected bilstm, "
            "transformer or embedding, or setups=['baseline']"
        )
    begin(source, freeze=freeze)


def _settings_of(
    name: str, source: TextClassifier | None, settings: Mapping[str, Any] | None
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if source is not None and source.backend == name:
        found |= source.settings()
        # Relations of the source's labels say nothing of those of the target.
        found.pop("label_penalty", None)
    return {**found, **_PUBLISHED.get(name, {}), **(settings or {})}


def _size(size: float, n: int) -> tuple[str, int]:
    said = f"{100 * size:g} %" if 0 < size < 1 else count(int(size))
    n_train = round(size * n) if 0 < size < 1 else int(size)
    if n_train < 2 or n_train >= n or (size >= 1 and size != int(size)):
        raise InputError(
            f"size {size:g}: expected a number of texts from 2 to {n - 1}, or a share below 1; the "
            f"target has {count(n)}, and some must be left to test on"
        )
    return said, n_train
