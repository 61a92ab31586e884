"""How a model is asked: what is sent with every question, how long to wait, how often to try."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from affectlab.core.errors import InputError
from affectlab.core.types import Count, Rare
from affectlab.models.vlm.asking.secrets import fingerprinted

__all__ = ["AskSettings", "Retrying"]


@dataclass(frozen=True)
class AskSettings:
    """What is sent with every question, and where to.

    Everything but `timeout` and `key_env` decides what is answered: it is
    recorded, and another value makes another question of the ledger.

    Examples
    --------
    >>> AskSettings(temperature="default", max_tokens=500).sent()
    {'max_tokens': 500}
    """

    temperature: Annotated[float | Literal["default"], Rare] = 0.0
    """Sampling temperature, 0 to 2; ``default``: not sent, for models that refuse it."""
    top_p: float | None = None
    max_tokens: Annotated[Count, Rare] = 4096
    """Most tokens of an answer, reasoning included where the provider counts it."""
    sampling_seed: Annotated[int | None, Rare] = None
    """Seed of the provider's sampling, where it has one."""
    reasoning_effort: Annotated[str | None, Rare] = None
    """minimal, low, medium, high, …, for models that reason."""
    timeout: Annotated[float, Rare] = 180.0
    """Seconds after which one attempt counts as lost."""
    base_url: str | None = None
    """Address of the server, such as ``http://localhost:8000/v1``; by default that of the
    environment (``OPENAI_BASE_URL``, …), else that of the provider."""
    key_env: Annotated[str | None, Rare] = None
    """Environment variable that holds the key; by default the provider's own."""
    model_args: Mapping[str, Any] = field(default_factory=dict)
    """Passed on to the provider of inspect-ai as they are, and recorded; of what may be a secret
    by its name, such as ``default_headers``, a fingerprint is recorded."""

    def __post_init__(self) -> None:
        wanted = self.temperature
        if wanted != "default" and (isinstance(wanted, str) or not 0 <= wanted <= 2):
            raise InputError(f"temperature {wanted}: expected 0 to 2, or 'default'")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise InputError(f"top_p {self.top_p:g}: expected a number above 0 and up to 1")
        if self.max_tokens < 1:
            raise InputError(f"max_tokens {self.max_tokens}: expected 1 or more")
        if not (self.timeout > 0 and math.isfinite(self.timeout)):
            raise InputError(f"timeout {self.timeout:g}: expected seconds above 0")
        if self.base_url is not None:
            _check_address(self.base_url)
        try:
            json.dumps(dict(self.model_args), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"model_args cannot be recorded ({error}); expected JSON") from None

    @property
    def sent_temperature(self) -> float | None:
        """Sampling temperature; None where it is left to the provider."""
        return None if isinstance(self.temperature, str) else self.temperature

    def sent(self) -> dict[str, Any]:
        """Give what decides about the answer, for the ledger; what is not sent is left out."""
        told = {
            "temperature": self.sent_temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.sampling_seed,
            "reasoning_effort": self.reasoning_effort,
            "base_url": self.base_url,
            "model_args": fingerprinted(self.model_args) or None,
        }
        return {name: value for name, value in told.items() if value is not None}


def _check_address(url: str) -> None:
    """Refuse what is no address, and one that holds a secret; the sentence does not repeat it."""
    if "@" in url or "?" in url or "#" in url:
        raise InputError(
            "base_url holds '@', '?' or '#'; expected an address such as http://localhost:8000/v1, "
            "and a key in an environment variable"
        )
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise InputError(f"base_url {url!r}: expected an address such as http://localhost:8000/v1")


@dataclass(frozen=True)
class Retrying:
    """How often a question is asked again after a transport error, and how long to wait.

    Only transport errors are tried again: nothing was learned about the model. The wait doubles
    from `first_wait` to `longest_wait`, less a random part, so that many do not come back at once.
    """

    tries: int = 6
    """Attempts in all."""
    first_wait: float = 1.0
    """Seconds before the second attempt."""
    longest_wait: float = 60.0
    """Most seconds between two attempts, unless the server asks for more."""
    longest_asked: float = 300.0
    """A server that asks to wait longer is not asked again in this run."""

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise InputError(f"tries {self.tries}: expected 1 or more")
        if not 0 <= self.first_wait <= self.longest_wait:
            raise InputError(
                f"first_wait {self.first_wait:g}: expected 0 to longest_wait {self.longest_wait:g}"
            )

    def wait(self, attempt: int, asked: float | None, rng: random.Random) -> float | None:
        """Give the seconds to wait after an attempt (from 1 on); None: it was the last.

        Parameters
        ----------
        asked
            What the server asked for (``Retry-After``), which is never undercut.

        Examples
        --------
        >>> rng = random.Random(0)
        >>> Retrying(first_wait=1).wait(3, None, rng) <= 4
        True
        >>> Retrying().wait(1, 20.0, rng) >= 20
        True
        >>> Retrying().wait(1, 3600.0, rng) is None, Retrying(tries=1).wait(1, None, rng) is None
        (True, True)
        """
        if attempt >= self.tries or (asked is not None and asked > self.longest_asked):
            return None
        # 2 to the power of many attempts is no float.
        most = min(self.first_wait * 2.0 ** min(attempt - 1, 64), self.longest_wait)
        drawn = most * (0.5 + 0.5 * rng.random())
        return drawn if asked is None else max(asked, drawn)


_PROVIDERS = frozenset(
    (
        *("anthropic", "azureai", "bedrock", "cloudflare", "deepseek", "fireworks", "google"),
        *("grok", "groq", "hf", "hf-inference-providers", "litellm-proxy", "llama-cpp-python"),
        *("local", "meta", "mistral", "mockllm", "moonshot", "ollama", "openai", "openai-api"),
        *("openai-api-completions", "openrouter", "perplexity", "sagemaker", "sambanova"),
        *("sglang", "together", "vllm", "vllm-completions"),
    )
)
"""Providers of inspect-ai."""


def is_provider(model: str) -> bool:
    """Whether a name is that of a provider's model: ``openai/gpt-4o-mini``, not ``hub:openai/…``.

    Examples
    --------
    >>> is_provider("openai/gpt-4o-mini"), is_provider("hub:openai/clip-vit-base-patch32")
    (True, False)
    """
    provider, slash, name = model.partition("/")
    return (
        bool(slash and name)
        and provider in _PROVIDERS
        and (provider == "local" or not Path(model).exists())
    )
