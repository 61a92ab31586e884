"""Terms of fixed effects: attributes of stimuli and raters, and interactions of two of them.

Categories have sum contrasts, numbers are centred: every effect is a difference from the mean over
all levels, each counted once, and every term can be tested beside all others (type III).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.core.words import shown
from affectlab.reliability.components.restricted_likelihood import row_codes

_MOST_LEVELS = 50
"""Levels of an attribute beyond which it is a random factor."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute of the answers, coded."""

    name: str
    levels: tuple[str, ...]
    """Categories in the order of their names; none of a number."""
    columns: Floats
    """Shape (n, levels - 1), or (n, 1) of a number."""
    scale: float = 1.0
    """Standard deviation of a number, in which it is coded."""

    @classmethod
    def of(cls, values: pl.Series) -> Attribute:
        """Code a column: numbers as they are, everything else as categories."""
        if values.dtype.is_numeric():
            number = values.cast(pl.Float64).to_numpy()
            if not np.isfinite(number).all():
                raise InputError(f"fixed: {values.name} is not finite for some answers")
            scale = float(number.std()) or 1.0
            return cls(values.name, (), ((number - number.mean()) / scale)[:, None], scale)
        text = values.cast(pl.String)
        levels = tuple(sorted(text.unique()))
        if len(levels) > _MOST_LEVELS:
            raise InputError(
                f"fixed: {values.name} has {len(levels)} levels; expected at most {_MOST_LEVELS}, "
                "or a random factor"
            )
        code = text.replace_strict(levels, range(len(levels)), return_dtype=pl.Int64).to_numpy()
        return cls(values.name, levels, _sum_contrasts(len(levels))[code])

    @property
    def rows(self) -> tuple[tuple[str, Floats], ...]:
        """What its columns hold for each level; of a number, for one unit more."""
        if not self.levels:
            return (("", np.array([1 / self.scale])),)
        return tuple(zip(self.levels, _sum_contrasts(len(self.levels)), strict=True))

    @property
    def n_distinct(self) -> int:
        """Number of values."""
        return np.unique(row_codes(self.columns)).size


def _sum_contrasts(n: int) -> Floats:
    return np.vstack([np.eye(n - 1), -np.ones((1, n - 1))])


@dataclass(frozen=True, eq=False)
class Term:
    """An attribute, or the interaction of two, with its place among the fixed effects."""

    attributes: tuple[Attribute, ...]
    start: int
    """The first of its columns; column 0 is the mean."""

    @property
    def name(self) -> str:
        """Attributes joined by a colon."""
        return ":".join(one.name for one in self.attributes)

    @property
    def columns(self) -> Floats:
        """Shape (n, width)."""
        made = self.attributes[0].columns
        for one in self.attributes[1:]:
            made = (made[:, :, None] * one.columns[:, None, :]).reshape(len(made), -1)
        return made

    @property
    def width(self) -> int:
        """Number of its columns."""
        return int(np.prod([one.columns.shape[1] for one in self.attributes]))

    @property
    def is_categorical(self) -> bool:
        """Whether all of its attributes are categories."""
        return all(one.levels for one in self.attributes)

    def effects(self, n_fixed: int) -> Iterator[tuple[tuple[str, ...], Floats]]:
        """Give its levels with the combination of fixed effects that is its effect there."""
        for parts in product(*(one.rows for one in self.attributes)):
            row = np.zeros(n_fixed)
            made = np.ones(1)
            for _, part in parts:
                made = np.outer(made, part).ravel()
            row[self.start : self.start + self.width] = made
            yield tuple(level for level, _ in parts), row


@dataclass(frozen=True, eq=False)
class FixedPart:
    """All terms of the fixed effects."""

    terms: tuple[Term, ...]

    @classmethod
    def of(cls, frame: pl.DataFrame, names: Sequence[tuple[str, ...]]) -> FixedPart:
        """Code the terms that :func:`term_names` gives."""
        coded = {name: Attribute.of(frame[name]) for (name, *more) in names if not more}
        terms: list[Term] = []
        start = 1
        for parts in names:
            terms.append(Term(tuple(coded[part] for part in parts), start))
            start += terms[-1].width
        return cls(tuple(terms))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """All attributes, each once."""
        return tuple(
            one for term in self.terms if len(term.attributes) == 1 for one in term.attributes
        )

    @property
    def n_fixed(self) -> int:
        """Number of fixed effects, the mean among them."""
        return 1 + sum(term.width for term in self.terms)

    @property
    def columns(self) -> Floats:
        """Columns of all terms without the mean, shape (n, n_fixed - 1)."""
        return np.hstack([term.columns for term in self.terms])

    def means(self, term: Term) -> dict[tuple[str, ...], Floats]:
        """Give the combination that is the mean at each level of a term.

        Over all other categories, each counted once, and at the mean of numbers.
        """
        within = [
            part
            for part in self.terms
            if {one.name for one in part.attributes} <= {one.name for one in term.attributes}
        ]
        names = [one.name for one in term.attributes]
        made = {}
        for levels in product(*(one.levels for one in term.attributes)):
            row = np.zeros(self.n_fixed)
            row[0] = 1
            at = dict(zip(names, levels, strict=True))
            for part in within:
                own = tuple(at[one.name] for one in part.attributes)
                row += dict(part.effects(self.n_fixed))[own]
            made[levels] = row
        return made

    def contrasts(self, term: Term) -> Iterator[tuple[str, str, str, Floats]]:
        """Give pairs of levels of a term, where else they are taken, and their difference.

        Of an interaction: pairs of levels of either attribute, at each level of the other.
        """
        means = self.means(term)
        for place, own in enumerate(term.attributes):
            others = [one.levels for k, one in enumerate(term.attributes) if k != place]
            for at in product(*others):
                where = ", ".join(at)
                for a, b in combinations(own.levels, 2):
                    first, second = ((*at[:place], level, *at[place:]) for level in (a, b))
                    yield a, b, where, means[first] - means[second]


def term_names(fixed: Sequence[str]) -> list[tuple[str, ...]]:
    """Read terms: ``a*b`` are both attributes and their interaction; each is named once.

    Raises
    ------
    InputError
        When there is none, or more than two attributes interact.
    """
    attributes: list[tuple[str, ...]] = []
    interactions: list[tuple[str, ...]] = []
    for text in fixed:
        parts = tuple(part.strip() for part in text.split("*"))
        if len(parts) > 2 or not all(parts) or len(set(parts)) < len(parts):
            raise InputError(
                f"fixed: {shown(text)}; expected an attribute, or two with * between them"
            )
        attributes += [(part,) for part in parts]
        interactions += [parts] * (len(parts) == 2 and parts[::-1] not in interactions)
    if not attributes:
        raise InputError("fixed: expected one attribute or more, such as condition")
    return list(dict.fromkeys([*attributes, *interactions]))
