"""Networks trained on half of the pairs, and what they write and score about the other half."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.models.reactions import ReactionGenerator, ReactionItem
from affectlab.models.text_metrics import TextItem
from affectlab.recipes.socratis.networks import Example, train_bart, train_blip2, train_clip
from affectlab.recipes.socratis.pairs import Pairs
from affectlab.recipes.socratis.people import Checked
from affectlab.recipes.socratis.preference_study import Metrics

if TYPE_CHECKING:
    from affectlab.analysis.reactions import PairScorer, Sentiment
    from affectlab.ratings import Ratings

__all__ = ["Machines", "train_machines"]


@dataclass(frozen=True, eq=False)
class Machines:
    """What machines wrote about the pairs that they have not learned from, and the metrics."""

    judged: tuple[str, ...]
    """Names of these pairs."""
    multimodal: Ratings
    text: Ratings
    """By the language model inside, which sees no image."""
    people: dict[tuple[str, str], tuple[str, ...]]
    """What people wrote, by pair and emotion."""
    captions: dict[str, str]
    metrics: Metrics
    sentiment: Sentiment
    notes: tuple[str, ...]

    def pair_scorer(self) -> PairScorer:
        """Give BARTScore as a measure of two reactions."""
        metric = self.metrics.bart

        def score(texts: list[str], others: list[str]) -> Any:
            return metric.score(texts, others).scores

        score.name = metric.name  # type: ignore[attr-defined]
        return score

    def items(self, who: str, images: dict[str, Path]) -> tuple[tuple[TextItem, ...], list[str]]:
        """Give what a machine wrote as items for metrics, and their pairs."""
        ratings = self.multimodal if who == "multimodal" else self.text
        found, pairs = [], []
        for row in ratings.to_frame().filter(pl.col("text").is_not_null()).iter_rows(named=True):
            pair, word = str(row["stimulus"]), str(row["emotion"])
            found.append(
                TextItem(
                    candidate=row["text"],
                    references=self.people[pair, word],
                    image=images[pair],
                    emotion=word,
                    caption=self.captions[pair],
                )
            )
            pairs.append(pair)
        return tuple(found), pairs


def train_machines(
    pairs: Pairs,
    checked: Checked,
    folder: Path,
    steps: tuple[int, int, int],
    seed: int,
    done: Callable[[str], None],
) -> Machines:
    """Train all networks on every second pair; let them write about the others."""
    by_name = {one.name: one for one in pairs.pairs}
    order = np.random.default_rng([7_006, seed]).permutation(sorted(by_name))
    learnt = set(order[::2].tolist())
    examples: list[Example] = []
    asked: dict[tuple[str, str], ReactionItem] = {}
    people: dict[tuple[str, str], list[str]] = {}
    for row in checked.table.iter_rows(named=True):
        pair = by_name[row["stimulus"]]
        item = ReactionItem(pair.name, pair.caption, row["word"], pair.image)
        if pair.name in learnt:
            examples.append(Example(item, row["text"]))
        else:
            asked[pair.name, row["word"]] = item
            people.setdefault((pair.name, row["word"]), []).append(row["text"])
    writer = train_blip2(examples, folder / "blip2", steps[0], seed)
    done("BLIP-2")
    bart = train_bart(examples, folder / "bart", steps[1], seed)
    done("BART")
    clip = train_clip(examples, folder / "clip", steps[2], seed)
    done("CLIP")
    items = list(asked.values())
    both = [
        ReactionGenerator(writer, text_only=only, device="cpu", rater=name)
        for only, name in ((False, "BLIP-2, tiny"), (True, "its T5 alone"))
    ]
    written = [one.rate(items) for one in both]
    likely = [
        float(both[0].log_likelihood(items, texts).mean.mean())
        for texts in (_texts(written[0], items), [people[key][0] for key in asked])
    ]
    done("reactions of machines")
    ended = [float(one.frame["ended"].to_numpy().mean()) for one in written]
    return Machines(
        tuple(name for name in by_name if name not in learnt),
        written[0],
        written[1],
        {key: tuple(texts) for key, texts in people.items()},
        {one.name: one.caption for one in pairs.pairs},
        Metrics.of(bart, clip),
        _sentiment_of(checked, learnt),
        (
            f"Networks are tiny and learned from {len(examples):,} reactions to "
            f"{len(learnt):,} pairs; they wrote {len(items):,} reasons about the other "
            f"{len(by_name) - len(learnt):,}, of which {100 * ended[0]:.0f} % came to an end "
            f"within 19 tokens ({100 * ended[1]:.0f} % without the image).",
            f"Per token, what BLIP-2 wrote has a log-likelihood of {likely[0]:.2f} under itself, "
            f"and what people wrote {likely[1]:.2f} (equation 1, which prints the tokens before "
            "the j-th in place of the j-th; read as the likelihood of the text).",
        ),
    )


def _texts(written: Ratings, items: list[ReactionItem]) -> list[str]:
    """Give what was written, in the order of the items."""
    frame = written.to_frame()
    said = {
        (str(row["stimulus"]), str(row["emotion"])): row["text"] or "."
        for row in frame.iter_rows(named=True)
    }
    return [said[item.stimulus, item.emotion] for item in items]


def _sentiment_of(checked: Checked, learnt: set[str]) -> Sentiment:
    """Train a model of two sentiments on emotion words and reasons, each with its emotion."""
    from affectlab.models.text.linear import LinearTextClassifier

    own = checked.table.filter(pl.col("stimulus").is_in(list(learnt)))
    known = [checked.meant[word] for word in own["word"]]
    words = list(checked.meant)
    model = LinearTextClassifier(taxonomy="mikels", cost=5.0)
    model.fit([*own["text"], *words], [*known, *(checked.meant[word] for word in words)])
    polarity = model.taxonomy.polarity

    def sentiment(texts: list[str]) -> list[str | None]:
        best = model.predict_proba(texts).argmax(axis=1)
        return [polarity.get(model.labels[int(k)]) for k in best]

    return sentiment
