"""What is seen in a comment at one look: deleted, language, words of the lists, length."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_serializer,
    field_validator,
)

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry
from affectlab.stimuli.curation.texts.languages import DETECTORS, Detector, in_languages
from affectlab.stimuli.curation.texts.names import NAME_FINDERS, NameFinder
from affectlab.stimuli.curation.texts.plugs import plug_name
from affectlab.stimuli.curation.texts.tokens import TOKENIZERS, Tokenizer, count_tokens
from affectlab.stimuli.curation.texts.words import WordLists, fold, has_term

__all__ = ["TextSettings", "text_features"]

_DELETED = r"^\s*(?:\[\s*(?:deleted|removed)(?:\s+by\s+\w+)?\s*\])?\s*$"


def _lists(given: object) -> object:
    """Lists as they are, or those of a folder."""
    return WordLists.load(given) if isinstance(given, str | Path) else given


class TextSettings(BaseModel):
    """How texts are looked at: the parts that do it, by name or as callables.

    A name is one of ours, or that of an entry point of another package in the group
    ``affectlab.tokenizers``, ``affectlab.language_detectors`` or ``affectlab.name_finders``.
    Callables and word lists are written by name and hash when the settings are dumped as JSON.

    Examples
    --------
    >>> TextSettings(tokenizer="word")
    Traceback (most recent call last):
    pydantic_core._pydantic_core.ValidationError: 1 validation error for TextSettings
    tokenizer
      Value error, unknown tokenizer 'word'; did you mean 'words'? ...
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tokenizer: str | Tokenizer = "words"
    """``"words"``, ``"treebank"``, ``"tweet"`` or a callable; see :func:`count_tokens`."""
    language: str | Detector = "fast"
    """``"fast"``, ``"fasttext"``, ``"langid"``, ``"none"`` or a callable; see
    :func:`in_languages`."""
    languages: Annotated[tuple[str, ...], Field(min_length=1)] = ("en",)
    """ISO 639-1 codes of the languages that are kept."""
    words: Annotated[WordLists, BeforeValidator(_lists)] = Field(default_factory=WordLists.load)
    """Word lists, or the folder that holds them; see :meth:`WordLists.load`."""
    names: str | NameFinder = "gazetteer"
    """``"gazetteer"``, ``"spacy:MODEL"``, ``"transformers:FOLDER"``, ``"none"`` or a callable; see
    :func:`mask_texts`."""

    @field_validator("tokenizer")
    @classmethod
    def _tokenizer(cls, given: Any) -> Any:
        return _known(TOKENIZERS, given)

    @field_validator("language")
    @classmethod
    def _language(cls, given: Any) -> Any:
        return _known(DETECTORS, given)

    @field_validator("names")
    @classmethod
    def _names(cls, given: Any) -> Any:
        return _known(NAME_FINDERS, given)

    @field_validator("languages")
    @classmethod
    def _codes(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for code in given:
            if not (code.isascii() and code.isalpha() and code.islower() and len(code) in (2, 3)):
                raise ValueError(f"{code!r} is no code of a language; expected one such as 'en'")
        return given

    @field_serializer("tokenizer", "language", "names", when_used="json")
    def _by_name(self, part: object) -> str:
        return plug_name(part)

    @field_serializer("words", when_used="json")
    def _by_hash(self, words: WordLists) -> str:
        return words.digest()


def text_features(
    texts: pl.Series, settings: TextSettings | None = None, *, only: pl.Series | None = None
) -> pl.DataFrame:
    """Look at comments once, and say all that the steps of curation need to know of their texts.

    Parameters
    ----------
    texts
        Strings, shape (n,); null is an empty text.
    settings
        How texts are looked at; None for the defaults.
    only
        Booleans, shape (n,): texts whose language is wanted. The others, which other steps drop,
        are not given to the detector.

    Returns
    -------
    polars.DataFrame
        n rows, in the order of the texts: ``deleted`` (empty, ``[deleted]`` or ``[removed]``),
        ``english`` (nothing says that it is in another language than those of the settings; true
        where it was not looked at), ``offensive``, ``vulgar`` and ``identity`` (holds a term of
        the list), all Boolean, and ``tokens``, UInt16.

    Raises
    ------
    InputError
        When the texts are no strings, `only` does not fit them, or a part of the settings fails.

    Examples
    --------
    >>> import polars as pl
    >>> comments = pl.Series(["[removed]", "What a damn good day!", "Das ist mir aber neu."])
    >>> text_features(comments).select("deleted", "english", "vulgar", "tokens").rows()
    [(True, True, False, 3), (False, True, True, 6), (False, False, False, 6)]
    """
    settings = TextSettings() if settings is None else settings
    if texts.dtype == pl.Null:
        texts = texts.cast(pl.String)
    if texts.dtype != pl.String:
        raise InputError(f"texts are {texts.dtype}; expected strings")
    if only is not None and (only.dtype != pl.Boolean or len(only) != len(texts)):
        raise InputError(
            f"only: {len(only):,} values of {only.dtype}; expected a Boolean for each of the "
            f"{len(texts):,} texts"
        )
    texts = texts.fill_null("")
    folded = fold(texts)
    deleted = folded.str.contains(_DELETED)
    looked = ~deleted if only is None else only.fill_null(False) & ~deleted
    return pl.DataFrame(
        {
            "deleted": deleted,
            "english": _wanted(texts, looked, settings),
            "offensive": has_term(folded, settings.words.offensive),
            "vulgar": has_term(folded, settings.words.vulgar),
            "identity": has_term(folded, settings.words.identity),
            "tokens": count_tokens(texts, settings.tokenizer),
        }
    )


def _wanted(texts: pl.Series, looked: pl.Series, settings: TextSettings) -> pl.Series:
    """Whether texts are in the wanted languages; true for those that are not looked at."""
    rows = looked.arg_true()
    found = in_languages(texts.gather(rows), settings.language, settings.languages)
    answer = pl.repeat(True, len(texts), dtype=pl.Boolean, eager=True)
    return answer.scatter(rows.filter(~found), False)


def _known(parts: Registry[Any], given: object) -> object:
    if not callable(given):
        parts.check_name(str(given))
    return given
