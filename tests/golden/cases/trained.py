"""Trained models, compared by how well they do."""
# spelled for the base

from __future__ import annotations

import numpy as np
import polars as pl
from tests.golden.case import case

from .command_line import told

METRIC = 0.02
"""How far a share of right answers, or a correlation, may be off."""
WORDS = {
    "joy": ["happy", "glad"],
    "anger": ["hate", "furious"],
    "fear": ["scared", "afraid"],
    "neutral": ["table", "monday"],
}


def posts(path: str, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        label = list(WORDS)[rng.integers(4)]
        words = [
            *rng.choice(["the", "a", "of", "we", "it", "is", "to", "on"], 5),
            *rng.choice(WORDS[label], 2),
        ]
        said = list(WORDS)[rng.integers(4)] if rng.random() < 0.2 else label
        rows.append({"text": " ".join(rng.permutation(words)), "labels": said})
    pl.DataFrame(rows).write_csv(path)


@case(tolerance=METRIC)
def texts(al):
    posts("train.csv", 300, 1)
    posts("dev.csv", 150, 2)
    posts("test.csv", 150, 3)
    trained = told(
        "train", "text", "train.csv", "--dev", "dev.csv", "--out", "model", "--seed", 1, "--json"
    )
    rated = told("rate", "text", "test.csv", "--model", "model", "--out", "said.parquet", "--json")
    model = al.models.TextClassifier.load("model")
    test = pl.read_csv("test.csv")
    probability = model.predict_proba(test["text"].to_list())
    chosen = [model.labels[k] for k in probability.argmax(axis=1)]
    answers = al.read_ratings("said.parquet")
    return {
        "exit": [trained["exit"], rated["exit"]],
        "labels": model.labels,
        "rated": answers.n_ratings,
        "accuracy": float(
            np.mean([one == other for one, other in zip(chosen, test["labels"], strict=True)])
        ),
        "sum": float(probability.sum()),
        "mean": float(answers.value.mean()),
    }


@case(tolerance=METRIC, needs=("torch", "safetensors"))
def heads(al):
    shapes = al.models.heads
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 8)).astype(np.float32)
    Y = np.clip(3.5 + 2 * X[:, :2] + rng.normal(0, 0.3, (500, 2)), 0, 7)
    bank = al.models.HeadBank.make(["joy", "fear"], shape=shapes.HeadShape((16,)), seed=5)
    bank.fit(X[:400], Y[:400], stage=shapes.Stage(epochs=60, learning_rate=0.01, batch=32))
    seen = bank.predict(X[400:])
    bank.save("heads")
    again = al.models.HeadBank.load("heads").predict(X[400:])
    return {
        "correlation": [float(np.corrcoef(seen[:, k], Y[400:, k])[0, 1]) for k in range(2)],
        "mean error": [float(np.abs(seen[:, k] - Y[400:, k]).mean()) for k in range(2)],
        "saved": str(np.allclose(seen, again)),
    }


@case(tolerance=METRIC, needs=("torch",))
def losses(al):
    import torch

    torch.manual_seed(0)
    loss = al.models.EmotionRankLoss("mikels", al.load_taxonomy("mikels").labels)
    scores = torch.tensor(np.random.default_rng(6).normal(size=(16, 8)).astype(np.float32))
    return {"loss": float(loss(scores, torch.arange(16) % 8))}
