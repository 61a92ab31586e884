"""Reading solved examples from a folder or a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from affectlab.errors import InputError
from affectlab.models.vlm._examples import Example
from affectlab.models.vlm._prompt_image import ImageLimits, ImagePart, image_part
from affectlab.models.vlm._prompt_stimulus import Option, Stimulus
from affectlab.protocols import Protocol
from affectlab.toml import read_toml

__all__ = ["read_examples"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class _Option(_Table):
    text: str = ""
    image: str | None = None
    labels: tuple[str, ...] = ()


class _One(_Table):
    answer: Any
    image: str | None = None
    images: tuple[str, ...] = ()
    text: str | None = None
    options: tuple[_Option, ...] = ()
    described: str = ""
    reason: str = ""
    reasons: dict[str, str] = Field(default_factory=dict)
    label: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> _One:
        if self.image is not None and self.images:
            raise ValueError("image and images say the same; expected one of them")
        if self.reason and self.reasons:
            raise ValueError("reason and reasons say the same; expected one of them")
        return self


class _File(_Table):
    protocol: str | None = None
    examples: tuple[_One, ...] = Field(min_length=1)


def read_examples(
    path: str | Path, protocol: Protocol, *, limits: ImageLimits | None = None
) -> tuple[Example, ...]:
    """Read solved examples.

    Parameters
    ----------
    path
        A TOML file, or a folder with ``examples.toml``. Each ``[[examples]]`` has an ``answer`` as
        the protocol takes it, what it shows (``image``, ``images``, ``text``, ``options`` or
        ``described``), and where they belong ``reason`` or ``reasons`` and ``label``. Pictures are
        found relative to the file.
    protocol
        What the examples must answer.
    limits
        How pictures are encoded.

    Raises
    ------
    InputError
        When the file or a picture cannot be read, or an answer breaks the protocol.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.protocols import load_protocol
    >>> text = '[[examples]]\\nanswer = {Awe = 6}\\ndescribed = "Eyes and mouth wide open."'
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "examples.toml").write_text(text)
    ...     read_examples(folder, load_protocol("intensity"))[0].answer
    {'Awe': 6}
    """
    path = Path(path)
    if path.is_dir():
        path = path / "examples.toml"
    content = read_toml(path, _File)
    if content.protocol is not None and content.protocol != protocol.name:
        raise InputError(
            f"{path}: the examples answer protocol {content.protocol!r}, not {protocol.name!r}"
        )
    found = []
    for number, one in enumerate(content.examples, start=1):
        where = f"{path}, example {number}"
        problems = protocol.check(one.answer)
        if problems:
            raise InputError(f"{where}: {problems[0]}")
        found.append(
            Example(
                one.answer,
                _stimulus(one, path.parent, limits, where),
                described=one.described,
                reasons={"": one.reason} if one.reason else one.reasons,
                label=one.label,
                name=where,
            )
        )
    return tuple(found)


def _stimulus(one: _One, folder: Path, limits: ImageLimits | None, where: str) -> Stimulus:
    def part(file: str) -> ImagePart:
        place = folder / file
        if not place.is_file():
            raise InputError(f"{where}: image {file!r}: no such file")
        return image_part(place, limits=limits)

    files = one.images if one.image is None else (one.image,)
    return Stimulus(
        images=tuple(part(file) for file in files),
        texts=() if one.text is None else (one.text,),
        options=tuple(
            Option(option.text, None if option.image is None else part(option.image), option.labels)
            for option in one.options
        ),
    )
