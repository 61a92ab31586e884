"""Asking in batches, which providers work off within a day for half the price."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import joined, plural
from affectlab.models.vlm.asking.ask import Asker
from affectlab.models.vlm.asking.budget import Charge
from affectlab.models.vlm.asking.failures import Failure, failure_of
from affectlab.models.vlm.asking.in_batches.services import (
    Desk,
    Request,
    check_service,
    service_of,
)
from affectlab.models.vlm.asking.ledger import Batch, Record
from affectlab.models.vlm.asking.limits import Halt, pause
from affectlab.models.vlm.asking.outcomes import (
    Askable,
    Judged,
    asked_before,
    to_ask_again,
)
from affectlab.models.vlm.asking.provider import Reply

__all__ = ["BatchAsker", "batches_sentence"]

_MOST_FAILED_LOOKS = 60
"""Looks in a row that get no reply before a run gives up; with the usual waits about an hour."""
_WRITTEN_TOGETHER = 100
"""Answers of a batch that are written at once: after a kill they can be fetched again."""


class BatchAsker(Asker):
    """Asks in batches, and first fetches what earlier runs have asked so.

    The first question of a run goes out at once, at the full price: it tells whether the model
    answers at all, and what it takes. A batch is reserved in the purse as a whole. Its questions
    are written before it is sent, and so is its file; so one whose id was not written is found at
    the provider, and nothing is sent twice.

    Parameters
    ----------
    size
        Most questions of a batch; 0: none is sent, and what is left is asked at once.
    """

    def __init__(self, *args: Any, size: int, **more: Any) -> None:
        super().__init__(*args, **more)
        self._size = size
        self._service = service_of(self._provider)
        self._desk = Desk(self._provider)
        self._numbers: dict[str, int] = {}
        self._tries: Counter[str] = Counter()

    def _workers(self, questions: Sequence[Askable]) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self._all(questions))]

    async def _all(self, questions: Sequence[Askable]) -> None:
        try:
            await check_service(self._service, self._provider)
            by_key = {question.key: question for question in questions}
            again = {question.key for question in await self._collect(by_key)}
            waiting = {key for batch in self._ledger.batches.values() for key in batch.keys}
            gone = (self.answers.keys() - again) | waiting
            todo = deque(question for question in questions if question.key not in gone)
            if not self._size:
                if self.halt is None:
                    await asyncio.gather(*super()._workers(todo))
                return
            while todo and self.halt is None:
                while todo and self.halt is None and not self._estimator.told:
                    await self._one(todo.popleft())
                if todo and self.halt is None and not await self._send(todo):
                    self.stop(Halt("budget", "the budget does not cover another question"))
                todo.extend(await self._collect(by_key))
        finally:
            await self._desk.close()

    async def _send(self, todo: deque[Askable]) -> int:
        """Send what the budget covers; gives how many questions that are."""
        n = 0
        while todo and self.halt is None:
            asked, lines, request = await self._fill(todo)
            if request is None:
                break
            if self.halt is not None:
                for most, _ in asked.values():
                    self._purse.free(most, Charge())
                break
            await self._create(asked, lines, request)
            n += len(asked)
        return n

    async def _fill(
        self, todo: deque[Askable]
    ) -> tuple[dict[str, tuple[Charge, Mapping[str, Any]]], list[bytes], Request | None]:
        """Take questions for a batch: as many as it may hold and the budget covers."""
        asked: dict[str, tuple[Charge, Mapping[str, Any]]] = {}
        lines: list[bytes] = []
        first: Request | None = None
        size = 0
        while todo and len(asked) < self._size and self.halt is None:
            prompt = await self._prompt(todo[0], again=self._ask(todo[0]) > 1)
            if prompt is None:
                todo.popleft()
                continue
            request = await self._desk.request(prompt)
            line = self._service.line(todo[0].key, request)
            wanted = self._purse.charge(self._estimator.of(prompt).usage, batch=True)
            other = first is not None and first.headers != request.headers
            if (
                (lines and (other or size + len(line) > self._service.most_bytes))
                # Last of all, since it sets aside.
                or not self._purse.hold(wanted)
            ):
                break
            first, size = first or request, size + len(line)
            lines.append(line)
            question = todo.popleft()
            asked[question.key] = (wanted, self._told(question))
        return asked, lines, first

    async def _create(
        self,
        asked: Mapping[str, tuple[Charge, Mapping[str, Any]]],
        lines: Sequence[bytes],
        request: Request,
    ) -> None:
        """Send a batch; what goes wrong ends the run, and the next one finds what there is."""
        # Before anything leaves, and again before the batch is made: whatever ends this process,
        # the next one knows what to look for.
        batch = self._ledger.ask_batch(f"affectlab-{uuid.uuid4().hex}", asked)
        found = Failure()
        may_be_made = False
        for attempt in range(1, self._retrying.tries + 1):
            making = False
            try:
                if may_be_made and await self._found(batch):
                    return
                if self._service.by_file and not batch.file:
                    self._ledger.tell_batch(batch, file=await self._service.upload(lines))
                making = True
                made = await self._service.create(batch.file, lines, request)
                self._ledger.tell_batch(batch, id=made)
                return
            except InputError:
                raise
            except Exception as error:  # noqa: BLE001
                found = self._failure(error)
            may_be_made |= making and found.sent and not 400 <= (found.http_status or 0) < 500
            wait = self._retrying.wait(attempt, found.retry_after, self._rng)
            # What has no file cannot be told from the batches of others before it has ended.
            certain = self._service.by_file or not may_be_made
            again = found.transport_error and certain and self.halt is None
            if not again or wait is None:
                break
            await pause(wait, self._wake)
        if not may_be_made:
            self._not_sent(batch, "not made")
        said = found.rejection or found.transport_error or found.unreadable
        said = self._provider.secrets.clean(said)
        self.stop(Halt("failures", f"a batch could not be sent: {said}"))

    async def _found(self, batch: Batch) -> bool:
        """Look for a batch whose id never came, and write it."""
        name, _ = await self._service.find(batch)
        if name:
            self._ledger.tell_batch(batch, id=name)
        return bool(name)

    def _not_sent(self, batch: Batch, why: str) -> None:
        """Write that no question of a batch has left, and give back what was set aside."""
        for most in batch.keys.values():
            self._purse.free(most, Charge())
        self._ledger.tell_batch(batch, ended=why)

    def _failure(self, error: Exception) -> Failure:
        """Say what an error of a library means; what it stumbled over may be gone next time."""
        return failure_of(error) or Failure(f"{type(error).__name__}: {error}")

    async def _collect(self, by_key: dict[str, Askable]) -> list[Askable]:
        """Fetch answers until all batches of these questions have ended; gives those to ask again.

        Ctrl-C, and what else stops a run, leaves batches to the next run.
        """
        again: list[Askable] = []
        wait, failures, before = self._retrying.first_wait, 0, -1
        while self.halt is None:
            open_now = self._waiting(by_key)
            if not open_now:
                break
            n_done = 0
            try:
                for batch in open_now:
                    n_done += await self._look(batch, by_key, again)
                failures = 0
            except InputError:
                raise
            except Exception as error:  # noqa: BLE001
                found = self._failure(error)
                failures, n_done = failures + 1, before
                if found.rejection or failures >= _MOST_FAILED_LOOKS:
                    said = found.rejection or found.transport_error or found.unreadable
                    said = self._provider.secrets.clean(said)
                    self.stop(Halt("failures", f"batches cannot be looked at: {said}"))
            if self._waiting(by_key):
                wait = self._retrying.first_wait if n_done != before else wait * 2
                before = n_done
                await pause(min(wait, self._retrying.longest_wait), self._wake)
        return again

    def _waiting(self, by_key: dict[str, Askable]) -> list[Batch]:
        return [
            batch
            for batch in self._ledger.batches.values()
            if any(key in by_key for key in batch.keys)
        ]

    async def _look(self, batch: Batch, by_key: dict[str, Askable], again: list[Askable]) -> int:
        """See how far a batch is, and fetch its answers when it has ended."""
        if not batch.id:
            name, unsure = await self._service.find(batch)
            if unsure:
                return 0
            if not name:
                again += [by_key[key] for key in batch.keys if key in by_key]
                self._not_sent(batch, "not found")
                return 0
            self._ledger.tell_batch(batch, id=name)
        try:
            state = await self._service.state(batch)
        except Exception as error:
            found = self._failure(error)
            if found.http_status not in (404, 410):
                raise
            # It may have been worked off and billed: it counts at what answers have taken.
            await self._take(batch, by_key, again, gone="the batch is not there any more")
            return 0
        self._tell_batch(batch, state.n_done)
        if state.refused:
            self._not_sent(batch, "refused")
            self.stop(
                Halt(
                    "failures",
                    f"the provider took none of a batch of {batch.n_sent:,} questions: "
                    f"{self._provider.secrets.clean(state.refused)}; smaller ones "
                    "(--config batch_size=) may fit its limits",
                )
            )
        elif state.ended:
            await self._take(batch, by_key, again)
        return state.n_done

    async def _take(
        self,
        batch: Batch,
        by_key: dict[str, Askable],
        again: list[Askable],
        gone: str = "",
    ) -> None:
        """Write what came of the questions of a batch."""
        came: list[tuple[Askable, Record, Judged]] = []
        if not gone:
            async with aclosing(self._service.results(batch)) as lines:
                async for key, status, body in lines:
                    question = by_key.get(key)
                    if question is None or key not in batch.keys:
                        continue
                    prompt = await self._prompt(question, again=self._ask(question) > 1)
                    if prompt is None:
                        # Its answer stays there, for a run that has its picture.
                        del by_key[key]
                        continue
                    if status is None:
                        reply = Reply(failure=Failure(f"not asked: {body}", sent=False))
                    else:
                        reply = await self._desk.read(prompt, status, body)
                        answered = reply.failure is None
                        self._estimator.learn(prompt, reply.usage, answered=answered)
                    came.append(self._line(batch, question, reply))
                    if len(came) >= _WRITTEN_TOGETHER:
                        await self._write(batch, came, again)
        left_out = Failure(gone or "the batch has no reply to it", sent=bool(gone))
        written = {question.key for question, _, _ in came}
        came.extend(
            self._line(batch, by_key[key], Reply(failure=left_out))
            for key in batch.keys
            if key in by_key and key not in written
        )
        await self._write(batch, came, again)

    def _line(
        self, batch: Batch, question: Askable, reply: Reply
    ) -> tuple[Askable, Record, Judged]:
        took, billed = self._took(reply, batch.keys[question.key], batch=True)
        record, judged = self._judged(
            question,
            reply,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            charged=took,
            n_unbilled=int(not billed),
            retries=self._tries[question.key],
            ask=self._ask(question),
            batch=batch.name,
        )
        return question, record, judged

    async def _write(
        self,
        batch: Batch,
        came: list[tuple[Askable, Record, Judged]],
        again: list[Askable],
    ) -> None:
        held = {question.key: batch.keys[question.key] for question, _, _ in came}
        for written, (question, _, judged) in zip(
            await self._ledger.add(*(record for _, record, _ in came)), came, strict=True
        ):
            self._purse.free(held[question.key], written.charged)
            if to_ask_again(question, written, judged):
                again.append(question)
                continue
            self._came(question, written, judged)
            self._tries[question.key] += 1
            if written.outcome == "transport" and self._tries[question.key] < self._retrying.tries:
                again.append(question)
        came.clear()

    def _ask(self, question: Askable) -> int:
        """Say how often a question will have been asked for an answer that can be read."""
        return asked_before(question, self._ledger.get(question.key)) + 1

    def _tell_batch(self, batch: Batch, n_done: int) -> None:
        if self._progress is not None:
            number = self._numbers.setdefault(batch.name, len(self._numbers) + 1)
            n = len(self._numbers.keys() | self._ledger.batches.keys())
            text = f"batch {number:,} of {n:,}: {n_done:,} of {batch.n_sent:,} answered"
            self._progress(text, self._done, self._total)

    def _tell(self) -> None:
        if self.halt is None or self.halt.kind != "interrupted":
            super()._tell()


def batches_sentence(batches: Collection[Batch]) -> str:
    """Say which batches go on without us, and how their answers are fetched; "" for none."""
    if not batches:
        return ""
    n = sum(len(batch.keys) for batch in batches)
    held = sum((charge for batch in batches for charge in batch.keys.values()), Charge())
    cost = f", ${held.usd:,.4f}" if held.usd else ""
    names = joined([batch.id or batch.name for batch in batches])
    goes = "goes" if len(batches) == 1 else "go"
    return (
        f"{plural(len(batches), 'batch', 'batches')} ({names}) {goes} on at the provider with "
        f"{plural(n, 'question')}, for which up to {plural(held.tokens, 'token')}{cost} are set "
        "aside; the same command fetches the answers"
    )
