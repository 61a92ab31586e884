"""The ledger of questions: what came of each, paid for once and read for ever after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from affectlab.errors import InputError
from affectlab.models._ledger_file import LineFile
from affectlab.models.vlm._budget import Charge
from affectlab.models.vlm._cost import Prices, Usage
from affectlab.models.vlm._read_objects import LONGEST
from affectlab.models.vlm._record import Record, read_charge
from affectlab.models.vlm._secrets import Secrets

__all__ = ["LEDGER", "Ledger", "Record", "question_key"]

LEDGER = "ledger.jsonl"
SCHEMA = "affectlab/vlm-ledger/1"
_LONGEST = LONGEST + 1
"""Characters of an answer that are kept: one more than are read, so that it still is too long."""


def question_key(parts: Mapping[str, Any]) -> str:
    """Name a question by all that decides about its answer.

    Examples
    --------
    >>> question_key({"image": "ab", "model": "m"}) == question_key({"model": "m", "image": "ab"})
    True
    """
    plain = json.dumps(dict(parts), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(plain.encode()).hexdigest()


class Ledger:
    """Answers by question, in ``ledger.jsonl`` of a folder; nobody else writes there meanwhile.

    The last line about a question holds, but all that was ever spent counts, and so does the most
    that questions may have taken which were in flight when a process ended. Keys of providers are
    taken out of whatever is written.

    Raises
    ------
    InputError
        When the folder holds another kind of ledger, or another process uses it.
    """

    def __init__(self, folder: str | Path, secrets: Secrets | None = None) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; expected a folder for the ledger")
        self._secrets = secrets or Secrets()
        self._records: dict[str, Record] = {}
        self._spent: list[tuple[Usage, Charge]] = []
        self._file = LineFile(self.folder / LEDGER, SCHEMA)
        self.n_broken = self._file.n_broken
        """Lines that could not be read; their questions are asked again."""
        for asked in self._file.lost:
            try:
                self._spent.append((Usage(), read_charge(asked)))
            except (TypeError, ValueError):
                self.n_broken += 1
        for line in self._file.lines():
            if "run" in line:
                continue
            try:
                self._count(Record.read(line))
            except (KeyError, TypeError, ValueError):
                self.n_broken += 1

    def __len__(self) -> int:
        return len(self._records)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _count(self, record: Record) -> None:
        self._records[record.key] = record
        self._spent.append((record.usage, record.charged))

    def use_secrets(self, secrets: Secrets) -> None:
        """Take these out, too, from now on."""
        self._secrets = secrets

    def get(self, key: str) -> Record | None:
        """Give what came of a question; None where it was not asked."""
        return self._records.get(key)

    def of_model(self, model: str) -> list[Record]:
        """Give all that a model was asked, in whatever run."""
        return [one for one in self._records.values() if one.asked.get("model") == model]

    def spent(self, prices: Prices | None) -> Charge:
        """Add up all that was spent, known tokens at these prices."""
        total = Charge()
        for usage, charged in self._spent:
            usd = charged.usd
            if prices is not None:
                # Attempts that nobody billed are in the charge only, perhaps without a price then.
                untold = max(charged.tokens - usage.total, 0)
                most = untold * max(prices.input, prices.output) / 1_000_000 if not usd else 0.0
                usd = max((prices.cost(usage) or 0.0) + most, usd)
            total += Charge(charged.requests, charged.tokens, usd)
        return total

    def cleaned(self, record: Record) -> Record:
        """Give a record as it may be written: without keys, and no longer than is ever read.

        It is judged after that, so that what is read back means the same.
        """
        clean = self._secrets.clean
        return replace(
            record,
            text=None if record.text is None else self._secrets.of_answer(record.text[:_LONGEST]),
            rejection=clean(record.rejection),
            transport_error=clean(record.transport_error),
            unreadable=clean(record.unreadable),
            refusal=clean(record.refusal),
            served=self._secrets.without(record.served),
            stop_reason=self._secrets.without(record.stop_reason),
        )

    @property
    def in_flight(self) -> tuple[tuple[dict[str, Any], Charge], ...]:
        """What the run before had asked and got no answer to, and the most that each may take."""
        found = []
        for asked in self._file.in_flight:
            try:
                found.append((asked, read_charge(asked)))
            except (TypeError, ValueError):
                continue  # Counted as broken.
        return tuple(found)

    def ask(self, key: str, most: Charge, asked: Mapping[str, Any]) -> None:
        """Write that a question is about to leave, and the most that it may take.

        Raises
        ------
        InputError
            When it cannot be written; the question must not leave then.
        """
        at = datetime.now(UTC).isoformat(timespec="seconds")
        charged = [most.requests, most.tokens, most.usd]
        self._file.ask({"key": key, "at": at, "charged": charged, "asked": dict(asked)})

    def withdraw(self, key: str) -> None:
        """Write that the question asked last did not leave after all."""
        self._file.withdraw({"key": key})

    def add(self, record: Record) -> Record:
        """Write what came of a question, as :meth:`cleaned` gave it; gives it as it is read."""
        line = record.as_dict()
        self._file.add(line)
        written = Record.read(line)
        self._count(written)
        return written

    def begin(self, run: Mapping[str, Any]) -> None:
        """Write what a run asks, and how, for readers of the file."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._file.add({"run": self._secrets.without({"at": at, **run})})

    def close(self) -> None:
        """Let another process use it."""
        self._file.close()
