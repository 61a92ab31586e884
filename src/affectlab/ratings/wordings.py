"""Words in which scales are answered: those that have an order, and those for no answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache

import polars as pl

from affectlab.ratings.build import MISSING, is_number
from affectlab.ratings.scale import Scale, folded
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, guess

_LEAST = 3
"""How many different words it takes to tell an order; two are as often categories."""

_STRONG = ("completely", "totally", "extremely", "very", "strongly", "mostly", "moderately")
_WEAK = ("tend to", "somewhat", "slightly")
_POLES = (
    *(("disagree", "agree"), ("unlikely", "likely"), ("dissatisfied", "satisfied")),
    *(("negative", "positive"), ("unpleasant", "pleasant"), ("unhappy", "happy")),
    ("bad", "good"),
)
"""Words at the ends of a scale in English: the low end, and the high one."""
_BARE = {"neutral", *(word for pair in _POLES[3:] for word in pair)}
"""Words that are as often categories, where none says how much."""


def _between(low: str, high: str) -> tuple[str, ...]:
    """Give the words from one end of a scale to the other."""
    below = (*(f"{one} {low}" for one in _STRONG), low, *(f"{one} {low}" for one in _WEAK))
    above = (*(f"{one} {high}" for one in _STRONG), high, *(f"{one} {high}" for one in _WEAK))
    neither = (f"neither {high} nor {low}", f"neither {low} nor {high}")
    return (*below, *neither, "neither", "neutral", "undecided", *reversed(above))


_WORDINGS = (
    # English.
    *(_between(low, high) for low, high in _POLES),
    ("definitely not", "probably not", "might or might not", "probably yes", "definitely yes"),
    ("never", "almost never", "rarely", "seldom", "occasionally", "sometimes", "often",
     "frequently", "usually", "very often", "almost always", "always"),
    ("not at all", "none at all", "none", "barely", "very slightly", "slightly", "a little",
     "a little bit", "a bit", "mildly", "somewhat", "moderately", "a moderate amount", "quite",
     "quite a bit", "quite a lot", "considerably", "strongly", "a lot", "very", "very much",
     "a great deal", "extremely"),
    ("bad", "very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("absent", "very weak", "weak", "moderate", "strong", "very strong"),
    ("very low", "low", "medium", "high", "very high"),
    # German.
    ("stimme überhaupt nicht zu", "stimme gar nicht zu", "stimme nicht zu",
     "stimme eher nicht zu", "teils teils", "teils/teils", "weder noch", "neutral",
     "unentschieden", "stimme teilweise zu", "stimme eher zu", "stimme zu", "stimme stark zu",
     "stimme völlig zu", "stimme voll zu", "stimme voll und ganz zu"),
    ("trifft überhaupt nicht zu", "trifft gar nicht zu", "trifft nicht zu",
     "trifft eher nicht zu", "teils teils", "teils/teils", "weder noch", "trifft teilweise zu",
     "trifft eher zu", "trifft zu", "trifft völlig zu", "trifft voll zu",
     "trifft voll und ganz zu"),
    ("nie", "niemals", "fast nie", "selten", "gelegentlich", "manchmal", "häufig", "oft",
     "sehr häufig", "sehr oft", "meistens", "fast immer", "immer"),
    ("überhaupt nicht", "gar nicht", "kaum", "sehr wenig", "wenig", "ein bisschen", "ein wenig",
     "etwas", "einigermaßen", "mäßig", "mittelmäßig", "ziemlich", "erheblich", "stark", "sehr",
     "sehr stark", "äußerst", "extrem"),
    # French.
    ("pas du tout d'accord", "fortement en désaccord", "pas d'accord", "en désaccord",
     "plutôt pas d'accord", "plutôt en désaccord", "ni d'accord ni pas d'accord",
     "ni en accord ni en désaccord", "neutre", "plutôt d'accord", "plutôt en accord",
     "d'accord", "en accord", "tout à fait d'accord", "fortement en accord"),
    ("jamais", "presque jamais", "rarement", "parfois", "quelquefois", "souvent",
     "très souvent", "presque toujours", "toujours"),
    ("pas du tout", "très peu", "peu", "un peu", "modérément", "moyennement", "assez",
     "beaucoup", "très", "énormément", "extrêmement"),
    # Spanish.
    ("totalmente en desacuerdo", "muy en desacuerdo", "en desacuerdo", "algo en desacuerdo",
     "ni de acuerdo ni en desacuerdo", "neutral", "algo de acuerdo", "de acuerdo",
     "muy de acuerdo", "totalmente de acuerdo"),
    ("nunca", "casi nunca", "raramente", "rara vez", "a veces", "algunas veces", "a menudo",
     "frecuentemente", "muchas veces", "casi siempre", "siempre"),
    ("nada", "en absoluto", "muy poco", "poco", "un poco", "algo", "moderadamente", "bastante",
     "mucho", "muchísimo", "extremadamente"),
    # Italian.
    ("completamente in disaccordo", "fortemente in disaccordo", "molto in disaccordo",
     "in disaccordo", "abbastanza in disaccordo", "né d'accordo né in disaccordo", "neutrale",
     "abbastanza d'accordo", "d'accordo", "molto d'accordo", "fortemente d'accordo",
     "completamente d'accordo"),
    ("per niente d'accordo", "poco d'accordo", "abbastanza d'accordo", "molto d'accordo",
     "completamente d'accordo"),
    ("mai", "quasi mai", "raramente", "qualche volta", "a volte", "talvolta", "spesso",
     "molto spesso", "quasi sempre", "sempre"),
    ("per niente", "per nulla", "molto poco", "poco", "un po'", "moderatamente", "abbastanza",
     "molto", "moltissimo", "estremamente"),
    # Portuguese.
    ("discordo totalmente", "discordo completamente", "discordo fortemente", "discordo",
     "discordo parcialmente", "não concordo nem discordo", "nem concordo nem discordo",
     "neutro", "concordo parcialmente", "concordo", "concordo fortemente",
     "concordo completamente", "concordo totalmente"),
    ("nunca", "quase nunca", "raramente", "às vezes", "por vezes", "algumas vezes",
     "frequentemente", "muitas vezes", "quase sempre", "sempre"),
    ("nada", "muito pouco", "pouco", "um pouco", "moderadamente", "bastante", "muito",
     "muitíssimo", "extremamente"),
    # Dutch.
    ("helemaal mee oneens", "zeer mee oneens", "sterk mee oneens", "mee oneens",
     "enigszins mee oneens", "neutraal", "enigszins mee eens", "mee eens", "sterk mee eens",
     "zeer mee eens", "helemaal mee eens"),
    ("helemaal oneens", "oneens", "neutraal", "eens", "helemaal eens"),
    ("nooit", "bijna nooit", "zelden", "af en toe", "soms", "vaak", "zeer vaak", "heel vaak",
     "bijna altijd", "altijd"),
    ("helemaal niet", "nauwelijks", "heel weinig", "weinig", "een beetje", "enigszins", "matig",
     "tamelijk", "vrij veel", "veel", "erg", "zeer", "heel veel", "heel erg", "extreem"),
    # Polish.
    ("zdecydowanie się nie zgadzam", "zdecydowanie nie zgadzam się", "nie zgadzam się",
     "raczej się nie zgadzam", "raczej nie zgadzam się", "raczej się zgadzam",
     "raczej zgadzam się", "zgadzam się", "zdecydowanie się zgadzam",
     "zdecydowanie zgadzam się"),
    ("nigdy", "prawie nigdy", "rzadko", "czasami", "czasem", "często", "bardzo często",
     "prawie zawsze", "zawsze"),
    ("wcale", "w ogóle nie", "trochę", "umiarkowanie", "bardzo", "niezwykle"),
    # Japanese.
    ("全く感じない", "ほとんど感じない", "あまり感じない", "どちらともいえない", "少し感じる",
     "やや感じる", "かなり感じる", "とても感じる", "非常に感じる"),
    ("全くそう思わない", "そう思わない", "あまりそう思わない", "どちらともいえない",
     "ややそう思う", "そう思う", "とてもそう思う", "強くそう思う"),
    ("全くない", "ほとんどない", "たまに", "ときどき", "しばしば", "いつも"),
    # Chinese.
    ("完全没有", "几乎没有", "有一点", "有点", "一般", "中等", "比较强", "较强", "很强", "非常强"),
    ("非常不同意", "不同意", "比较不同意", "有点不同意", "一般", "中立", "有点同意", "比较同意",
     "同意", "非常同意"),
    ("从不", "很少", "有时", "经常", "总是"),
)  # fmt: skip
"""Common wordings of response scales, each from low to high; not all on one scale at a time."""

_LADDERS = tuple(tuple(map(folded, wording)) for wording in _WORDINGS)

_NO_ANSWER = {
    *("prefer not to answer", "prefer not to say", "i prefer not to answer"),
    *("i prefer not to say", "rather not say", "i'd rather not say", "no answer", "not answered"),
    *("no response", "don't know", "i don't know", "do not know", "not applicable", "n.a."),
    *("no opinion", "refused", "declined to answer"),
    *("k.a.", "k. a.", "ka", "keine angabe", "keine angaben", "keine antwort", "weiss nicht"),
    *("weiss ich nicht", "ich weiss nicht", "nicht beantwortet"),
    *("möchte ich nicht beantworten", "möchte ich nicht sagen"),
    *("ne sais pas", "je ne sais pas", "sans réponse", "pas de réponse", "sans opinion"),
    *("ne se prononce pas", "je préfère ne pas répondre", "préfère ne pas répondre"),
    *("no sabe", "no sé", "no lo sé", "no contesta", "ns/nc", "sin respuesta"),
    *("prefiero no contestar", "prefiero no responder", "no aplica"),
    *("non so", "non lo so", "non risponde", "nessuna risposta", "preferisco non rispondere"),
    *("não sei", "não sabe", "sem resposta", "prefiro não responder", "não se aplica"),
    *("weet niet", "weet ik niet", "geen antwoord", "zeg ik liever niet", "n.v.t."),
    *("niet van toepassing", "nie wiem", "brak odpowiedzi", "odmowa odpowiedzi"),
    *("wolę nie odpowiadać", "nie dotyczy"),
}
"""What stands for no answer beside numbers, or beside words that have an order."""
_NUMBERED = re.compile(r"\d+\s*[-–—=:.)]\s*|\s*\(\d+\)$")
"""A number in front of a word, or behind it."""


def in_order(words: Iterable[str], *, least: int = 2) -> tuple[str, ...]:
    """Put words of agreement, frequency or degree in order, from low to high.

    What all have in common at their end, as in *slightly sad* and *very sad*, is left aside, and
    so are numbers beside them. Nothing is given where they do not all belong to one wording, or
    are fewer than `least`.

    Examples
    --------
    >>> in_order(["Very sad", "Not at all sad", "Slightly sad"])
    ('Not at all sad', 'Slightly sad', 'Very sad')
    >>> in_order(["joy", "fear"])
    ()
    """
    given = list(words)
    plain = {_plain(word): word for word in given}
    if len(given) < least or len(plain) < len(given):
        return ()
    shared = _shared_end(plain)
    for end in ("", shared) if shared else ("",):
        short = {word.removesuffix(end): own for word, own in plain.items()}
        for ladder in _LADDERS:
            if short.keys() <= {*ladder} and not short.keys() <= _BARE:
                return tuple(short[word] for word in ladder if word in short)
    return ()


def is_no_answer(word: str) -> bool:
    """Whether a word stands for no answer beside numbers or words that have an order."""
    return _plain(word) in _NO_ANSWER


def read_words(
    columns: Mapping[str, pl.Series], known: DeclaredScales
) -> tuple[Mapping[str, pl.Series], DeclaredScales, History]:
    """Read answers in words that have an order, and words for no answer beside such or numbers.

    Parameters
    ----------
    columns
        Columns under the names of a table of ratings.
    known
        Scales that are declared. Answers on these are looked at for words for no answer, unless
        the scale is of categories; those to other labels for words in order, too.

    Returns
    -------
    tuple
        The columns, without words for no answer; the scales, with those of the words; and steps
        for the history.
    """
    value = columns.get("value")
    if value is None or not isinstance(value.dtype, pl.String | pl.Categorical | pl.Enum):
        return columns, known, ()
    text = value.cast(pl.String)
    given = pl.DataFrame({"word": text.str.strip_chars()}).select(
        columns["label"].cast(pl.String).alias("label")
        if "label" in columns
        else pl.lit("").alias("label"),
        "word",
    )
    words: dict[str, set[str]] = {}
    gone: dict[str, set[str]] = {}
    for label, word in given.drop_nulls().unique(maintain_order=True).iter_rows():
        declared = known.by_label.get(label, known.default)
        if declared is None and word.casefold() not in MISSING:
            words.setdefault(label, set()).add(word)
        if declared is None or declared.kind in ("nominal", "text"):
            continue
        if is_no_answer(word) and word not in declared.categories:
            gone.setdefault(label, set()).add(word)
    answers = {label: {w for w in own if not is_no_answer(w)} for label, own in words.items()}
    numbers = [label for label, own in answers.items() if own and all(map(is_number, own))]
    scales: dict[str, Scale] = {}
    steps = []
    for labels in _sharing({label: own for label, own in answers.items() if label not in numbers}):
        spelling = {folded(word): word for one in labels for word in sorted(answers[one])}
        order = in_order(spelling.values(), least=_LEAST)
        if order:
            scales |= dict.fromkeys(labels, replace(Scale.ordinal(order), declared=False))
            steps.append(guess(StepKind.ORDERED_WORDS, words=order))
    gone |= {label: words[label] - answers[label] for label in (*numbers, *scales)}
    if any(gone.values()):
        pairs = [(label, word) for label, own in gone.items() for word in own]
        none = pl.DataFrame(pairs, ["label", "word"], orient="row").with_columns(none=True)
        is_none = given.join(none, on=["label", "word"], how="left", maintain_order="left")["none"]
        columns = {**columns, "value": text.set(is_none.fill_null(value=False), None)}
        said, n = sorted({word for _, word in pairs}), int(is_none.sum() or 0)
        steps.append(guess(StepKind.NO_ANSWER_WORDS, words=said, n=n))
    if "label" in columns:
        known = replace(known, by_label={**scales, **known.by_label})
    elif scales:
        known = replace(known, default=next(iter(scales.values())))
    return columns, known, tuple(dict.fromkeys(steps))


def _sharing(words: Mapping[str, set[str]]) -> list[list[str]]:
    """Put labels together whose answers are one wording, else those that share a word."""
    every = {folded(word): word for own in words.values() for word in own}
    if in_order(every.values(), least=_LEAST):
        return [list(words)]
    groups: list[tuple[list[str], set[str]]] = []
    for label, own in words.items():
        mine = set(map(folded, own))
        near = [group for group in groups if group[1] & mine]
        groups = [group for group in groups if group not in near]
        labels = [one for group in near for one in group[0]]
        groups.append(([*labels, label], mine.union(*(group[1] for group in near))))
    return [labels for labels, _ in groups]


@cache
def _plain(word: str) -> str:
    return _NUMBERED.sub("", folded(word).replace("’", "'"), count=1)


def _shared_end(words: Collection[str]) -> str:
    """Give the words with which all end, with the space before them."""
    split = [word.split(" ") for word in words]
    n = 0
    while all(len(one) > n + 1 for one in split) and len({one[-1 - n] for one in split}) == 1:
        n += 1
    return "".join(f" {word}" for word in split[0][len(split[0]) - n :]) if n else ""
