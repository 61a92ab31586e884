"""Hints: a label that a picture might show, suggested without being asked for."""

from __future__ import annotations

from affectlab.errors import InputError, unknown_name
from affectlab.protocols import Protocol

__all__ = ["hint_sentence", "hinted_label"]


def hinted_label(protocol: Protocol, labels: tuple[str, ...], hint: str) -> str:
    """Canonical name of the label hinted at; "" for none.

    Raises
    ------
    InputError
        When the label is not asked for, or the protocol asks about one label at a time, where a
        hint would be the question itself.
    """
    if not hint:
        return ""
    if protocol.answer not in ("ratings", "choices") or protocol.asks.per_trial == "one":
        raise InputError(
            f"hint {hint!r}: protocol {protocol.name!r} does not ask about several labels at once"
        )
    taxonomy = protocol.taxonomy()
    name = hint if taxonomy is None else taxonomy.name_of(hint)
    if name not in labels:
        raise unknown_name("label", hint, labels, "hint")
    return name


def hint_sentence(label: str, what: str = "picture") -> str:
    """Suggest a label, and leave the answer to whoever looks (emonet-face, B.1).

    Examples
    --------
    >>> hint_sentence("Infatuation").split(".")[0]
    'Hint: this picture might show Infatuation'
    """
    return (
        f"Hint: this {what} might show {label}. Please consider it, too. The hint may be wrong: "
        f"whether you see {label}, and how strongly, is for you to judge from what is shown."
    )
