"""Lists of words by which comments are filtered and masked, and the looking for them in texts."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.core.errors import InputError, check_choice
from affectlab.core.words import joined, shown

if TYPE_CHECKING:
    import polars as pl

__all__ = ["APOSTROPHES", "UNSEEN", "WordLists", "fold", "has_term", "in_list", "search_pattern"]

_SIGN = r"(?:[^\W_]|[\u0300-\u036f])"
_NO_LETTER = r"[^\p{L}\p{M}\p{N}]"
UNSEEN = "[\u00ad\u200b-\u200d\u2060\ufeff]"
"""Marks that are not seen, as a pattern of polars and of Python."""
APOSTROPHES = "[\u2018\u2019\u02bc\u02bb]"
"""What is written for an apostrophe: quotes, and the letters that are read as one."""


@dataclass(frozen=True)
class WordLists:
    """Terms in lower case; a term may be several words, and ``*`` at its end stands for any ending.

    The packaged lists are compiled for affectlab and, like all such lists, not complete. They are
    read by :meth:`load`, which also puts lists of your own in their place.
    """

    offensive: tuple[str, ...]
    """Slurs and sexual or adult terms: a comment that holds one is dropped."""
    vulgar: tuple[str, ...]
    """Mild profanity: counted when a group is judged, kept in comments."""
    identity: tuple[str, ...]
    """Ethnicity, nationality, gender, orientation and disability: comments for review."""
    religion: tuple[str, ...]
    """Religions, their people, places and writings: masked as ``[RELIGION]``."""
    adult_groups: tuple[str, ...]
    """Names of groups, such as subreddits, that are not safe for work."""

    @classmethod
    def load(cls, path: str | Path | None = None) -> WordLists:
        """Read the packaged lists, or those of a folder where it has them.

        A list is a UTF-8 file named as its field, such as ``offensive.txt``, with one term a line.
        ``#`` starts a comment. An empty file is an empty list; a list that the folder does not
        have is the packaged one.

        Raises
        ------
        InputError
            When the folder is absent or has none of the lists, a file in it has another name
            ending in ``.txt``, is not UTF-8, or a term has no letter or digit.

        Examples
        --------
        >>> words = WordLists.load()
        >>> "mosque*" in words.religion, "damn*" in words.vulgar
        (True, True)
        """
        return _packaged() if path is None else _from_folder(Path(path))

    def digest(self) -> str:
        """Hash of all lists, by which two sets of lists are told apart."""
        told = "\n\n".join("\n".join(getattr(self, field.name)) for field in fields(self))
        return sha256(told.encode()).hexdigest()[:16]


def fold(texts: pl.Series) -> pl.Series:
    """Make texts alike that are read alike: lower case, plain letters and apostrophes.

    Full-width and other compatibility letters become the common ones and marks that are not seen,
    such as soft hyphens, are left out, so that a term cannot be hidden by them.

    Examples
    --------
    >>> import polars as pl
    >>> fold(pl.Series(["DAMN it", "Don’t", "ｄａｍｎ"])).to_list()
    ['damn it', "don't", 'damn']
    """
    import polars as pl

    lower = texts.str.to_lowercase()
    wide = lower.str.len_bytes() != lower.str.len_chars()
    if not wide.any():
        return lower
    rows = wide.arg_true()
    other = (
        lower.gather(rows)
        .str.normalize("NFKC")
        .str.to_lowercase()
        .str.replace_all(UNSEEN, "")
        .str.replace_all(APOSTROPHES, "'")
    )
    place = pl.Series(range(len(lower)), dtype=pl.UInt32)
    place = place.scatter(rows, pl.int_range(len(lower), len(lower) + len(rows), eager=True))
    return pl.concat([lower, other]).gather(place)


def has_term(folded: pl.Series, terms: tuple[str, ...]) -> pl.Series:
    """Tell which texts hold a term as a whole word; see :func:`fold` for the texts.

    Words are bounded by everything but letters, digits and their marks, in any script: ``_damn_``
    and ``damn's`` hold *damn*, and ``goddamn`` does not.

    Parameters
    ----------
    folded
        Texts from :func:`fold`; null holds nothing.
    terms
        In the form of :class:`WordLists`.

    Returns
    -------
    polars.Series
        Booleans, as many as texts.

    Examples
    --------
    >>> import polars as pl
    >>> texts = fold(pl.Series(["Damn, no!", "A damnable lie", "Amsterdam now"]))
    >>> has_term(texts, ("damn",)).to_list(), has_term(texts, ("damn*",)).to_list()
    ([True, False, False], [True, True, False])
    """
    import polars as pl

    if not terms:
        return pl.repeat(False, len(folded), dtype=pl.Boolean, eager=True)
    return folded.str.contains(_contains_pattern(terms)).fill_null(False)


def in_list(names: pl.Series, terms: tuple[str, ...]) -> pl.Series:
    """Tell which names of groups stand in a list; case and ``r/`` before them do not matter.

    Examples
    --------
    >>> import polars as pl
    >>> in_list(pl.Series(["NSFW_pics", "r/Hentai", "foodporn"]), ("nsfw*", "hentai")).to_list()
    [True, True, False]
    """
    import polars as pl

    plain = names.fill_null("").str.to_lowercase().str.replace(r"^/?r/", "")
    terms = tuple(re.sub(r"^/?r/", "", term) for term in terms)
    whole = [term for term in terms if not term.endswith("*")]
    found = plain.is_in(pl.Series(whole, dtype=pl.String).implode())
    begun = [re.escape(term[:-1]) for term in terms if term.endswith("*")]
    return found | plain.str.contains(f"^(?:{'|'.join(begun)})") if begun else found


@lru_cache(maxsize=32)
def _contains_pattern(terms: tuple[str, ...]) -> str:
    """Terms as a pattern of polars, which has no look-around: neighbours are part of the match."""
    whole, begun = _written(terms)
    # One class after all open terms: the class is large, and a copy for each would not compile.
    ended = "|".join([*begun, f"(?:{'|'.join(whole)})(?:{_NO_LETTER}|$)"] if whole else begun)
    return f"(?:^|{_NO_LETTER})(?:{ended})"


@lru_cache(maxsize=32)
def search_pattern(terms: tuple[str, ...]) -> str:
    """Write terms as a pattern of Python's ``re`` that takes whole words, for ``re.IGNORECASE``.

    Examples
    --------
    >>> re.findall(search_pattern(("new age", "sikh*")), "New-age Sikhism", re.IGNORECASE)
    ['New-age', 'Sikhism']
    """
    whole, begun = _written(terms)
    # Longer terms first: the first that fits is taken.
    either = sorted([*whole, *(f"{term}{_SIGN}*" for term in begun)], key=len, reverse=True)
    return f"(?<!{_SIGN})(?:{'|'.join(either)})(?!{_SIGN})"


def _written(terms: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Terms as patterns, closed ones and those with any ending; a space is a space or a hyphen."""
    both: tuple[list[str], list[str]] = ([], [])
    for term in terms:
        words = term.removesuffix("*").split()
        both[term.endswith("*")].append(r"[\s\-]+".join(map(re.escape, words)))
    return both


@lru_cache(maxsize=1)
def _packaged() -> WordLists:
    folder = files("affectlab.stimuli.curation") / "data"
    return WordLists(
        **{
            field.name: _terms(
                (folder / f"{field.name}.txt").read_text(encoding="utf-8"),
                f"packaged {field.name}.txt",
            )
            for field in fields(WordLists)
        }
    )


def _from_folder(folder: Path) -> WordLists:
    if not folder.is_dir():
        raise InputError(f"word lists {folder}: expected a folder with files such as offensive.txt")
    names = [field.name for field in fields(WordLists)]
    own = {}
    for path in sorted(folder.glob("*.txt")):
        check_choice("word list", path.stem, names, where=str(folder))
        try:
            own[path.stem] = _terms(path.read_text(encoding="utf-8-sig"), str(path))
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
            ) from None
    if not own:
        files_wanted = joined(f"{name}.txt" for name in names)
        raise InputError(f"word lists {folder}: expected one of the files {files_wanted}")
    return WordLists(**{name: own.get(name, getattr(_packaged(), name)) for name in names})


def _terms(text: str, where: str) -> tuple[str, ...]:
    """The terms of a list, each once, in the order of the file."""
    found: dict[str, None] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        term = " ".join(line.split("#", 1)[0].split())
        if not term:
            continue
        term = unicodedata.normalize("NFKC", term).lower()
        term = re.sub(APOSTROPHES, "'", term)
        if not any(c.isalnum() for c in term.removesuffix("*")):
            raise InputError(
                f"{where}, line {number}: {shown(term, 40)!r} has no letter or digit; expected a "
                "word"
            )
        found[term] = None
    return tuple(found)
