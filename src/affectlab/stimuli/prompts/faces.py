"""Prompts for pictures of faces: labels, ages, ethnicities and genders in exact shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.stimuli.prompts.plan import PromptPlan, load_prompt_plan
from affectlab.stimuli.quotas import deal, largest_remainder
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = [
    "NEUTRAL",
    "FacePrompts",
    "crossed",
    "face_prompts",
    "neutral_prompts",
    "people_of",
    "prompt_rows",
    "worded",
]

NEUTRAL = "neutral"
"""Label of prompts for faces without emotion."""
_Shares = Mapping[Any, float]
"""Weights of the values of an attribute."""
ATTRIBUTES = ("label", "gender", "age", "ethnicity", "template")


@dataclass(frozen=True, eq=False)
class FacePrompts:
    """Prompts with what they ask for, as :func:`face_prompts` makes them."""

    prompts: pl.DataFrame
    """One row per prompt: ``stimulus``, ``prompt``, ``label``, ``words``, ``gender``, ``age``,
    ``ethnicity``, ``template`` (its number from 1), ``seed`` (for the generator of pictures)."""
    quotas: Mapping[str, Mapping[str | int, int]]
    """How often each value of each attribute was wanted."""
    seed: int

    def to_frame(self) -> pl.DataFrame:
        """Give the prompts."""
        return self.prompts

    def balance(self) -> pl.DataFrame:
        """Count every attribute: ``attribute``, ``value``, ``n``, ``share``, ``wanted`` (quota)."""
        parts = []
        for attribute, quota in self.quotas.items():
            counts = dict(self.prompts.group_by(attribute).len().iter_rows())
            found = [counts.get(value, 0) for value in quota]
            parts.append(
                pl.DataFrame(
                    {
                        "attribute": [attribute] * len(quota),
                        "value": [str(value) for value in quota],
                        "n": found,
                        "share": [count / self.prompts.height for count in found],
                        "wanted": list(quota.values()),
                    }
                )
            )
        return pl.concat(parts)

    def coverage(self, rows: str = "label", columns: str = "ethnicity") -> pl.DataFrame:
        """Count one attribute against another, a row for each value of the first.

        Raises
        ------
        InputError
            When an attribute is not one of label, gender, age, ethnicity, template.
        """
        for name in (rows, columns):
            if name not in ATTRIBUTES:
                raise InputError(f"attribute {name!r}: expected one of: {', '.join(ATTRIBUTES)}")
        return (
            self.prompts.pivot(columns, index=rows, values="stimulus", aggregate_function="len")
            .fill_null(0)
            .sort(rows)
        )

    def __len__(self) -> int:
        return self.prompts.height


def face_prompts(
    n: int,
    *,
    taxonomy: str | Path | Taxonomy = "emonet_face",
    plan: PromptPlan | None = None,
    weights: Mapping[str, float] | None = None,
    words: int | None = None,
    seed: int = 0,
) -> FacePrompts:
    """Make prompts for pictures of faces (emonet-face, section 3), every quota exact.

    Labels, genders, ages, ethnicities and templates each occur as often as their share of `n`,
    rounded by largest remainders. They are dealt in this order along a list sorted by what was
    dealt before, so that their crossing is balanced, too: within a label the genders, within both
    the ages, and so on.

    Parameters
    ----------
    n
        Number of prompts.
    taxonomy
        Where labels and their descriptor words come from; a label without words is named itself.
    plan
        Sentences and people; None for the built-in ones.
    weights
        Weight of labels, to aim at those that earlier pictures cover too little; labels that are
        not named get none. None for equal weights.
    words
        Descriptor words drawn for a prompt; None for all of the label.
    seed
        Draws the order, the words and the seed of each picture.

    Returns
    -------
    FacePrompts
        Prompts in random order.

    Raises
    ------
    InputError
        When `n` or `words` is below 1, a weight is negative, or a label is not known.

    Examples
    --------
    >>> made = face_prompts(203_201)
    >>> made.balance().filter(attribute="gender").select("value", "n").rows()
    [('man', 91441), ('woman', 91440), ('non-binary person', 20320)]
    """
    if n < 1 or (words is not None and words < 1):
        raise InputError(f"n = {n}, words = {words}: expected at least 1")
    known = load_taxonomy(taxonomy)
    chosen = plan or load_prompt_plan()
    if weights is None:
        shares = dict.fromkeys(known.labels, 1.0)
    else:
        shares = {known.name_of(label): weight for label, weight in weights.items()}
    rng = np.random.default_rng(seed)
    labels = list(shares)
    values: dict[str, _Shares] = {"label": dict(shares), **people_of(chosen, len(chosen.templates))}
    quotas, codes = crossed(values, n, rng)
    texts = worded(codes, labels, known, words, rng)
    table = prompt_rows(codes, labels, texts, chosen, chosen.templates, rng)
    return FacePrompts(table, quotas, seed)


def neutral_prompts(n: int = 1700, *, plan: PromptPlan | None = None, seed: int = 0) -> FacePrompts:
    """Make prompts for faces without emotion, in the same shares of people.

    Raters' answers to these pictures say where their zero is (emonet-face, B.2: 1,700 pictures).

    Raises
    ------
    InputError
        When `n` is below 1, or the plan has no sentences for neutral faces.

    Examples
    --------
    >>> neutral_prompts().to_frame()["label"].unique().to_list()
    ['neutral']
    """
    if n < 1:
        raise InputError(f"n = {n}: expected at least 1")
    chosen = plan or load_prompt_plan()
    if not chosen.neutral_templates:
        raise InputError(
            f"prompts {chosen.name!r} have no neutral_templates; expected at least one"
        )
    rng = np.random.default_rng(seed)
    sentences = chosen.neutral_templates
    values: dict[str, _Shares] = {"label": {NEUTRAL: 1.0}, **people_of(chosen, len(sentences))}
    quotas, codes = crossed(values, n, rng)
    table = prompt_rows(codes, [NEUTRAL], [""] * n, chosen, sentences, rng)
    return FacePrompts(table, quotas, seed)


def people_of(plan: PromptPlan, templates: int) -> dict[str, _Shares]:
    """Weights of the values of each attribute but the label."""
    return {
        "gender": dict(plan.genders),
        "age": dict.fromkeys(plan.ages, 1.0),
        "ethnicity": dict.fromkeys(plan.ethnicities, 1.0),
        "template": dict.fromkeys(range(1, templates + 1), 1.0),
    }


def crossed(
    values: Mapping[str, _Shares], n: int, rng: np.random.Generator
) -> tuple[dict[str, dict[str | int, int]], NDArray[np.int64]]:
    """Deal each attribute along a list sorted by those before it.

    Gives the quotas, and codes of shape (n, attributes) in random order.
    """
    quotas: dict[str, dict[str | int, int]] = {}
    columns: list[NDArray[np.int64]] = []
    for attribute, shares in values.items():
        quota = largest_remainder(list(shares.values()), n)
        quotas[attribute] = dict(zip(shares, quota.tolist(), strict=True))
        # Within equal rows the order is random: it must not carry a pattern on.
        order = np.lexsort((rng.random(n), *columns[::-1])) if columns else np.arange(n)
        column = np.empty(n, dtype=np.int64)
        column[order] = deal(quota, rng)
        columns.append(column)
    return quotas, np.stack(columns, axis=1)[rng.permutation(n)]


def worded(
    codes: NDArray[np.int64],
    labels: list[str],
    taxonomy: Taxonomy,
    words: int | None,
    rng: np.random.Generator,
) -> list[str]:
    """Give the descriptor words of each row, all of its label or as many as are drawn."""
    named = {label: list(taxonomy.words.get(label) or (label,)) for label in labels}
    texts = []
    for label, *_ in codes.tolist():
        own = named[labels[label]]
        if words is not None and words < len(own):
            own = [own[place] for place in sorted(rng.permutation(len(own))[:words])]
        texts.append(", ".join(own))
    return texts


def prompt_rows(
    codes: NDArray[np.int64],
    labels: list[str],
    words: list[str],
    plan: PromptPlan,
    templates: tuple[str, ...],
    rng: np.random.Generator,
    first: int = 1,
) -> pl.DataFrame:
    """Write the sentences of dealt codes; names count up from `first`."""
    genders = list(plan.genders)
    rows = []
    for (label, gender, age, ethnicity, template), own in zip(codes.tolist(), words, strict=True):
        person = plan.describe(plan.ages[age], plan.ethnicities[ethnicity], genders[gender])
        rows.append(
            (
                templates[template].format(person=person, words=own),
                labels[label],
                own,
                genders[gender],
                plan.ages[age],
                plan.ethnicities[ethnicity],
                template + 1,
            )
        )
    names = ["prompt", "label", "words", "gender", "age", "ethnicity", "template"]
    last = first + len(rows) - 1
    width = max(5, len(str(last)))
    return pl.DataFrame(rows, schema=names, orient="row").select(
        pl.Series("stimulus", [f"face-{k:0{width}d}" for k in range(first, last + 1)]),
        pl.all(),
        pl.Series("seed", rng.integers(0, 2**31, len(rows))),
    )
