"""The report on a text model: what it is worth, what it mixes up, and what it was made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.analysis import cluster_confusion, label_map, log_odds
from affectlab.analysis.labels import LabelClusters, chosen_text
from affectlab.core.errors import InputError
from affectlab.core.tables import Count, Key, Number, Share, Table, Text
from affectlab.core.types import Bools, by_name
from affectlab.core.words import count, file_part, joined, number, percent, plural, shown
from affectlab.report.page import (
    Block,
    Paragraph,
    Picture,
    Progress,
    ReportPaths,
    Section,
    Skipped,
    Steps,
    Tile,
    Tiles,
    folders,
    made_with,
    write_page,
)

if TYPE_CHECKING:
    from affectlab.models.text import LabelledTexts, TextClassifier
    from affectlab.models.text.decisions import LevelTuning

# The sections of the report on a text model.


_MIN_Z = 3.0
_PAIRS = 20
_SCORES = (
    *("macro_f1", "macro_f1_low", "macro_f1_high", "macro_precision", "macro_recall", "micro_f1"),
    *("exact_match", "ece", "ece_before", "mean_classwise_ece", "mean_classwise_ece_before"),
)


@dataclass(frozen=True, eq=False)
class ModelOnTexts:
    """A tuned model, and the texts it was trained and tuned on."""

    model: TextClassifier
    train: LabelledTexts
    dev: LabelledTexts
    seed: int
    most: int
    """Texts on the map."""

    @cached_property
    def truth(self) -> Bools:
        """Labels of the texts kept aside, shape (n, L)."""
        return self.model.truth_of(self.dev.targets, len(self.dev))

    @cached_property
    def groups(self) -> dict[str, str] | None:
        """Sentiment of each label; None where the taxonomy does not say it of all."""
        labels = self.model.labels
        found = self.model.taxonomy.sentiments(labels)
        return None if found is None else dict(zip(labels, found, strict=True))


def results_section(about: ModelOnTexts) -> Section:
    """What the model reaches at each level, and on each label."""
    tuning = about.model.tuning
    first = tuning[""]
    tiles = Tiles(
        tuple(
            Tile(
                f"Macro F1, {level or 'labels'}",
                number(tuned.macro_f1, 3),
                f"{number(tuned.macro_f1_low, 3)} to {number(tuned.macro_f1_high, 3)} over "
                f"{tuned.n_splits} cuts",
            )
            for level, tuned in tuning.items()
        )
    )
    levels = pl.DataFrame(
        {
            "level": level or "labels",
            "n_labels": len(tuned.labels),
            **{name: float(getattr(tuned, name)) for name in _SCORES},
            "largest_classwise_ece": tuned.largest_classwise_ece[1],
            "largest_classwise_ece_of": tuned.largest_classwise_ece[0],
        }
        for level, tuned in tuning.items()
    )
    columns = (
        Key("level"),
        Count("n_labels"),
        Number("macro_f1", "macro F1", decimals=3),
        Number("macro_precision", "precision", decimals=3),
        Number("macro_recall", "recall", decimals=3),
        Number("micro_f1", "micro F1", decimals=3),
        Share("exact_match", decimals=1),
        Number("ece", "pooled ECE", decimals=3),
        Number("mean_classwise_ece", "classwise ECE", decimals=3),
        Number("largest_classwise_ece", "largest", decimals=3),
        Text("largest_classwise_ece_of", "of"),
    )
    blocks: list[Block] = [
        tiles,
        Table(
            "levels",
            f"Levels, on {plural(first.n_texts, 'text')} of {about.dev.source}, cross-fitted.",
            levels,
            columns,
            notes=(
                "The range over cuts says how much the choice of thresholds moves macro F1, and "
                "not how much other texts would.",
            ),
        ),
        *(_per_label(about, level, tuned) for level, tuned in tuning.items()),
    ]
    return Section("results", "Results", tuple(blocks))


def _per_label(about: ModelOnTexts, level: str, tuned: LevelTuning) -> Table:
    frame = tuned.to_frame()
    limits = about.model.decision(level or None).thresholds
    columns = [Key("label", level or "label")]
    if limits:
        frame = frame.insert_column(1, pl.Series("threshold", limits))
        columns.append(Number("threshold", decimals=3))
    columns += [
        *(Number(name, decimals=3) for name in ("precision", "recall", "f1")),
        Count("support", f"in {shown(about.dev.source, 30)}"),
    ]
    if not level:
        texts = about.model.training.get("texts_per_label", {})
        frame = frame.with_columns(
            trained_on=pl.Series([texts.get(label) for label in tuned.labels], dtype=pl.Float64)
        )
        columns.append(Count("trained_on", f"in {shown(about.train.source, 30)}"))
    if "ece" in frame.columns:
        columns.append(Number("ece", "ECE", decimals=3))
    # Labels that no text has come last.
    frame = frame.with_columns(pl.col("precision", "recall", "f1").fill_nan(None))
    frame = frame.sort("f1", descending=True, maintain_order=True, nulls_last=True)
    return Table(
        f"per_{file_part(level)}" if level else "per_label",
        f"{level.capitalize() or 'Labels'}, best first.",
        frame,
        tuple(columns),
        limit=max(frame.height, 1),
        folded=bool(level),
        notes=(
            "Threshold: the probability from which on the label is chosen, fitted to all of "
            f"{about.dev.source}.",
        )
        if limits and not level
        else (),
    )


def confusions_section(about: ModelOnTexts) -> Section | Skipped:
    """Labels that the model chooses where others are true, and labels confused alike."""
    title = "What is confused with what"
    tuned = about.model.tuning[""]
    if not tuned.confusion:
        return Skipped(title, "the model was saved without its confusions; tune it again.")
    matrix = np.array(tuned.confusion)
    labels = list(tuned.labels)
    try:
        found = cluster_confusion(matrix, labels)
    except InputError as error:
        return Skipped(title, f"{error}.")
    tree = found.clusters
    has_tree = tree.ok
    pairs = _confused(matrix, tuned)
    if not pairs.height:
        return Skipped(title, "no label was chosen where another one was true.")
    worst = pairs.row(0, named=True)
    words = (
        f"Most often, {worst['chosen']} is chosen where {worst['true']} is true: in "
        f"{percent(worst['share'])} of {plural(worst['texts'], 'text')}"
    )
    groups = None if about.groups is None else [about.groups[label] for label in labels]
    caption = (
        "Rows: true labels; columns: labels that the model chooses; colours: shares of a row. "
        "Each true label of a text is set against each chosen one, so labels that are often "
        "true together meet here, too."
    )
    if has_tree and groups:
        caption += " Labels whose rows are alike are neighbours; the strip shows their sentiment."
    picture = Picture.of(
        found,
        "confusion_clusters",
        options={"groups": groups},
        name="confusions",
        title="Labels chosen for labels",
        caption=caption,
        description=f"{words}.",
    )
    blocks: list[Block] = [picture]
    if has_tree:
        blocks += _clusters(tree)
    blocks.append(
        Table(
            "confused",
            "Labels chosen where another one is true, most frequent first.",
            pairs,
            (Key("true"), Text("chosen"), Share("share", "share of texts"), Count("texts")),
            limit=_PAIRS,
            folded=False,
            notes=(
                "Share of texts: of the texts with the true label, those for which the model "
                "chooses the other one, whether or not it also chooses the true one.",
            ),
        )
    )
    return Section("confusions", title, tuple(blocks))


def _clusters(tree: LabelClusters) -> list[Block]:
    """Clusters of several labels as a table, and the labels that are in none."""
    members = tree.members()
    several = {k: names for k, names in members.items() if len(names) > 1}
    alone = [names[0] for names in members.values() if len(names) == 1]
    said = Paragraph(
        f"The {plural(len(tree.labels), 'row')} make {plural(len(members), 'cluster')} "
        f"({tree.method}; {chosen_text(tree.chosen)})."
        + (f" Alone: {joined(alone)}." if alone else "")
    )
    if not several:
        return [said]
    clusters = tree.table("clusters")
    table = replace(
        clusters,
        caption="Labels that are confused alike.",
        frame=clusters.frame.filter(pl.col("cluster").is_in(list(several))),
        columns=clusters.columns[:2],
        folded=False,
        notes=("Clusters are numbered as the figure shows them, from the left.",),
    )
    return [said, table]


def _confused(matrix: np.ndarray, tuned: LevelTuning) -> pl.DataFrame:
    """Pairs of a true and another chosen label, by the share of texts with the true one."""
    n, support = len(tuned.labels), np.array(tuned.support, dtype=np.int64)
    frame = pl.DataFrame(
        {
            "true": np.repeat(tuned.labels, n),
            "chosen": np.tile(tuned.labels, n),
            "share": (matrix / np.maximum(support, 1)[:, None]).ravel(),
            "texts": np.repeat(support, n),
            "mean_count": matrix.astype(np.float64).ravel(),
        }
    )
    wrong = frame.filter(
        pl.col("true") != pl.col("chosen"), pl.col("texts") > 0, pl.col("mean_count") > 0
    )
    return wrong.sort("share", descending=True, maintain_order=True)


def calibration_section(about: ModelOnTexts) -> Section:
    """Whether a probability means what it says."""
    found = about.model.reliability(about.dev.texts, about.dev.targets, n_boot=0)
    tuned = about.model.tuning[""]
    kind = about.model.scalings[""].kind
    how = {"none": "not calibrated", "isotonic": "calibrated by isotonic regression"}.get(
        kind, f"calibrated by {kind}"
    )
    picture = Picture.of(
        found,
        "reliability",
        options={"outcome_name": "share that has the label"},
        title="Probabilities and what came true",
        caption=f"Every probability of every label is one claim; {how}, on these texts. On the "
        "diagonal, claims come true as often as they say; the histogram counts claims.",
        description=f"Pooled expected calibration error {number(found['ece'].value, 3)} on the "
        f"texts that calibration was fitted to; cross-fitted {number(tuned.ece, 3)}, and "
        f"{number(tuned.ece_before, 3)} without calibration.",
    )
    said = (
        f"Pooled over all labels the calibration error is {number(tuned.ece, 3)}, cross-fitted; "
        f"without calibration it would be {number(tuned.ece_before, 3)}."
    )
    if tuned.classwise_ece:
        label, largest = tuned.largest_classwise_ece
        said += (
            " Most probabilities are near 0, where this error is small for any model. Classwise, "
            "which is the mean over labels of the error of each, it is "
            f"{number(tuned.mean_classwise_ece, 3)} ({number(tuned.mean_classwise_ece_before, 3)} "
            f"without calibration); the largest is that of {label}, {number(largest, 3)}."
        )
    return Section("calibration", "Do probabilities come true?", (Paragraph(said), picture))


def words_section(about: ModelOnTexts) -> Section:
    """Words that go with each label in the training texts."""
    truth = about.model.truth_of(about.train.targets, len(about.train))
    labels = list(about.model.labels)
    found = log_odds(list(about.train.texts), truth.astype(np.int64), names=labels, min_z=_MIN_Z)
    words, first = found.tables
    listed = dict(first.frame.select("label", "first").iter_rows())
    without = [label for label in labels if not listed[label]]
    none = f" No word reaches that for {joined(without)}." if without else ""
    said = Paragraph(
        f"Words whose z is {_MIN_Z:g} or more in the {plural(found.n_all, 'text')} of "
        f"{about.train.source} ({found.method}).{none} They describe the texts; what moved a "
        "single prediction is another question (affectlab rate --config explain=3)."
    )
    picture = Picture.of(
        found,
        "words",
        options={"groups": about.groups},
        caption="The first words of each label, with their z.",
        description="; ".join(f"{label}: {own or 'none'}" for label, own in listed.items()) + ".",
    )
    lists = replace(
        first,
        name="word_lists",
        caption="The first words of each label.",
        limit=max(len(labels), 1),
        folded=True,
    )
    every = replace(words, caption="All words of all labels.", limit=0)
    return Section("words", "Words", (said, picture, lists, every))


def map_section(about: ModelOnTexts) -> Section | Skipped:
    """Where the model puts texts, coloured by the labels that people gave them."""
    title = "Map"
    try:
        found = label_map(
            about.truth.astype(np.float64),
            labels=list(about.model.labels),
            features=about.model.predict_proba(about.dev.texts),
            most=about.most,
            seed=about.seed,
        )
    except InputError as error:
        return Skipped(title, f"{error}.")
    notes = "".join(f" {note[0].upper()}{note[1:]}." for note in found.notes)
    picture = Picture.of(
        found,
        "label_map",
        name="map",
        title="Texts between labels",
        caption=f"A dot is one of {plural(len(found), 'text')} of {about.dev.source}. Its place "
        f"comes from the probabilities of the model ({found.method}), its colour from the labels "
        "that people gave it: a patch of one colour is a label that the model separates, and mixed "
        f"colours are labels that it does not. Far distances mean little.{notes}",
        description=f"{count(len(found))} texts with {count(len(found.labels))} labels.",
    )
    table = replace(found.table(), name="map", caption="Places and colours of the texts.", limit=0)
    return Section("map", title, (picture, table))


def card_section(about: ModelOnTexts) -> Section:
    """The model card."""
    from affectlab.models.text import model_card

    card = model_card(about.model)
    settings = card.pop("Settings")
    frame = pl.DataFrame(
        {"part": list(card), "text": [said.replace("`", "") for said in card.values()]}
    )
    table = Table(
        "model_card",
        "What the model was made of, what it is for, and what it is not for.",
        frame,
        (Key("part"), Text("text", "what")),
        folded=False,
    )
    return Section("model-card", "Model card", (table, Paragraph(f"Settings: {settings}.")))


SECTIONS: tuple[tuple[str, Callable[[ModelOnTexts], Section | Skipped]], ...] = (
    ("results", results_section),
    ("confusions", confusions_section),
    ("calibration", calibration_section),
    ("words", words_section),
    ("map", map_section),
    ("model card", card_section),
)
"""What is being done, and the function that does it."""

if TYPE_CHECKING:
    from affectlab.models.text import LabelledTexts, TextClassifier
else:
    LabelledTexts = by_name("affectlab.models.text", "LabelledTexts")
    TextClassifier = by_name("affectlab.models.text", "TextClassifier")


_FEW = 50
_TERMS = (
    (
        "Cross-fitted",
        "Thresholds and calibration are fitted on one half of the texts kept aside and judged on "
        "the other, both ways, over several random cuts; numbers are means over cuts. So no text "
        "is judged by thresholds that have seen it.",
    ),
    (
        "Precision, recall, F1",
        "Precision: of the texts that got the label, the share that people gave it to. Recall: of "
        "the texts that people gave it to, the share that got it. F1: their harmonic mean. Macro "
        "F1: the mean over labels, in which a rare label counts as much as a frequent one. Micro "
        "F1: from the counts of all labels together.",
    ),
    (
        "Exact match",
        "The share of texts whose labels are all right, with none missing and none too many.",
    ),
    (
        "Calibration error",
        "How far probabilities lie from the share of texts that have the label, on average over "
        "bins (ECE). 0: of the claims made with a probability of 0.3, 30 % come true. Pooled: all "
        "labels share the bins, so that a model that says the same share for every label and text "
        "has none. Classwise: the mean over labels of the error of each.",
    ),
    (
        "z of a word",
        "Log odds of the word in texts with the label against the others, over its standard error, "
        "with an informative Dirichlet prior. It says what goes with a label in the training "
        "texts, and not what the model looks at.",
    ),
)


def write_text_report(
    model: TextClassifier,
    path: str | Path,
    *,
    train: LabelledTexts,
    dev: LabelledTexts,
    title: str | None = None,
    seed: int = 0,
    most: int = 2000,
    progress: Progress | None = None,
) -> ReportPaths:
    """Write a report on a text model: one HTML file, with its tables and figures beside it.

    The page says what the model reaches on every label and level, which labels it confuses and how
    they cluster, whether its probabilities come true, which words go with a label in the training
    texts, where texts stand between labels, and what the model is for (the model card). It needs no
    network and no other file, and shows no text in full.

    Parameters
    ----------
    model
        A trained model with thresholds, see :meth:`TextClassifier.tune`.
    path
        Folder for ``report.html``, ``tables/*.csv``, ``figures/*.png`` and ``figures/*.svg``; made
        when absent. Files of the same names are replaced.
    train
        The texts that the model was trained on, for the lists of words.
    dev
        The texts that thresholds were fitted to. Results on them are cross-fitted.
    title
        Heading of the report; by default from the name of the model.
    seed
        For the map, and for the texts that are drawn for it.
    most
        With more texts in `dev`, so many are drawn for the map.
    progress
        Called with what is being done, the steps done and the steps in all.

    Returns
    -------
    ReportPaths
        ``html``, ``tables`` and ``figures``.

    Raises
    ------
    InputError
        When `path` is a file, or the model has no thresholds, or has them from other texts than
        `dev`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.models.text import TextClassifier, read_labelled_texts
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = ["text,labels", *["so happy,joy", "so scared,fear", "so sad,sadness"] * 4]
    >>> _ = (folder / "posts.csv").write_text("\\n".join(rows))
    >>> posts = read_labelled_texts(folder / "posts.csv", taxonomy="ekman")
    >>> model = TextClassifier.make("linear", taxonomy="ekman", name="mood", cost=10.0)
    >>> _ = model.fit(posts.texts, posts.targets)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # Here dev is train, of which the library warns.
    ...     _ = model.tune(posts.texts, posts.targets, source=posts.source)
    >>> write_text_report(model, folder / "report", train=posts, dev=posts).html.name
    'report.html'
    """
    _check_tuned(model, dev)
    check_report_folder(path)
    folder, _ = folders(path)
    about = ModelOnTexts(model, train, dev, seed=seed, most=most)
    steps = Steps(progress, len(SECTIONS) + 2)
    parts: list[Section | Skipped] = []
    for name, build in SECTIONS:
        steps.next(name)
        parts.append(build(about))
    sections = [part for part in parts if isinstance(part, Section)]
    return write_page(
        folder,
        sections[:1],
        sections[1:],
        steps,
        kicker="Text model report",
        title=title or f"Text model “{shown(model.name, 80)}”",
        lead=_verdict(about),
        cautions=lambda: _cautions(about),
        skipped=[part for part in parts if isinstance(part, Skipped)],
        glossary=list(_TERMS),
        provenance=_provenance(about),
        source=f"{train.source}, {dev.source}",
    )


def check_report_folder(path: str | Path) -> None:
    """Say, before hours of training, whether a report could be written to a folder.

    Raises
    ------
    InputError
        When the path, or one above it, is a file.
    """
    folder = Path(path)
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise InputError(f"{place} is a file; expected a folder for the report")


def _check_tuned(model: TextClassifier, dev: LabelledTexts) -> None:
    tuned = model.tuning.get("")
    if tuned is None:
        raise InputError(
            f"{model.name}: no thresholds are fitted, so nothing was measured; call tune first"
        )
    if tuned.n_texts != len(dev):
        raise InputError(
            f"{dev.source}: {plural(len(dev), 'text')}; expected the {count(tuned.n_texts)} that "
            f"the thresholds of {model.name} were fitted to ({model.decision().fitted_on})"
        )


def _verdict(about: ModelOnTexts) -> str:
    """Say in one sentence what the model reaches, level by level."""
    model = about.model
    reached = joined(
        f"{number(tuned.macro_f1)} on the {len(tuned.labels)} "
        + ("labels" if not level else f"groups of {level}")
        for level, tuned in model.tuning.items()
    )
    return (
        f"Trained on {plural(len(about.train), 'text')} of {about.train.source}, the "
        f"{model.backend} model reaches a macro F1 of {reached} over "
        f"{plural(len(about.dev), 'text')} of {about.dev.source} that it was not trained on."
    )


def _cautions(about: ModelOnTexts) -> list[str]:
    """Say what the numbers do not show."""
    tuned = about.model.tuning[""]
    said = [
        f"{about.dev.source} chose the thresholds and the calibration. The numbers are "
        "cross-fitted, so thresholds do not flatter them, but settings that were chosen by looking "
        "at these texts do: report a test split once, when the model is finished."
    ]
    training = about.model.training
    said += [f"{words[0].upper()}{words[1:]}." for words in training.get("warnings", [])]
    said += [
        f"{about.dev.source} also stopped training early ({words}): it had a say in the weights, "
        "so that cross-fitted numbers are too good as well."
        for words in training.get("early_stopping", [])
    ]
    if tuned.shares:
        said.append(tuned.truth_said)
    rare = [label for label, n in zip(tuned.labels, tuned.support, strict=True) if n < _FEW]
    if rare:
        said.append(
            f"Fewer than {_FEW} texts of {about.dev.source} have {joined(rare)}: their thresholds "
            "and results could easily have been others."
        )
    never = [
        label
        for label, precision, recall, n in zip(
            tuned.labels, tuned.precision, tuned.recall, tuned.support, strict=True
        )
        if n and precision == recall == 0
    ]
    if never:
        said.append(f"Never right: {joined(never)}.")
    said.append(
        "The labels are taken as true. How far people agree on them sets what a model can reach, "
        "and cannot be seen here."
    )
    return said


def _provenance(about: ModelOnTexts) -> list[tuple[str, str]]:
    model = about.model
    return [
        *made_with("numpy", "scipy", "scikit-learn", "matplotlib"),
        ("Model", f"{model.backend}, seed {model.seed}"),
        ("Seed of the map", str(about.seed)),
        ("Trained on", f"{about.train.source} ({plural(len(about.train), 'text')})"),
        ("Measured on", f"{about.dev.source} ({plural(len(about.dev), 'text')})"),
    ]
