"""A ledger of answers that cost time or money: written as they come, read when work goes on."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from affectlab.core.errors import InputError


class Ledger:
    """Answers by key, in a file of JSON lines; without a path only in memory.

    A line that is no record, such as one that was cut off when the work was interrupted, is passed
    over: its question is asked again. ``n_broken`` counts them.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.n_broken = 0
        self._records: dict[str, dict[str, Any]] = {}
        self._lock = Lock()
        if self.path is not None:
            self._read(self.path)

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: str) -> dict[str, Any] | None:
        """Give the last record of a key."""
        return self._records.get(key)

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Keep a record, and write it down at once."""
        with self._lock:
            self._records[key] = record
            if self.path is not None:
                line = json.dumps({"key": key, **record}, ensure_ascii=False)
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")

    def _read(self, path: Path) -> None:
        try:
            content = path.read_bytes() if path.exists() else b""
            if content and not content.endswith(b"\n"):
                # A new record must not end up on a line that was cut off.
                with path.open("ab") as file:
                    file.write(b"\n")
        except OSError as problem:
            raise InputError(f"{path}: cannot be a ledger ({problem.strerror})") from None
        if not path.parent.is_dir():
            raise InputError(f"{path}: the folder {path.parent} does not exist")
        # Texts may hold other breaks of lines, such as U+2028, which JSON does not escape.
        for line in content.decode("utf-8", errors="replace").split("\n"):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                self._records[record.pop("key")] = record
            except (json.JSONDecodeError, AttributeError, KeyError, TypeError):
                self.n_broken += 1


# Addresses of servers that are asked, and keys, which are sent there and shown nowhere.


_HIDDEN = "[key]"

Told = TypeVar("Told")


def server_address(url: str) -> str:
    """Check an address such as ``http://localhost:8000/v1``; give it without what is after ``/v1``.

    Raises
    ------
    InputError
        When it is no address, or holds a password or a query; the sentence does not repeat them.

    Examples
    --------
    >>> server_address("http://localhost:8000/v1/chat/completions/")
    'http://localhost:8000/v1'
    """
    if "@" in url:
        raise InputError(
            "url holds a name or a password before '@'; expected an address such as "
            "http://localhost:8000/v1, and the key of the server as its key"
        )
    if "?" in url or "#" in url:
        raise InputError(
            "url holds '?' or '#'; expected an address such as http://localhost:8000/v1, and the "
            "key of the server as its key"
        )
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"url {url!r}: expected an address such as http://localhost:8000/v1")
    return url.rstrip("/").removesuffix("/chat/completions")


def is_openai(url: str) -> bool:
    """Whether an address is that of OpenAI itself, over a line that nobody else reads.

    Examples
    --------
    >>> is_openai("https://api.openai.com/v1"), is_openai("https://api.openai.com.example.org/v1")
    (True, False)
    """
    parts = _split(url)
    return parts is not None and (parts.scheme, parts.hostname) == ("https", "api.openai.com")


def checked_key(key: str | None) -> str | None:
    """Give a key without the white space around it; None where there is none.

    Raises
    ------
    InputError
        When no header of a question can hold it; the sentence does not repeat it.
    """
    plain = (key or "").strip()
    if not (plain.isascii() and plain.isprintable()):
        raise InputError("key: expected the letters, digits and signs of ASCII in one line")
    return plain or None


def without_key(told: Told, key: str | None) -> Told:
    """Put ``[key]`` for a key, wherever it stands: in text, bytes, or lists and objects of them.

    Examples
    --------
    >>> without_key({"seen": ["Bearer sk-123"]}, "sk-123")
    {'seen': ['Bearer [key]']}
    """
    return told if key is None else _without(told, key)


def _without(told: Any, key: str) -> Any:
    if isinstance(told, str):
        return told.replace(key, _HIDDEN)
    if isinstance(told, bytes):
        # In a body of JSON a key may be written with escapes.
        for form in (key, json.dumps(key)[1:-1], json.dumps(key)[1:-1].replace("/", "\\/")):
            told = told.replace(form.encode(), _HIDDEN.encode())
        return told
    if isinstance(told, dict):
        return {_without(name, key): _without(one, key) for name, one in told.items()}
    if isinstance(told, list | tuple):
        return type(told)(_without(one, key) for one in told)
    return told


def _split(url: str) -> SplitResult | None:
    """The parts of an address; None where it has none that can be used."""
    try:
        parts = urlsplit(url)
        # Looked at, since a port that is no number is told only then.
        _ = parts.port
    except ValueError:
        return None
    return parts
