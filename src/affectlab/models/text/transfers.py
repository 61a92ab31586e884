"""What a model of one data set is worth on another: the transfer protocol of GoEmotions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
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
from affectlab.models.text.classifier import TextClassifier
from affectlab.models.text.labels import check_texts, label_matrix
from affectlab.models.text.model import Report
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = [
    "SETUPS",
    "Decide",
    "Ledger",
    "Setup",
    "Transfer",
    "TransferRun",
    "transfer",
]

# Results of transfer runs, and the file that keeps them.


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
    confidence: float

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

    def runs_frame(self) -> pl.DataFrame:
        """One row per run: setup, size, split, n_train, n_test, macro_f1, and F1 by label."""
        rows = [
            {
                "setup": run.setup,
                "size": run.size,
                "split": run.split,
                "n_train": run.n_train,
                "n_test": run.n_test,
                "macro_f1": run.macro_f1,
                **{f"f1_{name}": value for name, value in zip(self.labels, run.f1, strict=True)},
            }
            for run in self.runs
        ]
        return pl.DataFrame(rows)

    def _reached(self, setup: str, size: str) -> Floats:
        found = [run for run in self.runs if run.setup == setup and run.size == size]
        return np.array([run.macro_f1 for run in sorted(found, key=lambda run: run.split)])

    def _table(
        self, keys: Mapping[str, Sequence[str]], values: Sequence[Floats], statistic: What
    ) -> Estimates:
        intervals = [_t_interval(found, self.confidence) for found in values]
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


def _t_interval(values: Floats, confidence: float) -> tuple[float, float, float, float]:
    from scipy.stats import t

    known = values[np.isfinite(values)]
    if len(known) < 2:
        value = float(known[0]) if len(known) else float("nan")
        return value, float("nan"), float("nan"), float("nan")
    mean, se = float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known)))
    reach = float(t.ppf(0.5 + confidence / 2, len(known) - 1)) * se
    return mean, se, mean - reach, mean + reach


class Ledger:
    """Runs that are finished, in a file of JSON Lines.

    Parameters
    ----------
    path
        The file; None: nothing is kept.
    task
        Everything that decides on the results; runs of other tasks in the file are passed over.
    """

    def __init__(self, path: str | Path | None, *task: Any) -> None:
        self.path = None if path is None else Path(path)
        self.task = blake2b(repr(task).encode(), digest_size=12).hexdigest()
        self.known: dict[tuple[str, str, int], TransferRun] = {}
        if self.path is None or not self.path.is_file():
            return
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            # A run was stopped while it wrote its last line.
            self.path.write_bytes(whole)
        for number, line in enumerate(whole.decode("utf-8", "replace").splitlines(), 1):
            try:
                entry = json.loads(line)
                if entry.pop("task") != self.task:
                    continue
                f1 = tuple(np.nan if value is None else float(value) for value in entry.pop("f1"))
                macro = entry.pop("macro_f1")
                run = TransferRun(**entry, macro_f1=np.nan if macro is None else macro, f1=f1)
            except (ValueError, TypeError, KeyError, AttributeError):
                raise InputError(
                    f"{self.path}, line {number}: expected a finished run; name another file"
                ) from None
            self.known[run.setup, run.size, run.split] = run

    def find(self, setup: str, size: str, split: int) -> TransferRun | None:
        """Give a run that is finished, or None."""
        return self.known.get((setup, size, split))

    def add(self, run: TransferRun) -> None:
        """Write a run."""
        if self.path is None:
            return
        f1 = [None if np.isnan(value) else value for value in run.f1]
        macro = None if np.isnan(run.macro_f1) else run.macro_f1
        entry = {**vars(run), "f1": f1, "macro_f1": macro, "task": self.task}
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}") from None


Decide: TypeAlias = Literal["auto", "top_1"] | float

_THRESHOLD = 0.3
_SPLITTING = "by text, from seed, size and split"
"""How targets are split; results of splits made otherwise are other results."""
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
    backend: str | None = None,
    settings: Mapping[str, Any] | None = None,
    setups: Sequence[Setup] | None = None,
    sizes: Sequence[float] = (100, 200, 500, 1000, 0.8),
    splits: int = 10,
    decide: Decide = "auto",
    confidence: float = 0.95,
    results: str | Path | None = None,
    seed: int = 0,
    progress: Report | None = None,
) -> Transfer:
    """Train on small parts of a target data set, from a source model and without it.

    For every size, the target is split at random into a training part of that size and a test part
    with all other texts, several times. Texts that differ in case and spacing alone go to the same
    part, whatever their labels, so that no text is tested that was trained on; where repeated
    texts do not fill a training part to the last place, it is that much smaller, and ``n_train`` of
    the runs says so. A split follows from `seed`, its size and its number alone.

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
    backend
        Back end; by default that of the source, and ``linear`` without one.
    settings
        Settings of the back end. By default those of the source with batches of 16, and for
        ``transformer`` learning rate 2e-5 and 3 epochs, as published.
    setups
        By default all three, or the baseline alone without a source.
    sizes
        Numbers of training texts, or shares of the target below 1.
    splits
        Random splits for each size.
    decide
        How probabilities become labels: ``"top_1"``, or a threshold for all labels. ``"auto"``:
        the most probable one where every text of the target has exactly one label, and 0.3
        otherwise, since small training parts leave no texts to fit thresholds to.
    confidence
        Of the intervals. They are those of the mean over splits; test parts overlap, so they say
        how much splits matter and not how other texts would.
    results
        File of JSON Lines to which every run is written when it is finished; those that are in it
        are not run again, as long as texts, labels, settings and the weights of the source are the
        same.
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
    if not 0 < confidence < 1:
        raise InputError(f"confidence = {confidence}: expected a number between 0 and 1")
    known = load_taxonomy(taxonomy)
    given = check_texts(texts)
    targets = label_matrix(labels, known, len(given))
    name = backend or (source.backend if source is not None else "linear")
    own = _settings_of(name, source, settings)
    rule = _rule(decide, targets)
    parts = [_size(size, len(given)) for size in sizes]
    groups = _same_texts(given)
    ledger = Ledger(
        results,
        _SPLITTING,
        given,
        targets.tobytes(),
        known.labels,
        _described(source),
        name,
        sorted(own.items()),
        rule,
        seed,
    )
    encoder: Any = None
    runs: list[TransferRun] = []
    for said, n_train in parts:
        for split in range(1, splits + 1):
            train, test = _split(groups, n_train, np.random.default_rng([seed, n_train, split]))
            for setup in chosen:
                done = ledger.find(setup, said, split)
                if done is None:
                    model = TextClassifier.make(
                        name, taxonomy=known, levels=(), seed=seed + split, **own
                    )
                    if setup != "baseline":
                        _start(model, source, freeze=setup == "freeze")
                    if hasattr(model, "share_encoder"):
                        # Frozen: what it says of a text is the same in all runs.
                        encoder = model.share_encoder(encoder or getattr(source, "encoder", None))
                    done = _run(model, given, targets, (train, test), (setup, said, split), rule)
                    ledger.add(done)
                runs.append(done)
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
        confidence,
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


def _described(source: TextClassifier | None) -> tuple[Any, ...] | None:
    """Say all of a source that results depend on."""
    if source is None:
        return None
    # Only networks can be started from; of others the settings alone are taken.
    weights = source.fingerprint() if hasattr(source, "fingerprint") else ""
    return (
        source.name,
        source.training,
        source.settings(),
        source.seed,
        source.plan.outputs,
        weights,
    )


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


def _rule(decide: Decide, targets: Floats) -> float | None:
    """Threshold for all labels; None: the most probable label."""
    if decide == "top_1":
        return None
    if decide == "auto":
        single = bool(((targets >= 0.5).sum(axis=1) == 1).all())
        return None if single else _THRESHOLD
    if isinstance(decide, str) or not 0 < decide < 1:
        raise InputError(
            f"decide = {decide!r}: expected 'auto', 'top_1', or a threshold between 0 and 1"
        )
    return float(decide)


def _size(size: float, n: int) -> tuple[str, int]:
    said = f"{100 * size:g} %" if 0 < size < 1 else count(int(size))
    n_train = round(size * n) if 0 < size < 1 else int(size)
    if n_train < 2 or n_train >= n or (size >= 1 and size != int(size)):
        raise InputError(
            f"size {size:g}: expected a number of texts from 2 to {n - 1}, or a share below 1; the "
            f"target has {count(n)}, and some must be left to test on"
        )
    return said, n_train
