"""What browsers send, and what is told of it in the description of the interface."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from affectlab.study.server._messages_base import Message

__all__ = ["Advance", "Answer", "Enter", "PageEvent", "Skip"]

TrialId = Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]


class Enter(Message):
    """Begin a session, with what the address of the page says."""

    invitation: str | None = Field(default=None, max_length=100)
    code: str = Field(default="", max_length=200)
    language: str = Field(default="", max_length=20)
    prolific_pid: str | None = Field(default=None, min_length=1, max_length=200)
    participant_id: str | None = Field(default=None, min_length=1, max_length=200)
    external_session: str | None = Field(default=None, max_length=200)
    external_study: str | None = Field(default=None, max_length=200)
    told: dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict, max_length=20
    )


class Advance(Message):
    """Finish a stage that is not a trial."""

    stage: str = Field(max_length=20)
    data: dict[str, Any] = Field(default_factory=dict)


class Answer(Message):
    """Answer the next trial."""

    trial: TrialId
    answer: dict[str, Any]
    key: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    widget: str = Field(max_length=20)
    rt_ms: int | None = Field(default=None, ge=0, le=86_400_000)
    movement: list[tuple[float, float]] | None = Field(default=None, max_length=2000)


class Skip(Message):
    """Leave out the next trial, because what it shows could not be loaded."""

    trial: TrialId
    reason: str = Field(default="", max_length=200)


class PageEvent(Message):
    """Something that the page noticed."""

    kind: str = Field(max_length=40)
    body: dict[str, Any] = Field(default_factory=dict)
