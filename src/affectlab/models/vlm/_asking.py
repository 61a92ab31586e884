"""Asking about many images by a rater: its questions, its ledger, its run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.models._ledger_file import in_flight_sentence
from affectlab.models.images import find_images
from affectlab.models.vlm._address import with_address
from affectlab.models.vlm._ask import Asker, Halt, Progress
from affectlab.models.vlm._ask_settings import AskSettings
from affectlab.models.vlm._attributes import rater_rows
from affectlab.models.vlm._budget import Charge, Purse
from affectlab.models.vlm._controls import MAIN, check_controls
from affectlab.models.vlm._cost import Prices, known_prices
from affectlab.models.vlm._estimate import Estimator
from affectlab.models.vlm._judge import Judged
from affectlab.models.vlm._kept import One, same_content, split
from affectlab.models.vlm._ledger import LEDGER, Ledger
from affectlab.models.vlm._now import Interrupt
from affectlab.models.vlm._pace import Pace
from affectlab.models.vlm._plan import Plan, plan_of
from affectlab.models.vlm._provider import Provider, need_inspect
from affectlab.models.vlm._question import Question, make_questions
from affectlab.models.vlm._record import Record
from affectlab.models.vlm._run import Entry, VlmRun
from affectlab.models.vlm._served import other_models_said, unclear_said

if TYPE_CHECKING:
    from affectlab.models.vlm._rater import VlmRater

__all__ = ["Came", "Images", "Wanted", "ask_all", "ask_questions", "plan_all"]

Images = str | Path | Iterable[Any]


@dataclass(frozen=True)
class Wanted:
    """What a run is to ask about; see :func:`affectlab.models.vlm.rate_vlm`."""

    images: Images
    control: str | Sequence[str] | None
    repeats: int
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
    return plan_of(questions, todo, settings, prices)


async def ask_all(
    rater: VlmRater, wanted: Wanted, progress: Progress | None, interrupt: Interrupt | None = None
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
                rater, provider, ledger, questions, prices, notes, progress, interrupt
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
    found = find_images(wanted.images)
    shown_before = {part.sha256 for one in rater.examples for part in one.stimulus.pictures}
    files = [file for file in found if file.sha256 not in shown_before]
    notes = []
    if len(files) < len(found):
        n = plural(len(found) - len(files), "image")
        notes.append(f"left out {n} shown as an example in every prompt")
    if not files:
        raise InputError("every image is one of the examples; expected others to rate")
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
    interrupt: Interrupt | None,
) -> VlmRun:
    def first(question: Question) -> dict[str, str]:
        return {"prompt": question.blank().text, "design": question.name}

    came = await ask_questions(
        rater, provider, ledger, questions, prices, first, progress, interrupt
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


async def ask_questions(
    rater: VlmRater,
    provider: Provider,
    ledger: Ledger,
    questions: Sequence[One],
    prices: Prices | None,
    first: Callable[[One], Mapping[str, str]],
    progress: Progress | None,
    interrupt: Interrupt | None,
) -> Came[One]:
    """Ask what the ledger does not answer yet, within the limits of a rater.

    Parameters
    ----------
    first
        What the ledger is to say of the first question: its prompt.
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
    asker = Asker(
        provider,
        ledger,
        purse,
        Estimator(rater.settings.max_tokens),
        pace=Pace(rater.per_minute),
        retrying=rater.retrying,
        concurrency=rater.concurrency,
        patience=rater.patience,
        skip_broken=rater.on_bad == "set_aside",
        progress=progress,
        interrupt=interrupt,
    )
    if todo:
        ledger.begin(
            {
                "model": rater.model,
                "settings": provider.settings.sent(),
                "rater": rater.name,
                "questions": len(questions),
                **first(todo[0]),
            }
        )
        await asker.run(todo, len(kept), len({one.key for one in questions}))
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
    answers = []
    for question in questions:
        fresh = asker.answers.get(question.key)
        found = fresh or kept.get(question.key)
        if found is not None:
            answers.append((question, *found, fresh is None))
    return Came(answers, asker.halt, purse.left(), purse.spent, tuple(notes))


def _in_flight(ledger: Ledger) -> list[str]:
    """Say what the run before had asked when it ended, without an answer, and what that counts."""
    left = ledger.in_flight
    if not left:
        return []
    names = [_name_of(asked) for asked, _ in left]
    most = sum((charge for _, charge in left), Charge())
    cost = f", ${most.usd:,.4f}" if most.usd else ""
    return [
        f"{in_flight_sentence(names, 'question')}; they are asked again where this run needs them, "
        f"and the most that they may have taken ({plural(most.tokens, 'token')}{cost}) counts as "
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
