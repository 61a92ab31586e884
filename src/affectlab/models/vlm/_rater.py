"""A vision-language model that is asked in one way, and asking it about images."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from affectlab.errors import InputError
from affectlab.models._outcomes_again import again_outcomes
from affectlab.models.vlm._ask import Progress
from affectlab.models.vlm._ask_settings import AskSettings, Retrying
from affectlab.models.vlm._asking import Images, Wanted, ask_all, plan_all
from affectlab.models.vlm._budget import Budget
from affectlab.models.vlm._examples import Example
from affectlab.models.vlm._now import run_now
from affectlab.models.vlm._plan import Plan
from affectlab.models.vlm._prompt import Style
from affectlab.models.vlm._prompt_image import ImageLimits
from affectlab.models.vlm._question import Design
from affectlab.models.vlm._run import VlmRun
from affectlab.models.vlm._served import warn_of_others
from affectlab.protocols import Protocol, load_protocol

__all__ = ["Images", "VlmRater"]

OnBad = Literal["raise", "set_aside"]


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
    """What a label without a value means; None: 0 with `at_most`, else what the protocol says."""
    reasons: bool = False
    structured: bool = False
    """Let the provider hold the model to the schema of the answer."""
    shuffle: int | None = 0
    """Seed that draws the order of labels for each image, since models favour what comes first;
    None: the protocol's order for all."""
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
    """Questions in a row without an answer, or first answers without use, after which a run
    stops."""
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
        """Ask about every image; see :func:`rate_vlm`.

        Warns
        -----
        OtherModelWarning
            When another model answered than the one that was asked.
        """
        wanted = Wanted(images, control, repeats, targets, hints, seed)
        run = run_now(lambda interrupt: ask_all(self, wanted, progress, interrupt))
        if run.halt is not None and run.halt.kind == "interrupted":
            raise KeyboardInterrupt
        warn_of_others(run.others)
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
        """Say what would be asked, and about what it would take; nobody is asked.

        What the ledger answers already is counted apart.
        """
        return plan_all(self, Wanted(images, control, repeats, targets, hints, seed))

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
        run = await ask_all(self, Wanted(images, control, repeats, targets, hints, seed), progress)
        warn_of_others(run.others)
        return run
