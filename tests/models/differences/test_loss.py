"""The metric as a loss: gradients are right, and they reach pixels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.differences import ExpressionMetric, RidgeDistance
from affectlab.models.differences.learned import FallingLossWarning, make_learner
from affectlab.models.embedding import embed, load_encoder

from ..embedding.checkpoints import save_checkpoint  # noqa: TID252
from .drawn_pairs import planted

METRICS = {
    "ridge": {},
    "ridge+": {"non_negative": True},
    "svr": {},
    "siamese": {"width": 5, "epochs": 3},
}


pytestmark = pytest.mark.filterwarnings(
    "ignore::affectlab.models.differences.learned.FallingLossWarning"
)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def metrics() -> dict[str, ExpressionMetric]:
    pairs, scores, frames = planted(noise=4.0)
    return {
        name: ExpressionMetric(make_learner(name.rstrip("+"), settings)).fit(pairs, scores, frames)
        for name, settings in METRICS.items()
    }


def pair(n: int = 4, kind: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(8)
    return tuple(
        torch.tensor(rng.normal(size=(n, 6)), dtype=kind, requires_grad=True) for _ in range(2)
    )


@pytest.mark.parametrize("name", METRICS)
def test_gradients_are_those_of_small_steps(metrics, name: str) -> None:
    metric = metrics[name]
    for reduction in ("mean", "sum", "none"):
        assert torch.autograd.gradcheck(
            lambda a, b, how=reduction: metric.loss(a, b, reduction=how), pair()
        )


@pytest.mark.parametrize("name", METRICS)
def test_the_loss_is_the_prediction_less_that_of_identical_faces(metrics, name: str) -> None:
    metric, (a, b) = metrics[name], pair()
    found = metric.loss(a, b, reduction="none")
    predicted = metric.predict_embeddings(a.detach().numpy(), b.detach().numpy())
    expected = predicted - metric.distance.identical_
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(found, metric.loss(b, a, reduction="none"))
    assert metric.loss(a, a).item() == pytest.approx(0.0, abs=1e-9)
    assert metric.loss(a, b).item() == pytest.approx(expected.mean(), rel=1e-4)


@pytest.mark.parametrize("name", ["ridge+", "siamese"])
def test_going_down_brings_a_face_to_the_other(metrics, name: str) -> None:
    metric, (a, b) = metrics[name], pair(kind=torch.float32)
    assert metric.is_distance
    start = metric.loss(a, b).item()
    optimiser = torch.optim.Adam([a], lr=0.05)
    for _ in range(150):
        optimiser.zero_grad()
        metric.loss(a, b.detach()).backward()
        optimiser.step()
    assert metric.loss(a, b).item() < 0.1 * start


def test_a_loss_that_can_fall_without_end_is_said_once() -> None:
    pairs, scores, frames = planted(noise=4.0)
    metric = ExpressionMetric("ridge").fit(pairs, scores, frames)
    assert not metric.is_distance
    with pytest.warns(FallingLossWarning, match="weights below 0.*non_negative=True, or siamese"):
        metric.loss(*pair())
    kept = ExpressionMetric(RidgeDistance(non_negative=True)).fit(pairs, scores, frames)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric.loss(*pair())
        assert kept.loss(*pair()) >= 0


def test_a_metric_learned_anew_gives_another_loss() -> None:
    pairs, scores, frames = planted()
    metric = ExpressionMetric("ridge").fit(pairs, scores, frames)
    a, b = pair()
    first = metric.loss(a, b).item()
    metric.fit(pairs, scores / 2, frames)
    assert metric.loss(a, b).item() == pytest.approx(first / 2, rel=1e-3)


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ((np.zeros((1, 6)), torch.zeros(1, 6)), "first: expected a tensor of torch, not ndarray"),
        ((torch.zeros(1, 6), torch.zeros(1, 6).long()), "second: a tensor of torch.int64"),
        ((torch.zeros(1, 6), torch.zeros(2, 6)), "expected two of the same shape"),
        ((torch.zeros(0, 6), torch.zeros(0, 6)), "one row or more"),
        ((torch.zeros(1, 6), torch.zeros(1, 6).double()), "expected the same of both"),
        ((torch.zeros(1, 5), torch.zeros(1, 5)), "expected embeddings of shape (n, 6)"),
        ((torch.zeros(6), torch.zeros(6)), "expected embeddings of shape (n, 6)"),
        ((torch.zeros(1, 3, 8, 8), torch.zeros(1, 3, 8, 8)), "was fitted on plain numbers"),
    ],
)
def test_what_is_refused(metrics, tensors: tuple, said: str) -> None:
    with pytest.raises(InputError) as caught:
        metrics["ridge"].loss(*tensors)
    assert said in str(caught.value)
    with pytest.raises(InputError, match="unknown reduction 'sume'; did you mean 'sum'"):
        metrics["ridge"].loss(*pair(), reduction="sume")


def faces(n: int = 6) -> dict[str, Image.Image]:
    rng = np.random.default_rng(2)
    found = {}
    for actor in "ab":
        for k in range(n):
            coarse = Image.fromarray(rng.integers(0, 256, (6, 6, 3), dtype=np.uint8))
            found[f"{actor}{k}"] = coarse.resize((40, 40), Image.Resampling.BICUBIC)
    return found


def fitted(encoder, learner: str = "siamese", **settings) -> tuple[ExpressionMetric, dict]:
    pictures = faces()
    rng = np.random.default_rng(5)
    pairs = [
        {"actor": actor, "file_a": f"{actor}{j}", "file_b": f"{actor}{k}"}
        for actor in "ab"
        for j in range(6)
        for k in range(j)
    ]
    table = {name: [row[name] for row in pairs] for name in pairs[0]}
    table["value"] = rng.uniform(5, 90, len(pairs)).tolist()
    metric = ExpressionMetric(make_learner(learner, settings))
    return metric.fit(table, None, embed(pictures, encoder)), pictures


def tensor(*pictures: Image.Image) -> torch.Tensor:
    rows = np.stack([np.asarray(picture, dtype=np.float32) / 255 for picture in pictures])
    return torch.from_numpy(rows).permute(0, 3, 1, 2).contiguous().requires_grad_(True)


@pytest.mark.parametrize("name", ["vit", "clip", "vit_mae", "resnet", "siglip", "dinov2"])
def test_gradients_reach_pixels(name: str, tmp_path) -> None:
    place = save_checkpoint(name, tmp_path / name)
    encoder = load_encoder(f"transformers:{place}", device="cpu")
    metric, pictures = fitted(encoder, width=8, epochs=3)
    one, two = pictures["a0"], pictures["b3"]
    first, second = tensor(one, two), tensor(two, one)
    loss = metric.loss(first, second, reduction="none")
    # The same as through files: both prepare pictures in the same way, up to rounding.
    np.testing.assert_allclose(
        loss.detach().numpy(), metric.differences([one, two], [two, one]), rtol=0.05, atol=0.5
    )
    loss.sum().backward()
    for side in (first, second):
        assert torch.isfinite(side.grad).all()
        assert (side.grad.abs().sum(dim=(1, 2, 3)) > 0).all()
    assert all(part.grad is None for part in encoder.tower.network.parameters())
    # Against a small step along the gradient of one picture.
    step = 0.02 * first.grad / first.grad.abs().max()
    with torch.no_grad():
        up, down = (
            metric.loss((first + s * step).clamp(0, 1), second, reduction="sum") for s in (1, -1)
        )
    assert up > down


def test_an_encoder_outside_torch_says_so() -> None:
    metric, pictures = fitted("faces", "ridge")
    with pytest.raises(InputError) as caught:
        metric.loss(tensor(pictures["a0"]), tensor(pictures["a1"]))
    assert str(caught.value).startswith("encoder 'faces' computes outside torch")
    # Embeddings always will do.
    rows = torch.rand(2, metric.width, requires_grad=True)
    metric.loss(rows, torch.rand(2, metric.width)).backward()
    assert rows.grad is not None


def test_pixels_that_cannot_be_used(tmp_path) -> None:
    place = save_checkpoint("vit", tmp_path / "vit")
    metric, pictures = fitted(load_encoder(f"transformers:{place}", device="cpu"), "ridge")
    good = tensor(pictures["a0"])
    with pytest.raises(InputError, match=r"pixels from 0 to 255; expected 0 to 1|pixels from"):
        metric.loss(good * 255, good * 255)
    with pytest.raises(InputError, match=r"expected \(n, 3, height, width\)"):
        metric.loss(good[:, :1], good[:, :1])


def test_preparation_that_cannot_be_followed_is_said(tmp_path) -> None:
    place = save_checkpoint("siglip2", tmp_path / "siglip2")
    encoder = load_encoder(f"transformers:{place}", device="cpu")
    metric, pictures = fitted(encoder, "ridge")
    with pytest.raises(InputError, match="in a way that gradients cannot follow"):
        metric.loss(tensor(pictures["a0"]), tensor(pictures["a1"]))
