"""What ``affectlab rate vlm`` does: asking, and a folder that holds one rater."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from affectlab.cli.rate._vlm_show import show_run

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.models.vlm import VlmRater, VlmRun

__all__ = ["left_out_of", "rate", "targets_of", "temperature_of"]

_RATINGS, _ANSWERS = "ratings.parquet", "answers.parquet"
_HOW = (
    *("model", "protocol", "prompt_version", "temperature", "top_p", "max_tokens"),
    *("sampling_seed", "reasoning_effort", "label_order"),
)
"""Attributes of a rater that say how it was asked."""


def rate(
    out: Output, asking: VlmRater, files: tuple[Any, ...], options: dict[str, Any], to: Path
) -> None:
    """Ask, write what came of it, and print it."""
    from affectlab.cli._warned import caught_warnings
    from affectlab.core.errors import InputError

    _check_folder(to / _RATINGS, asking, {file.stimulus for file in files})
    try:
        with caught_warnings() as warned, out.progress(f"asking {asking.model}") as progress:
            run = asking.rate(files, **options, progress=progress)
    except KeyboardInterrupt:
        out.warn(f"interrupted; {to} keeps all answers, and the same command goes on from there")
        raise
    answers = to / _ANSWERS
    if run.entries:
        run.to_frame().write_parquet(answers)
    if not run.n_usable:
        raise InputError(f"{run.model} has no usable answer; {_why_none(run, answers)}")
    ratings = to / _RATINGS
    run.ratings.write(ratings)
    table = run.outcome_table()
    show_run(out, run, table)
    out.show_line(f"ratings: {ratings}")
    out.finish(
        {
            "ratings": ratings,
            "answers": answers,
            "ledger": to / "ledger.jsonl",
            "model": run.model,
            "rater": run.rater,
            "prompt": run.raters[0]["prompt"],
            "n_questions": run.n_questions,
            "n_answered": run.n_answered,
            "n_kept": run.n_kept,
            "n_usable": run.n_usable,
            "n_left": run.n_left,
            "stopped": None if run.halt is None or not run.n_left else run.halt.kind,
            **table.to_dict(),
            "usage": run.usage.as_dict(),
            "n_uncounted": run.n_uncounted,
            "cost": run.cost,
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


def left_out_of(text: str | None) -> Literal["zero", "not rated"] | None:
    """Read ``--left-out``."""
    from affectlab.core.errors import InputError

    if text is None:
        return None
    plain = text.strip().casefold().replace("-", " ")
    if plain == "zero":
        return "zero"
    if plain == "not rated":
        return "not rated"
    raise InputError(f"--left-out {text!r}: expected zero or not-rated")


def temperature_of(text: str) -> float | None:
    """Read ``--temperature``."""
    from affectlab.core.errors import InputError

    if text.strip() == "default":
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--temperature {text!r}: expected a number, or 'default'") from None


def targets_of(images: Path) -> dict[str, str]:
    """Read what each image is meant to show, where the table of images says it."""
    if not images.is_file() or images.suffix.lower() not in (".csv", ".parquet"):
        return {}
    from affectlab.core.csv import read_table

    table = read_table(images, "images")
    if not {"stimulus", "label"} <= set(table.columns):
        return {}
    pairs = table.select("stimulus", "label").drop_nulls().iter_rows()
    return {str(stimulus): str(label) for stimulus, label in pairs}
