"""Results of transfer runs, and the file that keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab._types import Floats
from affectlab._words import count
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimates

__all__ = ["SETUPS", "Ledger", "Setup", "Transfer", "TransferRun"]

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
            "mean macro F1 over random splits, t interval",
        )

    def gains(self, over: Setup = "baseline") -> Estimates:
        """Give the mean gain in macro F1 over another setup on the same splits, with t intervals.

        Raises
        ------
        InputError
            When that setup was not run, or no other was.
        """
        if over not in self.setups:
            raise unknown_name("setup", over, self.setups)
        keys = [(s, size) for s in self.setups if s != over for size in self.sizes]
        if not keys:
            raise InputError(f"{over} is the only setup that was run; expected another beside it")
        return self._table(
            {"setup": [setup for setup, _ in keys], "size": [size for _, size in keys]},
            [self._reached(s, size) - self._reached(over, size) for s, size in keys],
            f"mean gain in macro F1 over {over} on the same splits, t interval",
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
        self, keys: Mapping[str, Sequence[str]], values: Sequence[Floats], method: str
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
            method=method,
            resampled="splits",
            n_items=tested,
            n_raters=[len(found) for found in values],
            status=[
                "ok" if np.isfinite(value) else "undefined: no label in tests" for value in mean
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
