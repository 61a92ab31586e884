"""Texts as numbers: which words each of them holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from affectlab.analysis.words.wording import PUBLISHED_TOKENS, TOKENS
from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Ints

if TYPE_CHECKING:
    import polars as pl

Tokenizer = Callable[[str], Iterable[str]]

_WORD = r"[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*"
_TONE = r"[\x{1F3FB}-\x{1F3FF}\x{FE0F}]*"
_EMOJI = rf"\p{{Extended_Pictographic}}{_TONE}(?:\x{{200D}}\p{{Extended_Pictographic}}{_TONE})*"
_FLAG = r"[\x{1F1E6}-\x{1F1FF}]{2}"
_PATTERN = rf"{_WORD}|{_FLAG}|{_EMOJI}"

_ADDRESS = r"http\S*|\S*\.com\S*|\S*www\S*|\s@\S+"
_PUBLISHED = r"[#\p{L}\p{M}\p{N}]{3,}"
_FEW = 4096
"""Texts that one core cuts on its own."""


@dataclass(frozen=True, repr=False)
class Tokens:
    """The words of n texts; equal texts are held once.

    Made by :func:`tokenize`, and taken by :func:`log_odds` in place of texts, so that texts are cut
    into words once only.
    """

    words: tuple[str, ...]
    """The different words, shape (W,)."""
    word: NDArray[np.int32]
    """Words of the different texts, one after the other, as positions in ``words``."""
    end: Ints
    """Where each of the different texts ends in ``word``."""
    text: Ints
    """Which of the different texts stands in each row, shape (n,)."""
    rule: str = "given words"
    """How texts were cut into words."""

    def __len__(self) -> int:
        return self.text.size

    @cached_property
    def first(self) -> Bools:
        """Whether a word in ``word`` is the first of its kind in its text."""
        from affectlab.analysis.words.kernels import first_in_text

        return first_in_text(self.word, self.end, len(self.words))

    def __repr__(self) -> str:
        return f"Tokens({len(self):,} texts, {len(self.words):,} words)"


def tokenize(
    texts: Sequence[str], tokenizer: Tokenizer | None = None, *, paper_compat: bool = False
) -> Tokens:
    r"""Cut texts into lower-case words.

    By default a word is a run of letters and digits of any script, with the apostrophes inside it
    (``don't``; curly ones become straight), and an emoji or a flag is a word. Scripts without
    spaces between words, such as Chinese, need a ``tokenizer`` of their own.

    Parameters
    ----------
    texts
        Shape (n,); ``None`` and ``nan`` are texts without words.
    tokenizer
        Takes a text as it is and gives its words.
    paper_compat
        Cut as for the published table of GoEmotions: web addresses and names after ``@`` are
        removed, and of the runs of letters, digits and ``#`` those of three characters and more
        are kept. So *don't* is ``don``, and *I* and *no* are no words.

    Returns
    -------
    Tokens
        What :func:`log_odds` takes in place of texts: ``words``, the different ones, and
        which of them each text holds.

    Raises
    ------
    InputError
        If a text is not a text, or a tokenizer does not give words.

    Examples
    --------
    >>> found = tokenize(["Don’t, I said: don't! 😀", ""])
    >>> [found.words[k] for k in found.word]
    ["don't", 'i', 'said', "don't", '😀']
    >>> tokenize(["Don’t, I said!"], paper_compat=True).words
    ('don', 'said')
    """
    import polars as pl

    if isinstance(texts, str):
        raise InputError("texts: expected a list of texts, not one text")
    given = texts.to_list() if hasattr(texts, "to_list") else list(texts)
    if float in {*map(type, given)}:
        # Some data frames write a missing text as nan.
        given = [None if text != text else text for text in given]
    try:
        codes = {text: k for k, text in enumerate(dict.fromkeys(given))}
        different = pl.Series("text", list(codes), dtype=pl.String, strict=True).fill_null("")
    except (TypeError, pl.exceptions.PolarsError):
        wrong = next(k for k, text in enumerate(given) if not isinstance(text, str | None))
        raise InputError(f"texts[{wrong}] is {given[wrong]!r:.60}; expected a text") from None
    row = np.fromiter(map(codes.__getitem__, given), dtype=np.int64, count=len(given))
    if tokenizer is not None:
        return _by_callable(different.to_list(), tokenizer, row)
    found = _found(different, _published_words if paper_compat else _words)
    rule = PUBLISHED_TOKENS if paper_compat else TOKENS
    end = np.cumsum(found.list.len().to_numpy(), dtype=np.int64)
    flat = found.list.explode(empty_as_null=False) if len(found) else pl.Series([], dtype=pl.String)
    coded = flat.unique(maintain_order=True)
    word = _positions(flat, coded)
    return Tokens(tuple(coded.to_list()), word, end, row, rule)


def _words(texts: pl.Series) -> pl.Series:
    return (
        texts.str.to_lowercase().str.replace_all("’", "'", literal=True).str.extract_all(_PATTERN)
    )


def _published_words(texts: pl.Series) -> pl.Series:
    return texts.str.to_lowercase().str.replace_all(_ADDRESS, " ").str.extract_all(_PUBLISHED)


def _found(texts: pl.Series, cut: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Cut texts into words, on all cores."""
    import polars as pl

    from affectlab.core.compiled import in_threads, n_threads

    step = max(_FEW, -(-len(texts) // n_threads()))
    starts = range(0, max(len(texts), 1), step)
    parts: list[pl.Series] = [texts] * len(starts)

    def some(k: int) -> None:
        parts[k] = cut(texts.slice(starts[k], step))

    in_threads(some, range(len(starts)))
    return pl.concat(parts)


def _positions(series: pl.Series, different: pl.Series) -> NDArray[np.int32]:
    """Position of each text among the different ones."""
    import polars as pl

    codes = series.cast(pl.Enum(different)).to_physical()
    return np.asarray(codes.to_numpy(), dtype=np.int32)


def _by_callable(texts: list[str], tokenizer: Tokenizer, row: Ints) -> Tokens:
    codes: dict[str, int] = {}
    word: list[int] = []
    end = np.empty(len(texts), dtype=np.int64)
    for at, text in enumerate(texts):
        found: Any = tokenizer(text)
        if isinstance(found, str) or not isinstance(found, Iterable):
            raise InputError(f"tokenizer: gave {found!r:.60}; expected a list of words")
        for own in found:
            if not isinstance(own, str):
                raise InputError(f"tokenizer: gave the word {own!r:.60}; expected a text")
            word.append(codes.setdefault(own, len(codes)))
        end[at] = len(word)
    name = getattr(tokenizer, "__name__", type(tokenizer).__name__)
    return Tokens(tuple(codes), np.array(word, dtype=np.int32), end, row, f"tokenizer {name}")
