"""``affectlab ratings``: what a file of ratings holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli.manifest import OptionsOf
from affectlab.cli.operations import show_result
from affectlab.cli.reading import read_options, read_roles, source_of
from affectlab.core.errors import InputError
from affectlab.core.words import joined, plural
from affectlab.ratings import Ratings, check_ratings_path, describe_ratings, load_dataset
from affectlab.ratings.datasets import find_dataset, published_sets

if TYPE_CHECKING:
    from affectlab.cli._output import Output


def summary(ratings: Ratings, out: Output) -> None:
    """Count what a file holds, with means, standard deviations and gaps of each label."""
    found = ratings.summary()
    out.show(found)
    told = {**found.counts, "descriptives": found.to_frame("descriptives")}
    out.finish({**told, "warnings": found.notes}, ratings.warnings, noted=True)


def describe(
    out: Output,
    file: Path,
    *,
    save: Path | None = None,
    reading: Annotated[dict[str, Any], OptionsOf("cli.reading:read_file")],
) -> None:
    """Say what each column of a file is taken for, and why: roles, scales, what is not used.

    With --save, that becomes a file to edit, which every verb takes with --mapping.

    Parameters
    ----------
    file
        Ratings: a file, a folder of tables, an address, or - for standard input.
    save
        Write it as a mapping (TOML); as FILE.mapping.toml it is found by itself.
    """
    found = describe_ratings(source_of(file), **read_options(**reading))
    if save is not None:
        found.save(save)
    show_result(found, out)
    for line in found.commands:
        out.show_line(line)
    if save is not None:
        out.show(f"mapping written to {save}")


def check(ratings: Ratings, out: Output) -> None:
    """Read a file strictly and say whether every row can be used.

    Stops with exit code 2 at the first row that cannot be used; with --set-aside all such rows are
    listed, and the exit code is 1 when there are any.
    """
    aside = [part for part in ratings.set_aside if part.count]
    counts = Counter[str]()
    for part in aside:
        out.show(f"set aside: {part}")
        if part.unit in ("row", "cell"):
            counts[part.unit] += part.count
    said = joined([plural(count, unit) for unit, count in counts.items()] or ["nothing"])
    verb = "were" if counts.total() > 1 else "was"
    out.show(f"{plural(ratings.n_ratings, 'answer')} can be used; {said} {verb} set aside.")
    out.finish({"n_ratings": ratings.n_ratings, "set_aside": aside}, ratings.warnings)
    if aside:
        raise SystemExit(1)


def convert(ratings: Ratings, out: Output, *, to: Path) -> None:
    """Write ratings of any format as a long table: CSV, Parquet or JSON Lines.

    Scale, raters and stimuli go along, so that reading the result gives the same table.

    Parameters
    ----------
    to
        File to write: .csv, .parquet or .jsonl.
    """
    written = ratings.write(to)
    out.show(f"{ratings.n_rows:,} rows written to {written}")
    out.finish({"path": written, "n_rows": ratings.n_rows}, ratings.warnings)


def export(ratings: Ratings, out: Output, name: str, *, to: Path) -> None:
    """Write ratings as another tool takes them: a folder for an archive, statistics, annotation.

    Parameters
    ----------
    name
        psych-ds, hugging-face, wide (SPSS, JASP, jamovi, R), label-studio or argilla; settings
        stand behind it, as in argilla,rater=net.
    to
        New folder to write.
    """
    written = ratings.export(name, to)
    files = sorted(str(file.relative_to(written)) for file in written.rglob("*") if file.is_file())
    out.show(f"Written to {written}: {', '.join(files)}")
    out.finish({"path": written, "files": files}, ratings.warnings)


def fetch(
    out: Output,
    name: str | None = None,
    *,
    to: Path | None = None,
    configuration: str | None = None,
    columns: str | None = None,
    scale: str | None = None,
    reading: Annotated[dict[str, Any], OptionsOf("ratings.reading.hub:load_dataset")],
) -> None:
    """Fetch a published data set from the Hugging Face hub and write it as a table of ratings.

    Only the answers are fetched, no pictures. Licence, citation and commit are shown; the file
    keeps the commit and the licence.

    Parameters
    ----------
    name
        Name of a published set, or OWNER/NAME on the Hugging Face hub; without it, the sets that
        have a name, and where the others are.
    to
        File to write: .csv, .parquet or .jsonl; of the list of sets, a folder too.
    split
        Split, where a set has several: train, validation, test.
    configuration
        Configuration, where the hub has several under one name.
    revision
        Branch, tag or commit; by default the newest.
    cache
        Folder for copies; by default in that of the hub's own libraries.
    scale
        Scale of the answers of a set that is not listed.
    columns
        Which column is what, in a set that is not listed: stimulus=clip,…
    wide
        What a set that is not listed has a column for each of.
    on_bad
        Leave out rows that cannot be used, and count them, instead of stopping.
    """
    if name is None:
        show_result(published_sets(), out, to=to)
        return
    if to is None:
        raise InputError(f"ratings fetch {name}: expected --out FILE, too")
    check_ratings_path(to)
    with out.progress(f"fetching {name}"):
        ratings = load_dataset(
            name,
            configuration=configuration,
            columns=read_roles(columns),
            scale=scale,
            **reading,
        )
    written = ratings.write(to)
    out.show(ratings)
    told = {"source": ratings.source}
    entry = find_dataset(name, configuration)
    if entry is not None:
        told |= {"licence": entry.licence, "citation": entry.citation}
    for what, text in told.items():
        out.show_line(f"{'please cite' if what == 'citation' else what}: {text}")
    out.show(f"{ratings.n_rows:,} rows written to {written}")
    steps = [one.to_dict() for one in ratings.history]
    counts = {"path": written, "n_rows": ratings.n_rows, "history": steps}
    out.finish({"licence": None, "citation": None, **told, **counts}, ratings.warnings)
