"""The two ways of asking a face rater: in batches, or about some pictures at a time in steps."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeAlias

from affectlab.errors import AffectlabError
from affectlab.models.raters._answers import answer_of, judge
from affectlab.models.raters._ledger import FaceLedger
from affectlab.models.raters._rater import FaceAnswer, FaceRater

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Pictures", "at_once", "in_steps"]

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
