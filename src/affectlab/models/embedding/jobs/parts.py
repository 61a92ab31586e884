"""Work on parts of what is embedded: in this process, or as rows of a Daft data frame."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from affectlab.core.errors import AffectlabError, InputError

if TYPE_CHECKING:
    import daft

__all__ = ["STOP", "Tick", "Where", "Work"]

STOP = "stop"
"""Key of a result after which parts that follow need not be worked on."""
Tick = Callable[[int], None]
"""Is told how many more inputs are done."""
Work = Callable[[Any, Tick], dict[str, Any]]
"""Works on one part; gives plain values, ``n`` among them: how many inputs it had."""


@dataclass(frozen=True)
class Where:
    """Where parts are worked on."""

    runner: str = "native"
    partitions: int | None = None
    """Into how many parts the work is cut; None: by its size."""

    @property
    def is_here(self) -> bool:
        """Whether this process does the work."""
        return self.runner == "native"

    def begin(self) -> None:
        """Make the runner ready.

        Raises
        ------
        InputError
            When it is not known, or cannot be used.
        MissingDependencyError
            When it needs libraries that are not installed.
        """
        from affectlab.core.remote.runner import use_runner

        if not self._is_plain:
            use_runner(self.runner)

    def cut(self, entries: Sequence[Any], rows: int) -> list[Sequence[Any]]:
        """Cut a list into parts that follow each other, by default of so many rows."""
        n = self.partitions or -(-len(entries) // rows)
        n = max(1, min(n, len(entries)))
        edges = [len(entries) * part // n for part in range(n + 1)]
        return [entries[start:end] for start, end in pairwise(edges)]

    def run(
        self, parts: Sequence[Any], work: Work, tick: Tick, *, gpu: bool = False
    ) -> list[dict[str, Any]]:
        """Work on parts, and give what they gave, in their order.

        In this process parts take turns, so that one encoder works at a time, and what a part gives
        may end it. On a cluster they are worked on side by side, all of them.

        Parameters
        ----------
        gpu
            Whether a part needs a GPU of the cluster to itself.

        Raises
        ------
        InputError
            When the work on a part raised.
        """
        if not self.is_here:
            return _on_cluster(parts, work, tick, gpu)
        turns = _Turns(parts, work, tick)
        if self._is_plain:
            while turns.take():
                continue
        else:
            turns.take_by_daft()
        if turns.problem is not None:
            raise turns.problem
        return turns.found

    @property
    def _is_plain(self) -> bool:
        """Whether Daft is not installed, and not needed."""
        return self.is_here and find_spec("daft") is None


class _Ended(AffectlabError):
    """Nobody wants the rest of a part."""


@dataclass
class _Turns:
    """Parts that this process works on, one at a time."""

    parts: Sequence[Any]
    work: Work
    tick: Tick
    found: list[dict[str, Any]] = field(default_factory=list)
    problem: BaseException | None = None
    _next: int = 0
    _turn: Lock = field(default_factory=Lock)
    _ended: Event = field(default_factory=Event)

    def take(self) -> bool:
        """Work on the next part; tell whether there was one, and there may be others."""
        with self._turn:
            if self._ended.is_set() or self._next >= len(self.parts):
                return False
            part = self.parts[self._next]
            self._next += 1
            try:
                self.found.append(self.work(part, self._told))
            except _Ended:
                return False
            # Raised again by the one who waits for the parts: a thread of Daft that ends by it
            # would be waited for without end.
            except BaseException as problem:  # noqa: BLE001
                self.problem = problem
                self._ended.set()
                return False
            if self.found[-1].get(STOP):
                self._ended.set()
            return True

    def take_by_daft(self) -> None:
        """Let Daft share the turns out among its threads."""
        import daft

        token = uuid4().hex
        _here[token] = self

        @daft.func.batch(return_dtype=daft.DataType.bool(), batch_size=1, use_process=False)
        def turn(numbers: daft.Series) -> list[bool]:
            return [_take(token) for _ in numbers.to_pylist()]

        tasks = daft.from_pydict({"part": list(range(len(self.parts)))})
        try:
            for _ in tasks.select(turn(daft.col("part")).alias("taken")).iter_rows():
                continue
        finally:
            # When this was interrupted, Daft's threads have not been.
            self._ended.set()
            with self._turn:
                del _here[token]

    def _told(self, n: int) -> None:
        if self._ended.is_set():
            raise _Ended
        self.tick(n)


_here: dict[str, _Turns] = {}
"""Parts that are worked on in this process, by a token, so that nothing need be pickled."""


def _take(token: str) -> bool:
    turns = _here.get(token)
    return turns is not None and turns.take()


def _on_cluster(parts: Sequence[Any], work: Work, tick: Tick, gpu: bool) -> list[dict[str, Any]]:
    import daft

    from affectlab.core.remote.runner import partitions_for

    @daft.func.batch(
        return_dtype=daft.DataType.string(), batch_size=1, use_process=False, gpus=int(gpu)
    )
    def attempt(held: daft.Series) -> list[str]:
        return [_attempt(work, part) for part in held.to_pylist()]

    tasks = partitions_for(
        daft.from_pydict(
            {"part": list(range(len(parts))), "held": [pickle.dumps(part) for part in parts]}
        ),
        len(parts),
    )
    found: dict[int, dict[str, Any]] = {}
    for row in tasks.select("part", attempt(daft.col("held")).alias("told")).iter_rows():
        result = json.loads(row["told"])
        if "error" in result:
            raise InputError(result["error"])
        found[row["part"]] = result["done"]
        tick(int(result["done"]["n"]))
    return [found[part] for part in range(len(parts))]


def _attempt(work: Work, part: bytes) -> str:
    """Work on one part; a problem of the input comes back in words from another machine."""
    try:
        # Written by the process that sent the work itself.
        done = work(pickle.loads(part), _nobody)
    except AffectlabError as problem:
        return json.dumps({"error": str(problem)})
    return json.dumps({"done": done})


def _nobody(n: int) -> None:
    """Stand where nobody wants to be told."""
