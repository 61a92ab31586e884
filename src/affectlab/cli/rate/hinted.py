"""``affectlab rate hinted``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.rate._asking import (
    MODEL,
    BaseUrl,
    BudgetTokens,
    BudgetUsd,
    Concurrency,
    KeyEnv,
    MaxTokens,
    PriceIn,
    PriceOut,
    Structured,
    Temperature,
)
from affectlab.cli.rate._vlm_run import temperature_of

if TYPE_CHECKING:
    from affectlab.models.hinted import HintedPlan, HintedRun
    from affectlab.models.hinted.annotator import Annotator

__all__ = ["hinted"]


def hinted(
    plan: Annotated[
        Path,
        Argument(
            help="TOML file of the loop: target, initial or images, decoys, budget, …",
            metavar="PLAN",
        ),
    ],
    to: Annotated[
        Path,
        Option(
            "--out",
            "-o",
            help="Folder for pictures, answers and tables, from which a run goes on.",
            metavar="FOLDER",
            show_default=False,
        ),
    ],
    model: Annotated[
        str | None,
        Option(
            help="Model string of the annotator, as for rate vlm.",
            group=MODEL,
            show_default=False,
        ),
    ] = None,
    annotator: Annotated[
        str | None,
        Option(
            help="Annotator that a package adds, instead of a model.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    generator: Annotated[
        str,
        Option(
            help="drawn, diffusers:FOLDER_OR_NAME, or a generator that a package adds.",
            metavar="NAME",
        ),
    ] = "drawn",
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            help="Setting of the generator, such as size=512; may be given again.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        Option(help="Rounds of hints, instead of the plan's.", min=0, show_default=False),
    ] = None,
    budget: Annotated[
        int | None,
        Option(help="Pictures made at most, instead of the plan's.", min=0),
    ] = None,
    protocol: Annotated[
        str, Option(help="How a model is asked: a name or a file.", group=MODEL)
    ] = "intensity",
    structured: Structured = False,
    base_url: BaseUrl = None,
    key_env: KeyEnv = None,
    temperature: Temperature = "0",
    max_tokens: MaxTokens = 4096,
    concurrency: Concurrency = 8,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    again: Annotated[
        list[str] | None,
        Option(
            help="Outcome to ask about again although it is in the folder, such as refused; may be "
            "given again.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        Option("--seed", help="Seed, instead of the plan's.", min=0, show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make and annotate pictures until every label has enough ratings (emonet-face, B.1).

    Labels that a model names too rarely get pictures of their own, and the model a hint; how often
    hints are followed, right ones and wrong ones, is counted. A run that was stopped goes on with
    the same command. It stops with exit code 2 when too few answers can be used.

    Example: affectlab rate hinted plan.toml --out big --model openai/gpt-4o-mini
    """
    from affectlab.cli._settings import read_settings
    from affectlab.cli._warned import caught_warnings
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.models.ask import in_flight_sentence
    from affectlab.models.hinted import annotate_until, load_hinted_plan, load_image_annotator
    from affectlab.models.vlm import AskSettings, Budget

    out = Output("rate hinted", as_json=as_json, quiet=quiet)
    if (model is None) == (annotator is None):
        raise InputError("expected either --model or --annotator")
    told = load_hinted_plan(plan).changed(rounds=rounds, budget=budget, seed=seed)
    asked: Annotator
    if annotator is not None:
        asked = load_image_annotator(annotator)
    else:
        asked = _of_model(
            told,
            to,
            model=str(model),
            protocol=protocol,
            structured=structured,
            settings=AskSettings(
                temperature=temperature_of(temperature),
                max_tokens=max_tokens,
                base_url=base_url,
                api_key_env=key_env,
            ),
            budget=Budget(budget_usd, budget_tokens),
            price_in=price_in,
            price_out=price_out,
            concurrency=concurrency,
            again={"rejected", *(again or ())},
        )
    try:
        with caught_warnings() as doubts, out.progress("pictures") as progress:
            run = annotate_until(
                told,
                generator,
                asked,
                to,
                settings=read_settings(settings or []),
                again=again or (),
                progress=progress,
            )
    except KeyboardInterrupt:
        out.warn(f"interrupted; {to} keeps all answers, and the same command goes on from there")
        raise
    _show(out, run)
    if run.n_broken:
        doubts.append(
            f"{plural(run.n_broken, 'line')} of the ledger could not be read; what they held was "
            "asked about again"
        )
    if run.in_flight:
        doubts.append(
            f"{in_flight_sentence(run.in_flight, 'picture')}; the annotator was asked about them "
            "again"
        )
    if run.given_up:
        doubts.append(f"given up, since hints were rarely followed: {', '.join(run.given_up)}")
    out.show(f"ratings: {to / 'ratings.parquet'}")
    out.finish(run.as_dict() | {"ratings": to / "ratings.parquet"}, doubts=doubts)


def _of_model(plan: HintedPlan, folder: Path, *, again: set[str], **how: Any) -> Annotator:
    """Make an annotator of a vision-language model; its ledger is beside the folder's own."""
    from affectlab.core.errors import InputError
    from affectlab.models.vlm import VlmAnnotator, VlmRater
    from affectlab.models.vlm.asking.budget import known_prices

    rater = VlmRater(
        **how,
        ledger=folder.with_name(f"{folder.name}.vlm"),
        at_most=plan.at_most,
        left_out="zero",
        shuffle=plan.seed,
        again=sorted(again),
    )
    prices = known_prices(rater.model, rater.price_in, rater.price_out)
    if rater.budget.usd is not None and prices is None:
        # Said before the first picture is made, not when it is asked about.
        raise InputError(
            f"the prices of {rater.model} are not known, and --budget-usd needs them; expected "
            "--price-in and --price-out, or --budget-tokens instead"
        )
    return VlmAnnotator(rater)


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
