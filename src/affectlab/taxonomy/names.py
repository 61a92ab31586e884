"""Looking labels up by the many spellings that data sets, models and people use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from affectlab.core.errors import InputError, unknown_name

_SEPARATORS = re.compile(r"[\W_]+")


def fold(name: str) -> str:
    """Reduce a name to what tells it apart: letters and digits, lower case, without "and".

    Examples
    --------
    >>> fold("Jealousy & Envy"), fold("jealousy_and_envy")
    ('jealousy envy', 'jealousy envy')
    >>> fold("and"), fold("+")
    ('and', '+')
    """
    # Case folding can undo a normal form and the other way round, so the pair is applied twice.
    plain = name
    for _ in range(2):
        plain = unicodedata.normalize("NFKC", plain).casefold()
    words = [word for word in _SEPARATORS.split(plain) if word]
    kept = [word for word in words if word != "and"] or words
    return " ".join(kept) or plain.strip()


@dataclass(frozen=True)
class NameIndex:
    """Canonical names by exact spelling, by folded spelling and by alias."""

    names: tuple[str, ...]
    positions: Mapping[str, int]
    folded: Mapping[str, tuple[str, ...]]

    @classmethod
    def build(cls, names: Iterable[str], aliases: Mapping[str, Iterable[str]]) -> NameIndex:
        """Index `names` and their `aliases`; a name always wins over an alias.

        Each part of a name with slashes ("Hope/Optimism") is an alias too. A part that two names
        share is kept as ambiguous, so that a look-up can say so.
        """
        names = tuple(names)
        folded: dict[str, tuple[str, ...]] = {fold(name): (name,) for name in names}
        own = set(folded)
        for name in names:
            parts = name.split("/") if "/" in name else []
            for alias in (*aliases.get(name, ()), *parts):
                key = fold(alias)
                if not key or key in own:
                    continue
                holders = folded.get(key, ())
                if name not in holders:
                    folded[key] = (*holders, name)
        return cls(names, {name: index for index, name in enumerate(names)}, folded)

    def resolve(self, name: str, *, kind: str, where: str) -> str:
        """Find the canonical name that `name` stands for.

        Raises
        ------
        InputError
            When the name is not known, or when it stands for several labels.
        """
        if name in self.positions:
            return name
        holders = self.folded.get(fold(name), ())
        if len(holders) == 1:
            return holders[0]
        if holders:
            shown = " and ".join(repr(holder) for holder in holders)
            raise InputError(f"{where}: {name!r} may mean {shown}; write the {kind} in full")
        raise unknown_name(kind, name, self.names, where)
