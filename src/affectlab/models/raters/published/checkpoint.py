"""Checkpoints of transformers as raters: their settings say what they take and what they answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import torch
import transformers
from torch import Tensor
from transformers.models.auto import modeling_auto

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Count, Device, Precision
from affectlab.core.words import plural, shown
from affectlab.models.devices import autocast, pick_device, pick_precision, quiet_transformers
from affectlab.models.embedding import is_out_of_memory, let_go
from affectlab.models.pretrained import (
    DATA_ONLY,
    LOADING_FAILS,
    Loaded,
    lacks_weights,
    load_config,
    load_image_processor,
    load_pretrained,
    unusable,
)
from affectlab.models.raters.published.speech import (
    RENAMED,
    has_speech_head,
    speech_classifier,
)
from affectlab.models.raters.rater import Answer, Judged, Rater, Rates, Takes
from affectlab.models.raters.sounds import Sound
from affectlab.models.runs import file_hash
from affectlab.models.text.encoders import context_of, load_tokenizer

__all__ = ["checkpoint_rater", "task_of_checkpoint"]

Activation: TypeAlias = Literal["softmax", "sigmoid", "none"]
Task: TypeAlias = Literal["text", "image", "sound", "image and labels", "text to text"]

_STRANGERS = re.compile(r"For\w*Classification$|^EmotionModel$")
_UNNAMED = re.compile(r"LABEL_\d+", re.IGNORECASE)
_CLASSES: dict[Task, tuple[str, str]] = {
    "text": (
        "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
        "AutoModelForSequenceClassification",
    ),
    "image": ("MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES", "AutoModelForImageClassification"),
    "sound": ("MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES", "AutoModelForAudioClassification"),
    "image and labels": (
        "MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES",
        "AutoModelForZeroShotImageClassification",
    ),
    "text to text": ("MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES", "AutoModelForSeq2SeqLM"),
}
"""Where transformers lists the networks of each task, and which of its classes loads them."""
_TAKES: dict[Task, Takes] = {
    "text": "text",
    "image": "image",
    "sound": "sound",
    "image and labels": "image",
    "text to text": "text",
}


def checkpoint_rater(
    place: str,
    *,
    labels: Sequence[str] = (),
    looks_for: Sequence[str] = (),
    activation: Activation | None = None,
    scale: str = "",
    prompt: str = "",
    max_tokens: Count | None = None,
    batch: Count = 32,
    precision: Precision = "fp32",
    device: Device = "auto",
) -> Rater:
    """Make a rater of a checkpoint of transformers: a folder, or its name on the hub.

    Classifiers of texts, pictures and sounds score their labels; CLIP, SigLIP and classifiers of
    entailment score `labels` of one's own; text-to-text models write one of `labels`. Scores become
    probabilities as the checkpoint's ``problem_type`` says; where it says nothing, several outputs
    share one probability, as in transformers' own pipelines.

    Parameters
    ----------
    labels
        Names of the outputs in their order, where the checkpoint has none; what is looked for,
        where the checkpoint has no labels of its own.
    looks_for
        Without `labels`, what such a checkpoint looks for; others ignore it.
    activation
        ``"softmax"``, ``"sigmoid"`` or ``"none"``, instead of what the checkpoint says.
    scale
        Scale of outputs that are no probabilities, such as ``"1-5 interval"``.
    prompt
        Sentence about a label, with ``{}`` in its place; for text-to-text models what is written
        before and behind the text.
    max_tokens
        Tokens of a text that are read. None: as many as the network can.
    batch
        Stimuli at a time; halved where the memory does not hold them.
    precision
        ``"fp32"``, ``"bf16"``, ``"fp16"`` or ``"auto"``.
    device
        Where it computes.

    Raises
    ------
    InputError
        When it cannot be loaded, lacks weights, is of another kind, or does not say what its
        outputs mean.
    """
    config = load_config(place)
    task = task_of_checkpoint(place, config)
    there = pick_device(device)
    network = _network(place, config, task).to(there).eval()
    model = _Model(place, config, network, there, pick_precision(precision, there))
    if not labels and _scores_any_label(task, config):
        labels = looks_for
    own = {"labels": tuple(labels), "activation": activation, "scale": scale, "prompt": prompt}
    given = {key: value for key, value in own.items() if value}
    outputs = _OUTPUTS[task](model, **given, **({"max_tokens": max_tokens} if max_tokens else {}))
    shrinking = _Shrinking(outputs.forward, 1 if task == "sound" else batch)
    return Rater(
        Path(place).name,
        shrinking,
        outputs.labels,
        takes=_TAKES[task],
        version=_version(place, config),
        scale=outputs.scale,
        settings={**outputs.settings, "precision": model.precision},
        batch=1 if task == "sound" else batch,
        join="sum" if outputs.settings.get("activation") == "softmax" else "max",
        notes=outputs.notes,
    )


def _scores_any_label(task: Task, config: Any) -> bool:
    """Whether a checkpoint has no labels of its own: CLIP and its kin, entailment, text to text."""
    return task in ("image and labels", "text to text") or (
        task == "text" and _entailment(config) is not None
    )


def task_of_checkpoint(place: str, config: Any) -> Task:
    """Say what a checkpoint was made for, by the class that its settings name.

    Raises
    ------
    InputError
        When no rater can be made of it; the sentence says what can be done.
    """
    named = _architecture(config)
    for task, (mapping, _) in _CLASSES.items():
        listed = getattr(modeling_auto, mapping)
        known = (one for entry in listed.values() for one in ([entry], entry)[type(entry) is tuple])
        if named in known or (_is_strangers(named) and config.model_type in listed):
            return task
    what = f"checkpoint {place!r} ({named or config.model_type})"
    if named.endswith(("ForCausalLM", "ForConditionalGeneration", "ForImageTextToText")):
        raise InputError(
            f"{what} writes texts, and is asked as a provider's model: affectlab rate "
            f"local/{place}, or behind a server: ollama/NAME, vllm/NAME"
        )
    raise InputError(
        f"{what} has no outputs that are labels; expected a classifier, or as an encoder: "
        f"affectlab embed STIMULI --encoder transformers:{place}, and affectlab train heads"
    )


def _architecture(config: Any) -> str:
    return str((getattr(config, "architectures", None) or [""])[0])


def _is_strangers(named: str) -> bool:
    """Whether a classifier was trained in a class that transformers does not have."""
    return bool(_STRANGERS.search(named)) and not hasattr(transformers, named)


def _network(place: str, config: Any, task: Task) -> Any:
    """Load all weights, none left over where the class of the checkpoint is not known."""
    expected = f"a classifier of {_TAKES[task]}s" if task != "text to text" else "its network"

    def load(kind: Any, **more: Any) -> Loaded:
        options = {"dtype": torch.float32, "use_safetensors": None, "weights_only": True, **more}
        return load_pretrained(kind, place, expected, **options)

    def load_speech() -> Loaded:
        return load(speech_classifier(config), may_lack=_is_for_training, key_mapping=RENAMED)

    strange = _is_strangers(_architecture(config))
    if strange and task == "sound":
        found = load_speech()
    else:
        kind = getattr(transformers, _CLASSES[task][1])
        found = load(kind, may_lack=lambda name: task == "sound")  # noqa: ARG005
        # Some have the head of another class than their settings name.
        if has_speech_head(found.unused):
            found = load_speech()
    if lacking := [name for name in found.lacking if not _is_for_training(name)]:
        raise lacks_weights(place, lacking, expected)
    left_over = [name for name in found.unused if not name.endswith("position_ids")]
    if strange and left_over:
        raise InputError(
            f"checkpoint {place!r} ({_architecture(config)}) has layers that transformers does not "
            f"know ({left_over[0]}, {len(left_over)} in all); expected a function of yours that "
            "computes them: affectlab rate module:function STIMULI --out FILE"
        )
    return found.network


def _is_for_training(name: str) -> bool:
    """Whether a weight is what hides parts of a sound, which nothing does when it is rated."""
    return name.endswith("masked_spec_embed")


def _version(place: str, config: Any) -> str:
    """Give the commit on the hub, or a hash of the weights."""
    commit = getattr(config, "_commit_hash", None)
    if commit:
        return str(commit)
    files = sorted(
        path for path in Path(place).iterdir() if path.suffix in (".safetensors", ".bin")
    )
    return " ".join(file_hash(path)[:16] for path in files)


@dataclass(frozen=True, eq=False)
class _Model:
    """A network with what belongs to it."""

    place: str
    config: Any
    network: Any
    device: torch.device
    precision: str

    def __call__(self, **inputs: Any) -> Any:
        moved = {name: part.to(self.device) for name, part in inputs.items()}
        with torch.inference_mode(), autocast(self.precision, self.device):
            return self.network(**moved)


@dataclass(frozen=True, eq=False)
class _Outputs:
    """What a network answers, and how it is asked."""

    forward: Rates
    labels: tuple[str, ...]
    scale: str
    settings: Mapping[str, Any]
    notes: Callable[[], Sequence[str]] | None = None


class _Shrinking:
    """Halves the batch, for good, where the memory of the device does not hold it."""

    def __init__(self, forward: Rates, size: int) -> None:
        self._forward = forward
        self._size = size

    def __call__(self, stimuli: Sequence[Any]) -> Sequence[Judged]:
        answers: list[Judged] = []
        while len(answers) < len(stimuli):
            try:
                part = stimuli[len(answers) : len(answers) + self._size]
                answers += self._forward(part)
            except (RuntimeError, MemoryError) as error:
                if self._size == 1 or not is_out_of_memory(error):
                    raise
                self._size = max(self._size // 2, 1)
                let_go()
        return answers


# Classifiers: one output for each label.


def _named(model: _Model, labels: Sequence[str]) -> tuple[str, ...]:
    """Give the labels of the outputs, in their order."""
    n = model.config.num_labels
    if labels:
        if len(labels) != n:
            raise InputError(
                f"checkpoint {model.place!r} has {plural(n, 'output')}, and "
                f"{plural(len(labels), 'label')} were given; expected one for each"
            )
        return tuple(labels)
    names = tuple(str(model.config.id2label[number]) for number in range(n))
    if all(_UNNAMED.fullmatch(name) for name in names):
        raise InputError(
            f"checkpoint {model.place!r} does not name its {plural(n, 'output')} ({names[0]}, …); "
            "expected their names in order, such as --set labels=anger,joy,sadness"
        )
    return names


def _activation(model: _Model, chosen: Activation | None) -> Activation:
    """Say what makes probabilities of the outputs: what was chosen, or what the settings say."""
    if chosen:
        check_choice("activation", chosen, get_args(Activation))
        return chosen
    said: Activation | None = getattr(model.config, "function_to_apply", None)
    if said is not None and said in get_args(Activation):
        return said
    known: dict[str, Activation] = {
        "multi_label_classification": "sigmoid",
        "single_label_classification": "softmax",
        "regression": "none",
    }
    problem = getattr(model.config, "problem_type", None)
    if problem in known:
        return known[problem]
    # Classes outside transformers say so by their name, or by the task of their script.
    if "multilabel" in _architecture(model.config).casefold():
        return "sigmoid"
    if str(getattr(model.config, "finetuning_task", "")).endswith("_reg"):
        return "none"
    if model.config.num_labels > 1:
        return "softmax"
    raise InputError(
        f"checkpoint {model.place!r} has one output and does not say what it is; expected --set "
        "activation=sigmoid for a probability, or activation=none for a number"
    )


def _answered(names: Sequence[str], activation: Activation, logits: Tensor) -> list[Judged]:
    values = logits.float()
    if activation == "softmax":
        values = values.softmax(dim=-1)
    elif activation == "sigmoid":
        values = values.sigmoid()
    # A hair above 1 is the rounding of a sum.
    rows = (values if activation == "none" else values.clamp(0, 1)).cpu().double().tolist()
    return [dict(zip(names, row, strict=True)) for row in rows]


def _classifier(
    model: _Model,
    prepare: Callable[[Sequence[Any]], Mapping[str, Any]],
    labels: Sequence[str] = (),
    activation: Activation | None = None,
    scale: str = "",
    notes: Callable[[], Sequence[str]] | None = None,
) -> _Outputs:
    names, applied = _named(model, labels), _activation(model, activation)
    if scale and applied != "none":
        raise InputError(f"scale = {scale!r} is for numbers; these outputs are probabilities")

    def forward(stimuli: Sequence[Any]) -> list[Judged]:
        return _answered(names, applied, model(**prepare(stimuli)).logits)

    levels = (scale or "interval") if applied == "none" else "0-1 interval"
    return _Outputs(forward, names, levels, {"activation": applied}, notes)


class _Tokens:
    """Texts as tokens; counts the texts that are longer than the network reads."""

    def __init__(self, model: _Model, max_tokens: int | None) -> None:
        self.tokenizer = load_tokenizer(model.place)
        self.limit = context_of(model.network, self.tokenizer, max_tokens)
        self.cut = 0

    def __call__(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> dict[str, Any]:
        both = None if pairs is None else list(pairs)
        found = self.tokenizer(
            list(texts),
            both,
            truncation=True if pairs is None else "only_first",
            max_length=self.limit,
            padding=True,
            return_tensors="pt",
        )
        if found["input_ids"].shape[1] >= self.limit:
            whole = self.tokenizer(list(texts), both, verbose=False)
            self.cut += sum(len(ids) > self.limit for ids in whole["input_ids"])
        return dict(found)

    def notes(self) -> tuple[str, ...]:
        """Say how many texts were cut."""
        if not self.cut:
            return ()
        return (
            f"{plural(self.cut, 'text was', 'texts were')} longer than {self.limit} tokens, and "
            "read to there",
        )


def _of_text(
    model: _Model, *, max_tokens: int | None = None, prompt: str = "", **given: Any
) -> _Outputs:
    tokens = _Tokens(model, max_tokens)
    entails = _entailment(model.config)
    if entails is not None and given.get("labels"):
        return _of_entailment(model, tokens, entails, given["labels"], prompt)
    if prompt:
        raise InputError(f"checkpoint {model.place!r} has labels of its own; it takes no prompt")
    return _classifier(model, tokens, notes=tokens.notes, **given)


def _entailment(config: Any) -> int | None:
    """Output that says that a sentence follows from a text; None where there is none."""
    names = {str(name).casefold(): int(n) for n, name in config.id2label.items()}
    return next((n for name, n in names.items() if name.startswith("entail")), None)


def _of_entailment(
    model: _Model, tokens: _Tokens, entails: int, labels: Sequence[str], prompt: str
) -> _Outputs:
    """Ask of each label whether a sentence with it follows from the text."""
    sentence = _sentence(prompt or "This text expresses {}.")

    def forward(texts: Sequence[str]) -> list[Judged]:
        first = [text for text in texts for _ in labels]
        second = [sentence.format(label) for _ in texts for label in labels]
        logits = model(**tokens(first, second)).logits.float()
        rows = logits[:, entails].reshape(len(texts), len(labels)).softmax(dim=-1)
        return [dict(zip(labels, row, strict=True)) for row in rows.cpu().double().tolist()]

    settings = {"activation": "softmax", "prompt": sentence, "labels": list(labels)}
    return _Outputs(forward, tuple(labels), "0-1 interval", settings, tokens.notes)


def _sentence(prompt: str) -> str:
    if prompt.count("{}") != 1 or re.search(r"{[^}]|[^{]}", prompt):
        raise InputError(f"prompt {shown(prompt)!r}: expected {{}} once, in the place of the label")
    return prompt


def _of_image(model: _Model, **given: Any) -> _Outputs:
    _without("picture", given, "prompt", "max_tokens")
    processor = load_image_processor(model.place)
    prepare = partial(_pixels, processor)
    return _classifier(model, prepare, **given)


def _pixels(processor: Any, pictures: Sequence[Any]) -> dict[str, Any]:
    return dict(processor(images=list(pictures), return_tensors="pt"))


def _of_sound(model: _Model, **given: Any) -> _Outputs:
    _without("sound", given, "prompt", "max_tokens")
    try:
        with quiet_transformers():
            loader: Any = transformers.AutoFeatureExtractor
            processor = loader.from_pretrained(model.place, **DATA_ONLY)
    except LOADING_FAILS as error:
        raise unusable(model.place, error, "preprocessor_config.json") from None
    rate = int(processor.sampling_rate)
    limit = _seconds_heard(processor)
    cut: list[float] = []

    def prepare(sounds: Sequence[Sound]) -> dict[str, Any]:
        cut.extend(sound.seconds for sound in sounds if sound.seconds > limit)
        samples = [sound.at(rate) for sound in sounds]
        return dict(processor(samples, sampling_rate=rate, return_tensors="pt"))

    def notes() -> tuple[str, ...]:
        said = plural(len(cut), "sound was", "sounds were")
        return (f"{said} longer than {limit:g} seconds, and heard to there",) if cut else ()

    return _classifier(model, prepare, notes=notes, **given)


def _seconds_heard(processor: Any) -> float:
    """Give the length that a sound is cut to: that of Whisper's window, or of AST's frames."""
    if isinstance(processor, transformers.WhisperFeatureExtractor):
        return float(processor.chunk_length)
    if isinstance(processor, transformers.ASTFeatureExtractor):
        return float(processor.max_length) / 100
    return float("inf")


def _without(noun: str, given: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if name in given:
            raise InputError(f"{name}: a classifier of {noun}s has no such setting")


# Networks that were given no labels: what is looked for are sentences.


def _wanted(model: _Model, labels: Sequence[str]) -> tuple[str, ...]:
    if not labels:
        raise InputError(
            f"checkpoint {model.place!r} has no labels of its own; expected --taxonomy NAME, or "
            "--set labels=anger,joy,sadness"
        )
    return tuple(labels)


def _of_image_and_labels(
    model: _Model,
    *,
    labels: Sequence[str] = (),
    prompt: str = "",
    activation: Activation | None = None,
    max_tokens: int | None = None,
    scale: str = "",
) -> _Outputs:
    names = _wanted(model, labels)
    _without("picture", {"scale": scale} if scale else {}, "scale")
    sentence = _sentence(prompt or "a photo of a face that shows {}")
    sigmoid = model.config.model_type.startswith("siglip")
    applied = activation or ("sigmoid" if sigmoid else "softmax")
    processor, tokens = load_image_processor(model.place), _Tokens(model, max_tokens or None)
    texts = [sentence.format(name) for name in names]
    # SigLIP was trained on texts that are filled up to their full length.
    limit = getattr(model.config.text_config, "max_position_embeddings", tokens.limit)
    filled = tokens.tokenizer(
        texts,
        padding="max_length" if sigmoid else True,
        max_length=min(limit, 64) if sigmoid else tokens.limit,
        truncation=True,
        return_tensors="pt",
    )

    def forward(pictures: Sequence[Any]) -> list[Judged]:
        logits = model(**dict(filled), **_pixels(processor, pictures)).logits_per_image
        return _answered(names, applied, logits)

    settings = {"activation": applied, "prompt": sentence, "labels": list(names)}
    return _Outputs(forward, names, "0-1 interval", settings)


def _of_text_to_text(
    model: _Model,
    *,
    labels: Sequence[str] = (),
    prompt: str = "",
    max_tokens: int | None = None,
    **given: Any,
) -> _Outputs:
    """Let the network write, and read one of the labels in what it has written."""
    names = _wanted(model, labels)
    _without("text", given, "activation", "scale")
    tokens = _Tokens(model, max_tokens)
    sentence = _sentence(prompt or "{}")
    known = {name.casefold(): name for name in names}

    def forward(texts: Sequence[str]) -> list[Judged]:
        inputs = tokens([sentence.format(text) for text in texts])
        moved = {name: part.to(model.device) for name, part in inputs.items()}
        with torch.inference_mode(), autocast(model.precision, model.device):
            written = model.network.generate(**moved, max_new_tokens=16, do_sample=False)
        said = tokens.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [_label_said(text, known) for text in said]

    settings = {"prompt": sentence, "labels": list(names)}
    return _Outputs(forward, names, "0-1 interval", settings, tokens.notes)


def _label_said(text: str, known: Mapping[str, str]) -> Judged:
    said = text.strip().strip(".").casefold()
    if said not in known:
        return Answer("unparseable", problem=f"wrote {shown(text, 60)!r}; expected a label")
    return {name: float(key == said) for key, name in known.items()}


_OUTPUTS: dict[Task, Callable[..., _Outputs]] = {
    "text": _of_text,
    "image": _of_image,
    "sound": _of_sound,
    "image and labels": _of_image_and_labels,
    "text to text": _of_text_to_text,
}
