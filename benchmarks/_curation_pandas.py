"""The peer: the twelve steps of curation as one writes them in pandas, one filter after another.

Word lists, token pattern, rules about languages and the hash of the draws are ours, so that the
kept ids must be the same. Languages are told by fastText's library, or by our detector where the
plan says so. All other text work is left to pandas' vectorised methods, which run on Arrow.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from affectlab.stimuli.curation import CurationPlan

__all__ = ["Curated", "curate_with_pandas"]


@dataclass
class Curated:
    """Kept ids, and what each step took."""

    ids: list[str] = field(default_factory=list)
    steps: list[tuple[str, int, int, float]] = field(default_factory=list)
    """Step, comments in, comments kept, seconds."""


def curate_with_pandas(paths: Sequence[Path], plan: CurationPlan, out: Path) -> Curated:
    """Read JSON lines, take the steps of the plan in the paper's order, write the masked sample."""
    import pandas as pd

    from affectlab.stimuli.curation.texts.masking import mask_texts

    done = Curated()
    began = time.perf_counter()
    columns = ["id", "body", "subreddit", "emotions"]
    pool = pd.concat(
        [pd.read_json(path, lines=True, engine="pyarrow")[columns] for path in paths],
        ignore_index=True,
    )
    done.steps.append(("read", len(pool), len(pool), time.perf_counter() - began))
    for name, step in _STEPS.items():
        began, before = time.perf_counter(), len(pool)
        pool = step(pool, plan)
        done.steps.append((name, before, len(pool), time.perf_counter() - began))
    began = time.perf_counter()
    pool.assign(masked=mask_texts(pool["body"].tolist(), plan.texts)).to_parquet(out)
    done.steps.append(("write", len(pool), len(pool), time.perf_counter() - began))
    done.ids = pool["id"].tolist()
    return done


def _repeated(pool: pd.DataFrame, _: CurationPlan) -> pd.DataFrame:
    return pool.drop_duplicates("id")


def _big_groups(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    sizes = pool["subreddit"].value_counts()
    return pool[pool["subreddit"].isin(sizes.index[sizes >= plan.big_groups.least])]


def _deleted(pool: pd.DataFrame, _: CurationPlan) -> pd.DataFrame:
    return pool[~pool["body"].str.strip().isin(["", "[deleted]", "[removed]"])]


def _language(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    import polars as pl

    from affectlab.stimuli.curation.texts.languages import in_languages

    texts = pl.Series(pool["body"].tolist())
    found = in_languages(texts, plan.texts.language, plan.texts.languages)
    return pool[found.to_numpy()]


def _holds(texts: pd.Series, terms: tuple[str, ...]) -> pd.Series:
    from affectlab.stimuli.curation.texts.words import _contains_pattern

    return texts.str.contains(_contains_pattern(terms), regex=True)


def _adult_groups(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    import polars as pl

    from affectlab.stimuli.curation.texts.words import in_list

    words = plan.texts.words
    lower = pool["body"].str.lower()
    pool = pool.assign(lower=lower, offensive=_holds(lower, words.offensive))
    profane = pool["offensive"] | _holds(lower, words.vulgar)
    share = profane.groupby(pool["subreddit"]).mean()
    names = pl.Series(share.index.tolist())
    listed = in_list(names, words.adult_groups).to_numpy()
    rough = share.index[listed | (share >= plan.adult_groups.share)]
    return pool[~pool["subreddit"].isin(rough)]


def _offensive(pool: pd.DataFrame, _: CurationPlan) -> pd.DataFrame:
    return pool[~pool["offensive"]]


def _identity(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    return pool[~_holds(pool["lower"], plan.texts.words.identity)]


def _length(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    from affectlab.stimuli.curation.texts.tokens import _CLITIC, _JOINED, _TOKEN

    texts = pool["body"]
    # RE2 has no such flag inside a pattern, and its \b is that of ASCII anyway.
    clitic, joined = (pattern.replace(r"(?-u:\b)", r"\b") for pattern in (_CLITIC, _JOINED))
    tokens = texts.str.count(_TOKEN) + texts.str.count(joined) + texts.str.count(clitic)
    return pool.assign(tokens=tokens)[tokens.between(plan.length.least, plan.length.most)]


def _drawn(
    pool: pd.DataFrame, plan: CurationPlan, name: str, by: str | None, cap: int
) -> pd.DataFrame:
    """At most ``cap`` comments of each kind, those with the least draws."""
    import polars as pl

    from affectlab.stimuli.curation.hashing import draws, id_keys

    keys = id_keys(pl.Series(pool["id"].tolist()))
    order = np.argsort(draws(keys, name, plan.seed), kind="stable")
    mixed = pool.iloc[order]
    return mixed.head(cap) if by is None else mixed.groupby(by, sort=False).head(cap)


def _lower_median(counts: pd.Series) -> int:
    return int(counts.sort_values().iloc[(len(counts) - 1) // 2])


def _length_balance(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    cap = int((pool["tokens"] == _lower_median(pool["tokens"])).sum())
    return _drawn(pool, plan, "length_balance", "tokens", cap)


def _sentiment(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    from affectlab.taxonomy import load_taxonomy

    labels = pool["emotions"].str.split(";").explode()
    found = _flags(labels.map(load_taxonomy(plan.taxonomy).polarity))
    by_comment = found.groupby(level=0).max()
    shares = by_comment.groupby(pool["subreddit"]).mean()
    given = plan.sentiment
    good = (
        (shares["neutral"] <= given.neutral_most)
        & (shares["positive"] >= given.positive_least)
        & (shares["negative"] >= given.negative_least)
        & (shares["ambiguous"] >= given.ambiguous_least)
    )
    return pool[pool["subreddit"].isin(shares.index[good])]


def _flags(labels: pd.Series) -> pd.DataFrame:
    """One column of zeros and ones for each sentiment."""
    import pandas as pd

    names = ["neutral", "positive", "negative", "ambiguous"]
    return pd.get_dummies(labels).reindex(columns=names, fill_value=False)


def _emotion_balance(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    pool = pool.assign(emotion=pool["emotions"].str.split(";").str[0])
    cap = _lower_median(pool["emotion"].value_counts())
    return _drawn(pool, plan, "emotion_balance", "emotion", cap)


def _group_balance(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    cap = _lower_median(pool["subreddit"].value_counts())
    return _drawn(pool, plan, "group_balance", "subreddit", cap)


def _sample(pool: pd.DataFrame, plan: CurationPlan) -> pd.DataFrame:
    size = plan.sample.size
    return pool if size is None else _drawn(pool, plan, "sample", None, size)


_STEPS = {
    "repeated": _repeated,
    "big_groups": _big_groups,
    "deleted": _deleted,
    "language": _language,
    "adult_groups": _adult_groups,
    "offensive": _offensive,
    "identity": _identity,
    "length": _length,
    "length_balance": _length_balance,
    "sentiment": _sentiment,
    "emotion_balance": _emotion_balance,
    "group_balance": _group_balance,
    "sample": _sample,
}
