"""The report on a text model: what it is worth, what it mixes up, and what it was made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab._types import by_name
from affectlab._words import count, joined, number, plural, shown
from affectlab.errors import InputError
from affectlab.report._content import Progress, ReportPaths, Section, Skipped
from affectlab.report._page import Steps, folders, made_with, write_page
from affectlab.report._text_model_sections import SECTIONS, ModelOnTexts

if TYPE_CHECKING:
    from affectlab.models.text import LabelledTexts, TextClassifier
else:
    LabelledTexts = by_name("affectlab.models.text", "LabelledTexts")
    TextClassifier = by_name("affectlab.models.text", "TextClassifier")

__all__ = ["check_report_folder", "write_text_report"]

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
        sections,
        steps,
        kicker="Text model report",
        title=title or f"Text model “{shown(model.name, 80)}”",
        verdict=lambda: _verdict(about),
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
