"""How it is asked: labels, scale, wording, constraints, and the routing of one kind of question.

A :class:`Protocol` is defined once and used by the web page, by the model prompt, by the validator
and by the reader of the results. Built-in protocols are TOML files, and so are a user's own.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.protocols.load import list_protocols, load_protocol
from affectlab.protocols.parts import EntryField, Input, Part, Rules
from affectlab.protocols.protocol import Protocol, Question
from affectlab.protocols.scale import ScaleSpec

if TYPE_CHECKING:
    from affectlab.protocols.entries import (
        entry_rows as entry_rows,
        label_field as label_field,
        reason_field as reason_field,
    )


__all__ = [
    "EntryField",
    "Input",
    "Part",
    "Protocol",
    "Question",
    "Rules",
    "ScaleSpec",
    "list_protocols",
    "load_protocol",
]


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
