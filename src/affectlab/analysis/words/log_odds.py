"""Which words go with which label: log odds with an informative Dirichlet prior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.special import ndtri

from affectlab.analysis.profiles import profiles_of, texts_of
from affectlab.analysis.words import wording
from affectlab.analysis.words.tokens import Tokenizer, Tokens, tokenize
from affectlab.analysis.words.wording import Criterion
from affectlab.core.errors import InputError, check_choice, check_number, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import benjamini_hochberg, check_confidence, holm
from affectlab.core.result import Result
from affectlab.core.tables import (
    Count,
    Figure,
    Interval,
    Key,
    Number,
    PValue,
    Share,
    Table,
    Text,
    Value,
)
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.wording import undefined_text
from affectlab.core.words import shown
from affectlab.ratings import Ratings, people_or_all

# Which labels each text has.


@dataclass(frozen=True)
class Membership:
    """Which labels each of n texts has."""

    labels: tuple[str, ...]
    table: Bools
    """Whether each text has each label, shape (n, L)."""
    text: Ints
    """Row of each text, shape (n,)."""
    weight: Ints
    """How often each text counts, shape (n,)."""
    rule: str = "each text once"

    @classmethod
    def of_table(cls, table: Bools, labels: tuple[str, ...], **more: Any) -> Membership:
        """Read an array of shape (texts, labels)."""
        n = table.shape[0]
        return cls(labels, table, np.arange(n), **{"weight": np.ones(n, dtype=np.int64), **more})

    @classmethod
    def of_sets(cls, sets: Sequence[Any]) -> Membership:
        """Read one label, or several, per text."""
        single = str in {*map(type, sets)}
        each = [(own,) if isinstance(own, str) else own for own in sets] if single else sets
        try:
            flat = list(chain.from_iterable(each))
            codes = {name: k for k, name in enumerate(dict.fromkeys(flat))}
            size = np.fromiter(map(len, each), dtype=np.int64, count=len(each))
        except TypeError:
            wrong = next(k for k, own in enumerate(each) if not _is_set(own))
            raise InputError(
                f"labels[{wrong}] is {sets[wrong]!r:.60}; expected a label or a list of labels"
            ) from None
        for name in codes:
            if not isinstance(name, str):
                raise InputError(f"label {name!r:.60}: expected a text")
        label = np.fromiter(map(codes.__getitem__, flat), dtype=np.int64, count=len(flat))
        table = np.zeros((len(each), len(codes)), dtype=np.bool_)
        table[np.repeat(np.arange(len(each)), size), label] = True
        return cls.of_table(table, tuple(codes))

    def ordered(self, names: Sequence[str] | None) -> Membership:
        """Keep these labels, in this order; a name that no text has is kept, too."""
        if names is None or tuple(names) == self.labels:
            return self
        if isinstance(names, str) or len(set(names)) != len(names):
            raise InputError("names: expected a list of different labels")
        order = tuple(dict.fromkeys([*names, *self.labels]))
        table = np.zeros((len(self.table), len(order)), dtype=np.bool_)
        table[:, [order.index(name) for name in self.labels]] = self.table
        return replace(self, labels=order, table=table)

    def by_substring(self) -> Membership:
        """Give a text with a label also every label whose name is part of that label's name."""
        n = len(self.labels)
        pairs = [[a in b for a in self.labels] for b in self.labels]
        contains = np.array(pairs, dtype=np.float32).reshape(n, n)
        return replace(self, table=self.table.astype(np.float32) @ contains > 0)

    def labelled(self) -> Membership:
        """Leave out texts without a label."""
        has = self.table.any(axis=1)
        return replace(self, table=self.table[has], text=self.text[has], weight=self.weight[has])


def _is_set(own: Any) -> bool:
    try:
        hash(next(iter(own), ""))
    except TypeError:
        return False
    return hasattr(own, "__len__")


# Counting words by label.


def counts_of(tokens: Tokens, members: Membership, ways: Sequence[bool]) -> list[tuple[Ints, Ints]]:
    """Count uses of each word with each label, and in all; where a way is True, of texts."""
    from affectlab.analysis.words.kernels import count_words
    from affectlab.core.compiled import in_threads

    n_words, n = len(tokens.words), members.text.size
    text = tokens.text[members.text]
    of_labels = np.nonzero(members.table)[1].astype(np.int64), np.cumsum(members.table.sum(axis=1))
    of_all = np.zeros(n, dtype=np.int64), np.arange(1, n + 1)

    def some(part: tuple[bool, tuple[Ints, Ints], Ints]) -> None:
        once, (label, end), out = part
        counted = tokens.first if once else np.empty(0, dtype=np.bool_)
        weight = np.ones_like(members.weight) if once else members.weight
        count_words(tokens.word, tokens.end, counted, text, label, end, weight, out)

    found = [
        (np.zeros((len(members.labels), n_words), np.int64), np.zeros((1, n_words), np.int64))
        for _ in ways
    ]
    parts = [
        (once, names, out)
        for once, outs in zip(ways, found, strict=True)
        for names, out in zip((of_labels, of_all), outs, strict=True)
    ]
    in_threads(some, parts)
    return [(counts, total[0]) for counts, total in found]


# How often words go with labels, and what follows from the counts.


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class LogOdds(Result):
    """Log odds of W words for L labels, with the counts they rest on; see :func:`log_odds`.

    The table has the words whose z is 3 or more; :meth:`kept_words` gives others.
    """

    labels: tuple[str, ...]
    words: tuple[str, ...]
    count: Ints
    """Times that each word is used in texts with the label, shape (L, W)."""
    total: Ints
    """Times that each word is used in all texts, shape (W,)."""
    n_texts: Ints
    """Texts with each label, shape (L,)."""
    n_all: int
    """Texts in all; with ``paper_compat`` of ratings, a text counts once per rater."""
    reasons: tuple[Reason | None, ...]
    """Why the label has no values, None where it has, shape (L,)."""
    method: str
    """How texts were cut into words and labels matched, in words."""
    confidence: float
    repeated: bool
    """Whether a text counts more than once, so that there are no p-values."""
    delta: Floats
    """Log odds ratio of each word, shape (L, W); ``nan`` where there is none."""
    z: Floats
    """``delta`` over its standard error, shape (L, W)."""
    p: Floats
    """Chance of so many texts with word and label, were the two unrelated, shape (L, W).

    Of the D texts with the word, d have the label, which the share s of all texts has: the
    probability of d or more under a binomial distribution of D and s, in which each text counts
    once however often it repeats the word. ``nan`` with ``paper_compat`` of ratings, whose
    repeated texts are not independent.
    """
    p_holm: Floats
    """The p-values corrected after Holm for all words of all labels, shape (L, W)."""
    p_bh: Floats
    """The p-values corrected after Benjamini and Hochberg in the same way, shape (L, W)."""

    @property
    def null_sd(self) -> Floats:
        """Standard deviation of z for a word used alike with and without the label, shape (L,)."""
        s = self.count.sum(axis=1) / max(int(self.total.sum()), 1)
        return np.asarray(np.sqrt(3 * s * (1 - s) / ((1 + s) * (2 - s))))

    def kept(self, criterion: Criterion = "z", *, min_z: float = 3.0, level: float = 0.05) -> Bools:
        """Say which words go with which labels, shape (L, W).

        Parameters
        ----------
        criterion
            ``"z"``: z is at least `min_z`, as in the paper; ``"holm"`` or ``"bh"``: the corrected
            p-value (see :attr:`p`) is at most `level`.
        """
        if criterion == "z":
            return np.asarray(self.z >= min_z)
        if criterion not in ("holm", "bh"):
            raise unknown_name("criterion", criterion, ("z", "holm", "bh"))
        if self.repeated:
            raise InputError(
                f"criterion {criterion!r}: texts that count once per rater have no p-values"
            )
        # A word that is rarer with the label than without can have a small p by rounding only.
        return np.asarray(
            ((self.p_holm if criterion == "holm" else self.p_bh) <= level) & (self.z > 0)
        )

    def top(
        self,
        label: str,
        n: int | None = 10,
        *,
        criterion: Criterion = "z",
        min_z: float = 3.0,
        level: float = 0.05,
    ) -> pl.DataFrame:
        """Give the words that go with one label, as :meth:`kept_words` gives those of all."""
        check_choice("label", label, self.labels)
        kept = self.kept(criterion, min_z=min_z, level=level)
        return self._rows([self.labels.index(label)], n, kept, criterion)

    def kept_words(
        self,
        n: int | None = None,
        *,
        criterion: Criterion = "z",
        min_z: float = 3.0,
        level: float = 0.05,
    ) -> pl.DataFrame:
        """Give the words that go with each label; highest z first, or smallest p.

        A label without values has one row without a word, with its reason.

        Parameters
        ----------
        n
            Most words per label; None: all.
        criterion, min_z, level
            Which words are given; see :meth:`kept`.

        Returns
        -------
        polars.DataFrame
            ``label``, ``word``; the columns of every estimate, where ``value`` is the log odds
            ratio with a normal interval, and ``n_items`` the texts with the label; ``z``; ``p``,
            ``p_holm`` and ``p_bh`` (see :attr:`p`); ``count``, uses of the word with the label, and
            ``share``, these over all words with the label.
        """
        kept = self.kept(criterion, min_z=min_z, level=level)
        return self._rows(range(len(self.labels)), n, kept, criterion)

    def _rows(
        self, labels: Iterable[int], n: int | None, kept: Bools, criterion: Criterion
    ) -> pl.DataFrame:
        at, of = [], []
        for k in labels:
            # A label without values has one row without a word.
            own = np.array([-1])
            if self.reasons[k] is None:
                own = np.flatnonzero(kept[k])
                # Equal ones: in the order of the alphabet, whatever the order of the texts.
                by_name = np.array([self.words[w] for w in own], dtype=str)
                first = -self.z[k][own] if criterion == "z" else self.p[k][own]
                own = own[np.lexsort((by_name, -self.z[k][own], first))][:n]
            at += [k] * own.size
            of += own.tolist()
        label, word = np.array(at, dtype=np.int64), np.array(of, dtype=np.int64)
        there, inside = word >= 0, self.count.sum(axis=1)[label]
        uses = self.count[label, word] * there
        # Where there is no word, the last one stands in, and what is said of it is left out.
        values = {
            name: np.where(there, getattr(self, name)[label, word], np.nan)
            for name in ("delta", "z", "p", "p_holm", "p_bh")
        }
        with_label = np.maximum(self.count[label, word] + self.total[word], 1)
        without = np.maximum(2 * self.total[word] - self.count[label, word], 1)
        se = np.where(there, np.sqrt(1 / with_label + 1 / without), np.nan)
        half = ndtri((1 + self.confidence) / 2) * se
        delta = values.pop("delta")
        table = Estimates.build(
            {
                "label": [self.labels[k] for k in at],
                "word": [self.words[w] if w >= 0 else "" for w in of],
            },
            value=delta,
            se=se,
            low=delta - half,
            high=delta + half,
            statistic=("log odds", "informative Dirichlet prior", self.method),
            n_items=self.n_texts[label],
            n_ratings=self.n_all,
            reason=[self.reasons[k] for k in at],
        )
        share = np.full(uses.shape, np.nan)
        np.divide(uses, inside, out=share, where=there & (inside > 0))
        return table.frame.with_columns(
            **{
                name: pl.Series(column)
                for name, column in {**values, "count": uses, "share": share}.items()
            }
        )

    def first_words(
        self, n: int = 5, *, criterion: Criterion = "z", min_z: float = 3.0, level: float = 0.05
    ) -> Table:
        """Give a table with a row per label: its texts, how many words go with it, the first n."""
        n_words = self.kept(criterion, min_z=min_z, level=level).sum(axis=1)
        first = self.kept_words(n, criterion=criterion, min_z=min_z, level=level)
        said: dict[str, list[str]] = {name: [] for name in self.labels}
        for label, word, z in first.select("label", "word", "z").iter_rows():
            said[label].append(f"{shown(word, 20)} ({z:.1f})")
        rows = [
            (name, int(texts), int(words), ", ".join(said[name]))
            if why is None
            else (name, int(texts), None, undefined_text(why))
            for name, texts, words, why in zip(
                self.labels, self.n_texts, n_words, self.reasons, strict=True
            )
        ]
        schema = dict(zip(("label", "n_texts", "n_words", "first"), _TYPES, strict=True))
        frame = pl.DataFrame(rows, schema, orient="row")
        return Table("first_words", f"{wording.EACH_LABEL}.", frame, _FIRST)


def _lack(texts: float, n_texts: int, words: int, n_words: int, *, one_word: bool) -> Reason | None:
    """Say why a label with so many of all texts and words has no values."""
    if one_word:
        return Reason(Cause.ONE_WORD)
    if texts == n_texts:
        return Reason(Cause.ALL_TEXTS_LABELLED)
    if texts == 0:
        return Reason(Cause.NONE, of="text with the label")
    return Reason(Cause.NONE, of="words on one side") if words in (0, n_words) else None


def _count_and_test(
    tokens: Tokens, members: Membership, n_labels: int, method: str, confidence: float
) -> LogOdds:
    """Compute the odds for the first ``n_labels`` of the labels; it shows no words yet."""
    from affectlab.analysis.words.kernels import score_words
    from affectlab.core.compiled import in_threads

    repeated = bool((members.weight != 1).any())
    (counts, total), *of_texts = counts_of(tokens, members, (False,) if repeated else (False, True))
    counts = counts[:n_labels]
    n_texts = np.array([members.weight[has].sum() for has in members.table.T[:n_labels]])
    n_all = int(members.weight.sum())
    inside = counts.sum(axis=1)
    n_words = int(total.sum())
    one_word = bool((total == n_words).any())
    reasons = [
        _lack(texts, n_all, words, n_words, one_word=one_word)
        for texts, words in zip(n_texts.tolist(), inside.tolist(), strict=True)
    ]
    known = [k for k, why in enumerate(reasons) if why is None]
    delta, z, p = (np.full(counts.shape, np.nan) for _ in range(3))

    def one(k: int) -> None:
        score_words(counts[k], total, delta[k], z[k])
        for with_label, texts in of_texts:
            p[k] = _chance(with_label[k], texts, float(n_texts[k] / n_all))

    in_threads(one, known)
    return LogOdds(
        (Table("words", "", pl.DataFrame(), _WORDS),),
        notes=(method,),
        labels=members.labels[:n_labels],
        words=tokens.words,
        count=counts,
        total=total,
        n_texts=n_texts,
        n_all=n_all,
        reasons=tuple(reasons),
        method=method,
        confidence=confidence,
        repeated=repeated,
        delta=delta,
        z=z,
        p=p,
        p_holm=holm(p.ravel()).reshape(p.shape),
        p_bh=benjamini_hochberg(p.ravel()).reshape(p.shape),
    )


def _shown(
    odds: LogOdds,
    criterion: Criterion,
    min_z: float,
    label: str | None,
    top: int | None,
    polarity: Mapping[str, str | None],
) -> LogOdds:
    """Show the words of all labels and the first of each, or the words of one label."""
    if label is None:
        frame = odds.kept_words(criterion=criterion, min_z=min_z)
    else:
        frame = odds.top(label, None, criterion=criterion, min_z=min_z)
    which = wording.criterion_text(criterion, min_z)
    sentences = [wording.odds_text(len(odds.labels), len(odds.words), odds.n_all, which)]
    tables: tuple[Table, ...]
    if label is None:
        labels = list(odds.labels)
        words = Table("words", f"Words with {which}.", frame, _WORDS, limit=0)
        tables = (words, odds.first_words(top or 5, criterion=criterion, min_z=min_z))
        title = wording.EACH_LABEL
    else:
        labels, at = [label], odds.labels.index(label)
        caption = f"{wording.words_of(label)}."
        tables = (Table("words", caption, frame, _WORDS[1:], limit=top or 10),)
        title = f"Words of {label}"
        sentences.insert(0, wording.of_label(label, int(odds.n_texts[at]), which))
    groups = {name: polarity.get(name) for name in labels}
    options = {
        "labels": labels,
        "n": 5 if len(labels) > 1 else 15,
        "groups": groups if all(groups.values()) else None,
    }
    figure = Figure("words", "first_words", "words", title, options=options)
    settings = {"method": odds.method, "n_texts": odds.n_all, "n_words": len(odds.words)}
    return replace(
        odds, tables=tables, sentences=tuple(sentences), figures=(figure,), settings=settings
    )


_TYPES = (pl.String, pl.Int64, pl.Int64, pl.String)
_FIRST = (Key("label"), Count("n_texts"), Count("n_words"), Text("first", "first words (z)"))
_WORDS = (
    Key("label"),
    Key("word"),
    Number("z"),
    Value(head="log odds"),
    Interval(),
    PValue("p_holm", "p after Holm"),
    Count("count"),
    Share("share", decimals=2),
)


def _chance(with_label: Ints, texts: Ints, share: float) -> Floats:
    """Give the chance of so many texts with each word and a label that has this share."""
    from scipy.special import betainc

    chance = np.where(texts == 0, np.nan, 1.0)
    used = np.flatnonzero(with_label)
    d = with_label[used]
    chance[used] = betainc(d, texts[used] - d + 1, share)
    return chance


def log_odds(
    texts: Ratings | Tokens | Sequence[str],
    labels: Iterable[str | Iterable[str]] | ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    min_raters: int | None = None,
    keep_unlabelled: bool = False,
    tokenizer: Tokenizer | None = None,
    paper_compat: bool = False,
    text: str = "text",
    confidence: float = 0.95,
    criterion: Criterion = "z",
    min_z: float = 3.0,
    label: str | None = None,
    top: int | None = None,
) -> LogOdds:
    r"""Find the words that go with each label: log odds with a Dirichlet prior.

    For word w, used :math:`y_1` times in the texts with the label and :math:`y_2` times in the
    others, of :math:`n_1` and :math:`n_2` words in all, with the prior :math:`a_w = y_1 + y_2` and
    :math:`a_0 = \sum_w a_w`,

    .. math::

        \delta_w &= \ln \frac{y_1 + a_w}{n_1 + a_0 - y_1 - a_w}
                  - \ln \frac{y_2 + a_w}{n_2 + a_0 - y_2 - a_w}, \\
        z_w &= \delta_w \Big/ \sqrt{\tfrac{1}{y_1 + a_w} + \tfrac{1}{y_2 + a_w}},

    and words with :math:`z \ge 3` are the correlates of the label.

    Parameters
    ----------
    texts
        Texts; or :class:`Tokens` from :func:`tokenize`; or ratings whose stimuli have a `text`.
    labels
        One label or a set of labels per text, or an array of 0 and 1 of shape (texts, labels) with
        `names`. None for ratings.
    names
        The labels to look at, in this order. None: all that occur, in order of first use.
    min_raters
        Raters who must have chosen a label of a stimulus for it to count; at least half of those
        who answered when not given.
    keep_unlabelled
        Take texts without any label as texts without the label. Otherwise, as a contrast with the
        other labels, they are left out and counted.
    tokenizer
        Takes a text and gives its words. None: see :func:`tokenize`.
    paper_compat
        Count as the published table of GoEmotions was.

        Three things differ. Labels are matched
        by substring, so a text with *disapproval* counts for *approval* too. For ratings, a text
        counts once for each of its raters (with the labels that two of them agreed on, or one
        where no text has two raters), which multiplies all counts, and so inflates z by the root
        of that number. Words of one and two characters are dropped, and so are the parts of *n't*.
        None of these is a property of the language of emotions, so this is not the default.
        Texts without a label stay in, as they did in the paper.
    text
        Column of the stimuli that holds the texts, for ratings.
    confidence
        Coverage of the intervals of the log odds ratio.
    criterion
        Which words the tables have: by z (see `min_z`), or by a corrected p-value up to 0.05.
    min_z
        Lowest z of a word.
    label
        Give the words of this label only, in full.
    top
        Words shown per label; 5, or 10 of one label, when not given.

    Returns
    -------
    LogOdds
        A label that is never used, or that all texts have, is ``nan`` with a status.

        ``top(label, n)`` and ``kept_words(n)`` give tables of words, ``kept(criterion)`` which
        words go with which labels; ``delta``, ``z``, ``p``, ``p_holm``, ``p_bh`` and
        ``count`` have the shape (labels, words), ``null_sd`` the shape (labels,).

    Raises
    ------
    InputError
        If the ratings have no texts, or labels and texts do not fit together.

    Notes
    -----
    The prior is as large as the data, which pulls z to zero; the rarer the label, the more. Were a
    word used alike with and without a label that holds the share s of all words, z would have the
    standard deviation :math:`\sqrt{3 s (1 - s) / ((1 + s)(2 - s))}`: at most .58, and .12 at
    s = 1 %. So :math:`z \ge 3` is a stricter rule for a rare label than for a frequent one;
    ``null_sd`` gives the number. The p-values of :attr:`LogOdds.p` do not rest on z.

    References
    ----------
    Monroe, Colaresi and Quinn (2008), Fightin' Words. Demszky et al. (2020), GoEmotions,
    section 4.4 and table 3.

    Examples
    --------
    >>> texts = ["so happy today", "happy happy birthday", "afraid of today", "so afraid"]
    >>> found = log_odds(texts, ["joy", "joy", "fear", "fear"])
    >>> found.top("joy", n=1, min_z=0)["word"].to_list()
    ['happy']
    """
    check_confidence(confidence)
    if top is not None:
        check_number("top", top, 1, whole=True)
    if isinstance(texts, Ratings):
        if labels is not None:
            raise InputError("labels: ratings name their own; expected None")
        tokens, given = _of_ratings(texts, min_raters, tokenizer, paper_compat, text)
    else:
        if labels is None:
            raise InputError("labels: expected one set of labels per text")
        if min_raters is not None:
            raise InputError("min_raters is for ratings; these texts come with their labels")
        tokens = _tokens(texts, tokenizer, paper_compat)
        given = _membership(labels, names, len(tokens))
    given = given.ordered(names)
    if paper_compat:
        given = given.by_substring()
    n_unlabelled = int((~given.table.any(axis=1)).sum())
    kept = keep_unlabelled or paper_compat
    if not kept and n_unlabelled:
        given = given.labelled()
    if given.text.size == 0:
        raise InputError("no text has a label; expected at least one")
    if given.text.size and not len(tokens.words):
        raise InputError("the texts hold no words; expected at least one")
    words = [tokens.rule, given.rule]
    if paper_compat:
        words.append(wording.BY_SUBSTRING)
    if not kept and n_unlabelled:
        words.append(wording.unlabelled(n_unlabelled))
    n_labels = len(given.labels) if names is None else len(names)
    if label is not None and label not in given.labels[:n_labels]:
        raise unknown_name("label", label, given.labels[:n_labels])
    odds = _count_and_test(tokens, given, n_labels, "; ".join(words), confidence)
    taxonomy = texts.taxonomy if isinstance(texts, Ratings) else None
    return _shown(odds, criterion, min_z, label, top, {} if taxonomy is None else taxonomy.polarity)


def _tokens(
    texts: Tokens | Sequence[str], tokenizer: Tokenizer | None, paper_compat: bool
) -> Tokens:
    if isinstance(texts, Tokens):
        if tokenizer is not None:
            raise InputError("tokenizer: the texts are cut into words already; expected None")
        return texts
    return tokenize(texts, tokenizer, paper_compat=paper_compat)


def _of_ratings(
    ratings: Ratings,
    min_raters: int | None,
    tokenizer: Tokenizer | None,
    paper_compat: bool,
    column: str,
) -> tuple[Tokens, Membership]:
    """Texts of the stimuli, the labels chosen for each, and how often each counts."""
    people = people_or_all(ratings)
    texts = texts_of(people, column)
    if min_raters is not None:
        check_number("min_raters", min_raters, 1, whole=True)
    profiles = profiles_of(people)
    if paper_compat and min_raters is None:
        min_raters = min(2, int(profiles.raters.max()))
    chosen = profiles.chosen_by(min_raters)
    at = {name: k for k, name in enumerate(people.stimulus_names)}
    stimulus = np.fromiter((at[name] for name in profiles.stimuli), np.int64)
    tokens = tokenize([texts[k] for k in stimulus], tokenizer, paper_compat=paper_compat)
    rule = wording.labels_rule(min_raters, profiles.rule)
    if paper_compat:
        rule += f", {wording.ONCE_PER_RATER}"
    more = {"weight": _rows_per_stimulus(people)[stimulus]} if paper_compat else {}
    return tokens, Membership.of_table(chosen, profiles.labels, rule=rule, **more)


def _rows_per_stimulus(ratings: Ratings) -> Ints:
    """Raters of each stimulus, those without a usable answer included."""
    n = ratings.n_raters
    pair = np.unique(ratings.stimulus_code.astype(np.int64) * n + ratings.rater_code)
    return np.bincount(pair // n, minlength=ratings.n_stimuli).astype(np.int64)


def _membership(labels: Any, names: Sequence[str] | None, n: int) -> Membership:
    """Read one label, a set of labels, or a row of 0 and 1 per text."""
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        if labels.shape[0] != n:
            raise InputError(f"labels: expected {n} rows, one per text, got {labels.shape[0]}")
        if names is None or len(names) != labels.shape[1] or len(set(names)) != len(names):
            raise InputError(f"names: expected the names of the {labels.shape[1]} columns")
        if not np.isin(labels, (0, 1)).all():
            raise InputError("labels: expected an array of 0 and 1")
        return Membership.of_table(labels == 1, tuple(names))
    if isinstance(labels, str):
        raise InputError("labels: expected one set of labels per text, not one text")
    sets = labels.to_list() if hasattr(labels, "to_list") else list(labels)
    if len(sets) != n:
        raise InputError(f"labels: expected {n} sets, one per text, got {len(sets)}")
    return Membership.of_sets(sets)
