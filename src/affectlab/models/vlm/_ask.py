"""Asking many questions at once: within limits, with a ledger, and stopping without loss."""

from __future__ import annotations

import asyncio
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from affectlab._words import plural, shown
from affectlab.errors import InputError
from affectlab.evaluation import OUTCOMES
from affectlab.models.vlm._ask_settings import Retrying
from affectlab.models.vlm._budget import Charge, Purse
from affectlab.models.vlm._cost import Usage
from affectlab.models.vlm._estimate import Estimator
from affectlab.models.vlm._judge import Judged, judge
from affectlab.models.vlm._ledger import ACCOUNT, Ledger, Record
from affectlab.models.vlm._pace import Pace, pause
from affectlab.models.vlm._prompt import Prompt
from affectlab.models.vlm._provider import Provider
from affectlab.models.vlm._question import Question
from affectlab.models.vlm._reply import Reply

__all__ = ["Asker", "Halt", "Progress"]

Progress = Callable[[str, int, int], None]

_ACCOUNT_PATIENCE = 3
"""Answers in a row that speak against the key or the address after which a run stops."""


@dataclass(frozen=True)
class Halt:
    """Why a run stopped before its end."""

    kind: str
    """``budget``, ``failures`` or ``interrupted``."""
    reason: str
    """A sentence without its end."""


class Asker:
    """Asks questions of one model.

    Parameters
    ----------
    concurrency
        Most questions under way at once.
    patience
        Failures in a row, transport errors or rejections, after which it stops.
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
    ) -> None:
        self._provider = provider
        self._ledger = ledger
        self._purse = purse
        self._estimator = estimator
        self._pace = pace
        self._retrying = retrying
        self._concurrency = concurrency
        self._patience = patience
        self._skip_broken = skip_broken
        self._progress = progress
        self._rng = random.Random()
        self._todo: Iterator[Question] = iter(())
        self._total = self._done = self._usable = self._in_a_row = self._account = 0
        self._wake = asyncio.Event()
        self.halt: Halt | None = None
        self.answers: dict[str, tuple[Record, Judged]] = {}
        """What came of the questions of this run, by key."""
        self.broken: list[str] = []
        """Sentences about pictures that could not be asked about."""

    async def run(self, questions: Sequence[Question], done: int, total: int) -> None:
        """Ask all questions; the first error of a worker stops the others after their answers.

        Parameters
        ----------
        done, total
            Questions answered before, and all of the run, for the progress.
        """
        self._todo, self._done, self._total = iter(questions), done, total
        self._tell()
        workers = [
            asyncio.create_task(self._work())
            for _ in range(min(self._concurrency, max(len(questions), 1)))
        ]
        with self._interruptible(workers):
            found = await asyncio.gather(*workers, return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException):
                if isinstance(one, asyncio.CancelledError) and self.halt is not None:
                    continue
                raise one

    @contextmanager
    def _interruptible(self, workers: Sequence[asyncio.Task[None]]) -> Iterator[None]:
        """Let Ctrl-C wait for what is under way; a second one does not wait."""

        def interrupted() -> None:
            if self.halt is not None and self.halt.kind == "interrupted":
                for worker in workers:
                    worker.cancel()
                return
            self.stop(Halt("interrupted", "interrupted"))
            self._tell()

        loop = asyncio.get_running_loop()
        main = threading.current_thread() is threading.main_thread()
        try:
            handled = main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
            if handled:
                loop.add_signal_handler(signal.SIGINT, interrupted)
        except NotImplementedError:
            # Windows: Ctrl-C cancels at once, and the ledger has all that was answered.
            handled = False
        try:
            yield
        finally:
            if handled:
                loop.remove_signal_handler(signal.SIGINT)

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

    async def _one(self, question: Question) -> None:
        try:
            prompt = await asyncio.to_thread(question.prompt)
        except InputError as error:
            if not self._skip_broken:
                raise
            self.broken.append(str(error))
            self._done += 1
            return
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        reply, charged, unbilled, attempts = await self._attempts(prompt)
        if reply is None:
            return
        found = reply.failure
        record = Record(
            key=question.key,
            outcome="transport",
            text=reply.text,
            stop_reason=reply.stop_reason,
            refusal=reply.refusal,
            rejection=found.rejection if found else "",
            transport_error=found.transport_error if found else "",
            http_status=found.http_status if found else None,
            retries=attempts - 1,
            usage=reply.usage,
            charged=charged,
            n_unbilled=unbilled,
            served=reply.served,
            seconds=reply.seconds,
            not_sent=reply.not_sent,
            at=begun,
            asked={"model": self._provider.model, **question.told()},
        )
        judged = judge(question, record)
        # Nothing waits between the answer and the ledger: what was paid for is written down.
        written = self._ledger.add(replace(record, outcome=judged.outcome))
        self.answers[question.key] = (written, judged)
        self._done += 1
        self._usable += OUTCOMES[written.outcome].usable
        self._count(written)
        self._tell()

    async def _attempts(self, prompt: Prompt) -> tuple[Reply | None, Charge, int, int]:
        """Ask until there is an answer, or no more attempt is to be made.

        Returns
        -------
        The last reply, None when none was asked for; what counts against the budget; attempts of
        which nobody said what they took; and the number of attempts.
        """
        reply: Reply | None = None
        charged, unbilled, attempts = Charge(), 0, 0
        while self.halt is None:
            wanted = self._purse.charge(self._estimator.of(prompt).usage)
            if not await self._purse.reserve(wanted):
                self.stop(Halt("budget", "the budget does not cover another question"))
                break
            took = wanted
            try:
                await self._pace.turn(self._wake)
                if self.halt is not None:
                    took = Charge()
                    break
                reply = await self._provider.ask(prompt)
                attempts += 1
                took = self._took(reply, wanted)
                unbilled += took == wanted
                charged += took
                self._estimator.learn(prompt, reply.usage)
            finally:
                await asyncio.shield(self._purse.settle(wanted, took))
            if not reply.lost:
                break
            asked = reply.failure.retry_after if reply.failure else None
            wait = self._retrying.wait(attempts, asked, self._rng)
            if wait is None:
                break
            if asked:
                # The others would only be told the same.
                self._pace.hold(time.monotonic(), asked)
            await pause(wait, self._wake)
        return reply, charged, unbilled, attempts

    def _took(self, reply: Reply, wanted: Charge) -> Charge:
        """What an attempt counts: its tokens; nothing for an error; else the most it may be."""
        if reply.usage.known:
            return self._purse.charge(reply.usage)
        if reply.failure is not None and reply.failure.http_status is not None:
            return self._purse.charge(Usage())
        return wanted

    def _count(self, record: Record) -> None:
        """Stop a run in which nothing is answered."""
        outcome = record.outcome
        account = outcome == "rejected" and record.http_status in ACCOUNT
        self._account = self._account + 1 if account else 0
        failed = outcome in ("transport", "rejected")
        self._in_a_row = self._in_a_row + 1 if failed else 0
        if self._in_a_row >= self._patience or self._account >= _ACCOUNT_PATIENCE:
            said = record.rejection or record.transport_error
            status = f" (HTTP {record.http_status})" if record.http_status else ""
            self.stop(
                Halt(
                    "failures",
                    f"{plural(self._in_a_row, 'question')} in a row got no answer, the last one "
                    f"because: {shown(said, 200)}{'' if 'HTTP' in said else status}",
                )
            )

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
