"""What ``affectlab rate vlm`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.evaluation import OutcomeTable
    from affectlab.models.vlm import Plan, VlmRun

__all__ = ["show_plan", "show_run"]


def show_run(out: Output, run: VlmRun, table: OutcomeTable) -> None:
    """Print the outcomes, the tokens and the cost of a run."""
    from affectlab.core.words import count, plural

    kept = ""
    if run.n_kept:
        some = "all" if run.n_kept == run.n_answered else count(run.n_kept)
        kept = f", {some} of them before"
    out.head(f"{run.rater} answered {plural(run.n_answered, 'question')}{kept}")
    out.show(table)
    usage = run.usage
    parts = [
        f"{count(tokens)} {name}"
        for name, tokens in (
            ("read", usage.input),
            ("from the cache", usage.cached),
            ("written", usage.output),
            ("of these reasoning", usage.reasoning),
        )
        if tokens
    ]
    out.show("", f"tokens: {', '.join(parts)}" if parts else "tokens: not said by the provider")
    cost = run.cost
    if cost is None:
        said = "not known; --price-in and --price-out say it per million tokens"
    else:
        rest = "" if not run.n_uncounted else " and what was not counted"
        said = f"${cost:,.4f}{rest}"
    out.show(f"cost: {said}")


def show_plan(out: Output, model: str, plan: Plan) -> None:
    """Print what would be asked, and about what it would take."""
    from affectlab.core.words import count, plural

    out.head(f"The prompt about {plan.stimulus}")
    for part in (plan.prompt.system, *plan.prompt.parts):
        if isinstance(part, str):
            for line in ("", *part.splitlines()):
                out.show(line)
        else:
            size = f"{part.width} x {part.height}, {len(part.data):,} bytes"
            out.show("", f"[{part.media_type}, {size}]")
    out.head("")
    n_left = plan.n_questions - plan.n_kept
    if plan.n_kept:
        out.show(f"{plural(plan.n_kept, 'question is', 'questions are')} answered in the ledger")
    out.show(
        f"{plural(n_left, 'question')} to {model}: about "
        f"{count(plan.input_tokens)} tokens to read and {count(plan.output_tokens)} to write, "
        f"{count(plan.most_output_tokens)} at most"
    )
    out.show(
        "cost: not known; --price-in and --price-out say it per million tokens"
        if plan.cost is None
        else f"cost: about ${plan.cost:,.4f}, at most ${plan.most_cost:,.4f}"
    )
    out.show("Nobody was asked.")
    out.finish(
        {
            "dry_run": True,
            "model": model,
            "stimulus": plan.stimulus,
            "prompt": plan.prompt.text,
            "prompt_version": plan.prompt.design,
            "n_questions": plan.n_questions,
            "n_kept": plan.n_kept,
            "input_tokens": plan.input_tokens,
            "output_tokens": plan.output_tokens,
            "most_output_tokens": plan.most_output_tokens,
            "cost": plan.cost,
            "most_cost": plan.most_cost,
        }
    )
