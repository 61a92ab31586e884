"""Questions of a run: which picture is shown for which stimulus, how, and how often."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from affectlab.core.errors import InputError, check_choices
from affectlab.models.vlm.asking import AskSettings, question_key
from affectlab.models.vlm.material import Shown, any_stimulus
from affectlab.models.vlm.prompts import (
    Example,
    ImageLimits,
    Prompt,
    PublishedPrompt,
    Read,
    Readout,
    Stimulus,
    Style,
    Wording,
    build_prompt,
    read_answer,
    read_sign,
    shown_counts,
)
from affectlab.protocols import Protocol

__all__ = [
    "CONTROLS",
    "MAIN",
    "Design",
    "Question",
    "check_controls",
    "decoy_hints",
    "derangement",
    "make_questions",
]

# Questions that show whether a model looks: without the image, on a wrong one, with a wrong hint.
#
# The names are those of the rater attribute ``control`` that
# :func:`affectlab.evaluation.control_checks` reads.


MAIN = "none"
CONTROLS = ("no_image", "wrong_image", "decoy_hint", "repeat")
"""Controls by name; ``repeat`` asks every question of the main run twice."""


def check_controls(control: str | Sequence[str] | None) -> tuple[str, ...]:
    """Check the names of controls, each once.

    Raises
    ------
    InputError
        For a name that is none.

    Examples
    --------
    >>> check_controls("no_image"), check_controls(None)
    (('no_image',), ())
    """
    given = [control] if isinstance(control, str) else list(control or ())
    check_choices("control", given, CONTROLS)
    return tuple(dict.fromkeys(given))


def derangement(files: Sequence[Shown], seed: int) -> dict[str, Shown]:
    """Give every stimulus the picture of another one, whose content differs.

    Contents lie on a ring in an order that the seed draws for each alone, and each stimulus is
    shown the next content of the ring: none is shown its own, and every content is shown. Another
    content changes what is shown for one stimulus only, the one before it.

    Parameters
    ----------
    files
        Two contents at least.
    seed
        The same seed and files, the same pictures, whatever the order of the files.

    Returns
    -------
    Stimulus to what is shown.

    Raises
    ------
    InputError
        When all files have the same content.
    """
    first: dict[str, Shown] = {}
    for file in sorted(files, key=lambda one: one.stimulus):
        first.setdefault(file.sha256, file)
    ring = sorted(first)
    if len(ring) < 2:
        raise InputError("control 'wrong_image' needs two different images at least")
    ring.sort(key=lambda sha256: hashlib.sha256(f"wrong_image {seed} {sha256}".encode()).digest())
    other_of = dict(zip(ring, [*ring[1:], ring[0]], strict=True))
    return {file.stimulus: first[other_of[file.sha256]] for file in files}


def decoy_hints(
    stimuli: Sequence[str], labels: Sequence[str], targets: Mapping[str, str] | None, seed: int
) -> dict[str, str]:
    """Draw a label for every stimulus that is not the one it is meant to show.

    Parameters
    ----------
    labels
        Labels asked for; two at least.
    targets
        Stimulus to the label it is meant to show, where that is known; what people say decides
        about the others when the answers are judged.
    seed
        A stimulus gets the same label, whatever else is asked.

    Raises
    ------
    InputError
        When there is no other label.

    Examples
    --------
    >>> decoy_hints(["a"], ["Joy", "Fear"], {"a": "joy"}, seed=1)
    {'a': 'Fear'}
    """
    known = dict(targets or {})
    drawn = {}
    for stimulus in stimuli:
        target = str(known.get(stimulus, "")).casefold()
        others = [label for label in labels if label.casefold() != target]
        if not others or len(labels) < 2:
            raise InputError("control 'decoy_hint' needs two labels at least")
        drawn[stimulus] = random.Random(f"decoy_hint {seed} {stimulus}").choice(others)
    return drawn


@dataclass(frozen=True)
class Design:
    """How the prompts of a run are built; see :func:`build_prompt`."""

    protocol: Protocol
    style: Style = "zero-shot"
    examples: tuple[Example, ...] = ()
    at_most: int | None = None
    left_out: Literal["not rated", "zero"] | None = None
    reasons: bool = False
    structured: bool = False
    shuffle: int | None = None
    """Seed that draws the order of labels for each picture; None: the protocol's order."""
    limits: ImageLimits | None = None
    readout: Readout = "generate"
    prompt: Wording = "protocol"
    most_asks: int = 1
    """Times that a question is asked at most until its answer can be read."""

    def build(
        self, image: Stimulus | None, *, hint: str, label: str | None, order_seed: int | None
    ) -> Prompt:
        """Build the prompt of a question."""
        return build_prompt(
            self.protocol,
            image,
            style=self.style,
            examples=self.examples,
            order_seed=order_seed,
            hint=hint,
            at_most=self.at_most,
            left_out=self.left_out,
            reasons=self.reasons,
            structured=self.structured,
            label=label,
            readout=self.readout,
            prompt=self.prompt,
        )

    @property
    def labels(self) -> tuple[str | None, ...]:
        """Labels that are asked about one at a time; (None,) where all are asked at once."""
        one = self.protocol.answer == "ratings" and self.protocol.asks.per_trial == "one"
        return self.protocol.labels() if one else (None,)

    @property
    def version(self) -> str:
        """Hash of what all prompts about a picture share."""
        return self.blank().design

    def blank(self, shown: Shown | None = None) -> Prompt:
        """Build the prompt about a stimulus that stands for any, in the order of the protocol.

        Parameters
        ----------
        shown
            A stimulus of the same kind; None: of the kind that the protocol shows.
        """
        stands = any_stimulus(self.protocol, self.limits) if shown is None else None
        return _blank(self, stands or shown.stand_in(self.limits), "", self.labels[0], None)  # type: ignore[union-attr]

    def order_seed(self, sha256: str) -> int | None:
        """Draw the seed of a picture, the same whatever else is asked, and in every control."""
        if self.shuffle is None or isinstance(self.prompt, PublishedPrompt):
            return None
        return int.from_bytes(hashlib.sha256(f"{self.shuffle} {sha256}".encode()).digest()[:6])


class Question:
    """One thing to ask, and where its answer is filed."""

    __slots__ = (
        *("stimulus", "filed", "file", "control", "repeat", "hint", "label"),
        *("order_seed", "design", "key", "version", "name"),
    )

    def __init__(
        self,
        design: Design,
        stimulus: str,
        filed: str,
        file: Shown | None,
        *,
        control: str,
        repeat: int,
        hint: str,
        label: str | None,
        asked_of: Mapping[str, Any],
    ) -> None:
        self.design = design
        self.stimulus = stimulus
        self.filed = filed
        """SHA-256 of the stimulus' own file."""
        self.file = file
        """What is shown; None for nothing."""
        self.control = control
        self.repeat = repeat
        """From 1 on."""
        self.hint = hint
        self.label = label
        self.order_seed = design.order_seed(filed)
        blank = self.blank()
        self.version = blank.version
        self.name = blank.design
        own = design.prompt
        self.key = question_key(
            {
                "image": "" if file is None else file.sha256,
                "filed": filed,
                "prompt": self.version,
                **({} if isinstance(own, str) else {"prompt_sha256": own.sha256}),
                "control": control,
                "repeat": repeat,
                **asked_of,
            }
        )

    def blank(self) -> Prompt:
        """Build the prompt with a picture that stands for any: all but the stimulus is the same."""
        # Most questions of a run without shuffled labels share one.
        shown = None if self.file is None else self.file.stand_in(self.design.limits)
        return _blank(self.design, shown, self.hint, self.label, self.order_seed)

    @property
    def shows(self) -> tuple[str, ...]:
        """What is shown: picture, sound, text."""
        return () if self.file is None else self.file.shows

    @property
    def most_asks(self) -> int:
        """Times that it is asked at most until its answer can be read."""
        return self.design.most_asks

    def prompt(self, *, again: bool = False) -> Prompt:
        """Build the prompt; `again`: that of the second asking and those after it.

        Raises
        ------
        InputError
            When the picture is broken, is one of the examples, or has another content by now: its
            answer would be filed under the content that was there when the run began.
        """
        shown = None if self.file is None else self.file.show(self.design.limits)
        built = self.design.build(
            shown, hint=self.hint, label=self.label, order_seed=self.order_seed
        )
        return built.asked_again() if again else built

    def read(
        self, text: str, *, held: bool, alternatives: Mapping[str, float] | None = None
    ) -> Read:
        """Read an answer; `held` says whether the provider held the model to the schema."""
        if self.design.readout != "generate":
            shares = alternatives if self.design.readout == "logprob" else None
            return read_sign(self.blank().answers, self.label, text, shares)
        return read_answer(self.blank(), self.design.protocol, text, held=held)

    def told(self) -> dict[str, Any]:
        """Say what was asked, for readers of the ledger."""
        return {
            "stimulus": self.stimulus,
            "protocol": self.design.protocol.name,
            "prompt": self.version,
            "design": self.name,
            "image": "" if self.file is None else self.file.sha256,
            "filed": self.filed,
            "control": self.control,
            "repeat": self.repeat,
            **({"hint": self.hint} if self.hint else {}),
            **({} if self.design.readout == "generate" else {"readout": self.design.readout}),
            **_told_of(self.design.prompt),
            **({"label": self.label} if self.label is not None else {}),
            **({"order_seed": self.order_seed} if self.order_seed is not None else {}),
        }


def _told_of(prompt: Wording) -> dict[str, str]:
    """Say whose words ask, where they are not the protocol's."""
    if isinstance(prompt, str):
        return {} if prompt == "protocol" else {"wording": prompt}
    return {"wording": prompt.name, "prompt_sha256": prompt.sha256}


_cached: dict[tuple[int, Stimulus | None, str, str | None], tuple[Design, Prompt]] = {}
_MOST_CACHED = 256


def _blank(
    design: Design, shown: Stimulus | None, hint: str, label: str | None, seed: int | None
) -> Prompt:
    if seed is not None:
        return design.build(shown, hint=hint, label=label, order_seed=seed)
    place = (id(design), shown, hint, label)
    held = _cached.get(place)
    # The design is kept beside its prompt, so that nothing else gets its number.
    if held is None or held[0] is not design:
        if len(_cached) >= _MOST_CACHED:
            _cached.clear()
        held = (design, design.build(shown, hint=hint, label=label, order_seed=None))
        _cached[place] = held
    return held[1]


def make_questions(
    design: Design,
    files: Sequence[Shown],
    model: str,
    settings: AskSettings,
    *,
    controls: Sequence[str] = (),
    repeats: int = 1,
    seed: int = 0,
    targets: Mapping[str, str] | None = None,
    hints: Mapping[str, str] | None = None,
) -> Iterator[Question]:
    """Give the questions of a run: the main ones first, then those of each control.

    Parameters
    ----------
    repeats
        Times that each question of the main run is asked.
    hints
        Stimulus to the label hinted at in the main run.

    Raises
    ------
    InputError
        When a control needs more images or labels than there are.
    """
    if not shown_counts(design.protocol)[0] and set(controls) & {"no_image", "wrong_image"}:
        raise InputError(
            f"controls without the right picture: protocol {design.protocol.name!r} shows none; "
            "expected decoy_hint or repeat"
        )
    asked_of = {"model": model, "settings": settings.sent()}
    # A control is compared with the first answer: twice would cost as much again for nothing.
    times = {MAIN: repeats}
    names = [file.stimulus for file in files]
    for control in (MAIN, *(name for name in controls if name != "repeat")):
        wrong = derangement(files, seed) if control == "wrong_image" else {}
        given = dict(hints or {})
        if control == "decoy_hint":
            given = decoy_hints(names, design.protocol.labels(), targets, seed)
        for repeat in range(1, times.get(control, 1) + 1):
            for file in files:
                other = wrong.get(file.stimulus)
                # A caption stays with its stimulus, whatever picture is beside it.
                seen = file if other is None else replace(file, files=other.files)
                if control == "no_image":
                    seen = replace(file, files=())
                for label in design.labels:
                    yield Question(
                        design,
                        file.stimulus,
                        file.sha256,
                        seen if seen.files or seen.texts else None,
                        control=control,
                        repeat=repeat,
                        hint=given.get(file.stimulus, ""),
                        label=label,
                        asked_of=asked_of,
                    )
