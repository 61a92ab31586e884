"""Where everything is now that users could do before: ``moved.toml``, read and compared.

``python -m tests.golden.moved`` prints what has no place yet, as lines to complete in that file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from tests.golden.inventory import TEXTS, Inventory, frozen, live

__all__ = ["MOVED", "Accounts", "Move", "account", "missing_lines", "read_moves"]

MOVED = Path(__file__).with_name("moved.toml")

_DROPPED = "dropped, because "
_WORD = re.compile(r"\w+")
_MOST_STEPS = 6
_SHORTEST_REASON = 3
"""Words of a reason."""


@dataclass(frozen=True)
class Move:
    """A line of the file: an old place, with ``*`` for any text, and the new one."""

    old: str
    new: str

    def __post_init__(self) -> None:
        if not self.old.strip() or not self.new.strip():
            raise ValueError(f"{self.old!r} = {self.new!r}: a side is blank")
        if self.new.startswith(_DROPPED.split(",")[0]):
            reason = self.new.removeprefix(_DROPPED)
            if reason == self.new or len(reason.split()) < _SHORTEST_REASON or "…" in reason:
                raise ValueError(
                    f"{self.old!r}: expected '{_DROPPED}' and a reason, not {self.new!r}"
                )
            if not re.search(r"\w", self.old):
                raise ValueError(f"{self.old!r}: drops everything; name what is dropped")
        elif self.new.count("*") not in {0, self.old.count("*")}:
            raise ValueError(f"{self.old!r} = {self.new!r}: expected as many * on both sides")

    @cached_property
    def drops(self) -> bool:
        return self.new.startswith(_DROPPED)

    @cached_property
    def head(self) -> str:
        """What each line about this begins with."""
        return self.old.partition("*")[0]

    def place_of(self, line: str) -> str | None:
        """Give the new place of a line, and None where this is about others.

        What belongs to something goes with it: parameters and members, arguments and options,
        defaults and choices.
        """
        if not line.startswith(self.head):
            return None
        match = _pattern(self.old, is_text=line.partition(": ")[0] in TEXTS).fullmatch(line)
        if match is None:
            return None
        *texts, rest = match.groups(default="")
        filled = zip(self.new.split("*"), ["", *texts], strict=False)
        return "".join(text + part for part, text in filled) + rest


@cache
def _pattern(old: str, is_text: bool) -> re.Pattern[str]:
    belonging = "" if is_text else "[.( ,].*"
    return re.compile("(.*?)".join(map(re.escape, old.split("*"))) + f"({belonging})?")


@dataclass
class Accounts:
    """What became of everything."""

    lost: list[str] = field(default_factory=list)
    """Neither there, nor moved to what is there, nor dropped."""
    unused: list[Move] = field(default_factory=list)
    """Lines of the file that lead nothing anywhere: not needed, or their place is not there."""


def read_moves(path: Path = MOVED) -> list[Move]:
    """Read the file.

    Raises
    ------
    ValueError
        When a side is blank, when a reason is missing, or when ``*`` do not correspond.
    """
    entries = tomllib.loads(path.read_text("utf-8"))
    for old, new in entries.items():
        if not isinstance(new, str):
            raise ValueError(f"{old}: expected a text; a place stands in quotation marks")
    return [Move(old, new) for old, new in entries.items()]


def account(before: Iterable[str], now: Container[str], moves: Iterable[Move]) -> Accounts:
    """Look for each line of before: there still, moved in one step or in several, or dropped.

    Moves follow each other, so that a renamed group, a renamed verb and a renamed option are three
    lines of the file, and not one for each combination. What is dropped is dropped only where no
    move leads to what is there.
    """
    moves = list(moves)
    accounts, used = Accounts(), set[Move]()
    for line in before:
        if line not in now:
            steps = _way(line, now, moves)
            if steps is None:
                accounts.lost.append(line)
            else:
                used.update(steps)
    accounts.unused = [move for move in moves if move not in used]
    return accounts


def _way(line: str, now: Container[str], moves: list[Move]) -> list[Move] | None:
    """Give the moves that lead to what is there, the fewest first; else to the drop."""
    reached: dict[str, list[Move]] = {line: []}
    ends = [line]
    for _ in range(_MOST_STEPS):
        following = {}
        for end in ends:
            for move in moves:
                place = None if move.drops else move.place_of(end)
                if place is not None and place not in reached:
                    reached[place] = following[place] = [*reached[end], move]
                    if place in now:
                        return reached[place]
        ends = list(following)
    for place, steps in reached.items():
        for move in moves:
            if move.drops and move.place_of(place) is not None:
                return [*steps, move]
    return None


def missing_lines(lost: Iterable[str], now: Inventory, before: Iterable[str]) -> Iterator[str]:
    """Give lines for the file, with the place that has most words in common as a suggestion."""
    # What was there before is the place of something else.
    places = now.lines.difference(before)
    texts = {f"{kind}: {text}" for kind in TEXTS for text in now.strings if " " in text}
    by_kind: dict[str, dict[str, set[str]]] = {}
    for place in sorted(places | texts):
        by_kind.setdefault(_kind(place), {})[place] = _words(place)
    within = None
    for line in sorted(lost):
        # What belongs to something goes with it.
        if within is None or within.place_of(line) is None:
            within, own = Move(line, line), _words(line)
            new, words = max(
                by_kind.get(_kind(line), {}).items(),
                key=lambda place: len(own & place[1]) / len(own | place[1]),
                default=("", set()),
            )
            yield f"{_quoted(line)} = {_quoted(new if 2 * len(own & words) > len(own) else '')}"


def _kind(line: str) -> str:
    return line.partition(": ")[0] if ": " in line else line[: len("affectlab ")]


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    accounts = account(frozen(), live(), read_moves())
    for line in missing_lines(accounts.lost, live(), frozen()):
        print(line)
    for move in accounts.unused:
        print(f"# leads nowhere, or is not needed: {_quoted(move.old)} = {_quoted(move.new)}")
