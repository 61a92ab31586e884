"""Asking a face rater about image files: in batches, with a ledger, from where a run stopped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from affectlab._words import plural, shown
from affectlab.errors import InputError, unknown_name
from affectlab.models.images import ImageFile, load_image
from affectlab.models.images._files import content_hash
from affectlab.models.raters._ledger import FaceLedger
from affectlab.models.raters._rater import FaceAnswer, FaceRater
from affectlab.models.raters._steps import Pictures, at_once, in_steps

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
    if on_bad not in get_args(OnBad):
        raise unknown_name("on_bad", on_bad, get_args(OnBad))
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
