"""Where a request comes from: used for limits, and never stored."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from fastapi import Request

from affectlab.study.server._settings import Settings

__all__ = ["address_of"]


def address_of(request: Request, settings: Settings) -> str:
    """Give the address of a visitor, as our own proxy says it where there is one."""
    peer = request.client.host if request.client else ""
    if settings.trust_proxy:
        # The last part is what our own proxy saw; those before it are the visitor's word. Proxies
        # that add a line of their own come last, too.
        forwarded = ",".join(request.headers.getlist("x-forwarded-for"))
        return _place(forwarded.rpartition(",")[2].strip() or peer)
    return _place(peer)


def _place(address: str) -> str:
    """Give the network that one visitor has at least: of IPv6, everybody has 64 bits of addresses.

    Examples
    --------
    >>> _place("2001:db8:0:1::17") == _place("2001:db8:0:1:ffff::3"), _place("192.0.2.7")
    (True, '192.0.2.7')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), 64), strict=False))
