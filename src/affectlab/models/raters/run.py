"""Asking a rater about stimuli: in batches, with a ledger, from where a run stopped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from affectlab.core.errors import AffectlabError, InputError, check_choice
from affectlab.core.words import plural
from affectlab.models.ask import sent_away
from affectlab.models.embedding import loaded
from affectlab.models.raters.ledger import AnswerLedger
from affectlab.models.raters.rater import Answer, Rater, answer_of, judge
from affectlab.models.raters.stimuli import Stimulus, TextStimulus

__all__ = [
    "OnBad",
    "Opened",
    "Progress",
    "RaterRun",
    "ask_about",
    "at_once",
    "in_steps",
]

# The two ways of asking a rater: in batches, or about some stimuli at a time in steps.


Opened: TypeAlias = Iterator[tuple[str, str, Any]]
"""What a rater is given, with hashes of the content and the names of the stimuli."""
_WATCH = 0.5
"""Seconds after which to look up from waiting: an interrupt may have come to another thread, which
does not end the wait of this one."""


def at_once(rater: Rater, opened: Opened, ledger: AnswerLedger) -> Generator[tuple[str, Answer]]:
    """Rate batch after batch."""

    def rated(batch: list[tuple[str, str, Any]]) -> Iterator[tuple[str, Answer]]:
        ledger.ask({sha256: stimulus for sha256, stimulus, _ in batch})
        answers = judge(rater, [content for *_, content in batch])
        done = [(sha256, one) for (sha256, *_), one in zip(batch, answers, strict=True)]
        ledger.put(*done)
        yield from done

    batch: list[tuple[str, str, Any]] = []
    for entry in opened:
        batch.append(entry)
        if len(batch) == rater.batch:
            yield from rated(batch)
            batch = []
    if batch:
        yield from rated(batch)


def in_steps(rater: Rater, opened: Opened, ledger: AnswerLedger) -> Generator[tuple[str, Answer]]:
    """Ask about some stimuli at a time, each with notes of its own.

    Where it ends before its time, what is under way is waited for, but nothing is tried again.
    """

    def ask(sha256: str, stimulus: str, content: Any) -> tuple[str, Answer]:
        if rater.ask is None:
            raise TypeError("a rater without steps")
        notes = ledger.notes(sha256, stimulus)
        if notes.state is None:
            notes.leave()
        try:
            answer = answer_of(rater.ask(content, notes), rater)
        except AffectlabError:
            # It did not leave, such as without a key, or came back with what ends the run. Of an
            # attempt before that which got no reply nobody knows what became.
            if not notes.lost:
                ledger.withdraw(sha256)
            raise
        # Here and not by who waits for it: an answer that was paid for is kept in any case.
        ledger.put((sha256, answer))
        return sha256, answer

    pending: set[Future[tuple[str, Answer]]] = set()
    with ThreadPoolExecutor(rater.concurrency) as pool:
        try:
            for one in opened:
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
class RaterRun:
    """What a rater said about stimuli."""

    stimuli: tuple[Stimulus, ...]
    """Those that could be read, in their order."""
    answers: tuple[Answer, ...]
    """One for each of them."""
    unread: tuple[tuple[Stimulus, str], ...]
    """Those that could not be read, and why."""
    n_asked: int
    """Stimuli that were asked about now; the others were in the ledger, or are copies."""
    n_broken: int
    """Lines of the ledger that could not be read; what they held was asked about again."""
    in_flight: tuple[str, ...]
    """Stimuli that were asked about when an earlier run ended, before there was an answer."""


class _Stopwatch:
    """Counts what is done, and stimuli in a row without a usable answer."""

    def __init__(self, rater: Rater, patience: int, total: int, progress: Progress | None):
        self._rater = rater
        self._patience = patience
        self._total = total
        self._progress = progress
        self._failures = 0
        self.done = 0

    def count(self, answer: Answer) -> None:
        """Count an answer; the work ends where too many in a row cannot be used."""
        self.done += 1
        # That nobody is in a picture is as good an answer as any.
        self._failures = 0 if answer.outcome in ("ok", "empty") else self._failures + 1
        if self._progress is not None:
            self._progress(f"{self._rater.noun}s", self.done, self._total)
        if self._failures >= self._patience and self.done < self._total:
            raise InputError(
                f"rater {self._rater.name!r}: no answer about "
                f"{plural(self._failures, self._rater.noun)} in a row that can be used (the last "
                f"one is {answer.outcome}: {answer.problem}); "
                f"{self._total - self.done:,} were not asked about, what was answered is kept "
                "where a folder was given, and more patience goes on all the same"
            )


def ask_about(
    stimuli: Sequence[Stimulus],
    rater: Rater,
    folder: Path | None,
    *,
    on_bad: OnBad,
    patience: int,
    again: Collection[str],
    progress: Progress | None,
    announce: Callable[[str], None] | None = None,
) -> RaterRun:
    """Ask a rater about stimuli; every answer is kept at once.

    Raises
    ------
    InputError
        As :func:`affectlab.models.rate` does.
    """
    check_choice("on_bad", on_bad, get_args(OnBad))
    if patience < 1:
        raise InputError(f"patience = {patience}: expected 1 or more")
    with AnswerLedger(folder, rater, again) as ledger:
        return _ask_about(stimuli, rater, ledger, on_bad, patience, progress, announce)


def _ask_about(
    stimuli: Sequence[Stimulus],
    rater: Rater,
    ledger: AnswerLedger,
    on_bad: OnBad,
    patience: int,
    progress: Progress | None,
    announce: Callable[[str], None] | None,
) -> RaterRun:
    readable: list[Stimulus] = []
    unread: list[tuple[Stimulus, str]] = []
    todo: dict[str, Stimulus] = {}
    for one in stimuli:
        problem = _problem(one)
        if problem is not None:
            if on_bad == "raise":
                raise InputError(problem)
            unread.append((one, problem))
            continue
        readable.append(one)
        if ledger.get(one.sha256) is None:
            todo.setdefault(one.sha256, one)
    if todo and announce is not None and rater.sent_to is not None:
        announce(sent_away(len(todo), {rater.noun}, rater.sent_to))
    watch = _Stopwatch(rater, patience, len(todo), progress)
    broken: dict[str, str] = {}
    n_asked = 0
    asked: dict[str, Answer] = {}
    way = at_once if rater.ask is None else in_steps
    try:
        # Closed first: what is under way when the work ends is waited for, and kept.
        with closing(way(rater, _opened(todo, broken, on_bad, rater.batch), ledger)) as steps:
            for sha256, answer in steps:
                n_asked += 1
                if ledger.get(sha256) is None:
                    asked[sha256] = answer
                watch.count(answer)
    finally:
        if rater.finish is not None:
            rater.finish()
    kept = [one for one in readable if one.sha256 not in broken]
    unread += [(one, broken[one.sha256]) for one in readable if one.sha256 in broken]
    # What was asked now counts, also where the transport failed, which the ledger does not give.
    answers = [asked.get(one.sha256) or ledger.get(one.sha256) for one in kept]
    return RaterRun(
        tuple(kept),
        tuple(one for one in answers if one is not None),
        tuple(unread),
        n_asked,
        ledger.n_broken,
        ledger.in_flight,
    )


def _problem(one: Stimulus) -> str | None:
    """Say why a stimulus has no content that can be read."""
    try:
        _ = one.sha256
    except InputError as problem:
        return f"stimulus {one.stimulus!r}: {problem}"
    return None


def _opened(
    todo: Mapping[str, Stimulus], broken: dict[str, str], on_bad: OnBad, ahead: int
) -> Opened:
    """Open stimuli, files a little ahead; those that cannot be are noted, or end the work."""
    if all(isinstance(one, TextStimulus) for one in todo.values()):
        yield from ((sha256, one.stimulus, one.load()) for sha256, one in todo.items())
        return
    with closing(loaded(todo.values(), lambda one: one.load(), lambda: ahead)) as opened:
        for one, content in opened:
            if not isinstance(content, InputError):
                yield one.sha256, one.stimulus, content
                continue
            said = f"stimulus {one.stimulus!r}: {content}"
            if on_bad == "raise":
                raise InputError(said)
            broken[one.sha256] = said
