"""The tables of a study file: what is asked, of whom, and how the work is shared out."""

from __future__ import annotations

import hashlib
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
    "Pilot",
    "ProtocolChoice",
    "Quiz",
    "QuizQuestion",
    "Recruitment",
    "Release",
    "Sessions",
    "Stimuli",
]

LANGUAGES = ("en", "de", "es")
"""Languages in which the participant pages come."""

RESERVED = frozenset(
    (
        *("stimulus", "rater", "session", "trial", "trial_kind", "label", "value", "text"),
        *("outcome", "rt_ms", "at", "day", "widget", "batch", "swapped", "left", "anchor"),
        *("frame", "frames", "movement", "rater_kind", "language", "file", "file_a", "file_b"),
        *("planted", "planted_bias", "planted_inconsistency", "careless"),
        *("run_ms", "step", "data", "batch_kind", "intended"),
    )
)
"""Columns of the export, which no question about people can be named after."""

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
    """Number of faces to draw, for trying things out; their truth is known to `simulate`. Of pairs
    or of transitions, where the protocol shows those."""
    frames: int = Field(default=41, ge=5, le=500)
    """Frames of each transition that is drawn."""
    folder: str | None = None
    """Folder of pictures; each file is a stimulus, unless a table says which ones are."""
    table: str | None = None
    """Table with a column ``stimulus``, and ``file`` (in the folder) or ``text``; ``file_a`` and
    ``file_b`` for pairs; a row for each ``frame`` of a sequence. Other columns are attributes,
    which stay with the researcher."""
    intended: str | None = None
    """Column with the label that a stimulus is meant to show. Where a trial asks for one label,
    this one is asked for first, and another one, meant to be absent, in contrast."""
    golden: str | None = None
    """Table of known answers: ``stimulus``, ``label`` where there are labels, ``value``. Every
    session is asked all of them, or as many as ``checks.golden`` of the protocol says."""
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
    batch: str | None = Field(default=None, min_length=1)
    """Column of ``stimuli.table`` with the batch of every stimulus. A session is then given one
    whole batch instead of so many trials, nobody gets a batch twice, and `raters` counts valid
    sessions of each batch. A pilot is not in batches."""
    raters: int | None = Field(default=None, ge=1)
    """Valid answers per task; by default what the protocol says."""
    most_per_rater: int = Field(default=1, ge=1)
    """Sessions that one person may take."""
    lease_minutes: float = Field(default=30, gt=0, le=60 * 24 * 7)
    """How long a claimed task is kept for someone who does not answer; every answer renews it."""
    resume_hours: float = Field(default=24, gt=0)
    """How long after the last answer a session can be taken up again."""
    skips: float = Field(default=0.25, ge=0, le=1)
    """Share of a session's trials that may be left out because their pictures do not load; two
    always may. A session that leaves out more ends, and one that answered less than the rest of its
    main trials is paid only after somebody has looked at it."""
    breaks_every: int = Field(default=0, ge=0)
    """Trials between offers of a short break; 0 for none."""


class Consent(Part):
    """What participants agree to."""

    text: str = Field(min_length=1)
    """Paragraphs, parted by an empty line."""
    version: str = "1"
    """Stored with the agreement. Once somebody has agreed, another text needs another version."""
    on_withdrawal: Literal["drop", "keep"] = "drop"
    """What becomes of the answers of those who withdraw: they count no more, are asked again of
    others and leave the export, or they stay. The text should say which."""

    @property
    def digest(self) -> str:
        """What tells this text from another; breaks of lines and spaces mean nothing."""
        return hashlib.sha256(" ".join(self.text.split()).encode()).hexdigest()

    @property
    def agreed_to(self) -> dict[str, str]:
        """What is stored with an agreement: version, digest of the text, and fate of answers."""
        return {
            "version": self.version,
            "text": self.digest,
            "on_withdrawal": self.on_withdrawal,
        }


class Demographic(Part):
    """One question about the participant; each can be declined."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Becomes a column of the export, so it cannot be one that the export has already."""
    question: str = Field(min_length=1)
    choices: tuple[str, ...] = ()
    """Choices; without any, a number or a short text is asked for."""
    kind: Literal["choice", "number", "text"] = "choice"
    low: float | None = None
    high: float | None = None

    @field_validator("name")
    @classmethod
    def _free(cls, name: str) -> str:
        if name in RESERVED:
            raise ValueError(f"{name!r} is a column of the export; expected another name")
        return name

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
    study_id: str = Field(default="", max_length=100, pattern=r"^[A-Za-z0-9_-]*$")
    """The platform's name for this study (Prolific's STUDY_ID, Connect's projectId). Visitors who
    come from another study of the platform are refused; payments need it."""
    verify: bool = False
    """Ask Prolific at entry whether the submission belongs to the visitor; needs a token."""
    completion_code: str = ""
    """Code shown at the end; drawn for each session when not given."""
    return_url: str = ""
    """Where participants go at the end; ``{code}`` stands for the code."""
    screened_out_url: str = ""
    """Where those go who cannot take part, because they are not eligible, nothing is left, or the
    study was closed while they were at it."""
    stopped_code: str = Field(default="", max_length=60)
    """Code shown to those whom the closing of the study stops in the middle, so that they can be
    paid for what they have done."""
    pay: float | None = Field(default=None, ge=0)
    """Payment for one session."""
    bonus: float | None = Field(default=None, ge=0)
    """What each trial earns whose answer names what most others named, where the protocol gives a
    bonus for that."""
    currency: str = "USD"

    @field_validator("return_url", "screened_out_url")
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
    """Countries of residence, two-letter codes (ISO 3166): ``US``, ``GB``."""
    languages: tuple[str, ...] = ()
    """Fluent languages, two-letter codes (ISO 639); one of them is enough."""
    degree_verified: bool = False
    """Whether the platform must have verified a degree."""

    @field_validator("countries", "languages")
    @classmethod
    def _codes(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        for code in codes:
            if not (len(code) == 2 and code.isascii() and code.isalpha()):
                raise ValueError(f"{code!r}: expected a code of two letters")
        return codes

    @field_validator("countries")
    @classmethod
    def _upper(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        # "UK" is what people write; the standard's code is GB.
        return tuple("GB" if code.upper() == "UK" else code.upper() for code in codes)

    @field_validator("languages")
    @classmethod
    def _lower(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(code.lower() for code in codes)


class Pilot(Part):
    """A study before the study, whose answers are kept apart and never count in it."""

    stimuli: int | tuple[str, ...] = 40
    """How many stimuli, drawn with the study's seed, or their names."""
    raters: int = Field(default=25, ge=1)
    """Answers per task; 25 are what FaceExpressions-70k asked for."""
    apart: bool = False
    """Leave these stimuli out of the main study."""

    @field_validator("stimuli")
    @classmethod
    def _some(cls, stimuli: int | tuple[str, ...]) -> int | tuple[str, ...]:
        if not stimuli or (isinstance(stimuli, int) and stimuli < 1):
            raise ValueError("expected at least one stimulus")
        if isinstance(stimuli, tuple) and len(set(stimuli)) < len(stimuli):
            raise ValueError("a stimulus is named twice")
        return stimuli


class Release(Part):
    """What a released data set says of itself."""

    title: str = Field(default="", max_length=200)
    """Name of the data set; the study's title when not given."""
    purpose: str = ""
    """What the data were collected for, and what they should not be used for."""
    licence: str = ""
    """Name or address of the licence, such as ``CC-BY-4.0``; yours to choose."""
    creators: tuple[str, ...] = ()
    citation: str = ""
    url: str = ""
    """Where the data set will be found."""
    version: str = Field(default="1.0.0", pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")
    limits: tuple[str, ...] = ()
    """Known limits, one sentence each, beside those that can be counted."""
    demographics: tuple[str, ...] | None = None
    """Which questions about people are released; by default all but free texts, which may say who
    someone is."""
    pictures: bool = False
    """Copy the pictures into the data set; only where their licence allows it."""

    @field_validator("url")
    @classmethod
    def _https(cls, url: str) -> str:
        if url and not url.startswith(("https://", "http://")):
            raise ValueError("expected an address that starts with https://")
        return url
