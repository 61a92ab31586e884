"""The encoder that heads were trained on, found again by its card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.errors import InputError

if TYPE_CHECKING:
    from affectlab.models.embedding import Encoder, EncoderCard

__all__ = ["encoder_of"]


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
    from affectlab.models.embedding import list_encoders, load_encoder

    base, family = card.name.partition(":")[0], _family(card.name)
    where: Any = card.name if given is None else given
    # A folder that happens to be called as an encoder is, such as faces/, is not meant.
    named = isinstance(where, str) and where in (card.name, *list_encoders())
    if isinstance(where, str | Path) and not named and Path(where).is_dir():
        where = f"{base}:{where}"
    elif isinstance(where, Path):
        raise InputError(f"encoder {str(where)!r}: no such folder")
    settings: dict[str, Any] = {}
    if isinstance(where, str):
        settings = _settings(card, family) if _family(where) == family else {}
        settings |= {} if device == "auto" else {"device": device}
    made = load_encoder(where, **settings)
    if not card.same(made):
        raise InputError(
            f"encoder {made.name!r} ({made.fingerprint[:12]}) is not the one that the heads were "
            f"trained on, {card.name!r} ({card.fingerprint[:12]}); say where that one lies with "
            "encoder= (--encoder)"
        )
    return made


def _family(name: str) -> str:
    """Give the encoder of a name; short names of checkpoints are all of one family."""
    from affectlab.models.embedding._load import PLACES

    base = name.partition(":")[0]
    return "transformers" if base in PLACES else base


def _settings(card: EncoderCard, base: str) -> dict[str, Any]:
    """Give the settings on a card that can be chosen; others only describe what was loaded."""
    from affectlab.models.embedding import _settings as known

    models: dict[str, Any] = {
        "faces": known.FaceSettings,
        "hog": known.HogSettings,
        "lbp": known.LbpSettings,
        "texts": known.TextSettings if ":" not in card.name else known.NoSettings,
    }
    fields = models.get(base, known.TransformersSettings).model_fields
    here = {"device", "batch"}
    return {
        name: value for name, value in card.settings.items() if name in fields and name not in here
    }
