"""Which labels each text has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from affectlab._types import Bools, Ints
from affectlab.errors import InputError

__all__ = ["Membership"]


@dataclass(frozen=True)
class Membership:
    """Which labels each of n texts has."""

    labels: tuple[str, ...]
    label: Ints
    """Labels of all texts one after the other, as positions in ``labels``; none twice per text."""
    end: Ints
    """Where each text ends in ``label``, shape (n,)."""
    text: Ints
    """Row of each text, shape (n,)."""
    weight: Ints
    """How often each text counts, shape (n,)."""
    rule: str = "each text once"

    @classmethod
    def of_table(
        cls,
        table: Bools,
        labels: tuple[str, ...],
        weight: Ints | None = None,
        rule: str = "each text once",
    ) -> Membership:
        """Read an array of shape (texts, labels)."""
        n = table.shape[0]
        _, label = np.nonzero(table)
        end = np.cumsum(table.sum(axis=1), dtype=np.int64)
        one = np.ones(n, dtype=np.int64) if weight is None else weight
        return cls(labels, label.astype(np.int64), end, np.arange(n), one, rule)

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
        n, n_labels = len(each), max(len(codes), 1)
        table = np.zeros(n * n_labels, dtype=np.bool_)
        table[np.repeat(np.arange(n), size) * n_labels + label] = True
        if int(table.sum()) < label.size:
            return cls.of_table(table.reshape(n, n_labels)[:, : len(codes)], tuple(codes))
        one = np.ones(n, dtype=np.int64)
        return cls(tuple(codes), label, np.cumsum(size), np.arange(n), one)

    @property
    def sizes(self) -> Ints:
        """Labels of each text, shape (n,)."""
        return np.diff(self.end, prepend=0)

    @property
    def row(self) -> Ints:
        """Text of each entry of ``label``."""
        return np.repeat(np.arange(self.text.size), self.sizes)

    def ordered(self, names: Sequence[str] | None) -> Membership:
        """Keep these labels, in this order; a name that no text has is kept, too."""
        if names is None or tuple(names) == self.labels:
            return self
        if isinstance(names, str) or len(set(names)) != len(names):
            raise InputError("names: expected a list of different labels")
        place = {name: k for k, name in enumerate(names)}
        rest = [name for name in self.labels if name not in place]
        order = tuple(names) + tuple(rest)
        where = {name: k for k, name in enumerate(order)}
        code = np.array([where[name] for name in self.labels] or [0], dtype=np.int64)
        return replace(self, labels=order, label=code[self.label])

    def by_substring(self) -> Membership:
        """Give a text with a label also every label whose name is part of that label's name."""
        n = len(self.labels)
        contains = np.array([[a in b for a in self.labels] for b in self.labels], dtype=np.bool_)
        if contains.sum() == n:
            return self
        table = np.zeros((self.text.size, n), dtype=np.bool_)
        table[self.row, self.label] = True
        wide = (table.astype(np.float32) @ contains.astype(np.float32)) > 0
        found = Membership.of_table(wide, self.labels, self.weight, self.rule)
        return replace(found, text=self.text)

    def labelled(self) -> Membership:
        """Leave out texts without a label."""
        has = self.sizes > 0
        return replace(self, end=self.end[has], text=self.text[has], weight=self.weight[has])


def _is_set(own: Any) -> bool:
    try:
        hash(next(iter(own), ""))
    except TypeError:
        return False
    return hasattr(own, "__len__")
