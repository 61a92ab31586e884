"""GoEmotions (Demszky et al., 2020): comments of Reddit, 27 emotions and neutral.

Raters tick what the writer of a comment feels; agreement, components and correlations say whether
they see the same (section 4); words go with emotions (Table 3); and models learn to tell them, for
comments (Tables 4 to 6) and for texts of another kind (section 6). The simulation lets raters tick
simulated comments, whose emotions, words and frequencies are known.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.core.words import count
from affectlab.recipes.goemotions.data import NEEDS
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import Finding, Parts, Recipe, RecipeRun

if TYPE_CHECKING:
    from affectlab.recipes.goemotions.agreement import Agreement
    from affectlab.recipes.goemotions.data import Corpus
    from affectlab.recipes.goemotions.models import Effort, Models

__all__ = ["RECIPE", "find_all", "run_simulation"]

_SEED = 0
"""Of what is drawn or trained on real data."""
_NOT_PUBLISHED = {
    "curation.": "the comments before curation are not published",
    "probe.": "not part of the recipe; affectlab.models.text.probe_layers does it with a BERT",
}


def _effort(quick: bool, real: bool) -> Effort:
    from affectlab.recipes.goemotions.models import Effort

    if not real:
        epochs, sizes = (8, (100.0, 200.0)) if quick else (10, (100.0, 200.0, 500.0, 0.8))
        network = {"hidden": 32, "width": 48, "learning_rate": 1e-2, "batch_size": 32}
        return Effort(
            n_train=20_000,
            network={**network, "epochs": epochs, "device": "cpu"},
            n_target=500 if quick else 1500,
            sizes=sizes,
            splits=3 if quick else 5,
            transfer_epochs=12,
            ppca_splits=3 if quick else 10,
        )
    if quick:
        return Effort(
            n_train=8000,
            network={"hidden": 64, "width": 64, "learning_rate": 1e-2, "epochs": 3}
            | {"batch_size": 32, "max_tokens": 1000},
            n_target=1500,
            sizes=(100, 500),
            splits=3,
            transfer_epochs=5,
            ppca_splits=3,
        )
    return Effort(
        n_train=60_000,
        network={"hidden": 128, "width": 100, "learning_rate": 4e-3, "epochs": 4}
        | {"max_tokens": 1000},
        n_target=8000,
        sizes=(100, 200, 500, 1000),
        splits=3,
        transfer_epochs=10,
        ppca_splits=10,
    )


def find_all(
    corpus: Corpus,
    effort: Effort,
    seed: int,
    *,
    of: str,
    cues: dict[str, tuple[str, ...]] | None = None,
    done: Callable[[str], None] = lambda _: None,
) -> RecipeRun:
    """Find all figures of a corpus; `done` is told the name of each part that is done.

    `of` names the data in titles; `cues` are the words of simulated comments.
    """
    from affectlab.recipes.goemotions import figures
    from affectlab.recipes.goemotions.agreement import rater_findings, structure_of
    from affectlab.recipes.goemotions.counts import (
        count_notes,
        data_findings,
        label_numbers,
        part_of,
        votes_of,
    )
    from affectlab.recipes.goemotions.models import model_findings, transfer_of
    from affectlab.recipes.goemotions.words import word_findings

    votes = None if corpus.raw is None else votes_of(corpus.raw)
    of_raw = of if corpus.raw is None or corpus.complete else f"A part of {of}"
    parts = Parts(done)
    agreement: Agreement | None = None
    models: Models | None = None
    with parts("counts", "data.", "split.", "groups."):
        parts.add(
            data_findings(corpus, votes),
            count_notes(corpus, votes),
            [figures.numbers_figure(label_numbers(corpus, votes), of, of_raw)],
        )
    with parts("raters", "raters.", "ppca."):
        of_raters, agreement, told = rater_findings(corpus, effort.ppca_splits, seed)
        parts.add(of_raters, told, [figures.agreement_figure(agreement, of_raw)])
    with parts("structure"):
        structure, told = structure_of(corpus)
        parts.notes += told
        if structure is not None:
            parts.figures.append(figures.structure_figure(structure, of_raw))
    with parts("frequencies"):
        parts.figures.append(figures.frequency_figure(corpus, votes, agreement, of_raw))
    with parts("words", "words."):
        of_words, words, told = word_findings(corpus, cues)
        parts.add(of_words, told, [figures.words_figure(words, of)])
    part = part_of(corpus, effort.n_train, effort.n_target, seed)
    with parts("models", "table4.", "table5.", "table6.", "bilstm."):
        of_models, models, told = model_findings(part, effort, seed)
        who = "BERT" if corpus.bert else "a linear model"
        parts.add(of_models, told, [figures.confusion_figure(models.judged[""], who, of)])
    if models is not None:
        with parts("transfer"):
            moved, told = transfer_of(part, models.network, effort, seed)
            parts.notes += told
            if moved is not None:
                parts.figures.append(figures.transfer_figure(moved))
    parts.findings |= {
        figure.key: Finding(why=why)
        for figure in load_published("goemotions").figure
        for start, why in _NOT_PUBLISHED.items()
        if figure.key.startswith(start)
    }
    return parts.to_run(inputs=corpus.files)


def run_simulation(
    seed: int, quick: bool, done: Callable[[str], None] = lambda _: None
) -> RecipeRun:
    """Find all figures on simulated comments; `done` is told the name of each part that is done."""
    from dataclasses import replace

    from affectlab.recipes.goemotions.simulate import simulated_corpus

    effort = _effort(quick, real=False)
    n = 4000 if quick else 16_000
    corpus, planted = simulated_corpus(n, effort.n_target, seed)
    done("comments and raters")
    run = find_all(corpus, effort, seed, of="Simulated comments", cues=planted.cues, done=done)
    first = (
        f"{count(n)} comments are simulated, with five words for each emotion, and 82 raters tick "
        "what they see; the other data set is simulated diaries. No comment of GoEmotions was seen."
    )
    planted_too = (
        "Set after the paper, so that likeness in them is no finding: the numbers of emotions and "
        "raters, three or five answers for each comment, the splits, about a quarter without an "
        "emotion, admiration 30 times as frequent as grief, and which emotions are hard to see."
    )
    return replace(run, notes=(first, planted_too, *run.notes))


def _run(folder: Path, quick: bool) -> RecipeRun:
    from dataclasses import replace

    from affectlab.recipes.goemotions.data import read_corpus

    corpus = read_corpus(folder)
    effort = _effort(quick, real=True)
    run = find_all(corpus, effort, _SEED, of="GoEmotions")
    run = replace(run, seeds=(_SEED,))
    if not quick:
        return run
    first = (
        f"Quick: models learn from {count(effort.n_train)} comments, the BiLSTM for "
        f"{effort.network['epochs']} epochs, and transfer has {effort.splits} splits of "
        f"{count(effort.n_target)} texts. Counts, raters and words are those of all data."
    )
    return replace(run, notes=(first, *run.notes))


RECIPE = Recipe(
    name="goemotions",
    published=lambda: load_published("goemotions"),
    needs=NEEDS,
    run=_run,
    simulate=run_simulation,
)
