"""The picture of a confusion matrix."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.render.svg import to_png, to_svg
from affectlab.report import draw_figure


def confusion(matrix, labels, **options):
    n = len(labels)
    columns = {"true": np.repeat(labels, n), "predicted": np.tile(labels, n)}
    return draw_figure("confusion", columns | {"count": np.ravel(matrix)}, labels=labels, **options)


@pytest.mark.parametrize(
    ("matrix", "labels", "groups"),
    [
        ([[3]], ["a"], None),
        ([[3, 0], [0, 0]], ["a", "a very long name of a label that is cut"], ["x", "y"]),
        ([[0, 0], [0.2, 0.8]], ["a", "b"], None),
        (np.eye(28), [f"label {k}" for k in range(28)], [f"group {k % 7}" for k in range(28)]),
        (np.zeros((40, 40)), [f"label {k}" for k in range(40)], None),
    ],
)
def test_draws_any_size(matrix, labels, groups):
    figure = confusion(matrix, labels, groups=groups)
    assert to_png(figure)
    assert "<svg" in to_svg(figure)


def test_rows_are_shares_and_cells_are_counts():
    figure = confusion([[8, 2], [0, 0]], ["joy", "fear"])
    mesh = figure.axes[0].collections[0].get_array()
    assert mesh[0].tolist() == [0.8, 0.2]
    assert mesh.mask[1].all()
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["8", "2", "10", "0", "n"]
    shares = confusion([[0.4, 0.1], [0.25, 0.25]], ["joy", "fear"])
    assert [text.get_text() for text in shares.axes[0].texts] == ["0.80", "0.20", "0.50", "0.50"]


def test_groups_stand_together():
    figure = confusion(
        np.diag([1, 2, 3]), ["joy", "fear", "love"], groups=["positive", "negative", "positive"]
    )
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["joy", "love", "fear"]
    diagonal = [text.get_text() for text in figure.axes[0].texts][:9:4]
    assert diagonal == ["1", "3", "2"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["positive", "negative"]
