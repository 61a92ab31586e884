"""What verbs that ask a vision-language model print alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.models.reactions.vlm import VlmReactions
    from affectlab.models.vlm.asking import Plan
    from affectlab.models.vlm.run import VlmRun

__all__ = ["counts_of", "show_plan"]


def counts_of(run: VlmRun | VlmReactions) -> dict[str, Any]:
    """Give how many questions were asked and answered, and what that took."""
    names = ("n_questions", "n_answered", "n_kept", "n_usable", "n_left", "cost")
    return {"usage": run.usage.as_dict(), **{name: getattr(run, name) for name in names}}


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
