"""``affectlab rate vlm``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from affectlab.cli._warned import collected
from affectlab.cli.rate._runs import counts_of, show_plan

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.types import Count
    from affectlab.evaluation import OutcomeTable
    from affectlab.models.vlm import AskSettings, Budget, VlmRater
    from affectlab.models.vlm.prompts import Style
    from affectlab.models.vlm.run import VlmRun

__all__ = ["vlm"]

_RATINGS, _ANSWERS = "ratings.parquet", "answers.parquet"
_HOW = (
    *("model", "protocol", "prompt_version", "temperature", "top_p", "max_tokens"),
    *("sampling_seed", "reasoning_effort", "label_order"),
)
"""Attributes of a rater that say how it was asked."""


def vlm(
    out: Output,
    images: Path,
    *,
    model: str,
    to: Path,
    protocol: str = "intensity",
    style: Style = "zero-shot",
    examples: Path | None = None,
    at_most: Count | None = None,
    left_out: Literal["zero", "not-rated"] | None = None,
    reasons: bool = False,
    structured: bool = False,
    shuffle: bool = True,
    settings: AskSettings,
    rater: str | None = None,
    budget: Budget,
    price_in: float | None = None,
    price_out: float | None = None,
    concurrency: Count = 8,
    per_minute: Count | None = None,
    tries: Count = 6,
    patience: Count = 20,
    limit: Count | None = None,
    control: Sequence[str] = (),
    repeats: Count = 1,
    again: Sequence[str] = (),
    set_aside: bool = False,
    dry_run: bool = False,
    seed: int = 0,
) -> None:
    """Ask a vision-language model about images, in the words in which people are asked.

    A question is in the ledger before it leaves, and its answer before the next one takes its
    place: a run that was stopped goes on with the same command. Asked again are transport errors,
    and what was in flight when a run was killed, since its answers never came; that is named, and
    counts against the budget as spent. The exit code is 1 when a run stopped before its end, and
    2 when no answer can be used.

    Parameters
    ----------
    images
        A folder of images, a table with columns stimulus and file, or one image.
    model
        Model string: openai/…, anthropic/…, google/…, vllm/…, or openai-api/NAME/… for a server
        with OpenAI's chat completions.
    to
        Folder for ratings.parquet and the ledger, from which a run goes on.
    protocol
        How it is asked: a name, or a TOML file.
    style
        With solved examples, or without.
    examples
        Solved examples for multi-shot: a TOML file.
    at_most
        Most labels above 0, such as 5.
    left_out
        What a label without a value means. By default zero with --at-most, else what the protocol
        says.
    reasons
        Ask for reasons.
    structured
        Let the provider hold the model to the schema.
    shuffle
        Draw the order of labels for each image by --seed, or keep the protocol's.
    rater
        Name of the rater; by default model and style.
    price_in
        Dollars per million tokens of questions.
    price_out
        Dollars per million tokens of answers.
    concurrency
        Questions under way at once.
    per_minute
        Most questions a minute.
    tries
        Attempts after transport errors.
    patience
        Stop after so many questions in a row without an answer, or first answers without use.
    limit
        Only the first images, this many.
    control
        no_image, wrong_image, decoy_hint or repeat, beside the main run; may be given again.
    repeats
        Times each question of the main run is asked.
    again
        Outcomes to ask again although they are in the ledger, such as refused.
    set_aside
        Leave out broken images, and count them.
    dry_run
        Print one prompt, tokens and cost to expect; ask nobody.
    """
    from affectlab.core.errors import InputError
    from affectlab.models.images import find_images
    from affectlab.models.vlm import Retrying, VlmRater, read_examples
    from affectlab.protocols import load_protocol

    if (style == "multi-shot") != (examples is not None):
        raise InputError("--style multi-shot and --examples go together; expected both or none")
    asked = load_protocol(protocol)
    asking = VlmRater(
        model,
        asked,
        to,
        style=style,
        examples=() if examples is None else read_examples(examples, asked),
        at_most=at_most,
        left_out="not rated" if left_out == "not-rated" else left_out,
        reasons=reasons,
        structured=structured,
        shuffle=seed if shuffle else None,
        settings=settings,
        budget=budget,
        price_in=price_in,
        price_out=price_out,
        concurrency=concurrency,
        per_minute=per_minute,
        retrying=Retrying(tries=tries),
        patience=patience,
        again=again,
        on_bad="set_aside" if set_aside else "raise",
        rater=rater,
    )
    files = find_images(images)[:limit]
    wanted: dict[str, Any] = {
        "control": control,
        "repeats": repeats,
        "targets": _targets(images),
        "seed": seed,
    }
    if dry_run:
        show_plan(out, asking.model, asking.plan(files, **wanted))
        return
    _check_folder(to / _RATINGS, asking, {file.stimulus for file in files})
    with collected(out, f"asking {model}", to) as (progress, warned):
        run = asking.rate(files, **wanted, progress=progress)
    _finish(out, run, to, warned)


def _targets(images: Path) -> dict[str, str]:
    """Read what each image is meant to show, where the table of images says it."""
    if not images.is_file() or images.suffix.lower() not in (".csv", ".parquet"):
        return {}
    from affectlab.core.csv import read_table

    table = read_table(images, "images")
    if not {"stimulus", "label"} <= set(table.columns):
        return {}
    pairs = table.select("stimulus", "label").drop_nulls().iter_rows()
    return {str(stimulus): str(label) for stimulus, label in pairs}


def _finish(out: Output, run: VlmRun, to: Path, warned: list[str]) -> None:
    """Write what came of a run, and print it."""
    from affectlab.core.errors import InputError

    answers, ratings = to / _ANSWERS, to / _RATINGS
    if run.entries:
        run.to_frame().write_parquet(answers)
    if not run.n_usable:
        raise InputError(f"{run.model} has no usable answer; {_why_none(run, answers)}")
    run.ratings.write(ratings)
    table = run.outcome_table()
    _show(out, run, table)
    out.show_line(f"ratings: {ratings}")
    out.finish(
        {
            "ratings": ratings,
            "answers": answers,
            "ledger": to / "ledger.jsonl",
            "model": run.model,
            "rater": run.rater,
            "prompt": run.raters[0]["prompt"],
            "stopped": None if run.halt is None or not run.n_left else run.halt.kind,
            "n_uncounted": run.n_uncounted,
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
    from collections import Counter

    from affectlab.core.words import shown
    from affectlab.models.vlm.asking.outcomes import problem_of

    told = list(run.sentences)
    if run.entries:
        counts = Counter(entry.judged.outcome for entry in run.entries)
        many = ", ".join(f"{n:,} {outcome}" for outcome, n in counts.most_common())
        last = problem_of(run.entries[-1].record, run.entries[-1].judged)
        told.append(f"{many}, such as: {shown(last, 120)}; {answers} says why of each")
    return "; ".join(told)


def _check_folder(path: Path, asking: VlmRater, stimuli: set[str]) -> None:
    """Refuse to put ratings in the place of others: of another rater, or of more images."""
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural, shown
    from affectlab.models.vlm.asking.model_identity import is_rater
    from affectlab.models.vlm.rater import how_asked
    from affectlab.ratings import read_ratings

    if not path.exists():
        return
    found = read_ratings(path)
    own = [name for name in found.rater_names if is_rater(name, asking.name)]
    if not own:
        raise InputError(
            f"{path} holds the ratings of {shown(found.rater_names[0], 60)!r}; expected another "
            f"folder for {shown(asking.name, 60)!r}"
        )
    before = found.raters.row(found.rater_names.index(own[0]), named=True)
    for name, now in how_asked(asking).items():
        # What a model does not take is not among its attributes, whatever was wanted.
        was = before.get(name)
        if name in _HOW and was is not None and was != now:
            raise InputError(
                f"{path} holds ratings of the same rater asked in another way ({name} "
                f"{shown(str(was), 40)!r}, now {shown(str(now), 40)!r}); expected another folder, "
                "or the same settings"
            )
    missing = set(found.stimulus_names) - stimuli
    if missing:
        raise InputError(
            f"{path} holds ratings of {plural(len(missing), 'image')} that "
            f"{'is' if len(missing) == 1 else 'are'} not among the {len(stimuli):,} of this run, "
            f"such as {shown(min(missing), 40)!r}; expected another folder, or no smaller --limit"
        )


def _show(out: Output, run: VlmRun, table: OutcomeTable) -> None:
    """Print the outcomes, the tokens and the cost of a run."""
    from affectlab.core.words import count, plural

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
        said = "not known; --price-in and --price-out say it per million tokens"
    else:
        rest = "" if not run.n_uncounted else " and what was not counted"
        said = f"${cost:,.4f}{rest}"
    out.show(f"cost: {said}")
