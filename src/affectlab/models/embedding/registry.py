"""Encoders by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.files.toml import check_settings
from affectlab.core.registry import Factories
from affectlab.models.embedding.card import PROBE
from affectlab.models.embedding.encoder import DEFAULT_BATCH, Encoder, Kind, check_encoder, digest
from affectlab.models.embedding.published import LAYOUTS
from affectlab.models.embedding.settings import (
    FaceSettings,
    HogSettings,
    LbpSettings,
    NoSettings,
    OpenClipSettings,
    PublishedSettings,
    TextSettings,
    TowerSettings,
    TransformersSettings,
)
from affectlab.models.runs import META

if TYPE_CHECKING:
    from affectlab.models.embedding.card import EncoderCard


__all__ = [
    "PLACES",
    "FunctionEncoder",
    "encoder_of",
    "list_encoders",
    "load_encoder",
    "of_function",
]

# Functions as encoders.


_TEXTS = ("so happy for you", "this is not what we agreed on", "…")
_SIDE = 96
_PROBED = 16
"""Numbers of a row that are remembered."""


@dataclass(frozen=True)
class FunctionEncoder:
    """An encoder made of a function; see :func:`load_encoder`."""

    name: str
    kind: Kind
    width: int
    fingerprint: str
    function: Callable[[Any], Any] = field(repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    batch: int = DEFAULT_BATCH

    def encode(self, batch: Sequence[Any]) -> NDArray[np.float32]:
        """Give one row per input, shape (n, width)."""
        return np.asarray(self.function(batch), dtype=np.float32)


def of_function(
    function: Callable[[Any], Any],
    *,
    name: str,
    kind: Any = "",
    version: str = "",
    batch: Any = None,
) -> FunctionEncoder:
    """Make an encoder of a function from a list of images, or texts, to rows of numbers.

    Its width is seen from what it gives for fixed inputs; so is whether it is still the same, where
    no version says so.

    Parameters
    ----------
    kind, version, batch
        By default the attributes of the function.

    Raises
    ------
    InputError
        When it fails on these inputs, or gives no rows of numbers.
    """
    where = f"encoder {name!r}"
    kind = kind or getattr(function, "kind", "image")
    if kind not in ("image", "text"):
        raise InputError(f"{where}: kind {kind!r}; expected 'image' or 'text'")
    version = str(version or getattr(function, "version", ""))
    batch = batch or getattr(function, "batch", DEFAULT_BATCH)
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise InputError(f"{where}: batch {batch!r}; expected a whole number from 1 on")
    probes: Any = list(_TEXTS) if kind == "text" else _pictures()
    rows = _tried(function, probes, where)
    settings: dict[str, Any]
    if version:
        # Who gives a version says by it what the numbers are; their last digits do not matter.
        seen, settings = b"", {"version": version}
    else:
        seen = (np.round(rows.astype(np.float64), 4) + 0.0).tobytes()
        settings = {PROBE: _probe(rows)}
    return FunctionEncoder(
        name,
        kind,
        int(rows.shape[1]),
        digest("function", name, kind, version, str(rows.shape[1]), seen),
        function,
        settings,
        batch,
    )


def _tried(function: Callable[[Any], Any], probes: Sequence[Any], where: str) -> NDArray[Any]:
    try:
        rows = np.asarray(function(probes), dtype=np.float32)
    # The function is anybody's code.
    except Exception as error:
        raise InputError(
            f"{where} fails on {len(probes)} inputs ({type(error).__name__}: {error})"
        ) from error
    if rows.ndim != 2 or len(rows) != len(probes) or rows.shape[1] < 1:
        raise InputError(
            f"{where} gave an array of shape {rows.shape} for {len(probes)} inputs; expected "
            f"({len(probes)}, width)"
        )
    return rows


def _probe(rows: NDArray[np.float32]) -> list[float]:
    """Choose some numbers of each row, with six digits."""
    columns = np.unique(np.linspace(0, rows.shape[1] - 1, _PROBED).astype(int))
    return [float(f"{value:.6g}") for value in rows[:, columns].ravel()]


def _pictures() -> list[Any]:
    """Three pictures that are always the same: slopes of colour, rings, and grey."""
    from PIL import Image

    row, column = np.mgrid[0:_SIDE, 0:_SIDE]
    slopes = np.stack([row * 2, column * 2, 255 - row - column], axis=-1)
    rings = ((row - 48) ** 2 + (column - 40) ** 2) // 20 % 256
    found = [slopes, np.stack([rings, rings // 2, 255 - rings], axis=-1)]
    return [
        *(Image.fromarray(part.astype(np.uint8)) for part in found),
        Image.new("RGB", (_SIDE, _SIDE), (128, 128, 128)),
    ]


PLACES: Mapping[str, str] = {
    "siglip2": "google/siglip2-so400m-patch14-384",
    "clip": "openai/clip-vit-base-patch16",
    "dinov2": "facebook/dinov2-base",
}
"""Checkpoints that short names stand for."""
_ELSEWHERE = {"device": ("auto", "cpu"), "precision": ("auto", "fp32")}
"""What may be said to encoders that compute nowhere else."""


def _faces(**settings: Any) -> Encoder:
    from affectlab.models.embedding.offline_images import faces_encoder

    check_settings(FaceSettings, _here("faces", settings), "encoder 'faces'")
    return faces_encoder()


def _hog(**settings: Any) -> Encoder:
    from affectlab.models.embedding.offline_images import hog_encoder

    return hog_encoder(check_settings(HogSettings, _here("hog", settings), "encoder 'hog'"))


def _lbp(**settings: Any) -> Encoder:
    from affectlab.models.embedding.offline_images import lbp_encoder

    return lbp_encoder(check_settings(LbpSettings, _here("lbp", settings), "encoder 'lbp'"))


def _texts(place: str = "", **settings: Any) -> Encoder:
    given = _here("texts", settings)
    if place:
        from affectlab.models.embedding.offline_texts import load_text_encoder

        check_settings(NoSettings, given, f"encoder 'texts:{place}'")
        return load_text_encoder(Path(place))
    from affectlab.models.embedding.offline_texts import HashedTexts

    chosen = check_settings(TextSettings, given, "encoder 'texts'")
    return HashedTexts(chosen.width, chosen.seed)


def _behind_colon(name: str, place: str, what: str) -> str:
    """Say how errors call an encoder that a place belongs to; refuse one without."""
    if not place:
        raise InputError(f"encoder {name!r}: expected {what} behind a colon")
    return f"encoder '{name}:{place}'"


def _transformers(place: str = "", **settings: Any) -> Encoder:
    what = "a folder, or a checkpoint such as google/siglip2-base-patch16-224,"
    where = _behind_colon("transformers", place, what)
    from affectlab.models.embedding.towers import transformers_encoder

    return transformers_encoder(place, check_settings(TransformersSettings, settings, where))


def _timm(place: str = "", **settings: Any) -> Encoder:
    where = _behind_colon("timm", place, "a model such as resnet50.a1_in1k")
    from affectlab.models.embedding.libraries import timm_encoder

    return timm_encoder(place, check_settings(TowerSettings, settings, where))


def _open_clip(place: str = "", **settings: Any) -> Encoder:
    where = _behind_colon("open_clip", place, "a model and its weights such as RN50/openai")
    from affectlab.models.embedding.libraries import open_clip_encoder

    return open_clip_encoder(place, check_settings(OpenClipSettings, settings, where))


def _published(place: str = "", layout: str = "", **settings: Any) -> Encoder:
    where = _behind_colon(layout, place, "a file of weights")
    from affectlab.models.embedding.published import published_encoder

    chosen = check_settings(PublishedSettings, settings, where)
    return published_encoder(Path(place), layout, chosen)


def _path(path: Path, **settings: Any) -> Encoder:
    """Take a folder, or a file of weights, for what it holds."""
    if path.is_file():
        from affectlab.models.embedding.published import published_encoder

        chosen = check_settings(PublishedSettings, settings, f"encoder {str(path)!r}")
        return published_encoder(path, "", chosen)
    if (path / META).is_file():
        return _texts(str(path), **settings)
    if any((path / name).is_file() for name in ("config.json", "modules.json")):
        return _transformers(str(path), **settings)
    raise InputError(
        f"encoder {str(path)!r} holds neither config.json nor {META}; expected the folder of a "
        "checkpoint, or of an encoder of texts that was fitted, or a file of weights"
    )


def _accepted(found: Any, where: str) -> Encoder | None:
    return check_encoder(found, where) if hasattr(found, "encode") else None


_ENCODERS = Factories[Encoder](
    kind="encoder",
    group="affectlab.encoders",
    accept=_accepted,
    expected="an encoder or a function",
    of_function=of_function,
    place="place",
    of_path=_path,
    ours={
        "faces": _faces,
        "hog": _hog,
        "lbp": _lbp,
        "texts": _texts,
        **{name: partial(_transformers, place=place) for name, place in PLACES.items()},
        "transformers": _transformers,
        "timm": _timm,
        "open_clip": _open_clip,
        **{one.name: partial(_published, layout=one.name) for one in LAYOUTS},
    },
)


def list_encoders() -> tuple[str, ...]:
    """Names that :func:`load_encoder` knows, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.encoders`` that leads to a
    function: it is given what stands behind the colon of the name, if anything does, and the
    settings by name, and gives an :class:`Encoder`, or a function from images or texts to rows.

    Examples
    --------
    >>> list_encoders()[:4]
    ('faces', 'hog', 'lbp', 'texts')
    """
    return _ENCODERS.names()


def load_encoder(
    encoder: str | Encoder | Callable[[Any], Any] = "faces", **settings: Any
) -> Encoder:
    """Find an encoder.

    Parameters
    ----------
    encoder
        For images without any weights: ``"faces"``, directions of edges and local patterns in
        centred faces; ``"hog"`` and ``"lbp"``, either alone. For texts without any weights:
        ``"texts"``, words and pieces of words in a fixed projection. With weights:
        ``"transformers:PLACE"``, a checkpoint of the transformers library, from a folder or by its
        name on the hub, of which a local copy is taken where there is one; ``"siglip2"``,
        ``"clip"`` and ``"dinov2"`` are short for checkpoints in common use, ``"siglip2:FOLDER"`` is
        a copy of yours. A file of weights as its authors publish it, or ``"LAYOUT:FILE"``, such as
        ``"farl:FILE"``, where its weights do not tell what it is. ``"timm:NAME"`` and
        ``"open_clip:NAME/PRETRAINED"``, where these libraries are installed. A folder: of a
        checkpoint, or one that :func:`fit_text_encoder` has fitted (``"texts:FOLDER"``). The name
        of an entry point of another package. An encoder, which is given back; or a function from a
        list of images, or of texts, to rows of numbers.
    **settings
        Of an encoder by name. ``hog``: `size`, `cell`, `orientations`. ``lbp``: `size`, `grid`,
        `radii`. ``texts``: `width`, `seed`. ``transformers``: `kind`, `pooling`, `device`,
        `precision`, `batch`, `max_tokens`. A file of weights: `pooling`, `heads`, `device`,
        `precision`, `batch`. ``timm`` and ``open_clip``: `device`, `precision`, `batch`, and
        `kind` of the latter. A function: `name`, `kind`, `version`, `batch`.
        `device` and `precision` may be ``"auto"`` for any encoder.

    Raises
    ------
    InputError
        When the name or a setting is not known, or the encoder cannot be loaded.
    MissingDependencyError
        When it needs libraries that are not installed.

    Examples
    --------
    >>> load_encoder("texts", width=64).encode(["so happy"]).shape
    (1, 64)
    >>> load_encoder("face")
    Traceback (most recent call last):
    affectlab.InputError: unknown encoder 'face'; did you mean 'faces'?
    """
    given = {
        name: value
        for name, value in settings.items()
        if not (name in _ELSEWHERE and value == "auto")
    }
    return _ENCODERS.make(encoder, given)


def _here(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Take out device and precision, which this encoder has no choice of."""
    for key, known in _ELSEWHERE.items():
        if settings.get(key, known[0]) not in known:
            raise InputError(
                f"encoder {name!r}: {key} = {settings[key]!r}; it computes on the CPU in fp32, "
                f"expected {known[0]!r} or {known[1]!r}"
            )
    return {key: value for key, value in settings.items() if key not in _ELSEWHERE}


# The encoder that heads were trained on, found again by its card.


def encoder_of(card: EncoderCard, given: Any = None, device: str = "auto") -> Encoder:
    """Load the encoder of a card, and check that it is the very same.

    Parameters
    ----------
    given
        The encoder, a name of one, or the folder it lies in; None: the name on the card.
    device
        Where it computes.

    Raises
    ------
    InputError
        When it cannot be loaded, or its fingerprint is another.
    """

    base, family = card.name.partition(":")[0], _family_of(card.name)
    where: Any = card.name if given is None else given
    # A folder that happens to be called as an encoder is, such as faces/, is not meant.
    named = isinstance(where, str) and where in (card.name, *list_encoders())
    if isinstance(where, str | Path) and not named and Path(where).exists():
        where = f"{base}:{where}"
    elif isinstance(where, Path):
        raise InputError(f"encoder {str(where)!r}: no such folder or file")
    if given is None and base not in list_encoders():
        # Cards come from others: what they name is never looked up in modules.
        raise unknown_name("encoder", card.name, list_encoders())
    settings: dict[str, Any] = {}
    if isinstance(where, str):
        settings = _settings_of_card(card, family) if _family_of(where) == family else {}
        settings |= {} if device == "auto" else {"device": device}
    made = load_encoder(where, **settings)
    if not card.same(made):
        raise InputError(
            f"encoder {made.name!r} ({_told(made, card)}) is not the one that the heads were "
            f"trained on, {card.name!r} ({_told(card, card)}); say where that one lies with "
            "encoder= (--encoder, or --set encoder=FOLDER of rate)"
        )
    return made


def _told(one: Encoder | EncoderCard, card: EncoderCard) -> str:
    """Say what tells an encoder from that of a card: its fingerprint, or else its settings."""
    if card.fingerprint:
        return one.fingerprint[:12]
    told = ", ".join(f"{key} {one.settings.get(key)}" for key in card.settings)
    return f"width {one.width}, {told}"


def _family_of(name: str) -> str:
    """Give the encoder of a name; short names of checkpoints are all of one family."""

    base = name.partition(":")[0]
    return "transformers" if base in PLACES else base


def _settings_of_card(card: EncoderCard, base: str) -> dict[str, Any]:
    """Give the settings on a card that can be chosen; others only describe what was loaded."""
    models: dict[str, Any] = {
        "faces": FaceSettings,
        "hog": HogSettings,
        "lbp": LbpSettings,
        "texts": TextSettings if ":" not in card.name else NoSettings,
        "timm": TowerSettings,
        "open_clip": OpenClipSettings,
        **{one.name: PublishedSettings for one in LAYOUTS},
    }
    fields = models.get(base, TransformersSettings).model_fields
    here = {"device", "batch"}
    return {
        name: value for name, value in card.settings.items() if name in fields and name not in here
    }
