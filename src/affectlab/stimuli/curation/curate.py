"""From a pile of comments to a corpus that is fit to be annotated."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl

from affectlab.core.errors import AffectlabError, InputError, unknown_name
from affectlab.core.remote.runner import use_runner
from affectlab.core.types import Count
from affectlab.core.words import joined
from affectlab.stimuli.curation.input import stage
from affectlab.stimuli.curation.ledger import explained
from affectlab.stimuli.curation.plan import CurationPlan, load_curation_plan
from affectlab.stimuli.curation.pool import Place
from affectlab.stimuli.curation.result import Curation
from affectlab.stimuli.curation.run import Predict, Run
from affectlab.stimuli.curation.steps import Step, build_steps, read_decisions
from affectlab.stimuli.curation.write import (
    remove_corpus,
    write_corpus,
    write_dropped,
    write_tables,
)

__all__ = [
    "curate",
    "damage_told",
]

# Files of an earlier run that cannot be read any more, told in a sentence.


@contextmanager
def damage_told(work: Path) -> Iterator[None]:
    """Say which file of a run's work is damaged, where that is why something failed.

    Raises
    ------
    InputError
        When something failed and a Parquet file in `work` was cut short or is none; whatever else
        was raised is raised as it is.
    """
    try:
        yield
    except AffectlabError:
        raise
    except Exception as problem:
        damaged = next(
            (path for path in sorted(work.rglob("*.parquet")) if _is_damaged(path)), None
        )
        if damaged is None:
            raise
        raise InputError(
            f"{damaged}: cannot be read; it was cut short or changed since an earlier run wrote "
            "it. Begin anew with --config restart=true, in Python with resume=False"
        ) from problem


def _is_damaged(path: Path) -> bool:
    """Tell whether the footer of a Parquet file, which comes last, cannot be read."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        parquet.read_metadata(path)
    except (pa.ArrowException, OSError):
        return True
    return False


_MARK = ".affectlab-curation"
"""File that tells that the folders beside it are ours, and may be written anew."""
_FOLDERS = ("corpus", "reasons", "work")
_BALANCING = ("length_balance", "sentiment", "emotion_balance", "group_balance", "sample")
"""Steps that depend on how many comments of a kind there are."""


def curate(
    sources: str | Path | Sequence[str | Path] | None,
    path: str | Path,
    *,
    plan: CurationPlan | str | Path | None = None,
    steps: Sequence[str | Step] | None = None,
    predict: Predict | None = None,
    review: pl.DataFrame | str | Path | None = None,
    near_duplicates: bool = False,
    until: str | None = None,
    runner: str = "native",
    partitions: Count | None = None,
    part_rows: int = 250_000,
    strict: bool = False,
    resume: bool = True,
    progress: Callable[[str, int, int], None] | None = None,
) -> Curation:
    """Curate comments as GoEmotions does (section 3.1), with a count and a reason for each drop.

    Texts are read once, and looked at once; the steps then work on a narrow table. Only large
    groups stay, without deleted and non-English comments, adult groups and offensive comments;
    comments about identity wait for review; 3 to 30 tokens; then lengths, sentiments, emotions and
    groups are balanced, and a sample is drawn. What is drawn depends on ids and the seed alone, so
    that the result is the same on every runner, in any number of parts and in any order of rows,
    with two exceptions: of rows with the same id the first one read is kept, and rows without an
    id are named by file and line. A run that was interrupted goes on with the first step that was
    not finished; a step whose settings changed, and those after it, are done again. So are those
    whose settings are not known: a function without an attribute ``name``, a step of your own
    without :meth:`Step.settings`.

    Parameters
    ----------
    sources
        Files, folders, patterns or URLs: JSON lines, Reddit dumps, CSV, TSV, Parquet, also
        compressed. None: those that the plan names.
    path
        Folder for results: ``corpus/`` (Parquet), ``stimuli.csv`` (table of a study),
        ``ledger.csv`` and ``.json``, ``reasons/`` (why each comment went), ``distributions.csv``,
        ``groups.csv``, ``problems.csv``, ``review/comments.csv``, and ``work/`` with what is
        finished, which may be deleted in the end.
    plan
        Steps and thresholds, or a TOML file with them; None: the paper's.
    steps
        Names of steps, and steps of your own, instead of the plan's.
    predict
        Function from texts to lists of labels, the most likely first, for steps that need
        predicted emotions and an input without a column of them. On Ray it must be picklable. With
        an attribute ``name``, predictions are used again until the name is another one.
    review
        What reviewers decided about comments in ``review/comments.csv``: ``id`` (or ``stimulus``)
        and ``decision`` (keep or drop), or ``keep`` (true or false). Those to keep are readmitted.
    near_duplicates
        Keep one of several texts that are nearly the same, before the first step that balances.
    until
        Name of the last step to take: the corpus is not written, one of an earlier run is removed
        with a note, and :meth:`Curation.draw` gives a pilot from the comments that are left.
    part_rows
        Comments in one part: memory grows with it.
    strict
        End at the first line that cannot be read.
    resume
        Use what an earlier run in the same folder has finished.
    progress
        Is told a text, how much is done, and how much there is.

    Other Parameters
    ----------------
    runner
        ``native``, ``ray`` or ``ray://host:port``; see :func:`use_runner`.
    partitions
        Into how many pieces work is split on Ray.

    Raises
    ------
    InputError
        When input, plan or folder cannot be used; when groups or predictions are needed and there
        are none. That nothing is left is no error: ``Curation.explained`` says why.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> folder = Path(tempfile.mkdtemp())
    >>> names = [f"c{k}" for k in range(40)]
    >>> texts = [f"What a lovely day number {k} this is!" for k in range(39)] + ["[deleted]"]
    >>> pl.DataFrame({"id": names, "body": texts, "subreddit": ["aww"] * 40}).write_csv(
    ...     folder / "comments.csv")
    >>> done = curate(folder / "comments.csv", folder / "out", steps=["deleted", "length"])
    >>> done.n_read, done.n_kept, done.ledger["n"].to_list()
    (40, 39, [0, 1, 0, 0])
    """
    chosen = plan if isinstance(plan, CurationPlan) else load_curation_plan(plan)
    given = chosen.sources if sources is None else sources
    if not isinstance(given, str | Path) and not given:
        raise InputError(f"plan {chosen.name}: there are no sources; expected files to read")
    names = _with_near_duplicates(chosen.steps if steps is None else steps, near_duplicates)
    todo = build_steps(chosen, names, read_decisions(review))
    last = [step.name for step in todo]
    if until is not None and until not in last:
        raise unknown_name("step", until, last, where="until")
    if partitions is not None and partitions < 1:
        raise InputError(f"partitions = {partitions}: expected 1 or more")
    files = [given] if isinstance(given, str | Path) else list(given)
    _apart(files, Path(path))
    folder = _folder(path)
    work = folder / "work"
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(exist_ok=True)
    use_runner(runner)
    stopped = until if until != last[-1] else None
    corpus: Path | None = None
    with damage_told(work):
        staged = stage(
            files,
            work / "staged",
            columns=replace(chosen.columns.columns(), taxonomy=chosen.taxonomy),
            strict=strict,
            runner=runner,
            part_rows=part_rows,
            progress=progress,
        )
        run = Run(work, chosen, todo, Place(runner, partitions, progress))
        run.clear()
        run.look(staged)
        start = run.pool
        for step in todo:
            run.take(step, predict)
            if step.name == until:
                break
        run.end()
        if stopped is None:
            corpus = write_corpus(folder, run, staged)
        elif removed := remove_corpus(folder):
            run.notes.append(
                f"{joined(removed)} of an earlier run removed: this run stops after {stopped}"
            )
        waiting, n_waiting = write_dropped(folder, run, staged)
        tables = write_tables(folder, run, staged, start)
    return Curation(
        out=folder,
        n_read=staged.n_read,
        n_kept=run.pool.n,
        counts=staged.counts,
        explained=explained(run.entries),
        notes=tuple(run.notes),
        corpus=corpus,
        review=waiting,
        n_review=n_waiting,
        stopped_after=stopped,
        _pool=run.pool,
        **tables,
    )


def _with_near_duplicates(names: Sequence[str | Step], wanted: bool) -> list[str | Step]:
    """Put the step before anything is balanced, or last, unless it is there."""
    found = list(names)
    known = [one.name if isinstance(one, Step) else one for one in found]
    if not wanted or "near_duplicates" in known:
        return found
    place = next((at for at, name in enumerate(known) if name in _BALANCING), len(found))
    return [*found[:place], "near_duplicates", *found[place:]]


def _apart(sources: Sequence[str | Path], out: Path) -> None:
    """Check that results are not written where they would be read the next time."""
    for source in sources:
        place = Path(source)
        if "://" not in str(source) and place.is_dir():
            place, target = place.resolve(), out.resolve()
            if target == place or place in target.parents:
                raise InputError(
                    f"{out}: lies in {source}, all of which is read; expected a folder beside it"
                )


def _folder(out: str | Path) -> Path:
    """Make the folder of the results, or check that it is one of an earlier curation."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / _MARK).exists():
            foreign = next((name for name in _FOLDERS if (folder / name).exists()), None)
            if foreign is not None:
                raise InputError(
                    f"{out}: expected a new folder or one of an earlier curation, found {foreign} "
                    "in it"
                )
            (folder / _MARK).write_text("written by affectlab stimuli curate\n", encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{out}: cannot be used as a folder ({problem.strerror})") from None
    for name in _FOLDERS:
        place = folder / name
        # What a link leads to is not ours to empty.
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            kind = "a link" if place.is_symlink() else "a file"
            raise InputError(
                f"{place}: expected a folder of an earlier curation, found {kind}; move it away"
            )
    return folder
