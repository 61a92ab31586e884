"""Labels that raters wrote into the box for suggestions, brought to terms and counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from affectlab.core.files.columns import require_columns
from affectlab.core.files.csv import cell_of_sheet, read_table, text_of_sheet
from affectlab.stimuli.taxonomy.lexicon import Lexicon, forms_of, tokens_of
from affectlab.taxonomy import Taxonomy

__all__ = ["Suggestion", "count_suggestions", "read_suggestions", "suggestions_of"]

_APART = re.compile(r"[,;/|+&\n]|\band\b|\bor\b", re.IGNORECASE)
_MOST_WORDS = 3
_NEEDED = ("stimulus", "rater", "suggestion")


@dataclass(frozen=True)
class Suggestion:
    """One suggested label."""

    term: str
    covered_by: str | None
    """Label of the taxonomy that it is, or is a form or a descriptor word of."""
    stimuli: int
    raters: int
    times: int
    written: str
    """How raters wrote it, with counts, most frequent first."""
    known: bool
    """Whether the lexicon has it."""


def read_suggestions(path: str | Path) -> pl.DataFrame:
    """Read suggestions, as ``affectlab study export`` writes them: stimulus, rater, suggestion.

    Raises
    ------
    InputError
        When the file cannot be used or lacks a column.
    """
    table = read_table(path, "suggestions")
    require_columns(table, _NEEDED, f"{path}: ", "give a table of suggestions")
    # The export guards cells that a spreadsheet would compute.
    return table.select(text_of_sheet(pl.col(_NEEDED).cast(pl.String)))


def suggestions_of(table: pl.DataFrame, answered: Set[tuple[str, str]]) -> tuple[pl.DataFrame, int]:
    """Give the suggestions that belong to answers, and how many others were written.

    Shares of stimuli are only shares where both come from the same answers.

    Parameters
    ----------
    table
        Suggestions, as :func:`read_suggestions` reads them.
    answered
        Names of stimulus and rater of each answer.

    Raises
    ------
    InputError
        When a column is missing.

    Examples
    --------
    >>> import polars as pl
    >>> told = {"stimulus": ["a", "b"], "rater": ["r", "r"], "suggestion": ["pride", "relief"]}
    >>> own, others = suggestions_of(pl.DataFrame(told), {("a", "r")})
    >>> own["suggestion"].to_list(), others
    (['pride'], 1)
    """
    require_columns(table, _NEEDED, "suggestions: ")
    written = table.filter(pl.col("suggestion").cast(pl.String).str.strip_chars() != "")
    # Exports guard names, too, and what is read of them may hold the guard or not.
    known = {(cell_of_sheet(one), cell_of_sheet(rater)) for one, rater in answered}
    keys = written.select("stimulus", "rater").iter_rows()
    own = pl.Series(
        [(cell_of_sheet(str(one)), cell_of_sheet(str(rater))) in known for one, rater in keys],
        dtype=pl.Boolean,
    )
    return written.filter(own), int((~own).sum())


def count_suggestions(
    table: pl.DataFrame, taxonomy: Taxonomy, lexicon: Lexicon
) -> tuple[list[Suggestion], list[str]]:
    """Count suggested labels, most frequent first; give also what could not be read as one.

    A suggestion may name several labels ("pride, relief"). Forms of one word are one label. Of more
    than three words those count that the lexicon knows; a sentence without one is not read.

    Raises
    ------
    InputError
        When a column is missing.
    """
    require_columns(table, _NEEDED, "suggestions: ")
    held: dict[str, list[tuple[str, str, str]]] = {}
    unread: list[str] = []
    known_as: dict[str, str] = {}
    for stimulus, rater, text in table.select(_NEEDED).iter_rows():
        if text is None or not str(text).strip():
            continue
        terms = _terms(str(text), lexicon, known_as)
        if not terms:
            unread.append(str(text))
        for term, written in terms:
            held.setdefault(term, []).append((str(stimulus), str(rater), written))
    found = []
    for term, rows in held.items():
        forms = Counter(one for *_, one in rows)
        ranked = sorted(forms.items(), key=lambda pair: (-pair[1], pair[0]))
        found.append(
            Suggestion(
                term,
                _covering(term, forms, taxonomy, lexicon),
                len({stimulus for stimulus, *_ in rows}),
                len({rater for _, rater, _ in rows}),
                len(rows),
                ", ".join(f"{form} {n}" for form, n in ranked[:8]),
                term in lexicon,
            )
        )
    found.sort(key=lambda one: (-one.stimuli, -one.times, one.term))
    return found, unread


def _terms(text: str, lexicon: Lexicon, known_as: dict[str, str]) -> list[tuple[str, str]]:
    """Terms of one suggestion with what was written; forms seen before lead to the first one."""
    terms: dict[str, str] = {}
    for piece in _APART.split(text):
        words = [token for token in tokens_of(piece) if token not in ".!?;:"]
        if not words:
            continue
        plain = " ".join(words)
        term = lexicon.term(plain)
        if term is None:
            inside = [mention.term for mention in lexicon.mentions(words)]
            if not inside:
                # Somebody who is asked for an emotion means one: what stands around is no guard.
                inside = [found for word in words if (found := lexicon.term(word))]
            if inside and len(words) > 1:
                terms |= dict.fromkeys(inside, plain)
                continue
            if len(words) > _MOST_WORDS:
                continue
            term = known_as.get(plain, plain)
            for form in forms_of(plain) if len(words) == 1 else ():
                known_as.setdefault(form, term)
        terms.setdefault(term, plain)
    return list(terms.items())


def _covering(
    term: str, written: Iterable[str], taxonomy: Taxonomy, lexicon: Lexicon
) -> str | None:
    """Label that a term is: by name or alias, as a form of its name, or as a descriptor word."""
    for word in (term, *written):
        if word in taxonomy:
            return taxonomy.name_of(word)
    names = [
        (entry.name, name) for entry in taxonomy.entries for name in (entry.name, *entry.aliases)
    ]
    words = [(entry.name, word) for entry in taxonomy.entries for word in entry.words]
    # What is the word itself goes before what is only a form of it.
    tests = (
        (names, lambda word: lexicon.term(word) == term),
        (words, lambda word: word == term),
        (words, lambda word: lexicon.term(word) == term),
    )
    for pairs, fits in tests:
        for label, word in pairs:
            if fits(word.casefold()):
                return label
    return None
