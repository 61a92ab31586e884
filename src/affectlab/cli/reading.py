"""Reading FILE, and the answers of models, as options of a verb say."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._output import Output
from affectlab.cli.manifest import read_signature
from affectlab.cli.parameters import Option, listed, option_of
from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.analysis import PairScores
    from affectlab.ratings import Absent, Ratings


EXTRA_OPTIONS = ("file", "stimuli", "absent")

"""Options of reading that a verb can ask for, beside the ratings that they gave."""

_HEADING = "Reading"


def named(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    """Make a parameter that is given by name."""
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


_EVERY = (
    named("as_json", Annotated[bool, Option("--json", help="Print one JSON object.")], False),
    named("quiet", Annotated[bool, Option("--quiet", "-q", help="No progress, no notes.")], False),
)

"""What every verb has."""

_SEED = named(
    "seed",
    Annotated[int, Option("--seed", help="Nothing is random here: changes nothing.", hidden=True)],
    0,
)

"""So that a script can pass it to every verb."""

_MODELS = named(
    "models",
    Annotated[
        list[Path] | None,
        Option(
            "--models",
            help="Answers of a model, for people's answers in FILE; may be given again.",
            metavar="FILE",
            show_default=False,
        ),
    ],
)

_MODELS_SCALE = named(
    "models_scale",
    Annotated[
        list[str] | None,
        Option(
            help="Scale of the models' answers, such as '0-1 interval', or of each model by its "
            "name or that of its file: 'fer=0-1 interval,vlm=0-7'; may be given again. If not "
            "given, that of people where all answers of a model lie within it, and otherwise only "
            "ranks are compared.",
            group=_HEADING,
            metavar="SCALE",
            show_default=False,
        ),
    ],
)


_LABEL_MAP = named(
    "label_map",
    Annotated[
        str | None,
        Option(
            help="Which label of the models is which of people: happy=joy,sad=sadness, or a TOML "
            "file with a table 'labels'. If not given, words that a taxonomy has as one label.",
            group=_HEADING,
            metavar="MAP",
            show_default=False,
        ),
    ],
)


@dataclass(frozen=True)
class Reading:
    """How a verb reads FILE."""

    models: bool = False
    """Whether answers of models come second, from the files given with --models; or None."""
    models_scale: str | None = None
    """Scale of these where nothing is said."""
    instead: Callable[[Mapping[str, Any]], Any] | None = None
    """Given the options by name, reads FILE where it holds something else that the verb takes in
    place of ratings; None from it says that FILE holds ratings."""

    def read(
        self,
        options: Mapping[str, Any],
        models: Sequence[Path],
        scale: str | None,
        label_map: str | None,
    ) -> list[Any]:
        """Read what the verb works on."""
        other = None if self.instead is None else self.instead(options)
        ratings = read_file(**options) if other is None else other
        if not self.models:
            return [ratings]
        scale = scale or self.models_scale
        return [ratings, _read_models(models, ratings, scale, label_map, options)]


def make_verb(
    function: Callable[..., None],
    words: str,
    own: Sequence[inspect.Parameter],
    reading: Reading | None,
) -> Callable[..., None]:
    """Make a verb, with the options that it shares with others.

    Parameters
    ----------
    function
        Takes what was read, what prints, and the values of the verb's own options.
    words
        Name of the verb with its group, for its JSON output.
    own
        The options of its own; of those named in :data:`EXTRA_OPTIONS` the ones of reading are
        given.
    reading
        How it reads FILE; None: it reads none.
    """
    signature = read_signature("cli.reading:read_file")
    shared = [
        option_of(one.name, one, _HEADING if one.by_name else None, by_place=not one.by_name)
        for one in (signature.parameters if reading is not None else ())
    ]
    taken = [one.name for one in own if reading is not None and one.name in EXTRA_OPTIONS]
    own = [one for one in own if one.name not in taken]
    of_models = [_MODELS, _MODELS_SCALE] if reading is not None and reading.models else []
    maps = any(one.name == _LABEL_MAP.name for one in own)
    if of_models and not maps:
        of_models.append(_LABEL_MAP)
    takes_seed = any(one.name == "seed" for one in own)

    def run(**given: Any) -> None:
        out = Output(words, as_json=given.pop("as_json"), quiet=given.pop("quiet"))
        if not takes_seed:
            given.pop("seed")
        sources: list[Any] = []
        if reading is not None:
            options = {one.name: given.pop(one.name) for one in shared}
            files, scale = given.pop("models", None) or [], given.pop("models_scale", None)
            labels = given.get("label_map") if maps else given.pop("label_map", None)
            if maps and "=" in str(labels or ""):
                # Pairs of labels are for reading; a mapping to classes has a name or a file.
                given["label_map"] = None
            elif maps:
                labels = None
            with out.progress(f"reading {options['file']}"):
                sources = reading.read(options, files, ",".join(scale or ()) or None, labels)
            given |= {name: options[name] for name in taken}
        function(*sources, out, **given)

    # The argument and the verb's own options come first, then what all verbs share.
    parameters = [
        *shared[:1],
        *of_models[:1],
        *own,
        *_EVERY,
        *([] if takes_seed else [_SEED]),
        *shared[1:],
        *of_models[1:],
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__name__ = words.rpartition(" ")[2].replace("-", "_")
    return run


def read_file(
    file: Path,
    *,
    scale: str | None = None,
    format: str | None = None,
    wide: str | None = None,
    columns: str | None = None,
    rater: str | None = None,
    taxonomy: str | None = None,
    raters: Path | None = None,
    stimuli: Path | None = None,
    attributes: str | None = None,
    keep_labels: str | None = None,
    averaged: bool | None = False,
    absent: Absent | None = None,
    missing_codes: str | None = None,
    separator: str | None = None,
    mapping: Path | None = None,
    set_aside: bool | None = False,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Ratings:
    """Read the ratings that a verb works on.

    Parameters
    ----------
    file
        Ratings: CSV, TSV, Parquet, JSON Lines, or a published data set; a folder of tables, an
        address (https://…, hf://datasets/…), or - for standard input.
    scale
        Scale of the answers: 0-7, '0-100 interval', binary, nominal:a,b,c; or by label: '1-7,
        category=nominal:a,b, comment=text'.
    format
        Published format by name; 'table' for none. Recognised when not given.
    wide
        One column per 'raters', 'labels' or 'stimuli'; alone: told by the header.
    columns
        Which column is what: stimulus=clip,rater=coder,value=points.
    rater
        Name of the one rater, or model, who gave all answers, where no column names raters.
    taxonomy
        Taxonomy that holds the labels: a name or a TOML file.
    raters
        Table of raters, models too (rater, rater_kind, …).
    stimuli
        Table of stimuli (stimulus, …).
    attributes
        Columns of a wide file that describe and are no ratings: age,gender.
    keep_labels
        Labels to keep: joy,fear. Needed where a verb takes labels on one scale only.
    averaged
        Of several answers of a rater to a question (sessions, trials, traces) the mean counts, not
        the first.
    absent
        A label that a rater of a stimulus left out: a rating of 0, or nothing known. As published
        when not given, else missing.
    missing_codes
        What stands for a missing answer: -99,88.
    separator
        What parts several chosen categories in a cell: ';'; 'list', or 'row' for a row each.
    mapping
        TOML file that says which column is what, as 'ratings describe --save' writes it; FILE with
        .mapping.toml added is found by itself.
    set_aside
        Leave out rows that cannot be used, and count them, instead of stopping.
    encoding
        Encoding of a text file, e.g. latin-1.
    delimiter
        Delimiter of a text table.
    """
    from affectlab.ratings import read_ratings

    found = read_ratings(
        source_of(file),
        **read_options(
            scale=scale,
            format=format,
            wide=wide,
            columns=columns,
            rater=rater,
            taxonomy=taxonomy,
            raters=raters,
            stimuli=stimuli,
            attributes=attributes,
            absent=absent,
            missing_codes=missing_codes,
            separator=separator,
            mapping=mapping,
            set_aside=set_aside,
            encoding=encoding,
            delimiter=delimiter,
        ),
    )
    return selected(found, keep_labels, averaged=averaged)


def selected(ratings: Ratings, keep_labels: str | None, *, averaged: bool | None) -> Ratings:
    """Keep some labels, and average several answers to a question, as options say."""
    if keep_labels is not None:
        ratings = ratings.select(labels=listed(keep_labels))
    return ratings.averaged() if averaged else ratings


def read_options(
    *,
    columns: str | None = None,
    attributes: str | None = None,
    missing_codes: str | None = None,
    set_aside: bool | None = False,
    **others: Any,
) -> dict[str, Any]:
    """Give the parameters of :func:`affectlab.ratings.read_ratings` that options stand for."""
    return {
        **others,
        "columns": read_roles(columns),
        "attributes": None if attributes is None else listed(attributes),
        "missing_codes": None if missing_codes is None else listed(missing_codes),
        "on_bad": "set_aside" if set_aside else "raise",
    }


def source_of(file: Path) -> Path | str:
    """Give FILE as it was written where it is an address or standard input."""
    text = str(file)
    if text == "/dev/stdin":
        return "-"
    scheme, colon, rest = text.partition(":/")
    # A path has lost one of the two slashes of an address.
    return f"{scheme}://{rest.lstrip('/')}" if colon and scheme in _SCHEMES else file


_SCHEMES = ("http", "https", "hf")


def _read_models(
    files: Sequence[Path],
    like: Ratings,
    scale: str | None,
    label_map: str | None,
    options: Mapping[str, Any],
) -> tuple[Ratings, ...] | None:
    """Read the files of models; the table of raters, and what was said of texts, hold as well."""
    if not files:
        return None
    from affectlab.ratings import read_models

    found = read_models(
        files,
        like,
        scale=scale,
        label_map=label_map,
        taxonomy=options["taxonomy"],
        raters=options["raters"],
        encoding=options["encoding"],
        delimiter=options["delimiter"],
        absent=options["absent"],
        on_bad="set_aside" if options["set_aside"] else "raise",
    )
    if options["keep_labels"] is None:
        return found
    chosen = [[name for name in table.label_names if name in like.label_names] for table in found]
    return tuple(
        table.select(labels=names) if names else table
        for table, names in zip(found, chosen, strict=True)
    )


def read_roles(text: str | None) -> dict[str, str] | None:
    """Read which column is what, as in ``stimulus=clip,rater=coder``."""
    if text is None:
        return None
    roles: dict[str, str] = {}
    for part in listed(text):
        role, equals, column = part.partition("=")
        if not equals or not role.strip():
            raise InputError(f"--columns: {part!r} is not understood; expected role=column")
        roles[role.strip()] = column.strip()
    return roles


Score = Literal["subject-model", "mean"]

ScoreOption = Annotated[
    Score | None,
    Option(
        "--score",
        help="How ratings become scores; scores in FILE stay as they are. [default: subject-model]",
        show_default=False,
    ),
]

PAIRS = (
    "FILE holds ratings of the protocol difference, or a score for each pair (value, se), with the "
    "columns kind, actor, expression_a, role_a, expression_b and role_b in it or in --stimuli."
)

"""What FILE holds, for the help of these verbs."""

COUNTS = "In place of FILE stand counts where only these are known: human=707,model=292."

"""What FILE can be, for the help of verbs about choices."""


def read_pairs(options: Mapping[str, Any]) -> PairScores | None:
    """Read FILE as scores of pairs, where it is a table of these.

    That is so when it has the column ``value`` and none of raters, and it or the table given with
    --stimuli says which expressions a pair shows.
    """
    if any(options[name] is not None for name in ("format", "wide", "columns", "raters")):
        return None
    header = _header(options)
    pairs = options["stimuli"]
    if "value" not in header or "rater" in header:
        return None
    if pairs is None and "expression_a" not in header:
        return None
    from affectlab.analysis import pair_scores

    return pair_scores(options["file"], pairs=pairs)


def _header(options: Mapping[str, Any]) -> set[str]:
    """Columns of FILE; none where it is no table that scores are read from."""
    file: Path = options["file"]
    if file.suffix.lower() == ".parquet":
        import polars as pl

        try:
            return set(pl.read_parquet_schema(file))
        except (OSError, pl.exceptions.PolarsError):
            # The reader of ratings says what is wrong with the file.
            return set()
    from affectlab.ratings.files import Peek

    peek = Peek.open(file, encoding=options["encoding"], delimiter=options["delimiter"])
    return set() if peek.is_binary or peek.separator != "," else set(peek.header)


def read_counts(options: Mapping[str, Any]) -> dict[str, int] | None:
    """Read counts by choice, such as published ones: ``human=707,model=292``."""
    text = str(options["file"])
    if "=" not in text or options["file"].exists():
        return None
    counts: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        if not number.strip().isdecimal() or not name.strip() or name.strip() in counts:
            raise InputError(
                f"{part!r} is not understood; expected name=number, such as human=707,model=292"
            )
        counts[name.strip()] = int(number)
    return counts


def pairs_of(source: Ratings | PairScores, out: Output, score: Score) -> PairScores:
    """Give the scores that a verb works on, and keep people where there are models, too."""
    from affectlab.analysis import PairScores, pair_scores

    if isinstance(source, PairScores):
        out.who = "scores as given"
        return source
    people = out.panel(source, hint="")
    kinds = people.coded_frame["trial_kind"] if "trial_kind" in people.coded_frame.columns else None
    checks = 0 if kinds is None else int(kinds.cast(str).is_in(["golden", "repeat"]).sum())
    if checks:
        out.note(
            f"{checks:,} golden and repeated trials are there to judge sessions by, which is not "
            "done here: see affectlab reliability screen, if the ratings were not screened yet."
        )
    return pair_scores(people, score=score)
