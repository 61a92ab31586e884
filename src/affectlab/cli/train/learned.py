"""``affectlab train difference`` and ``preference``: metrics learned from people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from affectlab.cli._output import Output, caught_warnings, write_table
from affectlab.cli.parameters import read_settings
from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.files.csv import read_table
from affectlab.core.types import Count, Device
from affectlab.core.words import count, number, plural
from affectlab.evaluation import metric_scores, preferences
from affectlab.evaluation.preference import PAIR, item_table, machine_of
from affectlab.models.embedding import Embeddings
from affectlab.models.preference_metric import preference_features, preference_texts
from affectlab.models.runs import check_folder
from affectlab.ratings import Ratings, check_ratings_path

if TYPE_CHECKING:
    import polars as pl


def difference(
    out: Output,
    file: Path,
    *,
    embeddings: Path | None = None,
    encoder: str | None = None,
    images: Path | None = None,
    cache: Path | None = None,
    pairs: Path | None = None,
    scale: str | None = None,
    score: Literal["subject-model", "mean"] = "subject-model",
    learner: Literal["svr", "ridge", "siamese"] = "ridge",
    settings: Sequence[str] = (),
    name: str | None = None,
    test_actors: Count = 2,
    splits: Count | None = None,
    n_boot: Annotated[int, Ge(0)] = 1000,
    splits_out: Path | None = None,
    baseline: Sequence[Path] = (),
    predictions: Path | None = None,
    to: Path,
    seed: int = 0,
) -> None:
    """Learn how different people find two expressions, and judge that on actors kept aside.

    The metric is learned from all actors; the table is about splits in which some were kept aside,
    beside distances of the same embeddings that need no learning, and the metrics of --baseline.
    What the saved metric says of these actors is about people that it knows: to compare it with
    others by affectlab evaluate difference, take --predictions.

    Parameters
    ----------
    file
        Ratings of pairs, or a table with a score (value, 0 to 100) for each: stimulus, actor,
        file_a, file_b, and perhaps kind.
    embeddings
        Embeddings of the pictures, a folder that affectlab embed wrote.
    encoder
        In place of --embeddings: encoder for the pictures of --images, such as faces or
        transformers:FOLDER.
    images
        Folder of the pictures, for --encoder.
    pairs
        Table of the pairs (pairs.csv), where FILE does not say what they are of.
    learner
        svr: support vector regression, as in the paper; ridge: least squares; siamese: a projection
        for both faces and a weighted distance.
    settings
        A setting of the learner: non_negative=true, strength=0.1, epochs=20; may be given again.
    name
        Name of the metric as a rater; by default that of the folder.
    test_actors
        Actors that each split tests.
    baseline
        What other metrics say of the same pairs, from affectlab rate, to be compared with on
        the same splits; may be given again.
    predictions
        Write what is predicted of each pair where its actor was kept aside, as ratings.
    to
        Folder for the metric.

    Other Parameters
    ----------------
    cache
        Folder that keeps embeddings from run to run, for --encoder.
    scale
        Scale of the ratings: '0-100 interval'.
    score
        How ratings become scores.
    splits
        Draw so many splits of the actors; by default all of them.
    n_boot
        Draws of actors for intervals.
    splits_out
        Write a row per split and method to this CSV file.
    """
    if embeddings is not None:
        for option, value in (("encoder", encoder), ("images", images), ("cache", cache)):
            if value is not None:
                raise InputError(
                    f"--{option} is for pictures that are not embedded yet; expected it without "
                    "--embeddings"
                )
    elif encoder is None or images is None:
        raise InputError("expected --embeddings DIR, or --encoder NAME together with --images DIR")
    check_folder(to)
    if predictions is not None:
        check_ratings_path(predictions)
    from affectlab.models.differences.learned import (
        ExpressionMetric,
        embed_pairs,
        make_learner,
        read_baselines,
        read_scored_pairs,
    )

    given = read_settings(settings, ("learner", "name", "seed", "encoder", "embeddings"))
    made = make_learner(learner, {**given, **({"seed": seed} if learner == "siamese" else {})})
    metric = ExpressionMetric(made, encoder=encoder, name=name or to.resolve().name)
    started = perf_counter()
    with caught_warnings() as warned, out.progress(f"reading {file}") as progress:
        scored = read_scored_pairs(file, pairs, scale=scale, score=score)
        others = read_baselines(baseline)
        rows = (
            embed_pairs(scored.frame, encoder, images or ".", cache=cache, progress=progress)
            if embeddings is None
            else Embeddings.load(embeddings)
        )
        report = metric.cross_validate(
            scored.frame,
            None,
            rows,
            n_test=test_actors,
            n_splits=splits,
            baselines=others,
            n_boot=n_boot,
            seed=seed,
            progress=progress,
        )
        metric.fit(scored.frame, None, rows)
        metric.save(to)
    if splits_out is not None:
        write_table(report.to_frame("splits"), splits_out)
    if predictions is not None:
        report.ratings(metric.name, metric.version, scored.attributes).write(predictions)
    seconds = perf_counter() - started
    out.head(
        f"{metric.name}: {learner} on {plural(report.n_pairs, 'pair')} ({scored.said}), "
        f"{count(metric.width)} numbers per face, {number(seconds, 1)} s"
    )
    out.show(report)
    if not metric.is_distance:
        out.show(
            "Some weights are below 0, so that a change can make two faces more alike: for a "
            "loss, --set non_negative=true of ridge, or siamese."
        )
    out.show("", f"metric: {to}; its card: {to / 'README.md'}")
    if splits_out is not None:
        out.show(f"splits: {splits_out}")
    if predictions is not None:
        # A table of scores is nothing that evaluate reads as people's answers.
        people = str(file) if scored.rated else "RATINGS"
        out.show(f"predictions for actors kept aside: {predictions}")
        out.show_line(f"next: affectlab evaluate difference {people} --models {predictions}")
    else:
        out.show_line(f"next, on pairs of other actors: affectlab rate {to} PAIRS --out metric.csv")
    out.finish(
        {
            "model": to,
            **{name: getattr(metric, name) for name in ("name", "version", "is_distance")},
            "learner": learner,
            "settings": metric.distance.get_params(),
            "learned": metric.details_,
            "identical": metric.distance.identical_,
            "encoder": None if metric.encoder_ is None else metric.encoder_.to_dict(),
            "scores": scored.said,
            "n_pairs": report.n_pairs,
            "chosen": report.chosen,
            "seconds": seconds,
            "validation": report.to_dict(),
        },
        scored.notes,
        doubts=[*warned, *report.doubts],
    )


_OF_WEIGHING = {"inner_folds": int, "cs": list}

_OF_TUNING = ("epochs", "learning_rate", "pairs_at_once")


def preference(
    ratings: Ratings,
    out: Output,
    *,
    scores: Path | None = None,
    model: str | None = None,
    texts: Path | None = None,
    context: str = "text",
    examples: Sequence[int] | None = None,
    device: Device = "auto",
    settings: Sequence[str] = (),
    name: str | None = None,
    systems: Sequence[str] | None = None,
    system: str | None = None,
    rule: Literal["majority", "plurality"] = "majority",
    cluster: str | None = None,
    folds: Annotated[int, Ge(2)] = 5,
    repeats: Count = 5,
    n_boot: Annotated[int, Ge(0)] = 1000,
    everyone: bool = False,
    to: Path,
    table: Path | None = None,
    seed: int = 0,
) -> None:
    """Learn a metric from what people prefer, and judge it on items kept aside.

    With --scores it weighs metrics, by logistic regression; with --model it tunes a BARTScore on
    few pairs. Items that belong together are never parted.

    Parameters
    ----------
    scores
        Scores of metrics (item, metric, score) to weigh, as affectlab evaluate text --out writes
        them.
    model
        In place of --scores: a BART to tune, the folder or name of a checkpoint.
    texts
        Table of the texts, for --model: stimulus, text, option_a, system_a, option_b, system_b, as
        for the study.
    examples
        Numbers of pairs to tune on; by default 16,32,64, as far as there are so many.
    settings
        A setting: epochs=5, learning_rate=1e-5; without --model inner_folds=3 or cs=[0.1, 1]. May
        be given again.
    name
        Name of the metric; by default that of the folder.
    everyone
        Take models in, too; without it only people where there are any.
    to
        Folder for the metric.
    table
        Write the table of what was judged to this CSV file.

    Other Parameters
    ----------------
    context
        Column of --texts with what both texts are about.
    device
        Where to tune.
    systems
        The two that are compared, where there are more: human,model.
    system
        The one whose texts are good or poor; by default the model.
    rule
        What makes the verdict of an item with several votes.
    cluster
        Column that says which items belong together and are never parted; by default pair, if
        there.
    folds
        Folds of the items.
    repeats
        Times that folds are drawn anew, with --scores.
    n_boot
        Draws for intervals.
    """
    if (scores is None) == (model is None):
        raise InputError("expected either --scores FILE to weigh metrics, or --model NAME to tune")
    if model is None and texts is not None:
        raise InputError("--texts is for --model; expected both or neither")
    check_folder(to)
    judged = ratings if everyone else out.panel(ratings)
    found = preferences(judged, systems=systems, rule=rule, seed=seed)
    own = _own_settings(settings, weighing=scores is not None)
    called = name or to.resolve().name
    content: dict[str, Any] = {"model": to, "name": called}
    if scores is not None:
        from affectlab.models.preference_metric import PreferenceMetric

        with out.progress(f"reading {scores}") as progress:
            items = item_table(judged)
            read = metric_scores(scores, system=machine_of(found.choices[:2], system))
            together = cluster or (PAIR if PAIR in {*items.columns, *read.columns} else None)
            features = preference_features(
                found, read, system=system, items=items, cluster=together
            )
            metric = PreferenceMetric(called, seed=seed, **own)
            report = metric.cross_validate(
                features, folds=folds, repeats=repeats, n_boot=n_boot, progress=progress
            )
            metric.fit(features.table, features.good, groups=features.clusters).save(to)
        weights, frame = metric.weights(), report.to_frame()
        out.head(f"{called}: logistic regression on the scores of metrics")
        out.show(_parted(together), report)
        out.head("\nWeights of the saved metric, in log odds per standard deviation")
        out.show_frame(weights, ["metric", "weight"])
        out.show("", f"metric: {to}")
        content |= {"learner": "logistic", "weights": weights, **report.to_dict()}
    else:
        from affectlab.models.preference_metric import TunedBartScore

        given = _read_texts(texts, judged)
        known = {*given.columns, *judged.stimuli.columns}
        together = cluster or (PAIR if PAIR in known else None)
        data = preference_texts(
            found, given, system=system, context=context, cluster=together, items=judged.stimuli
        )
        tuned = TunedBartScore(str(model), name=called, device=device, seed=seed, **own)
        with out.progress("tuning") as progress:
            tuning = tuned.cross_validate(
                data, examples=examples, folds=folds, n_boot=n_boot, progress=progress
            )
            tuned.fit(data, progress=progress).save(to)
        frame = tuning.to_frame()
        out.head(f"{called}: BARTScore tuned on what people chose")
        out.show(_parted(together), tuning)
        taken = f"pass {tuned.epoch}" if tuned.epoch else "no pass: it stayed as it was"
        out.show("", f"tuned on all {tuned.n_pairs} pairs ({taken}); metric: {to}")
        out.show_line(f"The folder is a checkpoint, too, for affectlab evaluate text: {to}")
        content |= {
            "learner": "tuned BARTScore",
            "epoch": tuned.epoch,
            "n_pairs": tuned.n_pairs,
            **tuning.to_dict(),
            "tuning": tuned.settings.to_dict(),
        }
    if table is not None:
        write_table(frame, table)
        out.show(f"table: {table}")
    out.finish({**content, "cluster": together}, (*found.notes, *ratings.warnings))


def _own_settings(settings: Sequence[str], *, weighing: bool) -> dict[str, Any]:
    """Read settings of one of the two ways to learn."""
    given = read_settings(settings, ("folds", "repeats", "seed", "name", "model", "device"))
    for key, value in given.items():
        if not weighing:
            if key in ("batch_size", "max_tokens"):
                # One is about computing alone and the other about reading: neither about tuning.
                raise unknown_name("setting", key, _OF_TUNING)
            continue
        check_choice("setting", key, _OF_WEIGHING)
        numbers = value if isinstance(value, list) else [value]
        if not isinstance(value, _OF_WEIGHING[key]) or any(
            not isinstance(one, int | float) for one in numbers
        ):
            raise InputError(f"--set: {key} {value!r} is not understood; expected numbers")
    return given


def _read_texts(file: Path | None, judged: Ratings) -> pl.DataFrame:
    """Read the table of texts; where none is given, the stimuli hold them."""
    if file is not None:
        return read_table(file, "texts")
    if not {"option_a", "option_b"} <= set(judged.stimuli.columns):
        raise InputError(
            "the judgements do not hold the texts; expected --texts with the table of the study"
        )
    return judged.stimuli


def _parted(cluster: str | None) -> str:
    if cluster is None:
        return "Each item counts as one of its own; --cluster says which belong together."
    return f"Items that share a {cluster} are never parted."
