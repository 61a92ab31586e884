"""Vision-language models answer: for ``affectlab rate`` and ``affectlab emonet-face hinted``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from affectlab.cli._output import Output, collected
from affectlab.cli.manifest import OptionsOf
from affectlab.cli.operations import show_result
from affectlab.cli.parameters import read_settings
from affectlab.core.errors import InputError
from affectlab.core.words import count, plural, shown
from affectlab.evaluation import OutcomeTable
from affectlab.models.hinted import (
    Annotator,
    annotate_until,
    load_hinted_plan,
    load_image_annotator,
)
from affectlab.models.vlm import (
    AskSettings,
    Budget,
    VlmRater,
    VlmRun,
    check_ratings_of,
    find_material,
    image_targets,
)
from affectlab.models.vlm.asking import Plan, problem_of
from affectlab.models.vlm.prompts import SoundPart

if TYPE_CHECKING:
    from affectlab.models.reactions import VlmReactions


def counts_of(run: VlmRun | VlmReactions) -> dict[str, Any]:
    """Give how many questions were asked and answered, and what that took."""
    names = ("n_questions", "n_answered", "n_kept", "n_usable", "n_left", "cost")
    return {"usage": run.usage.as_dict(), **{name: getattr(run, name) for name in names}}


_OF_PLAN = (
    *("stimulus", "n_questions", "n_kept", "input_tokens", "output_tokens"),
    *("most_output_tokens", "cost", "most_cost", "most_asks", "leaves", "batch"),
)
"""What the JSON object has of a plan."""


def show_plan(out: Output, model: str, plan: Plan) -> None:
    """Print what would be asked, and about what it would take."""
    out.head(f"The prompt about {plan.stimulus}")
    for part in (plan.prompt.system, *plan.prompt.parts):
        if isinstance(part, str):
            for line in ("", *part.splitlines()):
                out.show(line)
            continue
        if isinstance(part, SoundPart):
            size = f"{part.seconds:,.1f} seconds"
        else:
            size = f"{part.width} x {part.height}"
        out.show("", f"[{part.media_type}, {size}, {len(part.data):,} bytes]")
    out.head("")
    announce(out, model, plan)
    out.show("Nobody was asked.")
    out.finish(
        {
            "dry_run": True,
            "model": model,
            "prompt": plan.prompt.text,
            "prompt_version": plan.prompt.design,
            **{name: getattr(plan, name) for name in _OF_PLAN},
        }
    )


def announce(out: Output, model: str, plan: Plan) -> None:
    """Print what leaves this machine, what is to be asked, and about what it takes."""
    prompt = plan.prompt.prompt
    if not isinstance(prompt, str):
        out.show(prompt.sentence)
    if plan.leaves:
        out.show(plan.leaves)
    if plan.n_kept:
        out.show(f"{plural(plan.n_kept, 'question is', 'questions are')} answered in the ledger")
    more = f" ({plan.most_asks} askings each at most)" if plan.most_asks > 1 else ""
    out.show(
        f"{plural(plan.n_questions - plan.n_kept, 'question')}{more} to {model}: about "
        f"{count(plan.input_tokens)} tokens to read and {count(plan.output_tokens)} to write, "
        f"{count(plan.most_output_tokens)} at most"
    )
    out.show(
        "cost: not known; --config price_in= and price_out= say it per million tokens"
        if plan.cost is None
        else f"cost: about ${plan.cost:,.4f}, at most ${plan.most_cost:,.4f}"
        + (", in batches at half the price, the first question at once" if plan.batch else "")
    )


_ANSWERS = "answers.parquet"


def ask_about(
    out: Output,
    stimuli: Path,
    rater: VlmRater,
    to: Path,
    *,
    limit: int | None,
    wanted: dict[str, Any],
    dry_run: bool,
) -> None:
    """Ask a language model about stimuli, in the words in which people are asked."""
    files = find_material(stimuli, rater.design().protocol)[:limit]
    wanted |= {"targets": image_targets(stimuli)}
    if dry_run:
        show_plan(out, rater.model, rater.plan(files, **wanted))
        return
    check_ratings_of(to, rater, files)
    with collected(out, f"asking {rater.model}", rater.ledger) as (progress, warned):
        run = rater.rate(
            files,
            **wanted,
            progress=progress,
            announce=lambda plan: announce(out, rater.model, plan),
        )
    _finish(out, run, to, Path(rater.ledger), warned)


def _finish(out: Output, run: VlmRun, ratings: Path, folder: Path, warned: list[str]) -> None:
    """Write what came of a run, and print it."""
    answers = folder / _ANSWERS
    if run.entries:
        run.to_frame().write_parquet(answers)
    if not run.n_usable:
        raise InputError(f"{run.model} has no usable answer; {_why_none(run, answers)}")
    run.ratings.write(ratings)
    table = run.outcome_table()
    _show_vlm(out, run, table)
    out.show_line(f"ratings: {ratings}")
    out.finish(
        {
            "ratings": ratings,
            "answers": answers,
            "ledger": folder / "ledger.jsonl",
            "model": run.model,
            "rater": run.rater,
            "prompt": run.raters[0]["prompt"],
            "stopped": None if run.halt is None or not run.n_left else run.halt.kind,
            "n_uncounted": run.n_uncounted,
            "leaves": run.leaves,
            "asks": {str(asks): n for asks, n in run.asks.items()},
            **table.to_dict(),
            **counts_of(run),
        },
        # Some of what is warned of is among the sentences of the run, too.
        doubts=list(dict.fromkeys([*run.sentences, *warned])),
    )
    if run.halt is not None and run.n_left:
        raise SystemExit(1)


def _why_none(run: VlmRun, answers: Path) -> str:
    """Say what there is instead of answers that can be used."""
    told = list(run.sentences)
    if run.entries:
        counts = Counter(entry.judged.outcome for entry in run.entries)
        many = ", ".join(f"{n:,} {outcome}" for outcome, n in counts.most_common())
        last = problem_of(run.entries[-1].record, run.entries[-1].judged)
        told.append(f"{many}, such as: {shown(last, 120)}; {answers} says why of each")
    return "; ".join(told)


def _show_vlm(out: Output, run: VlmRun, table: OutcomeTable) -> None:
    """Print the outcomes, the tokens and the cost of a run."""
    kept = ""
    if run.n_kept:
        some = "all" if run.n_kept == run.n_answered else count(run.n_kept)
        kept = f", {some} of them before"
    out.head(f"{run.rater} answered {plural(run.n_answered, 'question')}{kept}")
    out.show(table)
    usage = run.usage
    parts = [
        f"{count(tokens)} {name}"
        for name, tokens in (
            ("read", usage.input),
            ("from the cache", usage.cached),
            ("written", usage.output),
            ("of these reasoning", usage.reasoning),
        )
        if tokens
    ]
    out.show("", f"tokens: {', '.join(parts)}" if parts else "tokens: not said by the provider")
    cost = run.cost
    if cost is None:
        said = "not known; --config price_in= and price_out= say it per million tokens"
    else:
        rest = "" if not run.n_uncounted else " and what was not counted"
        said = f"${cost:,.4f}{rest}"
    out.show(f"cost: {said}")


def hinted(
    out: Output,
    plan: Path,
    *,
    to: Path,
    model: str | None = None,
    annotator: str | None = None,
    generator: str = "drawn",
    settings: Sequence[str] = (),
    rounds: Annotated[int, Ge(0)] | None = None,
    budget: Annotated[int, Ge(0)] | None = None,
    protocol: str = "intensity",
    asking: AskSettings,
    spending: Budget,
    more: Annotated[
        dict[str, Any],
        OptionsOf(
            "models.vlm.rater:VlmRater", ("structured", "price_in", "price_out", "concurrency")
        ),
    ],
    again: Sequence[str] = (),
    seed: Annotated[int, Ge(0)] | None = None,
) -> None:
    """Make and annotate pictures until every label has enough ratings (emonet-face, B.1).

    Labels that a model names too rarely get pictures of their own, and the model a hint; how often
    hints are followed, right ones and wrong ones, is counted. A run that was stopped goes on with
    the same command. It stops with exit code 2 when too few answers can be used. A seed that is
    given takes the place of the plan's.

    Parameters
    ----------
    plan
        TOML file of the loop: target, initial or images, decoys, budget, …
    to
        Folder for pictures, answers and tables, from which a run goes on.
    model
        Model string of the annotator, such as openai/gpt-4o-mini.
    annotator
        Annotator that a package adds, instead of a model.
    generator
        drawn, diffusers:FOLDER_OR_NAME, or a generator that a package adds.
    settings
        Setting of the generator, such as size=512; may be given again.
    rounds
        Rounds of hints, instead of the plan's.
    budget
        Pictures made at most, instead of the plan's.
    protocol
        How a model is asked: a name or a file.
    structured
        Let the provider hold the model to the schema.
    price_in
        Dollars per million tokens of questions.
    price_out
        Dollars per million tokens of answers.
    concurrency
        Questions under way at once.

    Other Parameters
    ----------------
    again
        Outcomes to ask about again although they are in the folder, such as refused.
    """
    if (model is None) == (annotator is None):
        raise InputError("expected either --model or --annotator")
    told = load_hinted_plan(plan, rounds=rounds, budget=budget, seed=seed)
    asked: Annotator
    if annotator is not None:
        asked = load_image_annotator(annotator)
    else:
        from affectlab.models.vlm import VlmAnnotator, VlmRater

        rater = VlmRater(
            str(model),
            protocol,
            # Its ledger is beside the folder of the loop.
            to.with_name(f"{to.name}.vlm"),
            at_most=told.at_most or None,
            left_out="zero",
            shuffle=told.seed,
            settings=asking,
            budget=spending,
            again=sorted({"rejected", *again}),
            **more,
        )

        def tell(plan: Plan) -> None:
            if plan.leaves:
                out.show(plan.leaves)

        asked = VlmAnnotator(rater, announce=tell)
    with collected(out, "pictures", to) as (progress, doubts):
        run = annotate_until(
            told,
            generator,
            asked,
            to,
            settings=read_settings(settings),
            again=again,
            progress=progress,
        )
    show_result(run, out, doubts=doubts)
    out.show(f"ratings: {to / 'ratings.parquet'}")
