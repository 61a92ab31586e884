"""``affectlab ratings``: what a file of ratings holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli.manifest import OptionsOf
from affectlab.cli.operations import show_result
from affectlab.cli.reading import read_options, read_roles, selected, source_of
from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, check_ratings_path, describe_ratings, load_dataset
from affectlab.ratings.datasets import find_dataset, published_sets

if TYPE_CHECKING:
    from affectlab.cli._output import Output


def describe(
    out: Output,
    file: Path,
    *,
    save: Path | None = None,
    reading: Annotated[dict[str, Any], OptionsOf("cli.reading:read_file")],
) -> None:
    """Say what each column of a file is taken for, what the file holds, and what cannot be used.

    The exit code is 2 when the file cannot be used as it is; with --set-aside rows that cannot be
    used are counted, and the exit code is 1 when there are any. With --save, what was understood
    becomes a file to edit, which every verb takes with --mapping.

    Parameters
    ----------
    file
        Ratings: a file, a folder of tables, an address, or - for standard input.
    save
        Write it as a mapping (TOML); as FILE.mapping.toml it is found by itself.
    """
    keep, averaged = reading.pop("keep_labels", None), reading.pop("averaged", False)
    found = describe_ratings(source_of(file), **read_options(**reading))
    if save is not None:
        found.save(save)
    out.show(found)
    told: dict[str, Any] = {**found.to_dict(), "summary": None}
    ratings = found.ratings
    if ratings is not None:
        kept = selected(ratings, keep, averaged=averaged)
        summary = kept.summary()
        # The notes stand with the description.
        out.show(replace(summary, notes=()))
        told["summary"] = {**summary.counts, "descriptives": summary.to_frame("descriptives")}
    for line in found.commands:
        out.show_line(line)
    if save is not None:
        out.show(f"mapping written to {save}")
    out.finish(told, () if ratings is None else ratings.warnings, noted=True)
    if found.problem is not None:
        raise InputError(found.problem)
    if reading.get("set_aside") and ratings is not None and any(p.count for p in ratings.set_aside):
        raise SystemExit(1)


def convert(ratings: Ratings, out: Output, *, to: Path, form: str | None = None) -> None:
    """Write ratings as a long table, or as another tool or an archive takes them.

    A table (CSV, Parquet, JSON Lines) has scale, raters and stimuli with it, so that reading it
    gives the same ratings.

    Parameters
    ----------
    to
        File to write: .csv, .parquet or .jsonl; with --as, a new folder.
    form
        psych-ds, hugging-face, wide (SPSS, JASP, jamovi, R), label-studio or argilla; settings
        stand behind it, as in argilla,rater=net.
    """
    if form is None:
        written = ratings.write(to)
        out.show(f"{ratings.n_rows:,} rows written to {written}")
        files = [written.name]
    else:
        written = ratings.export(form, to)
        inside = (file for file in written.rglob("*") if file.is_file())
        files = sorted(str(file.relative_to(written)) for file in inside)
        out.show(f"Written to {written}: {', '.join(files)}")
    out.finish({"path": written, "files": files, "n_rows": ratings.n_rows}, ratings.warnings)


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
