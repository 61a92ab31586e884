"""Passwords in addresses: they are used, and never printed."""

from __future__ import annotations

import re

__all__ = ["without_password"]


def without_password(text: str) -> str:
    """Hide passwords of addresses in a text.

    Examples
    --------
    >>> without_password("postgresql://me:secret@host/name is not there")
    'postgresql://me:***@host/name is not there'
    """
    text = re.sub(r"(://[^\s:/@]*:)[^\s@]*@", r"\1***@", text)
    return re.sub(r"(?i)(password=)[^\s&]+", r"\1***", text)
