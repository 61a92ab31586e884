"""The torch forms give what the functions on arrays give."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.evaluation import acc2, ecc, emc
from affectlab.evaluation.classification import mean_emotional_distance
from affectlab.taxonomy import cost_from_correlation, load_taxonomy

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

from torchmetrics import MetricCollection  # noqa: E402

from affectlab.models.metrics import ACC2, ECC, EMC, EmotionalDistance  # noqa: E402

MIKELS = load_taxonomy("mikels")
ORDER = sorted(MIKELS.labels)
PAIRS = [(ECC, ecc), (EMC, emc), (ACC2, acc2), (EmotionalDistance, mean_emotional_distance)]


def batches(seed=0, n=5, size=16):
    generator = torch.Generator().manual_seed(seed)
    return [
        (
            torch.randn(size, 8, generator=generator),
            torch.randint(0, 8, (size,), generator=generator),
        )
        for _ in range(n)
    ]


@pytest.mark.parametrize(("metric_class", "function"), PAIRS)
@pytest.mark.parametrize("form", ["scores", "probabilities", "classes"])
def test_equals_the_function(metric_class, function, form):
    metric = metric_class("mikels", ORDER)
    true, predicted = [], []
    for scores, target in batches():
        given = {
            "scores": scores,
            "probabilities": scores.softmax(dim=1),
            "classes": scores.argmax(dim=1),
        }[form]
        metric.update(given, target)
        true += target.tolist()
        predicted += scores.argmax(dim=1).tolist()
    expected = function(true, predicted, "mikels", labels=ORDER)
    value = metric.compute()
    assert value.shape == ()
    assert value.item() == pytest.approx(expected, rel=1e-6)
    metric.reset()
    assert metric.confusion.sum() == 0


def test_double_precision_on_demand():
    torch.set_default_dtype(torch.float64)
    try:
        metric = ECC(MIKELS, ORDER)
        scores, target = batches(1)[0]
        value = metric(scores, target).item()
    finally:
        torch.set_default_dtype(torch.float32)
    expected = ecc(target.numpy(), scores.argmax(dim=1).numpy(), "mikels", labels=ORDER)
    assert value == pytest.approx(expected, abs=1e-15)


def test_positions_are_found_by_name():
    scores, target = batches(2)[0]
    one, other = ECC("mikels", ORDER), ECC("mikels", MIKELS.labels)
    assert one(scores, target) != other(scores, target)
    shuffled = torch.randperm(8, generator=torch.Generator().manual_seed(0))
    place = torch.argsort(shuffled)
    again = ECC("mikels", [ORDER[k] for k in shuffled])
    assert again(scores[:, shuffled], place[target]) == one(scores, target)


def test_devices_are_summed():
    """The states of two processes, gathered as torchmetrics gathers them."""
    first, second = batches(3, n=2)
    alone = EMC("mikels", ORDER)
    alone.update(*second)
    other = alone.confusion.clone()
    together = EMC(
        "mikels",
        ORDER,
        dist_sync_fn=lambda state, group: [state, other],
        distributed_available_fn=lambda: True,
    )
    together.update(*first)
    both = EMC("mikels", ORDER)
    both.update(*first)
    both.update(*second)
    assert together.compute() == both.compute()


def test_collection_counts_once_and_pickles():
    metrics = MetricCollection([kind("mikels", ORDER) for kind, _ in PAIRS])
    for scores, target in batches(4):
        metrics.update(scores, target)
    assert len(metrics.compute_groups) == 1
    found = metrics.compute()
    assert set(found) == {"ECC", "EMC", "ACC2", "EmotionalDistance"}
    again = pickle.loads(pickle.dumps(metrics)).compute()
    assert again == found
    assert ECC.higher_is_better
    assert not EmotionalDistance.higher_is_better


def test_costs_groups_and_undefined():
    costs = cost_from_correlation(np.eye(3), ["a", "b", "c"])
    metric = EmotionalDistance(costs, ["c", "a", "b"])
    assert metric(torch.tensor([0, 1]), torch.tensor([0, 2])) == 3
    by_group = ACC2(None, ["c", "a", "b"], groups={"a": "x", "b": "x", "c": "y"})
    assert by_group(torch.tensor([0, 1]), torch.tensor([0, 2])) == 1
    by_level = EmotionalDistance("mikels", ORDER, costs="groups")
    assert by_level(torch.tensor([0]), torch.tensor([0])) == 1
    perfect = EMC("mikels", ORDER)
    perfect.update(torch.tensor([1]), torch.tensor([1]))
    assert perfect.compute().isnan()
    perfect.update(torch.zeros(0, 8), torch.zeros(0, dtype=torch.long))
    assert perfect.confusion.sum() == 1


def test_bad_input():
    with pytest.raises(InputError, match="unknown label 'joyy'"):
        ECC("mikels", ["joyy", "awe"])
    with pytest.raises(InputError, match="ACC2: a cost matrix knows no polarity"):
        ACC2(cost_from_correlation(np.eye(2), ["a", "b"]), ["a", "b"])
    metric = ECC("mikels", ORDER)
    with pytest.raises(InputError, match="preds: 3 columns; expected one per label, 8"):
        metric.update(torch.zeros(2, 3), torch.tensor([0, 1]))
    with pytest.raises(InputError, match=r"preds and target: shapes \(2,\) and \(3,\)"):
        metric.update(torch.tensor([0, 1]), torch.tensor([0, 1, 2]))
    with pytest.raises(InputError, match="target: expected classes as whole numbers"):
        metric.update(torch.tensor([0]), torch.tensor([0.5]))
    with pytest.raises(InputError, match="classes run from 0 to 8; expected 0 to 7"):
        metric.update(torch.tensor([8]), torch.tensor([0]))


def _run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_the_room_does_not_load_torch():
    done = _run("import affectlab.models, sys; assert 'torch' not in sys.modules")
    assert done.returncode == 0, done.stderr


def test_without_torch_the_extra_is_named():
    done = _run(
        "import sys; sys.modules['torch'] = None\n"
        "from affectlab.core.errors import MissingDependencyError\n"
        "try:\n    import affectlab.models.metrics\n"
        "except MissingDependencyError as error:\n    print(error)"
    )
    assert done.stdout.strip() == (
        "affectlab.models.metrics needs torch and torchmetrics; install affectlab[models]"
    )
    assert issubclass(MissingDependencyError, ImportError)
