"""Whether an address is on this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

__all__ = ["on_this_machine"]


def on_this_machine(url: str) -> bool:
    """Say whether a server is on this machine, by its address alone.

    Examples
    --------
    >>> on_this_machine("http://127.0.0.1:11434/v1"), on_this_machine("https://localhost.example.org")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
