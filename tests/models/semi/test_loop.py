"""Semi-supervised training of heads on embeddings, of image networks, and of texts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.semi.data import (
    CARD,
    FAST,
    WHEEL,
    alike,
    clouds,
    coloured,
    head,
    same,
    three,
    weights,
)
from tests.models.text.tiny import WORDS
from torch import nn
from torch.nn import functional as nnf

from affectlab.core.errors import InputError
from affectlab.models.embedding import Embeddings
from affectlab.models.losses import EmotionRankLoss
from affectlab.models.semi import SemiTraining, Step, Strategy, Switch, list_strategies, train_semi
from affectlab.models.semi.strategy import View
from affectlab.models.text import TextClassifier
from affectlab.models.training.steps import optimiser_of, shuffled, step_seed
from affectlab.models.vision import VisionClassifier
from affectlab.taxonomy import CostMatrix, load_taxonomy


class Told(Strategy):
    """Says the truth, or what it is made to say, and remembers what it saw."""

    name = "told"
    wants_features = True
    wants_pool = True
    strong_views = 2
    seen: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.views: list[View] = []
        self.pools: list[Any] = []
        self.problem: Any = None

    def begin(self, problem: Any) -> None:
        super().begin(problem)
        self.problem = problem
        self.register_buffer("seen", torch.zeros(problem.n_unlabelled))

    def before_epoch(self, epoch: int, pool: Any) -> dict[str, float]:
        self.pools.append((epoch, pool))
        return {"threshold": 0.5 + epoch}

    def step(self, view: View) -> Step:
        self.views.append(view)
        self.seen[view.rows] += 1
        proba = torch.softmax(view.weak_logits, dim=1)
        weights = torch.linspace(0, 1, len(proba))
        return Step(proba, weights, (view.strong_features[0] ** 2).sum() * 0, {"seen": 1.0})


def test_supervised_learns_the_weights_of_plain_training(vit: Path) -> None:
    images, labels = coloured(15, 0)
    pool, _ = coloured(12, 5)
    dev = coloured(9, 1)
    settings: dict[str, Any] = {"epochs": 3, "batch_size": 4, "learning_rate": 2e-3, "workers": 1}
    plain = VisionClassifier("mikels", backbone=vit, seed=3)
    plain.fit(images, labels, dev=dev, loss="rank", **settings)
    model = VisionClassifier("mikels", backbone=vit, seed=3)
    run = train_semi(
        model,
        images,
        labels,
        pool,
        dev=dev,
        strategy="supervised",
        loss="rank",
        ema=0.0,
        **settings,
    )
    assert run.model is model
    assert same(weights(model), weights(plain))
    for one, other in zip(model.history, plain.history, strict=True):
        assert {name: one[name] for name in other} == pytest.approx(other, nan_ok=True)
        assert "utilisation" not in one
    # With no weight on unlabelled examples it is the same, though they are looked at.
    model = VisionClassifier("mikels", backbone=vit, seed=3)
    train_semi(
        model,
        *(images, labels, pool),
        dev=dev,
        strategy="fixmatch",
        loss="rank",
        ema=0.0,
        lam_u=0.0,
        **settings,
    )
    assert same(weights(model), weights(plain))
    assert "utilisation" in model.history[0]


def test_the_loop_by_hand() -> None:
    """Two epochs of FixMatch on embeddings, written out."""
    own, labels = clouds(16, 1)
    pool, _ = clouds(40, 2)
    model = head(seed=2, dropout=0.0)
    run = train_semi(
        *(model, own, labels, pool),
        strategy="fixmatch",
        strategy_settings={"tau": 0.4},
        epochs=2,
        batch_size=8,
        ratio=2,
        lam_u=0.7,
        clip=0.0,
        learning_rate=0.05,
        schedule="constant",
        warmup=0.0,
        ema=0.8,
    )
    assert len(run.history) == 2
    from affectlab.models.augment.embeddings import StrongNumbers, WeakNumbers

    rows = torch.from_numpy(np.concatenate([own.rows(), pool.rows()]))
    mean, spread = rows.mean(dim=0), rows.std(dim=0, correction=0)
    first, others = rows[:16], rows[16:]
    labels_of = list(model.labels)
    targets = torch.tensor([labels_of.index(name) for name in labels])
    again = head(seed=2, dropout=0.0)
    again.fit(own, labels, epochs=1, learning_rate=1e-30, weight_decay=0.0)
    layer = again.network.layers[-1]
    average = layer.weight.detach().clone()
    learned = list(layer.parameters())
    optimiser = optimiser_of(learned, "adamw", 0.05, 0.01)
    losses, used = [], []
    step = 0
    for epoch in range(2):
        for at in range(3):
            turn, part = divmod(step, 2)
            mine = torch.from_numpy(shuffled(16, 2, (2, 1, turn))[part])
            theirs = torch.from_numpy(shuffled(40, 3, (2, 7, epoch))[at])

            def logits(given: torch.Tensor) -> torch.Tensor:
                found: torch.Tensor = layer((given - mean) / spread)
                return found

            said = logits(WeakNumbers()(first[mine], mine, (2, 3, turn), mean, spread))
            strong = logits(StrongNumbers()(others[theirs], theirs, (2, 5, 0, epoch), mean, spread))
            with torch.no_grad():
                weak = torch.softmax(
                    logits(WeakNumbers()(others[theirs], theirs, (2, 4, epoch), mean, spread)),
                    dim=1,
                )
            sure = (weak.max(dim=1).values >= 0.4).float()
            own_loss = nnf.cross_entropy(said, targets[mine])
            each = nnf.cross_entropy(strong, weak.argmax(dim=1), reduction="none")
            total = own_loss + 0.7 * (sure * each).mean()
            total.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            optimiser.zero_grad()
            kept = min(0.8, (1 + step) / (10 + step))
            average = kept * average + (1 - kept) * layer.weight.detach()
            losses.append(own_loss.item())
            used.append(sure)
            step += 1
    assert torch.allclose(model.network.layers[-1].weight, average, atol=1e-5)
    assert [e["loss"] for e in run.history] == pytest.approx(
        [np.mean(losses[:3]), np.mean(losses[3:])], rel=1e-4
    )
    share = [float(torch.cat(used[:3]).mean()), float(torch.cat(used[3:]).mean())]
    assert [e["utilisation"] for e in run.history] == pytest.approx(share)
    assert 0 < share[0] < 1
    assert step_seed(0, 1, 0) != step_seed(0, 2, 0)


def test_what_a_strategy_is_shown() -> None:
    own, labels = clouds(10, 1)
    pool, truth = clouds(31, 2)
    strategy = Told()
    model = head(hidden=16)
    run = train_semi(
        *(model, own, labels, pool),
        strategy=strategy,
        truth=truth,
        epochs=2,
        batch_size=4,
        ratio=2,
        features=9,
    )
    told = strategy.problem
    assert told.labels == model.labels
    assert told.counts.tolist() == [labels.count(name) for name in model.labels]
    assert (told.n_labelled, told.n_unlabelled, told.features) == (10, 31, 9)
    assert (told.epochs, told.steps_per_epoch) == (2, 4)
    costs = load_taxonomy("mikels").cost_matrix().reorder(model.labels).matrix
    assert np.array_equal(told.costs, costs)
    by_name = dict(zip(model.labels, told.polarity, strict=True))
    assert (by_name["awe"], by_name["anger"]) == (1, -1)
    assert [epoch for epoch, _ in strategy.pools] == [0, 1]
    for _, labelled in strategy.pools:
        assert labelled.weak.shape == labelled.strong.shape == (31,)
        assert 0.1 < (labelled.weak == labelled.strong).float().mean() <= 1
    assert strategy.seen.tolist() == [2.0] * 31
    assert [view.step for view in strategy.views] == list(range(8))
    assert [view.epoch for view in strategy.views] == [0] * 4 + [1] * 4
    view = strategy.views[0]
    u = len(view.rows)
    assert u == len(set(view.rows.tolist())) == 8
    assert view.weak_logits.shape == (u, 8)
    assert not view.weak_logits.requires_grad
    assert view.weak_features is not None
    assert not view.weak_features.requires_grad
    assert len(view.strong_logits) == len(view.strong_features) == 2
    assert not torch.equal(view.strong_logits[0], view.strong_logits[1])
    for part in (view.labelled_features, view.weak_features, *view.strong_features):
        assert part is not None
        assert part.shape[1] == 9
        assert torch.allclose(part.norm(dim=1), torch.ones(len(part)), atol=1e-5)
    places = [labels.index(labels[row]) for row in view.labelled_rows.tolist()]
    assert [model.labels.index(labels[at]) for at in places] == view.targets.tolist()
    assert [e["threshold"] for e in run.history] == [0.5, 1.5]
    assert run.history[0]["seen"] == 1.0


@pytest.mark.parametrize("name", [*list_strategies(), "stopped anywhere"])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not(name: str, tmp_path: Path) -> None:
    own, labels = clouds(24, 1)
    pool, truth = clouds(90, 2)
    dev = clouds(40, 3)
    strategy = "flexmatch" if name == "stopped anywhere" else name
    asked: dict[str, Any] = {
        "dev": dev,
        "truth": truth,
        "strategy": strategy,
        "loss": "rank",
        "switch": Switch("converging", window=1, tolerance=0.5),
        **FAST,
        "batch_size": 8,
        "checkpoint_steps": 2,
    }
    whole = train_semi(head(hidden=8), own, labels, pool, **asked)

    class StoppedError(Exception):
        pass

    def stop_at(step: int) -> Any:
        def report(what: str, done: int, total: int) -> None:
            del what, total
            if done == step:
                raise StoppedError

        return report

    states = tmp_path / "states"
    for step in (3, 7, 11) if name == "stopped anywhere" else (7,):
        with pytest.raises(StoppedError):
            train_semi(
                head(hidden=8),
                own,
                labels,
                pool,
                checkpoints=states,
                progress=stop_at(step),
                **asked,
            )
    done = train_semi(head(hidden=8), own, labels, pool, checkpoints=states, **asked)
    assert same(weights(done.model), weights(whole.model))
    assert alike(done.history, whole.history)
    assert done.best_epoch == whole.best_epoch
    with pytest.raises(InputError, match="checkpoint of another run"):
        train_semi(head(hidden=8), own, labels, pool, checkpoints=states, **{**asked, "lam_u": 0.5})


def test_the_loss_switches() -> None:
    own, labels = clouds(24, 1)
    pool, _ = clouds(60, 2)
    runs = {
        str(switch): train_semi(
            head(seed=1), own, labels, pool, loss="rank", switch=switch, **{**FAST, "epochs": 6}
        )
        for switch in ("never", "start", 3, "converging")
    }
    plain = train_semi(head(seed=1), own, labels, pool, **{**FAST, "epochs": 6})
    assert same(weights(runs["never"].model), weights(plain.model))
    assert runs["never"].switched_at is None
    assert (runs["start"].switched_at, runs["3"].switched_at) == (1, 3)
    losses = [[entry["loss"] for entry in runs[name].history] for name in ("3", "never", "start")]
    assert losses[0][:2] == losses[1][:2]
    # The sum of two losses is larger than one.
    assert losses[0][2] > losses[1][2] + 0.5
    assert losses[2][0] > losses[1][0] + 0.5
    # When it converges is what the rule says of the history of cross-entropy.
    early = [entry["loss"] for entry in plain.history]
    loose = train_semi(
        *(head(seed=1), own, labels, pool),
        loss="rank",
        switch=Switch("converging", window=1, tolerance=0.3),
        **{**FAST, "epochs": 6},
    )
    expected = next(
        (at + 1 for at in range(2, 6) if early[at - 2] - early[at - 1] < 0.3 * early[at - 2]), None
    )
    assert loose.switched_at == expected
    assert runs["start"].model.loss["switch"] == "start"


def test_patience_waits_for_the_switch() -> None:
    own, labels = clouds(24, 1)
    pool, _ = clouds(60, 2)
    # Hardly anything is learned, and every epoch is as good as the first.
    asked: dict[str, Any] = {
        **FAST,
        "dev": clouds(40, 3),
        "loss": "rank",
        "learning_rate": 1e-12,
        "epochs": 12,
        "patience": 2,
    }
    epochs = {
        switch: len(train_semi(head(), own, labels, pool, switch=switch, **asked).history)
        for switch in ("start", "never", 8)
    }
    # In the last, patience begins with the loss that was asked for.
    assert epochs == {"start": 3, "never": 3, 8: 9}


def test_a_run_with_other_costs_is_another_run(tmp_path: Path) -> None:
    own, labels = clouds(16, 1)
    pool, _ = clouds(40, 2)
    even = np.full((8, 8), 3.0)
    np.fill_diagonal(even, 1.0)
    costs = CostMatrix(WHEEL, even)
    asked: dict[str, Any] = {"strategy": "emc", "checkpoints": tmp_path / "states", **FAST}
    train_semi(head(), own, labels, pool, **asked)
    other = VisionClassifier("mikels", backbone="embedding:mine", costs=costs)
    with pytest.raises(InputError, match="checkpoint of another run"):
        train_semi(other, own, labels, pool, **asked)


def test_one_stimulus_in_a_step_of_a_network_with_batch_norms(resnet: Path) -> None:
    pictures, labels = coloured(6, 1)
    for strategy in ("fixmatch", "s2ver"):
        model = VisionClassifier("mikels", backbone=str(resnet))
        with pytest.raises(InputError, match="batch norms, which need two"):
            train_semi(model, pictures, labels, pictures[:1], strategy=strategy, epochs=1)


@pytest.mark.long
def test_pseudo_labels_help_where_clouds_are_apart() -> None:
    own, labels = clouds(16, 1, 1.1)
    pool, truth = clouds(480, 2, 1.1)
    other, known = clouds(400, 3, 1.1)
    reached = {}
    for name in ("supervised", "flexmatch"):
        run = train_semi(
            *(head(seed=0), own, labels, pool),
            truth=truth,
            strategy=name,
            epochs=20,
            ratio=4,
            learning_rate=0.02,
        )
        reached[name] = run.model.evaluate(other, known)["acc"]
    assert reached["flexmatch"] > reached["supervised"] + 0.05
    assert run.history[-1]["pseudo_accuracy"] > reached["supervised"]


def test_truth_decides_on_nothing() -> None:
    own, labels = clouds(16, 1)
    pool, truth = clouds(60, 2)
    wrong = truth[1:] + truth[:1]
    runs = [
        train_semi(head(), own, labels, pool, truth=given, strategy="flexmatch", **FAST)
        for given in (truth, wrong, None)
    ]
    assert same(weights(runs[0].model), weights(runs[1].model))
    assert same(weights(runs[0].model), weights(runs[2].model))
    last = [run.history[-1] for run in runs]
    assert last[0]["utilisation"] == last[1]["utilisation"] == last[2]["utilisation"]
    assert last[0]["pseudo_accuracy"] != last[1]["pseudo_accuracy"]
    assert "pseudo_accuracy" not in last[2]


def test_hostile_input(vit: Path, bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own, labels = clouds(16, 1)
    pool, truth = clouds(20, 2)

    def run(model: VisionClassifier, *data: Any, **settings: Any) -> None:
        train_semi(model, *data, **{"epochs": 1, **settings})

    asked = VisionClassifier("mikels", ["awe", "fear", "anger"], backbone="embedding:mine")
    few, names = clouds(8, 1, names=("awe", "fear"))
    with pytest.raises(InputError, match="no labelled example of anger; expected one"):
        run(asked, few, names, pool)
    with pytest.raises(InputError, match="joyy"):
        run(head(), own, ["joyy", *labels[1:]], pool)
    with pytest.raises(InputError, match="15 labels for 16"):
        run(head(), own, labels[1:], pool)
    with pytest.raises(InputError, match=r"truth of unlabelled.*19 labels for 20"):
        run(head(), own, labels, pool, truth=truth[1:])
    with pytest.raises(InputError, match="two labels at least"):
        run(head(), own, ["awe"] * 16, pool)
    with pytest.raises(InputError, match="truth of unlabelled"):
        run(head(), few, names, pool, truth=truth)
    empty = Embeddings(np.zeros((0, 12), dtype=np.float16), (), (), CARD)
    with pytest.raises(InputError, match="unlabelled: there are none"):
        run(head(), own, labels, empty)
    values = np.array(pool.values)
    values[3, 2] = np.nan
    bad = Embeddings(values, pool.stimuli, pool.hashes, CARD)
    with pytest.raises(InputError, match=r"unlabelled: the embedding of 's2-3'.*not finite"):
        run(head(), own, labels, bad)
    with pytest.raises(InputError, match="dev: the embedding of 's2-3'"):
        run(head(), own, labels, pool, dev=(bad, truth))
    with pytest.raises(InputError, match="dev: expected a pair"):
        run(head(), own, labels, pool, dev=own)
    with pytest.raises(InputError, match="strategy 'fixmach'"):
        run(head(), own, labels, pool, strategy="fixmach")
    with pytest.raises(InputError, match="setting 'epoch'"):
        run(head(), own, labels, pool, epoch=3)
    with pytest.raises(InputError, match="switch = 'later'"):
        run(head(), own, labels, pool, switch="later")
    with pytest.raises(InputError, match="takes no embeddings"):
        run(VisionClassifier("mikels", backbone=vit), coloured(6, 0)[0], coloured(6, 0)[1], pool)
    with pytest.raises(InputError, match="diverged"):
        run(head(), own, labels, pool, loss=Broken())
    with pytest.raises(InputError, match="cannot learn from unlabelled"):
        run(TextClassifier.make("linear"), ["a"], ["joy"], ["b"])  # type: ignore[arg-type]
    text: Any = TextClassifier.make("choice", encoder=bert, taxonomy=three())
    with pytest.raises(InputError, match="no labelled text of sadness and anger"):
        run(text, ["so happy"], ["joy"], ["so sad"])
    with pytest.raises(InputError, match="unlabelled, row 2"):
        run(text, ["a", "b", "c"], list(WORDS), ["so sad", " "])
    monkeypatch.setitem(os.environ, "WORLD_SIZE", "2")
    with pytest.raises(InputError, match="one process"):
        run(head(), own, labels, pool)


class Broken(nn.Module):
    """A loss that is no number."""

    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        del target
        return logits.sum() * float("nan")


def test_a_loss_of_another_kind() -> None:
    own, labels = clouds(16, 1)
    pool, _ = clouds(40, 2)
    names = tuple(name for name in load_taxonomy("mikels").labels if name in labels)
    given = train_semi(
        head(), own, labels, pool, loss=EmotionRankLoss("mikels", names, lam=0.3), **FAST
    )
    named = train_semi(head(), own, labels, pool, loss="rank", lam=0.3, **FAST)
    assert same(weights(given.model), weights(named.model))
    assert isinstance(SemiTraining(**FAST), SemiTraining)


def test_half_precision_and_an_early_stop() -> None:
    own, labels = clouds(24, 1)
    pool, _ = clouds(60, 2)
    dev = clouds(40, 3)
    asked: dict[str, Any] = {**FAST, "strategy": "simmatch"}
    half = train_semi(head(hidden=8), own, labels, pool, precision="bf16", **asked)
    whole = train_semi(head(hidden=8), own, labels, pool, precision="fp32", **asked)
    one, other = (run.history[-1]["loss"] for run in (half, whole))
    assert one != other
    assert one == pytest.approx(other, rel=0.05)
    # So small a rate that nothing moves: no epoch is better than the first.
    asked |= {"learning_rate": 1e-12, "epochs": 20, "patience": 2, "dev": dev}
    still = train_semi(head(), own, labels, pool, **asked)
    assert (still.best_epoch, len(still.history)) == (1, 3)
