"""A vision-language model that is asked in one way, and asking it about images."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from affectlab._words import joined, plural, shown
from affectlab.errors import InputError
from affectlab.models.images import ImageFile, find_images
from affectlab.models.vlm._ask import Asker, Progress
from affectlab.models.vlm._ask_settings import AskSettings, Retrying
from affectlab.models.vlm._attributes import rater_rows
from affectlab.models.vlm._budget import Budget, Purse
from affectlab.models.vlm._controls import check_controls
from affectlab.models.vlm._cost import Prices, known_prices
from affectlab.models.vlm._estimate import Estimator
from affectlab.models.vlm._judge import Judged, judge
from affectlab.models.vlm._ledger import ACCOUNT, Ledger, Record, again_outcomes
from affectlab.models.vlm._pace import Pace
from affectlab.models.vlm._plan import Plan, plan_of
from affectlab.models.vlm._provider import Provider, need_inspect
from affectlab.models.vlm._question import Design, Question, make_questions
from affectlab.models.vlm._run import Entry, VlmRun
from affectlab.protocols import Protocol, load_protocol

if TYPE_CHECKING:
    from affectlab.models.vlm._examples import Example
    from affectlab.models.vlm._prompt import Style
    from affectlab.models.vlm._prompt_image import ImageLimits

__all__ = ["Images", "VlmRater"]

Images = str | Path | Iterable[Any]
OnBad = Literal["raise", "set_aside"]
Result = TypeVar("Result")


@dataclass(frozen=True)
class VlmRater:
    """A vision-language model, asked in one way.

    Examples
    --------
    >>> rater = VlmRater("openai/gpt-4o-mini", "intensity", ledger="answers", at_most=5)
    >>> rater.name
    'openai/gpt-4o-mini zero-shot'
    """

    model: str
    """Model string of inspect-ai: ``openai/…``, ``anthropic/…``, ``google/…``, ``vllm/…``, or
    ``openai-api/NAME/…`` for any server that speaks OpenAI's chat completions."""
    protocol: str | Path | Protocol = "intensity"
    """How people are asked: a name, a file, or a protocol."""
    ledger: str | Path = "vlm"
    """Folder of the ledger, which is the cache as well."""
    style: Style = "zero-shot"
    examples: Sequence[Example] = ()
    """Solved examples, for ``"multi-shot"``; see :func:`read_examples`."""
    at_most: int | None = None
    left_out: Literal["not rated", "zero"] | None = None
    reasons: bool = False
    structured: bool = False
    """Let the provider hold the model to the schema of the answer."""
    shuffle: int | None = None
    """Seed that draws the order of labels for each image; None: the protocol's order."""
    limits: ImageLimits | None = None
    settings: AskSettings = field(default_factory=AskSettings)
    budget: Budget = field(default_factory=Budget)
    price_in: float | None = None
    """Dollars per million tokens of questions."""
    price_out: float | None = None
    """Dollars per million tokens of answers."""
    concurrency: int = 8
    """Most questions under way at once."""
    per_minute: int | None = None
    """Most questions that go out in any 60 seconds."""
    retrying: Retrying = field(default_factory=Retrying)
    patience: int = 20
    """Questions in a row without an answer after which a run stops."""
    again: Collection[str] = ()
    """Outcomes that are asked again although they are in the ledger; ``transport`` always is."""
    on_bad: OnBad = "raise"
    """Whether a broken image ends the run, or is left out and counted."""
    rater: str | None = None
    """Name of the rater; by default the model and the style."""
    _read: list[Protocol] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if "/" not in self.model:
            raise InputError(
                f"model {self.model!r}: expected a provider and a name, such as openai/gpt-4o-mini"
            )
        if self.concurrency < 1 or self.patience < 1:
            name = "concurrency" if self.concurrency < 1 else "patience"
            raise InputError(f"{name} {getattr(self, name)}: expected 1 or more")
        if self.on_bad not in ("raise", "set_aside"):
            raise InputError(f"on_bad {self.on_bad!r}: expected 'raise' or 'set_aside'")
        again_outcomes(self.again)

    @property
    def name(self) -> str:
        """Name of the rater."""
        return self.rater or f"{self.model} {self.style}"

    def design(self) -> Design:
        """Give how the prompts are built."""
        if not self._read:
            given = self.protocol
            self._read.append(given if isinstance(given, Protocol) else load_protocol(given))
        return Design(
            self._read[0],
            style=self.style,
            examples=tuple(self.examples),
            at_most=self.at_most,
            left_out=self.left_out,
            reasons=self.reasons,
            structured=self.structured,
            shuffle=self.shuffle,
            limits=self.limits,
        )

    def rate(
        self,
        images: Images,
        *,
        control: str | Sequence[str] | None = None,
        repeats: int = 1,
        targets: Mapping[str, str] | None = None,
        hints: Mapping[str, str] | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> VlmRun:
        """Ask about every image; see :func:`rate_vlm`."""
        asking = self.ask(
            images,
            control=control,
            repeats=repeats,
            targets=targets,
            hints=hints,
            seed=seed,
            progress=progress,
        )
        run = _run_now(asking)
        if run.halt is not None and run.halt.kind == "interrupted":
            raise KeyboardInterrupt
        return run

    def plan(
        self,
        images: Images,
        *,
        control: str | Sequence[str] | None = None,
        repeats: int = 1,
        targets: Mapping[str, str] | None = None,
        hints: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> Plan:
        """Say what would be asked, and about what it would take; nobody is asked."""
        need_inspect()
        questions, _ = self._questions(images, control, repeats, targets, hints, seed)
        prices = known_prices(self.model, self.price_in, self.price_out)
        return plan_of(questions, self.settings, prices)

    async def ask(
        self,
        images: Images,
        *,
        control: str | Sequence[str] | None = None,
        repeats: int = 1,
        targets: Mapping[str, str] | None = None,
        hints: Mapping[str, str] | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> VlmRun:
        """Ask about every image, within a running event loop; see :func:`rate_vlm`.

        An interrupted run comes back with what was answered; its ``halt`` says so.
        """
        need_inspect()
        questions, notes = self._questions(images, control, repeats, targets, hints, seed)
        prices = known_prices(self.model, self.price_in, self.price_out)
        provider = Provider(self.model, self.settings)
        try:
            with Ledger(self.ledger, provider.secrets) as ledger:
                return await self._ask(provider, ledger, questions, prices, notes, progress)
        finally:
            await provider.close()

    def _questions(
        self,
        images: Images,
        control: str | Sequence[str] | None,
        repeats: int,
        targets: Mapping[str, str] | None,
        hints: Mapping[str, str] | None,
        seed: int,
    ) -> tuple[list[Question], list[str]]:
        controls = check_controls(control)
        if repeats < 1:
            raise InputError(f"repeats {repeats}: expected 1 or more")
        repeats = max(repeats, 2) if "repeat" in controls else repeats
        found = find_images(images)
        shown_before = {part.sha256 for one in self.examples for part in one.stimulus.pictures}
        files = [file for file in found if file.sha256 not in shown_before]
        notes = []
        if len(files) < len(found):
            n = plural(len(found) - len(files), "image")
            notes.append(f"left out {n} shown as an example in every prompt")
        if not files:
            raise InputError("every image is one of the examples; expected others to rate")
        notes += _same_content(files)
        questions = make_questions(
            self.design(),
            files,
            self.model,
            self.settings,
            controls=controls,
            repeats=repeats,
            seed=seed,
            targets=targets,
            hints=hints,
        )
        return list(questions), notes

    async def _ask(
        self,
        provider: Provider,
        ledger: Ledger,
        questions: list[Question],
        prices: Prices | None,
        notes: list[str],
        progress: Progress | None,
    ) -> VlmRun:
        if ledger.n_broken:
            lines = plural(ledger.n_broken, "line")
            notes.append(
                f"{ledger.folder}: {lines} of the ledger could not be read, as a run that was "
                "killed leaves them; what they held was asked again"
            )
        kept, todo = self._split(ledger, questions)
        purse = Purse(self.budget, prices, ledger.spent(prices))
        asker = Asker(
            provider,
            ledger,
            purse,
            Estimator(self.settings.max_tokens),
            pace=Pace(self.per_minute),
            retrying=self.retrying,
            concurrency=self.concurrency,
            patience=self.patience,
            skip_broken=self.on_bad == "set_aside",
            progress=progress,
        )
        if todo:
            first = todo[0]
            ledger.begin(
                {
                    "model": self.model,
                    "settings": self.settings.sent(),
                    "rater": self.name,
                    "questions": len(questions),
                    "prompt": first.blank().text,
                    "design": first.name,
                }
            )
            await asker.run(todo, len(kept), len({one.key for one in questions}))
        if asker.broken:
            n = plural(len(asker.broken), "question")
            notes.append(f"left out {n} with a broken image: {asker.broken[0]}")
        if provider.hidden_retries and todo:
            notes.append(
                f"the library of {self.model.partition('/')[0]} may try again on its own; such "
                "retries are not counted"
            )
        entries = []
        for question in questions:
            fresh = asker.answers.get(question.key)
            found = fresh or kept.get(question.key)
            if found is not None:
                entries.append(Entry(question, *found, kept=fresh is None))
        return VlmRun(
            model=self.model,
            rater=self.name,
            entries=tuple(entries),
            raters=rater_rows(self, questions, entries),
            prices=prices,
            folder=ledger.folder,
            n_questions=len(questions),
            halt=asker.halt,
            left=purse.left(),
            spent=purse.spent,
            notes=tuple(notes),
        )

    def _split(
        self, ledger: Ledger, questions: Sequence[Question]
    ) -> tuple[dict[str, tuple[Record, Judged]], list[Question]]:
        """Tell what the ledger answers from what is to be asked."""
        again = again_outcomes(self.again)
        kept: dict[str, tuple[Record, Judged]] = {}
        todo: dict[str, Question] = {}
        for question in questions:
            if question.key in kept or question.key in todo:
                continue
            record = ledger.get(question.key)
            if record is not None:
                judged = judge(question, record)
                account = judged.outcome == "rejected" and record.http_status in ACCOUNT
                if judged.outcome not in again and not account:
                    kept[question.key] = (record, judged)
                    continue
            todo[question.key] = question
        return kept, list(todo.values())


def _same_content(files: Sequence[ImageFile]) -> list[str]:
    """Say which stimuli have the same bytes, since one answer serves them all."""
    by_content: dict[str, list[str]] = {}
    for file in files:
        by_content.setdefault(file.sha256, []).append(file.stimulus)
    same = [names for names in by_content.values() if len(names) > 1]
    if not same:
        return []
    first = joined(shown(name, 40) for name in same[0][:3])
    n = sum(len(names) for names in same)
    return [f"{n:,} images hold the content of another one ({first} first); asked about once each"]


def _run_now(asking: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end, also where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asking)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, asking).result()
