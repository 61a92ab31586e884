"""``affectlab study init``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.study._common import require_study_extra

if TYPE_CHECKING:
    import polars as pl

    from affectlab.study import ErrorStudy

__all__ = ["init"]

_ERRORS = "Protocol preference-errors: images that two models get wrong in different ways"
_ERROR_PROTOCOL = "preference_errors"


def init(
    to: Annotated[Path, Argument(help="File to write.", metavar="STUDY")],
    protocol: Annotated[
        str,
        Option(
            help="How to ask: the name of a protocol, such as multilabel or review, built in or "
            "added by a package; or the TOML file of one.",
            metavar="NAME_OR_FILE",
            offers="protocols:list_protocols",
        ),
    ] = "intensity",
    models: Annotated[
        list[Path] | None,
        Option(
            help="Answers of the models, such as affectlab rate vision writes; given twice.",
            show_default=False,
            group=_ERRORS,
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        Option(
            help="True labels: a table (stimulus, file, label), or a folder whose folders are "
            "named by labels. Where it has a split test, this alone.",
            metavar="TABLE_OR_FOLDER",
            show_default=False,
            group=_ERRORS,
        ),
    ] = None,
    taxonomy: Annotated[
        str | None,
        Option(
            help="Taxonomy of the labels; by default that of the answers.",
            show_default=False,
            group=_ERRORS,
        ),
    ] = None,
    score: Annotated[
        str | None,
        Option(
            help="Column of scores in place of 'value': chosen, for what was decided by cost.",
            metavar="COLUMN",
            show_default=False,
            group=_ERRORS,
        ),
    ] = None,
    sample: Annotated[int, Option(help="Images to draw.", min=1, group=_ERRORS)] = 50,
    items: Annotated[
        Path | None,
        Option(
            help="In place of models: the table of a study that was made so.",
            metavar="TABLE",
            show_default=False,
            group=_ERRORS,
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        Option(
            help="Decisions of a review: what it left out, or did not settle, is not shown.",
            metavar="FILE",
            show_default=False,
            group=_ERRORS,
        ),
    ] = None,
    most: Annotated[
        int | None,
        Option(
            help="Of --items, show so many at most.",
            min=1,
            show_default=False,
            group=_ERRORS,
        ),
    ] = None,
    raters: Annotated[int, Option(help="People to answer each image.", min=1, group=_ERRORS)] = 30,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Write a study file to start from; it works as it is, with drawn faces or example texts.

    Example: affectlab study init my-study.toml --protocol multilabel
    """
    require_study_extra()
    from affectlab.core.errors import InputError
    from affectlab.study import write_template

    out = Output("study init", as_json=as_json, quiet=quiet)
    name = protocol.replace("-", "_")
    given = {"--models": models, "--truth": truth, "--taxonomy": taxonomy, "--score": score}
    of_models = [option for option, value in given.items() if value]
    reviewed = {"--items": items, "--decisions": decisions, "--most": most}
    of_items = [option for option, value in reviewed.items() if value is not None]
    if name != _ERROR_PROTOCOL and (of_models or of_items):
        raise InputError(
            f"{(of_models + of_items)[0]} is for --protocol preference-errors, not {protocol}"
        )
    if of_models and of_items:
        raise InputError(
            f"{of_models[0]} makes items and {of_items[0]} is about items that were made; expected "
            "one of them"
        )
    if of_models:
        _of_models(to, models, truth, taxonomy, score, sample, raters, seed, out)
        return
    if of_items:
        if items is None:
            raise InputError(f"{of_items[0]} is about the table of a study; expected --items")
        _of_items(to, items, decisions, most, raters, seed, out)
        return
    files = write_template(to, protocol)
    for file in files:
        out.show(f"written: {file}")
    _say_next(to, out)
    out.finish({"files": files})


def _of_models(
    to: Path,
    models: list[Path] | None,
    truth: Path | None,
    taxonomy: str | None,
    score: str | None,
    sample: int,
    raters: int,
    seed: int,
    out: Output,
) -> None:
    """Draw items from the answers of two models."""
    from affectlab.cli.study._errors_of_models import drawn_items
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural

    if not models or truth is None:
        raise InputError("errors are drawn from answers and the truth; expected --models, --truth")
    with out.progress("comparing"):
        drawn, root, found = drawn_items(
            models, truth, taxonomy=taxonomy, score=score, n=sample, seed=seed
        )
    out.show(found.finding)
    notes = []
    if drawn.height < sample:
        verb = "is" if drawn.height == 1 else "are"
        notes.append(f"there {verb} {plural(drawn.height, 'such image')}, fewer than {sample:,}")
    out.show(f"{plural(drawn.height, 'image')} drawn")
    made = _write(to, drawn, root, raters, seed, out)
    review = f"{to.with_suffix('')}-review"
    outside = [] if made.images == to.parent else ["--images", made.images]
    ask = _command("stimuli", "review", made.table, "--kind", "emotions", *outside, "--out", review)
    out.show_line(f"Have them reviewed:  {ask}")
    kept = f"{to.with_suffix('')}-kept.toml"
    decided = Path(review) / "decisions.csv"
    then = ["--items", made.table, "--decisions", decided, "--most", "30"]
    given = ["--protocol", "preference-errors", *then]
    out.show_line(f"Then show the rest:  {_command('study', 'init', kept, *given)}")
    out.finish(
        {
            "files": [made.study, made.table],
            "images": made.images,
            "systems": found.systems,
            "n_judged": found.n_judged,
            "n_wrong": found.n_wrong,
            "n_both_wrong": found.n_both,
            "n_different": found.n_different,
            "n_items": made.n_items,
            "raters": made.raters,
        },
        notes,
    )


def _of_items(
    to: Path,
    items: Path,
    decisions: Path | None,
    most: int | None,
    raters: int,
    seed: int,
    out: Output,
) -> None:
    """Keep items that were drawn before."""
    from affectlab.cli.study._errors_of_models import reviewed_items

    kept, images = reviewed_items(items, decisions, most, out)
    made = _write(to, kept, images, raters, seed, out)
    out.finish(
        {
            "files": [made.study, made.table],
            "images": made.images,
            "n_items": made.n_items,
            "raters": made.raters,
        }
    )


def _write(
    to: Path, items: pl.DataFrame, images: Path, raters: int, seed: int, out: Output
) -> ErrorStudy:
    from affectlab.study import write_error_study

    made = write_error_study(to, items, images, raters=raters, seed=seed)
    for file in (made.study, made.table):
        out.show(f"written: {file}")
    _say_next(to, out)
    return made


def _say_next(to: Path, out: Output) -> None:
    out.show("", f"Look at it:   affectlab study serve {to}")
    out.show(f"Rehearse it:  affectlab study simulate {to}")


def _command(*words: object) -> str:
    import shlex

    return shlex.join(["affectlab", *map(str, words)])
