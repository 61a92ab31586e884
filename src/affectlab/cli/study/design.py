"""Verbs that make a study: ``init`` and ``check``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from affectlab.cli._output import Output, command
from affectlab.core.errors import InputError
from affectlab.core.types import Count
from affectlab.core.words import plural
from affectlab.models.images import draw_errors
from affectlab.study import load_study, workload, write_error_study, write_template
from affectlab.study.design import ErrorStudy, reviewed_items
from affectlab.study.recruit import PlatformFilter, ProlificClient, platform_filters, with_choices

if TYPE_CHECKING:
    import polars as pl


_ERROR_PROTOCOL = "preference_errors"


@dataclass(frozen=True)
class ErrorItems:
    """Images that two models get wrong in different ways, for the protocol preference-errors."""

    models: Sequence[Path] = ()
    """Answers of the models, such as affectlab rate writes; given twice."""
    truth: Path | None = None
    """True labels: a table (stimulus, file, label), or a folder whose folders are named by labels.
    Where it has a split test, this alone."""
    taxonomy: str | None = None
    """Taxonomy of the labels; by default that of the answers."""
    score: str | None = None
    """Column of scores in place of 'value': chosen, for what was decided by cost."""
    sample: Count = 50
    """Images to draw."""
    items: Path | None = None
    """In place of models: the table of a study that was made so."""
    decisions: Path | None = None
    """Decisions of a review: what it left out, or did not settle, is not shown."""
    most: Count | None = None
    """Of --items, show so many at most."""
    raters: Count = 30
    """People to answer each image."""

    def check(self, protocol: str) -> None:
        """Refuse options that do not go together, or not with a protocol."""
        of_errors = [*self.of_models, *self.of_items]
        if of_errors and protocol.replace("-", "_") != _ERROR_PROTOCOL:
            raise InputError(f"{of_errors[0]} is for --protocol preference-errors, not {protocol}")
        if self.of_models and self.of_items:
            raise InputError(
                f"{self.of_models[0]} makes items and {self.of_items[0]} is about items that were "
                "made; expected one of them"
            )
        if self.of_items and self.items is None:
            raise InputError(f"{self.of_items[0]} is about the table of a study; expected --items")
        if self.of_models and (not self.models or self.truth is None):
            raise InputError(
                "errors are drawn from answers and the truth; expected --models, --truth"
            )

    @property
    def of_models(self) -> list[str]:
        """Options that are given, about answers of models."""
        return self._given("models", "truth", "taxonomy", "score")

    @property
    def of_items(self) -> list[str]:
        """Options that are given, about items that were made before."""
        return self._given("items", "decisions", "most")

    def _given(self, *names: str) -> list[str]:
        return [f"--{name}" for name in names if getattr(self, name)]


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
    with ProlificClient.from_environment() as client:
        return with_choices(filters, client.filters())


def _show(filters: tuple[PlatformFilter, ...], out: Output) -> None:
    """Say what to set on the platforms' pages."""
    rows = [{"platform": one.platform, "set there": one.terms} for one in filters]
    out.head("\nWho may take part")
    out.show_frame(pl.DataFrame(rows), ["platform", "set there"], most=len(rows))
    if any(one.platform == "mturk" for one in filters):
        out.show(
            "MTurk takes no new customers since 30 July 2026; its rows are for those who were "
            "customers before."
        )


def _of_models(to: Path, errors: ErrorItems, seed: int, out: Output) -> None:
    """Draw items from the answers of two models."""
    assert errors.truth is not None
    with out.progress("comparing"):
        drawn, root, found = draw_errors(
            errors.models,
            errors.truth,
            taxonomy=errors.taxonomy,
            score=errors.score,
            sample=errors.sample,
            seed=seed,
        )
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
    ask = command("stimuli", "review", made.table, "--kind", "emotions", *outside, "--out", review)
    out.show_line(f"Have them reviewed:  {ask}")
    kept = f"{to.with_suffix('')}-kept.toml"
    decided = Path(review) / "decisions.csv"
    then = ["--items", made.table, "--decisions", decided, "--most", "30"]
    given = ["--protocol", "preference-errors", *then]
    out.show_line(f"Then show the rest:  {command('study', 'init', kept, *given)}")
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
    assert errors.items is not None
    kept, n_items, unsettled = reviewed_items(errors.items, errors.decisions, errors.most)
    if errors.decisions is not None:
        out.show(f"{plural(kept.height, 'image')} of {n_items:,} kept")
    if unsettled:
        out.show(f"{plural(unsettled, 'image')} not settled by the review, and left out")
    made = _write(to, kept, errors.items.parent, errors.raters, seed, out)
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
    made = write_error_study(to, items, images, raters=raters, seed=seed)
    for file in (made.study, made.table):
        out.show(f"written: {file}")
    _say_next(to, out)
    return made


def _say_next(to: Path, out: Output) -> None:
    out.show("", f"Look at it:   affectlab study serve {to}")
    out.show(f"Rehearse it:  affectlab study simulate {to}")
