"""What came of one question, as it stands on a line of the ledger."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from affectlab.evaluation import OUTCOMES
from affectlab.models.vlm._budget import Charge
from affectlab.models.vlm._cost import Usage

__all__ = ["Record", "read_charge"]

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
    stop_reason: str = ""
    refusal: str = ""
    rejection: str = ""
    transport_error: str = ""
    unreadable: str = ""
    """What is wrong with a reply that arrived and could not be taken apart."""
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
            "unreadable": self.unreadable,
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
    **dict.fromkeys(("stop_reason", "refusal", "rejection", "transport_error"), _is_text),
    **dict.fromkeys(("unreadable", "served", "at"), _is_text),
    "http_status": lambda value: value is None or (isinstance(value, int) and 100 <= value <= 599),
    "retries": _is_count,
    "n_unbilled": _is_count,
    "seconds": _is_number,
}
"""What a line of the file may hold; anything else was not written here."""
