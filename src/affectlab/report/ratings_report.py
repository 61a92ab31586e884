"""Writing a report: the page, its tables and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import polars as pl
from annotated_types import Ge

from affectlab.core.errors import InputError
from affectlab.core.interface.spelling import spelled
from affectlab.core.words import plural, shown
from affectlab.ratings import ClusterLike, ModelRatings, Ratings
from affectlab.report import wording
from affectlab.report.cautions import cautions
from affectlab.report.first_page import QUESTIONS, lead
from affectlab.report.page import (
    Drawn,
    Paragraph,
    Picture,
    Progress,
    ReportPaths,
    Section,
    Skipped,
    Steps,
    blocks,
    draw,
    folders,
    write_page,
)
from affectlab.report.sections import BUILDERS, LATE, glossary, provenance, source_name
from affectlab.report.sections.raters import recovery_section
from affectlab.report.statistics import Study


@spelled
def write_report(
    ratings: Ratings,
    path: str | Path,
    *,
    models: ModelRatings | None = None,
    title: str | None = None,
    seed: int = 0,
    n_boot: Annotated[int, Ge(0)] = 1000,
    images: str | Path | None = None,
    cluster: ClusterLike = None,
    extra_sections: Sequence[Section] = (),
    truth: pl.DataFrame | None = None,
    progress: Progress | None = None,
) -> ReportPaths:
    """Write a report on ratings: one HTML file, with its tables and figures beside it.

    The page needs no network, no server and no other file. Its first page answers what is asked
    first of the kind of data there is, by the results that the functions named give:

    - numbers: how reliable the means are, what the scores are;
    - one category of stimuli that are meant to show one: how well it is recognised
      (:func:`recognition`), and what is confused with what;
    - other categories: what most raters answer, and how sure that is;
    - sets of labels: which labels can be trusted, and which go together
      (:func:`label_correlations`);
    - two systems on each stimulus: which is preferred (:func:`preference_scale`,
      :func:`preferences`), ties and sides, and judges;
    - valence and arousal: reliability and concordance (:func:`concordance`), and the plane
      (:func:`circumplex`);
    - traces: agreement over time (:func:`traces`);

    and of models beside people, whether they are as good (:func:`alignment`). It says what to
    worry about; everything else is in sections that are closed at first. Parts that do not apply
    are left out, and the page says which and why.

    Parameters
    ----------
    ratings
        The ratings, of any scale, with or without labels.
    path
        Folder for ``report.html``, ``tables/*.csv``, ``figures/*.png`` and ``figures/*.svg``, and
        all scores as ``tables/scores.parquet``, too; made when absent. Files of the same names are
        replaced.
    models
        Answers of models in a table of their own. They may be on another scale (people rate in
        steps, a model gives any number): see ``on_scale``. What compares
        all raters takes them to the nearest step.
    title
        Heading of the report; by default from the source of the ratings.
    seed
        Seed of the bootstrap.
    n_boot
        Bootstrap samples for the intervals; 0 for none.
    images
        Folder with pictures of the stimuli. A picture is found by the stimulus attribute ``file``,
        ``image``, ``path`` or ``filename``, or by its name without suffix. Attributes are looked up
        in this folder and in that of the source; paths and links that lead out are not followed.
    cluster
        What stimuli belong to, so that intervals of agreement are about other actors, films or
        authors: a column of the stimulus table, or a mapping from stimulus to cluster; ``"none"``
        for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    extra_sections
        Sections to put before the closing ones.
    truth
        What simulated people answered from, with the columns ``stimulus, label, value``: the report
        then says how well it came back out of the answers.
    progress
        Called with what is being done, the steps done and the steps in all.

    Returns
    -------
    ReportPaths
        ``html``, ``tables``, ``figures``, and ``answers``: what the first page says in words.

    Raises
    ------
    InputError
        When `path` or `images` is not a folder, `n_boot` is negative, `models` do not fit the
        ratings, or two parts of the report have one name.

    Notes
    -----
    The same ratings, seed and versions give the same bytes, but for the date, which is that of
    ``SOURCE_DATE_EPOCH`` where that is set.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.ratings import Ratings
    >>> ratings = Ratings({"stimulus": ["a", "a", "b", "b"], "rater": ["r1", "r2"] * 2,
    ...                    "value": [0, 1, 6, 7]}, scale="0-7")
    >>> paths = write_report(ratings, tempfile.mkdtemp(), title="Two raters", n_boot=0)
    >>> paths.html.name
    'report.html'
    """
    folder, pictures = folders(path, images)
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap samples")
    study = Study(ratings, models, seed=seed, n_boot=n_boot, images=pictures, cluster=cluster)
    steps = Steps(progress, len(BUILDERS) + 3)
    # Models are compared with people, and pictures drawn, while sections are made.
    with ThreadPoolExecutor(1) as drawing, ThreadPoolExecutor(1) as comparing:
        study.compare_ahead(comparing)
        drawn: dict[int, Future[Drawn]] = {}
        builders = dict(BUILDERS)
        parts: dict[str, Section | Skipped] = {}
        for name in (*(name for name in builders if name not in LATE), *LATE):
            steps.next(name)
            parts[name] = builders[name](study)
            drawn |= _drawn_by(drawing, parts[name])
        steps.next("first page")
        asked = (ask(study) for ask in QUESTIONS[study.kind])
        questions = _headlined(study, [one for one in asked if one is not None])
        for section in questions:
            for picture in blocks([section], Picture):
                picture.beside_text()
            drawn |= _drawn_by(drawing, section)
        in_order = [parts[name] for name in builders]
        sections = [part for part in in_order if isinstance(part, Section)]
        sections += extra_sections
        if truth is not None:
            sections.append(recovery_section(study, truth))
        return write_page(
            folder,
            questions,
            sections,
            steps,
            drawn=drawn,
            title=title or _title(ratings),
            lead=lead(study),
            cautions=lambda: cautions(study),
            skipped=[part for part in in_order if isinstance(part, Skipped)],
            glossary=glossary(study, [*questions, *sections]),
            provenance=provenance(study, sections),
            source=source_name(study),
        )


def _headlined(study: Study, questions: list[Section]) -> list[Section]:
    """Begin with what leaving careless people out changes, where it changes anything.

    Where models are asked about first, their verdicts leave careless people out and say so; what
    changes then is the reliability, in its own answer.
    """
    if study.without_careless is None or not questions:
        return questions
    n, before, after = study.without_careless
    if round(before, 2) == round(after, 2):
        return questions
    things = plural(n, "label") if n > 1 else ""
    text = wording.without_careless(study.careless_names, things, before, after)
    names = [one.key for one in questions]
    place = names.index("reliability") if names[0] == "verdict" and "reliability" in names else 0
    headed = replace(questions[place], blocks=(Paragraph(text), *questions[place].blocks))
    return [*questions[:place], headed, *questions[place + 1 :]]


def _drawn_by(pool: Executor, part: Section | Skipped) -> dict[int, Future[Drawn]]:
    """Draw the pictures of a section in a thread, by the id of the picture."""
    if not isinstance(part, Section):
        return {}
    return {id(picture): pool.submit(draw, picture) for picture in blocks([part], Picture)}


def _title(ratings: Ratings) -> str:
    if Path(ratings.source).suffix:
        return f"Ratings in {Path(ratings.source).name}"
    return shown(ratings.source, 120) or "Ratings"
