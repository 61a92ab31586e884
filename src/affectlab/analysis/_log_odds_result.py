"""How often words go with labels, and what follows from the counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from scipy.special import ndtri

from affectlab._types import Bools, Floats, Ints, by_name
from affectlab._words import count, shown
from affectlab.analysis._membership import Membership
from affectlab.analysis._tokens import Tokens
from affectlab.analysis._word_counts import corrected, counts_of, texts_with
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimates

if TYPE_CHECKING:
    from affectlab._terminal import Table
else:
    Table = by_name("affectlab._terminal", "Table")

__all__ = ["LogOdds"]

Rule = Literal["z", "holm", "bh"]
"""How words are kept: by z, or by a corrected p-value."""


@dataclass(frozen=True, repr=False, eq=False)
class LogOdds:
    """Log odds of W words for L labels, with the counts they rest on."""

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
    status: tuple[str, ...]
    """``ok``, or why the label has no values, shape (L,)."""
    method: str
    """How texts were cut into words and labels matched, in words."""
    confidence: float
    _tokens: Tokens
    _members: Membership
    _repeated: bool

    @classmethod
    def from_members(
        cls,
        tokens: Tokens,
        members: Membership,
        n_labels: int,
        method: str,
        confidence: float,
        *,
        repeated: bool,
    ) -> LogOdds:
        """Count words, for the first ``n_labels`` of the labels."""
        counts, total = counts_of(tokens, members, n_labels)
        n_texts = texts_with(members, n_labels)
        n_all = int(members.weight.sum())
        inside = counts.sum(axis=1)
        n_words = int(total.sum())
        status = np.where(n_texts == 0, "undefined: no text has the label", "ok")
        status = np.where(n_texts == n_all, "undefined: all texts have the label", status)
        one_side = (inside == 0) | (inside == n_words)
        status = np.where(one_side & (status == "ok"), "undefined: no words on one side", status)
        status = np.where((total == n_words).any(), "undefined: only one word", status)
        return cls(
            members.labels[:n_labels],
            tokens.words,
            counts,
            total,
            n_texts,
            n_all,
            tuple(map(str, status)),
            method,
            confidence,
            tokens,
            members,
            repeated,
        )

    @cached_property
    def delta(self) -> Floats:
        """Log odds ratio of each word, shape (L, W); ``nan`` where there is none."""
        return self._scores[0]

    @cached_property
    def z(self) -> Floats:
        """``delta`` over its standard error, shape (L, W)."""
        return self._scores[1]

    @cached_property
    def _scores(self) -> tuple[Floats, Floats]:
        from affectlab._compiled import in_threads
        from affectlab.analysis._kernels import score_words

        delta = np.full(self.count.shape, np.nan)
        z = np.full(self.count.shape, np.nan)

        def one(label: int) -> None:
            score_words(self.count[label], self.total, delta[label], z[label])

        in_threads(one, [k for k, word in enumerate(self.status) if word == "ok"])
        return delta, z

    @property
    def null_sd(self) -> Floats:
        """Standard deviation of z for a word used alike with and without the label, shape (L,)."""
        s = self.count.sum(axis=1) / max(int(self.total.sum()), 1)
        return np.asarray(np.sqrt(3 * s * (1 - s) / ((1 + s) * (2 - s))))

    @cached_property
    def p(self) -> Floats:
        """Chance of so many texts with word and label, were the two unrelated, shape (L, W).

        Of the D texts with the word, d have the label, which the share s of all texts has: the
        probability of d or more under a binomial distribution of D and s, in which each text counts
        once however often it repeats the word. ``nan`` with ``paper_compat`` of ratings, whose
        repeated texts are not independent.
        """
        from scipy.special import betainc

        found = np.full(self.count.shape, np.nan)
        if self._repeated:
            return found
        with_label, texts = counts_of(self._tokens, self._members, len(self.labels), once=True)
        for k, share in enumerate(self.n_texts / self.n_all):
            if self.status[k] == "ok":
                d = with_label[k]
                found[k] = np.where(
                    d > 0, betainc(np.maximum(d, 1), np.maximum(texts - d + 1, 1), share), 1.0
                )
        found[:, texts == 0] = np.nan
        return found

    @cached_property
    def p_holm(self) -> Floats:
        """The p-values corrected after Holm for all words of all labels, shape (L, W)."""
        return corrected(self.p, "holm")

    @cached_property
    def p_bh(self) -> Floats:
        """The p-values corrected after Benjamini and Hochberg in the same way, shape (L, W)."""
        return corrected(self.p, "bh")

    def kept(self, rule: Rule = "z", *, min_z: float = 3.0, level: float = 0.05) -> Bools:
        """Say which words go with which labels, shape (L, W).

        Parameters
        ----------
        rule
            ``"z"``: z is at least `min_z`, as in the paper; ``"holm"`` or ``"bh"``: the corrected
            p-value (see :attr:`p`) is at most `level`.
        """
        if rule == "z":
            return np.asarray(self.z >= min_z)
        if rule not in ("holm", "bh"):
            raise unknown_name("rule", rule, ("z", "holm", "bh"))
        if self._repeated:
            raise InputError(f"rule {rule!r}: texts that count once per rater have no p-values")
        # A word that is rarer with the label than without can have a small p by rounding only.
        return np.asarray(((self.p_holm if rule == "holm" else self.p_bh) <= level) & (self.z > 0))

    def top(
        self,
        label: str,
        n: int | None = 10,
        *,
        rule: Rule = "z",
        min_z: float = 3.0,
        level: float = 0.05,
    ) -> pl.DataFrame:
        """Give the words that go with one label, as :meth:`to_frame` gives those of all."""
        if label not in self.labels:
            raise unknown_name("label", label, self.labels)
        kept = self.kept(rule, min_z=min_z, level=level)
        return self._rows([self.labels.index(label)], n, kept, rule)

    def to_frame(
        self,
        n: int | None = None,
        *,
        rule: Rule = "z",
        min_z: float = 3.0,
        level: float = 0.05,
    ) -> pl.DataFrame:
        """Give the words that go with each label; highest z first, or smallest p with such a rule.

        A label without values has one row without a word, with its status.

        Parameters
        ----------
        n
            Most words per label; None: all.
        rule, min_z, level
            Which words are given; see :meth:`kept`.

        Returns
        -------
        polars.DataFrame
            ``label``, ``word``; the columns of every estimate, where ``value`` is the log odds
            ratio with a normal interval, and ``n_items`` the texts with the label; ``z``; ``p``,
            ``p_holm`` and ``p_bh`` (see :attr:`p`); ``count``, uses of the word with the label, and
            ``share``, these over all words with the label.
        """
        kept = self.kept(rule, min_z=min_z, level=level)
        return self._rows(range(len(self.labels)), n, kept, rule)

    def _rows(self, labels: Iterable[int], n: int | None, kept: Bools, rule: Rule) -> pl.DataFrame:
        label, word = [], []
        for k in labels:
            if self.status[k] != "ok":
                label.append(np.array([k]))
                word.append(np.array([-1]))
                continue
            found = np.flatnonzero(kept[k])
            # Equal ones: in the order of the alphabet, whatever the order of the texts.
            by_name = np.array([self.words[w] for w in found], dtype=str)
            first = -self.z[k][found] if rule == "z" else self.p[k][found]
            found = found[np.lexsort((by_name, -self.z[k][found], first))][:n]
            label.append(np.full(found.size, k))
            word.append(found)
        at = np.concatenate(label) if label else np.empty(0, dtype=np.int64)
        of = np.concatenate(word).astype(np.int64) if word else at
        values = self._values(at, of)
        names = [self.words[w] if w >= 0 else "" for w in of]
        table = Estimates.build(
            {"label": [self.labels[k] for k in at], "word": names},
            value=values["delta"],
            se=values["se"],
            low=values["delta"] - ndtri((1 + self.confidence) / 2) * values["se"],
            high=values["delta"] + ndtri((1 + self.confidence) / 2) * values["se"],
            method=f"log odds, informative Dirichlet prior; {self.method}",
            n_items=self.n_texts[at],
            n_ratings=self.n_all,
            status=[self.status[k] for k in at],
        )
        extra = [pl.Series(name, values[name]) for name in ("z", "p", "p_holm", "p_bh")]
        extra += [pl.Series("count", values["count"].astype(np.int64))]
        extra += [pl.Series("share", values["share"])]
        return table.to_frame().with_columns(extra)

    def _values(self, label: Ints, word: Ints) -> dict[str, Floats]:
        """Values of some words for some labels; ``nan`` where there is no word."""
        there = word >= 0
        at = np.where(there, word, 0)
        values: dict[str, Floats] = {}
        for name in ("delta", "z", "p", "p_holm", "p_bh"):
            values[name] = np.where(there, getattr(self, name)[label, at], np.nan)
        uses = (self.count[label, at] * there).astype(np.float64)
        with_label = np.maximum(self.count[label, at] + self.total[at], 1)
        without = np.maximum(2 * self.total[at] - self.count[label, at], 1)
        values["se"] = np.where(there, np.sqrt(1 / with_label + 1 / without), np.nan)
        values["count"] = uses
        inside = self.count.sum(axis=1)[label]
        values["share"] = np.divide(
            uses, inside, out=np.full(uses.shape, np.nan), where=there & (inside > 0)
        )
        return values

    def __repr__(self) -> str:
        return (
            f"LogOdds({len(self.labels)} labels, {len(self.words):,} words, {self.n_all:,} texts)"
        )

    def __rich__(self) -> Table:
        return self.table()

    def table(
        self, n: int = 5, *, rule: Rule = "z", min_z: float = 3.0, level: float = 0.05
    ) -> Table:
        """Write one row per label with its first n words, to be printed with rich."""
        from rich.text import Text

        from affectlab._terminal import Table

        kept = self.kept(rule, min_z=min_z, level=level)
        table = Table(box=None, header_style="bold")
        table.add_column("label")
        table.add_column("texts", justify="right")
        table.add_column("words", justify="right")
        table.add_column("first words (z)")
        for k, name in enumerate(self.labels):
            known = self.status[k] == "ok"
            rows = self._rows([k], n, kept, rule).iter_rows(named=True) if known else ()
            words = ", ".join(f"{shown(row['word'], 20)} ({row['z']:.1f})" for row in rows)
            table.add_row(
                Text(shown(name, 30)),
                count(self.n_texts[k]),
                count(kept[k].sum()) if known else "–",
                Text(words if known else self.status[k]),
            )
        return table
