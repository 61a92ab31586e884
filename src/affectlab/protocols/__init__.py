"""How it is asked: labels, scale, wording, constraints, and the routing of one kind of question.

A :class:`Protocol` is defined once and used by the web page, by the model prompt, by the validator
and by the reader of the results. Built-in protocols are TOML files, and so are a user's own.
"""

from affectlab.protocols.load import list_protocols, load_protocol
from affectlab.protocols.parts import (
    Asks,
    Checks,
    EntryField,
    Input,
    Part,
    Routing,
    Rules,
    Staircase,
    Translation,
)
from affectlab.protocols.protocol import Protocol, Question
from affectlab.protocols.scale import ScaleSpec

__all__ = [
    "Asks",
    "Checks",
    "EntryField",
    "Input",
    "Part",
    "Protocol",
    "Question",
    "Routing",
    "Rules",
    "ScaleSpec",
    "Staircase",
    "Translation",
    "list_protocols",
    "load_protocol",
]
