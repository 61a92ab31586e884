"""The ledger of questions: what came of each, paid for once and read for ever after."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.evaluation import OUTCOMES
from affectlab.models.ask import LineFile
from affectlab.models.vlm.asking.budget import BATCH_SHARE, Charge, Prices, Usage
from affectlab.models.vlm.asking.secrets import Secrets
from affectlab.models.vlm.prompts import LONGEST

__all__ = [
    "LEDGER",
    "Batch",
    "Ledger",
    "Record",
    "question_key",
    "read_charge",
]

# What came of one question, as it stands on a line of the ledger.


_ACCOUNT = frozenset({401, 402, 403, 404, 407})
_ACCOUNT_WORDS = re.compile(
    r"(?i)\bapi[ _-]?key\b|\bcredit balance\b|\bbilling\b|\bunauthori[sz]ed\b|\bauthenticat"
)
_OF_THE_QUESTION = re.compile(r"(?i)\bmoderat|\bflagged\b|\bsafety\b|\bcontent (?:policy|filter)")


@dataclass(frozen=True)
class Record:
    """What came of one question."""

    key: str
    outcome: str
    """As it was judged when it was asked; readers judge the text anew."""
    text: str | None = None
    alternatives: Mapping[str, float] | None = None
    """Probability of each first token, where these were asked for."""
    stop_reason: str = ""
    refusal: str = ""
    rejection: str = ""
    transport_error: str = ""
    unreadable: str = ""
    """What is wrong with a reply that arrived and could not be taken apart."""
    http_status: int | None = None
    retries: int = 0
    ask: int = 1
    """Which asking this was: answers that cannot be read may be asked for again."""
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
    batch: str = ""
    """Our name of the batch in which it was asked, at another price; "" where it was asked at
    once."""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """What was asked: stimulus, model, prompt version, control, and so on; for readers."""

    def as_dict(self) -> dict[str, Any]:
        """Give it for the file; what is empty is left out."""
        told = {
            "key": self.key,
            "outcome": self.outcome,
            "asked": dict(self.asked),
            "text": self.text,
            "alternatives": None if self.alternatives is None else dict(self.alternatives),
            "stop_reason": self.stop_reason,
            "refusal": self.refusal,
            "rejection": self.rejection,
            "transport_error": self.transport_error,
            "unreadable": self.unreadable,
            "http_status": self.http_status,
            "retries": self.retries,
            "ask": self.ask - 1 and self.ask,
            "usage": self.usage.as_dict(),
            "charged": [self.charged.requests, self.charged.tokens, self.charged.usd],
            "n_unbilled": self.n_unbilled,
            "served": self.served,
            "seconds": round(self.seconds, 3),
            "not_sent": list(self.not_sent),
            "batch": self.batch,
            "at": self.at,
        }
        return {name: value for name, value in told.items() if value not in ("", None, {}, [], 0)}

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Record:
        """Read what :meth:`as_dict` gave; raises KeyError, TypeError or ValueError for others."""
        known = {name: told[name] for name in _KINDS if name in told}
        for name, value in known.items():
            if not _KINDS[name](value):
                raise ValueError(f"{name} cannot be {value!r}")
        return cls(
            **{"key": told["key"], "outcome": told["outcome"], **known},
            not_sent=tuple(map(str, told.get("not_sent", ()))),
            usage=Usage.read(told.get("usage")),
            charged=read_charge(told),
        )

    def cost(self, prices: Prices | None) -> float | None:
        """Give what the answer cost in dollars; None where prices or tokens are not known."""
        return None if prices is None else prices.cost(self.usage, batch=bool(self.batch))

    @property
    def of_account(self) -> bool:
        """Whether it was rejected for the key, the bill or the address, and not for what was asked.

        Such questions are asked again without being told.
        """
        if self.outcome != "rejected" or _OF_THE_QUESTION.search(self.rejection):
            return False
        status = self.http_status or 0
        return (
            status in _ACCOUNT
            or 300 <= status < 400
            or (status == 400 and _ACCOUNT_WORDS.search(self.rejection) is not None)
        )


def read_charge(told: Mapping[str, Any]) -> Charge:
    """Read what counts against the budget; raises TypeError or ValueError for what is none."""
    requests, tokens, usd = told.get("charged", (0, 0, 0.0))
    if not all(_is_number(one) for one in (requests, tokens, usd)):
        raise ValueError("charged is no list of three numbers")
    return Charge(int(requests), int(tokens), float(usd))


def _share(batch: object) -> float:
    return BATCH_SHARE if batch else 1.0


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MANY


_MANY = 1e15
_KINDS: dict[str, Callable[[object], bool]] = {
    "key": _is_text,
    "outcome": lambda value: isinstance(value, str) and value in OUTCOMES,
    "asked": lambda value: isinstance(value, dict),
    "text": lambda value: value is None or _is_text(value),
    "alternatives": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    **dict.fromkeys(("stop_reason", "refusal", "rejection", "transport_error"), _is_text),
    **dict.fromkeys(("unreadable", "served", "at", "batch"), _is_text),
    "http_status": lambda value: value is None or (isinstance(value, int) and 100 <= value <= 599),
    "retries": _is_count,
    "ask": _is_count,
    "n_unbilled": _is_count,
    "seconds": _is_number,
}
"""What a line of the file may hold; anything else was not written here."""

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


@dataclass
class Batch:
    """Questions that were given to a provider together, and have no answer yet."""

    name: str
    """Ours, known before the provider has one."""
    at: str
    """When it was about to be sent."""
    n_sent: int
    """Questions that it was sent with."""
    keys: dict[str, Charge] = field(default_factory=dict)
    """Those without an answer, and what each counts until there is one."""
    file: str = ""
    """Name of its lines at the provider, where these are brought there first."""
    id: str = ""
    """The provider's name; "" where it was not written before the process ended."""


class Ledger:
    """Answers by question, in ``ledger.jsonl`` of a folder; nobody else writes there meanwhile.

    The last line about a question holds, but all that was ever spent counts, and so do questions
    that were in flight when a process ended: at what answers of their model have taken on average,
    or at the most that they may have taken where none was counted. Questions of a batch are not in
    flight: the provider keeps them, and their answers can still be fetched. Keys of providers are
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
        self._earlier: dict[str, list[Record]] = {}
        """Answers before the last one, of questions that were asked again."""
        self._spent: list[tuple[Usage, Charge, bool]] = []
        self.batches: dict[str, Batch] = {}
        """Batches whose questions have no answer yet, by our name of them."""
        self._took: dict[Any, list[Any]] = {}
        """Answers of each model that were counted, with their tokens and dollars."""
        self._file = LineFile(self.folder / LEDGER, SCHEMA)
        self.n_broken = self._file.n_broken
        """Lines that could not be read; their questions are asked again."""
        batches: dict[str, dict[str, str]] = {}
        settled: set[tuple[str, str]] = set()
        for line in self._file.lines():
            if "run" in line:
                continue
            if isinstance(told := line.get("batch"), dict):
                batches.setdefault(str(told.get("name")), {}).update(told)
                continue
            settled.add((str(line.get("batch")), str(line.get("key"))))
            try:
                self._count(Record.read(line))
            except (KeyError, TypeError, ValueError):
                self.n_broken += 1
        for asked in self._file.lost:
            try:
                booked = self._booked(asked)
            except (TypeError, ValueError):
                self.n_broken += 1
                continue
            name, key = str(asked.get("batch", "")), str(asked.get("key"))
            if not name:
                self._spent.append((Usage(), booked, False))
            elif "ended" not in (told := batches.get(name, {})) and (name, key) not in settled:
                batch = self.batches.setdefault(
                    name,
                    Batch(
                        name,
                        str(asked.get("at")),
                        int(asked.get("of", 0)),
                        file=str(told.get("file", "")),
                        id=str(told.get("id", "")),
                    ),
                )
                batch.keys[key] = booked

    def __len__(self) -> int:
        return len(self._records)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _booked(self, asked: Mapping[str, Any]) -> Charge:
        """Give what a question without an answer counts: what answers of its model have taken.

        The most that it may have taken, where none of them was counted; it is mostly far from that.
        """
        most = read_charge(asked)
        told = asked.get("asked")
        model = told.get("model") if isinstance(told, Mapping) else None
        took = None if model is None else self._took.get(model)
        if took is None:
            return most
        tokens, usd = took[1] / took[0], took[2] / took[0] * _share(asked.get("batch"))
        return Charge(
            most.requests, min(math.ceil(tokens), most.tokens), min(usd, most.usd) or most.usd
        )

    def _count(self, record: Record) -> None:
        before = self._records.get(record.key)
        earlier = self._earlier.pop(record.key, [])
        if record.ask > 1 and before is not None:
            self._earlier[record.key] = [*earlier, before]
        self._records[record.key] = record
        self._spent.append((record.usage, record.charged, bool(record.batch)))
        if record.usage.known and not record.retries:
            held = self._took.setdefault(record.asked.get("model"), [0, 0, 0.0])
            held[0] += 1
            held[1] += record.charged.tokens
            held[2] += record.charged.usd / _share(record.batch)

    def use_secrets(self, secrets: Secrets) -> None:
        """Take these out, too, from now on."""
        self._secrets = secrets

    def get(self, key: str) -> Record | None:
        """Give what came of a question; None where it was not asked."""
        return self._records.get(key)

    def earlier(self, key: str) -> Sequence[Record]:
        """Give the answers before the last one, where a question was asked again."""
        return self._earlier.get(key, ())

    def of_model(self, model: str) -> list[Record]:
        """Give all that a model was asked, in whatever run."""
        return [one for one in self._records.values() if one.asked.get("model") == model]

    def spent(self, prices: Prices | None) -> Charge:
        """Add up all that was spent, known tokens at these prices."""
        total = Charge()
        for usage, charged, batch in self._spent:
            usd = charged.usd
            if prices is not None:
                # Attempts that nobody billed are in the charge only, perhaps without a price then.
                untold = max(charged.tokens - usage.total, 0)
                most = untold * max(prices.input, prices.output) / 1_000_000 if not usd else 0.0
                usd = max((prices.cost(usage, batch=batch) or 0.0) + most, usd)
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
        """What the run before had asked and got no answer to, and what each counts."""
        found = []
        for asked in self._file.in_flight:
            if "batch" in asked:
                continue
            try:
                found.append((asked, self._booked(asked)))
            except (TypeError, ValueError):
                continue  # Counted as broken.
        return tuple(found)

    async def ask(self, key: str, most: Charge, asked: Mapping[str, Any]) -> None:
        """Write that a question is about to leave, and the most that it may take.

        Raises
        ------
        InputError
            When it cannot be written; the question must not leave then.
        """
        at = datetime.now(UTC).isoformat(timespec="seconds")
        charged = [most.requests, most.tokens, most.usd]
        line = self._file.asking({"key": key, "at": at, "charged": charged, "asked": dict(asked)})
        try:
            await self._file.commit(line)
        except asyncio.CancelledError:
            self._file.take_back(line)
            raise

    def ask_batch(
        self, name: str, questions: Mapping[str, tuple[Charge, Mapping[str, Any]]]
    ) -> Batch:
        """Write that a batch is about to leave: its questions, and the most that each may take.

        Raises
        ------
        InputError
            As :meth:`ask`.
        """
        at = datetime.now(UTC).isoformat(timespec="seconds")
        lines = (
            {
                "key": key,
                "at": at,
                "charged": [most.requests, most.tokens, most.usd],
                "asked": dict(asked),
                "batch": name,
                "of": len(questions),
            }
            for key, (most, asked) in questions.items()
        )
        self._file.ask(*lines)
        batch = Batch(name, at, len(questions), {key: most for key, (most, _) in questions.items()})
        self.batches[name] = batch
        return batch

    def tell_batch(self, batch: Batch, *, file: str = "", id: str = "", ended: str = "") -> None:
        """Write what is known of a batch: its names at the provider, or why it is no more.

        A batch that ended here was never worked on; the answers of others end them.
        """
        known = {"file": file, "id": id, "ended": ended}
        self._file.add({"batch": {"name": batch.name, **{k: v for k, v in known.items() if v}}})
        batch.file, batch.id = file or batch.file, id or batch.id
        if ended:
            self.batches.pop(batch.name, None)

    def withdraw(self, key: str) -> None:
        """Write that the question asked last did not leave after all."""
        self._file.withdraw({"key": key})

    async def add(self, *records: Record) -> list[Record]:
        """Write what came of questions, as :meth:`cleaned` gave it; gives it as it is read."""
        lines = [record.as_dict() for record in records]
        await self._file.commit(*lines)
        written = [Record.read(line) for line in lines]
        for record in written:
            self._count(record)
            if batch := self.batches.get(record.batch):
                batch.keys.pop(record.key, None)
                if not batch.keys:
                    del self.batches[batch.name]
        return written

    def begin(self, run: Mapping[str, Any]) -> None:
        """Write what a run asks, and how, for readers of the file."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._file.add({"run": self._secrets.without({"at": at, **run})})

    def close(self) -> None:
        """Let another process use it."""
        self._file.close()
