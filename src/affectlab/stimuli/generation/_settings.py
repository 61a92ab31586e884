"""Settings of a generator, checked against a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from affectlab.errors import InputError, unknown_name

__all__ = ["read_settings"]

Model = TypeVar("Model", bound=BaseModel)


def read_settings(model: type[Model], given: Mapping[str, Any], generator: str) -> Model:
    """Check the settings of a generator.

    Raises
    ------
    InputError
        When one is not known or has a value that cannot be used.
    """
    where = f"image generator {generator!r}"
    for name in given:
        if name not in model.model_fields:
            raise unknown_name("setting", name, model.model_fields, where)
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{where}: {name} = {first['input']!r}: {said[:1].lower()}{said[1:]}"
        ) from None
