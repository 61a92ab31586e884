"""Asking many questions at once: within limits, with a ledger, and stopping without loss."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from affectlab.core.errors import InputError
from affectlab.evaluation import OUTCOMES
from affectlab.models.vlm.asking.budget import Charge, Estimator, Purse, Usage
from affectlab.models.vlm.asking.event_loop import Interrupt, interruptible
from affectlab.models.vlm.asking.ledger import Ledger, Record
from affectlab.models.vlm.asking.limits import Halt, Pace, Patience, pause
from affectlab.models.vlm.asking.outcomes import (
    Askable,
    Judged,
    asked_before,
    judge,
    problem_of,
    to_ask_again,
)
from affectlab.models.vlm.asking.provider import NO_LOGPROBS, Provider, Reply
from affectlab.models.vlm.asking.settings import Retrying
from affectlab.models.vlm.prompts import Prompt, ShownBeforeError

__all__ = ["Asker", "Halt", "Progress"]

Progress = Callable[[str, int, int], None]


class Asker:
    """Asks questions of one model.

    Parameters
    ----------
    concurrency
        Most questions under way at once.
    patience
        Failures in a row, transport errors or rejections, after which it stops; and answers from
        the first on of which none can be used.
    skip_broken
        Go on without the questions whose picture is broken, instead of stopping.
    """

    def __init__(
        self,
        provider: Provider,
        ledger: Ledger,
        purse: Purse,
        estimator: Estimator,
        *,
        pace: Pace,
        retrying: Retrying,
        concurrency: int,
        patience: int,
        skip_broken: bool,
        progress: Progress | None,
        interrupt: Interrupt | None = None,
    ) -> None:
        self._provider = provider
        self._ledger = ledger
        self._purse = purse
        self._estimator = estimator
        self._pace = pace
        self._retrying = retrying
        self._concurrency = concurrency
        self._patience = Patience(patience)
        self._skip_broken = skip_broken
        self._progress = progress
        self._interrupt = interrupt
        self._rng = random.Random()
        self._todo: Iterator[Askable] = iter(())
        self._total = self._done = self._usable = 0
        self._wake = asyncio.Event()
        self._first = asyncio.Lock()
        self.halt: Halt | None = None
        self.answers: dict[str, tuple[Record, Judged]] = {}
        """What came of the questions of this run, by key."""
        self.broken: list[str] = []
        """Sentences about pictures that could not be asked about."""
        self.shown_before: list[str] = []
        """Sentences about pictures that are among the examples, under other bytes."""

    async def run(self, questions: Sequence[Askable], done: int, total: int) -> None:
        """Ask all questions; the first error of a worker stops the others after their answers.

        Parameters
        ----------
        done, total
            Questions answered before, and all of the run, for the progress.
        """
        self._done, self._total = done, total
        self._tell()
        workers = self._workers(questions)
        with interruptible(self._interrupt, lambda: self._interrupted(workers)):
            found = await asyncio.gather(*workers, return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException):
                if isinstance(one, asyncio.CancelledError) and self.halt is not None:
                    continue
                raise one

    def _workers(self, questions: Sequence[Askable]) -> list[asyncio.Task[None]]:
        self._todo = iter(questions)
        return [
            asyncio.create_task(self._work())
            for _ in range(min(self._concurrency, max(len(questions), 1)))
        ]

    def _interrupted(self, workers: Sequence[asyncio.Task[None]]) -> None:
        """Wait for what is under way after the first Ctrl-C, and not after the second."""
        if self.halt is not None and self.halt.kind == "interrupted":
            for worker in workers:
                worker.cancel()
            return
        self.stop(Halt("interrupted", "interrupted"))
        self._tell()

    def stop(self, halt: Halt) -> None:
        """Hand out no more questions; what is under way is waited for."""
        if self.halt is None or halt.kind == "interrupted":
            self.halt = halt
        self._wake.set()

    async def _work(self) -> None:
        for question in self._todo:
            if self.halt is not None:
                return
            try:
                await self._one(question)
            except BaseException:
                self.stop(self.halt or Halt("failures", "an error"))
                raise

    async def _prompt(self, question: Askable, *, again: bool = False) -> Prompt | None:
        """Build a prompt; None where the question is left out."""
        try:
            return await asyncio.to_thread(question.prompt, again=again)
        except ShownBeforeError as error:
            self.shown_before.append(str(error))
        except InputError as error:
            if not self._skip_broken:
                raise
            self.broken.append(str(error))
        self._done += 1
        return None

    async def _one(self, question: Askable) -> None:
        """Ask until an answer can be read, as often as the question says at most."""
        asked, last = asked_before(question, self._ledger.get(question.key)), None
        while last is None or to_ask_again(question, *last):
            if last is not None and self.halt is not None:
                # The next run goes on with it.
                return
            prompt = await self._prompt(question, again=asked > 0)
            if prompt is None:
                return
            asked += 1
            last = await self._asked(question, prompt, asked)
            if last is None:
                return
        self._came(question, *last)

    async def _asked(
        self, question: Askable, prompt: Prompt, ask: int
    ) -> tuple[Record, Judged] | None:
        """Ask once, and write down what came; None when nobody was asked."""
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        reply, charged, unbilled, attempts, ended = await self._attempts(question, prompt)
        if reply is None:
            return None
        record, judged = self._judged(
            question,
            reply,
            at=begun,
            charged=charged,
            n_unbilled=unbilled,
            retries=attempts - 1,
            ask=ask,
            seconds=reply.seconds,
        )
        # Nothing waits between the answer and the ledger: what was paid for is written down.
        (written,) = await self._ledger.add(record)
        if ended is not None:
            raise ended
        return written, judged

    def _judged(self, question: Askable, reply: Reply, **known: Any) -> tuple[Record, Judged]:
        """Say what came of a question, as the ledger has it; `known` are fields of its record."""
        found = reply.failure
        record = Record(
            key=question.key,
            outcome="transport",
            text=reply.text,
            alternatives=reply.alternatives,
            stop_reason=reply.stop_reason,
            refusal=reply.refusal,
            rejection=found.rejection if found else "",
            transport_error=found.transport_error if found else "",
            unreadable=found.unreadable if found else "",
            http_status=found.http_status if found else None,
            usage=reply.usage,
            served=reply.served,
            not_sent=reply.not_sent,
            asked=self._told(question),
            **known,
        )
        record = self._ledger.cleaned(record)
        judged = judge(question, record)
        return replace(record, outcome=judged.outcome), judged

    def _came(self, question: Askable, written: Record, judged: Judged) -> None:
        """Count what came of a question, and stop where that is reason to."""
        before = self.answers.get(question.key)
        self.answers[question.key] = (written, judged)
        self._done += before is None
        self._usable += OUTCOMES[written.outcome].usable
        halt = self._patience.told(written, problem_of(written, judged))
        if written.unreadable == NO_LOGPROBS:
            # All others would be paid for as well, and bring nothing.
            halt = Halt("failures", NO_LOGPROBS)
        if halt is not None:
            self.stop(halt)
        self._tell()

    def _told(self, question: Askable) -> dict[str, Any]:
        """Say what was asked, and of whom, for readers of the ledger."""
        return {"model": self._provider.model, **question.told()}

    async def _attempts(
        self, question: Askable, prompt: Prompt
    ) -> tuple[Reply | None, Charge, int, int, InputError | None]:
        """Ask until there is an answer, or no more attempt is to be made.

        Returns
        -------
        The last reply, None when none was asked for; what counts against the budget; attempts of
        which nobody said what they took; the number of attempts; and what ends the run, where the
        attempt after them could not be made.
        """
        reply: Reply | None = None
        charged, unbilled, attempts = Charge(), 0, 0
        while self.halt is None:
            try:
                once = await self._careful_attempt(question, prompt, charged)
            except InputError as error:
                if reply is None:
                    raise
                # Earlier attempts left all the same: what they may have taken is written first.
                return reply, charged, unbilled, attempts, error
            if once is None:
                break
            reply, took, was_billed = once
            attempts += 1
            unbilled += not was_billed
            charged += took
            if not reply.lost:
                break
            asked = reply.failure.retry_after if reply.failure else None
            if asked is not None and asked > self._retrying.longest_asked:
                self.stop(_later(asked, self._retrying.longest_asked))
                break
            if asked:
                # The others would only be told the same.
                self._pace.hold(time.monotonic(), asked)
            wait = self._retrying.wait(attempts, asked, self._rng)
            if wait is None:
                break
            await pause(wait, self._wake)
        return reply, charged, unbilled, attempts, None

    async def _careful_attempt(
        self, question: Askable, prompt: Prompt, before: Charge
    ) -> tuple[Reply, Charge, bool] | None:
        """Ask once; alone as long as a budget depends on how this model counts, which is unknown.

        What providers take for a picture differs by a factor of 100: a first wave of many could
        exceed a budget many times over.
        """
        if self._purse.budget.counted and not self._estimator.told:
            async with self._first:
                if not self._estimator.told:
                    return await self._attempt(question, prompt, before)
        return await self._attempt(question, prompt, before)

    async def _attempt(
        self, question: Askable, prompt: Prompt, before: Charge
    ) -> tuple[Reply, Charge, bool] | None:
        """Ask once, within the budget; None when that is over, or all is to stop.

        Parameters
        ----------
        before
            What earlier attempts at the same question count.
        """
        if self.halt is not None:
            return None
        wanted = self._purse.charge(self._estimator.of(prompt).usage)
        if not await self._purse.reserve(wanted):
            self.stop(Halt("budget", "the budget does not cover another question"))
            return None
        took = Charge()
        try:
            await self._pace.turn(self._wake)
            if self.halt is not None:
                return None
            # Before it leaves: whatever ends this process, the next one knows what may be billed.
            await self._ledger.ask(question.key, before + wanted, self._told(question))
            took = wanted
            try:
                reply = await self._provider.ask(prompt)
            except InputError:
                if not before.requests:
                    self._ledger.withdraw(question.key)
                took = Charge()
                raise
            took, billed = self._took(reply, wanted)
            self._estimator.learn(prompt, reply.usage, answered=reply.failure is None)
            return reply, took, billed
        finally:
            await asyncio.shield(self._purse.settle(wanted, took))

    def _took(self, reply: Reply, wanted: Charge, *, batch: bool = False) -> tuple[Charge, bool]:
        """What an attempt counts: its tokens; nothing for an error; else the most it may be.

        Returns
        -------
        The charge, and whether it is known.
        """
        if reply.usage.known:
            return self._purse.charge(reply.usage, batch=batch), True
        found = reply.failure
        if found is not None and (found.http_status is not None or not found.sent):
            return self._purse.charge(Usage()), True
        return wanted, False

    def _tell(self) -> None:
        if self._progress is None:
            return
        rest = len(self.answers) - self._usable
        text = f"{self._provider.model}: {self._usable:,} usable, {rest:,} not"
        if self._purse.spent.usd:
            text += f", ${self._purse.spent.usd:,.2f}"
        if self.halt is not None and self.halt.kind == "interrupted":
            text = "stopping when what is under way has come; again to stop at once"
        self._progress(text, self._done, self._total)


def _later(asked: float, most: float) -> Halt:
    return Halt(
        "failures",
        f"the server asks to wait {asked:,.0f} seconds; expected {most:,.0f} at most, or to go on "
        "later",
    )
