"""What ``affectlab rate reactions`` does, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.models.reactions import Decoding, FewShot, ReactionGenerator, ReactionItem

__all__ = ["ask", "likelihoods", "write"]


def write(
    out: Output, generator: ReactionGenerator, items: tuple[ReactionItem, ...], to: Path
) -> None:
    """Write reactions, and print the first of them."""
    from affectlab.core.words import plural

    try:
        with out.progress("loading the model") as progress:
            ratings = generator.rate(items, progress=progress)
    except KeyboardInterrupt:
        out.warn(
            f"interrupted; {generator.ledger} keeps what was written, and the same command "
            "goes on from there"
        )
        raise
    ratings.write(to)
    frame = ratings.to_frame()
    warnings = []
    n_cut = int((~frame["ended"]).sum())
    n_empty = int((frame["outcome"] == "empty").sum())
    if n_cut:
        warnings.append(
            f"{plural(n_cut, 'reaction')} of {len(frame):,} {'was' if n_cut == 1 else 'were'} cut "
            f"at {plural(generator.decoding.max_new_tokens, 'token')}; --max-tokens lets them end"
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
    )


def _show(out: Output, ratings: Any, frame: Any, to: Path) -> None:
    from affectlab.core.words import plural, shown

    out.head(
        f"{ratings.rater_names[0]} wrote {plural(len(frame), 'reaction')} to "
        f"{plural(ratings.n_stimuli, 'pair')}"
    )
    for row in frame.head(5).iter_rows(named=True):
        said = shown(row["text"], 160) if row["text"] else f"({row['outcome']})"
        out.show(f"{shown(row['stimulus'], 30)}, {shown(row['emotion'], 30)}: {said}")
    out.show_line(f"ratings: {to}")


def likelihoods(
    out: Output,
    generator: ReactionGenerator,
    items: tuple[ReactionItem, ...],
    path: Path,
    emotion: str | None,
    limit: int | None,
    to: Path,
) -> None:
    """Compute how likely given reactions are."""
    import polars as pl

    from affectlab.core.csv import write_sheet_csv
    from affectlab.core.errors import InputError
    from affectlab.core.words import number, plural, shown
    from affectlab.models.reactions import ReactionItem, read_reactions

    pairs = {item.stimulus: item for item in items}
    given = read_reactions(
        path, pairs={name: item.caption for name, item in pairs.items()}, emotion=emotion
    )[:limit]
    for one in given:
        if one.stimulus not in pairs:
            raise InputError(
                f"{path}: stimulus {shown(one.stimulus, 40)!r} is not among the pairs; expected "
                "reactions to the pairs of FILE"
            )
    asked = [
        ReactionItem(one.stimulus, known.caption, one.emotion, known.image, known.file)
        for one in given
        for known in (pairs[one.stimulus],)
    ]
    with out.progress("loading the model") as progress:
        found = generator.log_likelihood(asked, [one.text for one in given], progress=progress)
    frame = pl.DataFrame(
        {
            "stimulus": [one.stimulus for one in given],
            "emotion": [one.emotion for one in given],
            "rater": [one.rater for one in given],
            "reaction": [one.text for one in given],
            "log_likelihood": found.total,
            "n_tokens": found.n_tokens,
            "mean_log_likelihood": found.mean,
            "model": [found.settings["model"]] * len(given),
            "model_hash": [found.settings["model_hash"]] * len(given),
            "reads": [found.settings["reads"]] * len(given),
        }
    )
    if to.suffix.lower() == ".parquet":
        frame.write_parquet(to)
    else:
        write_sheet_csv(frame, to)
    mean = float(found.mean.mean())
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


def ask(
    out: Output,
    items: tuple[ReactionItem, ...],
    model: str,
    to: Path,
    folder: Path,
    text_only: bool,
    few: FewShot | None,
    decoding: Decoding,
    rater: str | None,
    asking: dict[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Ask a vision-language model, or say what would be asked.

    Raises
    ------
    SystemExit
        With code 1, when it stopped before its end.
    """
    from affectlab.cli._warned import caught_warnings
    from affectlab.cli.rate._vlm_show import show_plan
    from affectlab.core.words import count
    from affectlab.models.reactions import plan_reactions_vlm, rate_reactions_vlm
    from affectlab.models.vlm import AskSettings, Budget

    settings = AskSettings(
        temperature=decoding.temperature,
        top_p=None if decoding.top_p == 1 else decoding.top_p,
        max_tokens=decoding.max_new_tokens,
        base_url=asking["base_url"],
        api_key_env=asking["api_key_env"],
    )
    options: dict[str, Any] = {
        "ledger": folder,
        "text_only": text_only,
        "few_shot": few,
        "n": decoding.n,
        "settings": settings,
        "budget": Budget(asking["budget_usd"], None, asking["budget_requests"]),
        "price_in": asking["price_in"],
        "price_out": asking["price_out"],
        "concurrency": asking["concurrency"],
        "rater": rater,
    }
    if dry_run:
        show_plan(out, model, plan_reactions_vlm(items, model, **options))
        return
    try:
        with caught_warnings() as warned, out.progress(f"asking {model}") as progress:
            run = rate_reactions_vlm(items, model, progress=progress, **options)
    except KeyboardInterrupt:
        out.warn(
            f"interrupted; {folder} keeps all answers, and the same command goes on from there"
        )
        raise
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
            "ledger": folder,
            "n_questions": run.n_questions,
            "n_answered": run.n_answered,
            "n_kept": run.n_kept,
            "n_usable": run.n_usable,
            "n_left": run.n_left,
            "outcomes": outcomes,
            "usage": run.usage.as_dict(),
            "cost": run.cost,
        },
        [note for note in run.notes if note not in run.others],
        # What is warned of other models is among the notes of the run, too.
        doubts=list(dict.fromkeys([*run.others, *warned])),
    )
    if run.n_left:
        raise SystemExit(1)
