"""``affectlab rate``: any model answers, and its answers are ratings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import polars as pl
from annotated_types import Ge

from affectlab.cli._output import Output, collected
from affectlab.cli.manifest import OptionsOf
from affectlab.cli.parameters import read_settings
from affectlab.cli.rate.difference import metrics_of, rate_pairs
from affectlab.core.errors import InputError
from affectlab.core.files.media import media_kind
from affectlab.core.types import Count
from affectlab.core.words import joined, plural
from affectlab.evaluation import OUTCOMES, outcome_table
from affectlab.models import (
    count_improbable,
    label_overview,
    rate as rate_stimuli,
    times_chosen,
)
from affectlab.models.raters import own_model, refuse_mapping
from affectlab.models.vlm import AskSettings, Budget, is_provider
from affectlab.ratings import (
    Ratings,
    check_ratings_path,
    read_models,
    read_ratings,
    read_table,
)

if TYPE_CHECKING:
    from affectlab.models.text import Contributions

_FILES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
"""Suffixes of results that a model has given elsewhere."""
_OPTIONS = (
    *("taxonomy", "label_map", "path", "rater", "on_bad", "patience", "again", "progress"),
    "announce",
)
"""What a model cannot have as a setting, since it is said of every model."""
_OF_ALL = ("rater", "patience", "again", "on_bad")
"""Options of models that are asked which every model takes."""


def rate(
    out: Output,
    model: str,
    stimuli: Path,
    *,
    to: Path,
    taxonomy: str | None = None,
    label_map: Path | None = None,
    settings: Sequence[str] = (),
    trust_pickle: bool = False,
    protocol: str | None = None,
    examples: Path | None = None,
    left_out: Literal["zero", "not-rated"] | None = None,
    shuffle: bool = True,
    sending: AskSettings,
    budget: Budget,
    asking: Annotated[dict[str, Any], OptionsOf("models.vlm.rater:VlmRater")],
    tries: Count = 6,
    limit: Count | None = None,
    wanted: Annotated[
        dict[str, Any], OptionsOf("models.vlm.rater:rate_vlm", ("control", "repeats"))
    ],
    pairs: Annotated[
        dict[str, Any], OptionsOf("models.differences.rate:rate_differences", ("images", "cache"))
    ],
    explain: Annotated[int, Ge(0)] = 0,
    figures: Path | None = None,
    dry_run: bool = False,
    seed: int = 0,
) -> None:
    """Let any model rate texts, pictures, sounds or pairs; its answers are ratings.

    A run that was stopped goes on with the same command: what a model was asked and has answered
    is kept in the folder OUT.run. A stimulus without a usable answer is recorded as such, never as
    0. Keys of services are taken from the environment, and written nowhere. The exit code is 1 when
    a run at a provider stopped before its end, and 2 when no answer can be used.

    Parameters
    ----------
    model
        A folder or hub name of a checkpoint of transformers (hub:NAME where a provider is called
        the same), the folder of a model that affectlab has trained, published EmoNet-Face heads, a
        file of skops, module:function, a package (pyfeat, hsemotion, deepface), a service (hume), a
        provider's model (openai/NAME, anthropic/NAME, ollama/NAME, openai-api/NAME/…), metrics of
        pairs (mse+ssim+deep:faces), or a file of results.
    stimuli
        Pictures or sounds (a folder, a table with columns stimulus and file, or one file), texts (a
        table with a column text, ratings of texts, or a .txt file), or pairs of pictures (a table
        with stimulus, file_a and file_b).
    to
        Ratings: .parquet, .csv or .jsonl.
    taxonomy
        Bring the labels to those of this taxonomy; what a model without labels looks for.
    label_map
        TOML file: what the model's labels become. Without it, names and synonyms.
    settings
        Setting of the model, such as batch=8, level=ekman or labels=joy,fear; may be given again.
    trust_pickle
        Read a model from a pickle, which runs the code in it.
    protocol
        How a provider's model is asked: a name, or a TOML file. By default intensity for pictures,
        multilabel for texts.
    at_most
        Most labels above 0, such as 5.
    structured
        Let the provider hold the model to the schema.
    rater
        Name of the rater; by default that of the model.
    price_in
        Dollars per million tokens of questions.
    price_out
        Dollars per million tokens of answers.
    concurrency
        Questions under way at once.
    per_minute
        Most questions a minute.
    patience
        Stop after so many stimuli in a row without a usable answer.
    repeats
        Times each question of the main run is asked.
    again
        Outcomes to ask again although they are in the ledger, such as refused.
    on_bad
        Leave out broken stimuli, and count them.
    dry_run
        Print one prompt, tokens and cost to expect; ask nobody.

    Other Parameters
    ----------------
    examples
        Solved examples for style=multi-shot: a TOML file.
    limit
        Only the first stimuli, this many, of a provider's model.
    control
        Beside the main run: no_image, wrong_image, decoy_hint or repeat, or several with commas.
    images
        Folder of the pictures of pairs; without it that of STIMULI.
    cache
        Folder that keeps embeddings and readings of faces from run to run.
    style
        With solved examples, or without.
    prompt
        protocol, described (as EmoNet-Face asked), or a file of the authors, sent as published
        (FILE.ipynb, .py, .txt, .md; #NAME picks a text in it).
    most_asks
        Times a question is asked until its answer can be read.
    left_out
        What a label without a value means. By default zero with --at-most, else what the protocol
        says.
    shuffle
        Draw the order of labels for each image by --seed, or keep the protocol's.
    tries
        Attempts after transport errors.
    reasons
        Ask for reasons.
    explain
        Of a text model that affectlab has trained: show which words moved the first texts, this
        many.
    figures
        Folder for figures of the words (PNG, SVG), with explain.
    """
    check_ratings_path(to)
    given = read_settings(settings)
    folder = to.with_suffix(".run")
    if figures is not None and not explain:
        raise InputError("figures: they are of the words that explain shows; expected both")
    explained = own_model(model) if explain else None
    if explain and (explained is None or explained.kind != "text-model"):
        raise InputError(f"explain: expected a text model that affectlab has trained, not {model}")
    if is_provider(model):
        from affectlab.cli.rate.vlm import ask_about
        from affectlab.models.vlm import Retrying, VlmRater, read_examples
        from affectlab.protocols import load_protocol

        _refuse(given, taxonomy, label_map, f"a provider's model ({model})")
        if (asking.get("style") == "multi-shot") != (examples is not None):
            raise InputError(
                "style=multi-shot and examples=FILE go together; expected both or none"
            )
        asked = load_protocol(protocol or _protocol_of(stimuli))
        rater = VlmRater(
            model,
            asked,
            folder,
            examples=() if examples is None else read_examples(examples, asked),
            left_out="not rated" if left_out == "not-rated" else left_out,
            shuffle=seed if shuffle else None,
            settings=sending,
            budget=budget,
            retrying=Retrying(tries=tries),
            **asking,
        )
        ask_about(
            out, stimuli, rater, to, limit=limit, wanted=wanted | {"seed": seed}, dry_run=dry_run
        )
        return
    if dry_run:
        raise InputError(f"dry_run: {model} is no provider's model; expected one, or no dry_run")
    own = {name: value for name, value in asking.items() if name in _OF_ALL}
    metrics = metrics_of(model, stimuli)
    if metrics:
        _refuse(
            given,
            taxonomy,
            label_map,
            "a metric, whose settings stand behind its name (NAME,SETTING=VALUE)",
        )
        bad = {"on_bad": own["on_bad"]} if "on_bad" in own else {}
        rate_pairs(out, stimuli, metrics, to, {**pairs, **bad})
        return
    if Path(model).suffix in _FILES and Path(model).is_file():
        _refuse(given, taxonomy, label_map, "a file of results")
        _take_results(out, Path(model), stimuli, to)
        return
    for name in _OPTIONS:
        if name in given:
            raise InputError(f"--set {name}: expected a setting of this model alone")
    if trust_pickle:
        given["trust_pickle"] = True
    with collected(out, "stimuli", folder) as (progress, doubts):
        ratings = rate_stimuli(
            model,
            stimuli,
            taxonomy,
            label_map,
            folder,
            progress=progress,
            announce=out.show,
            **own,
            **given,
        )
        told = (
            []
            if explained is None
            else _explain(explained.folder, ratings, explain, given.get("level"))
        )
    if figures is not None:
        from affectlab.report import draw_contributions

        draw_contributions(told, figures)
    _finish(out, model, ratings, to, folder, doubts, told, by_cost=given.get("decide") == "cost")


def _protocol_of(stimuli: Path) -> str:
    """Choose how people would be asked about such stimuli."""
    from affectlab.models.raters import kind_of_stimuli

    return "multilabel" if kind_of_stimuli(stimuli) == "text" else "intensity"


def _refuse(given: dict[str, Any], taxonomy: object, label_map: object, what: str) -> None:
    """Refuse what only models that are loaded here take."""
    if given:
        raise InputError(f"--set {next(iter(given))}: expected no such setting of {what}")
    refuse_mapping(taxonomy, label_map, what)


def _explain(model: Path, ratings: Ratings, n: int, level: str | None) -> list[Contributions]:
    """Say which words moved the first texts."""
    from affectlab.models.text import TextClassifier

    classifier = TextClassifier.load(model)
    return [classifier.explain(text, level) for text in ratings.stimuli["text"].head(n)]


def _take_results(out: Output, results: Path, stimuli: Path, to: Path) -> None:
    """Bring what a model has answered elsewhere to ratings of these stimuli."""
    names = {_plain(name) for name in _names(stimuli)}
    try:
        own = read_ratings(results)
    except InputError:
        # A file of one model often says nothing of a rater.
        own = read_ratings(results, rater=results.stem)
    known = [name for name in own.stimulus_names if _plain(name) in names]
    if not known:
        raise InputError(
            f"{results} and {stimuli} share no stimulus; expected the same names, such as "
            f"{next(iter(sorted(names)))!r}"
        )
    (ratings,) = read_models([results], own.select(stimuli=known))
    notes = []
    if len(known) < len(names):
        notes.append(f"{plural(len(names) - len(known), 'stimulus', 'stimuli')} without an answer")
    _finish(out, str(results), ratings, to, None, notes)


def _plain(name: str) -> str:
    """Give a name of a file without its suffix; other names stay as they are."""
    return name if media_kind(name) is None else name.rpartition(".")[0]


def _names(stimuli: Path) -> set[str]:
    """Give the names of stimuli, also of a table that says no more of them."""
    from affectlab.models.raters import find_stimuli, kind_of_stimuli

    try:
        found, _ = find_stimuli(stimuli, kind_of_stimuli(stimuli))
        return {one.stimulus for one in found}
    except InputError:
        if not stimuli.is_file():
            raise
        return set(read_table(stimuli)["stimulus"].cast(pl.String).drop_nulls().to_list())


def _finish(
    out: Output,
    model: str,
    ratings: Ratings,
    to: Path,
    folder: Path | None,
    doubts: list[str],
    explained: Sequence[Contributions] = (),
    *,
    by_cost: bool = False,
) -> None:
    """Write the ratings, and print what came."""
    counts = outcome_table(ratings).to_frame("usable").row(0, named=True)
    outcomes = {name: counts[name] for name in OUTCOMES if counts[name]}
    if outcomes and not set(outcomes) & {"ok", "empty"}:
        many = ", ".join(f"{n:,} {name}" for name, n in outcomes.items())
        why = f"; {folder / 'answers.csv'} says why" if folder is not None else ""
        raise InputError(f"{ratings.rater_names[0]} has no usable answer: {many}{why}")
    ratings.write(to)
    about = ratings.raters.row(0, named=True)
    labels = plural(len(ratings.label_names), "label")
    out.head(
        f"{joined(ratings.rater_names)} rated {plural(ratings.n_stimuli, 'stimulus', 'stimuli')} "
        f"on {labels}, {ratings.scale}"
    )
    table = _overview(ratings)
    shown = table.sort(table.columns[-1], descending=True)
    out.show_frame(shown, shown.columns, most=12, more="the file holds all of them")
    for name, n in outcomes.items():
        if name != "ok":
            said = "no face found" if name == "empty" else name.replace("_", " ")
            out.show(f"{plural(n, 'stimulus', 'stimuli')}: {said}")
    several = _several(ratings)
    if several:
        out.show(f"{plural(several, 'picture')} with several faces: the largest was rated")
    if by_cost:
        differ = plural(count_improbable(ratings), "picture")
        out.show(f"decided by expected cost; {differ} got another label than the most probable one")
    for one in explained:
        out.show("", f"“{one.text}”", one)
    if explained:
        out.show(f"Parts of logits; {explained[0].method}.")
    if about.get("labels_by"):
        out.show(f"labels by {about['labels_by']}")
    if about.get("left_out"):
        out.note(f"labels left out: {about['left_out']}")
    out.show(f"ratings: {to}")
    out.show_line(f"next: affectlab report PEOPLE --models {to}")
    out.finish(
        {
            "ratings": to,
            "model": model,
            "rater": ratings.rater_names[0],
            "n_stimuli": ratings.n_stimuli,
            "labels": ratings.label_names,
            "per_label": table,
            "outcomes": outcomes,
            "several_faces": several,
            "explained": [
                {"text": one.text, "parts": one.to_frame(), "start": one.bias} for one in explained
            ],
            "about": {name: value for name, value in about.items() if value is not None},
        },
        doubts=doubts,
    )


def _overview(ratings: Ratings) -> pl.DataFrame:
    """Mean and highest value of each label, and how often it was chosen, where a model chooses."""
    table = label_overview(ratings).select("label", "mean", "highest")
    # What is the same for all labels of all stimuli is an attribute.
    tables = (ratings.to_frame(), ratings.stimuli, ratings.raters)
    if not any("chosen" in table.columns for table in tables):
        return table.select("label", "highest", "mean")
    chosen = times_chosen(ratings)
    share = [chosen[label] / ratings.n_stimuli for label in table["label"]]
    return table.with_columns(pl.Series("share chosen", share))


def _several(ratings: Ratings) -> int:
    """Pictures with more faces than one."""
    table = ratings.stimuli if "faces" in ratings.stimuli.columns else ratings.to_frame()
    if "faces" not in table.columns:
        return 0
    return table.filter(pl.col("faces") > 1)["stimulus"].n_unique()
