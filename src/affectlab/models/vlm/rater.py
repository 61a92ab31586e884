"""A vision-language model that is asked in one way, and asking it about images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from affectlab.core.errors import InputError
from affectlab.core.types import Count, Rare
from affectlab.core.words import joined, plural, shown
from affectlab.models.ask import in_flight_sentence
from affectlab.models.outcomes import again_outcomes
from affectlab.models.vlm.asking import (
    LEDGER,
    STRUCTURED,
    Askable,
    Asker,
    AskSettings,
    BatchAsker,
    Budget,
    Charge,
    Estimator,
    Halt,
    Interrupt,
    Judged,
    Ledger,
    Logged,
    Pace,
    Plan,
    Prices,
    Progress,
    Provider,
    Purse,
    Record,
    Retrying,
    batches_sentence,
    judge,
    known_prices,
    leaving,
    log_path,
    need_inspect,
    other_models,
    other_models_said,
    plan_of,
    rater_of,
    run_now,
    sent_to,
    to_ask_again,
    unclear_said,
    warn_of_others,
    with_address,
    write_log,
)
from affectlab.models.vlm.material import Material, Shown, find_material
from affectlab.models.vlm.prompts import (
    Example,
    ImageLimits,
    PublishedPrompt,
    Readout,
    Style,
    Wording,
    one_at_a_time,
    read_prompt_file,
)
from affectlab.models.vlm.questions import MAIN, Design, Question, check_controls, make_questions
from affectlab.models.vlm.run import Entry, VlmRun
from affectlab.protocols import Protocol, load_protocol

__all__ = [
    "Announce",
    "Came",
    "One",
    "VlmRater",
    "Wanted",
    "ask_all",
    "ask_questions",
    "how_asked",
    "plan_all",
    "rate_vlm",
    "rater_rows",
    "same_content",
    "split",
]

# What the ledger answers, and what is still to be asked.


_TOLD_EVERY = 200
One = TypeVar("One", bound=Askable)


def split(
    ledger: Ledger,
    questions: Sequence[One],
    again: Collection[str],
    progress: Progress | None = None,
) -> tuple[dict[str, tuple[Record, Judged]], list[One]]:
    """Tell what the ledger answers from what is to be asked, each question once.

    Parameters
    ----------
    again
        Outcomes that are asked again although they are in the ledger.
    progress
        Told how far it is, since answers are read anew: thousands take a while.
    """
    wanted = again_outcomes(again) | {"transport"}
    kept: dict[str, tuple[Record, Judged]] = {}
    todo: dict[str, One] = {}
    for number, question in enumerate(questions):
        if progress is not None and len(ledger) and number % _TOLD_EVERY == 0:
            progress("reading the ledger", number, len(questions))
        if question.key in kept or question.key in todo:
            continue
        record = ledger.get(question.key)
        if record is not None:
            judged = judge(question, record)
            unfinished = record.of_account or to_ask_again(question, record, judged)
            if judged.outcome not in wanted and not unfinished:
                kept[question.key] = (record, judged)
                continue
        todo[question.key] = question
    return kept, list(todo.values())


def same_content(files: Sequence[Shown]) -> list[str]:
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


# What is known of a rater: the model, how it was asked, and which run controls which.


def how_asked(
    rater: VlmRater, not_sent: Collection[str] = (), shown: Shown | None = None
) -> dict[str, Any]:
    """Attributes that say how a rater asks; a setting that is not sent is None.

    Parameters
    ----------
    not_sent
        Settings that the model does not take.
    shown
        A stimulus of the kind that is asked about, where it may not be what the protocol shows.
    """
    settings, design = with_address(rater.model, rater.settings), rater.design()
    prompt = design.blank(shown)
    published = design.prompt if isinstance(design.prompt, PublishedPrompt) else None
    return {
        "model": rater.model,
        "protocol": design.protocol.name,
        "prompt_version": prompt.design,
        "style": rater.style,
        "wording": rater.wording,
        "prompt_sha256": None if published is None else published.sha256,
        "most_asks": design.most_asks if design.most_asks > 1 else None,
        "sent_to": sent_to(rater.model, settings),
        "n_examples": len(rater.examples) or None,
        "at_most": prompt.at_most,
        "left_out": prompt.left_out if prompt.labels else None,
        "reasons": prompt.reasons,
        "structured": rater.structured and STRUCTURED not in not_sent,
        "readout": None if rater.readout == "generate" else rater.readout,
        "label_order": "protocol"
        if rater.shuffle is None or published is not None
        else f"shuffled, seed {rater.shuffle}",
        "temperature": None if "temperature" in not_sent else settings.sent_temperature,
        "top_p": None if "top_p" in not_sent else settings.top_p,
        "max_tokens": settings.max_tokens,
        "sampling_seed": None if "seed" in not_sent else settings.sampling_seed,
        "reasoning_effort": settings.reasoning_effort,
    }


def rater_rows(
    rater: VlmRater,
    questions: Sequence[Question],
    entries: Sequence[Entry],
    known: Iterable[Record] = (),
) -> list[dict[str, Any]]:
    """Attributes of the main run and of each control, of each model that answered.

    Where another model answered than the one that was asked, it is another rater, whose row names
    it as ``other``.

    Parameters
    ----------
    known
        What the ledger holds of the model, in which the version is seen that answered first.
    """
    first = {question.control: question for question in reversed(questions)}
    not_sent = {name for entry in entries for name in entry.record.not_sent}
    told = how_asked(rater, not_sent)
    others = set(other_models(rater.model, (entry.record for entry in entries), known))
    answered: dict[str, set[str]] = {}
    for entry in entries:
        answered.setdefault(entry.question.control, set()).add(entry.record.served)
    rows = []
    for control in dict.fromkeys(question.control for question in questions):
        main, version = control == MAIN, first[control].name
        came = answered.get(control, {""})
        own = came - others
        for other in (*([None] if own else []), *sorted(came & others)):
            of = rater.name if other is None else rater_of(rater.name, other)
            name = rater.name if main else f"{rater.name} {control}"
            rows.append(
                {
                    "rater": name if other is None else rater_of(name, other),
                    "rater_kind": "model",
                    "prompt": f"{rater.way} {version[:8]}",
                    **told,
                    "prompt_version": version,
                    "served": other or next(iter(sorted(own - {""})), None),
                    "other": other,
                    "control": control,
                    "of": None if main else of,
                }
            )
    return rows


# Asking about many images by a rater: its questions, its ledger, its run.


@dataclass(frozen=True)
class Wanted:
    """What a run is to ask about; see :func:`affectlab.models.vlm.rate_vlm`."""

    stimuli: Material
    control: str | Sequence[str] | None
    repeats: Count
    targets: Mapping[str, str] | None
    hints: Mapping[str, str] | None
    seed: int


def plan_all(rater: VlmRater, wanted: Wanted) -> Plan:
    """Say what would be asked, and about what it would take; nobody is asked."""
    need_inspect()
    settings = with_address(rater.model, rater.settings)
    questions, _ = _questions(rater, wanted, settings)
    prices = known_prices(rater.model, rater.price_in, rater.price_out)
    todo = list({question.key: question for question in questions}.values())
    if (Path(rater.ledger) / LEDGER).exists():
        with Ledger(rater.ledger) as ledger:
            _, todo = split(ledger, questions, rater.again)
    return plan_of(questions, todo, rater.model, settings, prices, batch=rater.batch)


async def ask_all(
    rater: VlmRater,
    wanted: Wanted,
    progress: Progress | None,
    announce: Announce | None,
    interrupt: Interrupt | None = None,
) -> VlmRun:
    """Ask about every image."""
    need_inspect()
    settings = with_address(rater.model, rater.settings)
    questions, notes = _questions(rater, wanted, settings)
    prices = known_prices(rater.model, rater.price_in, rater.price_out)
    provider = Provider(rater.model, settings)
    try:
        with Ledger(rater.ledger, provider.secrets) as ledger:
            return await _ask(
                rater, provider, ledger, questions, prices, notes, progress, announce, interrupt
            )
    finally:
        await provider.close()


def _questions(
    rater: VlmRater, wanted: Wanted, settings: AskSettings
) -> tuple[list[Question], list[str]]:
    controls = check_controls(wanted.control)
    if wanted.repeats < 1:
        raise InputError(f"repeats {wanted.repeats}: expected 1 or more")
    repeats = max(wanted.repeats, 2) if "repeat" in controls else wanted.repeats
    found = find_material(wanted.stimuli, rater.design().protocol)
    shown_before = {part.sha256 for one in rater.examples for part in one.stimulus.pictures}
    files = [file for file in found if file.sha256 not in shown_before]
    notes = []
    if len(files) < len(found):
        n = plural(len(found) - len(files), "image")
        notes.append(f"left out {n} shown as an example in every prompt")
    if not files:
        raise InputError("every image is one of the examples; expected others to rate")
    if files[0].kind == "sound":
        protocol = rater.design().protocol
        notes.append(
            f"protocol {protocol.name!r} is about one {protocol.stimulus}: its words stand as they "
            "are beside a sound; a protocol of your own can speak of voices"
        )
    notes += same_content(files)
    questions = make_questions(
        rater.design(),
        files,
        rater.model,
        settings,
        controls=controls,
        repeats=repeats,
        seed=wanted.seed,
        targets=wanted.targets,
        hints=wanted.hints,
    )
    return list(questions), notes


async def _ask(
    rater: VlmRater,
    provider: Provider,
    ledger: Ledger,
    questions: list[Question],
    prices: Prices | None,
    notes: list[str],
    progress: Progress | None,
    announce: Announce | None,
    interrupt: Interrupt | None,
) -> VlmRun:
    def first(question: Question) -> dict[str, str]:
        return {"prompt": question.blank().text, "design": question.name}

    came = await ask_questions(
        rater, provider, ledger, questions, prices, first, progress, announce, interrupt
    )
    entries = [Entry(*answer) for answer in came.answers]
    known = ledger.of_model(rater.model)
    records = list({entry.question.key: entry.record for entry in entries}.values())
    others = other_models_said(rater.model, rater.name, records, known)
    unclear = unclear_said(rater.model, records)
    return VlmRun(
        model=rater.model,
        rater=rater.name,
        entries=tuple(entries),
        raters=rater_rows(rater, questions, entries, known),
        others=tuple(others),
        prices=prices,
        folder=ledger.folder,
        n_questions=len(questions),
        halt=came.halt,
        left=came.left,
        spent=came.spent,
        notes=(*unclear, *notes, *came.notes),
        leaves=came.leaves,
        earlier={entry.question.key: ledger.earlier(entry.question.key) for entry in entries},
    )


@dataclass(frozen=True)
class Came(Generic[One]):
    """What came of questions, whatever they are about."""

    answers: list[tuple[One, Record, Judged, bool]]
    """Question, what came, what it says, and whether the ledger had it already."""
    halt: Halt | None
    left: str
    spent: Charge
    notes: tuple[str, ...]
    leaves: str
    """What left this machine, and to whom; "" where nothing did."""


async def ask_questions(
    rater: VlmRater,
    provider: Provider,
    ledger: Ledger,
    questions: Sequence[One],
    prices: Prices | None,
    first: Callable[[One], Mapping[str, str]],
    progress: Progress | None,
    announce: Announce | None,
    interrupt: Interrupt | None,
) -> Came[One]:
    """Ask what the ledger does not answer yet, within the limits of a rater.

    Parameters
    ----------
    first
        What the ledger is to say of the first question: its prompt.
    announce
        Told what would be asked before the first question leaves.
    """
    notes = []
    if ledger.n_broken:
        lines = plural(ledger.n_broken, "line")
        notes.append(
            f"{ledger.folder}: {lines} of the ledger could not be read, as a run that was "
            "killed leaves them; what they held was asked again"
        )
    notes += _in_flight(ledger)
    kept, todo = split(ledger, questions, rater.again, progress)
    purse = Purse(rater.budget, prices, ledger.spent(prices))
    waiting = {key: most for batch in ledger.batches.values() for key, most in batch.keys.items()}
    for most in waiting.values():
        purse.hold(most, always=True)
    fetches = any(one.key in waiting for one in todo)
    asking: dict[str, Any] = {
        "pace": Pace(rater.per_minute),
        "retrying": rater.retrying,
        "concurrency": rater.concurrency,
        "patience": rater.patience,
        "skip_broken": rater.on_bad == "set_aside",
        "progress": progress,
        "interrupt": interrupt,
    }
    kind: type[Asker] = Asker
    if todo and (rater.batch or fetches):
        kind, asking["size"] = BatchAsker, rater.batch_size if rater.batch else 0
    estimator = Estimator(rater.settings.max_tokens)
    if todo:
        _learn(estimator, questions, kept)
    asker = kind(provider, ledger, purse, estimator, **asking)
    log = log_path(ledger.folder, rater.name)
    leaves = leaving(todo, rater.model, provider.settings)
    try:
        if todo:
            if announce is not None:
                announce(
                    plan_of(
                        questions,
                        todo,
                        rater.model,
                        provider.settings,
                        prices,
                        skip_broken=True,
                        batch=rater.batch,
                    )
                )
            ledger.begin(
                {
                    "model": rater.model,
                    "settings": provider.settings.sent(),
                    "rater": rater.name,
                    "questions": len(questions),
                    "leaves": leaves,
                    **first(todo[0]),
                }
            )
            await asker.run(todo, len(kept), len({one.key for one in questions}))
    finally:
        answers = _answers(questions, asker.answers, kept)
        if todo or not log.exists():
            failed = _log(log, rater, provider, answers, first, asker.halt)
            notes += [failed] if failed else []
    halt = asker.halt
    if left := batches_sentence(ledger.batches.values()):
        if halt is not None and halt.kind == "interrupted":
            halt = Halt("interrupted", f"interrupted; {left}")
        else:
            notes.append(left)
    if asker.broken:
        n = plural(len(asker.broken), "question")
        notes.append(f"left out {n} with a broken image: {asker.broken[0]}")
    if asker.shown_before:
        n = plural(len(asker.shown_before), "question")
        notes.append(f"left out {n} about a picture that an example shows")
    if provider.hidden_retries and todo:
        notes.append(
            f"the library of {rater.model.partition('/')[0]} may try again on its own; such "
            "retries are not counted"
        )
    return Came(
        answers,
        halt,
        purse.left(),
        purse.spent,
        tuple(notes),
        leaves,
    )


def _answers(
    questions: Sequence[One],
    fresh: Mapping[str, tuple[Record, Judged]],
    kept: Mapping[str, tuple[Record, Judged]],
) -> list[tuple[One, Record, Judged, bool]]:
    """Give what came of questions, in this run or before; see :class:`Came`."""
    answers = []
    for question in questions:
        found = fresh.get(question.key) or kept.get(question.key)
        if found is not None:
            answers.append((question, *found, question.key not in fresh))
    return answers


def _log(
    path: Path,
    rater: VlmRater,
    provider: Provider,
    answers: Sequence[tuple[One, Record, Judged, bool]],
    first: Callable[[One], Mapping[str, str]],
    halt: Halt | None,
) -> str:
    """Write the log for Inspect; gives why it could not be written, or ""."""

    def logged() -> Iterator[Logged]:
        times: Counter[str] = Counter()
        for question, record, judged, _ in answers:
            told = question.told()
            name, picture = _name_of({"asked": {**told, "repeat": 1}}), told.get("image")
            times[name] += 1
            shown = [f"[picture sha256:{picture}]"] if picture else []
            prompt = "\n\n".join([first(question)["prompt"], *shown])
            yield Logged(name, times[name], prompt, told, record, judged)

    return write_log(
        path,
        rater.name,
        rater.model,
        provider.settings,
        logged(),
        halt=halt,
        secrets=provider.secrets,
    )


def _learn(
    estimator: Estimator, questions: Sequence[One], kept: Mapping[str, tuple[Record, Judged]]
) -> None:
    """Learn from an answer of an earlier run what questions take."""
    for question in questions:
        found = kept.get(question.key)
        if found is not None and found[0].usage.known:
            # A picture that is gone teaches nothing; that it is gone matters to nobody here.
            with suppress(InputError):
                estimator.learn(question.prompt(), found[0].usage)
                return


def _in_flight(ledger: Ledger) -> list[str]:
    """Say what the run before had asked when it ended, without an answer, and what that counts."""
    left = ledger.in_flight
    if not left:
        return []
    names = [_name_of(asked) for asked, _ in left]
    booked = sum((charge for _, charge in left), Charge())
    cost = f", ${booked.usd:,.4f}" if booked.usd else ""
    return [
        f"{in_flight_sentence(names, 'question')}; they are asked again where this run needs them, "
        f"and what such questions have taken ({plural(booked.tokens, 'token')}{cost}) counts as "
        "spent"
    ]


def _name_of(asked: Mapping[str, Any]) -> str:
    """Name a question of the ledger by its stimulus, and by what was special about it."""
    told = asked.get("asked")
    known = told if isinstance(told, Mapping) else {}
    special = [str(known[name]) for name in ("label", "emotion") if known.get(name)]
    special += [str(known["control"])] if known.get("control", MAIN) != MAIN else []
    number = known.get("repeat", known.get("sample", 1))
    special += [f"no. {number}"] if number != 1 else []
    stimulus = str(known.get("stimulus", asked.get("key")))
    return f"{stimulus}: {', '.join(special)}" if special else stimulus


OnBad = Literal["raise", "set_aside"]
Announce = Callable[[Plan], None]
_MOST_ASKS = 20
"""Times that EmoNet-Face asked until an answer could be read."""


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
    style: Annotated[Style, Rare] = "zero-shot"
    examples: Sequence[Example] = ()
    """Solved examples, for ``"multi-shot"``; see :func:`read_examples`."""
    at_most: Count | None = None
    left_out: Literal["not rated", "zero"] | None = None
    """What a label without a value means; None: 0 with `at_most`, else what the protocol says."""
    reasons: bool = False
    structured: Annotated[bool, Rare] = False
    """Let the provider hold the model to the schema of the answer."""
    prompt: Annotated[str, Rare] = "protocol"
    """Whose words ask: ``protocol``; ``described``, the way in which EmoNet-Face asked, in our
    words; or a file of the authors, sent as published: a notebook, a ``.py``, ``.txt`` or ``.md``,
    with ``#NAME`` behind it for one text of several; see :func:`read_prompt_file`."""
    most_asks: Annotated[Count | None, Rare] = None
    """Most times that a question is asked until its answer can be read; by default 20 with
    ``prompt="described"`` without examples, and with a file that says what follows its prompt then
    (``FILE#NAME+OTHER``); else once."""
    readout: Readout = "generate"
    """Read a JSON object that the model writes (``"generate"``); one letter (``"choice"``); or the
    probabilities of the first token (``"logprob"``): P(yes), or the mean of the numbers. The last
    two ask about one label at a time."""
    shuffle: int | None = 0
    """Seed that draws the order of labels for each image, since models favour what comes first;
    None: the protocol's order for all."""
    limits: ImageLimits | None = None
    settings: AskSettings = field(default_factory=AskSettings)
    budget: Budget = field(default_factory=Budget)
    price_in: Annotated[float | None, Rare] = None
    """Dollars per million tokens of questions."""
    price_out: Annotated[float | None, Rare] = None
    """Dollars per million tokens of answers."""
    batch: Annotated[bool, Rare] = False
    """Ask in batches, which providers answer within a day for half the price; the first question
    goes out at once."""
    batch_size: Annotated[Count, Rare] = 2000
    """Most questions of a batch."""
    concurrency: Annotated[Count, Rare] = 8
    """Most questions under way at once."""
    per_minute: Annotated[Count | None, Rare] = None
    """Most questions that go out in any 60 seconds."""
    retrying: Retrying = field(default_factory=Retrying)
    patience: Annotated[Count, Rare] = 20
    """Questions in a row without an answer, or first answers without use, after which a run
    stops."""
    again: Annotated[Collection[str], Rare] = ()
    """Outcomes that are asked again although they are in the ledger; ``transport`` always is."""
    on_bad: Annotated[OnBad, Rare] = "raise"
    """Whether a broken image ends the run, or is left out and counted."""
    rater: Annotated[str | None, Rare] = None
    """Name of the rater; by default the model and the style."""
    _read: list[Design] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if "/" not in self.model:
            raise InputError(
                f"model {self.model!r}: expected a provider and a name, such as openai/gpt-4o-mini"
            )
        for name in ("concurrency", "patience", "batch_size", "most_asks"):
            given = getattr(self, name)
            if given is not None and given < 1:
                raise InputError(f"{name} {given}: expected 1 or more")
        if self.on_bad not in ("raise", "set_aside"):
            raise InputError(f"on_bad {self.on_bad!r}: expected 'raise' or 'set_aside'")
        again_outcomes(self.again)

    @property
    def wording(self) -> str | None:
        """Whose words ask, where they are not the protocol's."""
        prompt = self.design().prompt
        if isinstance(prompt, PublishedPrompt):
            return f"as published: {prompt.name}"
        return None if prompt == "protocol" else prompt

    @property
    def way(self) -> str:
        """How it is asked, in a few words."""
        prompt = self.design().prompt
        published = isinstance(prompt, PublishedPrompt)
        said = [f"as published {prompt.sha256[:8]}"] if published else [self.style]  # type: ignore[union-attr]
        said += ["described"] if prompt == "described" else []
        return " ".join([*said, *([] if self.readout == "generate" else [self.readout])])

    @property
    def name(self) -> str:
        """Name of the rater."""
        return self.rater or f"{self.model} {self.way}"

    def design(self) -> Design:
        """Give how the prompts are built.

        Raises
        ------
        InputError
            When the protocol or the file of the prompt cannot be read.
        """
        if not self._read:
            self._read.append(self._design())
        return self._read[0]

    def _design(self) -> Design:
        given = self.protocol
        loaded = given if isinstance(given, Protocol) else load_protocol(given)
        own: Wording = "protocol"
        if self.prompt == "described":
            own = "described"
        elif self.prompt != "protocol":
            own = read_prompt_file(self.prompt)
        file = own if isinstance(own, PublishedPrompt) else None
        each = file is not None and bool(file.places & {"label", "definition", "words"})
        many = own == "described" and self.style == "zero-shot"
        many |= file is not None and bool(file.again)
        return Design(
            one_at_a_time(loaded, self.readout, each=each),
            style=self.style,
            examples=tuple(self.examples),
            at_most=self.at_most,
            left_out=self.left_out,
            reasons=self.reasons,
            structured=self.structured,
            shuffle=self.shuffle,
            limits=self.limits,
            readout=self.readout,
            prompt=own,
            most_asks=self.most_asks or (_MOST_ASKS if many else 1),
        )

    def rate(
        self,
        stimuli: Material,
        *,
        control: str | Sequence[str] | None = None,
        repeats: int = 1,
        targets: Mapping[str, str] | None = None,
        hints: Mapping[str, str] | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        announce: Announce | None = None,
    ) -> VlmRun:
        """Ask about every image; see :func:`rate_vlm`.

        Warns
        -----
        OtherModelWarning
            When another model answered than the one that was asked.
        """
        wanted = Wanted(stimuli, control, repeats, targets, hints, seed)
        run = run_now(lambda interrupt: ask_all(self, wanted, progress, announce, interrupt))
        if run.halt is not None and run.halt.kind == "interrupted":
            raise KeyboardInterrupt(run.halt.reason)
        warn_of_others(run.others)
        return run

    def plan(
        self,
        stimuli: Material,
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
        return plan_all(self, Wanted(stimuli, control, repeats, targets, hints, seed))

    async def ask(
        self,
        stimuli: Material,
        *,
        control: str | Sequence[str] | None = None,
        repeats: int = 1,
        targets: Mapping[str, str] | None = None,
        hints: Mapping[str, str] | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        announce: Announce | None = None,
    ) -> VlmRun:
        """Ask about every image, within a running event loop; see :func:`rate_vlm`.

        An interrupted run comes back with what was answered; its ``halt`` says so.
        """
        wanted = Wanted(stimuli, control, repeats, targets, hints, seed)
        run = await ask_all(self, wanted, progress, announce)
        warn_of_others(run.others)
        return run


# Letting a vision-language model rate images, as people are asked to.


def rate_vlm(
    stimuli: Material,
    model: str,
    protocol: str | Path | Protocol = "intensity",
    *,
    ledger: str | Path,
    control: str | Sequence[str] | None = None,
    repeats: Count = 1,
    targets: Mapping[str, str] | None = None,
    hints: Mapping[str, str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    announce: Announce | None = None,
    **options: Any,
) -> VlmRun:
    """Ask a vision-language model about images, in the words in which people are asked.

    Every image is asked about once. What comes back has one of the nine outcomes of
    ``OUTCOMES``; only transport errors are asked again at once, and by the
    next run. A question is on the disk before it goes out, and its answer before the next one takes
    its place, so a run that was killed goes on where it stopped. What was in flight then is named
    by the next run, counts as spent at what answers have taken, and is asked again, since its
    answers never came.

    Parameters
    ----------
    stimuli
        Pictures: what :func:`affectlab.models.images.find_images` takes. Where the protocol shows
        texts, pictures with captions or pairs, a table of these: with a column text; with file and
        caption; with file_a and file_b. Sounds in place of one picture or text: a folder, a table
        with stimulus and file, or a list.
    model
        Model string of inspect-ai.
    protocol
        How people are asked.
    ledger
        Folder of the ledger. A question is known by the content of the image, the prompt, the
        model, the settings, the control and the repeat: whatever run asked it, it is asked once.
    control
        Runs beside the main one that show whether the model looks: ``no_image``, ``wrong_image``
        (another image of the set), ``decoy_hint`` (a label that is not the target), ``repeat``.
    targets
        Stimulus to the label it is meant to show, for decoys.
    hints
        Stimulus to a label hinted at in the main run.
    seed
        Draws wrong images and decoys.
    progress
        Called with a text, the questions done and all of them.
    announce
        Called before the first question leaves with what would be asked, what it may cost, and what
        leaves this machine (:class:`Plan`).
    **options
        Fields of :class:`VlmRater`: ``style``, ``examples``, ``settings``, ``budget``, ….

    Other Parameters
    ----------------
    repeats
        How often each question is asked; answers after the first are trials of kind repeat.

    Raises
    ------
    InputError
        When the model, an image or a setting cannot be used; the ledger keeps what was answered.
    KeyboardInterrupt
        After Ctrl-C, once what was under way has come.

    References
    ----------
    Generalises section 4 of the EmoNet-Face paper, which asks each model with and without
    examples.

    Examples
    --------
    >>> rate_vlm("faces", "gpt-4o", ledger="answers")
    Traceback (most recent call last):
    affectlab.InputError: model 'gpt-4o': expected a provider and a name, such as \
openai/gpt-4o-mini
    """
    known = {f for f in VlmRater.__dataclass_fields__ if not f.startswith("_")}
    for name in options:
        if name not in known - {"model", "protocol", "ledger"}:
            raise TypeError(f"rate_vlm() got an unexpected keyword argument {name!r}")
    rater = VlmRater(model, protocol, ledger, **options)
    return rater.rate(
        stimuli,
        control=control,
        repeats=repeats,
        targets=targets,
        hints=hints,
        seed=seed,
        progress=progress,
        announce=announce,
    )
