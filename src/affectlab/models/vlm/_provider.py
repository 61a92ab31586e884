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
from affectlab.models.vlm._http_guard import ARRIVED, guard_replies
from affectlab.models.vlm._prompt import Prompt
from affectlab.models.vlm._reply import STRUCTURED, Reply, left_out, reply_of
from affectlab.models.vlm._schema import strict_schema
from affectlab.models.vlm._secrets import Secrets, secrets_in

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig

__all__ = ["Provider", "need_inspect"]

_OPTIONAL = ("temperature", "top_p", "seed")
"""Settings that inspect-ai leaves out for models that do not take them."""
_WITHOUT_RETRIES = frozenset({"mockllm", "none"})
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
        own = secrets_in(settings.model_args)
        self.secrets = Secrets([key, *own])
        self.model = model
        self.settings = settings
        self._model = _open(model, settings, key, self.secrets)
        self._api = self._model.api
        self.secrets = Secrets([key, getattr(self._api, "api_key", None), *own])
        self.guarded = guard_replies(self._api)
        """Whether redirects are off and replies have a limit; libraries may have their own way."""
        self.hidden_retries = _no_retries(self._api)
        """Whether the provider's library may try again where we cannot see it."""

    async def ask(self, prompt: Prompt) -> Reply:
        """Ask once.

        Raises
        ------
        InputError
            When inspect-ai cannot put the question to this provider at all.
        """
        begun, arrived, outer = time.monotonic(), list[int](), sys.exc_info()[1]
        ARRIVED.set(arrived)
        messages, config = _messages(prompt), self._config(prompt)
        try:
            async with asyncio.timeout(self.settings.timeout):
                result = await self._api.generate(messages, [], "none", config)
        # Any provider's library may raise anything; what it means is looked up.
        except Exception as error:  # noqa: BLE001
            failure = self._failure(error, bool(arrived) or not self.guarded, outer)
            return Reply(failure=failure, seconds=time.monotonic() - begun)
        output, call = result if isinstance(result, tuple) else (result, None)
        seconds = time.monotonic() - begun
        if isinstance(output, Exception):
            return Reply(failure=self._failure(output, True, outer), seconds=seconds)
        wanted = [name for name in _OPTIONAL if getattr(config, name) is not None]
        wanted += [STRUCTURED] if prompt.structured else []
        return replace(reply_of(output, call, seconds), not_sent=left_out(call, wanted))

    def _failure(self, error: Exception, arrived: bool, outer: BaseException | None) -> Failure:
        found = failure_of(error, outer)
        if found is not None:
            return found
        if isinstance(error, ImportError | NotImplementedError) or _is_prerequisite(error):
            raise InputError(
                f"model {self.model!r} cannot be asked: {self.secrets.clean(_line(error))}"
            ) from None
        said = f"{type(error).__name__}: {_line(error)[:300]}"
        if not arrived:
            # The library stumbled over the question: nobody has seen it.
            return Failure(f"the question cannot be sent ({said})", sent=False)
        # It stumbled over what the server sent: it would do so again, and be paid again.
        return Failure(unreadable=f"the reply cannot be read ({said})")

    def _config(self, prompt: Prompt) -> GenerateConfig:
        from inspect_ai.model import GenerateConfig, ResponseSchema
        from inspect_ai.util import JSONSchema

        settings = self.settings
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
    # Others keep it where we do not look: botocore, for one, tries again by itself.
    return type(api).__module__.rpartition(".")[2] not in _WITHOUT_RETRIES


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
    asked = ChatMessageUser(content=content)
    # A prompt that is a published wording has nothing before it.
    return [ChatMessageSystem(content=prompt.system), asked] if prompt.system else [asked]
