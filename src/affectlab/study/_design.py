"""A study as its file describes it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import Field

from affectlab.errors import InputError
from affectlab.protocols import Part, Protocol, Question, load_protocol
from affectlab.study._bundles import check_bundling
from affectlab.study._frames import Frame, check_frame
from affectlab.study._golden import with_golden
from affectlab.study._parts import (
    Consent,
    Demographics,
    Eligibility,
    Head,
    Pilot,
    ProtocolChoice,
    Quiz,
    Recruitment,
    Release,
    Sessions,
    Stimuli,
)
from affectlab.toml import read_toml

__all__ = ["Design", "Study", "load_study"]


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
