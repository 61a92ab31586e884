"""The tables of a study file: what is asked, of whom, and how the work is shared out."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from affectlab.protocols import Part

__all__ = [
    "Consent",
    "Demographic",
    "Demographics",
    "Eligibility",
    "Head",
    "ProtocolChoice",
    "Quiz",
    "QuizQuestion",
    "Recruitment",
    "Sessions",
    "Stimuli",
]

LANGUAGES = ("en", "de", "es")
"""Languages in which the participant pages come."""

_NAME = re.compile(r"^[a-z0-9][a-z0-9_-]*$")


class Head(Part):
    """What the study is called, and who answers for it."""

    name: str
    """Short name: lower case letters, digits, dashes; part of file names."""
    title: str = Field(min_length=1, max_length=120)
    """What participants read at the top."""
    contact: str = ""
    """Whom participants can ask, such as an e-mail address; shown on every page."""
    languages: tuple[str, ...] = ("en",)
    """Languages of the pages; the first one is used when a browser asks for none of them."""
    seed: int = Field(default=0, ge=0)
    """Seed of the order of tasks; orders within a session are drawn anew for everyone."""

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not _NAME.match(name):
            raise ValueError("expected lower case letters, digits, '-' and '_'")
        return name

    @field_validator("languages")
    @classmethod
    def _known(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        if not languages:
            raise ValueError("expected at least one language")
        for language in languages:
            if language not in LANGUAGES:
                known = ", ".join(LANGUAGES)
                raise ValueError(f"language {language!r} is not there; expected some of: {known}")
        return languages


class ProtocolChoice(Part):
    """The protocol, and what this study changes of it."""

    name: str = Field(min_length=1)
    """Name of a protocol, or path of its TOML file."""
    widget: str | None = None
    """Another widget that the protocol allows; which one was used is stored with every answer."""
    change: dict[str, Any] = Field(default_factory=dict)
    """Keys of the protocol that differ here, as in its file: ``asks``, ``routing``, ``rules``."""


class Stimuli(Part):
    """Where the stimuli come from: drawn faces, a folder of pictures, or a table."""

    faces: int | None = Field(default=None, ge=1, le=2000)
    """Number of faces to draw, for trying things out; their truth is known to `simulate`."""
    folder: str | None = None
    """Folder of pictures; each file is a stimulus, unless a table says which ones are."""
    table: str | None = None
    """Table with a column ``stimulus``, and ``file`` (in the folder) or ``text``; other columns are
    attributes, which stay with the researcher."""
    intended: str | None = None
    """Column with the label that a stimulus is meant to show. Where a trial asks for one label,
    this one is asked for first, and another one, meant to be absent, in contrast."""
    golden: str | None = None
    """Table of known answers: ``stimulus``, ``label`` where there are labels, ``value``."""
    training: tuple[str, ...] = ()
    """Stimuli with known answers that are used for training only, shown with feedback."""

    @model_validator(mode="after")
    def _one_source(self) -> Stimuli:
        if self.faces is not None and (self.folder or self.table):
            raise ValueError("faces are drawn; they do not go with a folder or a table")
        if self.faces is None and not self.folder and not self.table:
            raise ValueError("expected one of: faces, folder, table")
        return self


class Sessions(Part):
    """How the work is shared out."""

    trials: int = Field(default=20, ge=1, le=2000)
    """Main trials of one session, at most; fewer when less is left to do."""
    raters: int | None = Field(default=None, ge=1)
    """Valid answers per task; by default what the protocol says."""
    most_per_rater: int = Field(default=1, ge=1)
    """Sessions that one person may take."""
    lease_minutes: float = Field(default=30, gt=0, le=60 * 24 * 7)
    """How long a claimed task is kept for someone who does not answer; every answer renews it."""
    resume_hours: float = Field(default=24, gt=0)
    """How long after the last answer a session can be taken up again."""
    breaks_every: int = Field(default=0, ge=0)
    """Trials between offers of a short break; 0 for none."""


class Consent(Part):
    """What participants agree to."""

    text: str = Field(min_length=1)
    """Paragraphs, parted by an empty line."""
    version: str = "1"
    """Stored with the agreement."""


class Demographic(Part):
    """One question about the participant; each can be declined."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    question: str = Field(min_length=1)
    choices: tuple[str, ...] = ()
    """Choices; without any, a number or a short text is asked for."""
    kind: Literal["choice", "number", "text"] = "choice"
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _fits(self) -> Demographic:
        if (self.kind == "choice") != bool(self.choices):
            raise ValueError("choices belong to a question of kind 'choice', which needs them")
        return self


class Demographics(Part):
    """Questions about the participant."""

    questions: tuple[Demographic, ...] = ()

    @model_validator(mode="after")
    def _distinct(self) -> Demographics:
        names = [question.name for question in self.questions]
        if len(set(names)) < len(names):
            raise ValueError("a question's name appears twice")
        return self


class QuizQuestion(Part):
    """A question that shows whether the instructions were understood."""

    question: str = Field(min_length=1)
    choices: tuple[str, ...] = Field(min_length=2)
    answer: str
    """The right one of the choices."""
    explanation: str = ""
    """Shown after a wrong answer."""

    @model_validator(mode="after")
    def _fits(self) -> QuizQuestion:
        if self.answer not in self.choices:
            raise ValueError(f"answer {self.answer!r} is none of the choices")
        return self


class Quiz(Part):
    """The comprehension check."""

    questions: tuple[QuizQuestion, ...] = ()
    attempts: int = Field(default=2, ge=1)
    """Attempts before the session ends; two are what recruiting platforms ask for."""


class Recruitment(Part):
    """How participants come in, and where they go when they are done."""

    open: bool = True
    """Anyone with the address may take part."""
    code: str = ""
    """A word that visitors must bring (``?code=…``)."""
    platform: Literal["none", "prolific", "connect"] = "none"
    """Recruiting platform, whose names for participant and session come with the address."""
    completion_code: str = ""
    """Code shown at the end; drawn for each session when not given."""
    return_url: str = ""
    """Where participants go at the end; ``{code}`` stands for the code."""
    pay: float | None = Field(default=None, ge=0)
    """Payment for one session."""
    currency: str = "USD"

    @field_validator("return_url")
    @classmethod
    def _https(cls, url: str) -> str:
        if url and not url.startswith(("https://", "http://")):
            raise ValueError("expected an address that starts with https://")
        return url


class Eligibility(Part):
    """Who may take part. The platform filters; what it tells us is checked at entry and stored."""

    approval_rate: float | None = Field(default=None, ge=0, le=1)
    """Lowest share of earlier work that was approved."""
    approved: int | None = Field(default=None, ge=0)
    """Fewest earlier submissions approved."""
    countries: tuple[str, ...] = ()
    """Two-letter codes."""
    languages: tuple[str, ...] = ()
    """Fluent languages, two-letter codes."""
    degree_verified: bool = False
