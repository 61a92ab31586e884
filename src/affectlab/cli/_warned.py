"""Warnings of the library as sentences of a verb."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["caught_warnings"]


@contextmanager
def caught_warnings() -> Iterator[list[str]]:
    """Collect what users are warned of, each sentence once; other warnings go their way."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield said
    for entry in caught:
        if issubclass(entry.category, UserWarning) and entry.category is not UserWarning:
            text = str(entry.message)
            if text not in said:
                said.append(text)
        else:
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
