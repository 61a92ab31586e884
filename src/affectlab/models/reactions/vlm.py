"""Any vision-language model as a generator: the prompt of the paper, asked through the vlm room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import plural, shown
from affectlab.evaluation import OUTCOMES, looks_like_refusal
from affectlab.models.reactions.items import ReactionItem, check_items, image_hashes, key_of
from affectlab.models.reactions.prompt import PROMPT, SOURCE, FewShot, reaction_prompt
from affectlab.models.reactions.ratings import make_ratings, rows_of
from affectlab.models.vlm import VlmRater, ask_questions, split
from affectlab.models.vlm.asking import (
    LEDGER,
    Halt,
    Interrupt,
    Judged,
    Ledger,
    Plan,
    Progress,
    Provider,
    Record,
    Usage,
    known_prices,
    need_inspect,
    other_models,
    other_models_said,
    plan_of,
    question_key,
    rater_of,
    run_now,
    total_usage,
    unclear_said,
    warn_of_others,
    with_address,
)
from affectlab.models.vlm.prompts import ImageLimits, Prompt, Read, image_part
from affectlab.ratings import Ratings

__all__ = [
    "DESIGN",
    "ReactionQuestion",
    "VlmReactions",
    "plan_reactions_vlm",
    "rate_reactions_vlm",
]

# A pair and an emotion as a question of the vlm room.


DESIGN = key_of(PROMPT)[:16]
"""Names the wording that all prompts share."""


@dataclass(frozen=True)
class ReactionQuestion:
    """A pair and an emotion as they are put to a model; the answer is text as it comes."""

    item: ReactionItem
    sample: int
    text: str
    """The prompt."""
    sha256: str
    """Of the image; "" where none is shown."""
    limits: ImageLimits
    asked_of: dict[str, Any] = field(repr=False)

    @property
    def stimulus(self) -> str:
        """Name of the pair."""
        return self.item.stimulus

    @cached_property
    def key(self) -> str:
        """Names the question by all that decides about its answer."""
        return question_key(
            {
                "protocol": "reaction",
                "image": self.sha256,
                "encoding": str(self.limits) if self.sha256 else "",
                "prompt": self.text,
                "sample": self.sample,
                **self.asked_of,
            }
        )

    most_asks = 1

    @property
    def shows(self) -> tuple[str, ...]:
        """What is shown: picture, text."""
        return ("picture", "text") if self.sha256 else ("text",)

    def prompt(self, *, again: bool = False) -> Prompt:  # noqa: ARG002
        """Build what is sent: the image, where there is one, and the question behind it.

        Raises
        ------
        InputError
            When the image is broken, or is another one by now.
        """
        picture = []
        if self.sha256 and self.item.image is not None:
            picture = [image_part(self.item.image, limits=self.limits)]
            if picture[0].sha256 != self.sha256:
                raise InputError(
                    f"{shown(self.item.image)} has changed since the run began; expected pictures "
                    "that stay as they are, or the same command once more"
                )
        version = key_of(self.text)[:16]
        return Prompt(
            system="",
            parts=(*picture, self.text),
            schema={},
            labels=(),
            keys=(),
            protocol="reaction",
            version=version,
            design=DESIGN,
            style="zero-shot",
            shown=self.sha256,
        )

    def told(self) -> dict[str, Any]:
        """Say what was asked, for readers of the ledger."""
        return {
            "stimulus": self.item.stimulus,
            "emotion": self.item.emotion,
            "protocol": "reaction",
            "image": self.sha256,
            "sample": self.sample,
        }

    def read(
        self,
        text: str,
        *,
        held: bool,  # noqa: ARG002
        alternatives: Mapping[str, float] | None = None,  # noqa: ARG002
    ) -> Read:
        """Take the text as the reaction; what begins by declining is none."""
        said = text.strip()
        if not said or looks_like_refusal(said):
            return Read(problem="it declines" if said else "no text")
        return Read(parsed=said, answer=said, rows=(rows_of(self.item, said),))


@dataclass(frozen=True, eq=False)
class VlmReactions:
    """What became of asking a vision-language model; made by :func:`rate_reactions_vlm`."""

    ratings: Ratings
    """One row per question that was asked; what cannot be used has an outcome and no text."""
    n_questions: int
    n_answered: int
    n_kept: int
    """Answers that were in the ledger already."""
    n_usable: int
    halt: Halt | None
    """Why it stopped before its end, if it did."""
    usage: Usage
    cost: float | None
    """Dollars of all answers; None where prices are not known."""
    notes: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Those of the notes that are about other models which answered than the one asked."""

    @property
    def n_left(self) -> int:
        """Questions that were not asked."""
        return self.n_questions - self.n_answered


def rate_reactions_vlm(
    items: Iterable[ReactionItem],
    model: str,
    *,
    ledger: str | Path,
    text_only: bool = False,
    few_shot: FewShot | None = None,
    n: int = 1,
    progress: Progress | None = None,
    announce: Callable[[Plan], None] | None = None,
    **options: Any,
) -> VlmReactions:
    """Let a vision-language model write reactions, in the words of Socratis.

    The image and the prompt of section 3 are sent, and nothing before them; the text that comes
    back is the reaction. Answers, refusals and failures are in a ledger before the next question,
    within budgets, as in :func:`affectlab.models.vlm.rate_vlm`.

    Parameters
    ----------
    items
        Pairs with an emotion each.
    model
        Model string of inspect-ai, such as ``openai/gpt-4o-mini``.
    ledger
        Folder of the ledger, from which a run goes on.
    text_only
        Send no image, and open none.
    few_shot
        Examples before each question; their images are not shown.
    n
        Reactions to each item; more than one needs a temperature above 0.
    progress
        Called with a text, the questions done and all of them.
    announce
        Called before the first question leaves with what would be asked (:class:`Plan`).
    **options
        Fields of :class:`~affectlab.models.vlm.VlmRater` that are about asking: ``settings``,
        ``budget``, ``price_in``, ``concurrency``, ``again``, ….

    Raises
    ------
    InputError
        When an item, an image, the model or a setting cannot be used, or nothing was answered.
    KeyboardInterrupt
        After Ctrl-C, once what was under way has come.

    Examples
    --------
    >>> rate_reactions_vlm([ReactionItem("a", "Storm", "awe")], "gpt-4o", ledger="answers",
    ...                    text_only=True)
    Traceback (most recent call last):
    affectlab.InputError: model 'gpt-4o': expected a provider and a name, such as \
openai/gpt-4o-mini
    """
    rater, questions, told = _questions(items, model, ledger, text_only, few_shot, n, options)
    run = run_now(lambda interrupt: _ask(rater, questions, told, progress, announce, interrupt))
    if run.halt is not None and run.halt.kind == "interrupted":
        raise KeyboardInterrupt(run.halt.reason)
    warn_of_others(run.others)
    return run


def plan_reactions_vlm(
    items: Iterable[ReactionItem],
    model: str,
    *,
    ledger: str | Path,
    text_only: bool = False,
    few_shot: FewShot | None = None,
    n: int = 1,
    **options: Any,
) -> Plan:
    """Say what :func:`rate_reactions_vlm` would ask, and about what it would take; ask nobody.

    Raises
    ------
    InputError
        When an item, an image, the model or a setting cannot be used.
    """
    need_inspect()
    rater, questions, _ = _questions(items, model, ledger, text_only, few_shot, n, options)
    settings = with_address(rater.model, rater.settings)
    prices = known_prices(rater.model, rater.price_in, rater.price_out)
    todo = list({question.key: question for question in questions}.values())
    if (Path(ledger) / LEDGER).exists():
        with Ledger(ledger) as held:
            _, todo = split(held, questions, rater.again)
    return plan_of(questions, todo, rater.model, settings, prices, batch=rater.batch)


def _questions(
    items: Iterable[ReactionItem],
    model: str,
    ledger: str | Path,
    text_only: bool,
    few_shot: FewShot | None,
    n: int,
    options: dict[str, Any],
) -> tuple[VlmRater, list[ReactionQuestion], dict[str, Any]]:
    """Give the rater, what it is asked, and what else its attributes say."""
    name = options.pop("rater", None) or " ".join(
        [
            model,
            *(["text-only"] if text_only else []),
            *([f"{few_shot.shots}-shot"] if few_shot else []),
        ]
    )
    rater = VlmRater(model, "reaction", ledger, rater=name, **options)
    if n < 1 or (n > 1 and rater.settings.temperature == 0):
        raise InputError(
            f"n {n}: expected 1 or more"
            if n < 1
            else f"n {n} with temperature 0: expected a temperature above 0"
        )
    wanted = check_items(items, images=not text_only)
    hashes = {} if text_only else image_hashes(wanted)
    settings = with_address(rater.model, rater.settings)
    asked_of = {"model": model, "settings": settings.sent()}
    questions = [
        ReactionQuestion(
            item,
            sample,
            reaction_prompt(item, few_shot.draw(item) if few_shot else ()),
            "" if text_only or item.image is None else hashes[item.image],
            rater.limits or ImageLimits(),
            asked_of,
        )
        for item in wanted
        for sample in range(1, n + 1)
    ]
    told = {
        "reads": "text" if text_only else "image and text",
        "examples": few_shot.told() if few_shot else None,
    }
    return rater, questions, told


async def _ask(
    rater: VlmRater,
    questions: Sequence[ReactionQuestion],
    told: dict[str, Any],
    progress: Progress | None,
    announce: Callable[[Plan], None] | None,
    interrupt: Interrupt | None,
) -> VlmReactions:
    need_inspect()
    settings = with_address(rater.model, rater.settings)
    prices = known_prices(rater.model, rater.price_in, rater.price_out)
    provider = Provider(rater.model, settings)
    try:
        with Ledger(rater.ledger, provider.secrets) as ledger:
            came = await ask_questions(
                rater,
                provider,
                ledger,
                questions,
                prices,
                lambda question: {"prompt": question.text, "design": DESIGN},
                progress,
                announce,
                interrupt,
            )
    finally:
        await provider.close()
    if not came.answers:
        why = came.halt.reason if came.halt else "; ".join(came.notes)
        raise InputError(f"{rater.model} has answered nothing ({why})")
    paid = {question.key: record for question, record, _, _ in came.answers}.values()
    costs = [record.cost(prices) for record in paid]
    known = ledger.of_model(rater.model)
    others = other_models_said(rater.model, rater.name, paid, known)
    notes = [*others, *unclear_said(rater.model, paid), *came.notes]
    if came.halt is not None and len(came.answers) < len(questions):
        left = plural(len(questions) - len(came.answers), "question is", "questions are")
        notes.insert(
            0,
            f"stopped: {came.halt.reason}; {left} not asked, and the same command goes on from "
            "there",
        )
    return VlmReactions(
        _ratings(rater, told, came.answers, known),
        len(questions),
        len(came.answers),
        sum(kept for *_, kept in came.answers),
        sum(OUTCOMES[judged.outcome].usable for _, _, judged, _ in came.answers),
        came.halt,
        total_usage(record.usage for record in paid),
        None if prices is None else sum(cost for cost in costs if cost is not None),
        tuple(notes),
        tuple(others),
    )


def _ratings(
    rater: VlmRater,
    told: dict[str, Any],
    answers: Sequence[tuple[ReactionQuestion, Record, Judged, bool]],
    known: Sequence[Record],
) -> Ratings:
    """Make ratings of answers; those of another model than the one asked are of another rater."""
    others = set(other_models(rater.model, [record for _, record, *_ in answers], known))
    rows: list[dict[str, Any]] = []
    raters: dict[str, str] = {}
    for question, record, judged, _ in answers:
        served = record.served
        other = served if served in others else None
        row = _row(question, record, judged)
        row["rater"] = rater.name if other is None else rater_of(rater.name, served)
        rows.append(row)
        # Failures name no model; one that answered later does.
        if not raters.get(row["rater"], ""):
            raters[row["rater"]] = served
    attributes = _attributes(rater, told, answers)
    named = [attributes | {"rater": name, "served": raters[name] or None} for name in raters]
    return make_ratings(rows, [answer[0].item for answer in answers], named)


def _row(question: ReactionQuestion, record: Record, judged: Judged) -> dict[str, Any]:
    found = judged.read.rows[0] if judged.outcome == "ok" else rows_of(question.item, "")
    return {
        **found,
        "text": found["text"] or None,
        "stimulus": question.item.stimulus,
        "outcome": judged.outcome,
        "trial": question.sample,
        "retries": record.retries,
    }


def _attributes(
    rater: VlmRater,
    told: dict[str, Any],
    answers: Sequence[tuple[ReactionQuestion, Record, Judged, bool]],
) -> dict[str, Any]:
    settings = rater.settings
    not_sent = {name for _, record, _, _ in answers for name in record.not_sent}
    return {
        "rater": rater.name,
        "rater_kind": "model",
        "model": rater.model,
        "served": None,
        "protocol": "reaction",
        "prompt": f"{SOURCE}, {DESIGN[:8]}",
        **told,
        "temperature": None if "temperature" in not_sent else settings.sent_temperature,
        "top_p": None if "top_p" in not_sent else settings.top_p,
        "max_tokens": settings.max_tokens,
        "sampling_seed": None if "seed" in not_sent else settings.sampling_seed,
    }
