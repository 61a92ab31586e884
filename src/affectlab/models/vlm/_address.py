"""Where a model is asked, where the environment decides about it."""

from __future__ import annotations

import os
from dataclasses import replace

from affectlab.errors import InputError
from affectlab.models.vlm._ask_settings import AskSettings

__all__ = ["with_address"]

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
