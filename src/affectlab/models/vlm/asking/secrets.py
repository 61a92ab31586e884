"""Keys, which are sent to the provider and written nowhere."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Secrets", "fingerprinted", "secrets_in"]

_HIDDEN = "[key]"
_SHORTEST = 8
"""Shorter values are no secrets, such as `none` for a server of one's own."""
_SHORTEST_UNTOLD = 16
"""Of what the environment holds under the name of a key, only what cannot be a word is one."""
_PRIVATE = re.compile(r"(?i)key|auth|token|secret|passw|credential|header|cookie")
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
        Keys that are used. Those of the environment are known without being told, where they do
        not look like words.

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
            if _NAME.search(name.upper()) and _is_random(value.strip())
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

    def of_answer(self, text: str) -> str:
        """Do the same for what a model says: nothing that could be a word of it is taken out.

        Examples
        --------
        >>> Secrets(["Amusement"]).of_answer('{"Amusement": 3}')
        '{"Amusement": 3}'
        """
        for key in self._keys:
            if _is_random(key):
                text = text.replace(key, _HIDDEN)
        return text

    def clean(self, message: str) -> str:
        """Do the same for what a provider says, and take out what looks like a key as well.

        Examples
        --------
        >>> Secrets().clean("Incorrect API key provided: sk-abcd****wxyz.")
        'Incorrect API key provided: [key]'
        """
        return _PATTERNS.sub(_HIDDEN, str(self.without(message)))


def _is_random(value: str) -> bool:
    """Tell a key from a word: long, with letters and digits, in one piece."""
    return (
        len(value) >= _SHORTEST_UNTOLD
        and any(one.isdigit() for one in value)
        and any(one.isalpha() for one in value)
        and not any(one.isspace() for one in value)
    )


def _is_private(name: object, value: object) -> bool:
    return (
        isinstance(value, str | list | tuple | Mapping)
        and bool(value)
        and _PRIVATE.search(str(name)) is not None
    )


def fingerprinted(told: Any) -> Any:
    """Put a fingerprint for every value whose name says that it may be a secret.

    Another value has another fingerprint, so that what was asked with it stays apart.

    Examples
    --------
    >>> fingerprinted({"service_tier": "flex", "max_tokens": 5})
    {'service_tier': 'flex', 'max_tokens': 5}
    >>> fingerprinted({"default_headers": {"X-Team": "blue"}})["default_headers"][:13]
    'sha256:5466a8'
    """
    if isinstance(told, Mapping):
        return {
            name: _fingerprint(value) if _is_private(name, value) else fingerprinted(value)
            for name, value in told.items()
        }
    if isinstance(told, list | tuple):
        return [fingerprinted(one) for one in told]
    if isinstance(told, str) and re.search(r"://[^/\s]*@", told):
        return _fingerprint(told)
    return told


def _fingerprint(value: Any) -> str:
    plain = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()[:16]}"


def secrets_in(told: Any, private: bool = False) -> list[str]:
    """List the texts under names that say that they may be secrets."""
    if isinstance(told, Mapping):
        found = [secrets_in(v, private or _is_private(k, v)) for k, v in told.items()]
    elif isinstance(told, list | tuple):
        found = [secrets_in(one, private) for one in told]
    else:
        return [told] if private and isinstance(told, str) else []
    return [text for part in found for text in part]
