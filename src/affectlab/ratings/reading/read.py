"""Reading a file of ratings, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.formats import Format, find_format, load_format
from affectlab.ratings.formats.table import ABSENT_IS_ZERO, EMPTY_CELLS, PlainTable
from affectlab.ratings.options import Absent, ReadOptions, Wide, check_choices, frame_of
from affectlab.ratings.reshape import fill_absent
from affectlab.ratings.scales import DeclaredScales, ScaleLike
from affectlab.ratings.summary import warn_of_guess
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy


def read_ratings(
    path: str | Path,
    *,
    format: str | Format | None = None,
    scale: ScaleLike | None = None,
    taxonomy: str | Taxonomy | None = None,
    columns: Mapping[str, str] | None = None,
    wide: Wide | None = None,
    attributes: Sequence[str] | None = None,
    raters: Any = None,
    stimuli: Any = None,
    rater: str | None = None,
    absent: Absent | None = None,
    on_bad: OnBad = "raise",
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Ratings:
    """Read ratings from a file.

    Published formats are recognised by their content (see
    :func:`affectlab.ratings.list_formats`); anything else is read as a long table with one row per
    answer, or as a wide one.

    Parameters
    ----------
    path
        CSV, TSV, Parquet, Feather, JSON Lines, JSON, a workbook, a file of SPSS or Stata, an export
        of a survey or an experiment, or a file of a published format.
    format
        Name of a published format, with settings of its own behind it, such as
        ``"isear,keep_non_answers=true"``; None: recognised. ``"table"``: none of them.
    scale
        The declared scale, such as ``"0-7"`` or ``"binary"``; where labels are on different scales,
        a mapping from labels to these, or a text such as
        ``"plausibility=1-7, category=nominal:joy,fear, comment=text"``, in which a part without a
        label holds for all others. What is not declared is what the format says, or inferred from
        the values (a warning then says so; it is a :class:`GuessedScalesWarning` where labels are
        taken to be on different scales).
    taxonomy
        Name, file or :class:`~affectlab.taxonomy.Taxonomy` in which all labels must be found.
    columns
        Role to column name, where names are not recognised: ``{"stimulus": "clip"}``.
    wide
        ``"raters"``: one row per stimulus and one column per rater. ``"labels"``: one row per
        stimulus and rater, and one column per label. ``"stimuli"``: one row per participant and
        one column per stimulus, as questionnaires export. ``"auto"``: raters when no column names
        the rater, else labels when one names the stimulus or the columns are labels of a taxonomy,
        else stimuli. Which columns were taken is said in :attr:`Ratings.history`.
    attributes
        Columns of a wide file that describe the stimulus or the rater and hold no ratings. None:
        columns of words beside columns of numbers, and names such as ``age``; what was taken so is
        said in :attr:`Ratings.history`. An empty list: there are none.
    raters, stimuli
        Attribute tables (a file or a data frame) with a column ``rater`` or ``stimulus``; of raters
        also Prolific's demographic export. They are joined with what the file says; where both say
        something, these tables go first.
    rater
        Name of the one rater who gave all answers, for a file without a column of raters.
    absent
        What a label means that a rater of a stimulus left out: ``"zero"``, a rating of 0 (see
        :meth:`Ratings.fill_absent`), or ``"missing"``, nothing known. None: what the published
        format says, else ``"missing"``. :attr:`Ratings.history` says what was done.
    on_bad
        ``"raise"``: stop at the first row that cannot be used. ``"set_aside"``: leave such rows
        out, and count them with the reason in :attr:`Ratings.set_aside`.
    encoding
        Encoding of a text file; None: told by a byte order mark, else UTF-8.
    delimiter
        Delimiter of a text table; None: told by the first line, which may be ``sep=;``. Where it
        is a semicolon, a comma between digits is a decimal comma.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        One sentence that names the file, the line, the value, and what was expected.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("image,annotator,rating\\n007,anna,3\\n007,NA,4\\n")
    >>> r = read_ratings(file, scale="0-7")
    >>> r.stimulus_names, r.rater_names
    (('007',), ('anna', 'NA'))
    """
    check_choices(wide, on_bad, absent)
    if isinstance(attributes, str):
        attributes = [attributes]
    if attributes is not None and wide is None:
        ways = option("wide", "raters", "labels", "stimuli")
        raise InputError(
            f"{option('attributes')} is for wide files; say which way this one is ({ways})"
        )
    options = ReadOptions(
        scale=DeclaredScales.parse(scale),
        taxonomy=load_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy,
        columns=columns,
        wide=wide,
        attributes=None if attributes is None else tuple(attributes),
        raters=frame_of(raters, "rater"),
        stimuli=frame_of(stimuli, "stimulus"),
        on_bad=on_bad,
        rater=rater,
        absent=absent,
    )
    head = Peek.open(path, encoding=encoding, delimiter=delimiter)
    chosen = _chosen(head, format, options)
    options = replace(options, absent=absent or chosen.absent)
    ratings = _with_absent(chosen.read(head, options), absent, chosen.absent)
    warn_of_guess(ratings)
    return ratings


def _chosen(head: Peek, given: str | Format | None, options: ReadOptions) -> Format:
    """Give the format that the user names, else the one that is surest of the file."""
    if given is not None:
        return load_format(given)
    found = find_format(head, options.wide)
    # Who says what columns mean describes a table.
    is_table = options.columns is None or isinstance(found, PlainTable)
    return found if is_table else load_format("table")


def _with_absent(ratings: Ratings, asked: Absent | None, published: Absent) -> Ratings:
    """Give labels that were left out their meaning, and say which and by whom."""
    if (asked or published) == "zero":
        why = f"{ABSENT_IS_ZERO}, as {'published' if published == 'zero' else 'asked'}"
        try:
            filled = fill_absent(ratings, why=why)
        except InputError as error:
            said = option("absent", "missing")
            raise InputError(f"{ratings.source}: {error}; leave them missing ({said})") from None
        if filled is ratings and any(EMPTY_CELLS in step for step in ratings.history):
            return ratings
        step = f"{why}: nothing was absent"
        return filled if filled is not ratings else ratings._derive(ratings._body, steps=(step,))
    if asked is None:
        return ratings
    if any(step.startswith(ABSENT_IS_ZERO) for step in ratings.history):
        raise InputError(
            f"{ratings.source}: absent ratings were filled with 0 before the file was written; "
            f"expected the source for {option('absent', 'missing')}"
        )
    said = " (0 as published)" if published == "zero" else ""
    return ratings._derive(ratings._body, steps=(f"absent = missing, as asked{said}",))
