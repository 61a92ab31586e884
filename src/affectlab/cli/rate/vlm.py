"""``affectlab rate vlm``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.rate._asking import (
    LIMITS,
    MODEL,
    BaseUrl,
    BudgetRequests,
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
from affectlab.cli.rate._vlm_run import left_out_of, rate, targets_of, temperature_of
from affectlab.cli.rate._vlm_show import show_plan

__all__ = ["vlm"]

_PROMPT, _CONTROLS = "Prompt", "Controls"


def vlm(
    images: Annotated[
        Path,
        Argument(
            help="A folder of images, a table with columns stimulus and file, or one image.",
            metavar="IMAGES",
        ),
    ],
    model: Annotated[
        str,
        Option(
            help="Model string: openai/…, anthropic/…, google/…, vllm/…, or "
            "openai-api/NAME/… for a server with OpenAI's chat completions.",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path,
        Option(
            "--out",
            "-o",
            help="Folder for ratings.parquet and the ledger, from which a run goes on.",
            metavar="FOLDER",
            show_default=False,
        ),
    ],
    protocol: Annotated[
        str, Option(help="How it is asked: a name, or a TOML file.", group=_PROMPT)
    ] = "intensity",
    style: Annotated[str, Option(help="zero-shot, or multi-shot.", group=_PROMPT)] = "zero-shot",
    examples: Annotated[
        Path | None,
        Option(
            help="Solved examples for multi-shot: a TOML file.",
            group=_PROMPT,
            show_default=False,
        ),
    ] = None,
    at_most: Annotated[
        int | None,
        Option(
            help="Most labels above 0, such as 5.",
            min=1,
            group=_PROMPT,
            show_default=False,
        ),
    ] = None,
    left_out: Annotated[
        str | None,
        Option(
            help="What a label without a value means: zero, or not-rated. By default zero with "
            "--at-most, else what the protocol says.",
            group=_PROMPT,
            show_default=False,
        ),
    ] = None,
    reasons: Annotated[bool, Option("--reasons", help="Ask for reasons.", group=_PROMPT)] = False,
    structured: Structured = False,
    shuffle: Annotated[
        bool,
        Option(
            "--shuffle/--no-shuffle",
            help="Draw the order of labels for each image by --seed, or keep the protocol's.",
            group=_PROMPT,
        ),
    ] = True,
    temperature: Temperature = "0",
    max_tokens: MaxTokens = 4096,
    reasoning_effort: Annotated[
        str | None,
        Option(
            help="minimal, low, medium, high, … for models that reason.",
            group=MODEL,
            show_default=False,
        ),
    ] = None,
    sampling_seed: Annotated[
        int | None,
        Option(
            help="Seed of the provider, where it has one.",
            group=MODEL,
            show_default=False,
        ),
    ] = None,
    base_url: BaseUrl = None,
    key_env: KeyEnv = None,
    rater: Annotated[
        str | None,
        Option(
            help="Name of the rater; by default model and style.",
            group=MODEL,
            show_default=False,
        ),
    ] = None,
    concurrency: Concurrency = 8,
    per_minute: Annotated[
        int | None,
        Option(help="Most questions a minute.", min=1, group=LIMITS, show_default=False),
    ] = None,
    timeout: Annotated[
        float,
        Option(help="Seconds until one attempt is lost.", group=LIMITS),
    ] = 180.0,
    tries: Annotated[
        int,
        Option(help="Attempts after transport errors.", min=1, group=LIMITS),
    ] = 6,
    patience: Annotated[
        int,
        Option(
            help="Stop after so many questions in a row without an answer, or first answers "
            "without use.",
            min=1,
            group=LIMITS,
        ),
    ] = 20,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    budget_requests: BudgetRequests = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    limit: Annotated[
        int | None,
        Option(
            help="Only the first images, this many.",
            min=1,
            group=LIMITS,
            show_default=False,
        ),
    ] = None,
    control: Annotated[
        list[str] | None,
        Option(
            help="no_image, wrong_image, decoy_hint or repeat, beside the main run; may be given "
            "again.",
            group=_CONTROLS,
            show_default=False,
        ),
    ] = None,
    repeats: Annotated[
        int,
        Option(help="Times each question of the main run is asked.", min=1, group=_CONTROLS),
    ] = 1,
    again: Annotated[
        list[str] | None,
        Option(
            help="Outcome to ask again although it is in the ledger, such as refused; may be given "
            "again.",
            show_default=False,
        ),
    ] = None,
    set_aside: Annotated[
        bool, Option("--set-aside", help="Leave out broken images, and count them.")
    ] = False,
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Print one prompt, tokens and cost to expect; ask nobody."),
    ] = False,
    seed: Annotated[
        int, Option("--seed", help="Draws wrong images, decoys, and orders of labels.")
    ] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Ask a vision-language model about images, in the words in which people are asked.

    A question is in the ledger before it leaves, and its answer before the next one takes its
    place: a run that was stopped goes on with the same command. Asked again are transport errors,
    and what was in flight when a run was killed, since its answers never came; that is named, and
    counts against the budget as spent. The exit code is 1 when a run stopped before its end, and
    2 when no answer can be used.

    Example: affectlab rate vlm faces/ --model openai/gpt-4o-mini --out gpt --at-most 5
    """
    from affectlab.core.errors import InputError
    from affectlab.models.images import find_images
    from affectlab.models.vlm import AskSettings, Budget, Retrying, VlmRater, read_examples
    from affectlab.protocols import load_protocol

    out = Output("rate vlm", as_json=as_json, quiet=quiet)
    if (style == "multi-shot") != (examples is not None):
        raise InputError("--style multi-shot and --examples go together; expected both or none")
    asked = load_protocol(protocol)
    asking = VlmRater(
        model,
        asked,
        to,
        style=style,  # type: ignore[arg-type]
        examples=() if examples is None else read_examples(examples, asked),
        at_most=at_most,
        left_out=left_out_of(left_out),
        reasons=reasons,
        structured=structured,
        shuffle=seed if shuffle else None,
        settings=AskSettings(
            temperature=temperature_of(temperature),
            max_tokens=max_tokens,
            seed=sampling_seed,
            reasoning_effort=reasoning_effort,
            timeout=timeout,
            base_url=base_url,
            api_key_env=key_env,
        ),
        budget=Budget(budget_usd, budget_tokens, budget_requests),
        price_in=price_in,
        price_out=price_out,
        concurrency=concurrency,
        per_minute=per_minute,
        retrying=Retrying(tries=tries),
        patience=patience,
        again=tuple(again or ()),
        on_bad="set_aside" if set_aside else "raise",
        rater=rater,
    )
    files = find_images(images)[:limit]
    options: dict[str, Any] = {
        "control": control or (),
        "repeats": repeats,
        "targets": targets_of(images),
        "seed": seed,
    }
    if dry_run:
        show_plan(out, asking.model, asking.plan(files, **options))
        return
    rate(out, asking, files, options, to)
