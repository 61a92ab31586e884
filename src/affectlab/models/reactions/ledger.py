"""What a generator wrote and computed, kept so that a run that was killed goes on from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affectlab.models.ask import LineFile

__all__ = ["Ledger", "Progress", "Written"]

Progress = Callable[[str, int, int], None]

SCHEMA = "affectlab/reactions-ledger/1"


@dataclass(frozen=True)
class Written:
    """One reaction as a model wrote it, or the likelihood of one that was given."""

    text: str
    log_likelihood: float
    """Natural logarithm of the probability of all its tokens, that of its end included where it
    ended."""
    n_tokens: int
    """Tokens that the likelihood is of."""
    ended: bool
    """Whether the model ended it, and not the limit of tokens."""


class Ledger:
    """Answers by key, in a file that only grows; without a path, in memory alone.

    Raises
    ------
    InputError
        When the file is something else, is in use, or cannot be written.
    """

    def __init__(self, path: str | Path | None) -> None:
        self._file = None if path is None else LineFile(Path(path), SCHEMA)
        self._known: dict[str, Written] = {}
        self.n_broken = 0
        """Lines that could not be read; what they held is done again."""
        if self._file is not None:
            self.n_broken = self._file.n_broken
            for line in self._file.lines():
                found = _read(line)
                if found is None:
                    self.n_broken += 1
                else:
                    self._known[line["key"]] = found

    def get(self, key: str) -> Written | None:
        """Give what was written under a key; None where nothing was."""
        return self._known.get(key)

    def add(self, entries: Sequence[tuple[str, Mapping[str, Any], Written]]) -> None:
        """Keep what a batch brought: its key, what readers should know of it, and the answer."""
        if self._file is not None:
            self._file.add(
                *(
                    {
                        "key": key,
                        **asked,
                        "text": one.text,
                        "log_likelihood": one.log_likelihood,
                        "n_tokens": one.n_tokens,
                        "ended": one.ended,
                    }
                    for key, asked, one in entries
                )
            )
        self._known |= {key: one for key, _, one in entries}

    def close(self) -> None:
        """Let another process use it."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_text(value: Any) -> bool:
    """Say whether it is text that can be written to a file: halves of a pair cannot."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


_MOST_TOKENS = 2**31
_LEAST = -1e12
_ROUNDING = 1e-3
_KINDS: dict[str, Callable[[Any], bool]] = {
    "key": _is_text,
    "text": _is_text,
    # Sums of logarithms of probabilities; a number of any length may stand in JSON.
    "log_likelihood": lambda value: type(value) in (float, int) and _LEAST < value < _ROUNDING,
    "n_tokens": lambda value: type(value) is int and 0 < value < _MOST_TOKENS,
    "ended": lambda value: isinstance(value, bool),
}


def _read(line: Mapping[str, Any]) -> Written | None:
    """Read a line; None for one that was not written here."""
    if not all(good(line.get(name)) for name, good in _KINDS.items()):
        return None
    return Written(line["text"], float(line["log_likelihood"]), line["n_tokens"], line["ended"])
