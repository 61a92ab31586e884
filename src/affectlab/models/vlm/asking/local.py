"""Models that write texts, on this machine: a provider of inspect-ai that transformers answers."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    modelapi,
)
from transformers.models.auto import modeling_auto, processing_auto

from affectlab.core.errors import InputError
from affectlab.models.devices import pick_device, quiet_transformers
from affectlab.models.images import load_image
from affectlab.models.pretrained import (
    DATA_ONLY,
    LOADING_FAILS,
    load_config,
    load_image_processor,
    load_pretrained,
    own_code,
    unusable,
)

__all__ = ["LocalModel", "processor_of", "writes_texts"]

_WRITERS = {
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES": "AutoModelForImageTextToText",
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES": "AutoModelForCausalLM",
}


def writes_texts(config: Any) -> str | None:
    """Give the class that loads a model that writes texts; None where it writes none."""
    named = (getattr(config, "architectures", None) or [""])[0]
    for mapping, loader in _WRITERS.items():
        if named in getattr(modeling_auto, mapping).values():
            return loader
    return None


class LocalModel(ModelAPI):
    """A folder or hub name of a checkpoint, asked one question after the other.

    Raises
    ------
    InputError
        When it cannot be loaded, writes no texts, or needs code of its own.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._lock = threading.Lock()
        settings = load_config(model_name)
        loader = writes_texts(settings)
        if loader is None:
            raise InputError(f"checkpoint {model_name!r} writes no texts")
        network = load_pretrained(
            getattr(transformers, loader), model_name, "a model that writes texts", dtype=dtype
        ).network
        self._sees = loader == "AutoModelForImageTextToText"
        self._device = pick_device(device)
        self._network = network.to(self._device).eval()
        self._processor = processor_of(model_name, settings, sees=self._sees)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[Any],  # noqa: ARG002
        tool_choice: Any,  # noqa: ARG002
        config: GenerateConfig,
    ) -> ModelOutput:
        """Write an answer."""
        return await asyncio.to_thread(self._in_turn, input, config)

    def _in_turn(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> ModelOutput:
        # Tokenizers and the seed are shared by all questions.
        with self._lock:
            return self._write(messages, config)

    def _write(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> ModelOutput:
        pictures, said = _said(messages)
        if pictures and not self._sees:
            raise InputError("it reads texts alone, and sees nothing")
        prompt = _prompt(self._processor, said)
        given: dict[str, Any] = {"text": [prompt], "return_tensors": "pt"}
        if pictures:
            given["images"] = pictures
        inputs = self._processor(**given).to(self._device)
        n_read = inputs["input_ids"].shape[1]
        room = _context(self._network) - n_read
        if room < 1:
            raise ValueError(f"the prompt has {n_read:,} tokens, more than the model reads")
        warm = bool(config.temperature)
        options: dict[str, Any] = {"temperature": config.temperature} if warm else {}
        if warm and config.top_p is not None:
            options["top_p"] = config.top_p
        with torch.inference_mode():
            if config.seed is not None:
                torch.manual_seed(config.seed)
            out = self._network.generate(
                **inputs,
                max_new_tokens=min(config.max_tokens or 256, room),
                do_sample=warm,
                output_logits=bool(config.logprobs),
                return_dict_in_generate=True,
                **options,
            )
        written = out.sequences[0, n_read:]
        tokenizer = getattr(self._processor, "tokenizer", self._processor)
        text = tokenizer.decode(written, skip_special_tokens=True)
        ended = len(written) and int(written[-1]) in _ends(self._network)
        choice = ChatCompletionChoice(
            message=ChatMessageAssistant(content=text, model=self.model_name, source="generate"),
            stop_reason="stop" if ended else "max_tokens",
            logprobs=_logprobs(out, written, tokenizer, config.top_logprobs or 0)
            if config.logprobs
            else None,
        )
        usage = ModelUsage(
            input_tokens=n_read, output_tokens=len(written), total_tokens=n_read + len(written)
        )
        return ModelOutput(model=self.model_name, choices=[choice], usage=usage)


def processor_of(place: str, config: Any, *, sees: bool) -> Any:
    """Load what prepares texts and pictures; films, which need another library, are left out.

    Raises
    ------
    InputError
        When a part is missing.
    """
    try:
        with quiet_transformers():
            tokenizer = transformers.AutoTokenizer.from_pretrained(place, **DATA_ONLY)
            if not sees:
                return tokenizer
            names: Any = vars(processing_auto)["PROCESSOR_MAPPING_NAMES"]
            name = names.get(config.model_type)
            kind = getattr(transformers, str(name), None)
            if kind is None:
                raise InputError(f"checkpoint {place!r} ({config.model_type}) has no processor")
            own, _ = kind.get_processor_dict(place) if _has_settings(place) else ({}, None)
            parts = {"image_processor": load_image_processor(place), "tokenizer": tokenizer}
            attributes = kind.get_attributes()
            known = {k: v for k, v in own.items() if k in _parameters(kind) and k not in attributes}
            template = known.pop("chat_template", None) or tokenizer.chat_template
            given = {name: parts.get(name) for name in attributes}
            return _without_films(kind)(**given, **known, chat_template=template)
    except LOADING_FAILS as error:
        if isinstance(error, InputError):
            raise
        raise own_code(place, error) or unusable(
            place, error, "tokenizer and preprocessor_config.json"
        ) from None


def _has_settings(place: str) -> bool:
    folder = Path(place)
    return not folder.is_dir() or (folder / "processor_config.json").is_file()


def _parameters(kind: Any) -> set[str]:
    from inspect import signature

    return set(signature(kind.__init__).parameters) - {"self", "kwargs"}


def _without_films(kind: Any) -> Any:
    """Make a processor that may lack the part for films, which needs torchvision."""

    def check(self: Any, name: str, part: Any) -> Any:
        return None if part is None else kind.check_argument_for_proper_class(self, name, part)

    return type(kind.__name__, (kind,), {"check_argument_for_proper_class": check})


def _said(messages: Sequence[ChatMessage]) -> tuple[list[Any], list[dict[str, Any]]]:
    """Give the pictures, and the messages in the form of chat templates."""
    pictures: list[Any] = []
    said = []
    for message in messages:
        content = message.content
        parts: list[dict[str, str]] = []
        for part in [content] if isinstance(content, str) else content:
            if hasattr(part, "audio"):
                raise InputError("it hears nothing")
            image = getattr(part, "image", None)
            if image is None:
                parts.append({"type": "text", "text": getattr(part, "text", str(part))})
            else:
                data = base64.b64decode(str(image).partition(",")[2])
                pictures.append(load_image(data, name="a picture"))
                parts.append({"type": "image"})
        said.append({"role": message.role, "content": parts})
    return pictures, said


def _prompt(processor: Any, said: list[dict[str, Any]]) -> str:
    """Write the messages as the checkpoint was trained on them."""
    if getattr(processor, "chat_template", None):
        plain = not any(part["type"] == "image" for one in said for part in one["content"])
        if plain:
            # Templates of models of texts expect plain text.
            said = [
                {**one, "content": "\n\n".join(part["text"] for part in one["content"])}
                for one in said
            ]
        text: str = processor.apply_chat_template(said, add_generation_prompt=True, tokenize=False)
        return text
    mark = getattr(processor, "image_token", "<image>")
    lines = [
        part["text"] if part["type"] == "text" else mark for one in said for part in one["content"]
    ]
    return "\n".join([*lines, ""])


def _context(network: Any) -> int:
    """Tokens that a network holds at once."""
    found = network.config.get_text_config()
    return int(getattr(found, "max_position_embeddings", None) or 2**31)


def _ends(network: Any) -> set[int]:
    found = network.generation_config.eos_token_id
    return set(found) if isinstance(found, list) else {found}


def _logprobs(out: Any, written: Any, tokenizer: Any, n: int) -> Logprobs:
    """Give the probabilities of the tokens that were written, and of their alternatives."""
    content = []
    for token, logits in zip(written.tolist(), out.logits, strict=False):
        shares = logits[0].float().log_softmax(dim=-1)
        best = shares.topk(min(n, len(shares)))
        listed = [
            TopLogprob(token=tokenizer.decode([at]), logprob=value)
            for at, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]
        content.append(
            Logprob(
                token=tokenizer.decode([token]), logprob=float(shares[token]), top_logprobs=listed
            )
        )
    return Logprobs(content=content)


@modelapi(name="local")
def local() -> type[ModelAPI]:
    """Register the provider: ``local/FOLDER``."""
    return LocalModel
