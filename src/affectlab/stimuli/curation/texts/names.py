"""Where names of people stand in texts: by a gazetteer, or by a model for named entities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry, callables
from affectlab.stimuli.curation.texts.plugs import plug_name

__all__ = ["NAME_FINDERS", "NameFinder", "Spans", "find_names"]

Spans = Sequence[tuple[int, int]]
NameFinder = Callable[[list[str]], Sequence[Spans]]
"""Takes texts and gives where names of people start and end in each of them."""

_PEOPLE = frozenset({"PER", "PERSON", "B-PER", "I-PER", "B-PERSON", "I-PERSON"})


def find_names(texts: Sequence[str], finder: str | NameFinder = "gazetteer") -> list[Spans]:
    """Say where names of people stand in texts.

    Parameters
    ----------
    texts
        Shape (n,).
    finder
        ``"gazetteer"``, ``"spacy:MODEL"`` (a model that is installed, or its folder),
        ``"transformers:FOLDER"`` (a token classifier with the labels ``PER`` or ``PERSON``),
        ``"none"``, the name of an entry point of the group ``affectlab.name_finders``, or a
        callable.

    Returns
    -------
    list of sequences of (int, int)
        n sequences of start and end, as ``text[start:end]``, in order.

    Raises
    ------
    InputError
        When the finder is not known, its library or model is absent, or it gives places that are
        not in the text or overlap.

    Examples
    --------
    >>> find_names(["Ask Emily, not me.", "Ask me in May."])
    [[(4, 9)], []]
    """
    given = list(texts)
    own = _load(finder) if isinstance(finder, str) else finder
    found = list(own(given))
    where = f"name finder {plug_name(finder)!r}"
    if len(found) != len(given):
        raise InputError(f"{where} gave {len(found):,} answers to {len(given):,} texts")
    return [_checked(spans, text, where) for spans, text in zip(found, given, strict=True)]


def _checked(spans: Spans, text: str, where: str) -> Spans:
    before = 0
    ordered = sorted((int(start), int(end)) for start, end in spans)
    for start, end in ordered:
        if not before <= start < end <= len(text):
            raise InputError(
                f"{where}: a name from {start} to {end} in a text of {len(text)} characters, after "
                f"one that ends at {before}; expected names inside the text that do not overlap"
            )
        before = end
    return ordered


@lru_cache(maxsize=4)
def _load(name: str) -> NameFinder:
    before, _, after = name.partition(":")
    if before in ("spacy", "transformers"):
        if not after:
            expected = "spacy:MODEL" if before == "spacy" else "transformers:FOLDER"
            raise InputError(f"name finder {name!r}: expected {expected}")
        return _spacy(after) if before == "spacy" else _transformers(after)
    found: NameFinder = NAME_FINDERS.load(name)
    return found


def _imported(library: str) -> Any:
    try:
        return import_module(library)
    except ImportError as error:
        raise InputError(
            f"the name finder {library!r} needs {library}; install it with: pip install {library}"
        ) from error


def _spacy(model: str) -> NameFinder:
    spacy = _imported("spacy")
    try:
        language = spacy.load(model)
    except (OSError, ValueError) as error:
        raise _unusable(f"spacy:{model}", error) from error

    def find(texts: list[str]) -> list[Spans]:
        return [
            [(one.start_char, one.end_char) for one in doc.ents if one.label_ in _PEOPLE]
            for doc in language.pipe(texts)
        ]

    return find


def _transformers(folder: str) -> NameFinder:
    transformers = _imported("transformers")
    where = f"transformers:{folder}"
    if not Path(folder).is_dir():
        raise InputError(f"name finder {where}: no such folder; expected a saved token classifier")
    only = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **only)
        model, told = transformers.AutoModelForTokenClassification.from_pretrained(
            folder, use_safetensors=True, output_loading_info=True, **only
        )
    except (OSError, ValueError) as error:
        raise _unusable(where, error) from error
    labels = set(map(str, model.config.id2label.values()))
    if told["missing_keys"] or not labels & _PEOPLE:
        raise InputError(
            f"name finder {where}: its labels are {', '.join(sorted(labels)[:8])}; expected a "
            "trained token classifier with PER or PERSON among them"
        )
    # Some positions are taken by special tokens, and in some models two more by nothing.
    most = getattr(model.config, "max_position_embeddings", 512) - 2
    tokenizer.model_max_length = min(tokenizer.model_max_length, most)
    tag = transformers.pipeline(
        "token-classification",
        model=model,
        tokenizer=tokenizer,
        # A name is whole words: what their first piece is, they are. Long texts are read in
        # pieces that overlap.
        aggregation_strategy="first",
        stride=tokenizer.model_max_length // 4,
    )

    def find(texts: list[str]) -> list[Spans]:
        # The model is not asked about empty texts, which it cannot answer.
        asked = [k for k, text in enumerate(texts) if text.strip()]
        found: list[Spans] = [[] for _ in texts]
        for k, entities in zip(asked, tag([texts[k] for k in asked]), strict=True):
            found[k] = [
                (one["start"], one["end"]) for one in entities if one["entity_group"] in _PEOPLE
            ]
        return found

    return find


def _unusable(where: str, error: Exception) -> InputError:
    first = next(iter(str(error).splitlines()), type(error).__name__)
    return InputError(f"name finder {where}: the model cannot be loaded: {first}")


NAME_FINDERS = Registry[Any](
    kind="name finder",
    group="affectlab.name_finders",
    accept=callables,
    expected="a function",
    from_modules=False,
    ours={
        "gazetteer": "affectlab.stimuli.curation.texts.gazetteer:gazetteer",
        # These are given what stands behind the colon, and make one.
        "spacy": _spacy,
        "transformers": _transformers,
        "none": lambda texts: [[] for _ in texts],
    },
)
