"""Asking a face rater about image files: in batches, with a ledger, from where a run stopped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from affectlab.core.errors import AffectlabError, InputError, check_choice
from affectlab.core.words import plural, shown
from affectlab.models.images import ImageFile, content_hash, load_image
from affectlab.models.raters.ledger import FaceLedger
from affectlab.models.raters.rater import FaceAnswer, FaceRater, answer_of, judge

if TYPE_CHECKING:
    from PIL import Image


__all__ = [
    "FaceRun",
    "OnBad",
    "Pictures",
    "Progress",
    "ask_about",
    "at_once",
    "in_steps",
]

# The two ways of asking a face rater: in batches, or about some pictures at a time in steps.


Pictures: TypeAlias = "Iterator[tuple[str, str, Image.Image]]"
"""Pictures with the hashes of their files and the names of their stimuli."""
_WATCH = 0.5
"""Seconds after which to look up from waiting: an interrupt may have come to another thread, which
does not end the wait of this one."""


def at_once(
    rater: FaceRater, pictures: Pictures, ledger: FaceLedger
) -> Generator[tuple[str, FaceAnswer]]:
    """Rate batch after batch."""

    def rated(batch: list[tuple[str, str, Image.Image]]) -> Iterator[tuple[str, FaceAnswer]]:
        ledger.ask({sha256: stimulus for sha256, stimulus, _ in batch})
        answers = judge(rater, [picture for *_, picture in batch])
        done = [(sha256, one) for (sha256, *_), one in zip(batch, answers, strict=True)]
        for sha256, answer in done:
            ledger.put(sha256, answer)
        yield from done

    batch: list[tuple[str, str, Image.Image]] = []
    for entry in pictures:
        batch.append(entry)
        if len(batch) == rater.batch:
            yield from rated(batch)
            batch = []
    if batch:
        yield from rated(batch)


def in_steps(
    rater: FaceRater, pictures: Pictures, ledger: FaceLedger
) -> Generator[tuple[str, FaceAnswer]]:
    """Ask about some pictures at a time, each with notes of its own.

    Where it ends before its time, what is under way is waited for, but nothing is tried again.
    """

    def ask(sha256: str, stimulus: str, picture: Image.Image) -> tuple[str, FaceAnswer]:
        if rater.ask is None:
            raise TypeError("a rater without steps")
        notes = ledger.notes(sha256, stimulus)
        if notes.state is None:
            notes.leave()
        try:
            answer = answer_of(rater.ask(picture, notes), rater)
        except AffectlabError:
            # It did not leave, such as without a key, or came back with what ends the run. Of an
            # attempt before that which got no reply nobody knows what became.
            if not notes.lost:
                ledger.withdraw(sha256)
            raise
        # Here and not by who waits for it: an answer that was paid for is kept in any case.
        ledger.put(sha256, answer)
        return sha256, answer

    pending: set[Future[tuple[str, FaceAnswer]]] = set()
    with ThreadPoolExecutor(rater.concurrency) as pool:
        try:
            for one in pictures:
                pending.add(pool.submit(ask, *one))
                while len(pending) >= rater.concurrency:
                    done, pending = wait(pending, _WATCH, FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while pending:
                done, pending = wait(pending, _WATCH, FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BaseException:
            for future in pending:
                future.cancel()
            if rater.stop is not None:
                rater.stop()
            raise


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
    n_broken: int
    """Lines of the ledger that could not be read; what they held was asked about again."""
    in_flight: tuple[str, ...]
    """Stimuli that were asked about when an earlier run ended, before there was an answer."""


class _Stopwatch:
    """Counts what is done, and pictures in a row without a usable answer."""

    def __init__(self, rater: FaceRater, patience: int, total: int, progress: Progress | None):
        self._rater = rater
        self._patience = patience
        self._total = total
        self._progress = progress
        self._failures = 0
        self.done = 0

    def count(self, answer: FaceAnswer) -> None:
        """Count an answer; the work ends where too many in a row cannot be used."""
        self.done += 1
        # That nobody is in a picture is as good an answer as any.
        self._failures = 0 if answer.outcome in ("ok", "empty") else self._failures + 1
        if self._progress is not None:
            self._progress("pictures", self.done, self._total)
        if self._failures >= self._patience and self.done < self._total:
            raise InputError(
                f"face rater {self._rater.name!r}: no answer about "
                f"{plural(self._failures, 'picture')} in a row that can be used (the last one is "
                f"{answer.outcome}: {answer.problem}); {self._total - self.done:,} were not asked "
                "about, what was answered is kept where a folder was given, and more patience "
                "goes on all the same"
            )


def ask_about(
    files: Sequence[ImageFile],
    rater: FaceRater,
    folder: Path | None,
    *,
    on_bad: OnBad,
    patience: int,
    again: Collection[str],
    progress: Progress | None,
) -> FaceRun:
    """Ask a rater about files; every answer is kept at once.

    Raises
    ------
    InputError
        As :func:`affectlab.models.raters.rate_faces` does.
    """
    check_choice("on_bad", on_bad, get_args(OnBad))
    if patience < 1:
        raise InputError(f"patience = {patience}: expected 1 or more")
    with FaceLedger(folder, rater, again) as ledger:
        return _ask_about(files, rater, ledger, on_bad, patience, progress)


def _ask_about(
    files: Sequence[ImageFile],
    rater: FaceRater,
    ledger: FaceLedger,
    on_bad: OnBad,
    patience: int,
    progress: Progress | None,
) -> FaceRun:
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
    way = at_once if rater.ask is None else in_steps
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
        tuple(kept),
        tuple(one for one in answers if one is not None),
        tuple(unread),
        len(asked),
        ledger.n_broken,
        ledger.in_flight,
    )


def _problem(file: ImageFile) -> str | None:
    """Say why a file has no bytes that can be read."""
    try:
        _ = file.sha256
    except InputError as problem:
        return f"stimulus {file.stimulus!r}: {problem}"
    return None


def _opened(todo: dict[str, ImageFile], broken: dict[str, str], on_bad: OnBad) -> Pictures:
    """Open one picture after the other; those that are none are noted, or end the work."""
    for sha256, file in todo.items():
        try:
            content = file.read()
            if content_hash(content) != sha256:
                # Its answer would be filed under what was there when the run began.
                raise InputError(
                    f"{shown(file.path)} has changed since the run began; expected pictures that "
                    "stay as they are, or the same command once more"
                )
            picture = load_image(content, name=shown(file.path))
        except InputError as problem:
            said = f"stimulus {file.stimulus!r}: {problem}"
            if on_bad == "raise":
                raise InputError(said) from None
            broken[sha256] = said
            continue
        yield sha256, file.stimulus, picture
