"""Reactions after the checks: personal data masked, careless people left out, words together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from affectlab.recipes._socratis_findings import cleaned
from affectlab.recipes._socratis_people import People

if TYPE_CHECKING:
    from affectlab.analysis.reactions import EmotionWords
    from affectlab.ratings import Ratings

__all__ = ["Checked", "checked_reactions"]

_COPIES = 0.5
"""A person of whose reasons more are copies of captions, or of their own, is left out."""
_PHRASES = 0.3
"""Or of whose reasons more speak as a machine does."""


@dataclass(frozen=True, eq=False)
class Checked:
    """Reactions that are used."""

    ratings: Ratings
    table: pl.DataFrame
    """Of :func:`affectlab.analysis.reactions.reaction_table`, with ``word``."""
    words: EmotionWords
    meant: dict[str, str]
    """Emotion of the grammar that most people mean by a word."""
    notes: tuple[str, ...]

    def reactions(self, pairs: Collection[str]) -> Ratings:
        """Give the reactions to some pairs as ratings whose emotions are the words."""
        from affectlab.ratings import Ratings

        own = self.table.filter(pl.col("stimulus").is_in(list(pairs)))
        columns = own.select(
            "stimulus", "rater", pl.col("word").alias("emotion"), "text"
        ).with_columns(pl.int_range(pl.len()).over("stimulus", "rater").alias("trial"))
        return Ratings(
            columns, scale="text", stimuli=self.ratings.stimuli, source="reactions of people"
        )


def checked_reactions(people: People) -> Checked:
    """Mask personal data, leave out people who did not write themselves, and join words."""
    from affectlab.analysis.reactions import machine_signs, near_copies, popular_emotions
    from affectlab.stimuli.privacy import scrub_ratings

    clean, masked = scrub_ratings(people.reactions)
    raw, _ = cleaned(clean)
    texts, raters = raw["text"].to_list(), raw["rater"].to_list()
    copies = near_copies(
        texts, raters, raw["stimulus"].to_list(), captions=raw["caption"].to_list()
    )
    signs = machine_signs(texts, raters)
    own = copies.rows.filter(kind="same person")["row"].to_list()
    refused = _above(raters, own, _COPIES) | _above(
        raters, copies.captions["row"].to_list(), _COPIES
    )
    refused |= _above(raters, signs.reactions["row"].unique().to_list(), _PHRASES)
    kept = clean.where(~pl.col("rater").cast(pl.String).is_in(sorted(refused)))
    table, words = cleaned(kept)
    meant: dict[str, Counter[str]] = {}
    for word, said in zip(table["word"], kept.frame["meant"], strict=True):
        meant.setdefault(word, Counter())[said] += 1
    popular = popular_emotions(
        table["stimulus"].to_list(), table["rater"].to_list(), table["word"].to_list()
    ).answers
    found = set(people.careless) & refused
    counts = masked["text"].counts.filter(pl.col("n_found") > 0)
    told = ", ".join(f"{kind} ({n:,})" for kind, n, _ in counts.iter_rows())
    return Checked(
        kept,
        table,
        words,
        {word: said.most_common(1)[0][0] for word, said in meant.items()},
        (
            f"Of {len(people.careless):,} people who copied, pasted or let a machine write "
            f"{len(found):,} were found, and {len(refused - found):,} of "
            f"{people.reactions.n_raters - len(people.careless):,} others were left out with them.",
            f"Personal data was planted in {people.n_personal:,} reasons; it was found in "
            f"{sum(masked['text'].changed):,}: {told}.",
            f"{int(popular['earned'].sum()):,} of {popular.height:,} answers earn the bonus for "
            "naming what most others named.",
        ),
    )


def _above(raters: list[str], rows: list[int], share: float) -> set[str]:
    """People more of whose reasons than a share are among the rows."""
    total, own = Counter(raters), Counter(raters[row] for row in set(rows))
    return {rater for rater, n in own.items() if n > share * total[rater]}
