"""A study as its file describes it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from affectlab.core.errors import InputError, check_once
from affectlab.core.files.media import WEB_IMAGES
from affectlab.core.files.toml import read_toml
from affectlab.protocols import Part, Protocol, Question, load_protocol
from affectlab.study.design.golden import with_golden

if TYPE_CHECKING:
    pass


__all__ = [
    "FRAMES",
    "TYPES",
    "Consent",
    "Demographic",
    "Demographics",
    "Design",
    "Eligibility",
    "Frame",
    "Head",
    "Pilot",
    "ProtocolChoice",
    "Quiz",
    "QuizQuestion",
    "Recruitment",
    "Release",
    "Sessions",
    "Stimuli",
    "Study",
    "check_bundling",
    "check_frame",
    "frame_files",
    "frame_fingerprint",
    "load_study",
]

# The tables of a study file: what is asked, of whom, and how the work is shared out.


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
        check_once("question", (question.name for question in self.questions))
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
        if isinstance(stimuli, tuple):
            check_once("stimulus", stimuli)
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


# Pages of a study's own: which files they are made of, and how much an answer may hold.


FRAMES = "/frame/"
"""Where the addresses of studies' own pages begin."""

TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".csv": "text/csv",
    ".txt": "text/plain",
    **WEB_IMAGES,
    ".svg": "image/svg+xml",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".ogg": "audio/ogg",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".woff2": "font/woff2",
}
"""Suffixes of files that are served to a page of one's own, and their types."""

_MOST_FILES = 2000


class Frame(Part):
    """A page of the study's own, such as a jsPsych timeline, that runs in a frame."""

    folder: str = Field(min_length=1)
    """Folder of its files, beside the study file; nothing else is served to it."""
    scripts: tuple[str, ...] = Field(min_length=1)
    """Scripts of the folder, in the order in which they are run."""
    styles: tuple[str, ...] = ()
    """Style sheets of the folder."""
    columns: tuple[str, ...] = ()
    """Columns of the table of stimuli that the page is given; the others stay with you."""
    largest_kb: int = Field(default=256, ge=1, le=4096)
    """Most kilobytes that the recorded trials of one run may take."""

    @field_validator("scripts", "styles")
    @classmethod
    def _plain(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            parts = PurePosixPath(name).parts
            if not parts or name.startswith("/") or ".." in parts or "\\" in name:
                raise ValueError(f"{name!r}: expected a path inside the folder")
        return names

    @model_validator(mode="after")
    def _fits(self) -> Frame:
        for name in self.scripts:
            if PurePosixPath(name).suffix != ".js":
                raise ValueError(
                    f"scripts: {name!r} is no script; expected a name that ends in .js"
                )
        for name in self.styles:
            if PurePosixPath(name).suffix != ".css":
                raise ValueError(f"styles: {name!r}: expected a name that ends in .css")
        return self


def check_frame(study: Study) -> None:
    """Check that a study that needs a page of its own has one, and its files are there.

    Raises
    ------
    InputError
        One sentence that names the file, the key and what was expected.
    """
    frame = study.design.frame
    if (study.protocol.answer == "trials") != (frame is not None):
        raise InputError(
            f"{study.path}: protocol {study.protocol.name!r} runs a page of your own; expected a "
            "table [frame] with folder and scripts"
            if frame is None
            else f"{study.path}: frame: protocol {study.protocol.name!r} has pages already; "
            'expected protocol.name = "jspsych"'
        )
    if frame is None:
        return
    files = frame_files(study)
    for key in ("scripts", "styles"):
        for name in getattr(frame, key):
            if name not in files:
                raise InputError(
                    f"{study.path}: frame.{key}: {name!r} is not in {study.place(frame.folder)}"
                )


def frame_files(study: Study) -> dict[str, Path]:
    """Find the files that are served to a study's own page, by their path below its folder.

    Files of other kinds, hidden ones, and links that lead out of the folder are left out.

    Raises
    ------
    InputError
        When the folder is not there, or holds too many files.
    """
    frame = study.design.frame
    if frame is None:
        return {}
    folder = study.place(frame.folder)
    if not folder.is_dir():
        raise InputError(
            f"{study.path}: frame.folder = {frame.folder!r}: {folder} is no folder; expected one "
            "beside the study file"
        )
    root = folder.resolve()
    found = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if hidden or file.suffix.lower() not in TYPES or not file.is_file():
            continue
        if file.resolve().is_relative_to(root):
            found[name.as_posix()] = file
        if len(found) > _MOST_FILES:
            raise InputError(
                f"{study.path}: frame.folder = {frame.folder!r} holds more than {_MOST_FILES} "
                "files; expected the page's own files only"
            )
    return found


def frame_fingerprint(study: Study) -> str:
    """Digest of all files of a study's own page, which decide about its data; empty without one."""
    made = hashlib.sha256()
    files = frame_files(study)
    for name, file in files.items():
        made.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    return made.hexdigest() if files else ""


class Design(Part):
    """The content of a study file."""

    study: Head
    protocol: ProtocolChoice
    stimuli: Stimuli
    frame: Frame | None = None
    """A page of one's own, for protocol ``jspsych``."""
    sessions: Sessions = Sessions()
    consent: Consent | None = None
    demographics: Demographics = Demographics()
    instructions: str = ""
    """Instead of the instructions of the protocol."""
    quiz: Quiz = Quiz()
    recruitment: Recruitment = Recruitment()
    eligibility: Eligibility = Eligibility()
    pilot: Pilot | None = None
    release: Release = Release()
    policy: str = ""
    """Name or path of a screening policy, for the dashboard and the report. One that looks at
    sessions one by one also judges them as they are completed, instead of the protocol's checks."""
    thanks: str = Field(default="", max_length=2000)
    """Shown at the end, above the completion code."""


@dataclass(frozen=True)
class Study:
    """A design, with its file and its protocol.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "faces.toml"
    >>> _ = file.write_text('''
    ... [study]
    ... name = "faces"
    ... title = "What do these faces show?"
    ... [protocol]
    ... name = "intensity"
    ... change = { asks = { taxonomy = "mikels", group_by = [] } }
    ... [stimuli]
    ... faces = 12
    ... ''')
    >>> study = load_study(file)
    >>> study.protocol.labels()[0], study.state.name
    ('amusement', 'faces.affectlab')
    """

    path: Path
    design: Design
    protocol: Protocol
    text: str
    """The file as it was read."""

    @property
    def state(self) -> Path:
        """Folder in which the study keeps its data."""
        return self.path.with_suffix(".affectlab")

    @property
    def fingerprint(self) -> str:
        """Digest of the file, which tells whether it was changed since the study began."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def widget(self) -> str:
        """The widget that pages show."""
        return self.design.protocol.widget or self.protocol.input.widget

    @property
    def instructions(self) -> str:
        """What participants read before the first trial."""
        return (self.design.instructions or self.protocol.instructions).strip()

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Wordings of the protocol, in the order of its labels."""
        return self.protocol.questions()

    def worded(self, language: str) -> Study:
        """Give the study with its protocol's texts in a language, as far as they are translated."""
        return self._worded.get(language, self)

    @cached_property
    def _worded(self) -> dict[str, Study]:
        return {
            language: replace(self, protocol=self.protocol.in_language(language))
            for language in self.design.study.languages
            if language in self.protocol.translations
        }

    @property
    def policy_place(self) -> str | Path:
        """Name of the screening policy, or where its file is."""
        named = self.design.policy
        return self.place(named) if named.endswith(".toml") else named

    def place(self, name: str) -> Path:
        """Path that the study file names, relative to its own folder."""
        return self.path.parent / name


def load_study(path: str | Path) -> Study:
    """Read a study file, and check everything that can be checked without asking anyone.

    Raises
    ------
    InputError
        One sentence that names the file, the key, the value and what was expected.
    """
    path = Path(path)
    design = read_toml(path, Design)
    protocol = _protocol_of(design, path)
    study = Study(path, design, protocol, path.read_text(encoding="utf-8-sig"))
    allowed = (protocol.input.widget, *protocol.input.alternatives)
    if study.widget not in allowed:
        raise InputError(
            f"{path}: protocol.widget = {study.widget!r}: protocol {protocol.name!r} allows: "
            f"{', '.join(allowed)}"
        )
    check_frame(study)
    check_bundling(study)
    for key in ("folder", "table", "golden"):
        named = getattr(design.stimuli, key)
        if named is not None and not study.place(named).exists():
            raise InputError(
                f"{path}: stimuli.{key} = {named!r}: {study.place(named)} is not there"
            )
    study = _with_golden(study)
    if design.policy:
        from affectlab.reliability import load_policy

        try:
            load_policy(study.policy_place)
        except InputError as error:
            raise InputError(f"{path}: policy: {error}") from None
    return study


def _with_golden(study: Study) -> Study:
    """Give a study that names known answers with the number of golden trials of a session."""
    protocol, stimuli = study.protocol, study.design.stimuli
    # A staircase takes none, and drawn pairs bring their own.
    drawn = protocol.stimulus == "image pair" and stimuli.faces is not None
    if stimuli.golden is None or protocol.staircase is not None or drawn:
        return study
    golden = study.place(stimuli.golden)
    return replace(study, protocol=with_golden(protocol, golden, stimuli.training, study.path))


def _protocol_of(design: Design, path: Path) -> Protocol:
    chosen = design.protocol
    # A name with a suffix is a file beside the study file.
    named = path.parent / chosen.name if chosen.name.endswith(".toml") else chosen.name
    try:
        protocol = load_protocol(named)
        changes = dict(chosen.change)
        if design.sessions.raters is not None:
            if protocol.routing.confirmations is not None:
                raise InputError(
                    "sessions.raters: a chain of confirmations asks one rater after another; "
                    "set protocol.change.routing.confirmations"
                )
            changes["routing"] = {**changes.get("routing", {}), "raters": design.sessions.raters}
        return protocol.revise(**changes) if changes else protocol
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def check_bundling(study: Study) -> None:
    """Check that a study which keeps batches whole can do so.

    Raises
    ------
    InputError
        When there is no table that could name batches, or answers decide how many raters a single
        stimulus needs.
    """
    column = study.design.sessions.batch
    if column is None:
        return
    if study.design.stimuli.table is None:
        raise InputError(
            f"{study.path}: sessions.batch = {column!r} names a column of stimuli.table, which is "
            "not given; expected a table"
        )
    routing = study.protocol.routing
    if routing.confirmations is not None or routing.extra_raters:
        key = "confirmations" if routing.confirmations is not None else "extra_raters"
        raise InputError(
            f"{study.path}: sessions.batch = {column!r}: protocol {study.protocol.name!r} asks for "
            f"more raters of single stimuli ({key} = {getattr(routing, key)}), which does not go "
            f"with whole batches; change protocol.change.routing.{key}, or leave out sessions.batch"
        )
