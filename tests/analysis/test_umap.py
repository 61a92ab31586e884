"""The map by UMAP, in a file of its own: its library takes long to load."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from affectlab.analysis import label_map


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("umap") is None, reason="umap-learn is not installed")
def test_umap_keeps_groups_and_repeats() -> None:
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    values = np.eye(3)[group] + 0.15 * rng.random((60, 3))
    one, two = (label_map(values, method="umap", neighbours=8, seed=1) for _ in range(2))
    assert one.places.tobytes() == two.places.tobytes()
    centres = np.array([one.places[group == k].mean(axis=0) for k in range(3)])
    nearest = np.linalg.norm(one.places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == group).mean() > 0.95
    assert one.method == "UMAP, 8 neighbours"


def test_without_the_library_the_extra_is_named(monkeypatch) -> None:
    import sys

    from affectlab.core.errors import MissingDependencyError

    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingDependencyError, match=r"\[explore\]"):
        label_map(np.random.default_rng(0).random((20, 3)), method="umap")
