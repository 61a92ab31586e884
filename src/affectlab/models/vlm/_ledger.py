"""The ledger of questions: what came of each, paid for once and read for ever after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from affectlab.errors import InputError, unknown_name
from affectlab.evaluation import OUTCOMES
from affectlab.models.vlm._budget import Charge
from affectlab.models.vlm._cost import Prices, Usage
from affectlab.models.vlm._ledger_file import LineFile
from affectlab.models.vlm._secrets import Secrets

__all__ = ["ACCOUNT", "LEDGER", "Ledger", "Record", "again_outcomes", "question_key"]

LEDGER = "ledger.jsonl"
SCHEMA = "affectlab/vlm-ledger/1"
ACCOUNT = frozenset({401, 402, 404, 407})
"""Rejections that tell of the key, the bill or the address, and nothing of the question: they are
asked again without being told."""


@dataclass(frozen=True)
class Record:
    """What came of one question."""

    key: str
    outcome: str
    """As it was judged when it was asked; readers judge the text anew."""
    text: str | None = None
    stop_reason: str = ""
    refusal: str = ""
    rejection: str = ""
    transport_error: str = ""
    http_status: int | None = None
    retries: int = 0
    usage: Usage = field(default_factory=Usage)
    charged: Charge = field(default_factory=Charge)
    """What counts against the budget, estimates for attempts that got no answer included."""
    n_unbilled: int = 0
    """Attempts of which nobody said what they took."""
    served: str = ""
    """Model that answered, in the provider's words."""
    seconds: float = 0.0
    at: str = ""
    not_sent: tuple[str, ...] = ()
    """Settings that the model does not take."""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """What was asked: stimulus, model, prompt version, control, and so on; for readers."""

    def as_dict(self) -> dict[str, Any]:
        """Give it for the file; what is empty is left out."""
        told = {
            "key": self.key,
            "outcome": self.outcome,
            "asked": dict(self.asked),
            "text": self.text,
            "stop_reason": self.stop_reason,
            "refusal": self.refusal,
            "rejection": self.rejection,
            "transport_error": self.transport_error,
            "http_status": self.http_status,
            "retries": self.retries,
            "usage": self.usage.as_dict(),
            "charged": [self.charged.requests, self.charged.tokens, self.charged.usd],
            "n_unbilled": self.n_unbilled,
            "served": self.served,
            "seconds": round(self.seconds, 3),
            "not_sent": list(self.not_sent),
            "at": self.at,
        }
        return {name: value for name, value in told.items() if value not in ("", None, {}, [], 0)}

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Record:
        """Read what :meth:`as_dict` gave; raises KeyError, TypeError or ValueError for others."""
        requests, tokens, usd = told.get("charged", (0, 0, 0.0))
        known = {
            name: told[name]
            for name in (
                *("key", "outcome", "asked", "text", "stop_reason", "refusal", "rejection"),
                *("transport_error", "http_status", "retries", "n_unbilled", "served", "seconds"),
                "at",
            )
            if name in told
        }
        if known["outcome"] not in OUTCOMES or not isinstance(known["key"], str):
            raise ValueError("no such outcome")
        return cls(
            **known,
            not_sent=tuple(map(str, told.get("not_sent", ()))),
            usage=Usage.read(told.get("usage")),
            charged=Charge(int(requests), int(tokens), float(usd)),
        )


def question_key(parts: Mapping[str, Any]) -> str:
    """Name a question by all that decides about its answer.

    Examples
    --------
    >>> question_key({"image": "ab", "model": "m"}) == question_key({"model": "m", "image": "ab"})
    True
    """
    plain = json.dumps(dict(parts), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(plain.encode()).hexdigest()


def again_outcomes(again: Collection[str] | str) -> frozenset[str]:
    """Check the outcomes that are asked again; transport errors always are.

    Raises
    ------
    InputError
        For a name that is none, or ``ok``.
    """
    names = [again] if isinstance(again, str) else list(again)
    for name in names:
        if name not in OUTCOMES:
            raise unknown_name("outcome", str(name), OUTCOMES, "again")
        if name == "ok":
            raise InputError("again: a usable answer is not asked again; see repeats")
    return frozenset({"transport", *names})


class Ledger:
    """Answers by question, in ``ledger.jsonl`` of a folder; nobody else writes there meanwhile.

    The last line about a question holds, but all that was ever spent counts. Keys of providers are
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

    def spent(self, prices: Prices | None) -> Charge:
        """Add up all that was spent, known tokens at these prices."""
        total = Charge()
        for usage, charged in self._spent:
            cost = prices.cost(usage) if prices is not None and usage.known else None
            # Attempts that nobody billed are in the charge only.
            usd = charged.usd if cost is None else max(cost, charged.usd)
            total += Charge(charged.requests, charged.tokens, usd)
        return total

    def add(self, record: Record) -> Record:
        """Write what came of a question; gives it as it was written, without keys."""
        line = self._secrets.without(record.as_dict())
        for name in ("rejection", "transport_error", "refusal"):
            if name in line:
                line[name] = self._secrets.clean(line[name])
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
