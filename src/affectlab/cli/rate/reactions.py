"""``affectlab socratis reactions``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from affectlab.cli._output import Output, collected, write_table
from affectlab.cli.manifest import OptionsOf
from affectlab.cli.rate.vlm import announce, counts_of, show_plan
from affectlab.core.errors import InputError
from affectlab.core.types import Count, Device, Precision
from affectlab.core.words import count, number, plural, shown
from affectlab.models.reactions import (
    PAPER_TOKENS,
    Decoding,
    FewShot,
    PersonReaction,
    ReactionGenerator,
    ReactionItem,
    plan_reactions_vlm,
    rate_reactions_vlm,
    read_items,
    read_reactions,
)
from affectlab.ratings import check_ratings_path

if TYPE_CHECKING:
    from affectlab.models.vlm import Budget


def reactions(
    out: Output,
    file: Path,
    *,
    to: Path,
    model: str | None = None,
    vlm: str | None = None,
    text_only: bool = False,
    likelihood: Path | None = None,
    emotion: str | None = None,
    images: Path | None = None,
    limit: Count | None = None,
    temperature: Annotated[float, Ge(0)] = 0.0,
    top_p: float = 1.0,
    n: Count = 1,
    max_tokens: Count | None = None,
    examples: Path | None = None,
    shots: Count = 3,
    batch_size: Count = 16,
    device: Device = "auto",
    precision: Precision = "auto",
    ledger: Path | None = None,
    rater: str | None = None,
    asking: Annotated[
        dict[str, Any], OptionsOf("models.vlm.asking.settings:AskSettings", ("base_url", "key_env"))
    ],
    budget: Budget,
    spending: Annotated[
        dict[str, Any],
        OptionsOf("models.vlm.rater:VlmRater", ("concurrency", "price_in", "price_out")),
    ],
    dry_run: bool = False,
    seed: int = 0,
) -> None:
    """Let a model say why a person feels an emotion about an image with its caption.

    The prompt is that of Socratis (section 3), word for word. What was written is kept as it comes:
    a run that was stopped goes on with the same command. The exit code is 1 when a run with --vlm
    stopped before its end.

    Parameters
    ----------
    file
        Pairs with an emotion a row: a table with stimulus, image, caption and emotion, or
        reactions of people, such as the published JSON of Socratis.
    to
        Ratings to write (.csv or .parquet); with --likelihood the table of likelihoods.
    model
        Folder or hub name of BLIP-2 with a T5 inside, or of a T5 with --text-only.
    vlm
        Ask a vision-language model instead: openai/…, openai-api/NAME/…, as in affectlab rate.
    text_only
        The language model alone; no image is opened.
    limit
        Only the first rows, this many; with --likelihood the first reactions.
    temperature
        Temperature to draw with; 0: always the likeliest token, as in the paper.
    examples
        Reactions of people, from which each prompt gets examples about other pairs.
    base_url
        Address of the server, such as http://localhost:8000/v1.
    key_env
        Variable of the environment with the key; without it, the provider's own.
    concurrency
        Questions under way at once.
    price_in
        Dollars per million tokens of questions.
    price_out
        Dollars per million tokens of answers.
    dry_run
        Print one prompt, tokens and cost to expect; ask nobody.
    likelihood
        Write nothing new: how likely are these reactions, of people or models, to the pairs of
        FILE?

    Other Parameters
    ----------------
    emotion
        Column with the emotion; by default emotion or label.
    images
        Folder of the images; by default that of FILE.
    top_p
        Draw from the likeliest tokens of this probability together.
    n
        Reactions to each item.
    max_tokens
        Most tokens of a reaction; by default 19, as in the paper, with --vlm 100.
    shots
        Examples in each prompt.
    batch_size
        Answers at a time.
    precision
        What weights are held in.
    ledger
        Where answers are kept, so that a run goes on; by default beside --out. With --vlm a
        folder.
    rater
        Name of the rater.
    device
        Where the model computes.
    """
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
    tokens = max_tokens or (PAPER_TOKENS if vlm is None else 100)
    decoding = Decoding(temperature, top_p, n, seed, tokens)
    items = read_items(file, emotion=emotion, images=images, text_only=text_only)
    captions = {item.stimulus: item.caption for item in items}
    few = None
    if examples is not None:
        few = FewShot(
            read_reactions(examples, pairs=captions, people=True, emotion=emotion), shots, seed
        )
    shared: dict[str, Any] = {"text_only": text_only, "few_shot": few, "rater": rater}
    if vlm is not None:
        from affectlab.models.vlm import AskSettings

        settings = AskSettings(
            temperature=temperature,
            top_p=None if top_p == 1 else top_p,
            max_tokens=tokens,
            **asking,
        )
        options: dict[str, Any] = {
            **shared,
            "ledger": ledger or to.with_name(f"{to.stem}.vlm"),
            "n": n,
            "settings": settings,
            "budget": budget,
            **spending,
        }
        _ask(out, items[:limit], vlm, to, options, dry_run=dry_run)
        return

    generator = ReactionGenerator(
        str(model),
        decoding=decoding,
        batch_size=batch_size,
        device=device,
        precision=precision,
        ledger=ledger or to.with_name(f"{to.stem}.ledger.jsonl"),
        **shared,
    )
    if likelihood is not None:
        given = read_reactions(likelihood, pairs=captions, emotion=emotion)[:limit]
        _likelihoods(out, generator, items, given, to)
    else:
        _write(out, generator, items[:limit], to)


def _write(
    out: Output, generator: ReactionGenerator, items: tuple[ReactionItem, ...], to: Path
) -> None:
    """Write reactions, and print the first of them."""
    with collected(out, "loading the model", generator.ledger) as (progress, doubts):
        ratings = generator.rate(items, progress=progress)
    ratings.write(to)
    frame = ratings.to_frame()
    warnings = []
    n_cut = int((~frame["ended"]).sum())
    n_empty = int((frame["outcome"] == "empty").sum())
    if n_cut:
        warnings.append(
            f"{plural(n_cut, 'reaction')} of {len(frame):,} {'was' if n_cut == 1 else 'were'} cut "
            f"at {plural(generator.decoding.max_new_tokens, 'token')}; more --config max_tokens= "
            "lets them end"
        )
    if n_empty:
        warnings.append(f"{plural(n_empty, 'reaction')} of {len(frame):,} without any text")
    _show(out, ratings, frame, to)
    out.finish(
        {
            "ratings": to,
            "rater": generator.name,
            "model_hash": generator.fingerprint,
            "ledger": generator.ledger,
            "n_pairs": ratings.n_stimuli,
            "n_reactions": len(frame),
            "n_cut": n_cut,
            "n_empty": n_empty,
            "mean_log_likelihood": float(
                (frame["log_likelihood"] / frame["n_tokens"]).to_numpy().mean()
            ),
        },
        warnings,
        doubts=doubts,
    )


def _show(out: Output, ratings: Any, frame: Any, to: Path) -> None:
    out.head(
        f"{ratings.rater_names[0]} wrote {plural(len(frame), 'reaction')} to "
        f"{plural(ratings.n_stimuli, 'pair')}"
    )
    for row in frame.head(5).iter_rows(named=True):
        said = shown(row["text"], 160) if row["text"] else f"({row['outcome']})"
        out.show(f"{shown(row['stimulus'], 30)}, {shown(row['emotion'], 30)}: {said}")
    out.show_line(f"ratings: {to}")


def _likelihoods(
    out: Output,
    generator: ReactionGenerator,
    items: tuple[ReactionItem, ...],
    given: Sequence[PersonReaction],
    to: Path,
) -> None:
    """Compute how likely given reactions are."""
    with out.progress("loading the model") as progress:
        frame = generator.likelihood_table(items, given, progress=progress)
    write_table(frame, to, sheet=True)
    mean = float(frame["mean_log_likelihood"].to_numpy().mean())
    out.head(f"{generator.name}: likelihoods of {plural(len(given), 'reaction')}")
    out.show(f"mean of the mean log-likelihood of a token: {number(mean, 3)} (natural logarithm)")
    out.show_line(f"likelihoods: {to}")
    out.finish(
        {
            "likelihoods": to,
            "model_hash": generator.fingerprint,
            "n_reactions": len(given),
            "mean_log_likelihood": mean,
        }
    )


def _ask(
    out: Output,
    items: tuple[ReactionItem, ...],
    model: str,
    to: Path,
    options: dict[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Ask a vision-language model, and print the first of what it wrote."""
    if dry_run:
        show_plan(out, model, plan_reactions_vlm(items, model, **options))
        return
    with collected(out, f"asking {model}", options["ledger"]) as (progress, warned):
        run = rate_reactions_vlm(
            items,
            model,
            progress=progress,
            announce=lambda plan: announce(out, model, plan),
            **options,
        )
    run.ratings.write(to)
    frame = run.ratings.to_frame()
    outcomes = {str(one): int(many) for one, many in frame["outcome"].value_counts().iter_rows()}
    _show(out, run.ratings, frame, to)
    out.show(", ".join(f"{count(many)} {one}" for one, many in sorted(outcomes.items())))
    if run.cost is not None:
        out.show(f"cost: ${run.cost:,.4f}")
    out.finish(
        {
            "ratings": to,
            "rater": run.ratings.rater_names[0],
            "ledger": options["ledger"],
            "outcomes": outcomes,
            **counts_of(run),
        },
        [note for note in run.notes if note not in run.others],
        # What is warned of other models is among the notes of the run, too.
        doubts=list(dict.fromkeys([*run.others, *warned])),
    )
    if run.n_left:
        raise SystemExit(1)
