"""Passwords in addresses: they are used, and never printed."""

from __future__ import annotations

import re


def without_password(text: str) -> str:
    """Hide passwords of addresses in a text.

    Examples
    --------
    >>> without_password("postgresql://me:secret@host/name is not there")
    'postgresql://me:***@host/name is not there'
    >>> without_password("me:secret@host/name"), without_password("password='my own' host=db")
    ('me:***@host/name', 'password=*** host=db')
    """
    # A password may hold an @ or a space itself: all up to the last @ of the line is hidden.
    text = re.sub(r"(://[^\s:/@]*:).*@", r"\1***@", text)
    # Where the scheme was forgotten.
    text = re.sub(r"(?<![\w/:@])([\w.+-]+:)(?!//)[^\s:]*@", r"\1***@", text)
    return re.sub(r"(?i)(password=)('[^']*'|\"[^\"]*\"|[^\s&]+)", r"\1***", text)
