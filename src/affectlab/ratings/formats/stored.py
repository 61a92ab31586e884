"""What :mod:`affectlab.ratings.storage` wrote: the table, and beside it what it means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.attributes import overlay
from affectlab.ratings.build import Checked, check_columns
from affectlab.ratings.codes import as_categories
from affectlab.ratings.files import UNREADABLE, Columns, Peek, read_columns
from affectlab.ratings.formats.format import Contents, Format, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import step
from affectlab.ratings.storage import (
    DTYPES,
    INSIDE,
    METADATA_KEY,
    Meta,
    parse_meta,
    parse_scale,
    sidecar,
)
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy

_NAMES = ("stimulus", "rater", "label", "trial_kind", "outcome")


@file_format("affectlab", "what affectlab wrote, with what it means inside or beside it")
class Stored(Format):
    """A table that affectlab wrote: Parquet, or CSV or JSON Lines with a description beside it.

    Without what lay beside it, a CSV or JSON Lines file still says in columns which kind a rater is
    of and which scale a label is on; attributes, taxonomy and history are lost then.
    """

    def recognise(self, head: Peek) -> Sure:
        """Look for the description."""
        return Sure.STATED if is_stored(head) else Sure.NO

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Read a table that says in its columns what answers mean."""
        names = [name for name in (*_NAMES, *INSIDE, "value") if name in head.columns]
        read = read_columns(head, names=names, on_bad=options.on_bad)
        columns = dict(read.columns)
        said = as_categories(columns.pop(INSIDE[1])).cast(pl.String)
        label = columns.get("label")
        of_label = pl.DataFrame(
            {"scale": said, "label": [""] * len(said) if label is None else label.cast(pl.String)}
        ).drop_nulls()
        scales = of_label.unique(maintain_order=True)
        twice = scales.filter(scales["label"].is_duplicated())
        if twice.height:
            first, second = twice["scale"].head(2)
            raise InputError(
                f"{head.path}: column '{INSIDE[1]}' says {first!r} and {second!r} of the same "
                "answers; expected one scale of each label"
            )
        found = {name: parse_scale(scale) for scale, name in scales.iter_rows()}
        declared = DeclaredScales.parse(found if label is not None else found.get(""))
        kinds = pl.DataFrame(
            {"rater": columns["rater"].cast(pl.String), INSIDE[0]: columns.pop(INSIDE[0])}
        )
        return Contents(
            columns,
            read.locate,
            scale=declared.known(),
            raters=kinds.drop_nulls().unique(maintain_order=True),
            set_aside=read.set_aside,
            history=(step(StepKind.WITHOUT_DESCRIPTION),) if head.frame is None else (),
        )

    def read(self, head: Peek, options: ReadOptions) -> Ratings:
        """Read what was written; what the user says about it goes first."""
        described = _description(head)
        if described is None:
            return super().read(head, options)
        meta, where = described
        try:
            written = meta.scale_of()
            of_file = None if meta.taxonomy is None else Taxonomy.from_toml(meta.taxonomy)
            raters, stimuli = meta.table("rater"), meta.table("stimulus")
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{where}: not a description of ratings ({reason})") from None
        # Values may be written as the names of categories.
        named = meta.types.get("value") == "String"
        names = [name for name in _NAMES if name in head.header] + ["value"] * named
        number = "value" if "value" in head.header and not named else None
        read = read_columns(head, names=names, number=number, on_bad=options.on_bad)
        scales = options.scale.over(written)
        columns = {
            name: _cast(column, meta.types.get(name, ""), read)
            for name, column in read.columns.items()
            if name in meta.types or name not in INSIDE
        }
        checked = check_columns(
            columns,
            # An inferred nominal scale is kept too: its categories give the values their meaning.
            scale=scales.known(),
            taxonomy=options.taxonomy or of_file,
            on_bad=options.on_bad,
            locate=read.locate,
            empty=f"{head.path} has a header but no rows; expected at least one answer",
            coded=not named,
        )
        ordered = checked.reordered(
            stimulus=stimuli["stimulus"].to_list(),
            rater=raters["rater"].to_list(),
            label=meta.labels,
        )
        aside = tuple(part.build() for part in meta.set_aside)
        history = tuple(one.build() for one in meta.history)
        raters_told, of_raters = overlay("rater", raters, options.raters)
        stimuli_told, of_stimuli = overlay("stimulus", stimuli, options.stimuli)
        return Ratings._from_checked(
            replace(
                ordered,
                scales=_as_inferred(ordered, scales),
                taxonomy=ordered.taxonomy if options.taxonomy is not None else of_file,
                set_aside=(*aside, *read.set_aside, *checked.set_aside),
            ),
            raters_told,
            stimuli_told,
            source=meta.source,
            history=(*head.steps, *history, *of_raters, *of_stimuli),
            split=False,
        )


def _as_inferred(checked: Checked, scales: DeclaredScales) -> dict[str, Scale]:
    """Give labels the scales that were inferred before rows were taken out or in by hand."""
    body, found = checked.body, dict(checked.scales)
    names = list(found) if body.label is None else body.label.names.to_list()
    for code, (name, scale) in enumerate(zip(names, scales.of(names), strict=True)):
        if scale is None or scale.declared or found[name].kind == "nominal":
            continue
        value = body.value if body.label is None else body.value[body.label.code == code]
        if scale.contains(value[~np.isnan(value)]).all():
            found[name] = scale
    return found


def is_stored(head: Peek) -> bool:
    """Whether affectlab wrote a file, as is said inside or beside it."""
    if head.head.startswith(b"PAR1"):
        try:
            return METADATA_KEY in pl.read_parquet_metadata(head.path)
        except UNREADABLE:
            return False
    if head.frame is None and head.suffix not in (".csv", ".jsonl"):
        return False
    if _described(head):
        return True
    if not {"stimulus", "rater", *INSIDE} <= set(head.columns):
        return False
    first = head.first_record if head.is_json else _first_row(head)
    try:
        return isinstance(first, dict) and bool(parse_scale(first[INSIDE[1]]))
    except (InputError, KeyError):
        return False


def _first_row(head: Peek) -> dict[str, str]:
    return dict(zip(head.header, next(iter(head.rows[1:]), ()), strict=False))


def _described(head: Peek) -> bool:
    return head.frame is None and sidecar(head.path).is_file()


def _description(head: Peek) -> tuple[Meta, str] | None:
    """Read what the file says of itself, and where it says it; None: in its columns alone."""
    if head.head.startswith(b"PAR1"):
        where, text = str(head.path), pl.read_parquet_metadata(head.path)[METADATA_KEY]
    elif not _described(head):
        return None
    else:
        where = str(sidecar(head.path))
        try:
            text = sidecar(head.path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{where} cannot be read: {error}") from None
    return parse_meta(text, where=where), where


def _cast(column: pl.Series, written: str, read: Columns) -> pl.Series:
    """Give a column the type it had when it was written."""
    name = column.name
    dtype = DTYPES.get(written)
    if dtype is None or name in (*_NAMES, "value") or column.dtype == dtype:
        return column
    if dtype == pl.Boolean and column.dtype == pl.String:
        words = column.str.to_lowercase()
        cast = (words == "true").set(~words.is_in(["true", "false"]), None)
    else:
        cast = column.cast(dtype, strict=False)
    wrong = cast.is_null() & column.is_not_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"{read.locate(row)}: {name} {column[row]!r} is not understood; expected {written}"
        )
    return cast
