"""``affectlab rate reactions``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.rate._asking import (
    LIMITS,
    BaseUrl,
    BudgetRequests,
    BudgetUsd,
    Concurrency,
    KeyEnv,
    PriceIn,
    PriceOut,
)
from affectlab.cli.rate._reactions_run import ask, likelihoods, write

__all__ = ["reactions"]

_WRITING, _EXAMPLES, _RUN = "Writing", "Examples", "Run"


def reactions(
    file: Annotated[
        Path,
        Argument(
            help="Pairs with an emotion a row: a table with stimulus, image, caption and emotion, "
            "or reactions of people, such as the published JSON of Socratis.",
            metavar="FILE",
        ),
    ],
    to: Annotated[
        Path,
        Option(
            "--out",
            help="Ratings to write (.csv or .parquet); with --likelihood the table of likelihoods.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    model: Annotated[
        str | None,
        Option(
            help="Folder or hub name of BLIP-2 with a T5 inside, or of a T5 with --text-only.",
            metavar="DIR|NAME",
            show_default=False,
        ),
    ] = None,
    vlm: Annotated[
        str | None,
        Option(
            help="Ask a vision-language model instead: openai/…, openai-api/NAME/…, as rate vlm.",
            metavar="MODEL",
            show_default=False,
        ),
    ] = None,
    text_only: Annotated[
        bool, Option("--text-only", help="The language model alone; no image is opened.")
    ] = False,
    likelihood: Annotated[
        Path | None,
        Option(
            help="Write nothing new: how likely are these reactions, of people or models, to the "
            "pairs of FILE?",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    emotion: Annotated[
        str | None,
        Option(
            help="Column with the emotion; by default emotion or label.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    images: Annotated[
        Path | None,
        Option(
            help="Folder of the images; by default that of FILE.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        Option(
            help="Only the first rows, this many; with --likelihood the first reactions.",
            min=1,
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        float,
        Option(
            "--sample",
            help="Temperature to draw with; 0: always the likeliest token, as in the paper.",
            metavar="TEMPERATURE",
            group=_WRITING,
        ),
    ] = 0.0,
    top_p: Annotated[
        float,
        Option(
            help="Draw from the likeliest tokens of this probability together.",
            group=_WRITING,
        ),
    ] = 1.0,
    n: Annotated[int, Option("--n", help="Reactions to each item.", min=1, group=_WRITING)] = 1,
    max_tokens: Annotated[
        int | None,
        Option(
            help="Most tokens of a reaction; by default 19, as in the paper, with --vlm 100.",
            min=1,
            group=_WRITING,
            show_default=False,
        ),
    ] = None,
    examples: Annotated[
        Path | None,
        Option(
            help="Reactions of people, from which each prompt gets examples about other pairs.",
            metavar="FILE",
            group=_EXAMPLES,
            show_default=False,
        ),
    ] = None,
    shots: Annotated[
        int,
        Option(help="Examples in each prompt.", min=1, group=_EXAMPLES),
    ] = 3,
    batch_size: Annotated[int, Option(help="Answers at a time.", min=1, group=_RUN)] = 16,
    device: Annotated[str, Option(help="auto, cpu, cuda or mps.", group=_RUN)] = "auto",
    precision: Annotated[str, Option(help="auto, fp32, bf16 or fp16.", group=_RUN)] = "auto",
    ledger: Annotated[
        Path | None,
        Option(
            help="Where answers are kept, so that a run goes on; by default beside --out. With "
            "--vlm a folder.",
            group=_RUN,
            show_default=False,
        ),
    ] = None,
    rater: Annotated[
        str | None,
        Option(help="Name of the rater.", group=_RUN, show_default=False),
    ] = None,
    seed: Annotated[int, Option("--seed", help="Draws tokens and examples.", group=_RUN)] = 0,
    base_url: BaseUrl = None,
    key_env: KeyEnv = None,
    concurrency: Concurrency = 8,
    budget_usd: BudgetUsd = None,
    budget_requests: BudgetRequests = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    dry_run: Annotated[
        bool,
        Option(
            "--dry-run",
            help="Print one prompt, tokens and cost to expect; ask nobody.",
            group=LIMITS,
        ),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let a model say why a person feels an emotion about an image with its caption.

    The prompt is that of Socratis (section 3), word for word. What was written is kept as it comes:
    a run that was stopped goes on with the same command. The exit code is 1 when a run with --vlm
    stopped before its end.

    Example: affectlab rate reactions pairs.csv --model Salesforce/blip2-flan-t5-xl --out blip2.csv
    """
    from affectlab.core.errors import InputError
    from affectlab.models.reactions import Decoding, FewShot, read_items, read_reactions
    from affectlab.models.reactions.decoding import PAPER_TOKENS
    from affectlab.ratings import check_ratings_path

    out = Output("rate reactions", as_json=as_json, quiet=quiet)
    if (model is None) == (vlm is None):
        raise InputError("expected either --model or --vlm")
    if dry_run and vlm is None:
        raise InputError("--dry-run says what asking would cost; expected --vlm beside it")
    if likelihood is not None and vlm is not None:
        raise InputError(
            "--likelihood needs the probabilities of every token; expected --model, not --vlm"
        )
    if likelihood is None:
        check_ratings_path(to)
    elif to.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{to}: expected a table of likelihoods, .csv or .parquet")
    decoding = Decoding(
        sample, top_p, n, seed, max_tokens or (PAPER_TOKENS if vlm is None else 100)
    )
    items = read_items(file, emotion=emotion, images=images, text_only=text_only)
    few = None
    if examples is not None:
        captions = {item.stimulus: item.caption for item in items}
        few = FewShot(
            read_reactions(examples, pairs=captions, people=True, emotion=emotion), shots, seed
        )
    wanted = items[:limit]
    if vlm is not None:
        asking = {
            "base_url": base_url,
            "api_key_env": key_env,
            "concurrency": concurrency,
            "budget_usd": budget_usd,
            "budget_requests": budget_requests,
            "price_in": price_in,
            "price_out": price_out,
        }
        folder = ledger or to.with_name(f"{to.stem}.vlm")
        ask(out, wanted, vlm, to, folder, text_only, few, decoding, rater, asking, dry_run=dry_run)
        return
    from affectlab.models.reactions import ReactionGenerator

    generator = ReactionGenerator(
        str(model),
        text_only=text_only,
        decoding=decoding,
        few_shot=few,
        batch_size=batch_size,
        device=device,  # type: ignore[arg-type]
        precision=precision,  # type: ignore[arg-type]
        ledger=ledger or to.with_name(f"{to.stem}.ledger.jsonl"),
        rater=rater,
    )
    if likelihood is not None:
        likelihoods(out, generator, items, likelihood, emotion, limit, to)
    else:
        write(out, generator, wanted, to)
