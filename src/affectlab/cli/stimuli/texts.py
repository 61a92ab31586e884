"""Verbs of ``affectlab stimuli`` about texts: curate, corpus, captions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from affectlab.cli._output import Output, caught_warnings, make_folder, write_table
from affectlab.cli.manifest import OptionsOf
from affectlab.core.errors import InputError
from affectlab.core.types import Count
from affectlab.core.words import joined
from affectlab.ratings import Ratings, read_ratings
from affectlab.recipes.goemotions import (
    FEWEST_AGREED,
    PilotPredictor,
    annotate_texts,
    read_pilot_answers,
    train_pilot_model,
)
from affectlab.stimuli import captioned_pairs, labelled_corpus, read_captions
from affectlab.stimuli.curation import Curation, CurationPlan, curate as run, load_curation_plan
from affectlab.stimuli.review import comment_decisions, queue_comments
from affectlab.study.design import write_pilot_study
from affectlab.taxonomy import load_taxonomy

if TYPE_CHECKING:
    import polars as pl


_RESULT = (
    *("n_read", "n_kept", "n_review", "stopped_after", "ledger", "distributions", "explained"),
    *("out", "corpus", "review"),
)
"""What the JSON object has of a curation."""
_NEED_PREDICTIONS = ("sentiment", "emotion_balance")
_PILOT_SIZE = 2200
"""Comments of GoEmotions' pilot (section 3.1)."""


@dataclass(frozen=True)
class Pilot:
    """Where predicted emotions are to come from."""

    pilot: Count | None = None
    """Draw a pilot of this many comments, about 2,200, before emotions are needed, and write a
    study that asks about them."""
    pilot_answers: Path | None = None
    """Train the pilot model on these answers, and go on with it."""
    pilot_model: Path | None = None
    """Use a model that affectlab train text made."""
    pilot_annotator: str | None = None
    """Have the pilot answered by a model (its folder) or by an installed annotator, and go on
    with a model trained on that."""
    pilot_agree: Count | None = None
    """Raters who must choose a label for the pilot model to learn it; 2, or 1 where most
    comments have one rater."""

    @property
    def is_wanted(self) -> bool:
        """Whether any of it was asked for."""
        return any(value is not None for value in vars(self).values())

    def check(self, plan: CurationPlan, until: str | None) -> None:
        """Refuse what contradicts itself, or stays without use."""
        ways = ("pilot_answers", "pilot_model", "pilot_annotator")
        named = [f"--{way.replace('_', '-')}" for way in ways if getattr(self, way) is not None]
        if len(named) > 1:
            raise InputError(f"{joined(named)}: expected one of them")
        if self.pilot_model is not None and self.pilot is not None:
            raise InputError("--pilot and --pilot-model: a model needs no pilot; expected one")
        if self.pilot_agree is not None and (self.pilot_model is not None or not named):
            raise InputError("--pilot-agree: expected it with --pilot-answers or --pilot-annotator")
        if plan.columns.emotions is not None:
            raise InputError(
                f"plan {plan.name}: predictions stand in the column {plan.columns.emotions!r}; "
                "expected no pilot, or a plan without [columns] emotions"
            )
        if not any(step in plan.steps for step in _NEED_PREDICTIONS):
            raise InputError(
                f"plan {plan.name}: none of its steps needs the predictions of a pilot"
            )
        if until is not None:
            raise InputError("until and a pilot: expected one of them; a pilot stops by itself")

    def take(
        self, go: Callable[..., Curation], plan: CurationPlan, folder: Path, *, resume: bool
    ) -> Piloted:
        """Give what predicts emotions, or draw what people are to answer.

        Parameters
        ----------
        go
            Takes the steps up to the one named.
        plan, folder
            Steps and thresholds; where the study and the model are.
        resume
            Use answers of an annotator and a model that are there, if they are of the same pilot.
        """
        if self.pilot_model is not None:
            predict = PilotPredictor.of_folder(self.pilot_model)
            predict.check_labels(plan.taxonomy)
            line = f"pilot model: {self.pilot_model}"
            return Piloted(predict, {"model": self.pilot_model}, lines=(line,))
        doubts: tuple[str, ...] = ()
        if self.pilot_answers is not None:
            answers = read_pilot_answers(self.pilot_answers, plan.taxonomy)
            doubts = tuple(_doubts(answers, self.pilot_answers, folder))
        else:
            done = go(_before_predictions(plan))
            if not done.n_kept:
                return Piloted(None, {"drawn": 0}, done)
            drawn = done.draw(self.pilot or _PILOT_SIZE, seed=plan.seed)
            texts = drawn.select(stimulus="id", text="text")
            if self.pilot_annotator is None:
                return _asked(texts, folder, plan, done)
            answers = annotate_texts(self.pilot_annotator, texts, folder, resume=resume)
        made = train_pilot_model(
            answers,
            folder / "model",
            taxonomy=plan.taxonomy,
            agree=self.pilot_agree,
            seed=plan.seed,
            resume=resume,
        )
        told = asdict(made)
        told["model"] = told.pop("folder")
        del told["replaced"]
        return Piloted(made.predictor, told, None, made.sentences, (*doubts, *made.doubts))


@dataclass(frozen=True)
class Piloted:
    """What came of a pilot."""

    predict: PilotPredictor | None = None
    """None when people are to be asked first."""
    told: dict[str, Any] | None = None
    """For JSON."""
    done: Curation | None = None
    """The curation up to where the pilot is drawn, when it was drawn for people."""
    lines: tuple[str, ...] = ()
    """For people."""
    doubts: tuple[str, ...] = ()


def _before_predictions(plan: CurationPlan) -> str:
    """Name the step from whose comments the pilot is drawn: the one before predictions."""
    first = min(plan.steps.index(step) for step in _NEED_PREDICTIONS if step in plan.steps)
    if first == 0:
        raise InputError(
            f"plan {plan.name}: {plan.steps[0]} is its first step; expected steps before it, "
            "from whose comments the pilot is drawn"
        )
    return plan.steps[first - 1]


def _asked(texts: pl.DataFrame, folder: Path, plan: CurationPlan, done: Curation) -> Piloted:
    """Write the study that asks people, and say how they are asked."""
    study = write_pilot_study(texts, folder, plan.taxonomy)
    answers, drawn = study.parent / "answers", texts.height
    lines = (
        f"{drawn:,} comments were drawn for a pilot, which is a study: {study}",
        f"  ask people:  affectlab study serve {study}",
        f"  then:        affectlab study export {study} --out {answers}",
        f"  and repeat this command with --pilot-answers {answers}",
    )
    small = (
        f"a pilot of {drawn:,} is too small: a model needs {FEWEST_AGREED} comments with an "
        "agreed label"
    )
    doubts = (small,) if drawn < FEWEST_AGREED else ()
    return Piloted(None, {"drawn": drawn, "study": study}, done, lines, doubts)


def _doubts(answers: Ratings, path: Path, folder: Path) -> Iterator[str]:
    """Warn of answers about other comments than those of the pilot, and of simulated ones."""
    if "simulated" in answers.rater_kinds:
        yield f"{path}: answers of simulated people say nothing of emotions in comments"
    table = folder / "pilot-texts.csv"
    if table.exists():
        asked = set(pl.read_csv(table, infer_schema=False)["stimulus"].to_list())
        if asked.isdisjoint(answers.stimulus_names):
            yield f"{path}: none of its answers is about a comment of the pilot in {folder}"


def curate(
    out: Output,
    sources: Sequence[str],
    *,
    to: Path,
    plan: Path | None = None,
    review: Path | None = None,
    pilot: Pilot,
    until: str | None = None,
    draw: Count | None = None,
    seed: int | None = None,
    running: Annotated[dict[str, Any], OptionsOf("stimuli.curation.curate:curate")],
    restart: bool = False,
) -> None:
    """Curate comments for annotation: drop what harms, balance the rest, count every step.

    Takes the steps of GoEmotions (section 3.1). The ledger says how many comments each step was
    given and dropped, and why. Emotions are balanced by a pilot model's predictions: name a column
    that holds them in the plan, or have a pilot drawn (--pilot), answered, and learned from
    (--pilot-answers). Repeating a command goes on where it stopped.

    Parameters
    ----------
    sources
        Comments: files, folders, patterns or URLs; or a plan (TOML) that names them.
    to
        Folder for the results.
    plan
        TOML file with steps and thresholds.
    review
        What reviewers decided: exported answers to review/review.toml, or a table with id and
        decision (keep, drop).
    near_duplicates
        Drop texts that are nearly the same.
    runner
        native, ray or ray://host:port.
    partitions
        Pieces of work on Ray.
    strict
        End at the first line that cannot be read.

    Other Parameters
    ----------------
    until
        Stop after this step.
    draw
        Also draw this many of the comments left into pilot.csv.
    restart
        Use nothing of an earlier run in the folder.
    """
    named = [source for source in sources if source.endswith(".toml")]
    if plan is not None and named:
        raise InputError(f"{named[0]} and --plan {plan}: expected one plan")
    if len(named) > 1:
        raise InputError(f"{named[0]} and {named[1]}: expected one plan")
    chosen = load_curation_plan(named[0] if named else plan)
    if seed is not None:
        chosen = chosen.model_copy(update={"seed": seed})
    if pilot.is_wanted:
        pilot.check(chosen, until)
    files = [source for source in sources if source not in named]
    fresh = restart
    with out.progress("reading") as report, caught_warnings() as warned:
        decided = None if review is None else comment_decisions(review, to / "review")

        def go(last: str | None, predict: PilotPredictor | None = None) -> Curation:
            nonlocal fresh
            # A restart is one: what the first part of this run finished is not done again.
            resume, fresh = not fresh, False
            return run(
                files or None,
                to,
                plan=chosen,
                predict=predict,
                review=decided,
                until=last,
                resume=resume,
                progress=report,
                **running,
            )

        piloted = Piloted()
        if pilot.is_wanted:
            piloted = pilot.take(go, chosen, to / "pilot", resume=not restart)
        done = go(until, piloted.predict) if piloted.done is None else piloted.done
        drawn = None if draw is None else done.draw(draw, seed=chosen.seed)
    if drawn is not None:
        write_table(drawn.rename({"id": "stimulus"}), to / "pilot.csv")
    lines = [] if done.review is None else [*queue_comments(done.review)]
    if drawn is not None:
        lines.append(f"{drawn.height:,} drawn into {to / 'pilot.csv'}")
    _show(out, done)
    for line in (*lines, *piloted.lines):
        out.show_line(line)
    problems = [f"{n:,} × {kind.replace('_', ' ')}" for kind, n in done.counts.items()]
    warnings = [f"problems in reading: {', '.join(problems)}"] if problems else []
    # A column that is not there is a slip of the plan more often than a fault of one file.
    absent = done.problems.filter(done.problems["problem"] == "absent_column")
    warnings += [f"{file}: {detail}" for file, detail in absent.select("file", "detail").rows()[:3]]
    out.finish(
        {
            **{name: getattr(done, name) for name in _RESULT},
            "problems": done.counts,
            "seed": chosen.seed,
            "pilot": piloted.told,
        },
        [*done.notes, *warnings],
        doubts=[*warned, *piloted.doubts, *filter(None, [done.explained])],
    )


def _show(out: Output, done: Curation) -> None:
    """Print the ledger, one line for each reason, and where the results are."""
    ledger = done.ledger
    first = pl.int_range(pl.len()).over("step") == 0
    shown = ledger.with_columns(
        pl.when(first).then(name).alias(name) for name in ("step", "rows_in", "kept")
    )
    plain = shown.select(
        pl.col("step").fill_null(""),
        "rows_in",
        "kept",
        pl.col("n").alias("dropped"),
        pl.col("threshold").alias("because"),
    )
    out.show_frame(plain, plain.columns, most=plain.height, more="")
    for step, found in ledger.select("step", "found").unique(maintain_order=True).iter_rows():
        if found:
            out.show(f"{step}: {found}")
    out.show(f"\n{done.n_kept:,} of {done.n_read:,} comments are left")
    if done.corpus is not None:
        out.show_line(f"corpus: {done.corpus}")
    out.show_line(f"ledger, reasons, distributions: {done.out}")
    if done.review is not None:
        out.show_line(f"{done.n_review:,} comments await review: {done.review}")


def corpus(
    ratings: Ratings,
    out: Output,
    *,
    to: Path = Path("corpus"),
    agree: Count = 2,
    splits: str = "train=80,dev=10,test=10",
    together: str = "text",
    seed: int = 0,
) -> None:
    """Make a labelled corpus from raw answers: agreed labels, in a training, dev and test part.

    Labels that fewer than --agree raters chose are dropped; stimuli on which nobody agrees go into
    low_agreement.csv. Every part is a CSV file that affectlab train text reads.

    Parameters
    ----------
    to
        Folder for the tables.
    agree
        Raters who must choose a label.
    splits
        Names and weights of the parts.
    together
        Stimuli with the same value of this attribute come into the same part; '' for none.
    """
    panel = out.panel(ratings)
    made = labelled_corpus(
        panel, agree=agree, splits=_parts(splits), keep_together=together or None, seed=seed
    )
    make_folder(to)
    found = made.statistics
    for name in found["splits"]:
        part = made.examples.filter(made.examples["split"] == name)
        write_table(part.drop("split"), to / f"{name}.csv")
    write_table(made.low_agreement, to / "low_agreement.csv")
    write_table(made.labels_per_example, to / "labels_per_example.csv")
    shares = found["labels_per_example"]
    lines = [
        ("examples", f"{found['n_examples']:,}"),
        *(
            (f"{k} or more raters agree on a label", f"{two['n']:,} ({_percent(two['share'])})")
            for k, two in found["agreed_by"].items()
        ),
        *((f"labels per example: {k}", _percent(share)) for k, share in shares.items()),
        ("kept", f"{found['n_kept']:,}"),
        ("low agreement, set aside", f"{found['n_low_agreement']:,}"),
        *((name, f"{size:,}") for name, size in found["splits"].items()),
    ]
    for name, text in lines:
        out.show(f"{name:<36}{text}")
    out.show(f"tables: {to}")
    counts = made.labels_per_example.to_dicts()
    result = {**found, "labels_before_after": counts, "folder": to, "seed": seed}
    out.finish({"panel": out.who, **result}, ratings.warnings)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _parts(text: str) -> dict[str, float]:
    """Read names and weights, such as train=80,dev=20."""
    parts: dict[str, float] = {}
    for piece in text.split(","):
        name, _, weight = (part.strip() for part in piece.partition("="))
        try:
            parts[name] = float(weight)
        except ValueError:
            parts[name] = 0.0
        if not name.isidentifier() or not 0 < parts[name] < float("inf"):
            raise InputError(
                f"--splits {text}: {piece!r} is not a name and a weight above 0, such as train=80"
            )
    return parts


def captions(
    out: Output,
    table: Path,
    *,
    to: Path = Path("captions.csv"),
    drawing: Annotated[dict[str, Any], OptionsOf("stimuli.captions:captioned_pairs")],
    image_emotions: Path | None = None,
    text_emotions: Path | None = None,
    polarity_of: str | None = None,
    seed: int = 0,
) -> None:
    """Choose image-caption pairs for a study of reactions: at random, and where the two disagree.

    Sources give equal numbers. What models say of pictures and captions is read like any ratings;
    the table that is written is the table of a study of reactions.

    Parameters
    ----------
    table
        CSV or Parquet table of pairs: stimulus, file, text, source.
    to
        CSV file of the chosen pairs.
    random
        Pairs drawn at random.
    conflict
        Pairs whose picture and caption disagree.
    random_from
        Sources of the first, separated by commas.
    conflict_from
        Sources of the second, separated by commas.
    image_emotions
        Ratings of the pictures by a model.
    text_emotions
        Ratings of the captions by a model.
    polarity_of
        Taxonomy: only positive against negative counts as a conflict.
    """
    made = captioned_pairs(
        read_captions(table),
        image_emotions=None if image_emotions is None else read_ratings(image_emotions),
        text_emotions=None if text_emotions is None else read_ratings(text_emotions),
        by=None if polarity_of is None else load_taxonomy(polarity_of),
        seed=seed,
        **drawing,
    )
    write_table(made.pairs, to)
    out.show_frame(made.counts, ["stratum", "source", "n_available", "n"], more=f"see {to}")
    out.show(f"{len(made):,} pairs written to {to}")
    out.finish({"n_pairs": len(made), "counts": made.counts, "pairs": to, "seed": seed})
