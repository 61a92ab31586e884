"""A ledger of answers that cost time or money: written as they come, read when work goes on."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Any

from affectlab.errors import InputError

__all__ = ["Ledger"]


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
