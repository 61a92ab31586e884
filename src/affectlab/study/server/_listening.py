"""Whether a server can listen where it is to, said before it tells anyone its address."""

from __future__ import annotations

import errno
import os
import socket

from affectlab._hints import option
from affectlab.errors import InputError

__all__ = ["check_free"]


def check_free(host: str, port: int) -> None:
    """Check that nobody else listens on a port.

    Parameters
    ----------
    host, port
        Where a server is to listen.

    Raises
    ------
    InputError
        When the port is taken, or this machine has no such address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found[:1]:
            with socket.socket(family, kind, protocol) as tried:
                # As the server does: the port of one that has just ended is free. On Windows the
                # same word would let two servers have one port.
                if os.name == "posix":
                    tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} of {host} is taken, perhaps by a study that is still served; stop "
                f"that, or name another port ({option('port', port + 1 if port < 65535 else 8000)})"
            ) from None
        raise InputError(
            f"{host}, port {port}: nothing can be served there ({error.strerror or error})"
        ) from None
