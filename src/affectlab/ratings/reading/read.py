"""Reading ratings from whatever holds them, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from affectlab.core.interface.spelling import spelled
from affectlab.ratings.files import OnBad
from affectlab.ratings.formats import Format
from affectlab.ratings.mapping import MappingLike
from affectlab.ratings.options import Absent, Wide
from affectlab.ratings.reading.alternatives import complete
from affectlab.ratings.reading.prepared import prepared
from affectlab.ratings.reading.source import is_hub_set
from affectlab.ratings.scales import ScaleLike
from affectlab.ratings.summary import warn_of_guess
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy


@spelled
def read_ratings(
    source: Any,
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
    missing_codes: Sequence[str | float] | str | float | None = None,
    separator: str | None = None,
    unused: Sequence[str] | None = None,
    mapping: MappingLike | None = None,
    on_bad: OnBad = "raise",
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Ratings:
    """Read ratings from a file, a folder, an address or a table in memory.

    Published formats are recognised by their content (see
    :func:`affectlab.ratings.list_formats`); anything else is read as a long table with one row per
    answer, or as a wide one. What was guessed of its columns is said in a
    :class:`GuessedColumnsWarning`; :func:`describe_ratings` shows what each column is taken for.

    Parameters
    ----------
    source
        A path: CSV, TSV, Parquet, Feather, JSON Lines, JSON, a workbook, a file of SPSS or Stata,
        an export of an annotation tool, a survey or an experiment, a file of a published format, or
        a folder of tables with the same columns, of which a file without a column of raters holds
        the answers of one. An address: ``https://…``, ``hf://datasets/OWNER/NAME/FILE``, or
        ``hf://datasets/OWNER/NAME[/CONFIGURATION][/SPLIT]``. ``"-"``: standard input. A table in
        memory: of polars (a lazy one too), pandas, Arrow or whatever has ``__arrow_c_stream__``, a
        relation of DuckDB, a ``Dataset`` of the Hugging Face library, a dict of columns, or a list
        of dicts.
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
        Role to column name, where names are not recognised: ``{"stimulus": "clip"}``. A published
        format takes the roles that it asks for, such as the stimulus of exports of annotation
        tools; with any other role, a file is read as a plain table.
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
    missing_codes
        What stands for a missing answer, beside empty cells, ``NA`` and the like: ``-99``, or a
        list.
    separator
        What parts several chosen categories in a cell, such as ``";"``; ``"list"`` where cells are
        lists; ``"row"`` where each stands in a row of its own; an empty text: nothing does. None:
        told by the cells.
    unused
        Columns to leave out.
    mapping
        A TOML file, or a dict, with other parameters by name, as :meth:`RatingsDescription.save`
        writes it; what is given here goes first. None: the file of the same name with
        ``.mapping.toml`` added where there is one, which :attr:`Ratings.history` then says.
    on_bad
        ``"raise"``: stop at the first row that cannot be used. ``"set_aside"``: leave such rows
        out, and count them with the reason in :attr:`Ratings.set_aside`.
    encoding
        Encoding of a text file; None: told by a byte order mark, else UTF-8; or UTF-16,
        Windows-1252 or Latin-1 where the beginning of the file is plainly that (a warning says so).
    delimiter
        Delimiter of a text table; None: told by the first line, which may be ``sep=;``. Where it
        is a semicolon, a comma between digits is a decimal comma.

    Returns
    -------
    Ratings

    Warns
    -----
    GuessedColumnsWarning, GuessedScalesWarning
        When it was guessed what a column holds, or that labels are on different scales.

    Raises
    ------
    InputError
        One sentence that names the file, the line, the value, and what was expected.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("image,annotator,rating\\n007,anna,3\\n007,NA,4\\n")
    >>> r = read_ratings(file, scale="0-7")
    >>> r.stimulus_names, r.rater_names
    (('007',), ('anna', 'NA'))
    """
    options = {
        "format": format,
        "scale": scale,
        "taxonomy": taxonomy,
        "columns": columns,
        "wide": wide,
        "attributes": attributes,
        "raters": raters,
        "stimuli": stimuli,
        "rater": rater,
        "absent": absent,
        "missing_codes": missing_codes,
        "separator": separator,
        "unused": unused,
        "mapping": mapping,
        "on_bad": on_bad,
        "encoding": encoding,
        "delimiter": delimiter,
    }
    given = {name: value for name, value in options.items() if value is not None}
    if is_hub_set(source):
        # Imported for what it needs: few read from the hub.
        from affectlab.ratings.reading.hub import read_address

        return read_address(source, given)
    with prepared(source, given) as made:
        ratings = complete(made, given).read()
    warn_of_guess(ratings, columns=True)
    return ratings
