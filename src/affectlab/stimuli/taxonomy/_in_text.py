"""Where a term stands in a text, and the words around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affectlab.stimuli.taxonomy._blocks import TextBlock
from affectlab.stimuli.taxonomy._forms import adjective_forms, noun_forms, verb_forms
from affectlab.stimuli.taxonomy._lexicon import Lexicon, spans_of

__all__ = ["excerpt", "forms_of", "places_of"]

_AROUND = 6
Spans = Sequence[tuple[str, int, int]]


def excerpt(text: str, spans: Spans, place: int) -> str:
    """Give the words around a token, as they are written."""
    first, last = max(place - _AROUND, 0), min(place + _AROUND, len(spans) - 1)
    words = " ".join(text[spans[first][1] : spans[last][2]].split())
    return ("… " if first else "") + words + (" …" if last < len(spans) - 1 else "")


def forms_of(term: str) -> frozenset[str]:
    """Give the forms that a term which no lexicon knows may have."""
    return noun_forms(term) | adjective_forms(term) | verb_forms(term)


def places_of(block: TextBlock, term: str, lexicon: Lexicon) -> Iterator[tuple[str, str, str]]:
    """Find a term in the texts of a block: name of the text, form and example, once per text."""
    for source, text in zip(block.sources, block.texts, strict=True):
        spans = spans_of(text)
        tokens = [token for token, *_ in spans]
        found = _first(tokens, term, lexicon)
        if found is not None:
            place, form = found
            yield source, form, excerpt(text, spans, place)


def _first(tokens: list[str], term: str, lexicon: Lexicon) -> tuple[int, str] | None:
    if term in lexicon:
        # What stands around it does not matter here: somebody read the text and named the term.
        return next(
            ((k, token) for k, token in enumerate(tokens) if lexicon.term(token) == term),
            next(((m.place, m.form) for m in lexicon.mentions(tokens) if m.term == term), None),
        )
    length = len(term.split())
    forms = forms_of(term)
    for place in range(len(tokens) - length + 1):
        form = " ".join(tokens[place : place + length])
        if form in forms:
            return place, form
    return None
