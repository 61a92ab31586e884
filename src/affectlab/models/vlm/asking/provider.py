"""Asking one model once, through inspect-ai's providers, and seeing what came back as it was."""

from __future__ import annotations

import asyncio
import base64
import logging
import math
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.ask import on_this_machine
from affectlab.models.vlm.asking.budget import Usage
from affectlab.models.vlm.asking.failures import BadReplyError, Failure, failure_of
from affectlab.models.vlm.asking.secrets import Secrets, secrets_in
from affectlab.models.vlm.asking.settings import AskSettings
from affectlab.models.vlm.prompts import Prompt, SoundPart, strict_schema

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput


__all__ = [
    "ARRIVED",
    "FILE",
    "STRUCTURED",
    "Provider",
    "Reply",
    "guard_replies",
    "left_out",
    "need_inspect",
    "reply_of",
    "sent_to",
    "with_address",
]

# What one attempt brought: the answer as inspect-ai gives it, in our words.


STRUCTURED = "structured"
"""Stands for the schema among the settings of a request."""
NO_LOGPROBS = "the provider gave no log-probabilities; --config readout=choice asks without them"
_ALTERNATIVES = 20
"""First tokens whose probability is asked for: as many as providers give."""
_SIGN_TOKENS = 16
"""Most tokens of an answer of one sign; some providers take no fewer."""
_UNKNOWN = "unknown"
_SCHEMA_NAMES = (
    *("response_format", "output_format", "format", "response_schema", "responseSchema"),
    *("response_json_schema", "responseJsonSchema", "guided_json"),
)
"""Under which a request holds the schema, by provider."""


@dataclass(frozen=True)
class Reply:
    """What one attempt brought."""

    text: str | None = None
    alternatives: Mapping[str, float] | None = None
    """Probability of each first token, where these were asked for and came."""
    stop_reason: str = ""
    refusal: str = ""
    failure: Failure | None = None
    """Why there is no answer."""
    usage: Usage = field(default_factory=Usage)
    served: str = ""
    """Model that answered, as the provider names it."""
    seconds: float = 0.0
    not_sent: tuple[str, ...] = ()
    """Settings that were wanted and left out, since the model does not take them."""

    @property
    def lost(self) -> bool:
        """Whether a transport error took the answer."""
        return self.failure is not None and bool(self.failure.transport_error)


def reply_of(output: ModelOutput, call: Any, seconds: float) -> Reply:
    """Read what inspect-ai made of an answer, and of the request that brought it."""
    usage, served = _usage(output), str(output.model or "")
    if output.empty:
        return Reply(usage=usage, served=served, seconds=seconds)
    text, stop = output.completion, str(output.stop_reason)
    said = getattr(call, "response", None)
    refused_request = bool(getattr(call, "error", False)) or (
        isinstance(said, dict) and "error" in said and "choices" not in said
    )
    if refused_request and stop == "model_length":
        # A prompt that is too long comes as an answer that was cut off, with the message as text.
        rejected = Failure(rejection=text or "the prompt is too long", http_status=400)
        return Reply(failure=rejected, usage=usage, served=served, seconds=seconds)
    return Reply(
        text=text,
        stop_reason="" if stop == _UNKNOWN else stop,
        refusal=_refusal(output, stop),
        usage=usage,
        served=served,
        seconds=seconds,
    )


def first_token(output: ModelOutput) -> dict[str, float] | None:
    """Give the probability of each first token that says something; None where none came."""
    found = output.choices[0].logprobs if output.choices else None
    for token in found.content if found is not None else ():
        listed = token.top_logprobs or ()
        if token.token.strip() and listed:
            shares: dict[str, float] = {}
            for one in listed:
                shares[one.token] = shares.get(one.token, 0.0) + math.exp(min(one.logprob, 0.0))
            return shares
    return None


def left_out(call: Any, wanted: list[str]) -> tuple[str, ...]:
    """Say which settings are not in the request that went out; it may hold them in an object."""
    request = getattr(call, "request", None)
    if not isinstance(request, dict):
        return ()
    parts = [request, *(value for value in request.values() if isinstance(value, dict))]
    missing = []
    for name in wanted:
        names = _SCHEMA_NAMES if name == STRUCTURED else (name,)
        if not any(part.get(one) is not None for part in parts for one in names):
            missing.append(name)
    return tuple(missing)


def _refusal(output: ModelOutput, stop: str) -> str:
    """Find the model's own refusal, which providers keep apart from its text."""
    content = output.message.content
    parts = content if isinstance(content, list) else []
    told = [str(getattr(part, "text", "")) for part in parts if getattr(part, "refusal", None)]
    if told:
        return " ".join(told).strip() or "refused"
    return str(output.error or "") if stop == "content_filter" else ""


def _usage(output: ModelOutput) -> Usage:
    found = output.usage
    if found is None or not (found.input_tokens or found.output_tokens or found.total_tokens):
        # Servers that count nothing are read as zeros.
        return Usage()
    return Usage(
        input=found.input_tokens,
        cached=found.input_tokens_cache_read,
        written=found.input_tokens_cache_write,
        output=found.output_tokens,
        reasoning=found.reasoning_tokens,
    )


# What may come back from a provider: no other address, no endless reply, nothing but JSON.


ARRIVED: ContextVar[list[int] | None] = ContextVar("ARRIVED", default=None)
"""Takes the status of each reply to what is asked within it."""

FILE: ContextVar[bool] = ContextVar("FILE", default=False)
"""Whether what is asked for within it is a file of many replies."""

_MOST_BYTES = 16 * 1024 * 1024
"""Most bytes of a reply; an answer of a million words has half as many."""
_MOST_OF_FILE = 1024**3
_KINDS = ("json", "event-stream")


def guard_replies(api: Any) -> bool:
    """Guard the replies to a provider of inspect-ai whose library asks through httpx.

    Redirects are not followed: prompt and picture, and keys in headers of their own, would go to
    another server. Replies are asked for as they are and are read up to a limit, since a few
    compressed kilobytes can hold gigabytes.

    Parameters
    ----------
    api
        Provider of inspect-ai.

    Returns
    -------
    Whether a client of httpx was found.
    """
    http: Any = getattr(getattr(api, "client", None), "_client", None)
    if not isinstance(getattr(http, "event_hooks", None), dict):
        return False
    http.follow_redirects = False
    http.headers["Accept-Encoding"] = "identity"
    hooks = http.event_hooks
    http.event_hooks = {**hooks, "response": [*hooks.get("response", ()), _check]}
    return True


async def _check(response: Any) -> None:
    """Look at the head of a reply, and let no more of it be read than the limit."""
    seen = ARRIVED.get()
    if seen is not None:
        seen.append(response.status_code)
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if not 200 <= response.status_code < 300:
        if coding != "identity":
            # The status says enough.
            del response.headers["content-encoding"]
        response.stream = _capped(response.stream)
        return
    if coding not in ("", "identity"):
        raise BadReplyError(f"it is compressed ({coding[:20]!r}), against what we ask", again=False)
    most = _MOST_OF_FILE if FILE.get() else _MOST_BYTES
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and not FILE.get() and not any(known in kind for known in _KINDS):
        # Such as the page of a proxy or of a network that wants a login.
        raise BadReplyError(f"it is {kind[:40]!r}, no JSON", again=True)
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise _too_long(most)
    response.stream = _capped(response.stream, most)


def _too_long(most: int) -> BadReplyError:
    return BadReplyError(f"it has more than {most:,} bytes", again=False)


def _capped(stream: Any, most: int = _MOST_BYTES) -> Any:
    """Give the same stream with an end; its library wants a kind of its own."""
    kind = next(one for one in type(stream).__mro__ if one.__name__ == "AsyncByteStream")

    async def chunks(_: Any) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in stream:
            read += len(chunk)
            if read > most:
                raise _too_long(most)
            yield chunk

    async def aclose(_: Any) -> None:
        await stream.aclose()

    return type("CappedStream", (kind,), {"__aiter__": chunks, "aclose": aclose})()


_OPTIONAL = ("temperature", "top_p", "seed")
"""Settings that inspect-ai leaves out for models that do not take them."""
_WITHOUT_RETRIES = frozenset({"local", "mockllm", "none"})


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
            f"install it with: {install_line('vlm')}"
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
            failure = self._failure(error, bool(arrived) or not self.guarded, outer, prompt)
            return Reply(failure=failure, seconds=time.monotonic() - begun)
        output, call = result if isinstance(result, tuple) else (result, None)
        seconds = time.monotonic() - begun
        if isinstance(output, Exception):
            return Reply(failure=self._failure(output, True, outer, prompt), seconds=seconds)
        wanted = [name for name in _OPTIONAL if getattr(config, name) is not None]
        wanted += [STRUCTURED] if prompt.structured else []
        reply = replace(reply_of(output, call, seconds), not_sent=left_out(call, wanted))
        if prompt.readout != "logprob" or reply.text is None:
            return reply
        shares = first_token(output)
        if shares is None:
            return replace(reply, text=None, failure=Failure(unreadable=NO_LOGPROBS))
        # What would have come behind the first token does not matter.
        cut = reply.stop_reason in ("max_tokens", "model_length")
        return replace(reply, alternatives=shares, stop_reason="" if cut else reply.stop_reason)

    def _failure(
        self, error: Exception, arrived: bool, outer: BaseException | None, prompt: Prompt
    ) -> Failure:
        found = failure_of(error, outer)
        if found is not None:
            return found
        unable = not arrived or isinstance(error, NotImplementedError | InputError)
        if unable and any(isinstance(part, SoundPart) for part in prompt.parts):
            # Which models hear is known to providers alone: that this one does not is its answer.
            said = self.secrets.clean(_line(error))[:300]
            return Failure(rejection=f"it takes no such sound ({said})", sent=False)
        if isinstance(error, ImportError | NotImplementedError | InputError) or _is_prerequisite(
            error
        ):
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
        logprobs: dict[str, Any] = {}
        if prompt.readout == "logprob":
            logprobs = {"logprobs": True, "top_logprobs": _ALTERNATIVES}
        return GenerateConfig(
            temperature=settings.sent_temperature,
            top_p=settings.top_p,
            max_tokens=settings.max_tokens
            if prompt.readout == "generate"
            else min(settings.max_tokens, _SIGN_TOKENS),
            seed=settings.sampling_seed,
            reasoning_effort=settings.reasoning_effort,
            # Without it some providers are asked for a greeting first, to see whether it works.
            reasoning_summary="none",
            response_schema=schema,
            max_retries=0,
            cache_prompt="auto",
            **logprobs,
        )

    @property
    def client(self) -> Any:
        """Client of the provider's library; None where it keeps none."""
        return getattr(self._api, "client", None)

    def beside(self, transport: Any) -> Provider:
        """Give the same model behind another transport, which stands in for the network."""
        other = Provider(self.model, self.settings)
        http = type(other.client._client)
        other._api.client = other.client.copy(
            http_client=http(transport=transport),
            # With a limit of its own no library refuses what would take long over a network.
            timeout=self.settings.timeout,
        )
        for name in ("streaming", "stream"):
            # A reply comes as a whole, whatever this provider of inspect-ai would choose.
            if hasattr(other._api, name):
                setattr(other._api, name, False)
        return other

    async def close(self) -> None:
        """Close the connections."""
        await self._api.aclose()


def _open(model: str, settings: AskSettings, key: str | None, secrets: Secrets) -> Any:
    from inspect_ai.model import get_model

    if model.startswith("local/"):
        # Registers the provider.
        import affectlab.models.vlm.asking.local  # noqa: F401

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
    if settings.key_env is not None:
        key = os.environ.get(settings.key_env, "").strip()
        if not key:
            raise InputError(
                f"environment variable {settings.key_env} is not set; expected the key of {model!r}"
            )
        if not (key.isascii() and key.isprintable()):
            raise InputError(
                f"environment variable {settings.key_env} holds what is no key; expected "
                "ASCII in one line"
            )
        return key
    provider, _, rest = model.partition("/")
    if provider != "openai-api" or settings.base_url is None:
        return None
    own = f"{rest.partition('/')[0].upper().replace('-', '_')}_API_KEY"
    local = on_this_machine(settings.base_url)
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
        ContentAudio,
        ContentImage,
        ContentText,
    )

    content: list[Any] = []
    for part in prompt.parts:
        if isinstance(part, str):
            content.append(ContentText(text=part))
            continue
        data = f"data:{part.media_type};base64,{base64.b64encode(part.data).decode('ascii')}"
        heard = isinstance(part, SoundPart)
        content.append(
            ContentAudio(audio=data, format="wav") if heard else ContentImage(image=data)
        )
    asked = ChatMessageUser(content=content)
    # A prompt that is a published wording has nothing before it.
    return [ChatMessageSystem(content=prompt.system), asked] if prompt.system else [asked]


# Where a model is asked, where the environment decides about it.


_VARIABLES: dict[str, tuple[str, ...]] = {
    "azureai": ("AZURE_ENDPOINT_URL", "AZUREAI_ENDPOINT_URL", "AZUREAI_BASE_URL"),
    "grok": ("XAI_BASE_URL", "GROK_BASE_URL"),
    "litellm-proxy": ("LITELLM_PROXY_BASE_URL", "LITELLM_PROXY_API_BASE", "LITELLM_BASE_URL"),
}
_HOSTED: dict[tuple[str, str], tuple[str, ...]] = {
    ("anthropic", "azure"): ("AZUREAI_ANTHROPIC_BASE_URL", "AZURE_ANTHROPIC_BASE_URL"),
    ("anthropic", "bedrock"): ("ANTHROPIC_BEDROCK_BASE_URL", "BEDROCK_ANTHROPIC_BASE_URL"),
    ("anthropic", "vertex"): ("ANTHROPIC_VERTEX_BASE_URL", "VERTEX_ANTHROPIC_BASE_URL"),
    ("google", "vertex"): ("GOOGLE_VERTEX_BASE_URL", "VERTEX_BASE_URL"),
    ("mistral", "azure"): ("AZUREAI_MISTRAL_BASE_URL", "AZURE_MISTRAL_BASE_URL"),
    ("openai", "azure"): (
        *("AZUREAI_OPENAI_BASE_URL", "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"),
    ),
    ("openai", "bedrock"): ("BEDROCK_OPENAI_BASE_URL", "AWS_BEDROCK_BASE_URL"),
}
_LAST = "INSPECT_EVAL_MODEL_BASE_URL"
_STARTED_HERE = frozenset({"vllm", "sglang"})
"""Providers that start a server themselves unless they are told of one."""
_HERE = frozenset(
    {"hf", "llama-cpp-python", "local", "mockllm", "none", "ollama", "vllm-completions"}
    | _STARTED_HERE
)
"""Providers that ask this machine unless they are told of another address."""


def sent_to(model: str, settings: AskSettings) -> str | None:
    """Say who gets what is asked; None where it stays on this machine.

    Examples
    --------
    >>> sent_to("openai/gpt-4o-mini", AskSettings()), sent_to("local/smolvlm", AskSettings())
    ('openai', None)
    """
    provider, url = model.partition("/")[0], settings.base_url
    if provider in ("local", "mockllm", "hf"):
        return None
    if url is not None:
        return None if on_this_machine(url) else f"{provider} at {urlsplit(url).hostname}"
    return None if provider in _HERE else provider


def _variables(model: str) -> tuple[str, ...]:
    """Variables that inspect-ai looks at for a model, in its order."""
    provider, *rest = model.split("/")
    if provider in _STARTED_HERE:
        return (f"{provider.upper()}_BASE_URL",)
    hosted = _HOSTED.get((provider, rest[0] if len(rest) > 1 else ""))
    if hosted is not None:
        return (*hosted, _LAST)
    name = rest[0] if provider == "openai-api" and len(rest) > 1 else provider
    usual = (f"{name.upper().replace('-', '_')}_BASE_URL",)
    return (*_VARIABLES.get(provider, usual), _LAST)


def with_address(model: str, settings: AskSettings) -> AskSettings:
    """Write the address of the environment into the settings, so that it is part of a question.

    The same model string at another server is another model.

    Raises
    ------
    InputError
        When a variable holds no address, or one with a secret.
    """
    if settings.base_url is not None:
        return settings
    for name in _variables(model):
        found = os.environ.get(name, "").strip()
        if found:
            try:
                return replace(settings, base_url=found)
            except InputError as error:
                raise InputError(f"environment variable {name}: {error}") from None
    return settings
