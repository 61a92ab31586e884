"""``affectlab rate hinted``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from affectlab.cli._settings import read_settings
from affectlab.cli._warned import collected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from affectlab.cli._output import Output
    from affectlab.core.types import Count
    from affectlab.models.hinted.annotator import Annotator
    from affectlab.models.hinted.result import HintedRun
    from affectlab.models.vlm import AskSettings, Budget

__all__ = ["hinted"]


def hinted(
    out: Output,
    plan: Path,
    *,
    to: Path,
    model: str | None = None,
    annotator: str | None = None,
    generator: str = "drawn",
    settings: Sequence[str] = (),
    rounds: Annotated[int, Ge(0)] | None = None,
    budget: Annotated[int, Ge(0)] | None = None,
    protocol: str = "intensity",
    structured: bool = False,
    asking: AskSettings,
    spending: Budget,
    price_in: float | None = None,
    price_out: float | None = None,
    concurrency: Count = 8,
    again: Sequence[str] = (),
    seed: Annotated[int, Ge(0)] | None = None,
) -> None:
    """Make and annotate pictures until every label has enough ratings (emonet-face, B.1).

    Labels that a model names too rarely get pictures of their own, and the model a hint; how often
    hints are followed, right ones and wrong ones, is counted. A run that was stopped goes on with
    the same command. It stops with exit code 2 when too few answers can be used. A seed that is
    given takes the place of the plan's.

    Parameters
    ----------
    plan
        TOML file of the loop: target, initial or images, decoys, budget, …
    to
        Folder for pictures, answers and tables, from which a run goes on.
    model
        Model string of the annotator, as for rate vlm.
    annotator
        Annotator that a package adds, instead of a model.
    generator
        drawn, diffusers:FOLDER_OR_NAME, or a generator that a package adds.
    settings
        Setting of the generator, such as size=512; may be given again.
    rounds
        Rounds of hints, instead of the plan's.
    budget
        Pictures made at most, instead of the plan's.
    protocol
        How a model is asked: a name or a file.
    structured
        Let the provider hold the model to the schema.
    price_in
        Dollars per million tokens of questions.
    price_out
        Dollars per million tokens of answers.
    concurrency
        Questions under way at once.
    again
        Outcomes to ask about again although they are in the folder, such as refused.
    """
    from affectlab.core.errors import InputError
    from affectlab.models.hinted import annotate_until, load_hinted_plan, load_image_annotator

    if (model is None) == (annotator is None):
        raise InputError("expected either --model or --annotator")
    told = load_hinted_plan(plan).changed(rounds=rounds, budget=budget, seed=seed)
    asked: Annotator
    if annotator is not None:
        asked = load_image_annotator(annotator)
    else:
        from affectlab.models.vlm import VlmAnnotator, VlmRater

        rater = VlmRater(
            str(model),
            protocol,
            # Its ledger is beside the folder of the loop.
            to.with_name(f"{to.name}.vlm"),
            at_most=told.at_most,
            left_out="zero",
            structured=structured,
            shuffle=told.seed,
            settings=asking,
            budget=spending,
            price_in=price_in,
            price_out=price_out,
            concurrency=concurrency,
            again=sorted({"rejected", *again}),
        )
        asked = VlmAnnotator(rater)
    with collected(out, "pictures", to) as (progress, doubts):
        run = annotate_until(
            told,
            generator,
            asked,
            to,
            settings=read_settings(settings),
            again=again,
            progress=progress,
        )
    _show(out, run)
    out.show(f"ratings: {to / 'ratings.parquet'}")
    out.finish(
        run.as_dict() | {"ratings": to / "ratings.parquet"}, doubts=[*doubts, *run.sentences]
    )


def _show(out: Output, run: HintedRun) -> None:
    from affectlab.core.words import percent, plural

    met = run.coverage.filter(run.coverage["status"] == "met").height
    out.head(
        f"{met} of {plural(run.coverage.height, 'label')} covered after "
        f"{plural(run.n_rounds, 'round')}: {run.stopped}"
    )
    out.show_frame(
        run.coverage,
        ["label", "n", "n_hinted", "target", "made", "acceptance", "status"],
        more="coverage.csv has all of them",
    )
    words = {"hinted": "hints followed", "decoy": "wrong hints followed"}
    for quantity, text in words.items():
        found = run.acceptance["all", quantity]
        if found.ok:
            out.show(
                f"{text}: {percent(found.value)} of {plural(found.n_items, 'picture')} "
                f"({percent(found.low)} to {percent(found.high)})"
            )
    unprompted = run.acceptance["all", "unprompted"]
    if unprompted.ok:
        out.show(f"the same labels without the wrong hint: {percent(unprompted.value)}")
