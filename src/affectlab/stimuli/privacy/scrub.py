"""Personal data taken out of free texts, with counts of what was taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from affectlab.core.errors import InputError, check_choices
from affectlab.core.words import joined, plural
from affectlab.ratings import Ratings, with_texts
from affectlab.stimuli.curation.texts import NameFinder
from affectlab.stimuli.privacy.forms import FORMS

__all__ = [
    "KINDS",
    "Scrubbed",
    "scrub_ratings",
    "scrub_texts",
]

_NAME = "name"
_NAME_MASK = "[NAME]"
KINDS: tuple[str, ...] = (_NAME, *(form.name for form in FORMS))
"""The kinds of personal data that are looked for."""


@dataclass(frozen=True, repr=False)
class Scrubbed:
    """Texts without the personal data that was found; made by :func:`scrub_texts`."""

    texts: tuple[str, ...]
    """The texts with masks such as ``[EMAIL]``, shape (n,)."""
    changed: tuple[bool, ...]
    """Whether anything was found in each text."""
    counts: pl.DataFrame
    """Per kind ``kind``, ``n_found`` and ``n_texts``, all kinds that were looked for."""
    places: pl.DataFrame
    """``row``, ``kind``, ``start`` and ``end`` of each finding in the text as it was, without what
    stood there."""

    def __repr__(self) -> str:
        found = int(self.counts["n_found"].sum())
        return f"Scrubbed({plural(len(self.texts), 'text', 'texts')}, {found:,} found)"


def scrub_texts(
    texts: Sequence[str | None],
    *,
    kinds: Iterable[str] | None = None,
    names: str | NameFinder = "gazetteer",
    keep: Iterable[str] = (),
) -> Scrubbed:
    """Put masks for personal data in free texts; the texts that are given stay as they are.

    All is done on this computer. Phone numbers are told by how they are written, and by the
    numbering plans of the United States and the United Kingdom; names by
    :func:`~affectlab.stimuli.curation.mask_texts`'s finders; cards, bank accounts and internet
    addresses by their form and their check digits; the rest by its form. What overlaps is masked
    as one. Nothing finds all: read a sample of the texts before you publish them.

    Parameters
    ----------
    texts
        Shape (n,); None is an empty text.
    kinds
        Some of :data:`KINDS`; all when not given.
    names
        How names are found: ``gazetteer`` (by lists, in English), ``spacy:MODEL``,
        ``transformers:FOLDER``, ``none``, or a callable.
    keep
        Names and other texts that are no secret, such as public figures in captions; they stay
        wherever they are found whole.

    Returns
    -------
    Scrubbed
        Texts, counts and places.

    Raises
    ------
    InputError
        When a kind is not known, an entry is no text, or a library or model is absent.

    Notes
    -----
    Source: Socratis (2023), section 2.1: all data is cleared of what identifies people.

    Examples
    --------
    >>> found = scrub_texts(["Mail me at ann@example.org, says Emily Clark.", "A calm sea."])
    >>> found.texts
    ('Mail me at [EMAIL], says [NAME].', 'A calm sea.')
    >>> found.counts.filter(found.counts["n_found"] > 0).rows()
    [('name', 1, 1), ('e-mail', 1, 1)]
    """
    from affectlab.stimuli.curation.texts import find_names

    if isinstance(texts, str):
        raise InputError("texts: expected a list of texts, not one text")
    wanted = KINDS if kinds is None else tuple(dict.fromkeys(kinds))
    check_choices("kind of personal data", wanted, KINDS, "kinds")
    given = ["" if text is None else text for text in texts]
    for k, text in enumerate(given):
        if not isinstance(text, str):
            raise InputError(f"texts[{k}] is {text!r:.60}; expected a text")
    public = {" ".join(one.casefold().split()) for one in keep}
    finder = names if _NAME in wanted else "none"
    forms = [form for form in FORMS if form.name in wanted]
    clean: list[str] = []
    places: list[tuple[int, str, int, int]] = []
    for row, (text, people) in enumerate(zip(given, find_names(given, finder), strict=True)):
        spans = [
            (start, end, rank, form.name, form.mask)
            for rank, form in enumerate(forms)
            if form.may.search(text)
            for start, end in form.find(text)
        ]
        spans += [(start, end, len(forms), _NAME, _NAME_MASK) for start, end in people]
        taken = _chosen([s for s in spans if not public or not _public(text[s[0] : s[1]], public)])
        clean.append(_masked(text, taken))
        places += [(row, kind, start, end) for start, end, _, kind, _ in taken]
    found, rows = (
        Counter(p[1] for p in places),
        Counter(kind for _, kind in {p[:2] for p in places}),
    )
    whole = pl.Int64
    return Scrubbed(
        tuple(clean),
        tuple(text != before for text, before in zip(clean, given, strict=True)),
        pl.DataFrame(
            {
                "kind": list(wanted),
                "n_found": [found[kind] for kind in wanted],
                "n_texts": [rows[kind] for kind in wanted],
            },
            schema={"kind": pl.String, "n_found": whole, "n_texts": whole},
        ),
        pl.DataFrame(
            places,
            schema={"row": whole, "kind": pl.String, "start": whole, "end": whole},
            orient="row",
        ),
    )


_Span = tuple[int, int, int, str, str]


def _public(found: str, public: set[str]) -> bool:
    return " ".join(found.casefold().split()) in public


def _chosen(spans: list[_Span]) -> list[_Span]:
    """Findings that overlap are one, of the kind of the longest, of equal ones of the surest.

    Masking the longest alone would leave the rest of another, such as the number of a house.
    """
    taken: list[_Span] = []
    kinds: list[_Span] = []
    for span in sorted(spans):
        if taken and span[0] < taken[-1][1]:
            best = min(kinds[-1], span, key=lambda s: (s[0] - s[1], s[2], s[0]))
            kinds[-1] = best
            taken[-1] = (taken[-1][0], max(taken[-1][1], span[1]), *best[2:])
        else:
            taken.append(span)
            kinds.append(span)
    return taken


def _masked(text: str, spans: list[_Span]) -> str:
    parts, at = [], 0
    for start, end, _, _, mask in spans:
        parts += [text[at:start], mask]
        at = end
    return "".join([*parts, text[at:]])


# Personal data taken out of the answers of a table of ratings.


def scrub_ratings(
    ratings: Ratings,
    *,
    columns: Sequence[str] = ("text",),
    kinds: Iterable[str] | None = None,
    names: str | NameFinder = "gazetteer",
    keep: Iterable[str] = (),
) -> tuple[Ratings, dict[str, Scrubbed]]:
    """Give a new table whose free texts are without personal data; the old one stays as it is.

    Parameters
    ----------
    ratings
        Answers with free texts, such as reactions.
    columns
        Columns of texts that belong to the rows.
    kinds, names, keep
        As in :func:`scrub_texts`.

    Returns
    -------
    tuple
        The new table, whose history says what was masked, and what was found in each column.

    Raises
    ------
    InputError
        When a column is absent or holds no texts, and as in :func:`scrub_texts`.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> rows = {"stimulus": ["a", "a"], "rater": ["r", "s"], "text": ["Ask 212-555-0142.", "No."]}
    >>> clean, found = scrub_ratings(Ratings(rows, scale="text"))
    >>> clean.frame["text"].to_list()
    ['Ask [PHONE].', 'No.']
    """
    if not columns:
        raise InputError("columns: expected at least one column of texts")
    found: dict[str, Scrubbed] = {}
    asked = None if kinds is None else tuple(kinds)
    public = tuple(keep)
    for column in dict.fromkeys(columns):
        frame = ratings.coded_frame
        if column not in frame.columns or column in ("stimulus", "rater", "label", "value"):
            raise InputError(f"the ratings have no column {column!r} of texts to look through")
        texts = frame[column].cast(str).to_list()
        done = scrub_texts(texts, kinds=asked, names=names, keep=public)
        found[column] = done
        n = sum(done.changed)
        if n:
            told = joined([row["kind"] for row in done.counts.to_dicts() if row["n_found"]])
            step = f"{column}: masked {told} in {plural(n, 'text', 'texts')}"
            # Missing texts stay missing.
            clean = [
                None if old is None else new for old, new in zip(texts, done.texts, strict=True)
            ]
            ratings = with_texts(ratings, clean, step, column=column)
    return ratings, found
