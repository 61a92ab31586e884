"""Finding protocols: built in, in a user's file, or added by an installed package."""

from __future__ import annotations

from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.files.toml import parse_toml
from affectlab.core.registry import Definitions
from affectlab.protocols.protocol import Protocol


def _verified(protocol: Protocol, where: str) -> Protocol:
    """Make sure that the labels, level and choices the protocol names are there."""
    try:
        labels = protocol.labels()
        protocol.questions()
    except InputError as error:
        raise InputError(f"{where}: asks: {error}") from None
    for choice in protocol.rules.exclusive:
        if choice not in labels and choice not in protocol.rules.options:
            raise InputError(
                f"{where}: rules.exclusive: {choice!r} is neither a label nor one of rules.options"
            )
    return protocol


_REGISTRY = Definitions(
    kind="protocol",
    group="affectlab.protocols",
    package="affectlab.protocols",
    accept=Protocol,
    expected="a path or a Protocol",
    parse=lambda text, where: _verified(parse_toml(text, Protocol, where=where), where),
)


def load_protocol(name_or_path: str | Path | Protocol) -> Protocol:
    """Load a protocol.

    Parameters
    ----------
    name_or_path
        The name of a built-in protocol, or of one that an installed package adds through the
        entry-point group ``affectlab.protocols``; or the path of a TOML file (a string that ends
        in ``.toml`` or holds a separator). A protocol is given back as it is.

    Raises
    ------
    InputError
        When the name is not known, or the file cannot be used; the sentence says where and why.

    Examples
    --------
    >>> load_protocol("difference").scale.spec
    '0-100 interval'
    """
    return _REGISTRY.load(name_or_path)


def list_protocols() -> tuple[str, ...]:
    """Names that :func:`load_protocol` knows, built in or from installed packages, sorted.

    Examples
    --------
    >>> "verification" in list_protocols()
    True
    """
    return _REGISTRY.names()
