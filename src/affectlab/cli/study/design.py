"""Verbs that make a study: ``init`` and ``check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import Output
from affectlab.cli.study._common import require_study_extra
from affectlab.cli.study._errors_of_models import ErrorItems, drawn_items, reviewed_items

if TYPE_CHECKING:
    import polars as pl

    from affectlab.study.design import ErrorStudy
    from affectlab.study.recruit import PlatformFilter

__all__ = ["check", "init"]


def init(
    out: Output,
    study: Path,
    *,
    protocol: str = "intensity",
    errors: ErrorItems,
    seed: int = 0,
) -> None:
    """Write a study file to start from; it works as it is, with drawn faces or example texts.

    Parameters
    ----------
    study
        File to write.
    protocol
        How to ask: the name of a protocol, such as multilabel or review, built in or added by a
        package; or the TOML file of one.
    """
    require_study_extra()
    from affectlab.study import write_template

    errors.check(protocol)
    if errors.of_models:
        _of_models(study, errors, seed, out)
    elif errors.of_items:
        _of_items(study, errors, seed, out)
    else:
        files = write_template(study, protocol)
        for file in files:
            out.show(f"written: {file}")
        _say_next(study, out)
        out.finish({"files": files})


def check(
    out: Output, study: Path, *, ask_prolific: bool = False, database: str | None = None
) -> None:
    """Check a study file and all it names, and say how much work the study is.

    Parameters
    ----------
    ask_prolific
        Look up the numbers of Prolific's choices; needs PROLIFIC_TOKEN.
    """
    require_study_extra()
    from dataclasses import asdict

    from affectlab.study import load_study, workload
    from affectlab.study.recruit import platform_filters

    loaded = load_study(study)
    found = workload(loaded, database)
    filters = platform_filters(loaded.design)
    if ask_prolific:
        filters = _asked(filters)
    out.show(found)
    if filters:
        _show(filters, out)
    result = found.as_dict() | {"filters": [asdict(one) for one in filters]}
    out.finish(result, found.warnings)


def _asked(filters: tuple[PlatformFilter, ...]) -> tuple[PlatformFilter, ...]:
    from affectlab.study.recruit import ProlificClient, with_choices

    with ProlificClient.from_environment() as client:
        return with_choices(filters, client.filters())


def _show(filters: tuple[PlatformFilter, ...], out: Output) -> None:
    """Say what to set on the platforms' pages."""
    from rich.text import Text

    from affectlab.core.terminal import Table

    table = Table(box=None, header_style="bold")
    for name in ("platform", "set there"):
        table.add_column(name, overflow="fold")
    for one in filters:
        table.add_row(one.platform, Text(one.terms))
    out.head("\nWho may take part")
    out.show(table)
    if any(one.platform == "mturk" for one in filters):
        out.show(
            "MTurk takes no new customers since 30 July 2026; its rows are for those who were "
            "customers before."
        )


def _of_models(to: Path, errors: ErrorItems, seed: int, out: Output) -> None:
    """Draw items from the answers of two models."""
    from affectlab.core.words import plural

    with out.progress("comparing"):
        drawn, root, found = drawn_items(errors, seed)
    out.show(found.finding)
    notes = []
    if drawn.height < errors.sample:
        verb = "is" if drawn.height == 1 else "are"
        notes.append(
            f"there {verb} {plural(drawn.height, 'such image')}, fewer than {errors.sample:,}"
        )
    out.show(f"{plural(drawn.height, 'image')} drawn")
    made = _write(to, drawn, root, errors.raters, seed, out)
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


def _of_items(to: Path, errors: ErrorItems, seed: int, out: Output) -> None:
    """Keep items that were drawn before."""

    kept, images = reviewed_items(errors, out)
    made = _write(to, kept, images, errors.raters, seed, out)
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
