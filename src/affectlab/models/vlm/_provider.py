"""Asking one model once, through inspect-ai's providers, and seeing what came back as it was."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import sys
import time
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from affectlab.errors import InputError, MissingDependencyError
from affectlab.models.vlm._ask_settings import AskSettings
from affectlab.models.vlm._failures import Failure, failure_of
from affectlab.models.vlm._prompt import Prompt
from affectlab.models.vlm._reply import Reply, left_out, reply_of
from affectlab.models.vlm._schema import strict_schema
from affectlab.models.vlm._secrets import Secrets

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig

__all__ = ["Provider", "need_inspect"]

_OPTIONAL = ("temperature", "top_p", "seed")
"""Settings that inspect-ai leaves out for models that do not take them."""
_OWN_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})


def need_inspect() -> None:
    """Check that inspect-ai is installed.

    Raises
    ------
    MissingDependencyError
        When it is not.
    """
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            f"asking vision-language models needs inspect-ai, which cannot be imported ({error}); "
            'install it with: pip install "affectlab[vlm]"'
        ) from None


class Provider:
    """A model of inspect-ai, asked without any retry but ours.

    inspect-ai would try again for ever by default, and hide the statuses of what failed; the
    libraries of providers would try twice more beneath it. So the provider's own ``generate`` is
    called, below the layer that retries, and the library is told not to try again. That layer also
    keeps a transcript with every picture, asks hooks, and sends telemetry where the environment
    says so; none of this happens here.

    Parameters
    ----------
    model
        Model string, such as ``openai/gpt-4o-mini``.

    Raises
    ------
    InputError
        When the model string, the key or a library of the provider is missing or wrong.
    """

    def __init__(self, model: str, settings: AskSettings) -> None:
        need_inspect()
        key = _key(model, settings)
        self.secrets = Secrets([key])
        self.model = model
        self._settings = settings
        self._model = _open(model, settings, key, self.secrets)
        self._api = self._model.api
        self.secrets = Secrets([key, getattr(self._api, "api_key", None)])
        self.hidden_retries = _no_retries(self._api)
        """Whether the provider's library may try again where we cannot see it."""

    async def ask(self, prompt: Prompt) -> Reply:
        """Ask once.

        Raises
        ------
        InputError
            When inspect-ai cannot put the question to this provider at all.
        """
        begun = time.monotonic()
        messages, config = _messages(prompt), self._config(prompt)
        try:
            async with asyncio.timeout(self._settings.timeout):
                result = await self._api.generate(messages, [], "none", config)
        # Any provider's library may raise anything; what it means is looked up.
        except Exception as error:  # noqa: BLE001
            return Reply(failure=self._failure(error), seconds=time.monotonic() - begun)
        output, call = result if isinstance(result, tuple) else (result, None)
        seconds = time.monotonic() - begun
        if isinstance(output, Exception):
            return Reply(failure=self._failure(output), seconds=seconds)
        wanted = [name for name in _OPTIONAL if getattr(config, name) is not None]
        return replace(reply_of(output, call, seconds), not_sent=left_out(call, wanted))

    def _failure(self, error: Exception) -> Failure:
        found = failure_of(error)
        if found is not None:
            return found
        if isinstance(error, ImportError | NotImplementedError) or _is_prerequisite(error):
            raise InputError(
                f"model {self.model!r} cannot be asked: {self.secrets.clean(_line(error))}"
            ) from None
        # The library stumbled over what the server sent: no answer that could be used arrived.
        kind = type(error).__name__
        return Failure(f"the reply cannot be read ({kind}: {_line(error)[:300]})")

    def _config(self, prompt: Prompt) -> GenerateConfig:
        from inspect_ai.model import GenerateConfig, ResponseSchema
        from inspect_ai.util import JSONSchema

        settings = self._settings
        schema = None
        if prompt.structured:
            wanted = JSONSchema.model_validate(strict_schema(prompt.schema))
            schema = ResponseSchema(name="answer", json_schema=wanted, strict=True)
        return GenerateConfig(
            temperature=settings.temperature,
            top_p=settings.top_p,
            max_tokens=settings.max_tokens,
            seed=settings.seed,
            reasoning_effort=settings.reasoning_effort,
            # Without it some providers are asked for a greeting first, to see whether it works.
            reasoning_summary="none",
            response_schema=schema,
            max_retries=0,
            cache_prompt="auto",
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._api.aclose()


def _open(model: str, settings: AskSettings, key: str | None, secrets: Secrets) -> Any:
    from inspect_ai.model import get_model

    # What it warns of, such as a setting that a model does not take, is said with the run.
    logging.getLogger("inspect_ai").addHandler(logging.NullHandler())
    try:
        # Where hooks are installed, inspect-ai says so; what a verb prints is for its reader.
        with redirect_stdout(sys.stderr):
            return get_model(
                model,
                base_url=settings.base_url,
                api_key=key,
                memoize=False,
                **settings.model_args,
            )
    except Exception as error:  # noqa: BLE001
        said = secrets.clean(_line(error))
        raise InputError(
            f"model {model!r} cannot be used: {said}; expected a model string of inspect-ai such "
            "as openai/gpt-4o-mini, the library of its provider, and its key in the environment"
        ) from None


def _key(model: str, settings: AskSettings) -> str | None:
    """Find the key that the user named; None leaves it to the provider's own variable."""
    if settings.api_key_env is not None:
        key = os.environ.get(settings.api_key_env, "").strip()
        if not key:
            raise InputError(
                f"environment variable {settings.api_key_env} is not set; expected the key of "
                f"{model!r}"
            )
        if not (key.isascii() and key.isprintable()):
            raise InputError(
                f"environment variable {settings.api_key_env} holds what is no key; expected "
                "ASCII in one line"
            )
        return key
    provider, _, rest = model.partition("/")
    if provider != "openai-api" or settings.base_url is None:
        return None
    own = f"{rest.partition('/')[0].upper().replace('-', '_')}_API_KEY"
    local = urlsplit(settings.base_url).hostname in _OWN_MACHINE
    # A server on this machine needs no key, but the library wants one.
    return "none" if local and not os.environ.get(own) else None


def _no_retries(api: Any) -> bool:
    """Tell the provider's library not to try again; say whether it may all the same."""
    client: Any = getattr(api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0
        return False
    return client is not None


def _is_prerequisite(error: Exception) -> bool:
    return any(kind.__name__ == "PrerequisiteError" for kind in type(error).__mro__)


def _line(error: Exception) -> str:
    """One line of an error, without the marks that inspect-ai prints it with."""
    from rich.errors import MarkupError
    from rich.text import Text

    said = str(getattr(error, "message", "") or error)
    try:
        said = Text.from_markup(said).plain
    except MarkupError:
        # A message that is no markup is shown as it is.
        said = said.strip()
    return " ".join(said.split()).removeprefix("ERROR: ") or type(error).__name__


def _messages(prompt: Prompt) -> list[ChatMessage]:
    from inspect_ai.model import (
        ChatMessageSystem,
        ChatMessageUser,
        ContentImage,
        ContentText,
    )

    content: list[Any] = []
    for part in prompt.parts:
        if isinstance(part, str):
            content.append(ContentText(text=part))
        else:
            data = base64.b64encode(part.data).decode("ascii")
            content.append(ContentImage(image=f"data:{part.media_type};base64,{data}"))
    return [ChatMessageSystem(content=prompt.system), ChatMessageUser(content=content)]
