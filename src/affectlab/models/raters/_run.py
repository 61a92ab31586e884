"""Asking a face rater about image files: in batches, with a ledger, from where a run stopped."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from affectlab._words import plural
from affectlab.errors import InputError, unknown_name
from affectlab.models.images import ImageFile, load_image
from affectlab.models.raters._answers import answer_of, judge
from affectlab.models.raters._ledger import FaceLedger
from affectlab.models.raters._rater import FaceAnswer, FaceRater

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["FaceRun", "OnBad", "Progress", "ask_about"]

OnBad: TypeAlias = Literal["raise", "set_aside"]
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class FaceRun:
    """What a rater said about image files."""

    files: tuple[ImageFile, ...]
    """Those that could be read, in their order."""
    answers: tuple[FaceAnswer, ...]
    """One for each of them."""
    unread: tuple[tuple[ImageFile, str], ...]
    """Those that could not be read, and why."""
    n_asked: int
    """Pictures that were asked about now; the others were in the ledger, or are copies."""


class _Stopwatch:
    """Counts what is done, and failures of the transport in a row."""

    def __init__(self, rater: FaceRater, patience: int, total: int, progress: Progress | None):
        self._rater = rater
        self._patience = patience
        self._total = total
        self._progress = progress
        self._failures = 0
        self.done = 0

    def count(self, answer: FaceAnswer) -> None:
        """Count an answer; the work ends where the service is out of reach."""
        self.done += 1
        self._failures = self._failures + 1 if answer.outcome == "transport" else 0
        if self._progress is not None:
            self._progress("pictures", self.done, self._total)
        if self._failures >= self._patience and self.done < self._total:
            raise InputError(
                f"face rater {self._rater.name!r}: no answer about "
                f"{plural(self._failures, 'picture')} in a row ({answer.problem}); "
                f"{self._total - self.done:,} were not asked about, and what was answered is kept "
                "where a folder was given"
            )


def ask_about(
    files: Sequence[ImageFile],
    rater: FaceRater,
    folder: Path | None,
    *,
    on_bad: OnBad,
    patience: int,
    progress: Progress | None,
) -> FaceRun:
    """Ask a rater about files; every answer is kept at once.

    Raises
    ------
    InputError
        As :func:`affectlab.models.raters.rate_faces` does.
    """
    if on_bad not in get_args(OnBad):
        raise unknown_name("on_bad", on_bad, get_args(OnBad))
    if patience < 1:
        raise InputError(f"patience = {patience}: expected 1 or more")
    ledger = FaceLedger(folder, rater)
    readable: list[ImageFile] = []
    unread: list[tuple[ImageFile, str]] = []
    todo: dict[str, ImageFile] = {}
    for file in files:
        problem = _problem(file)
        if problem is not None:
            if on_bad == "raise":
                raise InputError(problem)
            unread.append((file, problem))
            continue
        readable.append(file)
        if ledger.get(file.sha256) is None:
            todo.setdefault(file.sha256, file)
    watch = _Stopwatch(rater, patience, len(todo), progress)
    broken: dict[str, str] = {}
    asked: dict[str, FaceAnswer] = {}
    way = _at_once if rater.ask is None else _in_steps
    try:
        # Closed first: what is under way when the work ends is waited for, and kept.
        with closing(way(rater, _opened(todo, broken, on_bad), ledger)) as steps:
            for sha256, answer in steps:
                asked[sha256] = answer
                watch.count(answer)
    finally:
        if rater.finish is not None:
            rater.finish()
    kept = [file for file in readable if file.sha256 not in broken]
    unread += [(file, broken[file.sha256]) for file in readable if file.sha256 in broken]
    # What was asked now counts, also where the transport failed, which the ledger does not give.
    answers = [asked.get(file.sha256) or ledger.get(file.sha256) for file in kept]
    return FaceRun(
        tuple(kept), tuple(one for one in answers if one is not None), tuple(unread), len(asked)
    )


def _problem(file: ImageFile) -> str | None:
    """Say why a file has no bytes that can be read."""
    try:
        _ = file.sha256
    except InputError as problem:
        return f"stimulus {file.stimulus!r}: {problem}"
    return None


def _opened(
    todo: dict[str, ImageFile], broken: dict[str, str], on_bad: OnBad
) -> Iterator[tuple[str, Image.Image]]:
    """Open one picture after the other; those that are none are noted, or end the work."""
    for sha256, file in todo.items():
        try:
            picture = load_image(file.path)
        except InputError as problem:
            said = f"stimulus {file.stimulus!r}: {problem}"
            if on_bad == "raise":
                raise InputError(said) from None
            broken[sha256] = said
            continue
        yield sha256, picture


def _at_once(
    rater: FaceRater, pictures: Iterator[tuple[str, Image.Image]], ledger: FaceLedger
) -> Generator[tuple[str, FaceAnswer]]:
    """Rate batch after batch."""

    def rated(batch: list[tuple[str, Image.Image]]) -> Iterator[tuple[str, FaceAnswer]]:
        answers = judge(rater, [picture for _, picture in batch])
        for (sha256, _), answer in zip(batch, answers, strict=True):
            ledger.put(sha256, answer)
        yield from ((sha256, one) for (sha256, _), one in zip(batch, answers, strict=True))

    batch: list[tuple[str, Image.Image]] = []
    for entry in pictures:
        batch.append(entry)
        if len(batch) == rater.batch:
            yield from rated(batch)
            batch = []
    if batch:
        yield from rated(batch)


def _in_steps(
    rater: FaceRater, pictures: Iterator[tuple[str, Image.Image]], ledger: FaceLedger
) -> Generator[tuple[str, FaceAnswer]]:
    """Ask about some pictures at a time, each with notes of its own."""

    def ask(sha256: str, picture: Image.Image) -> tuple[str, FaceAnswer]:
        if rater.ask is None:
            raise TypeError("a rater without steps")
        answer = answer_of(rater.ask(picture, ledger.notes(sha256)), rater)
        # Here and not by who waits for it: an answer that was paid for is kept in any case.
        ledger.put(sha256, answer)
        return sha256, answer

    pending: set[Future[tuple[str, FaceAnswer]]] = set()
    with ThreadPoolExecutor(rater.concurrency) as pool:
        for sha256, picture in pictures:
            pending.add(pool.submit(ask, sha256, picture))
            if len(pending) >= rater.concurrency:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
