"""A text metric: how many of the weather words of people a text uses, too."""

import re
from collections.abc import Sequence

import numpy as np

from affectlab.core.errors import InputError
from affectlab.models.text_metrics import TextItem, TextScores

__all__ = ["WeatherWords", "weather_words"]

WORDS = {"sun", "sunny", "bright", "breeze", "breezy", "wind", "fog", "foggy", "storm", "rain"}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


class WeatherWords:
    """Share of the weather words of the references that the candidate has, from 0 to 1."""

    name = "weather words"

    def score_items(self, items: Sequence[TextItem]) -> TextScores:
        """Score items; where references have no weather word, there is none to miss: 1."""
        scores = []
        for place, item in enumerate(items):
            if not item.references:
                where = item.where or f"item {place}"
                raise InputError(f"{where}: no reference; weather words need one at least")
            wanted = WORDS & {word for text in item.references for word in _words(text)}
            has = len(wanted & set(_words(item.candidate)))
            scores.append(has / len(wanted) if wanted else 1.0)
        longest = [max(len(_words(text)) for text in item.references) for item in items]
        n_tokens = np.array([len(_words(item.candidate)) for item in items], dtype=np.int64)
        n_reference = np.array(longest, dtype=np.int64)
        return TextScores(
            metric=self.name,
            scores=np.array(scores, dtype=float),
            items=tuple(item.item or str(place) for place, item in enumerate(items)),
            n_tokens=n_tokens,
            n_reference_tokens=n_reference,
            truncated=np.zeros(len(items), dtype=bool),
            limit=int(max([*n_tokens, *n_reference], default=0)),
            model="none",
            direction="candidate to references",
        )


def weather_words(
    *, device: str = "cpu", precision: str = "fp32", batch_size: int = 64, cache: str | None = None
) -> WeatherWords:
    """Make the metric. Verbs give these settings to every metric; counting words needs none."""
    del device, precision, batch_size, cache
    return WeatherWords()
