"""The stages of a session, in order; those without content are left out."""

from __future__ import annotations

from affectlab.study.design.study_file import Study

__all__ = ["STAGES", "drops_on_withdrawal", "first_stage", "stage_after"]

STAGES = ("consent", "demographics", "instructions", "quiz", "trials", "complete")
"""In order. ``waiting`` stands for ``trials`` while others hold all tasks; ``ended`` is an end
without completion."""


def first_stage(study: Study) -> str:
    """Give the stage that a session begins with."""
    return _first(study, STAGES)


def stage_after(study: Study, stage: str) -> str:
    """Give the stage that follows another."""
    return _first(study, STAGES[STAGES.index(stage) + 1 :])


def drops_on_withdrawal(study: Study) -> bool:
    """Say whether the answers of those who withdraw count no more, as most studies want it."""
    consent = study.design.consent
    return consent is None or consent.on_withdrawal == "drop"


def _first(study: Study, stages: tuple[str, ...]) -> str:
    design = study.design
    has_content = {
        "consent": design.consent is not None,
        "demographics": bool(design.demographics.questions),
        "quiz": bool(design.quiz.questions),
    }
    return next(stage for stage in stages if has_content.get(stage, True))
