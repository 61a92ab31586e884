"""Keys, which are sent to the provider and written nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Secrets"]

_HIDDEN = "[key]"
_SHORTEST = 8
"""Shorter values are no secrets, such as `none` for a server of one's own."""
_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$")
_PATTERNS = re.compile(
    r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?:(?i:bearer|basic)\s+)?[^\s\"',}&]{4,}"
    r"|(?i:bearer)\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi)[-_][A-Za-z0-9_*.-]{6,}"
    r"|\bAIza[A-Za-z0-9_-]{10,}"
    r"|(?i:(?:x-)?api[-_]?key)[\"']?\s*[:=]\s*[\"']?[^\s\"',}&]{4,}"
)
"""How keys look in what providers say, where we do not know them or they show a part only."""


class Secrets:
    """Knows keys, and takes them out of whatever is to be written.

    Parameters
    ----------
    keys
        Keys that are used; those of the environment are known without being told.

    Examples
    --------
    >>> Secrets(["my-own-key-1"]).without({"said": ["no entry for my-own-key-1"]})
    {'said': ['no entry for [key]']}
    """

    def __init__(self, keys: Iterable[str | None] = ()) -> None:
        found = {key.strip() for key in keys if key and len(key.strip()) >= _SHORTEST}
        found |= {
            value.strip()
            for name, value in os.environ.items()
            if _NAME.search(name.upper()) and len(value.strip()) >= _SHORTEST
        }
        # The longest first: one may begin with another.
        self._keys = sorted(found, key=len, reverse=True)

    def without(self, told: Any) -> Any:
        """Put ``[key]`` for every key that is known, in texts, lists and objects."""
        if isinstance(told, str):
            for key in self._keys:
                told = told.replace(key, _HIDDEN)
            return told
        if isinstance(told, Mapping):
            return {self.without(name): self.without(value) for name, value in told.items()}
        if isinstance(told, list | tuple):
            return [self.without(one) for one in told]
        return told

    def clean(self, message: str) -> str:
        """Do the same for what a provider says, and take out what looks like a key as well.

        Examples
        --------
        >>> Secrets().clean("Incorrect API key provided: sk-abcd****wxyz.")
        'Incorrect API key provided: [key]'
        """
        return _PATTERNS.sub(_HIDDEN, str(self.without(message)))
